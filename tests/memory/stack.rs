//! What a call leaves on the stack: no hash state, no seed, no secret. The stack below the caller is filled, the call
//! runs, and the stack is searched.

use std::hint::black_box;

use karat::Cpu;
use karat::schemes::mldsa::MlDsa65;
use karat::schemes::mlkem::MlKem768;

/// Bytes of the stack that are looked at: more than any call takes.
const DEPTH: usize = 256 << 10;

/// Fills the stack below, so that what is found there was left by the call.
#[inline(never)]
fn fill() {
    black_box(&mut [0x11u8; DEPTH]);
}

/// How often a pattern lies in the stack below.
#[inline(never)]
fn count(pattern: &[u8; 16]) -> usize {
    let here = 0u8;
    let top = black_box(&raw const here) as usize - 256;
    // The pattern itself is looked for byte by byte, so that no copy of it comes to lie there.
    (top - DEPTH + 4096..top)
        .filter(|start| {
            pattern.iter().enumerate().all(|(i, byte)| {
                let address = (start + i) as *const u8;
                // SAFETY: this lies in the thread's stack, which `fill` touched down to this depth: the memory is mapped, and
                // volatile reads of it as bytes make no claim about what it holds.
                (unsafe { address.read_volatile() }) == *byte
            })
        })
        .count()
}

/// Runs a call on a thread of its own and looks for secrets on its stack.
fn leaves(work: impl FnOnce() + Send + 'static, secrets: Vec<[u8; 16]>) -> Vec<usize> {
    // Room for the frames of the search, which would otherwise overwrite what is searched.
    #[inline(never)]
    fn run(work: impl FnOnce()) {
        let mut room = [0u8; 8192];
        black_box(&mut room);
        work();
        black_box(&mut room);
    }
    let thread = std::thread::Builder::new().stack_size(4 * DEPTH).spawn(move || {
        fill();
        run(work);
        secrets.iter().map(count).collect()
    });
    thread.expect("a thread").join().expect("no panic")
}

/// Bytes that no other value of a program has.
fn secret<const LEN: usize>(start: u8) -> [u8; LEN] {
    std::array::from_fn(|i| start.wrapping_mul(31).wrapping_add((i as u8).wrapping_mul(97)) ^ 0x5a)
}

fn head(bytes: &[u8]) -> [u8; 16] {
    bytes[..16].try_into().unwrap()
}

/// The search finds what a careless function leaves.
#[test]
fn the_search_finds() {
    #[inline(never)]
    fn careless(boxed: &[u8; 64]) {
        let mut copy = *boxed;
        black_box(&mut copy);
    }
    // Freeing it would take stack, too.
    let kept: &'static [u8; 64] = Box::leak(Box::new(secret(1)));
    assert_ne!(leaves(move || careless(kept), vec![head(kept)]), [0]);
}

#[test]
fn decapsulation() {
    let kem = MlKem768::new(Cpu::new()).unwrap();
    let z = secret::<32>(2);
    let (ek, dk) = kem.keygen(&secret(3), &z);
    let (ciphertext, shared) = kem.encaps(&ek, &secret(4)).unwrap();
    let dk = Box::new(dk);
    let patterns = vec![head(&z), head(&dk[..]), head(&secret::<32>(4))];
    let out = Box::leak(Box::new([0; 32]));
    let work = move || {
        let (dk, ciphertext): (&[u8; 2400], &[u8; 1088]) = (&dk, &ciphertext);
        *out = kem.decaps(dk, ciphertext).unwrap();
        assert_eq!(*out, shared);
    };
    assert_eq!(leaves(work, patterns), [0; 3]);
}

#[test]
fn signing() {
    let dsa = MlDsa65::new(Cpu::new()).unwrap();
    let (_, sk) = dsa.keygen(&secret(5));
    let sk = Box::new(sk);
    // The seed of masks, and the packed secrets.
    let patterns = vec![head(&sk[32..]), head(&sk[128..])];
    let work = move || drop(black_box(dsa.sign(&sk[..], b"message", b"", &[0; 32])));
    assert_eq!(leaves(work, patterns), [0; 2]);
}
