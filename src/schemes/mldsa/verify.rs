//! Public keys that were read and expanded; verification, one signature at a time on the CPU.

use alloc::boxed::Box;
use core::fmt;

use super::encode::{T1_LEN, high_len, mask_len, read_hint, read_t1_negated, split_polys, write_high};
use super::round::{all_below, use_hint};
use super::sample::{challenge, matrix, read_mask};
use super::{Array, Coeffs, Error, Input, N, Parameters, Q, Result, ZERO};
use crate::RingContext;
use crate::backend::Cpu;
use crate::backend::cpu::Plan;
use crate::ring::presets::MlDsa;
use crate::schemes::hash::{Job, Lanes};
use crate::schemes::levels::levels;
use crate::schemes::{exactly, hash};

/// Most rows of a matrix.
pub(super) const MAX_ROWS: usize = 8;

/// The ones of a hint, row by row.
pub(super) type Hint = [[bool; N]; MAX_ROWS];

/// A public key with its matrix. It belongs to the CPU level of the [`Dsa`](super::Dsa) that read it.
///
/// ```
/// use karat::{Cpu, schemes::mldsa::MlDsa44};
/// let dsa = MlDsa44::new(Cpu::new())?;
/// let (pk, sk) = dsa.keygen(&[1; 32]);
/// let key = dsa.verification_key(&pk)?;
/// assert!(key.verify(b"message", b"", &dsa.sign(&sk, b"message", b"", &[0; 32])?).is_ok());
/// # Ok::<(), karat::schemes::Error>(())
/// ```
#[derive(Clone)]
pub struct VerificationKey<P: Parameters> {
    ring: RingContext<Cpu, MlDsa>,
    /// On the heap: it is large to move.
    expanded: Box<Expanded<P>>,
}

impl<P: Parameters> VerificationKey<P> {
    pub(super) fn new(ring: &RingContext<Cpu, MlDsa>, pk: &[u8]) -> Result<Self> {
        let mut key = Self { ring: ring.clone(), expanded: Box::new(Expanded::empty()) };
        key.expanded.read(ring.plan(), pk)?;
        Ok(key)
    }

    pub(super) fn of_public_key(ring: &RingContext<Cpu, MlDsa>, pk: &P::Pk) -> Self {
        let mut key = Self { ring: ring.clone(), expanded: Box::new(Expanded::empty()) };
        key.expanded.expand(ring.plan(), pk.as_ref());
        key
    }

    /// Verifies a signature of a message with a context; see [`Dsa::verify`](super::Dsa::verify).
    ///
    /// # Errors
    /// `InvalidSignature`; `WrongLength` for the signature; `ContextTooLong`.
    pub fn verify(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<()> {
        self.verify_input(Input::Message { message, context }, signature)
    }

    /// The message representative of an input under this key: what [`Input::Mu`] takes.
    ///
    /// # Errors
    /// `ContextTooLong`; `WrongLength` for a digest or an external mu.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mldsa::{Input, MlDsa44}};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// let (pk, sk) = dsa.keygen(&[1; 32]);
    /// let mu = dsa.verification_key(&pk)?.mu(Input::Message { message: b"message", context: b"" })?;
    /// let signature = dsa.sign_input(&sk, Input::Mu(&mu), &[0; 32])?;
    /// assert_eq!(signature, dsa.sign(&sk, b"message", b"", &[0; 32])?);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn mu(&self, input: Input) -> Result<[u8; 64]> {
        self.expanded.mu(input)
    }

    /// Verifies a signature of whatever the standard signs (`ML-DSA.Verify_internal`, algorithm 8).
    ///
    /// # Errors
    /// As [`VerificationKey::verify`]; `WrongLength` also for a digest or an external mu.
    pub fn verify_input(&self, input: Input, signature: &[u8]) -> Result<()> {
        self.expanded.verify(self.ring.plan(), input, signature)
    }
}

/// The contents of a public key, with its matrix.
#[derive(Clone)]
pub(super) struct Expanded<P: Parameters> {
    /// The matrix with one column more, `-t1·2^13`: times `(z, c)` it gives `A·z - c·t1·2^13`.
    wide: P::WideMatrix,
    tr: [u8; 64],
}

impl<P: Parameters> Expanded<P> {
    pub(super) fn empty() -> Self {
        Self { wide: P::WideMatrix::filled(ZERO), tr: [0; 64] }
    }

    pub(super) fn read(&mut self, plan: &Plan, pk: &[u8]) -> Result<()> {
        exactly("public key", pk, P::Pk::LEN)?;
        self.expand(plan, pk);
        Ok(())
    }

