//! Keys that were read, checked and expanded.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, Zeroizing};

use super::noise::{self, MAX_K};
use super::pke::{decrypt, encrypt, halves, keygen, read_public, read_secret, write_secret};
use super::{Array, Encapsulation, Erased, N, Parameters, SharedSecret, hash, hash_of};
use crate::RingContext;
use crate::backend::Cpu;
use crate::backend::cpu::Plan;
use crate::memcheck::{Leak, show};
use crate::ring::presets::MlKem;
use crate::schemes::hash::{Job, Lanes};
use crate::schemes::{Error, Result, Wiped, exactly};

/// An encapsulation key that was checked, with its matrix. It belongs to the CPU level of the
/// [`Kem`](super::Kem) that read it.
///
/// ```
/// use karat::{Cpu, schemes::mlkem::MlKem512};
/// let kem = MlKem512::new(Cpu::new())?;
/// let (ek, _) = kem.keygen(&[1; 32], &[2; 32]);
/// let key = kem.encapsulation_key(&ek)?;
/// assert_eq!(key.encaps(&[3; 32]), kem.encaps(&ek, &[3; 32])?);
/// # Ok::<(), karat::schemes::Error>(())
/// ```
#[derive(Clone)]
pub struct EncapsulationKey<P: Parameters> {
    ring: RingContext<Cpu, MlKem>,
    public: Box<Public<P>>,
}

impl<P: Parameters> EncapsulationKey<P> {
    pub(super) fn new(ring: &RingContext<Cpu, MlKem>, ek: &[u8]) -> Result<Self> {
        let mut key = Self { ring: ring.clone(), public: Box::new(Public::empty()) };
        key.public.read(ring.plan(), ek)?;
        Ok(key)
    }

    /// Makes a ciphertext and a shared secret from the random `m`.
    pub fn encaps(&self, m: &[u8; 32]) -> Encapsulation<P> {
        self.public.encaps(self.ring.plan(), m)
    }

    /// The encoded key that it was read from.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mlkem::MlKem512};
    /// let kem = MlKem512::new(Cpu::new())?;
    /// let (ek, _) = kem.keygen(&[1; 32], &[2; 32]);
    /// assert_eq!(kem.encapsulation_key(&ek)?.to_bytes(), ek);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn to_bytes(&self) -> P::Ek {
        self.public.bytes.clone()
    }
}

/// Equality of the encoded keys: they are public.
impl<P: Parameters> PartialEq for EncapsulationKey<P> {
    fn eq(&self, other: &Self) -> bool {
        self.public.bytes.as_ref() == other.public.bytes.as_ref()
    }
}

impl<P: Parameters> Eq for EncapsulationKey<P> {}

/// The contents of an encapsulation key, with its matrix.
#[derive(Clone)]
pub(super) struct Public<P: Parameters> {
    /// The transposed matrix, then `t`.
    rows: P::Matrix,
    bytes: P::Ek,
    hash: [u8; 32],
}

impl<P: Parameters> Public<P> {
    pub(super) fn empty() -> Self {
        Self { rows: P::Matrix::filled([0; N / 4]), bytes: P::Ek::filled(0), hash: [0; 32] }
    }

    pub(super) fn read(&mut self, plan: &Plan, ek: &[u8]) -> Result<()> {
        self.read_beside(plan, ek, None)
    }

    /// As [`Public::read`], and computes a digest of 32 bytes beside.
    fn read_beside(&mut self, plan: &Plan, ek: &[u8], beside: Option<(Job, &mut [u8; 32])>) -> Result<()> {
        exactly("encapsulation key", ek, P::Ek::LEN)?;
        self.bytes.as_mut().copy_from_slice(ek);
        if self.expand(plan, beside) { Ok(()) } else { Err(Error::KeyNotReduced) }
    }

