//! ML-DSA against other implementations: honest runs, and keys and signatures that were tampered with field by field
//! (a coefficient of z at its bound, the encoding of hints, a secret out of range), not only at random bytes. Dilithium
//! against itself.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use karat::schemes::mldsa::{Dsa, Input, Parameters, PreHash};
use shake::{ExtendableOutput, Shake256, Update, XofReader};

use crate::compare;
use crate::fields::{Field, fill, flip, mutate, resize};
use crate::peers::mldsa::{Peer, peers};

/// A parameter set: karat, the others, and where the parts of its encodings lie.
pub struct Set {
    name: &'static str,
    karat: Box<dyn Own>,
    /// None for Dilithium.
    peers: Vec<Peer>,
    round3: bool,
    /// Of a public key: seed, coefficients.
    pk: Vec<Field>,
    /// Of a private key: seed, key, hash, the two secrets, low bits.
    sk: Vec<Field>,
    /// Of a signature: challenge, response, indices of hints, their counts.
    signature: Vec<Field>,
    honest: Vec<Honest>,
}

/// What honest parties have.
#[derive(Clone)]
struct Honest {
    pk: Vec<u8>,
    message: Vec<u8>,
    context: Vec<u8>,
    signature: Vec<u8>,
}

static SETS: LazyLock<Vec<Set>> = LazyLock::new(|| {
    use karat::schemes::mldsa::*;
    let [a, b, c] = peers();
    vec![
        set::<MlDsa44Params>(a),
        set::<MlDsa65Params>(b),
        set::<MlDsa87Params>(c),
        set::<Dilithium2Params>(Vec::new()),
        set::<Dilithium3Params>(Vec::new()),
        set::<Dilithium5Params>(Vec::new()),
    ]
});

fn set<P: Parameters>(peers: Vec<Peer>) -> Set {
    let field =
        |start: usize, count: usize, bits: usize, ends: &[u32]| Field { start, count, bits, ends: ends.to_vec() };
    let t1 = field(32, 256 * P::K, 10, &[0, 1, 1022, 1023]);
    // The encoding of a secret holds eta - s: what exceeds 2·eta is none.
    let (eta_bits, eta_ends) = if P::ETA == 2 { (3, [0, 4, 5, 7]) } else { (4, [0, 8, 9, 15]) };
    let s1 = field(64 + P::TR, 256 * P::L, eta_bits, &eta_ends);
    let s2 = field(s1.end(), 256 * P::K, eta_bits, &eta_ends);
    let t0 = field(s2.end(), 256 * P::K, 13, &[0, 4095, 4096, 8191]);
    // The encoding of the response holds gamma1 - z.
    let (bound, gamma1) = (P::GAMMA1 - P::BETA, P::GAMMA1);
    let near = |z: u32| [gamma1 - z - 1, gamma1 - z, gamma1 - z + 1, gamma1 + z - 1, gamma1 + z, gamma1 + z + 1];
    let z =
        field(P::CHALLENGE, 256 * P::L, P::GAMMA1_BITS + 1, &[&near(bound)[..], &[0, gamma1, 2 * gamma1 - 1]].concat());
    let omega = P::OMEGA as u32;
    let indices = field(z.end(), P::OMEGA, 8, &[0, 1, 254, 255]);
    let counts = field(indices.end(), P::K, 8, &[0, 1, omega - 1, omega, omega + 1, 255]);
    let karat = Levels::<P>::new();
    let honest = (0..4u8).map(|i| {
        let (pk, sk) = karat.keygen(0, &[i; 32]);
        let (message, context) =
            (vec![i; usize::from(i) * 11], vec![i; if P::ROUND3 { 0 } else { usize::from(i) * 85 }]);
        let signature = karat.sign(0, &sk, &message, &context, &[i; 32]).expect("an honest key");
        Honest { pk, message, context, signature }
    });
    Set {
        name: P::NAME,
        peers,
        round3: P::ROUND3,
        pk: vec![Field::bytes(0, 32), t1],
        sk: vec![Field::bytes(0, 32), Field::bytes(32, 32), Field::bytes(64, P::TR), s1, s2, t0],
        signature: vec![Field::bytes(0, P::CHALLENGE), z, indices, counts],
        honest: honest.collect(),
        karat: Box::new(karat),
    }
}

/// karat's operations, whatever the parameter set. `way` chooses a level of the CPU, and between encoded keys, keys that
/// were read before, and batches.
trait Own: Send + Sync {
    fn keygen(&self, way: usize, seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>);
    fn sign(&self, way: usize, sk: &[u8], message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Option<Vec<u8>>;
    fn verify(&self, way: usize, pk: &[u8], input: Input, signature: &[u8]) -> bool;
}

/// On every level of the CPU.
struct Levels<P>(Vec<Dsa<P>>);

impl<P: Parameters> Levels<P> {
    fn new() -> Self {
        Self(compare::cpus().into_iter().map(|(_, cpu)| Dsa::new(cpu).expect("every CPU has the ring")).collect())
    }

