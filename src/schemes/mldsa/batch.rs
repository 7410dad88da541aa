//! Many keys or messages at once, on any backend.
//!
//! Seeds are expanded and bytes are packed on the host; every transform and product is a batch on the backend. Signing
//! repeats for the messages that were rejected.

use alloc::vec::Vec;

use zeroize::{Zeroize, Zeroizing};

use super::encode::{
    HintWriter, T0_LEN, T1_LEN, add_assign, high_len, mask_len, read_secret, read_t0, read_t1_negated, secret_len,
    split_polys, sub_assign, write_response, write_secret,
};
use super::keygen::{SkLayout, finish, key_seeds, secret_seed, write_t};
use super::round::all_below;
use super::sample::{Expanded, challenge, mask, matrix, matrix_and_secrets};
use super::sign::{MAX_ATTEMPTS, low_bits_hold, mask_seed, response_hides, write_high_bits, write_hint};
use super::verify::{Hint, compare, read_signature, write_hinted};
use super::{Array, Coeffs, Dsa, Error, Input, N, Parameters, Result};
use crate::SecretVec;
use crate::backend::{Matrix, RingMul};
use crate::memcheck::{Leak, show, shown};
use crate::ring::presets::MlDsa;
use crate::schemes::hash::Lanes;
use crate::schemes::{Wiped, each_chunk, exactly, hash, same_len};

/// Coefficients that may be secret.
type Erased = Zeroizing<Vec<u32>>;

fn zeros(polynomials: usize) -> Vec<u32> {
    alloc::vec![0; polynomials * N]
}

fn polynomial(coefficients: &mut [u32], i: usize) -> &mut [u32] {
    &mut coefficients[i * N..][..N]
}

/// Host copies of coefficients, polynomial by polynomial.
fn polynomials(coefficients: &SecretVec<u32>) -> &[Coeffs] {
    coefficients.expose("the host packs what the backend computed").as_chunks().0
}

impl<P: Parameters, B: RingMul<MlDsa>> Dsa<P, B> {
    /// Makes key pairs from seeds; each is what [`Dsa::keygen`] makes.
    ///
    /// # Errors
    /// What the backend reports.
    ///
    /// ```
    /// use karat::{Cpu, Reference, schemes::mldsa::MlDsa44};
    /// let keys = MlDsa44::new(Reference)?.keygen_batch(&[[7; 32], [8; 32]])?;
    /// assert_eq!(keys[1], MlDsa44::new(Cpu::new())?.keygen(&[8; 32]));
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn keygen_batch(&self, seeds: &[[u8; 32]]) -> Result<Vec<(P::Pk, P::Sk)>> {
        each_chunk(seeds.len(), |range| self.keygen_chunk(&seeds[range]))
    }

    fn keygen_chunk(&self, seeds: &[[u8; 32]]) -> Result<Vec<(P::Pk, P::Sk)>> {
        let (rows, columns, batch) = (P::K, P::L, seeds.len());
        let (layout, lanes) = (SkLayout::of::<P>(), Lanes::beside(self.ring.backend()));
        let mut a = zeros(batch * rows * columns);
        let (mut s1, mut s2) = (Erased::new(zeros(batch * columns)), Erased::new(zeros(batch * rows)));
        let mut out = alloc::vec![(P::Pk::filled(0), P::Sk::filled(0)); batch];
        let mut expanded = Zeroizing::new(Vec::with_capacity(batch));
        for (item, (seed, (_, sk))) in seeds.iter().zip(&mut out).enumerate() {
            let seeds = key_seeds::<P>(seed);
            matrix_and_secrets::<P>(lanes, &seeds[..32], secret_seed(&seeds), |expanded| match expanded {
                Expanded::Entry(row, column, values) => {
                    polynomial(&mut a, (item * rows + row) * columns + column).copy_from_slice(values);
                }
                Expanded::Secret(i, values) => {
                    let bytes = &mut sk.as_mut()[layout.s1 + i * secret_len::<P>()..][..secret_len::<P>()];
                    write_secret::<P>(lanes, values, bytes);
                    let into = match i.checked_sub(columns) {
                        None => polynomial(&mut s1, item * columns + i),
                        Some(i) => polynomial(&mut s2, item * rows + i),
                    };
                    into.copy_from_slice(values);
                }
            });
            expanded.push(*seeds);
        }
        let ring = &self.ring;
        let a = ring.import_ntt(&ring.upload(&a)?)?;
        let s1 = ring.ntt(&ring.upload_secret(&s1)?)?;
        let t = ring.mat_vec(Matrix { batch, rows, columns, shared: false }, &a, &s1)?;
        let t = ring.intt(&t)?.download_secret()?;
        let vectors = polynomials(&t).chunks_exact(rows).zip(s2.as_chunks().0.chunks_exact(rows));
        for (((pk, sk), (t, s2)), seeds) in out.iter_mut().zip(vectors).zip(expanded.iter()) {
            for (i, (t, s2)) in t.iter().zip(s2).enumerate() {
                let mut sum = Wiped::new(*t);
                add_assign(lanes, &mut sum, s2);
                write_t::<P>(lanes, i, &mut sum, pk.as_mut(), sk.as_mut());
            }
            finish::<P>(seeds, pk.as_mut(), sk.as_mut());
        }
        Ok(out)
    }

