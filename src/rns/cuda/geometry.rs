//! Which arithmetic and which shape a transform has on a device.

use crate::backend::cuda::Limits;
use crate::backend::cuda::rns::{Arithmetic, Geometry, Lanes, NttVariant, Scheme, emulated_transforms};
use crate::backend::cuda::{NttShape, WordClass};
use crate::{Error, Result};

/// Primes of double-precision lanes are below this power of two.
const DOUBLE_BITS: u32 = 50;

/// The bits of a prime.
fn bits(q: u64) -> u32 {
    u64::BITS - q.leading_zeros()
}

/// The arithmetic for primes up to `largest` in words of `word_bits` bits.
pub(super) fn lanes(limits: &Limits, variant: NttVariant, word_bits: u32, largest: u64) -> Result<Lanes> {
    let word = if word_bits == 64 { WordClass::Word64 } else { WordClass::Word32 };
    // How many times the largest prime fits a word: 2, 4, 8 or 16, of which kernels know these.
    let room = 1 << (8 * word.bytes() as u32 - bits(largest)).min(4);
    let room = if word == WordClass::Word32 && room == 8 { 4 } else { room };
    let fits = word == WordClass::Word64 && bits(largest) <= DOUBLE_BITS;
    match variant.arithmetic {
        Arithmetic::Automatic if fits && limits.double => Ok(Lanes::Double),
        Arithmetic::Automatic if word == WordClass::Word64 => Ok(Lanes::Split(room)),
        Arithmetic::Automatic | Arithmetic::Shoup => Ok(Lanes::Shoup(word, room)),
        Arithmetic::Double if fits => Ok(Lanes::Double),
        Arithmetic::Double => Err(Error::Unsupported {
            what: "fp64 arithmetic",
            reason: format!("it takes 64-bit words and primes to {DOUBLE_BITS} bits, here are {}", bits(largest)),
        }),
        Arithmetic::Barrett => Ok(Lanes::Barrett(word)),
        Arithmetic::Native => Ok(Lanes::Native(word)),
    }
}

/// How a transform runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Through global memory, so many layers a launch.
    Passes(u32),
    /// In two launches.
    Two(Geometry),
    /// Passes for the columns' layers, then rows.
    Mixed(u32, Geometry),
}

/// The shortest transform in two launches: both need a few layers.
const LEAST_LOG_N: u32 = 10;

/// Layers of a pass where nothing says otherwise.
const PASS: u32 = 4;

/// The shape of a plan. `tuned` are shapes that were measured on this device.
pub(super) fn shape(
    limits: &Limits,
    variant: NttVariant,
    tuned: &[NttShape],
    lanes: Lanes,
    log_n: u32,
    primes: usize,
) -> Result<Shape> {
    let automatic =
        |lanes, log_n, primes| measured(tuned, lanes, log_n, primes).unwrap_or_else(|| automatic(lanes, log_n, primes));
    let shape = match variant.scheme {
        Scheme::Passes(layers) => return Ok(Shape::Passes(layers)),
        _ if log_n < LEAST_LOG_N => return Ok(Shape::Passes(PASS)),
        Scheme::Automatic => {
            let geometry = automatic(lanes, log_n, primes);
            let known = |geometry: &Geometry| limits.compiles || emulated_transforms().contains(&(lanes, *geometry));
            let other =
                || emulated_transforms().into_iter().find(|(l, g)| *l == lanes && g.log_n() == log_n && !g.loose);
            return Ok(match (known(&geometry), other()) {
                (true, _) => Shape::Two(geometry),
                (false, Some((_, geometry))) => Shape::Two(geometry),
                (false, None) => Shape::Passes(PASS),
            });
        }
        Scheme::Shared { points, fly } => {
            let mut geometry = even(lanes, log_n, points);
            if !fly {
                geometry.fly = 0;
            }
            Shape::Two(geometry)
        }
        Scheme::Mixed => Shape::Mixed(PASS, Geometry { loose: true, ..automatic(lanes, log_n, primes) }),
        Scheme::Shape(geometry) => Shape::Two(geometry),
    };
    let (Shape::Two(mut geometry) | Shape::Mixed(_, mut geometry)) = shape else { return Ok(shape) };
    if let Scheme::Mixed = variant.scheme
        && !limits.compiles
        && let Some((_, known)) = emulated_transforms().into_iter().find(|(l, g)| *l == lanes && g.loose)
    {
        geometry = known;
    }
    let fault = match geometry.fault() {
        None if geometry.log_n() != log_n => Some("it is for another length"),
        None if !(limits.compiles || emulated_transforms().contains(&(lanes, geometry))) => {
            Some("the emulated device has no such program")
        }
        fault => fault,
    };
    match (fault, shape) {
        (Some(fault), _) => Err(Error::Unsupported {
            what: "shape of the transform",
            reason: format!("N = 2^{log_n}, {variant}: {fault}"),
        }),
        (None, Shape::Mixed(layers, _)) => Ok(Shape::Mixed(layers, geometry)),
        (None, _) => Ok(Shape::Two(geometry)),
    }
}

