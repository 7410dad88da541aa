//! Small products allocate nothing after set-up.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use karat::context::{Coeff, Public};
use karat::{AnyBackend, Cpu, PolyBatch, Ring, RingContext, RingMul, RingSpec, UserRing, ring::presets};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Bytes that are in use.
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting per thread.
struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; counting touches a plain thread-local cell, which needs
// no allocation itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LIVE.set(LIVE.get().wrapping_add(layout.size()));
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        // SAFETY: as above; the pointer came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

fn mul_into<B: RingMul<R>, R: Ring>(backend: B, ring: R) {
    let name = ring.spec().to_string();
    let ring = RingContext::new(backend, ring).unwrap();
    let a = ring.upload(&vec![Default::default(); ring.ring().spec().n()]).unwrap();
    let mut c: PolyBatch<_, _, Coeff, Public> = ring.zeros(1).unwrap();
    assert_eq!(allocations(|| ring.mul_into(&a, &a, &mut c).unwrap()), 0, "mul_into in {name}");
}

fn mul_slices<R: Ring>(ring: R) {
    let name = ring.spec().to_string();
    let ring = RingContext::new(Cpu::new(), ring).unwrap();
    let a = vec![Default::default(); ring.ring().spec().n()];
    let mut c = a.clone();
    assert_eq!(allocations(|| ring.mul_slices(&a, &a, &mut c).unwrap()), 0, "mul_slices in {name}");
}

fn user(text: &str) -> UserRing<u64> {
    UserRing::new(text.parse::<RingSpec>().unwrap()).unwrap()
}

/// Complete NTTs and k-NTTs up to N = 1024, in every word class.
const RINGS: [&str; 6] = [
    "ml-kem",
    "falcon-1024",
    "n=1024,q=257,f=x^1024+1",
    "n=1024,q=8380417,f=x^1024+1",
    "n=1024,q=1152921504606830593,f=x^1024+1",
    "n=1000,q=97,f=x^1000-1",
];

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(Vec::<u8>::with_capacity(100))), 1);
}

/// A thousand contexts at once, with what they computed, again and again: nothing of them stays.
#[test]
fn a_thousand_contexts_leave_nothing() {
    const RINGS: [&str; 5] =
        ["q=257,f=x^64+1,alpha=3", "q=12289,f=x^64+1", "q=8380417,f=x^32+1", "q=1000,f=x^16+1", "q=17,f=x^8-1"];
    let round = || {
        let contexts: Vec<_> = (0..1000)
            .map(|i| {
                let ring = RingContext::new(Cpu::new().single_threaded(), user(RINGS[i % RINGS.len()])).unwrap();
                let n = ring.ring().spec().n();
                let a = ring.upload(&(0..n as u64).map(|x| x % ring.ring().spec().q()).collect::<Vec<_>>()).unwrap();
                let product = ring.mul(&a, &a).unwrap();
                (ring, product)
            })
            .collect();
        let products: Vec<Vec<u64>> = contexts.iter().map(|(_, product)| product.download().unwrap()).collect();
        products.iter().zip(products.iter().skip(RINGS.len())).for_each(|(a, b)| assert!(a == b));
    };
    // What is made once in a process is made now.
    round();
    let before = LIVE.get();
    round();
    assert_eq!(LIVE.get(), before);
}

#[test]
fn batches() {
    for text in RINGS {
        mul_into(Cpu::new(), user(text));
        mul_into(Cpu::scalar(), user(text));
        mul_into(AnyBackend::from_name("auto").unwrap(), user(text));
    }
    mul_into(Cpu::new(), presets::MlKem);
    mul_into(Cpu::new(), presets::MlDsa);
}

#[test]
fn slices() {
    for text in RINGS {
        mul_slices(user(text));
    }
    mul_slices(presets::MlKem);
    mul_slices(presets::MlDsa);
    mul_slices(presets::Falcon512);
}

/// Single calls of the schemes, from encoded keys.
#[cfg(all(feature = "mlkem", feature = "mldsa"))]
#[test]
fn schemes() {
    use karat::schemes::mldsa::{Dsa, MlDsa44Params, MlDsa65Params, MlDsa87Params, Parameters as _};
    use karat::schemes::mlkem::{Kem, MlKem512Params, MlKem768Params, MlKem1024Params, Parameters as _};
    macro_rules! kem {
        ($P:ty) => {
            let kem = Kem::<$P>::new(Cpu::new()).unwrap();
            let mut results = None;
            let count = allocations(|| {
                let (ek, dk) = kem.keygen(&[1; 32], &[2; 32]);
                let (ciphertext, secret) = kem.encaps(&ek, &[3; 32]).unwrap();
                results = Some((secret, kem.decaps(&dk, &ciphertext).unwrap()));
            });
            assert_eq!(count, 0, "{}", <$P>::NAME);
            assert!(results.is_some_and(|(a, b)| a == b));
        };
    }
    macro_rules! dsa {
        ($P:ty) => {
            let dsa = Dsa::<$P>::new(Cpu::new()).unwrap();
            let mut result = None;
            let count = allocations(|| {
                let (pk, sk) = dsa.keygen(&[1; 32]);
                let signature = dsa.sign(&sk, b"message", b"", &[0; 32]).unwrap();
                result = Some(dsa.verify(&pk, b"message", b"", &signature));
            });
            assert_eq!(count, 0, "{}", <$P>::NAME);
            assert_eq!(result, Some(Ok(())));
        };
    }
    kem!(MlKem512Params);
    kem!(MlKem768Params);
    kem!(MlKem1024Params);
    dsa!(MlDsa44Params);
    dsa!(MlDsa65Params);
    dsa!(MlDsa87Params);
}

/// Calls on keys that were read before, through the traits of the ecosystem.
#[cfg(all(feature = "kem", feature = "signature"))]
#[test]
fn traits() {
    use getrandom::{SysRng, rand_core::UnwrapErr};
    use karat::schemes::{mldsa::MlDsa65, mlkem::MlKem768};
    use kem::{Decapsulate, Encapsulate};
    use signature::{RandomizedSigner, Signer, Verifier};
    let rng = &mut UnwrapErr(SysRng);
    let key = MlKem768::new(Cpu::new()).unwrap().key_from_rng(rng).unwrap();
    let mut same = false;
    let count = allocations(|| {
        let (ciphertext, secret) = key.encapsulation_key().encapsulate_with_rng(rng);
        same = key.decapsulate(&ciphertext) == secret;
    });
    assert_eq!((count, same), (0, true));

    let key = MlDsa65::new(Cpu::new()).unwrap().key_from_rng(rng).unwrap();
    let public = key.verification_key();
    let mut good = false;
    let count = allocations(|| {
        let (one, other) = (Signer::sign(&key, b"message"), key.sign_with_rng(rng, b"message"));
        good = [one, other].iter().all(|signature| Verifier::verify(&public, b"message", signature).is_ok());
    });
    assert_eq!((count, good), (0, true));
}
