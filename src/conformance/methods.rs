//! The methods of a ring against each other.

use alloc::vec::Vec;

use super::inputs::Pattern;
use super::subject::{Subject, WHOLE};
use super::{Failure, Report, Universal};
use crate::arith::Word;
use crate::backend::RingMul;
use crate::ring::{Ring, RingSpec, UserRing};

/// Multiplies by every method that a ring has (complete NTT, k-NTT of each alpha, lift) and compares all results
/// with each other and with the oracle.
///
/// Alphas whose products at the points alone would take more than `2^26` multiplications are left out; up to
/// `N = 2^12` there are none.
///
/// # Errors
/// The first [`Failure`].
///
/// ```
/// use karat::{Cpu, conformance::check_methods};
/// check_methods(&Cpu::scalar(), &"q=12289,f=x^64+1".parse().unwrap())?;
/// # Ok::<(), karat::conformance::Failure>(())
/// ```
pub fn check_methods<B: Universal>(backend: &B, spec: &RingSpec) -> Result<Report, Failure> {
    match spec.word_bits() {
        16 => check::<B, u16>(backend, spec),
        32 => check::<B, u32>(backend, spec),
        _ => check::<B, u64>(backend, spec),
    }
}

/// The ring with its own choice, with every affordable alpha, and lifted.
fn methods(spec: &RingSpec) -> Vec<RingSpec> {
    let most = spec.n().trailing_zeros();
    let alphas = (0..=most).filter(|alpha| spec.n() << alpha <= 1 << 26 || spec.n() <= WHOLE);
    let forced = alphas.filter_map(|alpha| spec.clone().with_alpha(alpha).ok());
    core::iter::once(spec.clone()).chain(forced).chain([spec.clone().with_lift()]).collect()
}

fn check<B: RingMul<UserRing<W>>, W: Word>(backend: &B, spec: &RingSpec) -> Result<Report, Failure> {
    let pairs = [(Pattern::Top, Pattern::Top), (Pattern::Half, Pattern::AboveHalf), (Pattern::Random, Pattern::Random)];
    let mut first: Option<Vec<W>> = None;
    let mut compared = 0;
    for spec in methods(spec) {
        let ring = UserRing::<W>::new(spec).map_err(Failure::Ring)?;
        let mut s = Subject::new(backend, &ring)?;
        let a = s.fill(pairs.iter().map(|pair| pair.0));
        let b = s.fill(pairs.iter().map(|pair| pair.1));
        let (x, y) = (s.upload(&a)?, s.upload(&b)?);
        let product = s.done("mul", s.ring.mul(&x, &y))?;
        match &first {
            Some(words) => s.same(|_| alloc::format!("mul by {}", ring.spec().method()), &product, words)?,
            None => {
                let expected = s.sums(1, &a, &b)?;
                s.expect(super::products::of_pair("mul", &pairs), &product, &expected)?;
                first = Some(s.done("download", product.download())?);
            }
        }
        let (x, y) = (s.done("ntt", s.ring.ntt(&x))?, s.done("ntt", s.ring.ntt(&y))?);
        let values = s.done("pointwise", s.ring.pointwise(&x, &y))?;
        let product = s.done("intt", s.ring.intt(&values))?;
        if let Some(words) = &first {
            s.same(|_| alloc::format!("pointwise by {}", ring.spec().method()), &product, words)?;
        }
        compared += s.report().compared;
    }
    Ok(Report { compared })
}
