//! Layers of butterflies over a slice, two at a time: half the loads and stores of one at a time.
//!
//! Two consecutive layers act on nodes of four quarters; a pass calls its butterflies with the modes of both layers
//! as constants.

use super::Arith;
use crate::backend::cpu::schedule::Mode;

/// Calls a function with the modes of two layers as constants. Strict layers come in pairs only.
macro_rules! with_modes {
    ($first:expr, $second:expr, $f:ident::<$A:ty, _, _ $(, $more:tt)*>($($args:expr),*)) => {{
        const F: u8 = Mode::FREE;
        const R: u8 = Mode::REDUCE;
        const S: u8 = Mode::STRICT;
        match ($first.kind, $second.kind) {
            (F, F) => $f::<$A, F, F $(, $more)*>($($args),*),
            (F, R) => $f::<$A, F, R $(, $more)*>($($args),*),
            (R, F) => $f::<$A, R, F $(, $more)*>($($args),*),
            (R, R) => $f::<$A, R, R $(, $more)*>($($args),*),
            _ => $f::<$A, S, S $(, $more)*>($($args),*),
        }
    }};
}

/// The factors of two consecutive layers: `outer` has one for each node of the larger layer, `inner` two.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a, Tw> {
    pub outer: &'a [Tw],
    pub inner: &'a [Tw],
}

/// The four quarters of a node.
#[inline(always)]
fn quarters<T>(node: &mut [T], quarter: usize) -> (&mut [T], &mut [T], &mut [T], &mut [T]) {
    let (a, rest) = node.split_at_mut(quarter);
    let (b, rest) = rest.split_at_mut(quarter);
    let (c, d) = rest.split_at_mut(quarter);
    (a, b, c, &mut d[..quarter])
}

/// Replaces the four operands `$x` at each place of each node by `$body`; short quarters are arrays.
macro_rules! for_each_node {
    ($a:expr, $quarter:expr, $factors:expr, |$x:ident, $w:ident| $body:expr) => {{
        let factors = $factors.outer.iter().zip($factors.inner.as_chunks::<2>().0);
        match $quarter {
            1 => for_each_node!(@short 1, 4, $a, factors, |$x, $w| $body),
            2 => for_each_node!(@short 2, 8, $a, factors, |$x, $w| $body),
            4 => for_each_node!(@short 4, 16, $a, factors, |$x, $w| $body),
            quarter => {
                for (node, (outer, inner)) in $a.chunks_exact_mut(4 * quarter).zip(factors) {
                    let $w = (*outer, inner[0], inner[1]);
                    let (a, b, c, d) = quarters(node, quarter);
                    for i in 0..quarter {
                        let $x = [a[i], b[i], c[i], d[i]];
                        [a[i], b[i], c[i], d[i]] = $body;
                    }
                }
            }
        }
    }};
    (@short $quarter:literal, $node:literal, $a:expr, $factors:expr, |$x:ident, $w:ident| $body:expr) => {
        for (node, (outer, inner)) in $a.as_chunks_mut::<$node>().0.iter_mut().zip($factors) {
            let $w = (*outer, inner[0], inner[1]);
            for i in 0..$quarter {
                let $x = [node[i], node[i + $quarter], node[i + 2 * $quarter], node[i + 3 * $quarter]];
                [node[i], node[i + $quarter], node[i + 2 * $quarter], node[i + 3 * $quarter]] = $body;
            }
        }
    };
}

/// Two forward layers over all nodes of `a`; `last` also reduces what comes out.
pub(super) fn forward_pair<A: Arith>(
    arith: &A,
    a: &mut [A::T],
    quarter: usize,
    factors: Pair<'_, A::Tw>,
    modes: [Mode; 2],
    last: bool,
) {
    if last {
        with_modes!(modes[0], modes[1], forward::<A, _, _, true>(arith, a, quarter, factors, modes));
    } else {
        with_modes!(modes[0], modes[1], forward::<A, _, _, false>(arith, a, quarter, factors, modes));
    }
}

fn forward<A: Arith, const M0: u8, const M1: u8, const LAST: bool>(
    arith: &A,
    a: &mut [A::T],
    quarter: usize,
    factors: Pair<'_, A::Tw>,
    modes: [Mode; 2],
) {
    let c = modes.map(|mode| arith.parameter(mode.multiple));
    let reduce = |x| if LAST { arith.reduce(x) } else { x };
    for_each_node!(a, quarter, factors, |x, w| {
        let (x0, x2) = arith.forward_butterfly::<M0>(x[0], x[2], w.0, c[0]);
        let (x1, x3) = arith.forward_butterfly::<M0>(x[1], x[3], w.0, c[0]);
        let (x0, x1) = arith.forward_butterfly::<M1>(x0, x1, w.1, c[1]);
        let (x2, x3) = arith.forward_butterfly::<M1>(x2, x3, w.2, c[1]);
        [reduce(x0), reduce(x1), reduce(x2), reduce(x3)]
    });
}

/// Two inverse layers over all nodes of `a`, the inner one first.
pub(super) fn inverse_pair<A: Arith>(
    arith: &A,
    a: &mut [A::T],
    quarter: usize,
    factors: Pair<'_, A::Tw>,
    modes: [Mode; 2],
) {
    with_modes!(modes[0], modes[1], inverse::<A, _, _>(arith, a, quarter, factors, modes));
}

