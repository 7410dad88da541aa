//! The way from [`Kernels`] into vector code: one function with the level's features enabled for each operation.

use super::passes::{Pass, read};
use super::whole::{Falcon512, Falcon1024, Free, KemPairs};
use super::{Arith, Float, Ifma, Mont16, PairTransform, Shoup32, Shoup64, Transform};
use crate::backend::cpu::avx2::Avx2;
use crate::backend::cpu::avx512::Avx512;
use crate::backend::cpu::kernels::{Kernels, Lane, Words, WordsMut, load_planes, store_planes};
use crate::backend::cpu::lanes::Lanes16;

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

/// Tails of an inverse transform: those of fewer vectors or of all of them, or eight at a time with an operand.
macro_rules! tails {
    ($features:literal, $Transform:ty, $R:literal, $t:ident, $part:ident, $layer:ident, $first:ident, $mont:ident) => {
        tails!(@ $features, $Transform, $Transform, $R, 1, true, $t, $part, $layer, $first, $mont, |t, _node, block| {
            read(&t.arith, block, 0, 1)
        })
    };
    ($features:literal, $T:ty, $Transform:ty, $S:literal, $t:ident, $part:ident, $layer:ident, $first:ident,
        $mont:ident, $operand:ident) => {
        match $operand {
            Operand::Lanes => {
                tails!(@ $features, $T, $Transform, 8, $S, false, $t, $part, $layer, $first, $mont, |t, _node, block| {
                    read(&t.transform().arith, block, 0, 1)
                })
            }
            Operand::Copy(from) => {
                tails!(@ $features, $T, $Transform, 8, $S, false, $t, $part, $layer, $first, $mont, |t, node, _block| {
                    read(&t.transform().arith, &from[8 * node..][..8], 0, 1)
                }, from)
            }
            Operand::Product(b) => {
                tails!(@ $features, $T, $Transform, 8, $S, false, $t, $part, $layer, $first, $mont, |t, node, block| {
                    let mut x = read(&t.transform().arith, block, 0, 1);
                    let y = read::<_, _, 8>(&t.transform().arith, &b[8 * node..][..8], 0, 1);
                    for k in 0..8 {
                        x[k] = t.product_vector(8 * node + k, x[k], y[k]);
                    }
                    x
                }, b)
            }
        }
    };
    (@ $features:literal, $T:ty, $Transform:ty, $R:literal, $S:literal, $LAST:literal, $t:ident, $part:ident,
        $layer:ident, $first:ident, $mont:ident, |$of:ident, $node:ident, $block:ident| $read:block
        $(, $other:ident)?) => {{
        type Vector = <$Transform as Shape>::Vector;
        #[target_feature(enable = $features)]
        fn enter($of: &$T, part: &mut [Vector], layer: u32, first: usize, mont: bool $(, $other: &[Vector])?) {
            let t = $of.transform();
            t.inverse_tails::<$R, $S, $LAST>(part, layer, first, mont, |$node, $block| $read);
        }
        // SAFETY: the transform holds its level's token, which proves the CPU's features.
        unsafe { enter($t, $part, $layer, $first, $mont $(, $other.as_chunks().0)?) }
    }};
}