    fn level(&self, way: usize) -> &Dsa<P> {
        &self.0[way / 3 % self.0.len()]
    }
}

impl<P: Parameters> Own for Levels<P> {
    fn keygen(&self, way: usize, seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        let dsa = self.level(way);
        let (pk, sk) = match way % 2 {
            0 => dsa.keygen(seed),
            _ => dsa.keygen_batch(&[*seed]).expect("the CPU has memory").remove(0),
        };
        (pk.as_ref().to_vec(), sk.as_ref().to_vec())
    }

    fn sign(&self, way: usize, sk: &[u8], message: &[u8], context: &[u8], rnd: &[u8; 32]) -> Option<Vec<u8>> {
        let dsa = self.level(way);
        let signature = match way % 3 {
            0 => dsa.sign(sk, message, context, rnd),
            1 => dsa.signing_key(sk).ok()?.sign(message, context, rnd),
            _ => {
                let inputs = [Input::Message { message, context }];
                dsa.sign_batch(&[sk], &inputs, &[*rnd]).expect("the CPU has memory").remove(0)
            }
        };
        Some(signature.ok()?.as_ref().to_vec())
    }

    fn verify(&self, way: usize, pk: &[u8], input: Input, signature: &[u8]) -> bool {
        let dsa = self.level(way);
        match way % 3 {
            0 => dsa.verify_input(pk, input, signature),
            1 => dsa.verification_key(pk).and_then(|key| key.verify_input(input, signature)),
            _ => dsa.verify_batch(&[pk], &[input], &[signature]).expect("the CPU has memory").remove(0),
        }
        .is_ok()
    }
}

/// Signs and verifies what the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = signing(&mut Unstructured::new(data));
}

/// Verifies any signature with any key and context.
pub fn verify_any(data: &[u8]) {
    let _ = verification(&mut Unstructured::new(data));
}

fn signing(u: &mut Unstructured) -> Result<()> {
    let set = u.choose(&SETS[..])?;
    let seed = u.arbitrary()?;
    let rnd: [u8; 32] = if u.arbitrary()? { [0; 32] } else { u.arbitrary()? };
    let context = if set.round3 { Vec::new() } else { context(u)? };
    let len = u.int_in_range(0..=40usize)?.min(u.len());
    let message = u.bytes(len)?.to_vec();
    let (pk, mut sk) = set.karat.keygen(way(u)?, &seed);
    let sign = |way, sk: &[u8]| set.karat.sign(way, sk, &message, &context, &rnd);

    if u.ratio(1u8, 5u8)? {
        // Any private key gets a signature or an error, in bounded time.
        let (_, other) = set.karat.keygen(0, &[7; 32]);
        match u.int_in_range(0..=5u8)? {
            0 => resize(u, &mut sk)?,
            1 => fill(u, &mut sk)?,
            _ => mutate(u, &set.sk, &mut sk, &other)?,
        }
        assert!(sign(way(u)?, &sk) == sign(way(u)?, &sk), "{}: two ways of signing differ", set.name);
        return Ok(());
    }
    let ours = sign(way(u)?, &sk);
    assert!(ours.is_some() == (context.len() <= 255), "{}: context of {} bytes", set.name, context.len());
    if !set.peers.is_empty() {
        let peer = u.choose(&set.peers)?;
        assert!((peer.keygen)(&seed) == (pk.clone(), sk.clone()), "{}: keys differ from {}'s", set.name, peer.name);
        let differs = peer.sign.is_some_and(|sign| sign(&sk, &message, &context, &rnd) != ours);
        assert!(!differs, "{}: the signature differs from {}'s", set.name, peer.name);
    }
    let Some(signature) = ours else {
        return Ok(());
    };
    let mut signed = Honest { pk, message, context, signature };
    assert!(set.verify(u, &signed)?, "{}: an honest signature is refused", set.name);
    set.tamper(u, &mut signed)?;
    set.verify(u, &signed)?;
    Ok(())
}

fn verification(u: &mut Unstructured) -> Result<()> {
    let set = u.choose(&SETS[..])?;
    let honest = u.choose(&set.honest)?;
    let mut signed = honest.clone();
    for _ in 0..u.int_in_range(0..=2u8)? {
        set.tamper(u, &mut signed)?;
    }
    let accepted = set.verify(u, &signed)?;
    let same = signed.pk == honest.pk
        && signed.message == honest.message
        && signed.context == honest.context
        && signed.signature == honest.signature;
    // A change of the signature alone can be another valid one only with negligible probability.
    assert!(accepted == same, "{}: accepted: {accepted}, honest: {same}", set.name);
    Ok(())
}

