//! Operations of one RNS ring on one backend, with their operands.

use karat::arith::Word;
use karat::backend::Erase;
use karat::conformance::SplitMix64;
use karat::rns::{Drop, Limbs, RnsMul, RnsRing, Rounding, View, ViewMut};
use karat::{AnyBackend, Backend, Result};

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Forward transforms of all primes of `Q`.
    Forward,
    /// Inverse transforms of all primes of `Q`.
    Inverse,
    /// Exact conversion from `Q` to as many primes as there are special ones, or all but one to the last.
    Convert,
    /// Extension of the digits of one polynomial.
    ModUp,
    /// Digits times a key.
    KeyProduct,
    /// Division by the special primes.
    ModDown,
    /// Division by the last prime.
    Rescale,
}

impl Op {
    pub const ALL: [Self; 7] =
        [Self::Forward, Self::Inverse, Self::Convert, Self::ModUp, Self::KeyProduct, Self::ModDown, Self::Rescale];

    /// The first part of an id.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
            Self::Convert => "convert",
            Self::ModUp => "mod_up",
            Self::KeyProduct => "key_product",
            Self::ModDown => "mod_down",
            Self::Rescale => "rescale",
        }
    }

    /// Whether the ring has primes enough.
    pub fn exists<W: Word>(self, ring: &RnsRing<W>) -> bool {
        match self {
            Self::ModDown => !ring.p().is_empty(),
            Self::Rescale => ring.q().len() > 1,
            Self::Convert => ring.primes().len() > 1,
            _ => true,
        }
    }
}

type Buffer<W> = <AnyBackend as Backend>::Buffer<W>;

/// Limbs in and out of an operation, as `(polynomials, limbs)`.
struct Shape {
    reads: usize,
    writes: (usize, Vec<usize>),
}

pub struct Case<'a, W: Word> {
    backend: &'a AnyBackend,
    ring: &'a RnsRing<W>,
    plan: <AnyBackend as RnsMul<W>>::RnsPlan,
    conversion: Option<<AnyBackend as RnsMul<W>>::Conversion>,
    key_switch: <AnyBackend as RnsMul<W>>::KeySwitch,
    mod_down: Option<<AnyBackend as RnsMul<W>>::ModDown>,
    rescale: Option<<AnyBackend as RnsMul<W>>::ModDown>,
    polys: usize,
    to: Vec<usize>,
    /// Polynomials of all limbs, also the key.
    a: Buffer<W>,
    /// Room for every result.
    out: Buffer<W>,
}

impl<'a, W: Word> Case<'a, W> {
    pub fn new(backend: &'a AnyBackend, ring: &'a RnsRing<W>, polys: usize) -> Result<Self> {
        let plan = backend.rns_plan(ring)?;
        let (q, p) = (ring.q().len(), ring.p().len());
        // The special primes, or else the last prime of Q.
        let split = if p > 0 { q } else { q - 1 };
        let (from, to): (Vec<usize>, Vec<usize>) = (0..q + p).partition(|i| *i < split);
        let conversion = match split {
            0 => None,
            _ => Some(backend.rns_conversion(&plan, &from, &to, Rounding::Exact)?),
        };
        let key_switch = backend.rns_key_switch(&plan, q, p.max(1), Rounding::Fast)?;
        let mod_down = Op::ModDown.exists(ring).then(|| backend.rns_mod_down_tables(&plan, q, Drop::Special));
        let rescale = Op::Rescale.exists(ring).then(|| backend.rns_mod_down_tables(&plan, q, Drop::Last(1)));
        let digits = backend.rns_digits(&key_switch);
        let count = (2 * digits).max(polys);
        let mut random = SplitMix64::new(ring.prime(0));
        let mut words: Vec<W> = Vec::with_capacity(count * (q + p) * ring.n());
        for _ in 0..count {
            for prime in ring.primes() {
                words.extend((0..ring.n()).map(|_| W::from_u64(random.below(*prime))));
            }
        }
        let mut a = backend.alloc(words.len(), Erase::No)?;
        backend.upload(&words, &mut a)?;
        let out = backend.alloc(words.len(), Erase::No)?;
        let (mod_down, rescale) = (mod_down.transpose()?, rescale.transpose()?);
        Ok(Self { backend, ring, plan, conversion, key_switch, mod_down, rescale, polys, to, a, out })
    }

    fn digits(&self) -> usize {
        RnsMul::<W>::rns_digits(self.backend, &self.key_switch)
    }