/// What an inverse transform starts from.
#[derive(Clone, Copy)]
enum Operand<'a, T> {
    /// The lanes themselves.
    Lanes,
    /// Others; in a transform of one plane.
    Copy(&'a [T]),
    /// Their product with these at the points; in a transform of one plane.
    Product(&'a [T]),
}

/// Transforms in passes.
trait Passes<T>: Shape {
    /// The first pass from coefficients to lanes, or those loaded; how many passes that were.
    fn forward_start(&self, coefficients: Words<'_>, a: &mut [T]) -> usize;

    fn forward_pass(&self, part: &mut [Self::Vector], pass: Pass);

    fn inverse_pass(&self, part: &mut [Self::Vector], pass: Pass, mont: bool, operand: Operand<'_, T>);

    /// The last pass to other lanes, in a transform that has more than tails.
    fn inverse_end(&self, a: &[T], mont: bool, out: &mut [T]);

    /// An inverse transform that ends in `a` or, in a transform of one plane, in other lanes.
    fn inverse_with(&self, a: &mut [T], mont: bool, operand: Operand<'_, T>, out: Option<&mut [T]>);
}

/// The memory of a vector.
trait Shape {
    type Vector;
}

impl<A: Arith<L>, const L: usize> Shape for Transform<A, L> {
    type Vector = [A::T; L];
}

impl<O: Lanes16<L>, const L: usize> Shape for PairTransform<O, L> {
    type Vector = [i16; L];
}

/// [`Kernels`] for `$T`, whose transform is a `$Transform`, `$S` sets of eight vectors at a time; behind them the
/// constants of whole products, if any.
macro_rules! kernels {
    ($T:ty, $Transform:ty, $Lane:ty, $S:literal, $features:literal $(, [$Whole:ident, $Vectors:literal, $Radix:literal])*) => {
        impl Passes<$Lane> for $T {
            fn forward_start(&self, coefficients: Words<'_>, a: &mut [$Lane]) -> usize {
                let (t, lanes) = (self.transform(), self.lanes());
                let words = (<$Lane>::of_words(coefficients), t.passes.first());
                let (Some(from), Some(layers), 1) = (words.0, words.1, t.planes) else {
                    self.load(coefficients, a);
                    return 0;
                };
                let (from, to) = (from[..lanes].as_chunks().0, a[..lanes].as_chunks_mut().0);
                macro_rules! first {
                    ($R:literal) => {
                        enter!($features, |t: &$Transform,
                                           from: &[<$Transform as Shape>::Vector],
                                           to: &mut [<$Transform as Shape>::Vector]| {
                            t.forward_first::<$R, $S>(from, to)
                        })
                    };
                }
                match layers {
                    1 => first!(2),
                    2 => first!(4),
                    _ => first!(8),
                }
                1
            }

            fn forward_pass(&self, part: &mut [Self::Vector], pass: Pass) {
                let t = self.transform();
                let (layer, first) = (pass.layer, pass.first);
                match (pass.radix, pass.tail, layer == 0) {
                    (2, false, _) => pass!($features, $Transform, forward_nodes::<2, $S>, t, part, layer, first),
                    (4, false, _) => pass!($features, $Transform, forward_nodes::<4, $S>, t, part, layer, first),
                    (_, false, _) => pass!($features, $Transform, forward_nodes::<8, $S>, t, part, layer, first),
                    (2, true, _) => pass!($features, $Transform, forward_tails::<2, 1>, t, part, layer, first),
                    (4, true, _) => pass!($features, $Transform, forward_tails::<4, 1>, t, part, layer, first),
                    (_, true, true) => pass!($features, $Transform, forward_tails::<8, 1>, t, part, layer, first),
                    (_, true, false) => pass!($features, $Transform, forward_tails::<8, $S>, t, part, layer, first),
                }
            }

            fn inverse_pass(&self, part: &mut [Self::Vector], pass: Pass, mont: bool, operand: Operand<'_, $Lane>) {
                let t = self.transform();
                let (l, i, m) = (pass.layer, pass.first, mont);
                // Tails of fewer than eight vectors are a transform of their own, and so is a pass over two.
                match (pass.radix, pass.tail, l == 0) {
                    (2, false, _) => pass!($features, $Transform, inverse_nodes::<2, $S, true>, t, part, l, i, m),
                    (4, false, false) => pass!($features, $Transform, inverse_nodes::<4, $S, false>, t, part, l, i, m),
                    (_, false, false) => pass!($features, $Transform, inverse_nodes::<8, $S, false>, t, part, l, i, m),
                    (4, false, true) => pass!($features, $Transform, inverse_nodes::<4, $S, true>, t, part, l, i, m),
                    (_, false, true) => pass!($features, $Transform, inverse_nodes::<8, $S, true>, t, part, l, i, m),
                    (2, true, _) => tails!($features, $Transform, 2, t, part, l, i, m),
                    (4, true, _) => tails!($features, $Transform, 4, t, part, l, i, m),
                    (_, true, true) => tails!($features, $Transform, 8, t, part, l, i, m),
                    (_, true, false) => tails!($features, $T, $Transform, $S, self, part, l, i, m, operand),
                }
            }

            fn inverse_end(&self, a: &[$Lane], mont: bool, out: &mut [$Lane]) {
                let (t, lanes) = (self.transform(), self.lanes());
                let (from, to) = (a[..lanes].as_chunks().0, out[..lanes].as_chunks_mut().0);
                macro_rules! last {
                    ($R:literal) => {
                        enter!($features, |t: &$Transform,
                                           from: &[<$Transform as Shape>::Vector],
                                           to: &mut [<$Transform as Shape>::Vector],
                                           mont: bool| { t.inverse_last::<$R, $S>(from, to, mont) })
                    };
                }
                match t.passes[0] {
                    1 => last!(2),
                    2 => last!(4),
                    _ => last!(8),
                }
            }

            fn inverse_with(&self, a: &mut [$Lane], mont: bool, operand: Operand<'_, $Lane>, out: Option<&mut [$Lane]>) {
                let t = self.transform();
                // A tail alone reads and writes its own lanes.
                let (only, planes) = (t.passes.is_empty(), t.planes);
                let operand = match operand {
                    Operand::Copy(from) if only || planes != 1 => {
                        a.copy_from_slice(from);
                        Operand::Lanes
                    }
                    Operand::Product(b) if only => {
                        self.product(a, b, &mut []);
                        Operand::Lanes
                    }
                    operand => operand,
                };
                let skip = usize::from(out.is_some() && !only);
                t.inverse_passes(a, skip, |part, pass| self.inverse_pass(part, pass, mont, operand));
                match out {
                    Some(out) if only => out[..self.lanes()].copy_from_slice(&a[..self.lanes()]),
                    Some(out) => self.inverse_end(a, mont, out),
                    None => {}
                }
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
                self.transform().forward_passes(a, 0, |part, pass| self.forward_pass(part, pass));
            }

            fn forward_from(&self, coefficients: Words<'_>, a: &mut [$Lane]) {
                let done = self.forward_start(coefficients, a);
                self.transform().forward_passes(a, done, |part, pass| self.forward_pass(part, pass));
            }

            fn inverse(&self, a: &mut [$Lane], mont: bool) {
                self.inverse_with(a, mont, Operand::Lanes, None);
            }

            fn inverse_from(&self, ntt: &[$Lane], a: &mut [$Lane]) {
                self.inverse_with(a, false, Operand::Copy(ntt), None);
            }

            fn inverse_to(&self, ntt: &[$Lane], scratch: &mut [$Lane], mut out: WordsMut<'_>) {
                let to = if self.planes() == 1 { <$Lane>::of_words_mut(out.reborrow()) } else { None };
                let stored = to.is_some();
                self.inverse_with(scratch, false, Operand::Copy(ntt), to);
                if !stored {
                    self.store(scratch, out);
                }
            }

            fn product_of(
                &self,
                (a, b): (Words<'_>, Words<'_>),
                a_lanes: &mut [$Lane],
                b_lanes: &mut [$Lane],
                scratch: &mut [$Lane],
                out: Option<WordsMut<'_>>,
            ) {
                let t = self.transform();
                if t.planes != 1 {
                    self.forward_from(a, a_lanes);
                    self.forward_from(b, b_lanes);
                    self.product(a_lanes, b_lanes, scratch);
                    self.inverse(a_lanes, true);
                    if let Some(out) = out {
                        self.store(a_lanes, out);
                    }
                    return;
                }
                let mut out = out;
                let to = out.as_mut().and_then(|out| <$Lane>::of_words_mut(out.reborrow()));
                let stored = to.is_some();
                if t.outer == 0 {
                    self.forward_from(a, a_lanes);
                    self.forward_from(b, b_lanes);
                    self.inverse_with(a_lanes, true, Operand::Product(b_lanes), to);
                } else {
                    for (words, lanes) in [(a, &mut *a_lanes), (b, &mut *b_lanes)] {
                        let done = self.forward_start(words, lanes);
                        t.forward_outer(t.plane(lanes, 0), done, |part, pass| self.forward_pass(part, pass));
                    }
                    // Part by part: both factors use the same tables, and the product is still in the cache.
                    for i in 0..t.parts() {
                        t.forward_part(t.plane(a_lanes, 0), i, 0, |part, pass| self.forward_pass(part, pass));
                        t.forward_part(t.plane(b_lanes, 0), i, 0, |part, pass| self.forward_pass(part, pass));
                        t.inverse_part(t.plane(a_lanes, 0), i, 0, |part, pass| {
                            self.inverse_pass(part, pass, true, Operand::Product(b_lanes))
                        });
                    }
                    t.inverse_outer(t.plane(a_lanes, 0), usize::from(stored), |part, pass| {
                        self.inverse_pass(part, pass, true, Operand::Lanes)
                    });
                    if let Some(to) = to {
                        self.inverse_end(a_lanes, true, to);
                    }
                }
                if let (Some(out), false) = (out, stored) {
                    self.store(a_lanes, out);
                }
            }

            fn multiply(&self, a: Words<'_>, b: Words<'_>, out: WordsMut<'_>) -> bool {
                let words = (<$Lane>::of_words(a), <$Lane>::of_words(b), <$Lane>::of_words_mut(out));
                let (Some(_a), Some(_b), Some(_out)) = words else { return false };
                $(
                    if self.transform().is_whole::<$Whole, $Vectors, $Radix>() {
                        let t = self;
                        enter!($features, |t: &$T, _a: &[$Lane], _b: &[$Lane], _out: &mut [$Lane]| {
                            let product = |v, x, y| t.lazy_product_vector(v, x, y);
                            // SAFETY: checked just before.
                            unsafe { t.transform().multiply_whole::<$Whole, $Vectors, $Radix, $S>(_a, _b, _out, product) }
                        });
                        return true;
                    }
                )*
                false
            }

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

/// The features that [`Avx2`] proves; its registers hold one set.
macro_rules! avx2 {
    ($T:ty, $Transform:ty, $Lane:ty $(, $whole:tt)*) => {
        kernels!($T, $Transform, $Lane, 1, "avx2,fma" $(, $whole)*);
    };
}

/// The features that [`Avx512`] proves; its registers hold two sets where no butterflies are computed abreast.
macro_rules! avx512 {
    ($T:ty, $Transform:ty, $Lane:ty, $S:literal $(, $whole:tt)*) => {
        kernels!($T, $Transform, $Lane, $S, "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma" $(, $whole)*);
    };
}

avx2!(Transform<Mont16<Avx2, 16>, 16>, Transform<Mont16<Avx2, 16>, 16>, i16, [Falcon512, 32, 4], [Falcon1024, 64, 8]);
avx2!(PairTransform<Avx2, 16>, Transform<Mont16<Avx2, 16>, 16>, i16, [KemPairs, 16, 2]);
avx2!(Transform<Shoup32<Avx2, 8>, 8>, Transform<Shoup32<Avx2, 8>, 8>, u32, [Free, 32, 4]);
avx2!(Transform<Float<Avx2, 4>, 4>, Transform<Float<Avx2, 4>, 4>, f64);
avx2!(Transform<Shoup64<Avx2, 4, false>, 4>, Transform<Shoup64<Avx2, 4, false>, 4>, u64);
avx2!(Transform<Shoup64<Avx2, 4, true>, 4>, Transform<Shoup64<Avx2, 4, true>, 4>, u64);

avx512!(
    Transform<Mont16<Avx512, 32>, 32>,
    Transform<Mont16<Avx512, 32>, 32>,
    i16,
    2,
    [Falcon512, 16, 2],
    [Falcon1024, 32, 4]
);
avx512!(PairTransform<Avx512, 32>, Transform<Mont16<Avx512, 32>, 32>, i16, 2, [KemPairs, 8, 1]);
avx512!(Transform<Shoup32<Avx512, 16>, 16>, Transform<Shoup32<Avx512, 16>, 16>, u32, 1, [Free, 16, 2]);
avx512!(Transform<Float<Avx512, 8>, 8>, Transform<Float<Avx512, 8>, 8>, f64, 2);
avx512!(Transform<Shoup64<Avx512, 8, false>, 8>, Transform<Shoup64<Avx512, 8, false>, 8>, u64, 1);
avx512!(Transform<Shoup64<Avx512, 8, true>, 8>, Transform<Shoup64<Avx512, 8, true>, 8>, u64, 1);
avx512!(Transform<Ifma<Avx512, 8>, 8>, Transform<Ifma<Avx512, 8>, 8>, u64, 1);

/// The kernels of AVX-512 on vectors that any CPU has.
#[cfg(test)]
mod modelled {
    use super::super::model::Model;
    use super::*;

    kernels!(
        Transform<Mont16<Model, 32>, 32>,
        Transform<Mont16<Model, 32>, 32>,
        i16,
        2,
        "sse2",
        [Falcon512, 16, 2],
        [Falcon1024, 32, 4]
    );
    kernels!(PairTransform<Model, 32>, Transform<Mont16<Model, 32>, 32>, i16, 2, "sse2", [KemPairs, 8, 1]);
    kernels!(Transform<Ifma<Model, 8>, 8>, Transform<Ifma<Model, 8>, 8>, u64, 2, "sse2");
}
