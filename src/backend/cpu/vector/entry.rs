//! The way from [`Kernels`] into vector code: one function with the level's features enabled for each operation.

use super::whole::{Free, KemPairs};
use super::{Arith, Float, Ifma, Mont16, PairTransform, Shoup32, Shoup64, Transform};
use crate::backend::cpu::avx2::Avx2;
use crate::backend::cpu::avx512::Avx512;
use crate::backend::cpu::kernels::{Kernels, Lane, Words, WordsMut, load_planes, store_planes};

/// Runs a block of `#[inline(always)]` code inside a function that has the level's features.
macro_rules! enter {
    ($features:literal, |$($x:ident: $X:ty),*| $body:expr) => {{
        #[target_feature(enable = $features)]
        fn enter($($x: $X),*) {
            $body
        }
        // SAFETY: the transform holds its level's token, which proves the CPU's features.
        unsafe { enter($($x),*) }
    }};
}

/// Runs a pass in a function of its own: small functions keep their constants in registers.
macro_rules! pass {
    ($features:literal, $T:ty, $method:ident::<$($R:literal),*>, $t:ident, $part:ident, $layer:ident, $first:ident
        $(, $mont:ident)?) => {{
        #[target_feature(enable = $features)]
        fn enter(t: &$T, part: &mut [<$T as Shape>::Vector], layer: u32, first: usize $(, $mont: bool)?) {
            t.$method::<$($R),*>(part, layer, first $(, $mont)?);
        }
        // SAFETY: the transform holds its level's token, which proves the CPU's features.
        unsafe { enter($t, $part, $layer, $first $(, $mont)?) }
    }};
}

/// A forward transform from its first or its second pass on.
trait ForwardPasses<T> {
    fn forward_from_pass(&self, a: &mut [T], skip: usize);
}

/// The memory of a vector.
trait Shape {
    type Vector;
}

impl<A: Arith<L>, const L: usize> Shape for Transform<A, L> {
    type Vector = [A::T; L];
}

