//! The way into each kind of arithmetic: one function with the kind's CPU features for each operation.

use super::arith::{Arith, Portable};
use super::kernels::{Kernels, KeyProduct, Targets, Weigh};
use super::ops;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
use super::{avx2, avx512, long::Long};
use crate::arith::Word;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
use crate::backend::cpu::{avx2::Avx2, avx512::Avx512};
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

            fn tensor(&self, a: [&[W]; 2], b: [&[W]; 2], out: [&mut [W]; 3]) {
                let t = self;
                enter!($($features)?, [W: Word] |t: &$A, a: [&[W]; 2], b: [&[W]; 2], out: [&mut [W]; 3]| {
                    ops::tensor(t, a, b, out)
                })
            }

            fn key_product(&self, product: &KeyProduct<'_, W>, out: [&mut [W]; 2]) {
                let (t, many) = (self, out[0].len().is_multiple_of($D * <$A as Arith>::LANES));
                enter!($($features)?, [W: Word] |
                    t: &$A, many: bool, product: &KeyProduct<'_, W>, out: [&mut [W]; 2]
                | {
                    match (many, product.places) {
                        (true, None) => ops::key_product::<$A, $D>(t, product, out, ops::here),
                        (false, None) => ops::key_product::<$A, 1>(t, product, out, ops::here),
                        (_, Some(places)) => {
                            ops::key_product::<$A, 1>(t, product, out, |t, row, x| ops::there(t, row, places, x))
                        }
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

#[cfg(all(target_arch = "x86_64", feature = "std"))]
type Long4<W> = Long<Avx2, 4, W>;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
kind!(Long4<W>, ["avx2,fma"], 1, 2, 1);
#[cfg(all(target_arch = "x86_64", feature = "std"))]
type Long8<W> = Long<Avx512, 8, W>;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
kind!(Long8<W>, ["avx512f,avx512bw,avx512dq,avx512vl,avx512ifma"], 2, 2, 2);

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
            (Kind::Long4, Some(token), _) => return Box::new(super::Long4::new(token, m)),
            (Kind::Long8, _, Some(token)) => return Box::new(super::Long8::new(token, m)),
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
            (Kind::Long4, Some(token), _) => {
                return Box::new(Targets::new(bound, targets, |m| super::Long4::new(token, m)));
            }
            (Kind::Long8, _, Some(token)) => {
                return Box::new(Targets::new(bound, targets, |m| super::Long8::new(token, m)));
            }
            _ => {}
        }
        let _ = kind;
        Box::new(Targets::new(bound, targets, Portable::new))
    }
}
