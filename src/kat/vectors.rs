//! Deterministic vectors for any ring.
//!
//! # Derivation
//! All that is random comes from one SHAKE-256 stream (FIPS 202). Its input is these bytes, `\n` being one byte 10:
//!
//! ```text
//! karat ring vectors v1\n
//! n = <n>\n
//! q = <q>\n
//! f = <f>\n
//! <seed>
//! ```
//!
//! `<n>`, `<q>` and `<f>` are the text of the file's headers, for example `256`, `3329` and `x^256 + 1`; `<seed>` is
//! the raw seed, and nothing follows it.
//!
//! A *uniform* coefficient: let `k` be the number of bits of `q - 1`. Take `ceil(k / 8)` bytes of the stream, read
//! them as a little-endian integer, keep its low `k` bits. If the result is `q` or more, start again with the next
//! bytes.
//!
//! A *ternary* coefficient: take one byte, keep its low 2 bits. 0, 1, 2 stand for 0, 1, `q - 1`; at 3, start again
//! with the next byte.
//!
//! A polynomial is drawn from its lowest coefficient to its highest. The records are, in this order:
//!
//! 1. as many as asked for: `a` uniform, then `b` uniform;
//! 2. `a = b`: all coefficients `q - 1`;
//! 3. `a = b = x^(n-1)`;
//! 4. `a = 0`, `b` uniform;
//! 5. `a` alternating between `floor((q + 1) / 2)` (even exponents) and `floor(q / 2)` (odd ones), `b` ternary.

use std::io::Write;
use std::string::String;
use std::vec::Vec;

use shake::{ExtendableOutput, Update, XofReader};

use super::run::BATCH;
use super::{KatError, Multiplier, rsp};
use crate::{AnyBackend, RingSpec};

/// Records that follow the random ones.
pub const EXTREMES: u64 = 4;
/// Longest seed in bytes.
pub const MAX_SEED: usize = 1024;

/// The domain of the derivation; a change of the derivation changes it.
const DOMAIN: &str = "karat ring vectors v1";

/// Writes `count` random records and the [`EXTREMES`], with products from `backend`, as [`rsp`] text.
///
/// The first line is a comment that names the derivation, the ring, the number of random records and the seed.
/// Nothing is written before the ring is ready. Hand in a buffered writer.
///
/// # Errors
/// `Seed` for one longer than [`MAX_SEED`], `Engine` where the backend cannot multiply in the ring, `Io`.
///
/// ```
/// use karat::{AnyBackend, kat::vectors};
/// let mut text = Vec::new();
/// vectors::write(&AnyBackend::from_name("scalar")?, &"n=1,q=17,f=x+1".parse()?, 0, b"\x01\xff", &mut text)?;
/// let text = String::from_utf8(text)?;
/// assert!(text.starts_with("# karat ring vectors v1, ring n=1,q=17,f=x + 1, 0 random records, seed 01ff\n"));
/// assert!(text.contains("count = 0\na = 16\nb = 16\nc = 1\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(
    backend: &AnyBackend,
    ring: &RingSpec,
    count: u64,
    seed: &[u8],
    writer: impl Write,
) -> Result<(), KatError> {
    let operands = Operands::new(ring, count, seed)?;
    let multiplier = Multiplier::new(backend, ring)?;
    let hex: String = seed.iter().map(|byte| std::format!("{byte:02x}")).collect();
    let mut writer = rsp::Writer::new(writer);
    writer.comment(&std::format!("{DOMAIN}, ring {ring}, {count} random records, seed {hex}"))?;
    writer.ring(ring)?;
    let n = ring.n();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut operands = operands.peekable();
    while let Some((next_a, next_b)) = operands.next() {
        a.extend(next_a);
        b.extend(next_b);
        if operands.peek().is_none() || a.len() + n > BATCH {
            let c = multiplier.mul(&a, &b)?;
            for ((a, b), c) in a.chunks(n).zip(b.chunks(n)).zip(c.chunks(n)) {
                writer.record(a, b, c)?;
            }
            a.clear();
            b.clear();
        }
    }
    writer.finish()?;
    Ok(())
}

/// The factors `(a, b)` of all records in order, without products.
///
/// ```
/// use karat::kat::vectors::Operands;
/// let operands = Operands::new(&"n=2,q=17,f=x^2+1".parse()?, 1, b"")?;
/// assert_eq!(operands.collect::<Vec<_>>()[2], (vec![0, 1], vec![0, 1])); // one random record, then extremes
/// # Ok::<(), karat::kat::KatError>(())
/// ```
pub struct Operands {
    stream: shake::Shake256Reader,
    n: usize,
    q: u64,
    count: u64,
    next: u64,
}

impl Operands {
    /// Begins the stream for `count` random records and the extremes.
    ///
    /// # Errors
    /// `Seed` for one longer than [`MAX_SEED`].
    pub fn new(ring: &RingSpec, count: u64, seed: &[u8]) -> Result<Self, KatError> {
        if seed.len() > MAX_SEED {
            return Err(KatError::Seed { len: seed.len(), max: MAX_SEED });
        }
        let (n, q) = (ring.n(), ring.q());
        let mut shake = shake::Shake256::default();
        shake.update(std::format!("{DOMAIN}\nn = {n}\nq = {q}\nf = {}\n", ring.f().display(n)).as_bytes());
        shake.update(seed);
        Ok(Self { stream: shake.finalize_xof(), n, q, count, next: 0 })
    }

    /// Bytes of the stream as a little-endian integer, its low `bits`; again while it is `bound` or more.
    fn draw(&mut self, bits: u32, bound: u64) -> u64 {
        loop {
            let mut bytes = [0; 8];
            self.stream.read(&mut bytes[..bits.div_ceil(8) as usize]);
            let value = u64::from_le_bytes(bytes) & (u64::MAX >> (64 - bits));
            if value < bound {
                return value;
            }
        }
    }

    fn uniform(&mut self) -> Vec<u64> {
        let bits = u64::BITS - (self.q - 1).leading_zeros();
        (0..self.n).map(|_| self.draw(bits, self.q)).collect()
    }

    fn ternary(&mut self) -> Vec<u64> {
        (0..self.n).map(|_| [0, 1, self.q - 1][self.draw(2, 3) as usize]).collect()
    }
}

impl Iterator for Operands {
    type Item = (Vec<u64>, Vec<u64>);

    fn next(&mut self) -> Option<Self::Item> {
        let (n, q) = (self.n, self.q);
        let both = |a: Vec<u64>| (a.clone(), a);
        let item = match self.next.checked_sub(self.count) {
            None => {
                let a = self.uniform();
                (a, self.uniform())
            }
            Some(0) => both(std::vec![q - 1; n]),
            Some(1) => both((0..n).map(|i| (i == n - 1).into()).collect()),
            Some(2) => (std::vec![0; n], self.uniform()),
            Some(3) => ((0..n).map(|i| if i % 2 == 0 { q.div_ceil(2) } else { q / 2 }).collect(), self.ternary()),
            Some(_) => return None,
        };
        self.next += 1;
        Some(item)
    }
}
