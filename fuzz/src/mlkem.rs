//! ML-KEM against other implementations: honest runs, and keys and ciphertexts that were tampered with field by field
//! (one coefficient at its bound, the hash, the rejection secret), not only at random bytes. Kyber against its
//! definition.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use karat::schemes::mlkem::{Kem, Parameters};
use sha3::{Digest, Sha3_256};
use shake::{ExtendableOutput, Shake256, Update, XofReader};

use crate::compare;
use crate::fields::{Field, fill, flip, mutate, resize};
use crate::peers::mlkem::{Encapsulated, Encapsulation, Peer, peers};

/// A parameter set: karat, the others, and where the parts of its encodings lie.
pub struct Set {
    pub name: &'static str,
    karat: Box<dyn Own>,
    /// None for Kyber.
    peers: Vec<Peer>,
    round3: bool,
    /// Of an encapsulation key: coefficients, seed.
    ek: Vec<Field>,
    /// Of a decapsulation key: secret, the encapsulation key's two, its hash, the rejection secret.
    dk: Vec<Field>,
    ciphertext: Vec<Field>,
    honest: Vec<Honest>,
}

/// What honest parties have.
struct Honest {
    dk: Vec<u8>,
    ciphertext: Vec<u8>,
    secret: [u8; 32],
}

static SETS: LazyLock<Vec<Set>> = LazyLock::new(|| {
    use karat::schemes::mlkem::*;
    let [a, b, c] = peers();
    vec![
        set::<MlKem512Params>(a),
        set::<MlKem768Params>(b),
        set::<MlKem1024Params>(c),
        set::<Kyber512Params>(Vec::new()),
        set::<Kyber768Params>(Vec::new()),
        set::<Kyber1024Params>(Vec::new()),
    ]
});

fn set<P: Parameters>(peers: Vec<Peer>) -> Set {
    let coefficients =
        |start: usize, bits: usize, ends: &[u32]| Field { start, count: 256 * P::K, bits, ends: ends.to_vec() };
    let compressed = |start: usize, count: usize, bits: usize| Field {
        start,
        count,
        bits,
        ends: vec![0, 1, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1],
    };
    let canonical = [0, 1, 1664, 1665, 3328, 3329, 3330, 4095];
    let rank = 384 * P::K;
    let u = compressed(0, 256 * P::K, P::DU);
    let v = compressed(u.end(), 256, P::DV);
    let karat = Levels::<P>::new();
    let honest = (0..4u8).map(|i| {
        let (ek, dk) = karat.keygen(0, &[i; 32], &[!i; 32]);
        let (ciphertext, secret) = karat.encaps(0, &ek, &[i ^ 0x55; 32]).expect("an honest key");
        Honest { dk, ciphertext, secret }
    });
    Set {
        name: P::NAME,
        peers,
        round3: P::ROUND3,
        ek: vec![coefficients(0, 12, &canonical), Field::bytes(rank, 32)],
        dk: vec![
            coefficients(0, 12, &canonical),
            coefficients(rank, 12, &canonical),
            Field::bytes(2 * rank, 32),
            Field::bytes(2 * rank + 32, 32),
            Field::bytes(2 * rank + 64, 32),
        ],
        ciphertext: vec![u, v],
        honest: honest.collect(),
        karat: Box::new(karat),
    }
}

/// karat's operations, whatever the parameter set. `way` chooses a level of the CPU, and between encoded keys, keys that
/// were read before, and batches.
trait Own: Send + Sync {
    fn keygen(&self, way: usize, d: &[u8; 32], z: &[u8; 32]) -> (Vec<u8>, Vec<u8>);
    fn encaps(&self, way: usize, ek: &[u8], m: &[u8; 32]) -> Option<Encapsulated>;
    fn decaps(&self, way: usize, dk: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]>;
}

/// On every level of the CPU.
struct Levels<P>(Vec<Kem<P>>);

impl<P: Parameters> Levels<P> {
    fn new() -> Self {
        Self(compare::cpus().into_iter().map(|(_, cpu)| Kem::new(cpu).expect("every CPU has the ring")).collect())
    }

    fn level(&self, way: usize) -> &Kem<P> {
        &self.0[way / 3 % self.0.len()]
    }
}

