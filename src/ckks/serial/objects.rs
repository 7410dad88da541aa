//! Everything that belongs to a context as bytes.

use zeroize::Zeroizing;

use super::{Kind, Reader, Writer, head, open, pack, packed_len, unpack};
use crate::arith::Word;
use crate::ckks::keys::{KeySet, PublicKey, SecretKey, SwitchKey};
use crate::ckks::params::SecretKind;
use crate::ckks::{Ciphertext, Ckks, Plaintext, Result, Scale};
use crate::memcheck::{Leak, shown};
use crate::rns::{Limbs, RnsMul, View, ViewMut};

/// Ciphertext flags: the second part is a seed.
const SEEDED: u8 = 1;

impl<B: RnsMul<W>, W: Word> Ckks<B, W> {
    /// Bytes of one polynomial.
    fn polynomial_len(&self, limbs: Limbs) -> usize {
        self.primes(limbs).iter().map(|prime| packed_len(*prime, self.parameters.n())).sum()
    }

    /// Places of limbs among all primes.
    fn indices(&self, limbs: Limbs) -> impl Iterator<Item = usize> {
        let q = self.parameters.q().len();
        (0..limbs.q).chain((0..limbs.p).map(move |j| q + j))
    }

    /// Writes one polynomial of a view.
    fn write_polynomial(&self, writer: &mut Writer, limbs: Limbs, source: View<'_, B::Buffer<W>>) -> Result<()> {
        let n = self.parameters.n();
        let mut copy = self.secret_memory(limbs.count())?;
        self.backend.rns_copy(&self.plan, limbs, 1, source, ViewMut::new(&mut copy))?;
        let mut words = Zeroizing::new(vec![W::ZERO; limbs.count() * n]);
        self.backend.download(&copy, &mut words)?;
        writer.reserve(self.polynomial_len(limbs));
        for ((prime, index), words) in self.primes(limbs).iter().zip(self.indices(limbs)).zip(words.chunks(n)) {
            pack(*prime, words, &self.orders[index], writer.zeros(packed_len(*prime, n)));
        }
        Ok(())
    }

    /// Reads one polynomial, in the backend's order.
    fn read_polynomial(&self, reader: &mut Reader<'_>, limbs: Limbs) -> Result<Zeroizing<Vec<W>>> {
        let bytes = reader.bytes(self.polynomial_len(limbs))?;
        let orders: Vec<&[u32]> = self.indices(limbs).map(|index| &self.orders[index][..]).collect();
        let words = unpack(&self.primes(limbs), bytes, self.parameters.n(), &orders);
        Ok(Zeroizing::new(words.ok_or_else(|| reader.wrong("a residue is not below its prime"))?))
    }

    fn write_scale(&self, writer: &mut Writer, scale: &Scale) {
        let (two, exponents) = scale.exponents();
        writer.signed(two);
        exponents.iter().for_each(|exponent| writer.signed(*exponent));
    }

    fn read_scale(&self, reader: &mut Reader<'_>, level: usize) -> Result<Scale> {
        let two = reader.signed()?;
        let exponents = (0..self.parameters.q().len()).map(|_| reader.signed()).collect::<Result<_>>()?;
        let scale = self.parameters.scale_of(two, exponents);
        let scale =
            scale.filter(|scale| scale.log2().is_finite()).ok_or_else(|| reader.wrong("an impossible scale"))?;
        self.check_scale("reading", Some(scale), level)
    }

    /// Level and number of slots.
    fn read_shape(&self, reader: &mut Reader<'_>) -> Result<(usize, usize)> {
        let level = reader.within("a level", 0..=self.parameters.max_level() as u64)?;
        let log = reader.within("a packing", 0..=u64::from(self.parameters.log_n()) - 1)?;
        Ok((level, 1 << log))
    }