fn inverse<A: Arith, const M0: u8, const M1: u8>(
    arith: &A,
    a: &mut [A::T],
    quarter: usize,
    factors: Pair<'_, A::Tw>,
    modes: [Mode; 2],
) {
    let c = modes.map(|mode| arith.parameter(mode.multiple));
    for_each_node!(a, quarter, factors, |x, w| {
        let (x0, d1) = arith.inverse_butterfly::<M0>(x[0], x[1], c[0]);
        let (x2, d3) = arith.inverse_butterfly::<M0>(x[2], x[3], c[0]);
        let (x1, x3) = (arith.inverse_mul::<M0>(d1, w.1), arith.inverse_mul::<M0>(d3, w.2));
        let (x0, d2) = arith.inverse_butterfly::<M1>(x0, x2, c[1]);
        let (x1, d3) = arith.inverse_butterfly::<M1>(x1, x3, c[1]);
        [x0, x1, arith.inverse_mul::<M1>(d2, w.0), arith.inverse_mul::<M1>(d3, w.0)]
    });
}

/// The last two inverse layers: results scaled and canonical. `inner` are the factors of the inner layer, `sum` and
/// `difference` what the outer layer multiplies with.
pub(super) fn inverse_last_pair<A: Arith>(
    arith: &A,
    a: &mut [A::T],
    inner: &[A::Tw],
    (sum, difference): (A::Tw, A::Tw),
    modes: [Mode; 2],
) {
    let quarter = a.len() / 4;
    let factors = Pair { outer: core::slice::from_ref(&difference), inner };
    with_modes!(modes[0], modes[0], inverse_last::<A, _, _>(arith, a, quarter, factors, sum, modes));
}

fn inverse_last<A: Arith, const M0: u8, const M1: u8>(
    arith: &A,
    a: &mut [A::T],
    quarter: usize,
    factors: Pair<'_, A::Tw>,
    sum: A::Tw,
    modes: [Mode; 2],
) {
    const FREE: u8 = Mode::FREE;
    let c = modes.map(|mode| arith.parameter(mode.multiple));
    for_each_node!(a, quarter, factors, |x, w| {
        let (x0, d1) = arith.inverse_butterfly::<M0>(x[0], x[1], c[0]);
        let (x2, d3) = arith.inverse_butterfly::<M0>(x[2], x[3], c[0]);
        let (x1, x3) = (arith.inverse_mul::<M1>(d1, w.1), arith.inverse_mul::<M1>(d3, w.2));
        let (s0, d0) = arith.inverse_butterfly::<FREE>(x0, x2, c[1]);
        let (s1, d1) = arith.inverse_butterfly::<FREE>(x1, x3, c[1]);
        [
            arith.mul_canonical(s0, sum),
            arith.mul_canonical(s1, sum),
            arith.mul_canonical(d0, w.0),
            arith.mul_canonical(d1, w.0),
        ]
    });
}

/// One forward layer of one node: the first, where their number is odd; `last` where it is the only one.
pub(super) fn forward_first<A: Arith>(arith: &A, a: &mut [A::T], w: A::Tw, mode: Mode, last: bool) {
    match mode.kind {
        Mode::STRICT => forward_single::<A, { Mode::STRICT }>(arith, a, w, mode),
        Mode::REDUCE => forward_single::<A, { Mode::REDUCE }>(arith, a, w, mode),
        _ => forward_single::<A, { Mode::FREE }>(arith, a, w, mode),
    }
    if last {
        a.iter_mut().for_each(|x| *x = arith.reduce(*x));
    }
}

fn forward_single<A: Arith, const MODE: u8>(arith: &A, a: &mut [A::T], w: A::Tw, mode: Mode) {
    let c = arith.parameter(mode.multiple);
    let (low, high) = a.split_at_mut(a.len() / 2);
    for (x, y) in low.iter_mut().zip(high) {
        (*x, *y) = arith.forward_butterfly::<MODE>(*x, *y, w, c);
    }
}

/// One inverse layer, the innermost, where their number is odd.
pub(super) fn inverse_first<A: Arith>(arith: &A, a: &mut [A::T], half: usize, factors: &[A::Tw], mode: Mode) {
    match mode.kind {
        Mode::FREE => inverse_single::<A, { Mode::FREE }>(arith, a, half, factors, mode),
        Mode::REDUCE => inverse_single::<A, { Mode::REDUCE }>(arith, a, half, factors, mode),
        _ => inverse_single::<A, { Mode::STRICT }>(arith, a, half, factors, mode),
    }
}

fn inverse_single<A: Arith, const MODE: u8>(arith: &A, a: &mut [A::T], half: usize, factors: &[A::Tw], mode: Mode) {
    let c = arith.parameter(mode.multiple);
    for (node, w) in a.chunks_exact_mut(2 * half).zip(factors) {
        let (low, high) = node.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            let (sum, difference) = arith.inverse_butterfly::<MODE>(*x, *y, c);
            (*x, *y) = (sum, arith.inverse_mul::<MODE>(difference, *w));
        }
    }
}

/// The only inverse layer of a transform of two points.
pub(super) fn inverse_only<A: Arith>(arith: &A, a: &mut [A::T], (sum, difference): (A::Tw, A::Tw), mode: Mode) {
    let c = arith.parameter(mode.multiple);
    let half = a.len() / 2;
    let (low, high) = a.split_at_mut(half);
    for (x, y) in low.iter_mut().zip(high) {
        let (s, d) = arith.inverse_butterfly::<{ Mode::FREE }>(*x, *y, c);
        (*x, *y) = (arith.mul_canonical(s, sum), arith.mul_canonical(d, difference));
    }
}