impl<P: Parameters> Own for Levels<P> {
    fn keygen(&self, way: usize, d: &[u8; 32], z: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        let kem = self.level(way);
        let (ek, dk) = match way % 2 {
            0 => kem.keygen(d, z),
            _ => {
                let mut seed = [0; 64];
                seed[..32].copy_from_slice(d);
                seed[32..].copy_from_slice(z);
                kem.keygen_batch(&[seed]).expect("the CPU has memory").remove(0)
            }
        };
        (ek.as_ref().to_vec(), dk.as_ref().to_vec())
    }

    fn encaps(&self, way: usize, ek: &[u8], m: &[u8; 32]) -> Option<Encapsulated> {
        let kem = self.level(way);
        let (ciphertext, secret) = match way % 3 {
            0 => kem.encaps(ek, m).ok()?,
            1 => kem.encapsulation_key(ek).ok()?.encaps(m),
            _ => kem.encaps_batch(&[ek], &[*m]).expect("the CPU has memory").remove(0).ok()?,
        };
        Some((ciphertext.as_ref().to_vec(), secret))
    }

    fn decaps(&self, way: usize, dk: &[u8], ciphertext: &[u8]) -> Option<[u8; 32]> {
        let kem = self.level(way);
        match way % 3 {
            0 => kem.decaps(dk, ciphertext).ok(),
            1 => kem.decapsulation_key(dk).ok()?.decaps(ciphertext).ok(),
            _ => kem.decaps_batch(&[dk], &[ciphertext]).expect("the CPU has memory").remove(0).ok(),
        }
    }
}

/// Runs one exchange that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = exchange(&mut Unstructured::new(data));
}

/// Decapsulates any ciphertext with any key.
pub fn decaps_any(data: &[u8]) {
    let _ = decapsulation(&mut Unstructured::new(data));
}

fn exchange(u: &mut Unstructured) -> Result<()> {
    let set = u.choose(&SETS[..])?;
    let (d, z, m) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
    let (mut ek, mut dk) = set.karat.keygen(way(u)?, &d, &z);
    for peer in &set.peers {
        let differs = peer.keygen.is_some_and(|keygen| keygen(&d, &z) != (ek.clone(), dk.clone()));
        assert!(!differs, "{}: keys differ from {}'s", set.name, peer.name);
        if let Encapsulation::Random(encaps) = peer.encaps {
            let (ciphertext, secret) = encaps(&ek).expect("an honest key");
            let recovered = set.karat.decaps(way(u)?, &dk, &ciphertext);
            assert!(recovered == Some(secret), "{}: {}'s secret is another", set.name, peer.name);
        }
    }
    let honest = !u.ratio(1u8, 3u8)?;
    if !honest {
        // The other key is the one inside an honest decapsulation key.
        let other = &set.honest[0].dk[set.dk[1].start..];
        if u.ratio(1u8, 8u8)? { resize(u, &mut ek)? } else { mutate(u, &set.ek, &mut ek, other)? }
    }
    let Some((mut ciphertext, secret)) = set.encaps(u, &ek, &m)? else {
        assert!(!honest, "{}: an honest key is refused", set.name);
        return Ok(());
    };
    if honest {
        let recovered = set.decaps(u, &dk, &ciphertext)?;
        assert!(recovered == Some(secret), "{}: an honest ciphertext gives another secret", set.name);
    }
    let changes = u.int_in_range(0..=3u8)?;
    if changes & 1 == 1 {
        set.tamper_with_ciphertext(u, &mut ciphertext)?;
    }
    if changes & 2 == 2 {
        set.tamper_with_key(u, &mut dk)?;
    }
    set.decaps(u, &dk, &ciphertext)?;
    Ok(())
}

fn decapsulation(u: &mut Unstructured) -> Result<()> {
    let set = u.choose(&SETS[..])?;
    let (honest, other) = (u.choose(&set.honest)?, u.choose(&set.honest)?);
    let (mut dk, mut ciphertext) = (honest.dk.clone(), honest.ciphertext.clone());
    let key_changes = u.ratio(1u8, 2u8)?;
    if key_changes {
        set.tamper_with_key(u, &mut dk)?;
    }
    match u.int_in_range(0..=5u8)? {
        0 => {}
        1 => ciphertext.clone_from(&other.ciphertext),
        _ => set.tamper_with_ciphertext(u, &mut ciphertext)?,
    }
    let secret = set.decaps(u, &dk, &ciphertext)?;
    if dk == honest.dk && ciphertext.len() == honest.ciphertext.len() {
        let expected =
            if ciphertext == honest.ciphertext { honest.secret } else { set.implicit_rejection(&dk, &ciphertext) };
        assert!(secret == Some(expected), "{}: implicit rejection gives something else", set.name);
    }
    Ok(())
}