    /// Signs each input with its private key and randomness; each signature is what [`Dsa::sign_input`] makes. What is
    /// refused spoils its own result only.
    ///
    /// # Errors
    /// `WrongBatch` unless all slices have one length; what the backend reports.
    ///
    /// ```
    /// use karat::{Cpu, schemes::mldsa::{Input, MlDsa44}};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// let (_, sk) = dsa.keygen(&[1; 32]);
    /// let inputs = [b"one", b"two"].map(|message| Input::Message { message, context: b"" });
    /// let signatures = dsa.sign_batch(&[sk, sk], &inputs, &[[0; 32]; 2])?;
    /// assert_eq!(signatures[1], dsa.sign(&sk, b"two", b"", &[0; 32]));
    /// # Ok::<(), karat::schemes::Error>(())
    /// ```
    pub fn sign_batch<K: AsRef<[u8]>>(
        &self,
        sks: &[K],
        inputs: &[Input],
        rnds: &[[u8; 32]],
    ) -> Result<Vec<Result<P::Sig>>> {
        same_len("private keys", sks.len(), inputs.len())?;
        same_len("random strings", rnds.len(), inputs.len())?;
        each_chunk(inputs.len(), |range| self.sign_chunk(&sks[range.clone()], &inputs[range.clone()], &rnds[range]))
    }

    fn sign_chunk<K: AsRef<[u8]>>(
        &self,
        sks: &[K],
        inputs: &[Input],
        rnds: &[[u8; 32]],
    ) -> Result<Vec<Result<P::Sig>>> {
        let give_up = Err(Error::SigningFailed { attempts: MAX_ATTEMPTS });
        let mut out = alloc::vec![give_up; inputs.len()];
        let lanes = Lanes::beside(self.ring.backend());
        let mut jobs = Vec::with_capacity(inputs.len());
        for (item, ((sk, input), rnd)) in sks.iter().zip(inputs).zip(rnds).enumerate() {
            match Pending::new::<P>(lanes, item, sk.as_ref(), *input, rnd) {
                Ok(job) => jobs.push(job),
                Err(error) => out[item] = Err(error),
            }
        }
        self.transform_secrets(&mut jobs)?;
        for attempt in 0..MAX_ATTEMPTS {
            if jobs.is_empty() {
                break;
            }
            let signatures = self.attempt(&jobs, attempt)?;
            for (job, signature) in jobs.iter().zip(&signatures) {
                if let Some(signature) = signature {
                    out[job.item] = Ok(signature.clone());
                }
            }
            let mut rejected = signatures.iter().map(Option::is_none);
            jobs.retain(|_| rejected.next().unwrap_or(false));
            // Seeds of jobs that moved up.
            jobs.spare_capacity_mut().zeroize();
        }
        Ok(out)
    }

