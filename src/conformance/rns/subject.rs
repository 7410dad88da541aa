//! A backend in one RNS ring.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::inputs::{Pattern, SplitMix64};
use super::super::{Failure, Place, Report};
use crate::arith::{Modulus, Word};
use crate::backend::Erase;
use crate::rns::{Limbs, RnsMul, RnsRing, View, ViewMut};
use crate::{Error, Result};

pub(super) type Checked<T> = core::result::Result<T, Failure>;

pub(super) struct Subject<'a, B: RnsMul<W>, W: Word> {
    pub(super) backend: &'a B,
    pub(super) ring: &'a RnsRing<W>,
    pub(super) plan: B::RnsPlan,
    pub(super) n: usize,
    pub(super) moduli: Vec<Modulus<u64>>,
    pub(super) random: SplitMix64,
    /// Whether polynomials have gaps between them.
    gaps: bool,
    place: Box<Place>,
    compared: u64,
}

/// Polynomials in a buffer.
pub(super) struct Operand<T> {
    pub(super) buffer: T,
    count: usize,
    polys: usize,
    first: usize,
    stride: usize,
}

/// What lies in gaps.
const CANARY: u64 = 5;

impl<T> Operand<T> {
    pub(super) fn view(&self) -> View<'_, T> {
        View { words: &self.buffer, first: self.first, stride: Some(self.stride) }
    }

    /// The first polynomial for all.
    pub(super) fn shared(&self) -> View<'_, T> {
        self.view().every(0)
    }

    pub(super) fn view_mut(&mut self) -> ViewMut<'_, T> {
        ViewMut { words: &mut self.buffer, first: self.first, stride: Some(self.stride) }
    }
}

impl<'a, B: RnsMul<W>, W: Word> Subject<'a, B, W> {
    pub(super) fn new(backend: &'a B, ring: &'a RnsRing<W>, gaps: bool) -> Checked<Self> {
        let (n, primes) = (ring.n(), ring.primes());
        let place = Box::new(Place {
            backend: backend.name().to_string(),
            ring: alloc::format!(
                "N = {n}, {} + {} primes from {} in {}-bit words{}",
                ring.q().len(),
                ring.p().len(),
                primes[0],
                W::WIDTH,
                if gaps { ", with gaps" } else { "" }
            ),
        });
        let refused = |error| Failure::Refused { place: place.clone(), operation: "rns_plan".to_string(), error };
        let plan = backend.rns_plan(ring).map_err(refused)?;
        let moduli = primes.iter().map(|q| Modulus::<u64>::new(*q)).collect::<Result<_>>().map_err(refused)?;
        let random = SplitMix64::new(primes[0] ^ (n as u64).rotate_left(32));
        Ok(Self { backend, ring, plan, n, moduli, random, gaps, place, compared: 0 })
    }

    pub(super) fn report(&self) -> Report {
        Report { compared: self.compared }
    }

    /// Whether a whole comparison by definition takes too long.
    pub(super) fn long(&self) -> bool {
        self.n > 1 << 12
    }

    /// The moduli of limbs.
    pub(super) fn of(&self, limbs: Limbs) -> Vec<Modulus<u64>> {
        self.ring.indices(limbs).map(|i| self.moduli[i]).collect()
    }

    /// Polynomials of a pattern, packed.
    pub(super) fn fill(&mut self, primes: &[Modulus<u64>], polys: usize, pattern: Pattern) -> Vec<W> {
        let mut out = Vec::with_capacity(primes.len() * polys * self.n);
        for _ in 0..polys {
            for m in primes {
                out.extend(pattern.coefficients::<W>(self.n, m.value(), &mut self.random));
            }
        }
        out
    }

    /// The value of an operation that must not fail.
    pub(super) fn done<T>(&self, operation: &str, result: Result<T>) -> Checked<T> {
        result.map_err(|error| Failure::Refused { place: self.place.clone(), operation: operation.to_string(), error })
    }

    /// Checks that an operation fails with the right error.
    pub(super) fn refuses<T>(
        &mut self,
        operation: &str,
        expected: &'static str,
        result: Result<T>,
        right: impl Fn(&Error) -> bool,
    ) -> Checked<()> {
        let got = match result {
            Err(error) if right(&error) => {
                self.compared += 1;
                return Ok(());
            }
            Err(error) => alloc::format!("gave: {error}"),
            Ok(_) => "worked".to_string(),
        };
        Err(Failure::Accepted { place: self.place.clone(), operation: operation.to_string(), expected, got })
    }

