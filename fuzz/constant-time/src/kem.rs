//! ML-KEM with secret inputs: the seeds of a key pair, the message, the secret vector and `z`.

use std::hint::black_box;

use karat::schemes::mlkem::{Kem, MlKem512Params, MlKem768Params, MlKem1024Params, Parameters};
use karat::{Cpu, RingContext, memcheck, ring::presets::MlKem};

/// Errors that memcheck finds in the parameter sets at one level of the CPU.
pub fn leaks(cpu: Cpu) -> u64 {
    of::<MlKem512Params>(cpu) + of::<MlKem768Params>(cpu) + of::<MlKem1024Params>(cpu)
}

fn of<P: Parameters>(cpu: Cpu) -> u64 {
    let kem = Kem::<P>::with_ring(RingContext::new(cpu, MlKem).expect("the ring of ML-KEM"));
    let before = memcheck::errors();

    let seeds = black_box([[1; 32], [2; 32]]);
    memcheck::secret(&seeds);
    let (ek, dk) = kem.keygen(&seeds[0], &seeds[1]);
    memcheck::public(ek.as_ref());
    // The parts of the private key that the public key holds, or its hash.
    let (secret, len) = (384 * P::K, dk.as_ref().len());
    memcheck::public(&dk.as_ref()[secret..len - 32]);

    let message = black_box([3; 32]);
    memcheck::secret(&message);
    let (ciphertext, shared) = kem.encaps(ek.as_ref(), &message).expect("a good key");
    memcheck::public(ciphertext.as_ref());
    let again = kem.decaps(dk.as_ref(), ciphertext.as_ref()).expect("a good key");
    // A ciphertext that was not made with the key takes the same way.
    let mut other = ciphertext.clone();
    other.as_mut()[0] ^= 1;
    let rejected = kem.decaps(dk.as_ref(), other.as_ref()).expect("a good key");
    let key = kem.key_from_seed(&seeds[0], &seeds[1]);
    let once_more = key.decaps(ciphertext.as_ref()).expect("a good key");

    let batch = kem.keygen_batch(&[[1; 64]]).expect("keys");
    let joint = black_box([[1; 64]]);
    memcheck::secret(&joint);
    let secret_batch = kem.keygen_batch(&joint).expect("keys");
    let encapsulated = kem.encaps_batch(&[ek.as_ref()], &[message]).expect("results");
    let decapsulated = kem.decaps_batch(&[dk.as_ref()], &[ciphertext.as_ref()]).expect("results");
    let found = memcheck::errors() - before;

    let (encapsulated, decapsulated) =
        (encapsulated[0].as_ref().expect("good"), decapsulated[0].as_ref().expect("good"));
    for secret in [&shared, &again, &rejected, &once_more, &encapsulated.1, decapsulated] {
        memcheck::public(secret);
    }
    assert!(again == shared && once_more == shared && encapsulated.1 == shared && *decapsulated == shared);
    assert!(rejected != shared);
    memcheck::public(secret_batch[0].0.as_ref());
    assert!(batch[0].0.as_ref() == secret_batch[0].0.as_ref());
    found
}