    /// Takes the secrets of all jobs to the transform domain, in canonical form: rounds join other jobs each time.
    fn transform_secrets(&self, jobs: &mut [Pending]) -> Result<()> {
        if jobs.is_empty() {
            return Ok(());
        }
        let mut all = Erased::new(Vec::with_capacity(jobs.len() * (P::L + 2 * P::K) * N));
        jobs.iter().for_each(|job| all.extend_from_slice(&job.secrets));
        let ring = &self.ring;
        let all = ring.export_ntt(&ring.ntt(&ring.upload_secret(&all)?)?)?.download_secret()?;
        let all = all.expose("each job keeps its part").chunks_exact((P::L + 2 * P::K) * N);
        jobs.iter_mut().zip(all).for_each(|(job, part)| job.secrets.copy_from_slice(part));
        Ok(())
    }

    /// One round of the rejection loop for every job.
    fn attempt(&self, jobs: &[Pending], attempt: u32) -> Result<Vec<Option<P::Sig>>> {
        let (rows, columns, batch) = (P::K, P::L, jobs.len());
        let lanes = Lanes::beside(self.ring.backend());
        let mut y = Erased::new(zeros(batch * columns));
        let mut a = Vec::with_capacity(batch * rows * columns * N);
        for (item, job) in jobs.iter().enumerate() {
            a.extend_from_slice(&job.matrix);
            let y = &mut y.as_chunks_mut().0[item * columns..][..columns];
            mask::<P>(lanes, &job.seed, (attempt * columns as u32) as u16, y);
        }
        let ring = &self.ring;
        let a = ring.import_ntt(&ring.upload(&a)?)?;
        let w =
            ring.mat_vec(Matrix { batch, rows, columns, shared: false }, &a, &ring.ntt(&ring.upload_secret(&y)?)?)?;
        let w = ring.intt(&w)?.download_secret()?;

        let mut c = zeros(batch);
        let mut signatures = alloc::vec![P::Sig::filled(0); batch];
        for (item, (job, w)) in jobs.iter().zip(polynomials(&w).chunks_exact(rows)).enumerate() {
            let mut high = Zeroizing::new(alloc::vec![0; rows * high_len::<P>()]);
            for (w, high) in w.iter().zip(high.chunks_exact_mut(high_len::<P>())) {
                write_high_bits::<P>(lanes, w, high);
            }
            let commitment = &mut signatures[item].as_mut()[..P::CHALLENGE];
            hash::shake256(&[&job.mu, &high], commitment);
            show(Leak::Challenge, commitment);
            let mut ball = [0; N];
            challenge::<P>(commitment, &mut ball);
            polynomial(&mut c, item).copy_from_slice(&ball);
        }
        let per_job = columns + 2 * rows;
        let mut all = Erased::new(Vec::with_capacity(batch * per_job * N));
        jobs.iter().for_each(|job| all.extend_from_slice(&job.secrets));
        let products = ring.mat_vec(
            Matrix { batch, rows: per_job, columns: 1, shared: false },
            &ring.import_ntt(&ring.upload_secret(&all)?)?,
            &ring.ntt(&ring.upload(&c)?)?,
        )?;
        let products = ring.intt(&products)?.download_secret()?;

        let y = y.as_chunks().0.chunks_exact(columns);
        let parts = polynomials(&products).chunks_exact(per_job).zip(y.zip(polynomials(&w).chunks_exact(rows)));
        let parts = signatures.into_iter().zip(parts).map(|(mut signature, (products, (y, w)))| {
            complete::<P>(lanes, products, y, w, signature.as_mut()).then_some(signature)
        });
        Ok(parts.collect())
    }

