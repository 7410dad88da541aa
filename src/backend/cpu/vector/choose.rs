//! Which vector kernels serve a transform, if any: a level's, where the class holds the modulus and the shape fills
//! two vectors, else those of the level below.

use alloc::boxed::Box;

use super::{Float, Ifma, Mont16, PairTransform, Shoup32, Shoup64, Transform};
use crate::Result;
use crate::backend::cpu::Level;
use crate::backend::cpu::avx2::Avx2;
use crate::backend::cpu::avx512::Avx512;
use crate::backend::cpu::kernels::{Kernels, Layout};
use crate::ring::ntt::Ntt;

type Choice<T> = Result<Option<Box<dyn Kernels<T>>>>;

/// The tokens of a level.
fn tokens(level: Level) -> (Option<Avx2>, Option<Avx512>) {
    let avx2 = if level >= Level::Avx2 { Avx2::detect() } else { None };
    let avx512 = if level >= Level::Avx512 { Avx512::detect() } else { None };
    (avx2, avx512)
}

/// Returns the transform of this type if its level is there and it fits.
macro_rules! try_planes {
    ($token:expr, $T:ty, $ntt:ident, $layout:ident) => {
        match ($token, $layout) {
            (Some(token), Layout::Along) if <$T>::fits($ntt, 1) => {
                return Ok(Some(Box::new(<$T>::new(token, $ntt, 1)?)));
            }
            (Some(token), Layout::Across) if <$T>::fits_across($ntt) => {
                return Ok(Some(Box::new(<$T>::across(token, $ntt)?)));
            }
            _ => {}
        }
    };
}

macro_rules! try_pairs {
    ($token:expr, $T:ty, $ntt:ident, $layout:ident) => {
        match ($token, $layout) {
            (Some(token), Layout::Along) if <$T>::fits($ntt) => {
                return Ok(Some(Box::new(<$T>::new(token, $ntt)?)));
            }
            _ => {}
        }
    };
}

pub(in crate::backend::cpu) fn lanes16(level: Level, ntt: &Ntt, layout: Layout) -> Choice<i16> {
    let (avx2, avx512) = tokens(level);
    try_pairs!(avx512, PairTransform<Avx512, 32>, ntt, layout);
    try_pairs!(avx2, PairTransform<Avx2, 16>, ntt, layout);
    try_planes!(avx512, Transform<Mont16<Avx512, 32>, 32>, ntt, layout);
    try_planes!(avx2, Transform<Mont16<Avx2, 16>, 16>, ntt, layout);
    Ok(None)
}

pub(in crate::backend::cpu) fn lanes32(level: Level, ntt: &Ntt, layout: Layout) -> Choice<u32> {
    let (avx2, avx512) = tokens(level);
    try_planes!(avx512, Transform<Shoup32<Avx512, 16>, 16>, ntt, layout);
    try_planes!(avx2, Transform<Shoup32<Avx2, 8>, 8>, ntt, layout);
    Ok(None)
}

pub(in crate::backend::cpu) fn float(level: Level, ntt: &Ntt, layout: Layout) -> Choice<f64> {
    let (avx2, avx512) = tokens(level);
    try_planes!(avx512, Transform<Float<Avx512, 8>, 8>, ntt, layout);
    try_planes!(avx2, Transform<Float<Avx2, 4>, 4>, ntt, layout);
    Ok(None)
}

/// 50 bits in lanes of 64.
pub(in crate::backend::cpu) fn ifma(level: Level, ntt: &Ntt, layout: Layout) -> Choice<u64> {
    let (_, avx512) = tokens(level);
    try_planes!(avx512, Transform<Ifma<Avx512, 8>, 8>, ntt, layout);
    Ok(None)
}

/// Moduli of 62 bits need one more subtraction a product.
pub(in crate::backend::cpu) fn lanes64(level: Level, ntt: &Ntt, layout: Layout) -> Choice<u64> {
    let (avx2, avx512) = tokens(level);
    try_planes!(avx512, Transform<Shoup64<Avx512, 8, false>, 8>, ntt, layout);
    try_planes!(avx512, Transform<Shoup64<Avx512, 8, true>, 8>, ntt, layout);
    try_planes!(avx2, Transform<Shoup64<Avx2, 4, false>, 4>, ntt, layout);
    try_planes!(avx2, Transform<Shoup64<Avx2, 4, true>, 4>, ntt, layout);
    Ok(None)
}
