//! Many keys or messages at once, on any backend.
//!
//! Seeds are expanded and bytes are packed on the host; every transform and product is a batch on the backend.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::key::{finish, rejection, round3_secret};
use super::noise::{matrix, noise};
use super::pke::{
    add_assign, encode, halves, key_seeds, randomness, read_message, read_public, read_row, read_secret, write_row,
};
use super::{Array, Coeffs, Kem, N, Parameters, Q, SharedSecret, hash, hash_of};
use crate::backend::{Matrix, RingMul};
use crate::context::{Ntt, Public, Secret};
use crate::ring::presets::MlKem;
use crate::schemes::hash::{Job, Lanes};
use crate::schemes::{Error, Result, Wiped, each_chunk, exactly, same_len};
use crate::{PolyBatch, SecretVec};

/// A ciphertext and its shared secret.
pub type Encapsulation<P> = (<P as Parameters>::Ct, SharedSecret);

/// Coefficients that may be secret.
type Erased = Zeroizing<Vec<u16>>;

fn zeros(polynomials: usize) -> Vec<u16> {
    alloc::vec![0; polynomials * N]
}

fn polynomial(coefficients: &mut [u16], i: usize) -> &mut [u16] {
    &mut coefficients[i * N..][..N]
}

/// Host copies of coefficients, polynomial by polynomial.
fn polynomials(coefficients: &SecretVec<u16>) -> impl Iterator<Item = &Coeffs> {
    coefficients.expose("the host packs what the backend computed").as_chunks().0.iter()
}

impl<P: Parameters, B: RingMul<MlKem>> Kem<P, B> {
    /// Makes key pairs from seeds `d ‖ z`; each is what [`Kem::keygen`] makes.
    ///
    /// # Errors
    /// What the backend reports.
    ///
    /// ```
    /// use karat::{Cpu, Reference, schemes::mlkem::MlKem512};
    /// let keys = MlKem512::new(Reference)?.keygen_batch(&[[7; 64], [8; 64]])?;
    /// assert_eq!(keys[0], MlKem512::new(Cpu::new())?.keygen(&[7; 32], &[7; 32]));
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn keygen_batch(&self, seeds: &[[u8; 64]]) -> Result<Vec<(P::Ek, P::Dk)>> {
        each_chunk(seeds.len(), |range| self.keygen_chunk(&seeds[range]))
    }

    fn keygen_chunk(&self, seeds: &[[u8; 64]]) -> Result<Vec<(P::Ek, P::Dk)>> {
        let (k, batch, lanes) = (P::K, seeds.len(), Lanes::beside(self.ring.backend()));
        let mut a = zeros(batch * k * k);
        let (mut s, mut e) = (Erased::new(zeros(batch * k)), Erased::new(zeros(batch * k)));
        let mut rhos = Vec::with_capacity(batch);
        for (item, seed) in seeds.iter().enumerate() {
            let seeds = key_seeds::<P>(halves(seed).0);
            let (rho, sigma) = halves(&seeds);
            rhos.push(*rho);
            matrix::<P>(lanes, rho, false, &[], &mut [], |i, values| {
                polynomial(&mut a, item * k * k + i).copy_from_slice(values)
            });
            noise(
                lanes,
                sigma,
                2 * k,
                |_| P::ETA1,
                |i, coefficients| {
                    let into = if i < k { &mut s } else { &mut e };
                    polynomial(into, item * P::K + i % P::K).copy_from_slice(coefficients);
                },
            );
        }
        let ring = &self.ring;
        let a = ring.import_ntt(&ring.upload(&a)?)?;
        let s = ring.ntt(&ring.upload_secret(&s)?)?;
        let e = ring.export_ntt(&ring.ntt(&ring.upload_secret(&e)?)?)?.download_secret()?;
        let t = ring.mat_vec(Matrix { batch, rows: k, columns: k, shared: false }, &a, &s)?;
        let t = ring.export_ntt(&t)?.download_secret()?;
        let s = ring.export_ntt(&s)?.download_secret()?;

        let (mut t, mut e, mut s) = (polynomials(&t), polynomials(&e), polynomials(&s));
        let mut out = Vec::with_capacity(batch);
        for (seed, rho) in seeds.iter().zip(&rhos) {
            let mut ek = P::Ek::filled(0);
            let mut dk = P::Dk::filled(0);
            let secret_bytes = dk.as_mut().chunks_exact_mut(384);
            let rows = ek.as_mut().chunks_exact_mut(384).zip(secret_bytes).take(k);
            for ((ek, dk), ((t, e), s)) in rows.zip(t.by_ref().zip(e.by_ref()).zip(s.by_ref())) {
                let mut sum = Wiped::new([0; N]);
                sum.copy_from_slice(t);
                add_assign(lanes, &mut sum, e);
                encode(lanes, &sum, ek);
                encode(lanes, s, dk);
            }
            ek.as_mut()[384 * k..].copy_from_slice(rho);
            let rest = &mut dk.as_mut()[384 * k..];
            rest[..P::Ek::LEN].copy_from_slice(ek.as_ref());
            rest[P::Ek::LEN..][..32].copy_from_slice(&hash_of(ek.as_ref()));
            rest[P::Ek::LEN + 32..].copy_from_slice(halves(seed).1);
            out.push((ek, dk));
        }
        Ok(out)
    }

