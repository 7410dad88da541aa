//! Constant time, watched by valgrind: `.ci/constant-time` builds and runs this at several levels of optimisation.
//!
//! Coefficients are marked undefined, so that memcheck reports every branch and every address that depends on one of
//! them. Planted leaks come first: where they are not reported, nothing else counts. Divisions have no branch and no
//! address; `.ci/constant-time` looks for them in the machine code.

mod kem;
mod valgrind;

use std::hint::black_box;
use std::process::ExitCode;

use karat::arith::Word;
use karat::backend::{Erase, HostBuffer, Matrix};
use karat::ring::presets;
use karat::{AnyBackend, Backend, Cpu, Reference, Result, RingMul, RingSpec, UserRing};

fn main() -> ExitCode {
    if !valgrind::is_watching() {
        eprintln!("run me under valgrind: .ci/constant-time does");
        return ExitCode::from(2);
    }
    if !(reported("a branch", planted_branch) && reported("an address", planted_address)) {
        return ExitCode::from(3);
    }
    let mut rings: Vec<RingSpec> = presets::all().into_iter().cloned().collect();
    // Every word class, and the methods that no preset has.
    for text in [
        "q=1152921504606830593,f=x^256+1",
        "q=257,f=x^64+1,alpha=3",
        "q=2013265921,f=x^256+1",
        "q=257,f=x^64-1",
        "q=2305843009213693952,f=x^64+1",
    ] {
        rings.push(text.parse().expect("a ring"));
    }
    let mut leaks = 0;
    for spec in rings {
        for (name, backend) in AnyBackend::all() {
            let found = match backend {
                Ok(AnyBackend::Cpu(cpu)) => of_ring(cpu, &spec),
                // The oracle takes N² steps.
                Ok(AnyBackend::Reference(_)) if spec.n() <= 256 => of_ring(Reference, &spec),
                _ => continue,
            };
            let found = found.unwrap_or_else(|error| panic!("{spec} on {name}: {error}"));
            println!("{name:10} {:40} {found} leaks", spec.to_string());
            leaks += found;
        }
    }
    for (name, backend) in AnyBackend::all() {
        if let Ok(AnyBackend::Cpu(cpu)) = backend {
            let found = kem::leaks(cpu);
            println!("{name:10} {:40} {found} leaks", "encapsulation and decapsulation of ML-KEM");
            leaks += found;
        }
    }
    println!("{leaks} leaks");
    if leaks > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether memcheck reports a leak that is one.
fn reported(what: &str, leak: fn(&[u16]) -> u16) -> bool {
    let secret = [1234u16, 3000, 17, 5];
    let before = valgrind::errors();
    valgrind::secret(&secret);
    let result = leak(black_box(&secret));
    valgrind::public(&secret);
    valgrind::public(&[result]);
    let seen = valgrind::errors() > before;
    println!("planted leak, {what}: {}", if seen { "reported" } else { "NOT REPORTED: this run shows nothing" });
    seen
}

/// A conditional subtraction as a branch.
fn planted_branch(secret: &[u16]) -> u16 {
    let mut sum = 0;
    for x in secret {
        sum += x;
        if sum >= 3329 {
            sum -= black_box(3329);
        }
    }
    sum
}

/// A table looked up by a coefficient.
fn planted_address(secret: &[u16]) -> u16 {
    static SQUARES: [u16; 8] = [0, 1, 4, 9, 16, 25, 36, 49];
    black_box(&SQUARES)[(secret[0] % 8) as usize]
}

fn of_ring<B>(backend: B, spec: &RingSpec) -> Result<u64>
where
    B: RingMul<UserRing<u16>> + RingMul<UserRing<u32>> + RingMul<UserRing<u64>> + HostMemory,
{
    match spec.word_bits() {
        16 => operations::<u16, B>(backend, spec),
        32 => operations::<u32, B>(backend, spec),
        _ => operations::<u64, B>(backend, spec),
    }
}

/// A backend whose buffers are host memory.
trait HostMemory: Backend {
    fn words<W: Word>(buffer: &Self::Buffer<W>) -> &[W];
}

macro_rules! host_memory {
    ($($B:ty),*) => {$(
        impl HostMemory for $B {
            fn words<W: Word>(buffer: &HostBuffer<W>) -> &[W] {
                buffer
            }
        }
    )*};
}
host_memory!(Cpu, Reference);

/// Errors that memcheck finds in the operations of one ring.
fn operations<W: Word, B: RingMul<UserRing<W>> + HostMemory>(backend: B, spec: &RingSpec) -> Result<u64> {
    let (n, q) = (spec.n(), spec.q());
    let plan = backend.plan(&UserRing::new(spec.clone())?)?;
    let (ntt_words, prepared_words) = (backend.ntt_words(&plan), backend.prepared_words(&plan));
    let batch = 2;
    let secret = |seed: u64| -> Result<B::Buffer<W>> {
        let value = |i: u64| W::from_u64((seed + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q);
        let mut buffer = backend.alloc(batch * n, Erase::OnDrop)?;
        backend.upload(&(0..(batch * n) as u64).map(value).collect::<Vec<_>>(), &mut buffer)?;
        valgrind::secret(B::words(&buffer));
        Ok(buffer)
    };
    let domain = |words: usize| backend.alloc::<u64>(batch * words, Erase::OnDrop);
    let before = valgrind::errors();

    let (a, b) = (secret(1)?, secret(2)?);
    let mut product = backend.alloc::<W>(batch * n, Erase::OnDrop)?;
    backend.mul(&plan, batch, &a, &b, &mut product)?;

    let (mut x, mut y, mut z) = (domain(ntt_words)?, domain(ntt_words)?, domain(ntt_words)?);
    let mut prepared = domain(prepared_words)?;
    backend.ntt(&plan, batch, &a, &mut x)?;
    backend.ntt(&plan, batch, &b, &mut y)?;
    backend.mat_vec(&plan, Matrix { batch: 1, rows: 1, columns: 2, shared: false }, &x, &y, &mut z)?;
    backend.prepare(&plan, batch, &y, &mut prepared)?;
    backend.pointwise_prepared(&plan, batch, false, &x, &prepared, &mut z)?;
    backend.intt(&plan, batch, &z, &mut product)?;
    if spec.method().shape().is_some() {
        backend.export_ntt(&plan, batch, &x, &mut product)?;
        backend.import_ntt(&plan, batch, &product, &mut z)?;
    }
    // What is erased on drop was written by the operations: nothing looks at it.
    valgrind::public(B::words(&product));
    Ok(valgrind::errors() - before)
}
