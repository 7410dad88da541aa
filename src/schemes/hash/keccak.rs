//! Keccak-f[1600] (FIPS 202, section 3) on several states at once: one state a lane of a vector.
//!
//! The states lie word by word, `[[u64; LANES]; 25]`. With AVX-512 eight states cost hardly more than one in scalar
//! code, with AVX2 four cost a third more.

use crate::backend::Backend;
use crate::backend::cpu::Level;
use crate::schemes::Wiped;
#[cfg(all(target_arch = "x86_64", feature = "std"))]
use crate::schemes::wipe::wipe;

/// How many states are hashed side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schemes) enum Lanes {
    /// One: portable code.
    One,
    /// Four: AVX2.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Four(Avx2),
    /// Eight: AVX-512.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    Eight(Avx512),
}

/// Proof that this CPU has AVX2, and BMI 1 and 2, which came with it.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schemes) struct Avx2(());

/// Proof that this CPU has AVX-512 F.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schemes) struct Avx512(());

impl Lanes {
    /// The most that this CPU has vectors for.
    pub(in crate::schemes) fn best() -> Self {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        {
            match Avx2::detect() {
                Some(_) if is_x86_feature_detected!("avx512f") => return Self::Eight(Avx512(())),
                Some(avx2) => return Self::Four(avx2),
                None => {}
            }
        }
        Self::One
    }

    /// How many.
    #[cfg(feature = "mldsa")]
    pub(in crate::schemes) fn count(self) -> usize {
        match self {
            Self::One => 1,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Four(_) => 4,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Self::Eight(_) => 8,
        }
    }

    /// Proof that the code may use AVX2.
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    #[inline(always)]
    pub(in crate::schemes) fn avx2(self) -> Option<Avx2> {
        match self {
            Self::One => None,
            Self::Four(avx2) => Some(avx2),
            // Nothing is told to have AVX-512 without it.
            Self::Eight(_) => Some(Avx2(())),
        }
    }

    /// As many as a level of the CPU backend has vectors for, so that a forced level is forced here too.
    pub(in crate::schemes) fn of(level: Level) -> Self {
        match (level, Self::best()) {
            (Level::Scalar, _) => Self::One,
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            (Level::Avx2, Self::Eight(_)) => Self::Four(Avx2(())),
            (_, best) => best,
        }
    }