    /// Verifies each signature; each result is what [`Dsa::verify_input`] gives.
    ///
    /// # Errors
    /// `WrongBatch` unless all slices have one length; what the backend reports.
    ///
    /// ```
    /// use karat::{Cpu, schemes::{Error, mldsa::{Input, MlDsa44}}};
    /// let dsa = MlDsa44::new(Cpu::new())?;
    /// let (pk, sk) = dsa.keygen(&[1; 32]);
    /// let signature = dsa.sign(&sk, b"one", b"", &[0; 32])?;
    /// let inputs = [b"one", b"two"].map(|message| Input::Message { message, context: b"" });
    /// let results = dsa.verify_batch(&[pk, pk], &inputs, &[signature, signature])?;
    /// assert_eq!(results, [Ok(()), Err(Error::InvalidSignature)]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn verify_batch<K: AsRef<[u8]>, S: AsRef<[u8]>>(
        &self,
        pks: &[K],
        inputs: &[Input],
        signatures: &[S],
    ) -> Result<Vec<Result<()>>> {
        same_len("public keys", pks.len(), inputs.len())?;
        same_len("signatures", signatures.len(), inputs.len())?;
        each_chunk(inputs.len(), |range| {
            self.verify_chunk(&pks[range.clone()], &inputs[range.clone()], &signatures[range])
        })
    }

    fn verify_chunk<K: AsRef<[u8]>, S: AsRef<[u8]>>(
        &self,
        pks: &[K],
        inputs: &[Input],
        signatures: &[S],
    ) -> Result<Vec<Result<()>>> {
        let (rows, columns, batch) = (P::K, P::L, inputs.len());
        let lanes = Lanes::beside(self.ring.backend());
        let (mut t1, mut vectors) = (zeros(batch * rows), zeros(batch * (columns + 1)));
        let mut opened = Vec::with_capacity(batch);
        for (item, ((pk, input), signature)) in pks.iter().zip(inputs).zip(signatures).enumerate() {
            let t1 = &mut t1[item * rows * N..][..rows * N];
            let vector = &mut vectors[item * (columns + 1) * N..][..(columns + 1) * N];
            opened.push(open::<P>(lanes, pk.as_ref(), *input, signature.as_ref(), t1, vector));
        }
        let ring = &self.ring;
        let t1 = ring.export_ntt(&ring.ntt(&ring.upload(&t1)?)?)?.download()?;
        let mut wide = zeros(batch * rows * (columns + 1));
        for ((pk, opened), (item, t1)) in pks.iter().zip(&opened).zip(t1.chunks_exact(rows * N).enumerate()) {
            if opened.is_err() {
                continue;
            }
            let wide = &mut wide[item * rows * (columns + 1) * N..];
            matrix::<P>(lanes, &pk.as_ref()[..32], &[], &mut [], |row, column, values| {
                polynomial(wide, row * (columns + 1) + column).copy_from_slice(values);
            });
            for (row, t1) in t1.chunks_exact(N).enumerate() {
                polynomial(wide, row * (columns + 1) + columns).copy_from_slice(t1);
            }
        }
        let w = ring.mat_vec(
            Matrix { batch, rows, columns: columns + 1, shared: false },
            &ring.import_ntt(&ring.upload(&wide)?)?,
            &ring.ntt(&ring.upload(&vectors)?)?,
        )?;
        let w = ring.intt(&w)?.download()?;
        let parts = w.as_chunks().0.chunks_exact(rows).zip(opened).zip(signatures);
        let results = parts.map(|((w, opened), signature)| {
            let (mu, hint) = opened?;
            let mut high = alloc::vec![0; rows * high_len::<P>()];
            for ((w, hint), high) in w.iter().zip(&hint).zip(high.chunks_exact_mut(high_len::<P>())) {
                write_hinted::<P>(lanes, hint, &mut { *w }, high);
            }
            compare::<P>(&mu, &high, signature.as_ref())
        });
        Ok(results.collect())
    }
}

