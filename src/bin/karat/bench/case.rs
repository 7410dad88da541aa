//! What the suite `ring` measures: operations on buffers that lie ready, each checked before it is timed. `karat bench`
//! and the criterion benches share this file.

use karat::arith::{Direction, Word, ntt_primes};
use karat::backend::{Backend, Erase, ReferencePlan, RingMul};
use karat::ring::{ntt::Ntt, presets};
use karat::{AnyBackend, Reference, Result, RingContext, RingSpec, UserRing};

use crate::operands::operands;

/// A ring of the suite under its name there.
pub struct Subject {
    /// A preset's name, or `he-N-bits` for `x^N + 1` and the largest NTT prime below `2^bits`.
    pub name: String,
    /// The ring.
    pub spec: RingSpec,
    /// Polynomials in a call.
    pub batches: &'static [usize],
}

/// The rings of the suite.
pub fn subjects() -> Result<Vec<Subject>> {
    let schemes = ["ml-kem", "ml-dsa", "falcon-512", "falcon-1024", "sntrup761", "saber"];
    let mut out: Vec<_> = schemes
        .into_iter()
        .filter_map(presets::find)
        .map(|spec| Subject { name: spec.name().into(), spec, batches: &[1, 256] })
        .collect();
    for bits in [30, 50, 60] {
        for log_n in 10..=16 {
            let n = 1 << log_n;
            let prime = ntt_primes(bits, 2 * n as u64, 1, Direction::Descending)?[0];
            let spec = RingSpec::negacyclic(n, prime)?;
            out.push(Subject { name: format!("he-{n}-{bits}"), spec, batches: &[1] });
        }
    }
    Ok(out)
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Whole products.
    Mul,
    /// Forward transforms.
    Ntt,
    /// Inverse transforms.
    Intt,
}

impl Op {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Mul, Self::Ntt, Self::Intt];

    /// The first part of an id `op/ring/backend/batch`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mul => "mul",
            Self::Ntt => "ntt",
            Self::Intt => "intt",
        }
    }
}

type Buffer<W> = <AnyBackend as Backend>::Buffer<W>;

/// Operations of one ring on one backend, with their operands.
pub struct Case<W: Word> {
    context: RingContext<AnyBackend, UserRing<W>>,
    spec: RingSpec,
    batch: usize,
    operands: (Vec<W>, Vec<W>),
    a: Buffer<W>,
    b: Buffer<W>,
    /// Coefficients that come out.
    c: Buffer<W>,
    /// The transforms of `a`.
    a_ntt: Buffer<u64>,
}

impl<W: Word> Case<W> {
    /// Prepares `batch` polynomials.
    pub fn new(backend: &AnyBackend, ring: UserRing<W>, batch: usize) -> Result<Self> {
        let spec = karat::Ring::spec(&ring).clone();
        let context = RingContext::new(backend.clone(), ring)?;
        let operands = operands(&spec, batch, 1);
        let words = RingMul::<UserRing<W>>::ntt_words(backend, context.plan());
        let upload = |words: &[W]| {
            let mut buffer = backend.alloc(words.len(), Erase::No)?;
            backend.upload(words, &mut buffer).map(|()| buffer)
        };
        let (a, b, c) = (upload(&operands.0)?, upload(&operands.1)?, backend.alloc(batch * spec.n(), Erase::No)?);
        let a_ntt = backend.alloc(batch * words, Erase::No)?;
        let mut out = Self { context, spec, batch, operands, a, b, c, a_ntt };
        out.run(Op::Ntt)?;
        Ok(out)
    }

    /// Runs the operation once for the whole batch.
    pub fn run(&mut self, op: Op) -> Result<()> {
        let Self { context, batch, a, b, c, a_ntt, .. } = self;
        let (backend, plan) = (context.backend(), context.plan());
        match op {
            Op::Mul => RingMul::<UserRing<W>>::mul(backend, plan, *batch, a, b, c)?,
            Op::Ntt => RingMul::<UserRing<W>>::ntt(backend, plan, *batch, a, a_ntt)?,
            Op::Intt => RingMul::<UserRing<W>>::intt(backend, plan, *batch, a_ntt, c)?,
        }
        backend.synchronize()
    }

