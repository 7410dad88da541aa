//! The way into each kind of arithmetic: one function with the kind's CPU features for each operation.

use super::arith::{Arith, Portable};
use super::kernels::{Kernels, Pair, Targets, Weigh};
use super::ops;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
use super::{avx2, avx512};
use crate::arith::Word;
use crate::rns::{Assign, Combine, Scalar};

/// Runs a block of `#[inline(always)]` code inside a function that has the CPU features.
macro_rules! enter {
    (, [$($G:tt)*] |$($x:ident: $X:ty),*| $body:expr) => { $body };
    ($features:literal, [$($G:tt)*] |$($x:ident: $X:ty),*| $body:expr) => {{
        #[target_feature(enable = $features)]
        fn enter<$($G)*>($($x: $X),*) {
            $body
        }
        // SAFETY: the arithmetic holds its level's token, which proves the CPU's features.
        unsafe { enter($($x),*) }
    }};
}

/// [`Kernels`] and [`Weigh`] for one kind of arithmetic, which takes `$T` targets of `$V` vectors at once, and `$D`
/// vectors of sums of two polynomials' products.
macro_rules! kind {
    ($A:ty, [$($features:literal)?], $T:literal, $V:literal, $D:literal) => {
        impl<W: Word> Kernels<W> for $A {
            fn combine(&self, op: Combine, a: &[W], b: &[W], out: &mut [W]) {
                let t = self;
                enter!($($features)?, [W: Word] |t: &$A, op: Combine, a: &[W], b: &[W], out: &mut [W]| {
                    ops::combine(t, op, a, b, out)
                })
            }

            fn assign(&self, op: Assign, a: &[W], out: &mut [W]) {
                let t = self;
                enter!($($features)?, [W: Word] |t: &$A, op: Assign, a: &[W], out: &mut [W]| {
                    ops::assign(t, op, a, out)
                })
            }

            fn neg(&self, a: &[W], out: &mut [W]) {
                let t = self;
                enter!($($features)?, [W: Word] |t: &$A, a: &[W], out: &mut [W]| ops::neg(t, a, out))
            }

            fn scalar(&self, op: Scalar, s: u64, a: &[W], out: &mut [W]) {
                let t = self;
                enter!($($features)?, [W: Word] |t: &$A, op: Scalar, s: u64, a: &[W], out: &mut [W]| {
                    ops::scalar(t, op, s, a, out)
                })
            }

            fn sub_scale(&self, factor: u64, a: &[W], out: &mut [W]) {
                let t = self;
                enter!($($features)?, [W: Word] |t: &$A, factor: u64, a: &[W], out: &mut [W]| {
                    ops::sub_scale(t, factor, a, out)
                })
            }

            fn dot(&self, pairs: &[Pair<'_, W>], out: &mut [W]) {
                let (t, many) = (self, out.len().is_multiple_of($D * <$A as Arith>::LANES));
                enter!($($features)?, [W: Word] |t: &$A, many: bool, pairs: &[Pair<'_, W>], out: &mut [W]| {
                    match many {
                        true => ops::dot::<$A, $D>(t, pairs, out),
                        false => ops::dot::<$A, 1>(t, pairs, out),
                    }
                })
            }

            fn dots(&self, digits: &[&[W]], keys: [&[&[W]]; 2], out: [&mut [W]; 2]) {
                let (t, many) = (self, out[0].len().is_multiple_of($D * <$A as Arith>::LANES));
                enter!($($features)?, [W: Word] |
                    t: &$A, many: bool, digits: &[&[W]], keys: [&[&[W]]; 2], out: [&mut [W]; 2]
                | {
                    match many {
                        true => ops::dots::<$A, $D>(t, digits, keys, out),
                        false => ops::dots::<$A, 1>(t, digits, keys, out),
                    }
                })
            }
        }

        impl<W: Word> Weigh<W> for Targets<$A> {
            fn weigh(&self, digits: &[W], len: usize, out: &mut [&mut [W]], offset: usize) {
                let (t, whole) = (self, len.is_multiple_of($V * <$A as Arith>::LANES));
                let mut first = 0;
                while first < t.arith.len() {
                    let many = whole && t.arith.get(first..first + $T).is_some();
                    enter!($($features)?, [W: Word] |
                        t: &Targets<$A>, many: bool, first: usize, digits: &[W], len: usize, out: &mut [&mut [W]],
                        offset: usize
                    | {
                        if many {
                            t.some::<$T>(first, (digits, len), (out, offset), ops::weigh::<$A, $T, $V>)
                        } else {
                            t.some::<1>(first, (digits, len), (out, offset), ops::weigh::<$A, 1, 1>)
                        }
                    });
                    first += if many { $T } else { 1 };
                }
            }

            fn quotients(&self, digits: &[W], reciprocals: &[f64], out: &mut [W]) {
                let Some(t) = self.arith.first() else { return };
                enter!($($features)?, [W: Word] |t: &$A, digits: &[W], reciprocals: &[f64], out: &mut [W]| {
                    ops::quotients(t, digits, reciprocals, out)
                })
            }
        }
    };
}

kind!(Portable<W>, [], 1, 1, 1);
#[cfg(all(target_arch = "x86_64", feature = "std"))]
kind!(avx2::Wide<W>, ["avx2,fma"], 2, 2, 1);
#[cfg(all(target_arch = "x86_64", feature = "std"))]
kind!(avx2::Narrow<W>, ["avx2,fma"], 4, 2, 4);
#[cfg(all(target_arch = "x86_64", feature = "std"))]
kind!(avx512::Wide<W>, ["avx512f,avx512bw,avx512dq,avx512vl,avx512ifma"], 4, 2, 4);
#[cfg(all(target_arch = "x86_64", feature = "std"))]
kind!(avx512::Narrow<W>, ["avx512f,avx512bw,avx512dq,avx512vl,avx512ifma"], 4, 2, 4);

/// Kernels and targets of a kind, behind their traits.
pub(super) mod boxed {
    use alloc::boxed::Box;

    use super::super::kernels::{Kernels, Kind, Target, Targets, Weigh};
    use super::Portable;
    use crate::arith::{Modulus, Word};
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    use crate::backend::cpu::{avx2::Avx2, avx512::Avx512};

    pub(in super::super) fn kernels<W: Word>(kind: Kind, m: Modulus<u64>) -> Box<dyn Kernels<W>> {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        match (kind, Avx2::detect(), Avx512::detect()) {
            (Kind::Wide4, Some(token), _) => return Box::new(super::avx2::Wide::new(token, m)),
            (Kind::Narrow4, Some(token), _) => return Box::new(super::avx2::Narrow::new(token, m)),
            (Kind::Wide8, _, Some(token)) => return Box::new(super::avx512::Wide::new(token, m)),
            (Kind::Narrow8, _, Some(token)) => return Box::new(super::avx512::Narrow::new(token, m)),
            _ => {}
        }
        let _ = kind;
        Box::new(Portable::new(m))
    }

    pub(in super::super) fn targets<W: Word>(kind: Kind, bound: u64, targets: &[Target]) -> Box<dyn Weigh<W>> {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        match (kind, Avx2::detect(), Avx512::detect()) {
            (Kind::Wide4, Some(token), _) => {
                return Box::new(Targets::new(bound, targets, |m| super::avx2::Wide::new(token, m)));
            }
            (Kind::Narrow4, Some(token), _) => {
                return Box::new(Targets::new(bound, targets, |m| super::avx2::Narrow::new(token, m)));
            }
            (Kind::Wide8, _, Some(token)) => {
                return Box::new(Targets::new(bound, targets, |m| super::avx512::Wide::new(token, m)));
            }
            (Kind::Narrow8, _, Some(token)) => {
                return Box::new(Targets::new(bound, targets, |m| super::avx512::Narrow::new(token, m)));
            }
            _ => {}
        }
        let _ = kind;
        Box::new(Targets::new(bound, targets, Portable::new))
    }
}
