//! Products in rings with secret coefficients, every word class and method.

use karat::arith::Word;
use karat::backend::{Erase, HostBuffer, Matrix};
use karat::ring::presets;
use karat::{AnyBackend, Backend, Cpu, Reference, Result, RingMul, RingSpec, UserRing, memcheck};

/// Every preset, every word class, and the methods that no preset has.
pub fn all() -> Vec<RingSpec> {
    let more = [
        "q=1152921504606830593,f=x^256+1",
        "q=257,f=x^64+1,alpha=3",
        "q=2013265921,f=x^256+1",
        "q=257,f=x^64-1",
        "q=2305843009213693952,f=x^64+1",
    ];
    let more = more.into_iter().map(|text| text.parse().expect("a ring"));
    presets::all().into_iter().cloned().chain(more).collect()
}

/// Errors in one ring on one backend; `None` where it is not watched.
pub fn leaks(backend: AnyBackend, spec: &RingSpec) -> Option<u64> {
    let found = match backend {
        AnyBackend::Cpu(cpu) => of_ring(cpu, spec),
        // The oracle takes N² steps.
        AnyBackend::Reference(_) if spec.n() <= 256 => of_ring(Reference, spec),
        _ => return None,
    };
    Some(found.unwrap_or_else(|error| panic!("{spec}: {error}")))
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
        memcheck::secret(B::words(&buffer));
        Ok(buffer)
    };
    let domain = |words: usize| backend.alloc::<u64>(batch * words, Erase::OnDrop);
    let before = memcheck::errors();

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
    memcheck::public(B::words(&product));
    Ok(memcheck::errors() - before)
}
