//! ML-KEM with secret inputs: no branch and no address depends on the message, the secret vector or `z`. Key generation
//! is not here: it expands its public seed from the secret one, and matrices are sampled with branches.

use karat::schemes::mlkem::{Kem, MlKem512Params, MlKem768Params, MlKem1024Params, Parameters};
use karat::{Cpu, RingContext, ring::presets::MlKem};

use crate::valgrind;

/// Errors that memcheck finds in the parameter sets at one level of the CPU.
pub fn leaks(cpu: Cpu) -> u64 {
    of::<MlKem512Params>(cpu) + of::<MlKem768Params>(cpu) + of::<MlKem1024Params>(cpu)
}

fn of<P: Parameters>(cpu: Cpu) -> u64 {
    let kem = Kem::<P>::with_ring(RingContext::new(cpu, MlKem).expect("the ring of ML-KEM"));
    let (ek, mut dk) = kem.keygen(&[1; 32], &[2; 32]);
    let before = valgrind::errors();

    let message = [3; 32];
    valgrind::secret(&message);
    let (ciphertext, shared) = kem.encaps(ek.as_ref(), &message).expect("a good key");
    valgrind::public(ciphertext.as_ref());
    valgrind::public(&shared);

    let (public, len) = (384 * P::K, dk.as_ref().len());
    valgrind::secret(&dk.as_mut()[..public]);
    valgrind::secret(&dk.as_mut()[len - 32..]);
    let again = kem.decaps(dk.as_ref(), ciphertext.as_ref()).expect("a good key");
    valgrind::public(&again);
    assert!(again == shared);
    valgrind::errors() - before
}
