//! Contexts beside each other, from many threads, at their first use; slices at any alignment.

use std::sync::Barrier;
use std::thread;

use karat::arith::Word;
use karat::backend::cpu::Level;
use karat::context::{Coeff, Ntt, Public, Secret};
use karat::ring::presets::{MlDsa, MlKem, Raccoon, Saber, Sntrup761};
use karat::{Cpu, Error, Reference, Ring, RingContext, RingMul, UserRing};

/// Every level of this CPU.
fn levels() -> Vec<Cpu> {
    let levels = [Level::Scalar, Level::Avx2, Level::Avx512];
    levels.into_iter().filter_map(|level| Cpu::with_level(level).ok()).collect()
}

/// A polynomial that depends on a number.
fn polynomial<R: Ring>(ring: &R, number: u64) -> Vec<R::Word> {
    let q = ring.spec().q();
    let value = |i: usize| (number + 1).wrapping_mul(i as u64 + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) % q;
    (0..ring.spec().n()).map(|i| R::Word::from_u64(value(i))).collect()
}

fn product<B: RingMul<R>, R: Ring>(context: &RingContext<B, R>, number: u64) -> Vec<R::Word> {
    let (a, b) = (polynomial(context.ring(), number), polynomial(context.ring(), number + 1));
    let (a, b) = (context.upload(&a).unwrap(), context.upload(&b).unwrap());
    context.mul(&a, &b).unwrap().download().unwrap()
}

fn expected<R: Ring>(ring: &R, number: u64) -> Vec<R::Word> {
    product(&RingContext::new(Reference, ring.clone()).unwrap(), number)
}

#[test]
fn rings_side_by_side_dropped_in_both_orders() {
    for first_dropped in [true, false] {
        let kem = RingContext::new(Cpu::new(), MlKem).unwrap();
        let dsa = RingContext::new(Cpu::new(), MlDsa).unwrap();
        let saber = RingContext::new(Cpu::new(), Saber).unwrap();
        for number in 0..4 {
            assert_eq!(product(&kem, number), expected(&MlKem, number));
            assert_eq!(product(&dsa, number), expected(&MlDsa, number));
            assert_eq!(product(&saber, number), expected(&Saber, number));
        }
        // Batches keep their context alive.
        let a = dsa.upload(&polynomial(&MlDsa, 9)).unwrap();
        if first_dropped {
            drop(kem);
            assert_eq!(product(&saber, 5), expected(&Saber, 5));
            drop(saber);
        } else {
            drop(saber);
            assert_eq!(product(&kem, 5), expected(&MlKem, 5));
            drop(kem);
        }
        let own = a.context().clone();
        drop(dsa);
        assert_eq!(own.mul(&a, &a).unwrap().download().unwrap().len(), 256);
        assert_eq!(product(&own, 6), expected(&MlDsa, 6));
    }
}

/// Threads that all start their first product at once.
fn from_threads<R: Ring>(ring: R, threads: u64) {
    let wanted: Vec<_> = (0..threads).map(|number| expected(&ring, number)).collect();
    for cpu in levels() {
        let context = RingContext::new(cpu, ring.clone()).unwrap();
        let barrier = Barrier::new(threads as usize);
        thread::scope(|scope| {
            for (number, wanted) in wanted.iter().enumerate() {
                let (context, barrier) = (context.clone(), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for _ in 0..8 {
                        assert_eq!(&product(&context, number as u64), wanted);
                    }
                });
            }
        });
    }
}

#[test]
fn first_use_from_many_threads() {
    from_threads(MlKem, 64);
    from_threads(Raccoon, 64);
    from_threads(Sntrup761, 64);
}

#[test]
fn contexts_made_by_many_threads_at_once() {
    let wanted = expected(&MlDsa, 3);
    let barrier = Barrier::new(16);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                barrier.wait();
                assert_eq!(product(&RingContext::new(Cpu::new(), MlDsa).unwrap(), 3), wanted);
            });
        }
    });
}