    /// Makes a ciphertext and a shared secret for each encapsulation key and random `m`; each is what [`Kem::encaps`]
    /// makes. A key that is refused spoils its own result only.
    ///
    /// # Errors
    /// `WrongBatch` unless there are as many keys as messages; what the backend reports.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mlkem::MlKem512};
    /// let kem = MlKem512::new(Cpu::new())?;
    /// let (ek, _) = kem.keygen(&[1; 32], &[2; 32]);
    /// let results = kem.encaps_batch(&[&ek[..], &ek[1..]], &[[3; 32], [4; 32]])?;
    /// assert_eq!(results[0], kem.encaps(&ek, &[3; 32]));
    /// assert!(results[1].is_err());
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn encaps_batch<K: AsRef<[u8]>>(&self, eks: &[K], ms: &[[u8; 32]]) -> Result<Vec<Result<Encapsulation<P>>>> {
        same_len("encapsulation keys", eks.len(), ms.len())?;
        each_chunk(ms.len(), |range| self.encaps_chunk(&eks[range.clone()], &ms[range]))
    }

    fn encaps_chunk<K: AsRef<[u8]>>(&self, eks: &[K], ms: &[[u8; 32]]) -> Result<Vec<Result<Encapsulation<P>>>> {
        let mut keys = Keys::new::<P>(Lanes::beside(self.ring.backend()), ms.len());
        let mut messages = Zeroizing::new(Vec::from(ms));
        let mut derived = Zeroizing::new(alloc::vec![[0; 64]; ms.len()]);
        for (i, (ek, message)) in eks.iter().zip(messages.iter_mut()).enumerate() {
            keys.read::<P>(i, ek.as_ref());
            if P::ROUND3 {
                hash::sha3_256(&[&ms[i]], message);
            }
            hash::sha3_512(&[&message[..], &keys.hashes[i]], &mut derived[i]);
        }
        let ciphertexts = self.encrypt(&keys, &messages, &derived)?;
        let results = ciphertexts.into_iter().zip(keys.states).zip(derived.iter());
        let results = results.map(|((ciphertext, state), derived)| {
            state?;
            let (secret, _) = halves(derived);
            let secret = if P::ROUND3 { round3_secret(secret, ciphertext.as_ref()) } else { *secret };
            Ok((ciphertext, secret))
        });
        Ok(results.collect())
    }

