//! Private keys that were read, checked and expanded; signing, one message at a time on the CPU.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use zeroize::{Zeroize, Zeroizing};

use super::encode::{
    HintWriter, T0_LEN, T1_LEN, add_assign, high_len, mask_len, read_secret, read_t0, secret_len, split_polys,
    sub_assign, write_high, write_response, write_secret, write_t0, write_t1,
};
use super::keygen::{SkLayout, keygen, split};
use super::round::{all_below, all_low_below, high_bits};
use super::sample::{MAX_COLUMNS, Masks, challenge, matrix};
use super::{Array, Coeffs, Error, Input, N, Parameters, Poly, Q, Result, VerificationKey, ZERO};
use crate::RingContext;
use crate::backend::Cpu;
use crate::backend::cpu::Plan;
use crate::memcheck::{Leak, show, shown};
use crate::ring::presets::MlDsa;
use crate::schemes::hash::Lanes;
use crate::schemes::levels::levels;
use crate::schemes::{Erased, Wiped, exactly, hash};

/// Attempts after which signing gives up: FIPS 204, appendix C, allows no fewer. A key that key generation made fails
/// with a probability below `2^-256`.
pub(super) const MAX_ATTEMPTS: u32 = 814;

/// Most rows of a matrix.
const MAX_ROWS: usize = 8;

/// A private key that was checked, with its matrix; erased on drop. It belongs to the CPU level of the
/// [`Dsa`](super::Dsa) that read it.
///
/// ```
/// use karat::{Cpu, schemes::mldsa::MlDsa44};
/// let dsa = MlDsa44::new(Cpu::new())?;
/// let (pk, sk) = dsa.keygen(&[1; 32]);
/// let key = dsa.signing_key(&sk)?;
/// let signature = key.sign(b"message", b"", &[0; 32])?;
/// assert!(dsa.verify(&pk, b"message", b"", &signature).is_ok());
/// assert_eq!(format!("{key:?}"), "SigningKey(ML-DSA-44)");
/// # Ok::<(), karat::schemes::Error>(())
/// ```
#[derive(Clone)]
pub struct SigningKey<P: Parameters> {
    ring: RingContext<Cpu, MlDsa>,
    /// On the heap: moves would leave copies of the secrets behind.
    expanded: Box<Expanded<P>>,
}

impl<P: Parameters> SigningKey<P> {
    pub(super) fn new(ring: &RingContext<Cpu, MlDsa>, sk: &[u8]) -> Result<Self> {
        let mut key = Self { ring: ring.clone(), expanded: Box::new(Expanded::empty()) };
        key.expanded.read(ring.plan(), sk)?;
        Ok(key)
    }

    pub(super) fn from_seed(ring: &RingContext<Cpu, MlDsa>, seed: &[u8; 32]) -> Self {
        let mut key = Self { ring: ring.clone(), expanded: Box::new(Expanded::empty()) };
        let mut sk = Erased::<P::Sk, u8>::filled(0);
        keygen::<P>(ring.plan(), seed, P::Pk::filled(0).as_mut(), sk.as_mut());
        // Keys that key generation makes are in range.
        let _ = key.expanded.read(ring.plan(), sk.as_ref());
        key.expanded.xi.get_or_insert([0; 32]).copy_from_slice(seed);
        key
    }

    /// The seed `xi` that it was made from: the short form of FIPS 204 to store it in. It lies in the key and is erased
    /// with it. `None` where the key was read from its encoded form, which does not tell the seed.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mldsa::MlDsa44};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// let key = dsa.key_from_seed(&[1; 32]);
    /// assert_eq!(key.seed(), Some(&[1; 32]));
    /// assert_eq!(dsa.signing_key(&key.to_bytes())?.seed(), None);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn seed(&self) -> Option<&[u8; 32]> {
        self.expanded.xi.as_ref()
    }

    /// The encoded key, the long form of FIPS 204 to store it in; erased on drop.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mldsa::MlDsa44};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// let key = dsa.key_from_seed(&[1; 32]);
    /// assert_eq!(key.to_bytes()[..], dsa.keygen(&[1; 32]).1);
    /// let same = dsa.signing_key(&key.to_bytes())?;
    /// assert_eq!(same.sign(b"message", b"", &[0; 32])?, key.sign(b"message", b"", &[0; 32])?);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(alloc::vec![0; P::Sk::LEN]);
        self.expanded.write(self.ring.plan(), &mut out);
        out
    }

    /// The public key, computed from the secrets.
    pub fn public_key(&self) -> P::Pk {
        let mut pk = P::Pk::filled(0);
        self.expanded.write_public_key(self.ring.plan(), pk.as_mut());
        pk
    }

    /// The public key, computed from the secrets, ready for use.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mldsa::MlDsa44};
    /// let key = MlDsa44::new(Cpu::new())?.key_from_seed(&[1; 32]);
    /// let signature = key.sign(b"message", b"", &[0; 32])?;
    /// assert!(key.verification_key().verify(b"message", b"", &signature).is_ok());
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn verification_key(&self) -> VerificationKey<P> {
        VerificationKey::of_public_key(&self.ring, &self.public_key())
    }

    /// Signs a message with a context; see [`Dsa::sign`](super::Dsa::sign).
    ///
    /// # Errors
    /// `ContextTooLong`; `SigningFailed` for a key that key generation never makes.
    pub fn sign(&self, message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Result<P::Sig> {
        self.sign_input(Input::Message { message, context }, rnd)
    }

    /// Signs whatever the standard signs (`ML-DSA.Sign_internal`, algorithm 7).
    ///
    /// # Errors
    /// As [`SigningKey::sign`]; `WrongLength` for a digest or an external mu.
    pub fn sign_input(&self, input: Input, rnd: &[u8; 32]) -> Result<P::Sig> {
        self.expanded.sign(self.ring.plan(), input, rnd)
    }
}