    /// As [`Lanes::of`] where a backend has the name of a level of the CPU, else the most.
    pub(in crate::schemes) fn beside(backend: &impl Backend) -> Self {
        let level = Level::ALL.into_iter().find(|level| level.name() == backend.name());
        level.map_or_else(Self::best, Self::of)
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
impl Avx2 {
    fn detect() -> Option<Self> {
        let here =
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
        here.then_some(Self(()))
    }
}

/// A permutation of `LANES` states.
pub(super) trait Permute<const LANES: usize>: Copy {
    fn permute(self, states: &mut [[u64; LANES]; 25]);
}

/// Scalar code.
#[derive(Clone, Copy)]
pub(super) struct Scalar;

impl Permute<1> for Scalar {
    fn permute(self, states: &mut [[u64; 1]; 25]) {
        // Three-operand instructions for `a & !b` and rotations save a sixth of the time.
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if let Some(bmi) = x86::Bmi::detect() {
            return bmi.permute(states);
        }
        portable(states);
    }
}

fn portable(states: &mut [[u64; 1]; 25]) {
    let mut state = Wiped::new([0; 25]);
    state.copy_from_slice(states.as_flattened());
    ::keccak::Keccak::new().with_f1600(|permutation| permutation(&mut state));
    states.as_flattened_mut().copy_from_slice(&state[..]);
}

/// Round constants, by their definition: bits of a linear feedback shift register (FIPS 202, section 3.2.5).
#[cfg(all(target_arch = "x86_64", feature = "std"))]
const ROUND_CONSTANTS: [u64; 24] = {
    let mut out = [0; 24];
    let mut register: u32 = 1;
    let mut round = 0;
    while round < 24 {
        let mut j = 0;
        while j <= 6 {
            out[round] |= ((register & 1) as u64) << ((1 << j) - 1);
            register <<= 1;
            register ^= 0x171 * (register >> 8);
            j += 1;
        }
        round += 1;
    }
    out
};

/// The permutation in the instructions of one level: `xor3(a, b, c) = a ^ b ^ c`, `chi(a, b, c) = a ^ (!b & c)`.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
macro_rules! permutation {
    ($Token:ident, $lanes:literal, $features:literal, $V:ty, $set:path, $xor3:ident, $chi:ident, $rotate:ident) => {
        impl Permute<$lanes> for $Token {
            fn permute(self, states: &mut [[u64; $lanes]; 25]) {
                #[target_feature(enable = $features)]
                fn permute(states: &mut [[u64; $lanes]; 25]) {
                    let mut a: [$V; 25] = core::array::from_fn(|i| bytemuck::cast(states[i]));
                    for constant in ROUND_CONSTANTS {
                        let column = |x: usize| $xor3!($xor3!(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
                        let c = [column(0), column(1), column(2), column(3), column(4)];
                        let r = [
                            $rotate!(c[0], 1),
                            $rotate!(c[1], 1),
                            $rotate!(c[2], 1),
                            $rotate!(c[3], 1),
                            $rotate!(c[4], 1),
                        ];
                        // Theta and rho of word `i` in column `x`, moved to its place by pi.
                        macro_rules! moved {
                            ($i:literal, $x:literal, $n:literal) => {
                                $rotate!($xor3!(a[$i], c[($x + 4) % 5], r[($x + 1) % 5]), $n)
                            };
                        }
                        let b = [
                            $xor3!(a[0], c[4], r[1]),
                            moved!(6, 1, 44),
                            moved!(12, 2, 43),
                            moved!(18, 3, 21),
                            moved!(24, 4, 14),
                            moved!(3, 3, 28),
                            moved!(9, 4, 20),
                            moved!(10, 0, 3),
                            moved!(16, 1, 45),
                            moved!(22, 2, 61),
                            moved!(1, 1, 1),
                            moved!(7, 2, 6),
                            moved!(13, 3, 25),
                            moved!(19, 4, 8),
                            moved!(20, 0, 18),
                            moved!(4, 4, 27),
                            moved!(5, 0, 36),
                            moved!(11, 1, 10),
                            moved!(17, 2, 15),
                            moved!(23, 3, 56),
                            moved!(2, 2, 62),
                            moved!(8, 3, 55),
                            moved!(14, 4, 39),
                            moved!(15, 0, 41),
                            moved!(21, 1, 2),
                        ];
                        for y in [0, 5, 10, 15, 20] {
                            let row = [b[y], b[y + 1], b[y + 2], b[y + 3], b[y + 4]];
                            a[y] = $chi!(row[0], row[1], row[2]);
                            a[y + 1] = $chi!(row[1], row[2], row[3]);
                            a[y + 2] = $chi!(row[2], row[3], row[4]);
                            a[y + 3] = $chi!(row[3], row[4], row[0]);
                            a[y + 4] = $chi!(row[4], row[0], row[1]);
                        }
                        let zero: $V = bytemuck::cast([0u64; $lanes]);
                        a[0] = $xor3!(a[0], $set(constant as i64), zero);
                    }
                    for (state, a) in states.iter_mut().zip(&a) {
                        *state = bytemuck::cast(*a);
                    }
                    wipe(bytemuck::bytes_of_mut(&mut a));
                }
                // SAFETY: the token proves that this CPU has the features.
                unsafe { permute(states) }
            }
        }
    };
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use super::*;
    use core::arch::x86_64::*;

    macro_rules! xor3_256 {
        ($a:expr, $b:expr, $c:expr) => {
            _mm256_xor_si256(_mm256_xor_si256($a, $b), $c)
        };
    }
    macro_rules! chi_256 {
        ($a:expr, $b:expr, $c:expr) => {
            _mm256_xor_si256($a, _mm256_andnot_si256($b, $c))
        };
    }
    macro_rules! rotate_256 {
        ($a:expr, $n:literal) => {{
            let a = $a;
            _mm256_or_si256(_mm256_slli_epi64::<$n>(a), _mm256_srli_epi64::<{ 64 - $n }>(a))
        }};
    }
    /// Proof that this CPU has BMI 1 and 2.
    #[derive(Clone, Copy)]
    pub(super) struct Bmi(());

    impl Bmi {
        #[inline(always)]
        pub(super) fn detect() -> Option<Self> {
            (is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")).then_some(Self(()))
        }
    }

    macro_rules! xor3_64 {
        ($a:expr, $b:expr, $c:expr) => {
            $a ^ $b ^ $c
        };
    }
    macro_rules! chi_64 {
        ($a:expr, $b:expr, $c:expr) => {
            $a ^ (!$b & $c)
        };
    }
    macro_rules! rotate_64 {
        ($a:expr, $n:literal) => {
            ($a).rotate_left($n)
        };
    }
    permutation!(Bmi, 1, "bmi1,bmi2", u64, i64::cast_unsigned, xor3_64, chi_64, rotate_64);

    permutation!(Avx2, 4, "avx2", __m256i, _mm256_set1_epi64x, xor3_256, chi_256, rotate_256);

    // The truth tables of `a ^ b ^ c` and of `a ^ (!b & c)`.
    macro_rules! xor3_512 {
        ($a:expr, $b:expr, $c:expr) => {
            _mm512_ternarylogic_epi64::<0b1001_0110>($a, $b, $c)
        };
    }
    macro_rules! chi_512 {
        ($a:expr, $b:expr, $c:expr) => {
            _mm512_ternarylogic_epi64::<0b1101_0010>($a, $b, $c)
        };
    }
    macro_rules! rotate_512 {
        ($a:expr, $n:literal) => {
            _mm512_rol_epi64::<$n>($a)
        };
    }
    permutation!(Avx512, 8, "avx512f", __m512i, _mm512_set1_epi64, xor3_512, chi_512, rotate_512);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Different states in every lane, twice through the permutation.
    fn agrees<const LANES: usize>(permutation: impl Permute<LANES>) {
        let mut states = [[0; LANES]; 25];
        for (i, word) in states.as_flattened_mut().iter_mut().enumerate() {
            *word = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        let mut singles: Vec<[[u64; 1]; 25]> =
            (0..LANES).map(|lane| core::array::from_fn(|i| [states[i][lane]])).collect();
        for _ in 0..2 {
            permutation.permute(&mut states);
            for (lane, single) in singles.iter_mut().enumerate() {
                portable(single);
                assert!(single.iter().zip(&states).all(|(a, b)| a[0] == b[lane]), "lane {lane}");
            }
        }
    }

    #[test]
    fn every_level_agrees() {
        agrees(Scalar);
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        {
            if is_x86_feature_detected!("avx2") {
                agrees(Avx2(()));
            } else {
                eprintln!("skipped: this CPU has no AVX2");
            }
            if is_x86_feature_detected!("avx512f") {
                agrees(Avx512(()));
            } else {
                eprintln!("skipped: this CPU has no AVX-512");
            }
        }
    }
}
