//! Making keys.

use zeroize::Zeroizing;

use super::{KeyPlan, KeySet, PublicKey, SecretKey, SwitchKey};
use crate::SecretVec;
use crate::arith::Word;
use crate::ckks::encoder::Integers;
use crate::ckks::params::SecretKind;
use crate::ckks::sample::{self, Expander, draw_seed};
use crate::ckks::{Ckks, Error, Result};
use crate::memcheck::{Leak, shown};
use crate::rns::{Assign, Combine, Domain, Limbs, RnsMul, Scalar, View, ViewMut};
use getrandom::SysRng;
use rand_core::TryCryptoRng;

/// Makes keys with a source of randomness.
///
/// ```
/// # use karat::ckks::{Ckks, KeyPlan, Literal, Prime};
/// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
/// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
/// let mut keygen = ckks.keygen();
/// let secret = keygen.secret_key()?;
/// let public = keygen.public_key(&secret)?;
/// let keys = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).relinearisation().rotations(&[1]))?;
/// assert!(keys.has_relinearisation());
/// # drop(public);
/// # Ok::<(), karat::ckks::Error>(())
/// ```
pub struct KeyGenerator<B: RnsMul<W>, W: Word, R> {
    context: Ckks<B, W>,
    random: R,
}

impl<B: RnsMul<W>, W: Word> Ckks<B, W> {
    /// A generator of keys with the operating system's randomness.
    pub fn keygen(&self) -> KeyGenerator<B, W, SysRng> {
        self.keygen_with(SysRng)
    }

    /// A generator of keys with any cryptographic source of randomness.
    pub fn keygen_with<R: TryCryptoRng>(&self, random: R) -> KeyGenerator<B, W, R> {
        KeyGenerator { context: self.clone(), random }
    }

    /// The secret key with these coefficients.
    pub(in crate::ckks) fn secret_from(&self, ternary: Zeroizing<Vec<i8>>) -> Result<SecretKey<B, W>> {
        let integers = Integers::from_values(ternary.iter().map(|x| i64::from(*x)), 1);
        let words = self.upload_integers(&[integers], self.full())?;
        Ok(SecretKey { context: self.clone(), ternary: SecretVec::from(ternary.to_vec()), words })
    }

    /// The uniform polynomial of a seed, on the backend in its order.
    pub(in crate::ckks) fn uniform(&self, seed: &[u8; 32], number: u64, limbs: Limbs) -> Result<Vec<W>> {
        let n = self.parameters.n();
        let q = self.parameters.q().len();
        let indices: Vec<usize> = (0..limbs.q).chain((0..limbs.p).map(|j| q + j)).collect();
        let canonical = sample::uniform::<W>(seed, number, &self.primes(limbs), &indices, n);
        let mut words = vec![W::ZERO; canonical.len()];
        self.to_backend_order(&canonical, &mut words, &indices);
        Ok(words)
    }

    /// Residues in the canonical order of the NTT domain to the backend's.
    pub(in crate::ckks) fn to_backend_order(&self, canonical: &[W], words: &mut [W], indices: &[usize]) {
        let n = self.parameters.n();
        for ((canonical, words), index) in canonical.chunks(n).zip(words.chunks_mut(n)).zip(indices) {
            for (value, place) in canonical.iter().zip(&self.orders[*index]) {
                words[*place as usize] = *value;
            }
        }
    }

    /// Writes `(-a·s + e, a)` to two polynomials of `target`, from polynomial `first` on, `a` the uniform polynomial of
    /// this number.
    pub(in crate::ckks) fn write_zero_encryption(
        &self,
        secret: &SecretKey<B, W>,
        seed: &[u8; 32],
        number: u64,
        error: &mut Expander,
        limbs: Limbs,
        mut target: ViewMut<'_, B::Buffer<W>>,
    ) -> Result<()> {
        let (backend, plan, count) = (&self.backend, &self.plan, limbs.count());
        let first = target.first;
        let mut a = self.pooled(count)?;
        backend.upload(&self.uniform(seed, number, limbs)?, a.buffer_mut())?;
        let e = self.upload_integers(&[sample::gaussian(error, self.parameters.n())], limbs)?;
        // The secret has all limbs: those of Q at a lower level lie at its start, and no caller leaves out some of Q
        // but takes some of P.
        let mut product = self.secret_memory(count)?;
        backend.rns_combine(
            plan,
            limbs,
            1,
            Combine::Mul,
            a.view(0, count),
            secret.view(),
            ViewMut::new(&mut product),
        )?;
        backend.rns_assign(plan, limbs, 1, Assign::SubFrom, View::new(&e), ViewMut::new(&mut product))?;
        backend.rns_copy(plan, limbs, 1, View::new(&product), target.reborrow().at(first))?;
        backend.rns_copy(plan, limbs, 1, a.view(0, count), target.at(first + count))?;
        Ok(())
    }
}

