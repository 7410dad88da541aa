//! Which layer reduces what, so that every lane keeps its range: the table of lazy ranges.

use alloc::vec::Vec;

/// How a layer's butterflies keep their range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mode {
    /// [`Mode::FREE`], [`Mode::REDUCE`] or [`Mode::STRICT`].
    pub kind: u8,
    /// Unsigned lanes, inverse: differences get this multiple of `q` added. Forward: the multiple that
    /// [`Mode::REDUCE`] subtracts once.
    pub multiple: u32,
}

impl Mode {
    /// Nothing is reduced.
    pub const FREE: u8 = 0;
    /// The operand that is not multiplied (forward) or the sum (inverse) is reduced.
    pub const REDUCE: u8 = 1;
    /// Everything is reduced to `[0, q)`: moduli of 31 bits in 32-bit lanes.
    pub const STRICT: u8 = 2;
    /// No layer.
    #[cfg_attr(not(all(target_arch = "x86_64", feature = "std")), allow(dead_code))]
    pub const NONE: Self = Self { kind: Self::FREE, multiple: 0 };
}

/// The modes of all layers of one direction, in the order in which they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    /// One for each layer; for the inverse all but the last.
    pub modes: Vec<Mode>,
    /// The inverse's last layer, whose results are canonical.
    pub last: Mode,
    /// Whether lanes must be reduced after the forward layers.
    pub reduce_at_end: bool,
    /// What lanes stay below after the forward layers: a multiple of `q` (unsigned) or the size of a lane (signed).
    pub bound: i64,
}

/// Schedules of unsigned lanes with Shoup's multiplication; ranges in units of `q`, below `limit = 2^w / q`.
///
/// A product is below `product` (2 or 4) whatever goes in. Forward: bounds start at 1 and grow by that a layer; where the next would pass
/// the limit, the operand that is not multiplied is first brought below half. Inverse: sums double; a difference
/// needs the whole bound added, so a bound never passes half the limit.
pub(super) fn unsigned(limit: u64, product: u32, layers: u32) -> (Schedule, Schedule) {
    let strict = Mode { kind: Mode::STRICT, multiple: 1 };
    if limit < 2 * product as u64 {
        let all = |count: u32| (0..count).map(|_| strict).collect();
        return (
            Schedule { modes: all(layers), last: strict, reduce_at_end: false, bound: 1 },
            Schedule { modes: all(layers.saturating_sub(1)), last: strict, reduce_at_end: false, bound: 1 },
        );
    }
    // Even, so that half the limit, the most that a conditional subtraction may take away, fits in w - 1 bits.
    let limit = limit.min(1 << 16) as u32 & !1;
    let mut bound = 1u32;
    let mut forward = Vec::new();
    for _ in 0..layers {
        let half = bound.div_ceil(2);
        forward.push(if bound + product <= limit {
            bound += product;
            Mode { kind: Mode::FREE, multiple: 0 }
        } else {
            bound = half + product;
            Mode { kind: Mode::REDUCE, multiple: half }
        });
    }
    let end = bound;
    let mut bound = 1u32;
    let mut inverse = Vec::new();
    for _ in 1..layers {
        let multiple = bound;
        inverse.push(if 4 * bound <= limit {
            bound = (2 * bound).max(product);
            Mode { kind: Mode::FREE, multiple }
        } else {
            bound = bound.max(product);
            Mode { kind: Mode::REDUCE, multiple }
        });
    }
    let free = Mode { kind: Mode::FREE, multiple: 0 };
    (
        Schedule { modes: forward, last: free, reduce_at_end: end > 1, bound: end as i64 },
        Schedule { modes: inverse, last: Mode { kind: Mode::FREE, multiple: bound }, reduce_at_end: false, bound: 1 },
    )
}

/// Schedules of signed lanes: `product(m)` bounds a product of a lane of size at most `m` and a constant, `reduced` the
/// result of a reduction of a lane; all lanes stay within `most`.
pub(super) fn signed(
    q: i64,
    most: i64,
    reduced: i64,
    product: impl Fn(i64) -> i64 + Copy,
    layers: u32,
) -> (Schedule, Schedule) {
    let forward = signed_forward(q, most, reduced, product, layers, false);
    (forward, signed_inverse(q - 1, most, reduced, product, layers))
}

/// The forward schedule; with `last`, the last layer reduces even where lanes have room.
pub(super) fn signed_forward(
    q: i64,
    most: i64,
    reduced: i64,
    product: impl Fn(i64) -> i64,
    layers: u32,
    last: bool,
) -> Schedule {
    let mode = |kind| Mode { kind, multiple: 0 };
    let mut bound = q - 1;
    let mut forward = Vec::new();
    for layer in 1..=layers {
        let grown = bound + product(bound);
        forward.push(if grown <= most && !(last && layer == layers) {
            bound = grown;
            mode(Mode::FREE)
        } else {
            bound = reduced + product(bound);
            mode(Mode::REDUCE)
        });
    }
    Schedule { modes: forward, last: mode(Mode::FREE), reduce_at_end: bound >= q, bound }
}

/// The inverse's schedule for lanes of size at most `start`, which is at most half of `most`.
pub(super) fn signed_inverse(
    start: i64,
    most: i64,
    reduced: i64,
    product: impl Fn(i64) -> i64,
    layers: u32,
) -> Schedule {
    let mode = |kind| Mode { kind, multiple: 0 };
    let mut bound = start;
    let mut modes = Vec::new();
    for _ in 1..layers {
        let difference = product(2 * bound);
        modes.push(if 4 * bound <= most {
            bound = (2 * bound).max(difference);
            mode(Mode::FREE)
        } else {
            bound = reduced.max(difference);
            mode(Mode::REDUCE)
        });
    }
    Schedule { modes, last: mode(Mode::FREE), reduce_at_end: false, bound: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows the bounds of both schedules and checks that none passes the limit, and that what is subtracted once
    /// is at most half a word: there the sign decides.
    #[test]
    fn unsigned_bounds_stay_below_the_limit() {
        let limits = (4..70).chain([512, 1 << 16, 1 << 30]);
        for (limit, product) in limits.flat_map(|limit| [(limit, 2), (limit, 4)]) {
            if limit < 2 * product {
                continue;
            }
            let (forward, inverse) = unsigned(limit, product as u32, 17);
            let mut bound = 1u32;
            for mode in &forward.modes {
                if mode.kind == Mode::REDUCE {
                    assert!(bound <= 2 * mode.multiple && 2 * mode.multiple as u64 <= limit, "limit {limit}");
                    bound = mode.multiple;
                }
                bound += product as u32;
                assert!(bound as u64 <= limit, "limit {limit}");
            }
            let mut bound = 1u64;
            for mode in inverse.modes.iter().chain([&inverse.last]) {
                assert!(mode.multiple as u64 >= bound && 2 * bound <= limit, "limit {limit}");
                bound = if mode.kind == Mode::REDUCE { bound.max(product) } else { (2 * bound).max(product) };
            }
        }
    }
}