    /// Reads a plaintext.
    ///
    /// # Errors
    /// `Format`; so for all objects.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let bytes = ckks.encode_real(&[1.5])?.to_bytes()?;
    /// assert!((ckks.decode_real(&ckks.plaintext_from_bytes(&bytes)?)?[0] - 1.5).abs() < 1e-9);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn plaintext_from_bytes(&self, bytes: &[u8]) -> Result<Plaintext<B, W>> {
        let mut reader = open(bytes, Kind::Plaintext, self.parameters.fingerprint())?;
        let (level, slots) = self.read_shape(&mut reader)?;
        let scale = self.read_scale(&mut reader, level)?;
        let limbs = self.limbs(level);
        reader.expect(Some(self.polynomial_len(limbs)))?;
        let words = self.read_polynomial(&mut reader, limbs)?;
        let mut buffer = self.secret_memory(limbs.count())?;
        self.backend.upload(&words, &mut buffer)?;
        Ok(Plaintext { context: self.clone(), words: buffer, level, scale, slots })
    }

    /// Reads a ciphertext.
    ///
    /// # Errors
    /// `Format`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let secret = ckks.keygen().secret_key()?;
    /// let bytes = ckks.encrypt_secret(&ckks.encode_real(&[1.5])?, &secret)?.to_bytes()?;
    /// let ciphertext = ckks.ciphertext_from_bytes(&bytes)?;
    /// assert_eq!(ciphertext.to_bytes()?, bytes);
    /// assert!(ckks.ciphertext_from_bytes(&bytes[1..]).is_err());
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn ciphertext_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertext<B, W>> {
        let mut reader = open(bytes, Kind::Ciphertext, self.parameters.fingerprint())?;
        let parts = reader.within("a number of parts", 2..=3)?;
        let (level, slots) = self.read_shape(&mut reader)?;
        let scale = self.read_scale(&mut reader, level)?;
        let limbs = self.limbs(level);
        let seeded = match (reader.byte()?, parts) {
            (0, _) => false,
            (SEEDED, 2) => true,
            _ => return Err(reader.wrong("unknown flags")),
        };
        let len = self.polynomial_len(limbs).checked_mul(if seeded { 1 } else { parts });
        reader.expect(len.and_then(|len| len.checked_add(if seeded { 32 } else { 0 })))?;
        let seed = if seeded { Some(reader.array()?) } else { None };
        let mut words = Vec::new();
        for _ in 0..if seeded { 1 } else { parts } {
            words.extend_from_slice(&self.read_polynomial(&mut reader, limbs)?);
        }
        if let Some(seed) = &seed {
            words.extend(self.uniform(seed, 0, limbs)?);
        }
        let mut out = Ciphertext::new(self, parts, level, scale, slots)?;
        self.backend.upload(&words, out.words.buffer_mut())?;
        out.seed = seed;
        Ok(out)
    }

    /// Reads a secret key.
    ///
    /// # Errors
    /// `Format`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let bytes = ckks.keygen().secret_key()?.to_bytes();
    /// assert_eq!(ckks.secret_key_from_bytes(&bytes)?.to_bytes(), bytes);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey<B, W>> {
        let mut reader = open(bytes, Kind::SecretKey, self.parameters.fingerprint())?;
        let n = self.parameters.n();
        reader.expect(Some(n / 4))?;
        let packed = reader.bytes(n / 4)?;
        // 0, 1, 2 for 0, 1, -1; whether all are is gathered without a branch on one.
        let bits = |i: usize| packed[i / 4] >> (2 * (i % 4)) & 3;
        let (mut fault, mut weight) = (0, 0u32);
        let mut ternary = Zeroizing::new(vec![0i8; n]);
        for (i, value) in ternary.iter_mut().enumerate() {
            let (low, high) = (bits(i) & 1, bits(i) >> 1);
            fault |= low & high;
            weight += u32::from(low | high);
            *value = low as i8 - high as i8;
        }
        let expected = match self.parameters.secret() {
            SecretKind::Ternary => weight,
            SecretKind::Sparse { weight } => weight,
        };
        if shown(Leak::KeyRange, (fault != 0) | (weight != expected)) {
            return Err(reader.wrong("its coefficients are not those of such a key"));
        }
        self.secret_from(ternary)
    }

    /// Reads a public key.
    ///
    /// # Errors
    /// `Format`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let bytes = keygen.public_key(&secret)?.to_bytes()?;
    /// assert_eq!(ckks.public_key_from_bytes(&bytes)?.to_bytes()?, bytes);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<PublicKey<B, W>> {
        let mut reader = open(bytes, Kind::PublicKey, self.parameters.fingerprint())?;
        let limbs = self.limbs(self.parameters.max_level());
        reader.expect(self.polynomial_len(limbs).checked_add(32))?;
        let seed = reader.array()?;
        let mut all = self.read_polynomial(&mut reader, limbs)?.to_vec();
        all.extend(self.uniform(&seed, 0, limbs)?);
        let mut words = self.pooled(2 * limbs.count())?;
        self.backend.upload(&all, words.buffer_mut())?;
        Ok(PublicKey { context: self.clone(), words, seed })
    }

    /// Bytes of one switching key.
    fn switch_key_len(&self) -> usize {
        32 + self.parameters.digits() * self.polynomial_len(self.full())
    }

    fn write_switch_key(&self, writer: &mut Writer, key: &SwitchKey<B, W>) -> Result<()> {
        let full = self.full();
        writer.bytes(&key.seed);
        for digit in 0..self.parameters.digits() {
            self.write_polynomial(writer, full, key.words.view(2 * digit * full.count(), full.count()))?;
        }
        Ok(())
    }

    fn read_switch_key(&self, reader: &mut Reader<'_>) -> Result<SwitchKey<B, W>> {
        let full = self.full();
        let seed = reader.array()?;
        let mut all = Vec::new();
        for digit in 0..self.parameters.digits() {
            all.extend_from_slice(&self.read_polynomial(reader, full)?);
            all.extend(self.uniform(&seed, digit as u64, full)?);
        }
        let mut words = self.pooled(2 * self.parameters.digits() * full.count())?;
        self.backend.upload(&all, words.buffer_mut())?;
        Ok(SwitchKey { words, seed })
    }

    /// Reads a key set.
    ///
    /// # Errors
    /// `Format`.
    ///
    /// ```
    /// # use karat::ckks::{Ckks, KeyPlan, Literal, Prime};
    /// # let parameters = Literal::preset(Prime::Bits60, 1)?.validate()?;
    /// # let ckks = Ckks::<_, u64>::new(karat::Cpu::new(), parameters)?;
    /// let mut keygen = ckks.keygen();
    /// let secret = keygen.secret_key()?;
    /// let bytes = keygen.keys(&secret, &KeyPlan::new(ckks.parameters()).rotations(&[1]))?.to_bytes()?;
    /// assert_eq!(ckks.key_set_from_bytes(&bytes)?.to_bytes()?, bytes);
    /// # Ok::<(), karat::ckks::Error>(())
    /// ```
    pub fn key_set_from_bytes(&self, bytes: &[u8]) -> Result<KeySet<B, W>> {
        let mut reader = open(bytes, Kind::KeySet, self.parameters.fingerprint())?;
        let relinearisation = reader.within("a number of relinearisation keys", 0..=1)?;
        let count = reader.within("a number of Galois keys", 0..=self.parameters.n() as u64)?;
        let mut elements: Vec<u32> = Vec::with_capacity(count.min(reader.left() / 4));
        for _ in 0..count {
            let element = u32::from_le_bytes(reader.array()?);
            let sorted = elements.last().is_none_or(|last| *last < element);
            if !sorted || element % 2 == 0 || element as usize >= 2 * self.parameters.n() {
                return Err(reader.wrong(format!("Galois element {element} is out of order or none of this ring")));
            }
            elements.push(element);
        }
        reader.expect(self.switch_key_len().checked_mul(relinearisation + count))?;
        let mut keys = KeySet::empty(self);
        if relinearisation == 1 {
            keys.relinearisation = Some(self.read_switch_key(&mut reader)?);
        }
        for element in elements {
            keys.galois.insert(element, self.read_switch_key(&mut reader)?);
        }
        Ok(keys)
    }
}

