//! Encryption and decryption.

use getrandom::SysRng;
use rand_core::TryCryptoRng;

use super::encoder::Integers;
use super::keys::{PublicKey, SecretKey};
use super::sample::{self, Expander, draw_seed};
use super::{Ciphertext, Ckks, Plaintext, Result};
use crate::arith::Word;
use crate::memcheck::{Leak, shown};
use crate::rns::{Assign, Combine, RnsMul, View, ViewMut};

impl<B: RnsMul<W>, W: Word> Ckks<B, W> {
    /// Encrypts with a public key, at the plaintext's level, with the operating system's randomness.
    ///
    /// # Errors
    /// `Foreign`, `Random`, or what the backend reports; so for all of encryption.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let public = keygen.public_key(&secret)?;
    /// let ciphertext = ckks.encrypt(&ckks.encode_real(&[3.5, -1.0])?, &public)?;
    /// let values = ckks.decode_real(&ckks.decrypt(&ciphertext, &secret)?)?;
    /// assert!((values[0] - 3.5).abs() < 1e-6 && (values[1] + 1.0).abs() < 1e-6);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn encrypt(&self, plaintext: &Plaintext<B, W>, key: &PublicKey<B, W>) -> Result<Ciphertext<B, W>> {
        self.encrypt_with(plaintext, key, &mut SysRng)
    }

    /// As [`Ckks::encrypt`], with another source of randomness.
    pub fn encrypt_with(
        &self,
        plaintext: &Plaintext<B, W>,
        key: &PublicKey<B, W>,
        random: &mut impl TryCryptoRng,
    ) -> Result<Ciphertext<B, W>> {
        self.own("plaintext", &plaintext.context)?;
        self.own("public key", &key.context)?;
        let (backend, plan, n) = (&self.backend, &self.plan, self.parameters.n());
        let limbs = self.limbs(plaintext.level);
        let seed = draw_seed(random)?;
        let u = sample::ternary(&mut Expander::new(&seed, 0), n);
        let u = self.upload_integers(&[Integers::from_values(u.iter().map(|x| i64::from(*x)), 1)], limbs)?;
        let errors = [1, 2].map(|stream| sample::gaussian(&mut Expander::new(&seed, stream), n));
        let errors = self.upload_integers(&errors, limbs)?;
        let mut out = Ciphertext::new(self, 2, plaintext.level, plaintext.scale.clone(), plaintext.slots)?;
        let top = self.limbs(self.parameters.max_level()).count();
        let key = key.words.view(0, top);
        backend.rns_combine(plan, limbs, 2, Combine::Mul, key, View::new(&u).every(0), out.view_mut(0))?;
        backend.rns_assign(plan, limbs, 2, Assign::Add, View::new(&errors), out.view_mut(0))?;
        backend.rns_assign(plan, limbs, 1, Assign::Add, plaintext.view(), out.view_mut(0))?;
        Ok(out)
    }

    /// Encrypts with the secret key: less noise, and half the size when it is written, because the second part comes
    /// from a seed.
    ///
    /// # Errors
    /// As [`Ckks::encrypt`].
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let secret = ckks.keygen().secret_key()?;
    /// let seeded = ckks.encrypt_secret(&ckks.encode_real(&[1.0])?, &secret)?;
    /// let mut full = seeded.copy()?;
    /// full.forget_seed();
    /// assert!(2 * seeded.to_bytes()?.len() < full.to_bytes()?.len() + 1000);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn encrypt_secret(&self, plaintext: &Plaintext<B, W>, key: &SecretKey<B, W>) -> Result<Ciphertext<B, W>> {
        self.encrypt_secret_with(plaintext, key, &mut SysRng)
    }

    /// As [`Ckks::encrypt_secret`], with another source of randomness.
    pub fn encrypt_secret_with(
        &self,
        plaintext: &Plaintext<B, W>,
        key: &SecretKey<B, W>,
        random: &mut impl TryCryptoRng,
    ) -> Result<Ciphertext<B, W>> {
        self.own("plaintext", &plaintext.context)?;
        self.own("secret key", &key.context)?;
        let limbs = self.limbs(plaintext.level);
        let seed = shown(Leak::PolynomialSeed, *draw_seed(random)?);
        let mut error = Expander::new(&*draw_seed(random)?, 0);
        let mut out = Ciphertext::new(self, 2, plaintext.level, plaintext.scale.clone(), plaintext.slots)?;
        self.write_zero_encryption(key, &seed, 0, &mut error, limbs, out.view_mut(0))?;
        self.backend.rns_assign(&self.plan, limbs, 1, Assign::Add, plaintext.view(), out.view_mut(0))?;
        out.seed = Some(seed);
        Ok(out)
    }

    /// Decrypts a ciphertext of two or three parts.
    ///
    /// # Errors
    /// `Foreign`, or what the backend reports.
    pub fn decrypt(&self, ciphertext: &Ciphertext<B, W>, key: &SecretKey<B, W>) -> Result<Plaintext<B, W>> {
        self.own("ciphertext", &ciphertext.context)?;
        self.own("secret key", &key.context)?;
        let (backend, plan) = (&self.backend, &self.plan);
        let limbs = self.limbs(ciphertext.level);
        // Horner's rule in s, from the last part.
        let mut words = self.secret_memory(limbs.count())?;
        let mut product = self.secret_memory(limbs.count())?;
        let last = ciphertext.parts - 1;
        backend.rns_combine(
            plan,
            limbs,
            1,
            Combine::Mul,
            ciphertext.view(last),
            key.view(),
            ViewMut::new(&mut product),
        )?;
        for part in (0..last).rev() {
            let sum = ViewMut::new(&mut words);
            backend.rns_combine(plan, limbs, 1, Combine::Add, ciphertext.view(part), View::new(&product), sum)?;
            if part > 0 {
                let out = ViewMut::new(&mut product);
                backend.rns_combine(plan, limbs, 1, Combine::Mul, View::new(&words), key.view(), out)?;
            }
        }
        let Ciphertext { level, scale, slots, .. } = ciphertext;
        Ok(Plaintext { context: self.clone(), words, level: *level, scale: scale.clone(), slots: *slots })
    }
}

impl<B: RnsMul<W>, W: Word> Ciphertext<B, W> {
    /// Forgets the seed of the second part: what is written holds both parts.
    pub fn forget_seed(&mut self) {
        self.seed = None;
    }
}
