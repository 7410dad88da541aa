//! Serialised CKKS objects: whole ones are read and written again byte for byte; damaged ones and any other bytes get a
//! typed error or an object that writes itself the same.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use karat::Cpu;
use karat::ckks::{Ckks, KeyPlan, Literal, Parameters, Prime};

struct Whole {
    ckks: Ckks<Cpu, u64>,
    /// Parameters, a plaintext, a ciphertext, a secret key, a public key, keys for evaluation.
    files: [Vec<u8>; 6],
}

static WHOLE: LazyLock<Whole> = LazyLock::new(|| {
    let parameters = Literal::preset(Prime::Bits60, 1).and_then(|literal| literal.validate()).expect("a preset");
    let ckks = Ckks::<_, u64>::new(Cpu::new(), parameters).expect("every CPU has the ring");
    let mut keygen = ckks.keygen();
    let secret = keygen.secret_key().expect("the system has randomness");
    let public = keygen.public_key(&secret).expect("the system has randomness");
    let plan = KeyPlan::new(ckks.parameters()).relinearisation();
    let keys = keygen.keys(&secret, &plan).expect("the system has randomness");
    let plaintext = ckks.encode_real(&[1.5, -2.0]).expect("small values");
    let ciphertext = ckks.encrypt_secret(&plaintext, &secret).expect("the system has randomness");
    let files = [
        ckks.parameters().to_bytes(),
        plaintext.to_bytes().expect("memory takes all"),
        ciphertext.to_bytes().expect("memory takes all"),
        secret.to_bytes().to_vec(),
        public.to_bytes().expect("memory takes all"),
        keys.to_bytes().expect("memory takes all"),
    ];
    Whole { ckks, files }
});

/// Reads what the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let kind = u.int_in_range(0..=5usize)?;
    let mut bytes = WHOLE.files[kind].clone();
    match u.int_in_range(0..=5u8)? {
        0 => {}
        1 => bytes.truncate(u.int_in_range(0..=bytes.len())?),
        2 => bytes.push(u.arbitrary()?),
        3 => {
            // The head, where the lengths are.
            let at = u.int_in_range(0..=bytes.len().min(80) - 1)?;
            bytes[at] = u.arbitrary()?;
        }
        4 => {
            let at = u.int_in_range(0..=bytes.len() - 1)?;
            let len = u.int_in_range(1..=16usize)?.min(bytes.len() - at);
            bytes[at..at + len].fill(u.arbitrary()?);
        }
        _ => {
            let len = u.len();
            bytes = u.bytes(len)?.to_vec();
        }
    }
    let changed = bytes != WHOLE.files[kind];
    let again = read(kind, &bytes);
    assert!(changed || again.is_some(), "a whole object of kind {kind} is refused");
    if let Some(again) = again {
        assert!(again == bytes, "an object of kind {kind} is written otherwise than it was read");
    }
    Ok(())
}

/// What an object that was read writes.
fn read(kind: usize, bytes: &[u8]) -> Option<Vec<u8>> {
    let ckks = &WHOLE.ckks;
    let written = match kind {
        0 => Ok(Parameters::from_bytes(bytes).ok()?.to_bytes()),
        1 => ckks.plaintext_from_bytes(bytes).ok()?.to_bytes(),
        2 => ckks.ciphertext_from_bytes(bytes).ok()?.to_bytes(),
        3 => Ok(ckks.secret_key_from_bytes(bytes).ok()?.to_bytes().to_vec()),
        4 => ckks.public_key_from_bytes(bytes).ok()?.to_bytes(),
        _ => ckks.key_set_from_bytes(bytes).ok()?.to_bytes(),
    };
    Some(written.expect("what was read can be written"))
}