/// The contents of a private key, with its matrix.
#[derive(Clone)]
pub(super) struct Expanded<P: Parameters> {
    matrix: P::Matrix,
    s1: P::Columns,
    s2: P::Rows,
    t0: P::Rows,
    /// The seed of the matrix.
    rho: [u8; 32],
    /// The seed `K` of masks.
    seed: [u8; 32],
    tr: [u8; 64],
    /// The seed of the key, where that is known.
    xi: Option<[u8; 32]>,
}

impl<P: Parameters> Expanded<P> {
    pub(super) fn empty() -> Self {
        Self {
            matrix: P::Matrix::filled(ZERO),
            s1: P::Columns::filled(ZERO),
            s2: P::Rows::filled(ZERO),
            t0: P::Rows::filled(ZERO),
            rho: [0; 32],
            seed: [0; 32],
            tr: [0; 64],
            xi: None,
        }
    }

    pub(super) fn read(&mut self, plan: &Plan, sk: &[u8]) -> Result<()> {
        exactly("private key", sk, P::Sk::LEN)?;
        let (layout, lanes) = (SkLayout::of::<P>(), Lanes::of(plan.level()));
        let mut values = Wiped::new([0; N]);
        let mut in_range = true;
        let (s1, _) = split_polys(&sk[layout.s1..], P::L, secret_len::<P>());
        let (s2, t0) = split_polys(&sk[layout.s2..], P::K, secret_len::<P>());
        let secrets = s1.zip(self.s1.as_mut()).chain(s2.zip(self.s2.as_mut()));
        for (bytes, out) in secrets {
            in_range &= read_secret::<P>(lanes, bytes, &mut values);
            plan.forward(&values[..], out);
        }
        if !shown(Leak::KeyRange, in_range) {
            return Err(Error::InvalidPrivateKey);
        }
        for (bytes, out) in t0.chunks_exact(T0_LEN).zip(self.t0.as_mut()) {
            read_t0(lanes, bytes, &mut values);
            plan.forward(&values[..], out);
        }
        let a = self.matrix.as_mut();
        matrix::<P>(lanes, &sk[..32], &[], &mut [], |row, column, values| {
            plan.import(values, &mut a[row * P::L + column])
        });
        self.rho.copy_from_slice(&sk[..32]);
        self.seed.copy_from_slice(&sk[32..64]);
        self.tr[..P::TR].copy_from_slice(&sk[layout.tr..][..P::TR]);
        Ok(())
    }

    /// The inverse of [`Expanded::read`].
    fn write(&self, plan: &Plan, sk: &mut [u8]) {
        let (layout, lanes) = (SkLayout::of::<P>(), Lanes::of(plan.level()));
        sk[..32].copy_from_slice(&self.rho);
        sk[32..64].copy_from_slice(&self.seed);
        sk[layout.tr..][..P::TR].copy_from_slice(&self.tr[..P::TR]);
        let (secrets, t0) = sk[layout.s1..].split_at_mut(layout.t0 - layout.s1);
        let mut values = Wiped::new([0; N]);
        let polys = self.s1.as_ref().iter().chain(self.s2.as_ref());
        for (poly, out) in polys.zip(secrets.chunks_exact_mut(secret_len::<P>())) {
            plan.inverse(poly, &mut values[..]);
            write_secret::<P>(lanes, &values[..], out);
        }
        for (poly, out) in self.t0.as_ref().iter().zip(t0.chunks_exact_mut(T0_LEN)) {
            plan.inverse(poly, &mut values[..]);
            write_t0(lanes, &values, out);
        }
    }

