//! Key generation, one key at a time on the CPU.

use super::encode::{T0_LEN, T1_LEN, add_assign, secret_len, write_secret, write_t0, write_t1};
use super::round::power2round;
use super::sample::{Expanded, matrix_and_secrets};
use super::{Array, Coeffs, N, Parameters, ZERO};
use crate::backend::cpu::Plan;
use crate::memcheck::{Leak, show};
use crate::schemes::hash::Lanes;
use crate::schemes::levels::levels;
use crate::schemes::{Erased, Wiped, hash};

/// Where the parts of a private key begin.
pub(super) struct SkLayout {
    pub(super) tr: usize,
    pub(super) s1: usize,
    pub(super) s2: usize,
    pub(super) t0: usize,
}

impl SkLayout {
    pub(super) const fn of<P: Parameters>() -> Self {
        let s1 = 64 + P::TR;
        let s2 = s1 + P::L * secret_len::<P>();
        Self { tr: 64, s1, s2, t0: s2 + P::K * secret_len::<P>() }
    }
}

/// `rho ‖ rho' ‖ K` of a seed: FIPS 204 hashes the ranks too.
pub(super) fn key_seeds<P: Parameters>(seed: &[u8; 32]) -> Wiped<[u8; 128]> {
    let mut seeds = Wiped::new([0; 128]);
    let ranks = [P::K as u8, P::L as u8];
    hash::shake256(&[seed, if P::ROUND3 { &[] } else { &ranks }], &mut seeds[..]);
    show(Leak::MatrixSeed, &mut seeds[..32]);
    seeds
}

/// The seed of the secrets, `rho'`.
pub(super) fn secret_seed(seeds: &[u8; 128]) -> &[u8; 64] {
    seeds[32..].first_chunk().unwrap_or(const { &[0; 64] })
}

/// `ML-DSA.KeyGen_internal`, algorithm 6.
pub(super) fn keygen<P: Parameters>(plan: &Plan, seed: &[u8; 32], pk: &mut [u8], sk: &mut [u8]) {
    let seeds = key_seeds::<P>(seed);
    let (layout, lanes) = (SkLayout::of::<P>(), Lanes::of(plan.level()));
    let mut a = P::Matrix::filled(ZERO);
    let mut s1 = Erased::<P::Columns, _>::filled(ZERO);
    let mut s2 = Wiped::new([[0u32; N]; 8]);
    matrix_and_secrets::<P>(lanes, &seeds[..32], secret_seed(&seeds), |expanded| match expanded {
        Expanded::Entry(row, column, values) => plan.import(values, &mut a.as_mut()[row * P::L + column]),
        Expanded::Secret(i, values) => {
            write_secret::<P>(lanes, values, &mut sk[layout.s1 + i * secret_len::<P>()..][..secret_len::<P>()]);
            match i.checked_sub(P::L) {
                None => plan.forward(values, &mut s1.as_mut()[i]),
                Some(i) => s2[i].copy_from_slice(values),
            }
        }
    });

    let mut t = Erased::<P::Rows, _>::filled(ZERO);
    plan.mat_vec(P::L, a.as_ref().as_flattened(), s1.as_ref().as_flattened(), t.as_mut().as_flattened_mut());
    let mut sum = Wiped::new([0; N]);
    for (i, t) in t.as_ref().iter().enumerate() {
        plan.inverse(t, &mut sum[..]);
        add_assign(lanes, &mut sum, &s2[i]);
        write_t::<P>(lanes, i, &mut sum, pk, sk);
    }
    finish::<P>(&seeds, pk, sk);
}

/// Splits polynomial `i` of `t` between the keys.
pub(super) fn write_t<P: Parameters>(lanes: Lanes, i: usize, t: &mut Coeffs, pk: &mut [u8], sk: &mut [u8]) {
    let mut t1 = [0; N];
    split(lanes, t, &mut t1);
    write_t1(lanes, &t1, &mut pk[32 + i * T1_LEN..][..T1_LEN]);
    write_t0(lanes, t, &mut sk[SkLayout::of::<P>().t0 + i * T0_LEN..][..T0_LEN]);
}

levels! {
    /// `Power2Round` of a polynomial: the high part goes out, the low part stays.
    pub(super) fn split(t: &mut Coeffs, t1: &mut Coeffs) {
        for (t1, t) in t1.iter_mut().zip(t.iter_mut()) {
            (*t1, *t) = power2round(*t);
        }
    }
}

/// Writes the seeds and the public key's hash.
pub(super) fn finish<P: Parameters>(seeds: &[u8; 128], pk: &mut [u8], sk: &mut [u8]) {
    pk[..32].copy_from_slice(&seeds[..32]);
    sk[..32].copy_from_slice(&seeds[..32]);
    sk[32..64].copy_from_slice(&seeds[96..]);
    hash::shake256(&[pk], &mut sk[64..64 + P::TR]);
}