    /// Limbs read, and the primes of each polynomial written.
    fn shape(&self, op: Op) -> Shape {
        let (q, all, polys, digits) = (self.ring.q().len(), self.ring.primes().len(), self.polys, self.digits());
        let range = |limbs: usize| (0..limbs).collect::<Vec<_>>();
        let (reads, writes) = match op {
            Op::Forward | Op::Inverse => (polys * q, (polys, range(q))),
            Op::Convert => (polys * (all - self.to.len()), (polys, self.to.clone())),
            Op::ModUp => (q, (digits, range(all))),
            Op::KeyProduct => (3 * digits * all, (2, range(all))),
            Op::ModDown => (polys * all, (polys, range(q))),
            Op::Rescale => (polys * q, (polys, range(q - 1))),
        };
        Shape { reads, writes }
    }

    /// Bytes that an operation reads and writes at least.
    pub fn bytes(&self, op: Op) -> usize {
        let Shape { reads, writes } = self.shape(op);
        (reads + writes.0 * writes.1.len()) * self.ring.n() * size_of::<W>()
    }

    /// One call.
    pub fn run(&mut self, op: Op) -> Result<()> {
        let (backend, plan, polys) = (self.backend, &self.plan, self.polys);
        let q = Limbs { q: self.ring.q().len(), p: 0 };
        let (a, out) = (View::new(&self.a), ViewMut::new(&mut self.out));
        match op {
            Op::Forward => backend.rns_ntt_from(plan, q, polys, a, out),
            Op::Inverse => backend.rns_intt_from(plan, q, polys, a, out),
            Op::Convert => match &self.conversion {
                Some(conversion) => backend.rns_convert(plan, conversion, polys, a, out),
                None => Ok(()),
            },
            Op::ModUp => backend.rns_mod_up(plan, &self.key_switch, a, out),
            Op::KeyProduct => backend.rns_key_product(plan, &self.key_switch, None, a, a, None, out),
            Op::ModDown => match &self.mod_down {
                Some(tables) => backend.rns_mod_down(plan, tables, polys, a, out),
                None => Ok(()),
            },
            Op::Rescale => match &self.rescale {
                Some(tables) => backend.rns_mod_down(plan, tables, polys, a, out),
                None => Ok(()),
            },
        }?;
        backend.synchronize()
    }

    /// The result of one call on operands in canonical order, in canonical order.
    pub fn result(&mut self, op: Op) -> Result<Vec<W>> {
        let n = self.ring.n();
        let orders: Vec<Vec<u32>> =
            (0..self.ring.primes().len()).map(|i| self.backend.rns_order(&self.plan, i)).collect::<Result<_>>()?;
        let mut canonical = vec![W::ZERO; self.a_len()];
        self.backend.download(&self.a, &mut canonical)?;
        // Every operation but the conversion takes its limbs as values at the points, whatever they were.
        let reads = self.shape(op).reads.min(canonical.len() / n);
        let primes = self.primes_read(op);
        let mut words = canonical.clone();
        if !matches!(op, Op::Forward | Op::Convert) {
            for row in 0..reads {
                let order = &orders[primes[row % primes.len()]];
                for (slot, place) in order.iter().enumerate() {
                    words[row * n + *place as usize] = canonical[row * n + slot];
                }
            }
        }
        self.backend.upload(&words, &mut self.a)?;
        self.run(op)?;
        self.backend.upload(&canonical, &mut self.a)?;
        let (polys, limbs) = self.shape(op).writes;
        let mut out = vec![W::ZERO; polys * limbs.len() * n];
        self.backend.download(&self.out, &mut out)?;
        if !matches!(op, Op::Inverse | Op::Convert) {
            let placed = out.clone();
            for (row, (out, placed)) in out.chunks_exact_mut(n).zip(placed.chunks_exact(n)).enumerate() {
                for (word, place) in out.iter_mut().zip(&orders[limbs[row % limbs.len()]]) {
                    *word = placed[*place as usize];
                }
            }
        }
        Ok(out)
    }

    fn a_len(&self) -> usize {
        (2 * self.digits()).max(self.polys) * self.ring.primes().len() * self.ring.n()
    }

    /// The primes of the limbs of each polynomial that is read, in the NTT domain.
    fn primes_read(&self, op: Op) -> Vec<usize> {
        match op {
            Op::KeyProduct | Op::ModDown => (0..self.ring.primes().len()).collect(),
            _ => (0..self.ring.q().len()).collect(),
        }
    }

    /// A copy that moves as many bytes.
    pub fn copy(&self, bytes: usize) -> Result<impl FnMut() -> Result<()> + use<'_, W>> {
        let limbs = (bytes / (2 * size_of::<W>() * self.ring.n())).max(1);
        let len = limbs * self.ring.n();
        let (a, mut out) = (self.backend.alloc::<W>(len, Erase::No)?, self.backend.alloc::<W>(len, Erase::No)?);
        Ok(move || {
            let one = Limbs { q: 1, p: 0 };
            self.backend.rns_copy(&self.plan, one, limbs, View::new(&a), ViewMut::new(&mut out))?;
            self.backend.synchronize()
        })
    }
}