impl<B: RnsMul<W>, W: Word> Plaintext<B, W> {
    /// The plaintext as bytes.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let context = &self.context;
        let mut writer = Writer::default();
        head(&mut writer, Kind::Plaintext, context.parameters.fingerprint());
        writer.number(self.level as u64);
        writer.number(u64::from(self.slots.trailing_zeros()));
        context.write_scale(&mut writer, &self.scale);
        context.write_polynomial(&mut writer, context.limbs(self.level), self.view())?;
        Ok(writer.finish())
    }
}

impl<B: RnsMul<W>, W: Word> Ciphertext<B, W> {
    /// The ciphertext as bytes; without the second part where that comes from a seed.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let context = &self.context;
        let mut writer = Writer::default();
        head(&mut writer, Kind::Ciphertext, context.parameters.fingerprint());
        writer.number(self.parts as u64);
        writer.number(self.level as u64);
        writer.number(u64::from(self.slots.trailing_zeros()));
        context.write_scale(&mut writer, &self.scale);
        writer.bytes(&[if self.seed.is_some() { SEEDED } else { 0 }]);
        writer.bytes(self.seed.as_ref().map_or(&[][..], |seed| &seed[..]));
        for part in 0..if self.seed.is_some() { 1 } else { self.parts } {
            context.write_polynomial(&mut writer, context.limbs(self.level), self.view(part))?;
        }
        Ok(writer.finish())
    }
}

impl<B: RnsMul<W>, W: Word> SecretKey<B, W> {
    /// The key as bytes, two bits a coefficient, erased when dropped.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut writer = Writer::default();
        head(&mut writer, Kind::SecretKey, self.context.parameters.fingerprint());
        let ternary = self.ternary.expose("the key is written at its owner's wish");
        let packed = writer.zeros(ternary.len() / 4);
        for (i, value) in ternary.iter().enumerate() {
            // 1 for 1 and 2 for -1: the sign moves the bit.
            let (low, sign) = (*value as u8 & 1, *value as u8 >> 7);
            packed[i / 4] |= low << sign << (2 * (i % 4));
        }
        Zeroizing::new(writer.finish())
    }
}

impl<B: RnsMul<W>, W: Word> PublicKey<B, W> {
    /// The key as bytes: its seed and its first half.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let context = &self.context;
        let limbs = context.limbs(context.parameters.max_level());
        let mut writer = Writer::default();
        head(&mut writer, Kind::PublicKey, context.parameters.fingerprint());
        writer.bytes(&self.seed);
        context.write_polynomial(&mut writer, limbs, self.words.view(0, limbs.count()))?;
        Ok(writer.finish())
    }
}

impl<B: RnsMul<W>, W: Word> KeySet<B, W> {
    /// All keys as bytes: their seeds and their first halves.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let context = &self.context;
        let mut writer = Writer::default();
        head(&mut writer, Kind::KeySet, context.parameters.fingerprint());
        writer.number(u64::from(self.relinearisation.is_some()));
        writer.number(self.galois.len() as u64);
        self.galois.keys().for_each(|element| writer.bytes(&element.to_le_bytes()));
        for key in self.relinearisation.iter().chain(self.galois.values()) {
            context.write_switch_key(&mut writer, key)?;
        }
        Ok(writer.finish())
    }
}