    /// Packed polynomials of `count` limbs, uploaded.
    pub(super) fn put(&self, count: usize, words: &[W]) -> Checked<Operand<B::Buffer<W>>> {
        let polys = words.len() / (count * self.n);
        let (first, stride) = if self.gaps { (1, count + 2) } else { (0, count) };
        let mut host = alloc::vec![W::from_u64(CANARY); (first + polys * stride) * self.n];
        for (k, poly) in words.chunks_exact(count * self.n).enumerate() {
            host[(first + k * stride) * self.n..][..poly.len()].copy_from_slice(poly);
        }
        let mut buffer = self.done("alloc", self.backend.alloc::<W>(host.len(), Erase::No))?;
        self.done("upload", self.backend.upload(&host, &mut buffer))?;
        Ok(Operand { buffer, count, polys, first, stride })
    }

    /// Room for a result; its words are canonical and not 0.
    pub(super) fn room(&self, count: usize, polys: usize) -> Checked<Operand<B::Buffer<W>>> {
        self.put(count, &alloc::vec![W::from_u64(1); count * polys * self.n])
    }

    /// Packed polynomials, downloaded; gaps must be as they were.
    pub(super) fn get(&mut self, label: &str, operand: &Operand<B::Buffer<W>>) -> Checked<Vec<W>> {
        let len = (operand.first + operand.polys * operand.stride) * self.n;
        let mut host = alloc::vec![W::ZERO; len];
        self.done("download", self.backend.download(&operand.buffer, &mut host))?;
        let mut out = Vec::with_capacity(operand.count * operand.polys * self.n);
        for (limb, words) in host.chunks_exact(self.n).enumerate() {
            let inside = limb >= operand.first && (limb - operand.first) % operand.stride < operand.count;
            if inside {
                out.extend_from_slice(words);
                continue;
            }
            for (i, word) in words.iter().enumerate() {
                self.equal(&alloc::format!("{label}: a word between polynomials"), (limb, i), word.to_u64(), CANARY)?;
            }
        }
        Ok(out)
    }

    /// Compares packed polynomials with `expected(poly, limb, index)`, all words or a sample.
    pub(super) fn same(
        &mut self,
        label: &str,
        count: usize,
        got: &[W],
        indices: &[usize],
        expected: impl Fn(usize, usize, usize) -> u64,
    ) -> Checked<()> {
        for (row, words) in got.chunks_exact(self.n).enumerate() {
            let (poly, limb) = (row / count, row % count);
            for i in indices {
                let label = || alloc::format!("{label}, limb {limb} of polynomial {poly}");
                let (got, expected) = (words[*i].to_u64(), expected(poly, limb, *i));
                if got != expected {
                    self.equal(&label(), (row, *i), got, expected)?;
                }
            }
            self.compared += 1;
        }
        Ok(())
    }

    /// Compares one word.
    pub(super) fn equal(&self, label: &str, (row, index): (usize, usize), got: u64, expected: u64) -> Checked<()> {
        if got == expected {
            return Ok(());
        }
        Err(Failure::Wrong {
            place: self.place.clone(),
            operation: label.to_string(),
            batch: 1,
            item: row,
            coefficient: index,
            got,
            expected,
        })
    }

    /// Counts a comparison that [`Subject::same`] did not make.
    pub(super) fn count(&mut self) {
        self.compared += 1;
    }

    /// A failure in words.
    pub(super) fn wrong(&self, operation: String, expected: &'static str, got: String) -> Failure {
        Failure::Accepted { place: self.place.clone(), operation, expected, got }
    }

    /// Indices that are compared: all, or a sample and both ends where there are many.
    pub(super) fn indices(&mut self, all_up_to: usize) -> Vec<usize> {
        if self.n <= all_up_to {
            return (0..self.n).collect();
        }
        let n = self.n as u64;
        let random = (0..24).map(|_| self.random.below(n) as usize);
        random.collect::<Vec<_>>().into_iter().chain([0, 1, self.n / 2 - 1, self.n / 2, self.n - 1]).collect()
    }

    /// Transforms packed polynomials on the backend, either way.
    pub(super) fn transformed(&mut self, limbs: Limbs, words: &[W], forward: bool) -> Checked<Vec<W>> {
        let mut x = self.put(limbs.count(), words)?;
        let polys = words.len() / (limbs.count() * self.n);
        let (name, result) = match forward {
            true => ("rns_ntt", self.backend.rns_ntt(&self.plan, limbs, polys, x.view_mut())),
            false => ("rns_intt", self.backend.rns_intt(&self.plan, limbs, polys, x.view_mut())),
        };
        self.done(name, result)?;
        self.get(name, &x)
    }
}
