//! Keccak-f[1600] (FIPS 202, section 3) on several states at once: one state a lane of a vector.
//!
//! The states lie word by word, `[[u64; LANES]; 25]`. With AVX-512 eight states cost hardly more than one in scalar
//! code, with AVX2 four cost a third more.

use crate::backend::Backend;
use crate::backend::cpu::Level;
use crate::schemes::Wiped;

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

/// Words of a state that blocks are made of, and some more.
pub(super) const READ: usize = 24;

/// A permutation of `LANES` states.
pub(super) trait Permute<const LANES: usize>: Copy {
    fn permute(self, states: &mut [[u64; LANES]; 25]);

    /// The first words of every state, one behind the other.
    fn read(self, states: &[[u64; LANES]; 25], out: &mut [[u64; READ]; LANES]);
}

/// Scalar code.
#[derive(Clone, Copy)]
pub(super) struct Scalar;

impl Permute<1> for Scalar {
    fn permute(self, states: &mut [[u64; 1]; 25]) {
        // Three-operand instructions for `a & !b` and rotations save a quarter of the time.
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if let Some(bmi) = x86::Bmi::detect() {
            return bmi.permute(states);
        }
        portable(states);
    }

    fn read(self, states: &[[u64; 1]; 25], out: &mut [[u64; READ]; 1]) {
        out[0].copy_from_slice(&states.as_flattened()[..READ]);
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

/// Row `$y` of a round's result, from the words `$i` of the state, each rotated by `$n`: theta, rho, pi and chi.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
macro_rules! row {
    ($xor:ident, $chi:ident, $rotate:ident; $a:ident, $theta:ident, $e:ident, $c:ident;
        $y:literal: $($i:literal $n:tt),*) => {
        let b = [$($rotate!($xor!($a[$i], $theta[$i % 5]), $n)),*];
        for x in 0..5 {
            $e[$y + x] = $chi!(b[x], b[(x + 1) % 5], b[(x + 2) % 5]);
            $c[x] = $xor!($c[x], $e[$y + x]);
        }
    };
}

/// A round, from the words `$a` to the words `$e`; `$c` are the sums of the columns, before and after. One row is
/// finished before the next begins, so that registers hold what is in work.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
macro_rules! round {
    ($set:path, $xor:ident, $chi:ident, $rotate:ident; $a:ident, $e:ident, $c:ident, $constant:expr) => {
        let theta = [
            $xor!($c[4], $rotate!($c[1], 1)),
            $xor!($c[0], $rotate!($c[2], 1)),
            $xor!($c[1], $rotate!($c[3], 1)),
            $xor!($c[2], $rotate!($c[4], 1)),
            $xor!($c[3], $rotate!($c[0], 1)),
        ];
        $c = [$set($constant as i64), $set(0), $set(0), $set(0), $set(0)];
        row!($xor, $chi, $rotate; $a, theta, $e, $c; 0: 0 0, 6 44, 12 43, 18 21, 24 14);
        // The constant went in on the way.
        $e[0] = $c[0];
        row!($xor, $chi, $rotate; $a, theta, $e, $c; 5: 3 28, 9 20, 10 3, 16 45, 22 61);
        row!($xor, $chi, $rotate; $a, theta, $e, $c; 10: 1 1, 7 6, 13 25, 19 8, 20 18);
        row!($xor, $chi, $rotate; $a, theta, $e, $c; 15: 4 27, 5 36, 11 10, 17 15, 23 56);
        row!($xor, $chi, $rotate; $a, theta, $e, $c; 20: 2 62, 8 55, 14 39, 15 41, 21 2);
    };
}

/// The function `permute` in the instructions of one level: `chi(a, b, c) = a ^ (!b & c)`.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
macro_rules! permutation {
    ($permute:ident, $lanes:literal, $features:literal, $V:ty, $set:path, $xor:ident, $chi:ident, $rotate:ident) => {
        // Vectors have no operators.
        #[allow(clippy::assign_op_pattern)]
        #[target_feature(enable = $features)]
        fn $permute(states: &mut [[u64; $lanes]; 25]) {
            let mut a: [$V; 25] = core::array::from_fn(|i| bytemuck::cast(states[i]));
            let mut e = a;
            let mut c = [$set(0); 5];
            for (i, a) in a.iter().enumerate() {
                c[i % 5] = $xor!(c[i % 5], *a);
            }
            for [even, odd] in ROUND_CONSTANTS.as_chunks::<2>().0 {
                round!($set, $xor, $chi, $rotate; a, e, c, *even);
                round!($set, $xor, $chi, $rotate; e, a, c, *odd);
            }
            for (state, a) in states.iter_mut().zip(&a) {
                *state = bytemuck::cast(*a);
            }
        }
    };
}

/// Vectors of states.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
macro_rules! permute_lanes {
    ($Token:ident, $lanes:literal, $permute:ident) => {
        impl Permute<$lanes> for $Token {
            fn permute(self, states: &mut [[u64; $lanes]; 25]) {
                // SAFETY: the token proves that this CPU has the features.
                unsafe { $permute(states) }
            }

            fn read(self, states: &[[u64; $lanes]; 25], out: &mut [[u64; READ]; $lanes]) {
                // SAFETY: the token proves that this CPU has AVX2.
                unsafe { transpose(states, out) }
            }
        }
    };
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use super::*;
    use core::arch::x86_64::*;

    macro_rules! xor_256 {
        ($a:expr, $b:expr) => {
            _mm256_xor_si256($a, $b)
        };
    }
    macro_rules! chi_256 {
        ($a:expr, $b:expr, $c:expr) => {
            _mm256_xor_si256($a, _mm256_andnot_si256($b, $c))
        };
    }
    macro_rules! rotate_256 {
        ($a:expr, 1) => {{
            let a = $a;
            _mm256_or_si256(_mm256_add_epi64(a, a), _mm256_srli_epi64::<63>(a))
        }};
        ($a:expr, 8) => {
            _mm256_shuffle_epi8($a, bytemuck::cast(ROTATED_BYTES[0]))
        };
        ($a:expr, 56) => {
            _mm256_shuffle_epi8($a, bytemuck::cast(ROTATED_BYTES[1]))
        };
        ($a:expr, $n:tt) => {{
            let a = $a;
            _mm256_or_si256(_mm256_slli_epi64::<$n>(a), _mm256_srli_epi64::<{ 64 - $n }>(a))
        }};
    }

    /// Where bytes come from in words that are rotated by 8 and by 56 bits.
    const ROTATED_BYTES: [[u8; 32]; 2] = {
        let mut out = [[0; 32]; 2];
        let mut i = 0;
        while i < 32 {
            let word = i as u8 & 8;
            out[0][i] = word | (i as u8 + 7) & 7;
            out[1][i] = word | (i as u8 + 1) & 7;
            i += 1;
        }
        out
    };

    /// Proof that this CPU has BMI 1 and 2.
    #[derive(Clone, Copy)]
    pub(super) struct Bmi(());

    impl Bmi {
        #[inline(always)]
        pub(super) fn detect() -> Option<Self> {
            (is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2")).then_some(Self(()))
        }

        pub(super) fn permute(self, states: &mut [[u64; 1]; 25]) {
            // SAFETY: the token proves that this CPU has the features.
            unsafe { permute_1(states) }
        }
    }

    macro_rules! xor_64 {
        ($a:expr, $b:expr) => {
            $a ^ $b
        };
    }
    macro_rules! chi_64 {
        ($a:expr, $b:expr, $c:expr) => {
            $a ^ (!$b & $c)
        };
    }
    macro_rules! rotate_64 {
        ($a:expr, $n:tt) => {
            ($a).rotate_left($n)
        };
    }
    permutation!(permute_1, 1, "bmi1,bmi2", u64, i64::cast_unsigned, xor_64, chi_64, rotate_64);

    permutation!(permute_4, 4, "avx2", __m256i, _mm256_set1_epi64x, xor_256, chi_256, rotate_256);

    // Compilers make one instruction of two sums, and of chi.
    macro_rules! xor_512 {
        ($a:expr, $b:expr) => {
            _mm512_xor_si512($a, $b)
        };
    }
    macro_rules! chi_512 {
        ($a:expr, $b:expr, $c:expr) => {
            _mm512_xor_si512($a, _mm512_andnot_si512($b, $c))
        };
    }
    macro_rules! rotate_512 {
        ($a:expr, $n:tt) => {
            _mm512_rol_epi64::<$n>($a)
        };
    }
    permutation!(permute_8, 8, "avx512f", __m512i, _mm512_set1_epi64, xor_512, chi_512, rotate_512);

    permute_lanes!(Avx2, 4, permute_4);
    permute_lanes!(Avx512, 8, permute_8);

    /// Four words of four states at a time.
    #[target_feature(enable = "avx2")]
    fn transpose<const LANES: usize>(states: &[[u64; LANES]; 25], out: &mut [[u64; READ]; LANES]) {
        for (i, words) in states.as_chunks::<4>().0.iter().enumerate() {
            for first in (0..LANES).step_by(4) {
                let [a, b, c, d] = words.map(|word| {
                    let four: [u64; 4] = core::array::from_fn(|lane| word[first + lane]);
                    bytemuck::cast(four)
                });
                let (ab, cd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpacklo_epi64(c, d));
                let (ba, dc) = (_mm256_unpackhi_epi64(a, b), _mm256_unpackhi_epi64(c, d));
                let lanes = [
                    _mm256_permute2x128_si256::<0x20>(ab, cd),
                    _mm256_permute2x128_si256::<0x20>(ba, dc),
                    _mm256_permute2x128_si256::<0x31>(ab, cd),
                    _mm256_permute2x128_si256::<0x31>(ba, dc),
                ];
                for (out, words) in out[first..].iter_mut().zip(lanes) {
                    out[4 * i..4 * i + 4].copy_from_slice(&bytemuck::cast::<_, [u64; 4]>(words));
                }
            }
        }
    }
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
        let mut out = [[0; READ]; LANES];
        permutation.read(&states, &mut out);
        for (out, single) in out.iter().zip(&singles) {
            assert_eq!(out[..], single.as_flattened()[..READ]);
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
