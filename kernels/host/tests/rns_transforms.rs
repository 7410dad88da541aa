//! Transforms in two launches of every shape that the emulation has, with the detector, against the scalar CPU.

use karat::backend::cuda::{NttVariant, Variant};
use karat::backend::{Backend, Erase};
use karat::rns::{Limbs, RnsBasis, RnsMul, RnsRing, Search, ViewMut};
use karat::{Cpu, arith::Word};
use karat_emulation::{Emulated, Order};

/// Two polynomials modulo the largest and the smallest primes of a size: one of random residues, one of all `q - 1`.
fn agree<W: Word>(device: Emulated, variant: &str, log_n: u32, bits: u32) {
    let n = 1usize << log_n;
    let prime = |search, bits| RnsBasis::generate(n, bits, 1, search, &[]).unwrap().primes()[0];
    let primes = [prime(Search::Descending, bits), prime(Search::Ascending, bits - 1)];
    let ring = RnsRing::<W>::new(n, &primes, &[]).unwrap();
    let mut state = 7u64;
    let mut words = Vec::new();
    for poly in 0..2 {
        for q in primes {
            for _ in 0..n {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                words.push(W::from_u64(if poly == 1 { q - 1 } else { (state >> 2) % q }));
            }
        }
    }
    let limbs = Limbs { q: 2, p: 0 };
    let gpu = device.backend(Variant::Automatic).with_ntt(NttVariant::parse(variant).unwrap());
    let plan = gpu.rns_plan(&ring).unwrap();
    let mut x = gpu.alloc::<W>(words.len(), Erase::No).unwrap();
    gpu.upload(&words, &mut x).unwrap();
    gpu.rns_ntt(&plan, limbs, 2, ViewMut::new(&mut x)).unwrap();
    let mut got = vec![W::default(); words.len()];
    gpu.download(&x, &mut got).unwrap();
    let cpu = Cpu::scalar();
    let cpu_plan = cpu.rns_plan(&ring).unwrap();
    let mut expected = cpu.alloc::<W>(words.len(), Erase::No).unwrap();
    cpu.upload(&words, &mut expected).unwrap();
    cpu.rns_ntt(&cpu_plan, limbs, 2, ViewMut::new(&mut expected)).unwrap();
    for prime in 0..2 {
        let order = cpu.rns_order(&cpu_plan, prime).unwrap();
        for row in [prime, prime + 2] {
            let wrong = (0..n).find(|slot| got[row * n + slot] != expected[row * n + order[*slot] as usize]);
            assert_eq!(wrong, None, "2^{log_n}, {bits} bits, {variant}: row {row}");
        }
    }
    gpu.rns_intt(&plan, limbs, 2, ViewMut::new(&mut x)).unwrap();
    gpu.download(&x, &mut got).unwrap();
    assert!(got == words, "2^{log_n}, {bits} bits, {variant}: the inverse");
}

#[test]
fn sixty_bits() {
    for bits in [60, 61, 62] {
        agree::<u64>(Emulated::new(), "", 10, bits);
    }
    agree::<u64>(Emulated::new(), "ntt:shoup", 11, 60);
    agree::<u64>(Emulated::new(), "", 14, 60);
    agree::<u64>(Emulated::new(), "ntt:mixed", 10, 60);
    agree::<u64>(Emulated::new(), "ntt:shape/5.5.3.3.8.8.0.1.1+barrett", 10, 60);
}

#[test]
fn double_precision() {
    for log_n in [10, 11, 14] {
        agree::<u64>(Emulated::new(), "", log_n, 50);
    }
    agree::<u64>(Emulated::new(), "ntt:shape/5.8.2.2.8.1.0.1.1", 13, 50);
    agree::<u64>(Emulated::new(), "ntt:shape/4.9.3.4.16.4.2.1.1", 13, 50);
}

#[test]
fn thirty_bits() {
    for bits in [28, 30, 31] {
        agree::<u32>(Emulated::new(), "", 10, bits);
    }
    agree::<u32>(Emulated::new(), "", 14, 30);
    agree::<u32>(Emulated::new(), "ntt:shape/5.5.3.3.8.8.0.1.1+native", 10, 31);
}

#[test]
fn any_order_of_threads() {
    for order in [Order::Descending, Order::Rotating(11)] {
        agree::<u64>(Emulated::new().with_order(order), "", 10, 60);
        agree::<u64>(Emulated::new().with_order(order), "", 11, 50);
    }
}

/// Planted faults: the detector shows each.
#[test]
fn missing_barriers() {
    let program = "rns_ntt_u64_double_5_6_points4_4_blocks1_1_fly2_wide16_8";
    let n = 1usize << 11;
    let ring =
        RnsRing::<u64>::new(n, RnsBasis::generate(n, 50, 1, Search::Descending, &[]).unwrap().primes(), &[]).unwrap();
    for fault in ["no_barrier_between_rows", "no_barrier_between_columns"] {
        let gpu = Emulated::new().with_fault(program, fault).backend(Variant::Automatic);
        let plan = gpu.rns_plan(&ring).unwrap();
        let mut x = gpu.alloc::<u64>(n, Erase::No).unwrap();
        let result = gpu.rns_ntt(&plan, Limbs { q: 1, p: 0 }, 1, ViewMut::new(&mut x));
        let error = result.expect_err(fault).to_string();
        assert!(error.contains("before it is written") || error.contains("race"), "{fault}: {error}");
    }
}