fn way(u: &mut Unstructured) -> Result<usize> {
    Ok(u.arbitrary::<u8>()?.into())
}

/// Contexts of every length that matters.
fn context(u: &mut Unstructured) -> Result<Vec<u8>> {
    Ok(vec![u.arbitrary::<u8>()?; *u.choose(&[0, 1, 17, 254, 255, 256])?])
}

impl Set {
    /// karat's verdict in one way, after a comparison with that in another, that on the message representative, and a
    /// peer's.
    fn verify(&self, u: &mut Unstructured, signed: &Honest) -> Result<bool> {
        let Honest { pk, message, context, signature } = signed;
        let verify = |way: usize, input: Input| self.karat.verify(way, pk, input, signature);
        let ours = verify(way(u)?, Input::Message { message, context });
        if context.len() <= 255 {
            let mu = self.representative(signed);
            assert!(verify(way(u)?, Input::Mu(&mu)) == ours, "{}: the message representative differs", self.name);
        }
        let hash = *u.choose(&PreHash::ALL)?;
        assert!(
            !verify(way(u)?, Input::Hashed { hash, message, context }),
            "{}: one form verifies as another",
            self.name
        );
        if self.peers.is_empty() {
            return Ok(ours);
        }
        let peer = u.choose(&self.peers)?;
        if peer.contexts || context.is_empty() {
            let theirs = (peer.verify)(pk, message, context, signature);
            assert!(ours == theirs, "{}: karat says {ours}, {} {theirs}", self.name, peer.name);
        }
        Ok(ours)
    }

    /// `H(H(pk) ‖ 0 ‖ |context| ‖ context ‖ message)` (FIPS 204, algorithm 3); Dilithium has no contexts.
    fn representative(&self, signed: &Honest) -> [u8; 64] {
        let shake = |parts: &[&[u8]], out: &mut [u8]| {
            let mut hash = Shake256::default();
            parts.iter().for_each(|part| hash.update(part));
            hash.finalize_xof().read(out);
        };
        let (mut tr, mut mu) = ([0; 64], [0; 64]);
        let tr = &mut tr[..self.sk[2].count];
        shake(&[&signed.pk], tr);
        let head = [0, signed.context.len() as u8];
        let head = if self.round3 { &[] } else { &head[..] };
        shake(&[tr, head, &signed.context, &signed.message], &mut mu);
        mu
    }

    fn tamper(&self, u: &mut Unstructured, signed: &mut Honest) -> Result<()> {
        let other = u.choose(&self.honest)?;
        if signed.pk.len() != other.pk.len() || signed.signature.len() != other.signature.len() {
            return Ok(());
        }
        match u.int_in_range(0..=15u8)? {
            0 => resize(u, &mut signed.signature),
            1 => fill(u, &mut signed.signature),
            2 => resize(u, &mut signed.pk),
            3 => fill(u, &mut signed.pk),
            4 => mutate(u, &self.pk, &mut signed.pk, &other.pk),
            5 => {
                signed.message.push(u.arbitrary()?);
                Ok(())
            }
            6 if !self.round3 => {
                signed.context = context(u)?;
                Ok(())
            }
            7 => flip(u, &mut signed.signature),
            8..=11 => self.tamper_with_hints(u, &mut signed.signature),
            _ => mutate(u, &self.signature, &mut signed.signature, &other.signature),
        }
    }

    /// Repeated, unsorted or too many hints, decreasing counts, padding that is not zero.
    fn tamper_with_hints(&self, u: &mut Unstructured, signature: &mut [u8]) -> Result<()> {
        let [.., indices, counts] = &self.signature[..] else { unreachable!("four fields") };
        let (omega, k) = (indices.count, counts.count);
        let hints = &mut signature[indices.start..];
        let used = usize::from(hints[omega + k - 1]);
        match u.int_in_range(0..=5u8)? {
            0 if used >= 2 => hints[1] = hints[0],
            1 if used >= 2 => hints.swap(0, 1),
            2 if used < omega => hints[u.int_in_range(used..=omega - 1)?] = u.arbitrary()?,
            3 => hints[omega + u.int_in_range(0..=k - 1)?] = u.arbitrary()?,
            4 => hints[omega + k - 1] = (omega + 1) as u8,
            _ => hints[u.int_in_range(0..=omega - 1)?] = u.arbitrary()?,
        }
        Ok(())
    }
}
