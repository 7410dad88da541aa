//! RNS transforms on a GPU: recorded, replayed, compared with the scalar CPU in the same run.

use karat::arith::Word;
use karat::backend::cuda::{Cuda, Graph, NttVariant};
use karat::backend::{Backend, Erase};
use karat::rns::{Limbs, RnsBasis, RnsMul, RnsRing, Search, View, ViewMut};
use karat::{Cpu, Error};
use serde::Serialize;

use crate::failure::Failure;

/// Transforms of one recording, one behind the other.
const REPEATS: usize = 20;
/// Replays that are timed; an odd number has a middle.
const SAMPLES: usize = 15;
/// Bytes that the caches of today's GPUs do not hold.
const COLD_BYTES: usize = 256 << 20;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub log_n: u32,
    pub bits: u32,
    pub primes: usize,
    pub polys: usize,
    pub variant: String,
}

/// A row of the result; times in microseconds for all polynomials and primes.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub suite: &'static str,
    pub log_n: u32,
    pub bits: u32,
    pub primes: usize,
    pub polys: usize,
    pub variant: String,
    /// One data set, transformed again and again in place.
    pub forward_us: f64,
    pub inverse_us: f64,
    /// Data sets in turns, more than the cache holds.
    pub forward_cold_us: f64,
    /// One transform a recording.
    pub forward_single_us: f64,
    /// Bytes of residues and twiddles that one forward transform reads and writes, by its own access pattern.
    pub data_bytes: u64,
    pub twiddle_bytes: u64,
}

impl Case {
    /// Measures, or says that the result is wrong.
    pub fn measure(&self, gpu: &Cuda) -> Result<Option<Row>, Failure> {
        let gpu = gpu.clone().with_ntt(NttVariant::parse(&format!("ntt:{}", self.variant))?);
        if self.bits <= 31 { self.measure_in::<u32>(&gpu) } else { self.measure_in::<u64>(&gpu) }
    }

    fn ring<W: Word>(&self) -> Result<RnsRing<W>, Failure> {
        let n = 1 << self.log_n;
        let basis = RnsBasis::generate(n, self.bits, self.primes, Search::Descending, &[])?;
        Ok(RnsRing::new(n, basis.primes(), &[])?)
    }

    /// Random residues; one prime's are all `q - 1`.
    fn operand<W: Word>(&self, ring: &RnsRing<W>) -> Vec<W> {
        let n = ring.n();
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z ^ (z >> 31)
        };
        let mut words = Vec::with_capacity(self.polys * self.primes * n);
        for _ in 0..self.polys {
            for (i, q) in ring.primes().iter().enumerate() {
                words.extend((0..n).map(|_| W::from_u64(if i == 1 { q - 1 } else { next() % q })));
            }
        }
        words
    }

    fn measure_in<W: Word>(&self, gpu: &Cuda) -> Result<Option<Row>, Failure> {
        let ring = self.ring::<W>()?;
        let (limbs, polys) = (Limbs { q: self.primes, p: 0 }, self.polys);
        let plan = gpu.rns_plan(&ring)?;
        let words = self.operand(&ring);
        let mut x = gpu.alloc::<W>(words.len(), Erase::No)?;
        gpu.upload(&words, &mut x)?;
        gpu.rns_ntt(&plan, limbs, polys, ViewMut::new(&mut x))?;
        let mut got = vec![W::default(); words.len()];
        gpu.download(&x, &mut got)?;
        let right = got == self.expected(&ring, &words)?;
        gpu.rns_intt(&plan, limbs, polys, ViewMut::new(&mut x))?;
        gpu.download(&x, &mut got)?;
        if !right || got != words {
            return Ok(None);
        }
        let forward_us = time(gpu, REPEATS, |_| gpu.rns_ntt(&plan, limbs, polys, ViewMut::new(&mut x)))?;
        let forward_single_us = time(gpu, 1, |_| gpu.rns_ntt(&plan, limbs, polys, ViewMut::new(&mut x)))?;
        let inverse_us = time(gpu, REPEATS, |_| gpu.rns_intt(&plan, limbs, polys, ViewMut::new(&mut x)))?;
        let sets = (COLD_BYTES / (words.len() * size_of::<W>())).clamp(2, 512);
        let mut many = (0..sets).map(|_| gpu.alloc::<W>(words.len(), Erase::No)).collect::<Result<Vec<_>, Error>>()?;
        let forward_cold_us = time(gpu, sets, |i| gpu.rns_ntt(&plan, limbs, polys, ViewMut::new(&mut many[i])))?;
        let traffic = plan.forward_traffic(limbs, polys);
        Ok(Some(Row {
            suite: "rns",
            log_n: self.log_n,
            bits: self.bits,
            primes: self.primes,
            polys,
            variant: self.variant.clone(),
            forward_us,
            inverse_us,
            forward_cold_us,
            forward_single_us,
            data_bytes: traffic.data,
            twiddle_bytes: traffic.twiddles,
        }))
    }

    /// The scalar CPU's values, in the GPU's order, which is the canonical one.
    fn expected<W: Word>(&self, ring: &RnsRing<W>, words: &[W]) -> Result<Vec<W>, Failure> {
        let cpu = Cpu::scalar();
        let plan = cpu.rns_plan(ring)?;
        let limbs = Limbs { q: self.primes, p: 0 };
        let (mut a, mut x) = (cpu.alloc::<W>(words.len(), Erase::No)?, cpu.alloc::<W>(words.len(), Erase::No)?);
        cpu.upload(words, &mut a)?;
        cpu.rns_ntt_from(&plan, limbs, self.polys, View::new(&a), ViewMut::new(&mut x))?;
        let n = ring.n();
        let mut values = vec![W::default(); words.len()];
        cpu.download(&x, &mut values)?;
        let mut out = vec![W::default(); words.len()];
        for prime in 0..self.primes {
            let order = cpu.rns_order(&plan, prime)?;
            for poly in 0..self.polys {
                let at = (poly * self.primes + prime) * n;
                for (slot, place) in order.iter().enumerate() {
                    out[at + slot] = values[at + *place as usize];
                }
            }
        }
        Ok(out)
    }
}

/// Median microseconds of one of `repeats` calls, recorded together and replayed.
pub fn time<E>(gpu: &Cuda, repeats: usize, mut work: impl FnMut(usize) -> Result<(), E>) -> Result<f64, Failure>
where
    E: From<Error>,
    Failure: From<E>,
{
    let graph = Graph::record(gpu, |_| (0..repeats).try_for_each(&mut work))?;
    Ok(graph.median_ns(SAMPLES)? / 1e3 / repeats as f64)
}

/// The rows of the plain suite.
pub fn cases(variant: &str) -> Vec<Case> {
    let mut out = Vec::new();
    for bits in [60, 50, 30] {
        for log_n in 12..=17 {
            for primes in [1, 21, 45] {
                out.push(Case { log_n, bits, primes, polys: 1, variant: variant.into() });
            }
        }
    }
    for bits in [62, 61, 49, 31, 28] {
        out.push(Case { log_n: 16, bits, primes: 45, polys: 1, variant: variant.into() });
    }
    out
}