/// Reads a key and a signature: `-t1·2^13`, and `z` followed by the challenge.
fn open<P: Parameters>(
    lanes: Lanes,
    pk: &[u8],
    input: Input,
    signature: &[u8],
    t1: &mut [u32],
    vector: &mut [u32],
) -> Result<([u8; 64], Hint)> {
    exactly("public key", pk, P::Pk::LEN)?;
    let mut tr = [0; 64];
    hash::shake256(&[pk], &mut tr[..P::TR]);
    let mu = input.mu::<P>(&tr[..P::TR])?;
    exactly("signature", signature, P::Sig::LEN)?;
    let mut short = true;
    let hint = read_signature::<P>(lanes, signature, |i, z| {
        short &= all_below(lanes, z, P::GAMMA1 - P::BETA);
        polynomial(vector, i).copy_from_slice(z);
    });
    let hint = hint.filter(|_| short).ok_or(Error::InvalidSignature)?;
    let mut values = [0; N];
    challenge::<P>(&signature[..P::CHALLENGE], &mut values);
    polynomial(vector, P::L).copy_from_slice(&values);
    for (i, bytes) in pk[32..].chunks_exact(T1_LEN).enumerate() {
        read_t1_negated(lanes, bytes, &mut values);
        polynomial(t1, i).copy_from_slice(&values);
    }
    Ok((mu, hint))
}

/// Fills a signature in, from the products of the challenge with `s1`, `s2`, `t0`; false where it is rejected.
fn complete<P: Parameters>(
    lanes: Lanes,
    products: &[Coeffs],
    y: &[Coeffs],
    w: &[Coeffs],
    signature: &mut [u8],
) -> bool {
    let (cs1, rest) = products.split_at(P::L);
    let (cs2, ct0) = rest.split_at(P::K);
    let (response, hint) = signature[P::CHALLENGE..].split_at_mut(P::L * mask_len::<P>());
    for ((y, cs1), out) in y.iter().zip(cs1).zip(response.chunks_exact_mut(mask_len::<P>())) {
        let mut z = Wiped::new(*y);
        add_assign(lanes, &mut z, cs1);
        if !response_hides::<P>(lanes, &z) {
            return false;
        }
        write_response::<P>(lanes, &z, out);
    }
    let mut writer = HintWriter::new(hint, P::OMEGA);
    for ((w, cs2), ct0) in w.iter().zip(cs2).zip(ct0) {
        let mut r = Wiped::new(*w);
        sub_assign(lanes, &mut r, cs2);
        if !low_bits_hold::<P>(lanes, &r) || !write_hint::<P>(lanes, &r, ct0, &mut writer) {
            return false;
        }
    }
    true
}

/// A message that waits for its signature.
struct Pending {
    item: usize,
    matrix: Vec<u32>,
    /// `s1`, `s2`, `t0`.
    secrets: Erased,
    mu: [u8; 64],
    seed: Wiped<[u8; 64]>,
}

impl Pending {
    fn new<P: Parameters>(lanes: Lanes, item: usize, sk: &[u8], input: Input, rnd: &[u8; 32]) -> Result<Self> {
        exactly("private key", sk, P::Sk::LEN)?;
        let layout = SkLayout::of::<P>();
        let mu = input.mu::<P>(&sk[layout.tr..][..P::TR])?;
        let mut secrets = Erased::new(zeros(P::L + 2 * P::K));
        let mut values = Wiped::new([0; N]);
        let mut in_range = true;
        let (small, t0) = split_polys(&sk[layout.s1..], P::L + P::K, secret_len::<P>());
        for (i, bytes) in small.enumerate() {
            in_range &= read_secret::<P>(lanes, bytes, &mut values);
            polynomial(&mut secrets, i).copy_from_slice(&values[..]);
        }
        if !shown(Leak::KeyRange, in_range) {
            return Err(Error::InvalidPrivateKey);
        }
        for (i, bytes) in t0.chunks_exact(T0_LEN).enumerate() {
            read_t0(lanes, bytes, &mut values);
            polynomial(&mut secrets, P::L + P::K + i).copy_from_slice(&values[..]);
        }
        let mut a = zeros(P::K * P::L);
        matrix::<P>(lanes, &sk[..32], &[], &mut [], |row, column, values| {
            polynomial(&mut a, row * P::L + column).copy_from_slice(values);
        });
        Ok(Self { item, matrix: a, secrets, mu, seed: mask_seed::<P>(&sk[32..64], rnd, &mu) })
    }
}
