//! ML-DSA with secret inputs: the seed of a key pair, the private key but for what the public key holds, `rnd`.

use std::hint::black_box;

use karat::schemes::mldsa::{Dsa, Input, MlDsa44Params, MlDsa65Params, MlDsa87Params, Parameters};
use karat::{Cpu, RingContext, memcheck, ring::presets::MlDsa};

/// Errors that memcheck finds in the parameter sets at one level of the CPU.
pub fn leaks(cpu: Cpu) -> u64 {
    of::<MlDsa44Params>(cpu) + of::<MlDsa65Params>(cpu) + of::<MlDsa87Params>(cpu)
}

fn of<P: Parameters>(cpu: Cpu) -> u64 {
    let dsa = Dsa::<P>::with_ring(RingContext::new(cpu, MlDsa).expect("the ring of ML-DSA"));
    let before = memcheck::errors();

    let seed = black_box([[1; 32]]);
    memcheck::secret(&seed);
    let (pk, sk) = dsa.keygen(&seed[0]);
    memcheck::public(pk.as_ref());
    // The seed of the matrix and the hash of the public key.
    memcheck::public(&sk.as_ref()[..32]);
    memcheck::public(&sk.as_ref()[64..64 + P::TR]);

    let rnd = black_box([[5; 32]]);
    memcheck::secret(&rnd);
    let input = Input::Message { message: b"message", context: b"context" };
    let signature = dsa.sign_input(sk.as_ref(), input, &rnd[0]).expect("a good key");
    let key = dsa.key_from_seed(&seed[0]);
    let again = key.sign_input(input, &rnd[0]).expect("a good key");
    let batch = dsa.keygen_batch(&seed).expect("keys");
    let signed = dsa.sign_batch(&[sk.as_ref()], &[input], &rnd).expect("results");
    let found = memcheck::errors() - before;

    let signed = signed[0].as_ref().expect("a good key");
    for bytes in [signature.as_ref(), again.as_ref(), signed.as_ref(), batch[0].0.as_ref()] {
        memcheck::public(bytes);
    }
    assert!(signature.as_ref() == again.as_ref() && signature.as_ref() == signed.as_ref());
    assert!(batch[0].0.as_ref() == pk.as_ref());
    assert!(dsa.verify_input(pk.as_ref(), input, signature.as_ref()).is_ok());
    found
}