/// [`Kernels`] for `$T`, whose transform is a `$Transform`; behind them the constants of whole products, if any.
macro_rules! kernels {
    ($T:ty, $Transform:ty, $Lane:ty, $features:literal $(, $Whole:ident, $($whole:tt),*)?) => {
        impl ForwardPasses<$Lane> for $T {
            fn forward_from_pass(&self, a: &mut [$Lane], skip: usize) {
                let t = self.transform();
                t.forward_passes(a, skip, |part, pass| {
                    let (layer, first) = (pass.layer, pass.first);
                    match (pass.radix, pass.tail) {
                        (2, false) => pass!($features, $Transform, forward_nodes::<2>, t, part, layer, first),
                        (4, false) => pass!($features, $Transform, forward_nodes::<4>, t, part, layer, first),
                        (_, false) => pass!($features, $Transform, forward_nodes::<8>, t, part, layer, first),
                        (2, true) => pass!($features, $Transform, forward_tails::<2>, t, part, layer, first),
                        (4, true) => pass!($features, $Transform, forward_tails::<4>, t, part, layer, first),
                        (_, true) => pass!($features, $Transform, forward_tails::<8>, t, part, layer, first),
                    }
                });
            }
        }

        impl Kernels<$Lane> for $T {
            fn len(&self) -> usize {
                self.lanes()
            }

            fn prepared_len(&self) -> usize {
                self.prepared_lanes()
            }

            fn order(&self) -> Option<&[u32]> {
                Some(&self.transform().order)
            }

            fn arrange(&self, a: &mut [$Lane]) {
                let t = self.transform();
                enter!($features, |t: &$Transform, a: &mut [$Lane]| t.arrange(a))
            }

            fn arrange_canonically(&self, a: &mut [$Lane]) {
                let t = self.transform();
                enter!($features, |t: &$Transform, a: &mut [$Lane]| t.arrange_canonically(a))
            }

            fn planes(&self) -> usize {
                self.transform().planes
            }

            fn load(&self, coefficients: Words<'_>, lanes: &mut [$Lane]) {
                let planes = self.planes();
                enter!($features, |planes: usize, coefficients: Words<'_>, lanes: &mut [$Lane]| match coefficients {
                    Words::U16(c) => load_planes(c, lanes, planes),
                    Words::U32(c) => load_planes(c, lanes, planes),
                    Words::U64(c) => load_planes(c, lanes, planes),
                })
            }

            fn store(&self, lanes: &[$Lane], coefficients: WordsMut<'_>) {
                let (planes, q) = (self.planes(), self.transform().q);
                enter!($features, |planes: usize, q: u64, lanes: &[$Lane], coefficients: WordsMut<'_>| {
                    match coefficients {
                        WordsMut::U16(c) => store_planes(lanes, c, planes, q),
                        WordsMut::U32(c) => store_planes(lanes, c, planes, q),
                        WordsMut::U64(c) => store_planes(lanes, c, planes, q),
                    }
                })
            }

            fn forward(&self, a: &mut [$Lane]) {
                self.forward_from_pass(a, 0);
            }

            fn forward_from(&self, coefficients: Words<'_>, a: &mut [$Lane]) {
                let (t, lanes) = (self.transform(), self.lanes());
                let words = (<$Lane>::of_words(coefficients), t.passes.first());
                let (Some(from), Some(layers), 1) = (words.0, words.1, t.planes) else {
                    self.load(coefficients, a);
                    return self.forward(a);
                };
                let (from, to) = (from[..lanes].as_chunks().0, a[..lanes].as_chunks_mut().0);
                macro_rules! first {
                    ($R:literal) => {
                        enter!($features, |t: &$Transform,
                                           from: &[<$Transform as Shape>::Vector],
                                           to: &mut [<$Transform as Shape>::Vector]| {
                            t.forward_first::<$R>(from, to)
                        })
                    };
                }
                match layers {
                    1 => first!(2),
                    2 => first!(4),
                    _ => first!(8),
                }
                self.forward_from_pass(a, 1);
            }

            fn inverse(&self, a: &mut [$Lane], mont: bool) {
                let t = self.transform();
                t.inverse_passes(a, |part, pass| {
                    let (l, i, m) = (pass.layer, pass.first, mont);
                    match (pass.radix, pass.tail, l == 0) {
                        (2, false, false) => pass!($features, $Transform, inverse_nodes::<2, false>, t, part, l, i, m),
                        (4, false, false) => pass!($features, $Transform, inverse_nodes::<4, false>, t, part, l, i, m),
                        (_, false, false) => pass!($features, $Transform, inverse_nodes::<8, false>, t, part, l, i, m),
                        (2, false, true) => pass!($features, $Transform, inverse_nodes::<2, true>, t, part, l, i, m),
                        (4, false, true) => pass!($features, $Transform, inverse_nodes::<4, true>, t, part, l, i, m),
                        (_, false, true) => pass!($features, $Transform, inverse_nodes::<8, true>, t, part, l, i, m),
                        (2, true, false) => pass!($features, $Transform, inverse_tails::<2, false>, t, part, l, i, m),
                        (4, true, false) => pass!($features, $Transform, inverse_tails::<4, false>, t, part, l, i, m),
                        (_, true, false) => pass!($features, $Transform, inverse_tails::<8, false>, t, part, l, i, m),
                        (2, true, true) => pass!($features, $Transform, inverse_tails::<2, true>, t, part, l, i, m),
                        (4, true, true) => pass!($features, $Transform, inverse_tails::<4, true>, t, part, l, i, m),
                        (_, true, true) => pass!($features, $Transform, inverse_tails::<8, true>, t, part, l, i, m),
                    }
                });
            }

            $(
                fn multiply(&self, a: Words<'_>, b: Words<'_>, out: WordsMut<'_>) -> bool {
                    whole!($T, $Lane, $features, self, a, b, out, $Whole, $($whole),*)
                }
            )?

            fn product(&self, a: &mut [$Lane], b: &[$Lane], scratch: &mut [$Lane]) {
                let t = self;
                enter!($features, |t: &$T, a: &mut [$Lane], b: &[$Lane], scratch: &mut [$Lane]| {
                    t.product_all(a, b, scratch)
                })
            }

            fn sum(&self, columns: usize, a: &[$Lane], b: &[$Lane], out: &mut [$Lane]) -> bool {
                let (t, lanes) = (self, self.lanes());
                if !t.sums() {
                    return false;
                }
                let (a, b, out) = (&a[..columns * lanes], &b[..columns * lanes], &mut out[..lanes]);
                enter!($features, |t: &$T, columns: usize, a: &[$Lane], b: &[$Lane], out: &mut [$Lane]| {
                    t.sum_all(columns, a, b, out)
                });
                true
            }

            fn product_scratch(&self) -> usize {
                self.scratch_lanes()
            }

            fn prepare(&self, b: &[$Lane], prepared: &mut [$Lane]) {
                let t = self;
                enter!($features, |t: &$T, b: &[$Lane], prepared: &mut [$Lane]| t.prepare_all(b, prepared))
            }

            fn dot(&self, columns: usize, a: &[$Lane], prepared: &[$Lane], out: &mut [$Lane]) {
                let t = self;
                enter!($features, |t: &$T, columns: usize, a: &[$Lane], prepared: &[$Lane], out: &mut [$Lane]| {
                    t.dot_all(columns, a, prepared, out)
                })
            }
        }
    };
}