    /// Fills in what follows from the encoded key; says whether its coefficients are reduced.
    fn expand(&mut self, plan: &Plan, beside: Option<(Job, &mut [u8; 32])>) -> bool {
        let ek = self.bytes.as_ref();
        let (matrix, t) = self.rows.as_mut().split_at_mut(P::K * P::K);
        let lanes = Lanes::of(plan.level());
        let reduced = read_public::<P>(lanes, ek, |i, values| plan.import(values, &mut t[i]));
        if reduced {
            let (rho, whole) = (&ek[384 * P::K..], [ek]);
            let own = Job::sha3_256(&whole);
            let jobs = [own, beside.as_ref().map_or(own, |(job, _)| *job)];
            let count = 1 + beside.is_some() as usize;
            let mut digests = Wiped::new([[0; 32]; 2]);
            noise::matrix::<P>(lanes, rho, true, &jobs[..count], &mut digests[..count], |i, values| {
                plan.import(values, &mut matrix[i])
            });
            self.hash = digests[0];
            if let Some((_, digest)) = beside {
                *digest = digests[1];
            }
        }
        reduced
    }

    pub(super) fn encaps(&self, plan: &Plan, m: &[u8; 32]) -> Encapsulation<P> {
        let mut ciphertext = P::Ct::filled(0);
        let mut message = Wiped::new(*m);
        if P::ROUND3 {
            // Kyber does not use the random bytes as they are.
            hash::sha3_256(&[m], &mut message);
        }
        let mut derived = Wiped::new([0; 64]);
        hash::sha3_512(&[&message[..], &self.hash], &mut derived);
        let (secret, r) = halves(&derived);
        encrypt::<P>(plan, &self.rows, &message, r, ciphertext.as_mut());
        let secret = if P::ROUND3 { round3_secret(secret, ciphertext.as_ref()) } else { *secret };
        (ciphertext, secret)
    }
}

/// Kyber's last step: the secret depends on the whole ciphertext.
pub(super) fn round3_secret(pre_secret: &[u8; 32], ciphertext: &[u8]) -> SharedSecret {
    let mut secret = [0; 32];
    hash::shake256(&[pre_secret, &hash_of(ciphertext)], &mut secret);
    secret
}

/// The rejection value: `J` of the standard; Kyber takes `z` itself.
pub(super) fn rejection<P: Parameters>(z: &[u8; 32], ciphertext: &[u8]) -> Wiped<[u8; 32]> {
    let mut rejected = Wiped::new(*z);
    if !P::ROUND3 {
        hash::shake256(&[z, ciphertext], &mut rejected[..]);
    }
    rejected
}

/// The shared secret: that of the message where the ciphertext was made from it, else the rejection value. Constant
/// time.
pub(super) fn finish<P: Parameters>(
    derived: &[u8; 64],
    rejected: &[u8; 32],
    ciphertext: &[u8],
    again: &[u8],
) -> SharedSecret {
    let (secret, _) = halves(derived);
    // Word by word if the compiler likes: `ct_eq` of slices goes byte by byte.
    let difference = ciphertext.iter().zip(again).fold(0, |difference, (a, b)| difference | (a ^ b));
    let same = difference.ct_eq(&0) & Choice::from((ciphertext.len() == again.len()) as u8);
    let mut out = [0; 32];
    for (out, (rejected, secret)) in out.iter_mut().zip(rejected.iter().zip(secret)) {
        *out = u8::conditional_select(rejected, secret, same);
    }
    if P::ROUND3 { round3_secret(&Wiped::new(out), ciphertext) } else { out }
}

/// A decapsulation key that was checked, with its matrix; erased on drop. It belongs to the CPU level of the
/// [`Kem`](super::Kem) that read it.
///
/// ```
/// use karat::{Cpu, schemes::mlkem::MlKem512};
/// let kem = MlKem512::new(Cpu::new())?;
/// let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
/// let key = kem.decapsulation_key(&dk)?;
/// let (ciphertext, secret) = key.encapsulation_key().encaps(&[3; 32]);
/// assert_eq!(key.decaps(&ciphertext)?, secret);
/// assert_eq!(format!("{key:?}"), "DecapsulationKey(ML-KEM-512)");
/// # Ok::<(), karat::schemes::Error>(())
/// ```
#[derive(Clone)]
pub struct DecapsulationKey<P: Parameters> {
    public: EncapsulationKey<P>,
    /// On the heap: moves would leave copies of the secrets behind.
    private: Box<Private<P>>,
}

