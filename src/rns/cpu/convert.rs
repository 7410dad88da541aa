//! Base conversion on the CPU, a block of coefficients at a time: the digits of a block stay in the cache while all
//! its results are made.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::kernels::{self, Target, Weigh};
use super::plan::RnsPlan;
use super::rows::{Block, Rows, RowsMut};
use crate::arith::Word;
use crate::backend::Cpu;
use crate::backend::cpu::scratch::with_scratch;
use crate::rns::convert::ConversionTables;
use crate::rns::{Rounding, Scalar};

/// A base conversion bound to the CPU.
pub struct Conversion<W> {
    pub(super) tables: ConversionTables,
    /// Rows of digits: one a prime, and the correction.
    count: usize,
    weighing: Vec<Box<dyn Weigh<W>>>,
}

impl<W> fmt::Debug for Conversion<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Conversion({:?} to {:?})", self.tables.from, self.tables.to)
    }
}

/// Coefficients that one thread takes at a time.
const TASK: usize = 1 << 11;
/// Words of the digits of a block: half of a first-level cache.
const BLOCK_WORDS: usize = 1 << 11;

impl<W: Word> Conversion<W> {
    pub(super) fn new(plan: &RnsPlan<W>, tables: ConversionTables) -> Self {
        let corrected = tables.rounding == Rounding::Exact;
        let targets = tables.factors.chunks_exact(tables.from.len()).zip(&tables.minus_product).zip(&tables.to);
        let targets = targets.enumerate().map(|(place, ((factors, minus_product), to))| Target {
            m: plan.primes[*to].modulus,
            place,
            // What a unit of u adds stands behind the others.
            factors: factors.iter().chain(corrected.then_some(minus_product)).copied().collect(),
        });
        // u is at most the number of primes.
        let largest = tables.from.iter().map(|i| plan.ring.prime(*i)).max().unwrap_or(0);
        let bound = largest.max(tables.from.len() as u64 + 1);
        let weighing = kernels::weighing(plan.level, bound, targets.collect());
        Self { count: tables.from.len() + usize::from(corrected), tables, weighing }
    }
}

impl Cpu {
    /// Converts all polynomials of `out`, limbs in `skip` left out.
    pub(super) fn convert<W: Word>(
        &self,
        plan: &RnsPlan<W>,
        conversion: &Conversion<W>,
        a: Rows<'_, W>,
        out: RowsMut<'_, W>,
        skip: Range<usize>,
    ) {
        let (count, len) = (conversion.count, plan.ring.n().min(TASK));
        // A multiple of every vector's lanes.
        let block = (1usize << (BLOCK_WORDS / count).max(16).ilog2()).min(len);
        let work = |task: Block<'_, W>| {
            with_scratch(count * block, |digits: &mut [W]| {
                let mut rows = task.rows;
                for offset in (0..len).step_by(block) {
                    digits_of(plan, conversion, a, (task.poly, task.start + offset), block, digits);
                    for weighing in &conversion.weighing {
                        weighing.weigh(digits, block, &mut rows, offset);
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
    conversion: &Conversion<W>,
    a: Rows<'_, W>,
    (poly, start): (usize, usize),
    len: usize,
    digits: &mut [W],
) {
    let tables = &conversion.tables;
    let (digits, correction) = digits.split_at_mut(tables.from.len() * len);
    for (i, (digits, inverse)) in digits.chunks_exact_mut(len).zip(&tables.inverses).enumerate() {
        let source = &a.get(poly, i)[start..][..len];
        plan.primes[tables.from[i]].kernels.scalar(Scalar::Mul, *inverse, source, digits);
    }
    match (tables.rounding, tables.from.len()) {
        (Rounding::Fast, _) => {}
        (Rounding::Exact, 1) => {
            let half = plan.ring.prime(tables.from[0]) / 2;
            for (u, y) in correction.iter_mut().zip(&*digits) {
                // The borrow of half - y.
                *u = W::from_u64(half.wrapping_sub(y.to_u64()) >> 63);
            }
        }
        (Rounding::Exact, _) => {
            if let Some(weighing) = conversion.weighing.first() {
                weighing.quotients(digits, &tables.reciprocals, correction);
            }
        }
    }
}