    /// Recovers the shared secret of each decapsulation key and ciphertext; each is what [`Kem::decaps`] recovers. A
    /// key that is refused, or a ciphertext of the wrong length, spoils its own result only.
    ///
    /// # Errors
    /// `WrongBatch` unless there are as many keys as ciphertexts; what the backend reports.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mlkem::MlKem512};
    /// let kem = MlKem512::new(Cpu::new())?;
    /// let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
    /// let (ciphertext, secret) = kem.encaps(&ek, &[3; 32])?;
    /// assert_eq!(kem.decaps_batch(&[dk], &[ciphertext])?, [Ok(secret)]);
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn decaps_batch<K: AsRef<[u8]>, C: AsRef<[u8]>>(
        &self,
        dks: &[K],
        ciphertexts: &[C],
    ) -> Result<Vec<Result<SharedSecret>>> {
        same_len("decapsulation keys", dks.len(), ciphertexts.len())?;
        each_chunk(dks.len(), |range| self.decaps_chunk(&dks[range.clone()], &ciphertexts[range]))
    }

    fn decaps_chunk<K: AsRef<[u8]>, C: AsRef<[u8]>>(&self, dks: &[K], cts: &[C]) -> Result<Vec<Result<SharedSecret>>> {
        let (k, batch) = (P::K, dks.len());
        let mut keys = Keys::new::<P>(Lanes::beside(self.ring.backend()), batch);
        let (mut s, mut u, mut v) = (Erased::new(zeros(batch * k)), zeros(batch * k), zeros(batch));
        for (i, (dk, ct)) in dks.iter().zip(cts).enumerate() {
            keys.read_secret::<P>(i, dk.as_ref(), &mut s[i * k * N..][..k * N]);
            let length = exactly("ciphertext", ct.as_ref(), P::Ct::LEN);
            if length.is_err() {
                keys.states[i] = keys.states[i].clone().and(length);
                continue;
            }
            let mut coefficients = [0; N];
            for row in 0..=k {
                read_row::<P>(keys.lanes, row, ct.as_ref(), &mut coefficients);
                let into = if row == k { polynomial(&mut v, i) } else { polynomial(&mut u, i * k + row) };
                into.copy_from_slice(&coefficients);
            }
        }
        let ring = &self.ring;
        let u: PolyBatch<B, MlKem, Ntt, Public> = ring.ntt(&ring.upload(&u)?)?;
        let s: PolyBatch<B, MlKem, Ntt, Secret> = ring.import_ntt(&ring.upload_secret(&s)?)?;
        let masked = ring.pointwise_acc(k, &u, &s)?;
        let masked = ring.intt(&masked)?.download_secret()?;
        let mut messages = Zeroizing::new(alloc::vec![[0; 32]; batch]);
        let mut derived = Zeroizing::new(alloc::vec![[0; 64]; batch]);
        for (i, (masked, v)) in polynomials(&masked).zip(v.as_chunks().0).enumerate() {
            read_message(keys.lanes, v, &mut Wiped::new(*masked), &mut messages[i]);
            hash::sha3_512(&[&messages[i][..], &keys.hashes[i]], &mut derived[i]);
        }
        let again =
            Zeroizing::new(self.encrypt(&keys, &messages, &derived)?.into_iter().map(Again).collect::<Vec<_>>());
        let inputs = dks.iter().zip(cts).zip(keys.states);
        let results = inputs.zip(derived.iter().zip(again.iter())).map(|(((dk, ct), state), (derived, again))| {
            state?;
            let z = dk.as_ref().last_chunk().unwrap_or(const { &[0; 32] });
            Ok(finish::<P>(derived, &rejection::<P>(z, ct.as_ref()), ct.as_ref(), again.0.as_ref()))
        });
        Ok(results.collect())
    }