/// Threads of a block of rows, about.
const ROW_THREADS: u32 = 128;

/// Threads of a block of columns: sixteen points a thread leave few of a short column, four many of a long one.
const LEAST_THREADS: u32 = 32;
const MOST_THREADS: u32 = 512;

/// An even split, the rows the longer, with so many points a thread.
fn even(lanes: Lanes, log_n: u32, points: u32) -> Geometry {
    let (column_layers, row_layers) = (log_n / 2, log_n.div_ceil(2));
    let columns: u32 = if lanes == Lanes::Double || lanes.word() == WordClass::Word32 { 16 } else { 8 };
    let threads = 1 << (row_layers - points);
    Geometry {
        column_layers,
        row_layers,
        column_points: points,
        row_points: points,
        columns: columns.clamp(LEAST_THREADS >> (column_layers - points), MOST_THREADS >> (column_layers - points)),
        rows: (ROW_THREADS / threads).clamp(1, 1 << column_layers),
        fly: flies(lanes, if lanes == Lanes::Double { points } else { 2 }),
        loose: false,
        column_blocks: 1,
        row_blocks: 1,
    }
}

/// Plain products have no factored twiddles.
fn flies(lanes: Lanes, fly: u32) -> u32 {
    match lanes {
        Lanes::Barrett(_) | Lanes::Native(_) => 0,
        Lanes::Shoup(..) | Lanes::Split(_) | Lanes::Double => fly,
    }
}

/// A measured entry: log2 N; the most primes that it is for; points of columns and rows (log2), columns and rows of a
/// block, layers on the fly, blocks a multiprocessor for both.
type Entry = (u32, usize, [u32; 7]);

const ANY: usize = usize::MAX;