/// A whole product with these constants, if they fit the transform and the words.
macro_rules! whole {
    ($T:ty, $Lane:ty, $features:literal, $t:ident, $a:ident, $b:ident, $out:ident,
        $Shape:ident, $V:literal, $R:literal) => {{
        let words = (<$Lane>::of_words($a), <$Lane>::of_words($b), <$Lane>::of_words_mut($out));
        match words {
            (Some(a), Some(b), Some(out)) if $t.transform().is_whole::<$Shape, $V, $R>() => {
                let t = $t;
                enter!($features, |t: &$T, a: &[$Lane], b: &[$Lane], out: &mut [$Lane]| {
                    // SAFETY: checked just before.
                    unsafe {
                        t.transform().multiply_whole::<$Shape, $V, $R>(a, b, out, |v, x, y| t.product_vector(v, x, y))
                    }
                });
                true
            }
            _ => false,
        }
    }};
}

/// The features that [`Avx2`] proves.
macro_rules! avx2 {
    ($T:ty, $Transform:ty, $Lane:ty $(, $whole:tt)*) => {
        kernels!($T, $Transform, $Lane, "avx2,fma" $(, $whole)*);
    };
}

/// The features that [`Avx512`] proves.
macro_rules! avx512 {
    ($T:ty, $Transform:ty, $Lane:ty $(, $whole:tt)*) => {
        kernels!($T, $Transform, $Lane, "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma" $(, $whole)*);
    };
}

avx2!(Transform<Mont16<Avx2, 16>, 16>, Transform<Mont16<Avx2, 16>, 16>, i16);
avx2!(PairTransform<Avx2, 16>, Transform<Mont16<Avx2, 16>, 16>, i16, KemPairs, 16, 2);
avx2!(Transform<Shoup32<Avx2, 8>, 8>, Transform<Shoup32<Avx2, 8>, 8>, u32, Free, 32, 4);
avx2!(Transform<Float<Avx2, 4>, 4>, Transform<Float<Avx2, 4>, 4>, f64);
avx2!(Transform<Shoup64<Avx2, 4, false>, 4>, Transform<Shoup64<Avx2, 4, false>, 4>, u64);

avx512!(Transform<Mont16<Avx512, 32>, 32>, Transform<Mont16<Avx512, 32>, 32>, i16);
avx512!(PairTransform<Avx512, 32>, Transform<Mont16<Avx512, 32>, 32>, i16, KemPairs, 8, 1);
avx512!(Transform<Shoup32<Avx512, 16>, 16>, Transform<Shoup32<Avx512, 16>, 16>, u32, Free, 16, 2);
avx512!(Transform<Float<Avx512, 8>, 8>, Transform<Float<Avx512, 8>, 8>, f64);
avx512!(Transform<Shoup64<Avx512, 8, false>, 8>, Transform<Shoup64<Avx512, 8, false>, 8>, u64);
avx512!(Transform<Shoup64<Avx512, 8, true>, 8>, Transform<Shoup64<Avx512, 8, true>, 8>, u64);
avx512!(Transform<Ifma<Avx512, 8>, 8>, Transform<Ifma<Avx512, 8>, 8>, u64);

/// The kernels of AVX-512 on vectors that any CPU has.
#[cfg(test)]
mod modelled {
    use super::super::model::Model;
    use super::*;

    kernels!(PairTransform<Model, 32>, Transform<Mont16<Model, 32>, 32>, i16, "sse2", KemPairs, 8, 1);
    kernels!(Transform<Ifma<Model, 8>, 8>, Transform<Ifma<Model, 8>, 8>, u64, "sse2");
}