    /// Encrypts one message under each key; the randomness is the second half of `derived`.
    fn encrypt(&self, keys: &Keys, messages: &[[u8; 32]], derived: &[[u8; 64]]) -> Result<Vec<P::Ct>> {
        let (k, batch) = (P::K, messages.len());
        let (mut y, mut errors) = (Erased::new(zeros(batch * k)), Erased::new(zeros(batch * (k + 1))));
        for (item, derived) in derived.iter().enumerate() {
            randomness::<P>(keys.lanes, halves(derived).1, |i, coefficients| {
                let into = match i.checked_sub(k) {
                    None => polynomial(&mut y, item * k + i),
                    Some(i) => polynomial(&mut errors, item * (k + 1) + i),
                };
                into.copy_from_slice(coefficients);
            });
        }
        let ring = &self.ring;
        let rows = ring.import_ntt(&ring.upload(&keys.rows)?)?;
        let y = ring.ntt(&ring.upload_secret(&y)?)?;
        let products = ring.mat_vec(Matrix { batch, rows: k + 1, columns: k, shared: false }, &rows, &y)?;
        let products = ring.intt(&products)?.download_secret()?;
        let mut rows = polynomials(&products).zip(errors.as_chunks().0);
        let encrypted = messages.iter().map(|message| {
            let mut ciphertext = P::Ct::filled(0);
            for (i, (product, error)) in rows.by_ref().take(k + 1).enumerate() {
                write_row::<P>(keys.lanes, i, &mut Wiped::new(*product), error, message, ciphertext.as_mut());
            }
            ciphertext
        });
        Ok(encrypted.collect())
    }
}

/// An array that is erased with its vector.
struct Again<A: Array<u8>>(A);

impl<A: Array<u8>> zeroize::Zeroize for Again<A> {
    fn zeroize(&mut self) {
        self.0.erase();
    }
}

/// Encapsulation keys of a batch: transposed matrix and `t` of each, hash, and whether it was accepted.
struct Keys {
    lanes: Lanes,
    rows: Vec<u16>,
    hashes: Vec<[u8; 32]>,
    states: Vec<Result<()>>,
}

impl Keys {
    fn new<P: Parameters>(lanes: Lanes, batch: usize) -> Self {
        Self {
            lanes,
            rows: zeros(batch * P::K * (P::K + 1)),
            hashes: alloc::vec![[0; 32]; batch],
            states: alloc::vec![Ok(()); batch],
        }
    }

    /// Reads key `i`; a refused one leaves zeros behind.
    fn read<P: Parameters>(&mut self, i: usize, ek: &[u8]) {
        let k = P::K;
        self.states[i] = exactly("encapsulation key", ek, P::Ek::LEN);
        if self.states[i].is_err() {
            return;
        }
        let rows = &mut self.rows[i * k * (k + 1) * N..][..k * (k + 1) * N];
        let reduced = read_public::<P>(self.lanes, ek, |j, values| polynomial(rows, k * k + j).copy_from_slice(values));
        if !reduced {
            rows.fill(0);
            self.states[i] = Err(Error::KeyNotReduced);
            return;
        }
        let (rho, whole, hashes) = (&ek[384 * k..], [ek], &mut self.hashes[i..=i]);
        matrix::<P>(self.lanes, rho, true, &[Job::sha3_256(&whole)], hashes, |j, values| {
            polynomial(rows, j).copy_from_slice(values)
        });
    }

    /// Reads decapsulation key `i`.
    fn read_secret<P: Parameters>(&mut self, i: usize, dk: &[u8], s: &mut [u16]) {
        self.states[i] = exactly("decapsulation key", dk, P::Dk::LEN);
        if self.states[i].is_err() {
            return;
        }
        let (secret, rest) = dk.split_at(384 * P::K);
        let (public, rest) = rest.split_at(P::Ek::LEN);
        self.read::<P>(i, public);
        if self.states[i].is_ok() && self.hashes[i][..] != rest[..32] {
            self.states[i] = Err(Error::KeyHashMismatch);
        }
        read_secret::<P>(self.lanes, secret, |j, values| polynomial(s, j).copy_from_slice(values));
        debug_assert!(s.iter().all(|c| *c < Q));
    }
}