/// Forward transforms on an H200 (CUDA 13.0, driver 580, 2026-11-30), one data set replayed from a graph, the best of
/// some ten shapes for each length, or of `karat tune`; microseconds of columns + rows beside each, alone or together.
const WORD64: [Entry; 8] = [
    (10, ANY, [3, 3, 8, 8, 0, 8, 7]),
    (13, ANY, [3, 3, 16, 4, 1, 4, 8]), // 45 primes of 60 bits: 6.4 together
    (14, ANY, [3, 3, 8, 8, 1, 6, 6]),  // 45: 10.5
    (15, ANY, [4, 3, 16, 4, 1, 4, 6]), // 45: 18.0
    (16, 4, [2, 2, 4, 1, 2, 4, 8]),    // 1: 3.7
    (16, 30, [4, 3, 8, 4, 0, 4, 8]),   // 21: 20.4
    (16, ANY, [4, 4, 8, 4, 3, 6, 11]), // 45: 35.8
    (17, ANY, [4, 4, 8, 2, 3, 6, 10]), // 45: 72.3
];
const DOUBLE: [Entry; 8] = [
    (10, ANY, [3, 3, 16, 8, 3, 4, 7]),
    (13, ANY, [3, 3, 16, 8, 3, 7, 7]), // 45 primes of 50 bits: 2.7 + 3.3
    (14, ANY, [3, 4, 8, 8, 4, 7, 9]),  // 45: 4.3 + 4.7
    (15, ANY, [4, 3, 16, 4, 0, 1, 6]), // 45: 12.0 together
    (16, 4, [2, 2, 4, 1, 2, 4, 8]),    // 1: 2.1 + 1.9
    (16, 30, [4, 3, 8, 4, 0, 5, 6]),   // 21: 12.6 together
    (16, ANY, [4, 4, 8, 4, 4, 5, 10]), // 45: 23.0 together
    (17, ANY, [4, 4, 8, 2, 4, 5, 16]), // 45: 47.7 together
];
const WORD32: [Entry; 7] = [
    (10, ANY, [3, 3, 16, 8, 2, 9, 9]),
    (13, ANY, [3, 3, 16, 8, 2, 9, 9]),  // 45 primes of 30 bits: 2.3 + 2.6
    (14, ANY, [4, 4, 16, 16, 2, 7, 7]), // 45: 3.3 + 3.5
    (15, ANY, [4, 4, 16, 8, 1, 4, 4]),  // 45: 4.3 + 4.9
    (16, 4, [3, 3, 4, 2, 2, 4, 4]),     // 1: 2.1 + 1.8
    (16, ANY, [4, 4, 16, 8, 1, 4, 6]),  // 45: 8.2 + 7.9
    (17, ANY, [4, 4, 16, 4, 2, 4, 10]), // 45: 30.0 together
];

/// The shape that was tuned for this length: with as many primes or the next number above, or with the most.
fn measured(tuned: &[NttShape], lanes: Lanes, log_n: u32, primes: usize) -> Option<Geometry> {
    let fits = |shape: &&NttShape| shape.log_n == log_n && shape.lanes == lanes.name();
    let above = tuned.iter().filter(fits).filter(|shape| shape.primes >= primes).min_by_key(|shape| shape.primes);
    above.or_else(|| tuned.iter().filter(fits).max_by_key(|shape| shape.primes))?.geometry()
}

/// The measured shape for the longest length that is not longer.
pub(super) fn automatic(lanes: Lanes, log_n: u32, primes: usize) -> Geometry {
    let entries: &[Entry] = match lanes {
        Lanes::Double => &DOUBLE,
        _ if lanes.word() == WordClass::Word64 => &WORD64,
        _ => &WORD32,
    };
    let length = entries.iter().map(|entry| entry.0).filter(|length| *length <= log_n).max();
    let entry = entries.iter().find(|entry| Some(entry.0) == length && primes <= entry.1);
    let Some((_, _, [column_points, row_points, columns, rows, fly, column_blocks, row_blocks])) = entry.copied()
    else {
        return even(lanes, log_n, 3);
    };
    Geometry {
        column_points,
        row_points,
        columns,
        rows,
        fly: flies(lanes, fly),
        column_blocks,
        row_blocks,
        ..even(lanes, log_n, row_points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_automatic_shape_is_possible() {
        let lanes = [
            Lanes::Double,
            Lanes::Split(16),
            Lanes::Shoup(WordClass::Word64, 16),
            Lanes::Shoup(WordClass::Word32, 4),
            Lanes::Barrett(WordClass::Word64),
        ];
        for lanes in lanes {
            for log_n in LEAST_LOG_N..=17 {
                for primes in [1, 4, 5, 21, 45, 64] {
                    let geometry = automatic(lanes, log_n, primes);
                    assert_eq!((geometry.fault(), geometry.log_n()), (None, log_n), "{lanes:?} {log_n} {primes}");
                }
                for points in 2..=4 {
                    assert_eq!(even(lanes, log_n, points).fault(), None, "{lanes:?} {log_n} {points}");
                }
            }
        }
    }
}