    /// `rho ‖ t1` of `t = A·s1 + s2`.
    fn write_public_key(&self, plan: &Plan, pk: &mut [u8]) {
        let lanes = Lanes::of(plan.level());
        let mut t = Erased::<P::Rows, _>::filled(ZERO);
        let (matrix, s1) = (self.matrix.as_ref().as_flattened(), self.s1.as_ref().as_flattened());
        plan.mat_vec(P::L, matrix, s1, t.as_mut().as_flattened_mut());
        let (seed, rows) = pk.split_at_mut(32);
        seed.copy_from_slice(&self.rho);
        let (mut sum, mut s2) = (Wiped::new([0; N]), Wiped::new([0; N]));
        for ((t, s2_ntt), out) in t.as_ref().iter().zip(self.s2.as_ref()).zip(rows.chunks_exact_mut(T1_LEN)) {
            plan.inverse(t, &mut sum[..]);
            plan.inverse(s2_ntt, &mut s2[..]);
            add_assign(lanes, &mut sum, &s2);
            let mut t1 = [0; N];
            split(lanes, &mut sum, &mut t1);
            write_t1(lanes, &t1, out);
        }
    }

    pub(super) fn sign(&self, plan: &Plan, input: Input, rnd: &[u8; 32]) -> Result<P::Sig> {
        let mu = input.mu::<P>(&self.tr[..P::TR])?;
        let seed = mask_seed::<P>(&self.seed, rnd, &mu);
        let mut signature = P::Sig::filled(0);
        let mut masks = Masks::new(Lanes::of(plan.level()), &seed);
        let mut work = Wiped::new(Attempt::EMPTY);
        for _ in 0..MAX_ATTEMPTS {
            if self.attempt(plan, &mu, &mut masks, &mut work, signature.as_mut()) {
                return Ok(signature);
            }
        }
        Err(Error::SigningFailed { attempts: MAX_ATTEMPTS })
    }

    /// One round of the rejection loop; says whether the signature is good.
    fn attempt(&self, plan: &Plan, mu: &[u8; 64], masks: &mut Masks, work: &mut Attempt, signature: &mut [u8]) -> bool {
        let lanes = Lanes::of(plan.level());
        let Attempt { y, y_ntt, w, w_ntt, high, product, product_ntt } = work;
        y[..P::L].copy_from_slice(masks.next::<P>());
        for (y, y_ntt) in y.iter().zip(&mut y_ntt[..P::L]) {
            plan.forward(y, y_ntt);
        }
        let matrix = self.matrix.as_ref().as_flattened();
        plan.mat_vec(P::L, matrix, y_ntt[..P::L].as_flattened(), w_ntt[..P::K].as_flattened_mut());
        let high = &mut high[..P::K * high_len::<P>()];
        for (i, w_ntt) in w_ntt[..P::K].iter().enumerate() {
            plan.inverse(w_ntt, &mut w[i][..]);
            write_high_bits::<P>(lanes, &w[i], &mut high[i * high_len::<P>()..][..high_len::<P>()]);
        }
        let (commitment, rest) = signature.split_at_mut(P::CHALLENGE);
        hash::shake256(&[mu, high], commitment);
        show(Leak::Challenge, commitment);
        let mut c = [0; N];
        challenge::<P>(commitment, &mut c);
        let (mut c_ntt, mut prepared) = (ZERO, ZERO);
        plan.forward(&c, &mut c_ntt);
        plan.prepare(&c_ntt, &mut prepared);

        let mut times_challenge = |secret: &Poly, product: &mut Coeffs| {
            plan.pointwise_prepared(secret, &prepared, product_ntt);
            plan.inverse(product_ntt, product);
        };
        for (i, s1) in self.s1.as_ref().iter().enumerate() {
            times_challenge(s1, product);
            add_assign(lanes, &mut y[i], product);
            if !response_hides::<P>(lanes, &y[i]) {
                return false;
            }
        }
        for (i, s2) in self.s2.as_ref().iter().enumerate() {
            times_challenge(s2, product);
            sub_assign(lanes, &mut w[i], product);
            if !low_bits_hold::<P>(lanes, &w[i]) {
                return false;
            }
        }
        let (response, hint) = rest.split_at_mut(P::L * mask_len::<P>());
        let mut writer = HintWriter::new(hint, P::OMEGA);
        for (i, t0) in self.t0.as_ref().iter().enumerate() {
            times_challenge(t0, product);
            if !write_hint::<P>(lanes, &w[i], product, &mut writer) {
                return false;
            }
        }
        for (z, out) in y.iter().zip(response.chunks_exact_mut(mask_len::<P>())) {
            write_response::<P>(lanes, z, out);
        }
        true
    }
}