#[test]
fn batches_beyond_memory_are_errors() {
    let ring = RingContext::new(Cpu::new(), MlKem).unwrap();
    for batch in [usize::MAX, usize::MAX / 512, 1 << 54, 1 << 46] {
        let zeros = ring.zeros::<Coeff, Public>(batch);
        assert!(matches!(zeros, Err(Error::OutOfMemory { .. })), "{batch}");
        let zeros = ring.zeros::<Ntt, Secret>(batch);
        assert!(matches!(zeros, Err(Error::OutOfMemory { .. })), "{batch}");
    }
    assert_eq!(product(&ring, 1), expected(&MlKem, 1));
}

#[test]
fn the_very_first_product_is_right() {
    for cpu in levels() {
        for number in 0..20 {
            let context = RingContext::new(cpu, MlKem).unwrap();
            assert_eq!(product(&context, number), expected(&MlKem, number), "{cpu:?}");
        }
    }
}

/// Values that one backend exports are read by every other.
#[test]
fn exported_values_cross_backends() {
    fn crosses<R: Ring>(ring: R) {
        let a = polynomial(&ring, 1);
        let oracle = RingContext::new(Reference, ring.clone()).unwrap();
        let wanted = oracle.export_ntt(&oracle.ntt(&oracle.upload(&a).unwrap()).unwrap()).unwrap().download().unwrap();
        for cpu in levels() {
            let context = RingContext::new(cpu, ring.clone()).unwrap();
            let values = context.ntt(&context.upload(&a).unwrap()).unwrap();
            assert_eq!(context.export_ntt(&values).unwrap().download().unwrap(), wanted, "{cpu:?}");
            let read = context.import_ntt(&context.upload(&wanted).unwrap()).unwrap();
            assert_eq!(context.intt(&read).unwrap().download().unwrap(), a, "{cpu:?}");
        }
    }
    crosses(MlKem);
    crosses(MlDsa);
    crosses(Raccoon);
    crosses(UserRing::<u16>::new("q=12289,f=x^1536+1".parse().unwrap()).unwrap());
}

/// Slices that start anywhere, with neighbours that must stay as they are.
#[test]
fn slices_at_every_alignment() {
    fn aligned<R: Ring>(ring: R) {
        let n = ring.spec().n();
        let (a, b, wanted) = (polynomial(&ring, 2), polynomial(&ring, 3), expected(&ring, 2));
        let mark = R::Word::from_u64(1);
        // A slice of `len` words at `offset` in a longer one.
        let place = |words: &[R::Word], offset: usize| {
            let mut out = vec![mark; words.len() + 64];
            out[offset..][..words.len()].copy_from_slice(words);
            out
        };
        for cpu in levels() {
            let plan = RingMul::<R>::plan(&cpu, &ring).unwrap();
            for offset in (0..8).chain([15, 17, 31]) {
                let (a, b) = (place(&a, offset), place(&b, 31 - offset));
                let (a, b) = (&a[offset..][..n], &b[31 - offset..][..n]);
                let mut out = vec![mark; n + 64];
                plan.multiply(a, b, &mut out[offset + 1..][..n]);
                assert_eq!(out[offset + 1..][..n], wanted, "{cpu:?}, offset {offset}");
                assert!(out[..offset + 1].iter().chain(&out[offset + 1 + n..]).all(|word| *word == mark));

                let (words, prepared_words) = (plan.ntt_words(), plan.prepared_words());
                let mut values = vec![1u64; words + 64];
                let mut factor = vec![1u64; prepared_words + 64];
                let mut result = vec![1u64; words + 64];
                plan.forward(b, &mut values[offset..][..words]);
                plan.prepare(&values[offset..][..words], &mut factor[offset + 1..][..prepared_words]);
                plan.forward(a, &mut values[offset..][..words]);
                let factor = &factor[offset + 1..][..prepared_words];
                plan.pointwise_prepared(&values[offset..][..words], factor, &mut result[offset + 3..][..words]);
                plan.inverse(&result[offset + 3..][..words], &mut out[offset..][..n]);
                assert_eq!(out[offset..][..n], wanted, "{cpu:?}, offset {offset}");
                for (buffer, start) in [(&values, offset), (&result, offset + 3)] {
                    assert!(buffer[..start].iter().chain(&buffer[start + words..]).all(|word| *word == 1));
                }
            }
        }
    }
    aligned(MlKem);
    aligned(MlDsa);
    aligned(Raccoon);
    aligned(Saber);
    aligned(Sntrup761);
}
