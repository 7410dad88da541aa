//! One layer of butterflies over a slice.

use super::Arith;
use super::schedule::Mode;

/// Calls a function with the mode of a layer as a constant.
macro_rules! with_mode {
    ($mode:expr, $f:ident::<$A:ty, _>($($args:expr),*)) => {
        match $mode.kind {
            Mode::FREE => $f::<$A, { Mode::FREE }>($($args),*),
            Mode::REDUCE => $f::<$A, { Mode::REDUCE }>($($args),*),
            _ => $f::<$A, { Mode::STRICT }>($($args),*),
        }
    };
}

pub(super) fn forward_layer<A: Arith>(arith: &A, a: &mut [A::T], half: usize, zetas: &[A::Tw], mode: Mode) {
    with_mode!(mode, forward::<A, _>(arith, a, half, zetas, arith.parameter(mode.multiple)));
}

pub(super) fn inverse_layer<A: Arith>(arith: &A, a: &mut [A::T], half: usize, zetas: &[A::Tw], mode: Mode) {
    with_mode!(mode, inverse::<A, _>(arith, a, half, zetas, arith.parameter(mode.multiple)));
}

/// The last inverse layer, with both results scaled and canonical.
pub(super) fn inverse_last<A: Arith>(arith: &A, a: &mut [A::T], sum: A::Tw, difference: A::Tw, mode: Mode) {
    let c = arith.parameter(mode.multiple);
    let half = a.len() / 2;
    let (low, high) = a.split_at_mut(half);
    for (x, y) in low.iter_mut().zip(high) {
        let (s, d) = arith.inverse_butterfly::<{ Mode::FREE }>(*x, *y, c);
        (*x, *y) = (arith.mul_canonical(s, sum), arith.mul_canonical(d, difference));
    }
}

fn forward<A: Arith, const MODE: u8>(arith: &A, a: &mut [A::T], half: usize, zetas: &[A::Tw], c: A::T) {
    match half {
        1 => forward_short::<A, MODE, 1, 2>(arith, a, zetas, c),
        2 => forward_short::<A, MODE, 2, 4>(arith, a, zetas, c),
        4 => forward_short::<A, MODE, 4, 8>(arith, a, zetas, c),
        _ => {
            for (node, w) in a.chunks_exact_mut(2 * half).zip(zetas) {
                let (low, high) = node.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    (*x, *y) = arith.forward_butterfly::<MODE>(*x, *y, *w, c);
                }
            }
        }
    }
}

fn forward_short<A: Arith, const MODE: u8, const HALF: usize, const NODE: usize>(
    arith: &A,
    a: &mut [A::T],
    zetas: &[A::Tw],
    c: A::T,
) {
    for (node, w) in a.as_chunks_mut::<NODE>().0.iter_mut().zip(zetas) {
        for i in 0..HALF {
            (node[i], node[i + HALF]) = arith.forward_butterfly::<MODE>(node[i], node[i + HALF], *w, c);
        }
    }
}

fn inverse<A: Arith, const MODE: u8>(arith: &A, a: &mut [A::T], half: usize, zetas: &[A::Tw], c: A::T) {
    match half {
        1 => inverse_short::<A, MODE, 1, 2>(arith, a, zetas, c),
        2 => inverse_short::<A, MODE, 2, 4>(arith, a, zetas, c),
        4 => inverse_short::<A, MODE, 4, 8>(arith, a, zetas, c),
        _ => {
            for (node, w) in a.chunks_exact_mut(2 * half).zip(zetas) {
                let (low, high) = node.split_at_mut(half);
                for (x, y) in low.iter_mut().zip(high) {
                    let (sum, difference) = arith.inverse_butterfly::<MODE>(*x, *y, c);
                    (*x, *y) = (sum, arith.inverse_mul::<MODE>(difference, *w));
                }
            }
        }
    }
}

fn inverse_short<A: Arith, const MODE: u8, const HALF: usize, const NODE: usize>(
    arith: &A,
    a: &mut [A::T],
    zetas: &[A::Tw],
    c: A::T,
) {
    for (node, w) in a.as_chunks_mut::<NODE>().0.iter_mut().zip(zetas) {
        for i in 0..HALF {
            let (sum, difference) = arith.inverse_butterfly::<MODE>(node[i], node[i + HALF], c);
            (node[i], node[i + HALF]) = (sum, arith.inverse_mul::<MODE>(difference, *w));
        }
    }
}
