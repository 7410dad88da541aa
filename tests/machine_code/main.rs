//! What the compiler made of the schemes, in this very executable.
//!
//! A division takes longer for some operands than for others: where secrets are handled there must be none. Branches
//! are looked at in release code, which has no checks of overflow: `fuzz/constant-time`.

mod scan;

use std::sync::LazyLock;

use karat::schemes::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use karat::schemes::mlkem::{MlKem512, MlKem768, MlKem1024};
use karat::{Cpu, Reference};

/// Everything that is generic gets compiled into this executable.
fn use_everything() {
    macro_rules! kem {
        ($($T:ident),*) => {$({
            let kem = $T::new(Cpu::new()).unwrap();
            let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
            let (ciphertext, secret) = kem.encaps(&ek, &[3; 32]).unwrap();
            assert_eq!(kem.decaps(&dk, &ciphertext), Ok(secret));
            assert_eq!(kem.decaps_batch(&[dk], &[ciphertext]).unwrap(), [Ok(secret)]);
            assert_eq!(kem.keygen_batch(&[[1; 64]]).unwrap().len(), 1);
            assert_eq!(kem.encaps_batch(&[ek], &[[3; 32]]).unwrap().len(), 1);
        })*};
    }
    macro_rules! dsa {
        ($($T:ident),*) => {$({
            let dsa = $T::new(Cpu::new()).unwrap();
            let (pk, sk) = dsa.keygen(&[1; 32]);
            let signature = dsa.sign(&sk, b"m", b"", &[0; 32]).unwrap();
            assert_eq!(dsa.verify(&pk, b"m", b"", &signature), Ok(()));
            let input = karat::schemes::mldsa::Input::Internal(b"m");
            assert_eq!(dsa.keygen_batch(&[[1; 32]]).unwrap().len(), 1);
            assert_eq!(dsa.sign_batch(&[sk], &[input], &[[0; 32]]).unwrap().len(), 1);
        })*};
    }
    kem!(MlKem512, MlKem768, MlKem1024);
    dsa!(MlDsa44, MlDsa65, MlDsa87);
    let _ = MlKem512::new(Reference);
}

/// Functions that divide public numbers: how many polynomials a batch has.
const PUBLIC: [&str; 1] = ["::sign_chunk"];

/// The disassembly of this executable, with everything in it.
fn disassembly() -> Option<&'static str> {
    static DISASSEMBLY: LazyLock<Option<String>> = LazyLock::new(|| {
        use_everything();
        scan::disassemble(&std::env::current_exe().unwrap())
    });
    if DISASSEMBLY.is_none() {
        eprintln!("skipped: there is no objdump");
    }
    DISASSEMBLY.as_deref()
}

#[test]
fn no_division_in_the_schemes() {
    let Some(disassembly) = disassembly() else { return };
    let functions = scan::functions(disassembly);
    let of_schemes = functions.iter().filter(|function| function.name.contains("karat::schemes::"));
    assert!(of_schemes.count() > 20, "the disassembly does not show the schemes");
    // What finds nothing here finds nothing anywhere: the standard library prints numbers by division.
    let dividing: Vec<_> =
        functions.iter().filter(|function| function.divides()).map(|function| function.name).collect();
    assert!(!dividing.is_empty(), "no division was found in the whole executable");
    let wrong = dividing.into_iter().filter(|name| name.contains("karat::schemes::"));
    let wrong: Vec<_> = wrong.filter(|name| !PUBLIC.iter().any(|public| name.ends_with(public))).collect();
    assert!(wrong.is_empty(), "divisions in {wrong:#?}");
}

#[test]
fn no_store_under_a_mask_in_vector_code() {
    let Some(disassembly) = disassembly() else { return };
    let functions = scan::functions(disassembly);
    let mut of_vectors = functions.iter().filter(|function| function.name.contains("karat::backend::cpu::")).peekable();
    assert!(of_vectors.peek().is_some(), "the disassembly does not show the vector code");
    let wrong: Vec<_> = of_vectors.filter(|function| function.stores_under_masks()).map(|f| f.name).collect();
    assert!(wrong.is_empty(), "stores under masks in {wrong:#?}");
}