    /// Runs the operation and holds the result against the oracle, or by definition where that takes too long.
    pub fn is_right(&mut self, op: Op) -> Result<bool> {
        self.run(op)?;
        match op {
            Op::Mul => {
                let product = self.coefficients()?;
                self.is_product(&product)
            }
            Op::Intt => Ok(self.coefficients()? == self.operands.0),
            Op::Ntt if self.spec.method().shape().is_some() => self.is_transform(),
            // A lift's transform has no form to look at: its product has.
            Op::Ntt => {
                let ring = &self.context;
                let (a, b) = (ring.upload(&self.operands.0)?, ring.upload(&self.operands.1)?);
                let product = ring.intt(&ring.pointwise(&ring.ntt(&a)?, &ring.ntt(&b)?)?)?.download()?;
                self.is_product(&product)
            }
        }
    }

    fn coefficients(&self) -> Result<Vec<W>> {
        let mut out = vec![W::ZERO; self.batch * self.spec.n()];
        self.context.backend().download(&self.c, &mut out)?;
        Ok(out)
    }

    /// Polynomials of the batch that are looked at.
    fn sample(&self) -> impl Iterator<Item = usize> + use<W> {
        (0..self.batch).step_by(self.batch.div_ceil(16))
    }

    fn is_product(&self, product: &[W]) -> Result<bool> {
        let n = self.spec.n();
        for i in self.sample() {
            let [a, b, c] = [&self.operands.0, &self.operands.1, product].map(|words| &words[i * n..][..n]);
            if !is_product(&self.spec, a, b, c)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks at some slots: each must hold the residue modulo `x^width - slot`.
    fn is_transform(&self) -> Result<bool> {
        let (n, backend) = (self.spec.n(), self.context.backend());
        let mut residues = backend.alloc(self.batch * n, Erase::No)?;
        RingMul::<UserRing<W>>::export_ntt(backend, self.context.plan(), self.batch, &self.a_ntt, &mut residues)?;
        let mut values = vec![W::ZERO; self.batch * n];
        backend.download(&residues, &mut values)?;
        let tables = Ntt::of_ring(&self.spec)?;
        let (m, width) = (tables.modulus(), tables.shape().width);
        let right = |i: usize, slot: usize| {
            let (a, values) = (&self.operands.0[i * n..][..n], &values[i * n..][..n]);
            (0..width).all(|j| {
                let terms = a[j..].iter().step_by(width).rev();
                let value = terms.fold(0, |sum, c| m.add(m.mul(sum, tables.slots()[slot]), c.to_u64()));
                values[slot * width + j].to_u64() == value
            })
        };
        Ok(self.sample().all(|i| indices(tables.shape().points).all(|slot| right(i, slot))))
    }
}

/// Both ends and some of what is between.
fn indices(len: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(len.div_ceil(16)).chain([len - 1])
}

/// Whether `c = a · b`: in full to N = 4096, at some coefficients above.
pub fn is_product<W: Word>(spec: &RingSpec, a: &[W], b: &[W], c: &[W]) -> Result<bool> {
    if spec.n() <= 1 << 12 {
        let oracle = RingContext::new(Reference, UserRing::<W>::new(spec.clone())?)?;
        return Ok(oracle.mul(&oracle.upload(a)?, &oracle.upload(b)?)?.download()? == c);
    }
    let oracle = ReferencePlan::new(spec)?;
    let [a, b] = [a, b].map(|words| words.iter().map(|c| c.to_u64()).collect::<Vec<_>>());
    for index in indices(spec.n()) {
        if oracle.coefficient(&a, &b, index)? != c[index].to_u64() {
            return Ok(false);
        }
    }
    Ok(true)
}
