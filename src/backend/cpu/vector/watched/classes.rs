//! Word classes read as wide integers, and the ranges of their layers from what the modes are defined to do.

use super::super::{Arith, Float, Ifma, Mont16, Shoup32, Shoup64};
use crate::backend::cpu::lanes::{Lanes16, Lanes32, Lanes52, Lanes64, LanesF64};
use crate::backend::cpu::schedule::{Mode, Schedule};

/// A word class whose lanes are read as wide integers.
pub(super) trait Wide<const L: usize>: Arith<L> {
    /// Lanes are signed.
    const SIGNED: bool;
    /// Lanes are below this, or at most that in size.
    const MOST: i128;
    /// Which lane of a factor is the factor itself.
    const VALUE: usize;
    /// A product of unsigned lanes is below this multiple of `q`.
    const PRODUCT: i128;

    fn wide(x: Self::T) -> i128;
    fn narrow(x: i128) -> Self::T;

    /// A bound of signed products of lanes of this size, and of reduced lanes.
    fn signed_bounds(_q: i128, _size: i128) -> (i128, i128) {
        (0, 0)
    }

    /// The bounds of all lanes after each forward layer, from what the modes are defined to do.
    fn claims(q: i128, forward: &Schedule) -> Vec<i128> {
        let mut bound = if Self::SIGNED { q - 1 } else { q };
        let grow = |mode: &Mode| {
            let reduce = mode.kind == Mode::REDUCE;
            bound = if Self::SIGNED {
                let (product, reduced) = Self::signed_bounds(q, bound);
                if reduce { reduced + product } else { bound + product }
            } else if reduce {
                (mode.multiple as i128 + Self::PRODUCT) * q
            } else {
                bound + Self::PRODUCT * q
            };
            bound
        };
        forward.modes.iter().map(grow).collect()
    }
}

impl<O: Lanes16<L>, const L: usize> Wide<L> for Mont16<O, L> {
    const SIGNED: bool = true;
    const MOST: i128 = 1 << 15;
    const VALUE: usize = 0;
    const PRODUCT: i128 = 1;

    fn wide(x: i16) -> i128 {
        x as i128
    }

    fn narrow(x: i128) -> i16 {
        x as i16
    }

    fn signed_bounds(q: i128, size: i128) -> (i128, i128) {
        // The quotient of a reduction is that of the nearest integer to 2^15 / q.
        let nearest = ((1 << 16) + q) / (2 * q);
        (((size * (q / 2) + (q << 15)) >> 16) + 2, q / 2 + (nearest * q - (1 << 15)).abs() + 2)
    }
}

impl<O: LanesF64<L>, const L: usize> Wide<L> for Float<O, L> {
    const SIGNED: bool = true;
    const MOST: i128 = 1 << 52;
    const VALUE: usize = 0;
    const PRODUCT: i128 = 1;

    fn wide(x: f64) -> i128 {
        assert_eq!(x, x as i64 as f64, "an integer");
        x as i128
    }

    fn narrow(x: i128) -> f64 {
        x as f64
    }

    fn signed_bounds(q: i128, size: i128) -> (i128, i128) {
        (q / 2 + ((size * q) >> 54) + 3, q / 2 + 3)
    }
}

impl<O: Lanes32<L>, const L: usize> Wide<L> for Shoup32<O, L> {
    const SIGNED: bool = false;
    const MOST: i128 = 1 << 32;
    const VALUE: usize = 1;
    const PRODUCT: i128 = 2;

    fn wide(x: u32) -> i128 {
        x as i128
    }

    fn narrow(x: i128) -> u32 {
        x as u32
    }
}

impl<O: Lanes64<L>, const L: usize, const TIGHT: bool> Wide<L> for Shoup64<O, L, TIGHT> {
    const SIGNED: bool = false;
    const MOST: i128 = 1 << 64;
    const VALUE: usize = 0;
    const PRODUCT: i128 = if TIGHT { 2 } else { 4 };

    fn wide(x: u64) -> i128 {
        x as i128
    }

    fn narrow(x: i128) -> u64 {
        x as u64
    }
}

impl<O: Lanes52<L>, const L: usize> Wide<L> for Ifma<O, L> {
    const SIGNED: bool = false;
    const MOST: i128 = 1 << 52;
    const VALUE: usize = 0;
    const PRODUCT: i128 = 2;

    /// What stands above 52 bits is no part of a lane.
    fn wide(x: u64) -> i128 {
        x as i128 % Self::MOST
    }

    fn narrow(x: i128) -> u64 {
        x as u64
    }

    /// Bit 51 decides a reduction.
    fn claims(q: i128, forward: &Schedule) -> Vec<i128> {
        let mut bound = q;
        let grow = |mode: &Mode| {
            let left = (bound - mode.multiple as i128 * q).max(Self::MOST / 2);
            bound = 2 * q + if mode.kind == Mode::REDUCE { left } else { bound };
            bound
        };
        forward.modes.iter().map(grow).collect()
    }
}