impl<P: Parameters> DecapsulationKey<P> {
    pub(super) fn new(ring: &RingContext<Cpu, MlKem>, dk: &[u8]) -> Result<Self> {
        let public = EncapsulationKey { ring: ring.clone(), public: Box::new(Public::empty()) };
        let mut key = Self { public, private: Box::new(Private::empty()) };
        key.private.read(ring.plan(), dk, &mut key.public.public)?;
        Ok(key)
    }

    pub(super) fn from_seed(ring: &RingContext<Cpu, MlKem>, d: &[u8; 32], z: &[u8; 32]) -> Self {
        let public = EncapsulationKey { ring: ring.clone(), public: Box::new(Public::empty()) };
        let mut key = Self { public, private: Box::new(Private::empty()) };
        let mut secret = Wiped::new([0; 384 * MAX_K]);
        let secret = &mut secret[..384 * P::K];
        keygen::<P>(ring.plan(), d, key.public.public.bytes.as_mut(), secret);
        show(Leak::PublicKey, key.public.public.bytes.as_mut());
        // Coefficients that key generation makes are reduced.
        let _ = key.public.public.expand(ring.plan(), None);
        key.private.fill(ring.plan(), secret, z);
        key.private.seed[..32].copy_from_slice(d);
        key.private.seeded = true;
        key
    }

    /// The seed `d ‖ z` that it was made from: the short form of FIPS 203 to store it in. It lies in the key and is
    /// erased with it. `None` where the key was read from its encoded form, which does not tell the seed.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mlkem::MlKem512};
    /// let kem = MlKem512::new(Cpu::new())?;
    /// let key = kem.key_from_seed(&[1; 32], &[2; 32]);
    /// assert_eq!(key.seed().map(|seed| seed.split_at(32)), Some((&[1; 32][..], &[2; 32][..])));
    /// assert_eq!(kem.decapsulation_key(&key.to_bytes())?.seed(), None);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn seed(&self) -> Option<&[u8; 64]> {
        self.private.seeded.then_some(&self.private.seed)
    }

    /// The encoded key, the long form of FIPS 203 to store it in; erased on drop.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mlkem::MlKem512};
    /// let kem = MlKem512::new(Cpu::new())?;
    /// let key = kem.key_from_seed(&[1; 32], &[2; 32]);
    /// assert_eq!(key.to_bytes()[..], kem.keygen(&[1; 32], &[2; 32]).1);
    /// let same = kem.decapsulation_key(&key.to_bytes())?;
    /// # let (ciphertext, secret) = key.encapsulation_key().encaps(&[3; 32]);
    /// # assert_eq!(same.decaps(&ciphertext)?, secret);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut out = Zeroizing::new(alloc::vec![0; P::Dk::LEN]);
        let (secret, rest) = out.split_at_mut(384 * P::K);
        let (public, rest) = rest.split_at_mut(P::Ek::LEN);
        let (hash, z) = rest.split_at_mut(32);
        write_secret::<P>(self.public.ring.plan(), &self.private.s, secret);
        public.copy_from_slice(self.public.public.bytes.as_ref());
        hash.copy_from_slice(&self.public.public.hash);
        z.copy_from_slice(self.private.z());
        out
    }

    /// The encapsulation key inside.
    pub fn encapsulation_key(&self) -> &EncapsulationKey<P> {
        &self.public
    }

    /// Recovers the shared secret; see [`Kem::decaps`](super::Kem::decaps).
    ///
    /// # Errors
    /// `WrongLength`, and nothing else.
    pub fn decaps(&self, ciphertext: &[u8]) -> Result<SharedSecret> {
        self.private.decaps(self.public.ring.plan(), &self.public.public, ciphertext)
    }
}

/// The secrets of a decapsulation key.
#[derive(Clone)]
pub(super) struct Private<P: Parameters> {
    s: P::Vector,
    /// `d ‖ z`.
    seed: [u8; 64],
    /// Whether `d` is known.
    seeded: bool,
}

