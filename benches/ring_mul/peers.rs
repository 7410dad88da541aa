//! The C code with AVX2 that `pqcrypto-mlkem` and `pqcrypto-mldsa` ship, by its symbols.

// The crates are linked for their C objects alone.
use pqcrypto_mldsa as _;
use pqcrypto_mlkem as _;

/// A polynomial as the C code has it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Poly<T, const N: usize>(pub [T; N]);

pub type Kem = Poly<i16, 256>;
pub type Dsa = Poly<i32, 256>;

// SAFETY: the signatures are those of the C sources that pqcrypto-mlkem and pqcrypto-mldsa ship.
unsafe extern "C" {
    fn PQCLEAN_MLKEM768_AVX2_poly_ntt(r: *mut Kem);
    fn PQCLEAN_MLKEM768_AVX2_poly_invntt_tomont(r: *mut Kem);
    fn PQCLEAN_MLKEM768_AVX2_poly_basemul_montgomery(r: *mut Kem, a: *const Kem, b: *const Kem);
    fn PQCLEAN_MLKEM768_AVX2_polyvec_basemul_acc_montgomery(r: *mut Kem, a: *const [Kem; 3], b: *const [Kem; 3]);
    fn PQCLEAN_MLDSA65_AVX2_poly_ntt(r: *mut Dsa);
    fn PQCLEAN_MLDSA65_AVX2_poly_invntt_tomont(r: *mut Dsa);
    fn PQCLEAN_MLDSA65_AVX2_poly_pointwise_montgomery(c: *mut Dsa, a: *const Dsa, b: *const Dsa);
}

pub fn kem_ntt(a: &mut Kem) {
    // SAFETY: the pointer is valid and aligned to 32 bytes.
    unsafe { PQCLEAN_MLKEM768_AVX2_poly_ntt(a) }
}

pub fn kem_product(a: &mut Kem, b: &mut Kem, c: &mut Kem) {
    // SAFETY: the pointers are valid and aligned to 32 bytes.
    unsafe {
        PQCLEAN_MLKEM768_AVX2_poly_ntt(a);
        PQCLEAN_MLKEM768_AVX2_poly_ntt(b);
        PQCLEAN_MLKEM768_AVX2_poly_basemul_montgomery(c, a, b);
        PQCLEAN_MLKEM768_AVX2_poly_invntt_tomont(c);
    }
}

pub fn kem_inverse(a: &mut Kem) {
    // SAFETY: the pointer is valid and aligned to 32 bytes.
    unsafe { PQCLEAN_MLKEM768_AVX2_poly_invntt_tomont(a) }
}

pub fn kem_dot(a: &[Kem; 3], b: &[Kem; 3], c: &mut Kem) {
    // SAFETY: the pointers are valid and aligned to 32 bytes.
    unsafe { PQCLEAN_MLKEM768_AVX2_polyvec_basemul_acc_montgomery(c, a, b) }
}

pub fn dsa_product(a: &mut Dsa, b: &mut Dsa, c: &mut Dsa) {
    // SAFETY: the pointers are valid and aligned to 32 bytes.
    unsafe {
        PQCLEAN_MLDSA65_AVX2_poly_ntt(a);
        PQCLEAN_MLDSA65_AVX2_poly_ntt(b);
        PQCLEAN_MLDSA65_AVX2_poly_pointwise_montgomery(c, a, b);
        PQCLEAN_MLDSA65_AVX2_poly_invntt_tomont(c);
    }
}