fn way(u: &mut Unstructured) -> Result<usize> {
    Ok(u.arbitrary::<u8>()?.into())
}

impl Set {
    /// The secret of a ciphertext that nobody made (FIPS 203, algorithm 18, step 7; Kyber hashes the ciphertext first).
    fn implicit_rejection(&self, dk: &[u8], ciphertext: &[u8]) -> [u8; 32] {
        let mut hash = Shake256::default();
        hash.update(&dk[dk.len() - 32..]);
        if self.round3 {
            hash.update(&Sha3_256::digest(ciphertext));
        } else {
            hash.update(ciphertext);
        }
        let mut out = [0; 32];
        hash.finalize_xof().read(&mut out);
        out
    }

    fn tamper_with_key(&self, u: &mut Unstructured, dk: &mut Vec<u8>) -> Result<()> {
        let other = u.choose(&self.honest)?;
        match u.int_in_range(0..=9u8)? {
            0 => return resize(u, dk),
            1 => fill(u, dk)?,
            2 => flip(u, dk)?,
            _ => mutate(u, &self.dk, dk, &other.dk)?,
        }
        if u.arbitrary()? {
            // A hash that belongs to whatever key is inside.
            let (key, hash) = (self.dk[1].start..self.dk[2].end(), self.dk[3].start..self.dk[3].end());
            let digest = Sha3_256::digest(&dk[key]);
            dk[hash].copy_from_slice(&digest);
        }
        Ok(())
    }

    fn tamper_with_ciphertext(&self, u: &mut Unstructured, ciphertext: &mut Vec<u8>) -> Result<()> {
        let other = u.choose(&self.honest)?;
        match u.int_in_range(0..=9u8)? {
            0 => resize(u, ciphertext),
            1 => fill(u, ciphertext),
            // One bit anywhere: a comparison that stops early misses some.
            2 | 3 => flip(u, ciphertext),
            _ => mutate(u, &self.ciphertext, ciphertext, &other.ciphertext),
        }
    }

    fn encaps(&self, u: &mut Unstructured, ek: &[u8], m: &[u8; 32]) -> Result<Option<Encapsulated>> {
        let encaps = |peer: &Peer| match peer.encaps {
            Encapsulation::Seeded(encaps) => Some(encaps(ek, m)),
            Encapsulation::Random(_) => None,
        };
        self.same(u, "encaps", |way| self.karat.encaps(way, ek, m), encaps, true)
    }

    fn decaps(&self, u: &mut Unstructured, dk: &[u8], ciphertext: &[u8]) -> Result<Option<[u8; 32]>> {
        // A private key's coefficients above `q` have no one meaning: there only refusals are compared.
        let reduced =
            dk.len() != self.honest[0].dk.len() || (0..self.dk[0].count).all(|i| self.dk[0].get(dk, i) < 3329);
        let karat = |way| self.karat.decaps(way, dk, ciphertext);
        self.same(u, "decaps", karat, |peer| Some((peer.decaps)(dk, ciphertext)), reduced)
    }

    /// karat's answer in one way, after a comparison with that in another and with a peer's. What karat accepts, nobody
    /// may answer otherwise; what it refuses, those must refuse that check keys as FIPS 203 says.
    fn same<T: PartialEq>(
        &self,
        u: &mut Unstructured,
        what: &str,
        karat: impl Fn(usize) -> Option<T>,
        other: impl Fn(&Peer) -> Option<Option<T>>,
        comparable: bool,
    ) -> Result<Option<T>> {
        let ours = karat(way(u)?);
        assert!(ours == karat(way(u)?), "{}: two ways of {what} differ", self.name);
        if self.peers.is_empty() {
            return Ok(ours);
        }
        let peer = u.choose(&self.peers)?;
        let Some(theirs) = other(peer) else { return Ok(ours) };
        match (&ours, theirs) {
            (Some(a), Some(b)) => {
                assert!(*a == b || !comparable, "{}: {what} differs from {}'s", self.name, peer.name);
            }
            (None, Some(_)) => {
                assert!(!peer.checks_keys, "{}: {what} refuses what {} accepts", self.name, peer.name);
            }
            (Some(_), None) => {
                assert!(!comparable, "{}: {what} accepts what {} refuses", self.name, peer.name);
            }
            (None, None) => {}
        }
        Ok(ours)
    }
}
