//! The crate `fhe-math`: complete negacyclic NTTs in constant time, 64-bit words, one thread.

use fhe_math::{ntt::NttOperator, zq::Modulus};
use karat::RingSpec;
use karat::ring::{Method, Quotient};

use super::Peer;
use crate::bench::case::{Op, is_product};
use crate::failure::Failure;
use crate::operands::operands;

/// A ring in `fhe-math`.
pub struct FheMath {
    spec: RingSpec,
    modulus: Modulus,
    ntt: NttOperator,
    operands: (Vec<u64>, Vec<u64>),
    work: (Vec<u64>, Vec<u64>),
}

impl FheMath {
    /// Prepares the ring; `None` where the library has no transform for it.
    pub fn new(spec: &RingSpec) -> Option<Self> {
        let complete = *spec.f() == Quotient::Negacyclic && matches!(spec.method(), Method::Complete(_));
        // The library panics on smaller sizes.
        if !complete || spec.n() < 8 {
            return None;
        }
        let modulus = Modulus::new(spec.q()).ok()?;
        let ntt = NttOperator::new(&modulus, spec.n())?;
        let operands = operands(spec, 1, 1);
        Some(Self { spec: spec.clone(), modulus, ntt, work: operands.clone(), operands })
    }
}

impl Peer for FheMath {
    fn name(&self) -> &'static str {
        "fhe-math"
    }

    /// Transforms run in place: they transform whatever the last call left.
    fn run(&mut self, op: Op) {
        let (x, y) = &mut self.work;
        match op {
            Op::Ntt => self.ntt.forward(x),
            Op::Intt => self.ntt.backward(x),
            Op::Mul => {
                x.copy_from_slice(&self.operands.0);
                y.copy_from_slice(&self.operands.1);
                self.ntt.forward(x);
                self.ntt.forward(y);
                self.modulus.mul_vec(x, y);
                self.ntt.backward(x);
            }
        }
    }

    fn is_right(&mut self) -> Result<bool, Failure> {
        self.run(Op::Mul);
        Ok(is_product(&self.spec, &self.operands.0, &self.operands.1, &self.work.0)?)
    }
}