/// What the attempts of one signature compute, in turn in the same memory.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Attempt {
    /// The mask, then the response.
    y: [Coeffs; MAX_COLUMNS],
    y_ntt: [Poly; MAX_COLUMNS],
    /// The commitment, then that less the challenge times `s2`.
    w: [Coeffs; MAX_ROWS],
    w_ntt: [Poly; MAX_ROWS],
    high: [u8; MAX_ROWS * 192],
    product: Coeffs,
    product_ntt: Poly,
}

impl Attempt {
    const EMPTY: Self = Self {
        y: [[0; N]; MAX_COLUMNS],
        y_ntt: [ZERO; MAX_COLUMNS],
        w: [[0; N]; MAX_ROWS],
        w_ntt: [ZERO; MAX_ROWS],
        high: [0; MAX_ROWS * 192],
        product: [0; N],
        product_ntt: ZERO,
    };
}

/// `rho''`: the seed of all masks of one signature.
pub(super) fn mask_seed<P: Parameters>(key: &[u8], rnd: &[u8; 32], mu: &[u8; 64]) -> Wiped<[u8; 64]> {
    let mut seed = Wiped::new([0; 64]);
    hash::shake256(&[key, if P::ROUND3 { &[] } else { rnd }, mu], &mut seed[..]);
    seed
}

/// `w1Encode(HighBits(w))` of one polynomial.
pub(super) fn write_high_bits<P: Parameters>(lanes: Lanes, w: &Coeffs, out: &mut [u8]) {
    let mut high = Wiped::new([0; N]);
    highs::<P>(lanes, w, &mut high);
    write_high::<P>(lanes, &high, out);
}

levels! {
    /// `HighBits` of a polynomial.
    fn highs<P: Parameters>(w: &Coeffs, out: &mut Coeffs) {
        for (high, w) in out.iter_mut().zip(w) {
            *high = high_of::<P>(*w);
        }
    }
}

#[inline(always)]
fn high_of<P: Parameters>(w: u32) -> u32 {
    if P::GAMMA2 == (Q - 1) / 88 { high_bits::<{ (Q - 1) / 88 }>(w) } else { high_bits::<{ (Q - 1) / 32 }>(w) }
}

/// Whether a polynomial of the response does not show the secret.
pub(super) fn response_hides<P: Parameters>(lanes: Lanes, z: &Coeffs) -> bool {
    shown(Leak::Response, all_below(lanes, z, P::GAMMA1 - P::BETA))
}

levels! {
    /// Whether the low bits of a polynomial of `w - c·s2` neither carry nor show the secret.
    pub(super) fn low_bits_hold<P: Parameters>(r: &Coeffs) -> bool {
        let bound = P::GAMMA2 - P::BETA;
        let small = if P::GAMMA2 == (Q - 1) / 88 {
            all_low_below::<{ (Q - 1) / 88 }>(r, bound)
        } else {
            all_low_below::<{ (Q - 1) / 32 }>(r, bound)
        };
        shown(Leak::LowBits, small)
    }
}

/// Writes the hint of one polynomial, `r = w - c·s2` and `ct0 = c·t0`; says whether that is possible.
pub(super) fn write_hint<P: Parameters>(lanes: Lanes, r: &Coeffs, ct0: &Coeffs, writer: &mut HintWriter) -> bool {
    let mut differs = Wiped::new([0; N]);
    differences::<P>(lanes, r, ct0, &mut differs);
    show(Leak::Hint, &mut differs[..]);
    shown(Leak::Hint, all_below(lanes, ct0, P::GAMMA2)) && writer.row((0..N).filter(|i| differs[*i] != 0))
}

levels! {
    /// Where adding `ct0` changes the high bits.
    fn differences<P: Parameters>(r: &Coeffs, ct0: &Coeffs, out: &mut Coeffs) {
        for (differs, (r, ct0)) in out.iter_mut().zip(r.iter().zip(ct0)) {
            *differs = high_of::<P>(*r) ^ high_of::<P>(super::round::add(*r, *ct0));
        }
    }
}

impl<P: Parameters> Drop for Expanded<P> {
    fn drop(&mut self) {
        self.s1.erase();
        self.s2.erase();
        self.t0.erase();
        self.seed.zeroize();
        self.xi.zeroize();
    }
}

impl<P: Parameters> fmt::Debug for SigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", P::NAME)
    }
}