impl<P: Parameters> Private<P> {
    fn empty() -> Self {
        Self { s: P::Vector::filled([0; N / 4]), seed: [0; 64], seeded: false }
    }

    fn z(&self) -> &[u8; 32] {
        let (_, z) = halves(&self.seed);
        z
    }

    /// Reads a decapsulation key, and the encapsulation key inside it.
    fn read(&mut self, plan: &Plan, dk: &[u8], inside: &mut Public<P>) -> Result<()> {
        self.read_beside(plan, dk, inside, None)
    }

    /// As [`Private::read`], and computes the rejection value of a ciphertext beside.
    fn read_beside(
        &mut self,
        plan: &Plan,
        dk: &[u8],
        inside: &mut Public<P>,
        beside: Option<(&[u8], &mut [u8; 32])>,
    ) -> Result<()> {
        exactly("decapsulation key", dk, P::Dk::LEN)?;
        let (secret, rest) = dk.split_at(384 * P::K);
        let (public, rest) = rest.split_at(P::Ek::LEN);
        let (hash, z) = rest.split_at(32);
        let parts = [z, beside.as_ref().map_or(&[][..], |(ciphertext, _)| ciphertext)];
        inside.read_beside(plan, public, beside.map(|(_, rejected)| (Job::shake256(&parts), rejected)))?;
        if inside.hash[..] != *hash {
            return Err(Error::KeyHashMismatch);
        }
        self.fill(plan, secret, z);
        Ok(())
    }

    fn fill(&mut self, plan: &Plan, secret: &[u8], z: &[u8]) {
        read_secret::<P>(Lanes::of(plan.level()), secret, |i, values| plan.import(values, &mut self.s.as_mut()[i]));
        self.seed[32..].copy_from_slice(z);
    }

    fn decaps(&self, plan: &Plan, public: &Public<P>, ciphertext: &[u8]) -> Result<SharedSecret> {
        exactly("ciphertext", ciphertext, P::Ct::LEN)?;
        Ok(self.decaps_or(plan, public, ciphertext, &rejection::<P>(self.z(), ciphertext)))
    }

    /// The secret of the message, or the rejection value.
    fn decaps_or(&self, plan: &Plan, public: &Public<P>, ciphertext: &[u8], rejected: &[u8; 32]) -> SharedSecret {
        let mut message = Wiped::new([0; 32]);
        decrypt::<P>(plan, &self.s, ciphertext, &mut message);
        let mut derived = Wiped::new([0; 64]);
        hash::sha3_512(&[&message[..], &public.hash], &mut derived);
        let (_, r) = halves(&derived);
        let mut again = Erased::<P::Ct, _>::filled(0);
        encrypt::<P>(plan, &public.rows, &message, r, again.as_mut());
        finish::<P>(&derived, rejected, ciphertext, again.as_ref())
    }
}

/// [`Kem::decaps`](super::Kem::decaps): the rejection value is hashed beside the key and its matrix.
pub(super) fn decaps_once<P: Parameters>(plan: &Plan, dk: &[u8], ciphertext: &[u8]) -> Result<SharedSecret> {
    let (mut public, mut private) = (Public::<P>::empty(), Private::<P>::empty());
    if P::ROUND3 {
        private.read(plan, dk, &mut public)?;
        return private.decaps(plan, &public, ciphertext);
    }
    let mut rejected = Wiped::new([0; 32]);
    private.read_beside(plan, dk, &mut public, Some((ciphertext, &mut rejected)))?;
    exactly("ciphertext", ciphertext, P::Ct::LEN)?;
    Ok(private.decaps_or(plan, &public, ciphertext, &rejected))
}

impl<P: Parameters> Drop for Private<P> {
    fn drop(&mut self) {
        self.s.erase();
        self.seed.zeroize();
        self.seeded.zeroize();
    }
}

impl<P: Parameters> fmt::Debug for EncapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncapsulationKey({})", P::NAME)
    }
}

impl<P: Parameters> fmt::Debug for DecapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DecapsulationKey({})", P::NAME)
    }
}