impl<B: RnsMul<W>, W: Word, R: TryCryptoRng> KeyGenerator<B, W, R> {
    /// A new secret key, of the distribution of the parameters.
    ///
    /// # Errors
    /// `Random`, or what the backend reports; so for all.
    pub fn secret_key(&mut self) -> Result<SecretKey<B, W>> {
        let seed = draw_seed(&mut self.random)?;
        let mut expander = Expander::new(&seed, 0);
        let n = self.context.parameters.n();
        let ternary = match self.context.parameters.secret() {
            SecretKind::Ternary => sample::ternary(&mut expander, n),
            SecretKind::Sparse { weight } => sample::sparse_ternary(&mut expander, n, weight as usize),
        };
        self.context.secret_from(ternary)
    }

    /// A public key for a secret.
    ///
    /// # Errors
    /// `Foreign`, and as above.
    pub fn public_key(&mut self, secret: &SecretKey<B, W>) -> Result<PublicKey<B, W>> {
        let context = &self.context;
        context.own("secret key", &secret.context)?;
        let limbs = context.limbs(context.parameters.max_level());
        let mut words = context.pooled(2 * limbs.count())?;
        let seed = shown(Leak::PolynomialSeed, *draw_seed(&mut self.random)?);
        let mut error = Expander::new(&*draw_seed(&mut self.random)?, 0);
        let target = words.view_mut(0, limbs.count());
        context.write_zero_encryption(secret, &seed, 0, &mut error, limbs, target)?;
        Ok(PublicKey { context: context.clone(), words, seed })
    }

    /// The keys of a plan.
    ///
    /// # Errors
    /// `Parameters` where there are no special primes, `Foreign`, `Argument` for an element that is no automorphism,
    /// and as above.
    pub fn keys(&mut self, secret: &SecretKey<B, W>, plan: &KeyPlan) -> Result<KeySet<B, W>> {
        self.context.own("secret key", &secret.context)?;
        let context = self.context.clone();
        let (backend, tables, full) = (&context.backend, &context.plan, context.full());
        let mut keys = KeySet::empty(&context);
        let mut from = context.secret_memory(full.count())?;
        if plan.has_relinearisation() {
            let s = secret.view();
            backend.rns_combine(tables, full, 1, Combine::Mul, s, s, ViewMut::new(&mut from))?;
            keys.relinearisation = Some(self.switch_key(secret, &from)?);
        }
        for element in plan.galois_elements() {
            if element % 2 == 0 || element as usize >= 2 * context.parameters.n() {
                return Err(Error::Argument(format!("x -> x^{element} is no automorphism of this ring")));
            }
            let out = ViewMut::new(&mut from);
            backend.rns_automorphism(tables, full, 1, element, Domain::Ntt, secret.view(), out)?;
            let key = self.switch_key(secret, &from)?;
            keys.galois.insert(element, key);
        }
        Ok(keys)
    }

    /// A key that switches from the secret `from` to `secret`.
    fn switch_key(&mut self, secret: &SecretKey<B, W>, from: &B::Buffer<W>) -> Result<SwitchKey<B, W>> {
        let context = &self.context;
        let parameters = &context.parameters;
        if parameters.p().is_empty() {
            return Err(Error::Parameters("there are no special primes to switch keys with: add some".into()));
        }
        let (full, digits) = (context.full(), parameters.digits());
        let count = full.count();
        let mut words = context.pooled(2 * digits * count)?;
        let seed = shown(Leak::PolynomialSeed, *draw_seed(&mut self.random)?);
        let errors = draw_seed(&mut self.random)?;
        let special = context.special_product();
        for digit in 0..digits {
            let mut error = Expander::new(&errors, digit as u64);
            let first = 2 * digit * count;
            let target = words.view_mut(first, count);
            context.write_zero_encryption(secret, &seed, digit as u64, &mut error, full, target)?;
            // P·g_j is P modulo the primes of the digit, and 0 modulo all others.
            let own = digit * parameters.alpha()..((digit + 1) * parameters.alpha()).min(special.len());
            let factor = |l: usize| if own.contains(&l) { W::from_u64(special[l]) } else { W::ZERO };
            let factors: Vec<W> = (0..count).map(factor).collect();
            let source = View::new(from).every(0);
            let target = words.view_mut(first, count);
            context.backend.rns_scalar(&context.plan, full, 1, Scalar::MulAdd, &factors, source, target)?;
        }
        Ok(SwitchKey { words, seed })
    }
}
