//! Base conversion on the CPU, a block of coefficients at a time: the digits of a block stay in the cache while all
//! its results are made.

use alloc::vec::Vec;
use core::ops::Range;

use super::kernels::Kernels;
use super::plan::RnsPlan;
use super::rows::{Block, Rows, RowsMut};
use crate::arith::Word;
use crate::backend::Cpu;
use crate::backend::cpu::scratch::with_scratch;
use crate::rns::convert::ConversionTables;
use crate::rns::{RnsRing, Rounding, Scalar};

/// A base conversion bound to the CPU.
#[derive(Debug, Clone)]
pub struct Conversion {
    pub(super) tables: ConversionTables,
    /// Every word of a digit is below this.
    bound: u64,
    /// `[to][from]`, and behind each row what a unit of `u` adds where there is a correction.
    factors: Vec<u64>,
}

/// Coefficients that one thread takes at a time.
const TASK: usize = 1 << 11;
/// Words of the digits of a block: half of a first-level cache.
const BLOCK_WORDS: usize = 1 << 11;

impl Conversion {
    pub(super) fn new<W: Word>(ring: &RnsRing<W>, tables: ConversionTables) -> Self {
        let bound = tables.from.iter().map(|i| ring.prime(*i)).max().unwrap_or(0);
        let mut factors = Vec::new();
        for (row, minus_product) in tables.factors.chunks_exact(tables.from.len()).zip(&tables.minus_product) {
            factors.extend(row);
            if tables.rounding == Rounding::Exact {
                factors.push(*minus_product);
            }
        }
        // u is at most the number of primes.
        let bound = bound.max(tables.from.len() as u64 + 1);
        Self { tables, bound, factors }
    }

    /// Rows of digits: one a prime, and the correction.
    fn rows(&self) -> usize {
        self.factors.len() / self.tables.to.len()
    }
}

impl Cpu {
    /// Converts all polynomials of `out`, limbs in `skip` left out.
    pub(super) fn convert<W: Word>(
        &self,
        plan: &RnsPlan<W>,
        conversion: &Conversion,
        a: Rows<'_, W>,
        out: RowsMut<'_, W>,
        skip: Range<usize>,
    ) {
        let tables = &conversion.tables;
        let kernels: Vec<&dyn Kernels<W>> = tables
            .to
            .iter()
            .map(|i| {
                let prime = &plan.primes[*i];
                if prime.kernels.weighs(conversion.bound) { &*prime.kernels } else { &*prime.portable }
            })
            .collect();
        let (count, len) = (conversion.rows(), plan.ring.n().min(TASK));
        // A multiple of every vector's lanes.
        let block = (1usize << (BLOCK_WORDS / count).max(16).ilog2()).min(len);
        let work = |task: Block<'_, W>| {
            with_scratch(count * block, |digits: &mut [W]| {
                let mut rows = task.rows;
                for offset in (0..len).step_by(block) {
                    digits_of(plan, tables, a, task.poly, task.start + offset, block, digits);
                    for ((row, kernels), factors) in
                        rows.iter_mut().zip(&kernels).zip(conversion.factors.chunks_exact(count))
                    {
                        kernels.weigh(conversion.bound, digits, factors, &mut row[offset..][..block]);
                    }
                }
            });
        };
        self.over(out.len(), out.blocks(len, skip).into_iter(), work);
    }
}

/// The digits of one block, and the correction behind them.
fn digits_of<W: Word>(
    plan: &RnsPlan<W>,
    tables: &ConversionTables,
    a: Rows<'_, W>,
    poly: usize,
    start: usize,
    len: usize,
    digits: &mut [W],
) {
    let count = tables.from.len();
    let (digits, correction) = digits.split_at_mut(count * len);
    for (i, (digits, inverse)) in digits.chunks_exact_mut(len).zip(&tables.inverses).enumerate() {
        let source = &a.get(poly, i)[start..][..len];
        plan.primes[tables.from[i]].kernels.scalar(Scalar::Mul, *inverse, source, digits);
    }
    match (tables.rounding, count) {
        (Rounding::Fast, _) => {}
        (Rounding::Exact, 1) => {
            let half = plan.ring.prime(tables.from[0]) / 2;
            for (u, y) in correction.iter_mut().zip(&*digits) {
                // The borrow of half - y.
                *u = W::from_u64(half.wrapping_sub(y.to_u64()) >> 63);
            }
        }
        (Rounding::Exact, _) => {
            for (x, u) in correction.iter_mut().enumerate() {
                let terms = digits.iter().skip(x).step_by(len).zip(&tables.reciprocals);
                let sum = terms.fold(0.0, |sum, (y, reciprocal)| sum + y.to_u64() as f64 * reciprocal);
                *u = W::from_u64((sum + 0.5) as u64);
            }
        }
    }
}
