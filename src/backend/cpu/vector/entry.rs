//! The way from [`Kernels`] into vector code: one function with the level's features enabled for each operation.

use super::{Arith, Float, Mont16, PairTransform, Shoup32, Shoup64, Transform};
use crate::backend::cpu::avx2::Avx2;
use crate::backend::cpu::avx512::Avx512;
use crate::backend::cpu::kernels::{Kernels, Words, WordsMut, load_planes, store_planes};

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

/// The memory of a vector.
trait Shape {
    type Vector;
}

impl<A: Arith<L>, const L: usize> Shape for Transform<A, L> {
    type Vector = [A::T; L];
}

/// [`Kernels`] for `$T`; `$t.$($inner)` is its [`Transform`].
macro_rules! kernels {
    ($T:ty, $Transform:ty, $Lane:ty, $features:literal, [$($inner:tt)*]) => {
        impl Kernels<$Lane> for $T {
            fn len(&self) -> usize {
                self.lanes()
            }

            fn prepared_len(&self) -> usize {
                self.prepared_lanes()
            }

            fn order(&self) -> Option<&[u32]> {
                Some(&self $($inner)* .order)
            }

            fn planes(&self) -> usize {
                self $($inner)* .planes
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
                let (planes, q) = (self.planes(), self $($inner)* .q);
                enter!($features, |planes: usize, q: u64, lanes: &[$Lane], coefficients: WordsMut<'_>| {
                    match coefficients {
                        WordsMut::U16(c) => store_planes(lanes, c, planes, q),
                        WordsMut::U32(c) => store_planes(lanes, c, planes, q),
                        WordsMut::U64(c) => store_planes(lanes, c, planes, q),
                    }
                })
            }

            fn forward(&self, a: &mut [$Lane]) {
                let t = &self $($inner)*;
                t.forward_passes(a, |part, pass| {
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

            fn inverse(&self, a: &mut [$Lane], mont: bool) {
                let t = &self $($inner)*;
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

            fn product(&self, a: &mut [$Lane], b: &[$Lane], scratch: &mut [$Lane]) {
                let t = self;
                enter!($features, |t: &$T, a: &mut [$Lane], b: &[$Lane], scratch: &mut [$Lane]| {
                    t.product_all(a, b, scratch)
                })
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

/// The features that [`Avx2`] proves.
macro_rules! avx2 {
    ($T:ty, $Transform:ty, $Lane:ty, $inner:tt) => {
        kernels!($T, $Transform, $Lane, "avx2,fma", $inner);
    };
}

/// The features that [`Avx512`] proves.
macro_rules! avx512 {
    ($T:ty, $Transform:ty, $Lane:ty, $inner:tt) => {
        kernels!($T, $Transform, $Lane, "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma", $inner);
    };
}

avx2!(Transform<Mont16<Avx2, 16>, 16>, Transform<Mont16<Avx2, 16>, 16>, i16, []);
avx2!(PairTransform<Avx2, 16>, Transform<Mont16<Avx2, 16>, 16>, i16, [.transform]);
avx2!(Transform<Shoup32<Avx2, 8>, 8>, Transform<Shoup32<Avx2, 8>, 8>, u32, []);
avx2!(Transform<Float<Avx2, 4>, 4>, Transform<Float<Avx2, 4>, 4>, f64, []);

avx512!(Transform<Mont16<Avx512, 32>, 32>, Transform<Mont16<Avx512, 32>, 32>, i16, []);
avx512!(PairTransform<Avx512, 32>, Transform<Mont16<Avx512, 32>, 32>, i16, [.transform]);
avx512!(Transform<Shoup32<Avx512, 16>, 16>, Transform<Shoup32<Avx512, 16>, 16>, u32, []);
avx512!(Transform<Float<Avx512, 8>, 8>, Transform<Float<Avx512, 8>, 8>, f64, []);
avx512!(Transform<Shoup64<Avx512, 8, false>, 8>, Transform<Shoup64<Avx512, 8, false>, 8>, u64, []);
avx512!(Transform<Shoup64<Avx512, 8, true>, 8>, Transform<Shoup64<Avx512, 8, true>, 8>, u64, []);