    /// # Bounds
    /// `pk` has the length of a public key.
    fn expand(&mut self, plan: &Plan, pk: &[u8]) {
        let (lanes, wide, whole) = (Lanes::of(plan.level()), self.wide.as_mut(), [pk]);
        let tr = core::slice::from_mut(&mut self.tr);
        matrix::<P>(lanes, &pk[..32], &[Job::shake256(&whole)], tr, |row, column, values| {
            plan.import(values, &mut wide[row * (P::L + 1) + column])
        });
        let mut values = [0; N];
        for (row, bytes) in pk[32..].chunks_exact(T1_LEN).enumerate() {
            read_t1_negated(lanes, bytes, &mut values);
            plan.forward(&values, &mut wide[row * (P::L + 1) + P::L]);
        }
    }

    fn mu(&self, input: Input) -> Result<[u8; 64]> {
        input.mu::<P>(&self.tr[..P::TR])
    }

    pub(super) fn verify(&self, plan: &Plan, input: Input, signature: &[u8]) -> Result<()> {
        let mu = self.mu(input)?;
        exactly("signature", signature, P::Sig::LEN)?;
        let lanes = Lanes::of(plan.level());
        let mut values = [0; N];
        let mut vector = P::WideColumns::filled(ZERO);
        let mut short = true;
        let hint = read_signature::<P>(lanes, signature, |i, z| {
            short &= all_below(lanes, z, P::GAMMA1 - P::BETA);
            plan.forward(z, &mut vector.as_mut()[i]);
        });
        let Some(hint) = hint.filter(|_| short) else { return Err(Error::InvalidSignature) };
        challenge::<P>(&signature[..P::CHALLENGE], &mut values);
        plan.forward(&values, &mut vector.as_mut()[P::L]);
        let mut products = P::Rows::filled(ZERO);
        plan.mat_vec(
            P::L + 1,
            self.wide.as_ref().as_flattened(),
            vector.as_ref().as_flattened(),
            products.as_mut().as_flattened_mut(),
        );
        let mut high = [0; MAX_ROWS * 192];
        let high = &mut high[..P::K * high_len::<P>()];
        for (i, product) in products.as_ref().iter().enumerate() {
            plan.inverse(product, &mut values);
            write_hinted::<P>(lanes, &hint[i], &mut values, &mut high[i * high_len::<P>()..][..high_len::<P>()]);
        }
        compare::<P>(&mu, high, signature)
    }
}

/// Reads a signature (`sigDecode`): the response's polynomials into `sink(i, z)`, then the hint.
pub(super) fn read_signature<P: Parameters>(
    lanes: Lanes,
    signature: &[u8],
    mut sink: impl FnMut(usize, &Coeffs),
) -> Option<Hint> {
    let mut values = [0; N];
    let (response, ones) = split_polys(&signature[P::CHALLENGE..], P::L, mask_len::<P>());
    for (i, bytes) in response.enumerate() {
        read_mask::<P>(lanes, bytes, &mut values);
        sink(i, &values);
    }
    let mut hint = [[false; N]; MAX_ROWS];
    read_hint::<P>(ones, |row, ones| ones.iter().for_each(|at| hint[row][*at as usize] = true))?;
    Some(hint)
}

/// `w1Encode(UseHint(h, r))` of one polynomial.
pub(super) fn write_hinted<P: Parameters>(lanes: Lanes, hint: &[bool; N], r: &mut Coeffs, out: &mut [u8]) {
    hinted::<P>(lanes, hint, r);
    write_high::<P>(lanes, r, out);
}

levels! {
    /// `UseHint` of a polynomial.
    fn hinted<P: Parameters>(hint: &[bool; N], r: &mut Coeffs) {
        for (hint, r) in hint.iter().zip(r.iter_mut()) {
            *r = if P::GAMMA2 == (Q - 1) / 88 {
                use_hint::<{ (Q - 1) / 88 }>(*hint, *r)
            } else {
                use_hint::<{ (Q - 1) / 32 }>(*hint, *r)
            };
        }
    }
}

/// Whether the challenge that the verifier computes is the signature's.
pub(super) fn compare<P: Parameters>(mu: &[u8; 64], high: &[u8], signature: &[u8]) -> Result<()> {
    let mut again = [0; 64];
    hash::shake256(&[mu, high], &mut again[..P::CHALLENGE]);
    if again[..P::CHALLENGE] == signature[..P::CHALLENGE] { Ok(()) } else { Err(Error::InvalidSignature) }
}

impl<P: Parameters> fmt::Debug for VerificationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerificationKey({})", P::NAME)
    }
}
