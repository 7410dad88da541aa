use super::super::*;
use super::*;
use crate::backend::{Backend, Erase};
use crate::rns::crt;

/// A product, a tensor and a whole key switch of a ring, against big integers.
#[test]
fn smoke() {
    let n = 16;
    let q = RnsBasis::generate(n, 50, 4, Search::Alternating, &[]).unwrap();
    let p = RnsBasis::generate(n, 55, 2, Search::Descending, q.primes()).unwrap();
    let ring = RnsRing::<u64>::new(n, q.primes(), p.primes()).unwrap();
    for level in crate::backend::cpu::Level::ALL {
        let Ok(cpu) = Cpu::with_level(level) else { continue };
        let plan = cpu.rns_plan(&ring).unwrap();
        let md = RnsMul::<u64>::rns_mod_down_tables(&cpu, &plan, 4, Drop::Special).unwrap();
        let mut a = cpu.alloc::<u64>(6 * n, Erase::No).unwrap();
        let mut out = cpu.alloc::<u64>(4 * n, Erase::No).unwrap();
        // A little less than (x + 7/2)·P, by more than the margin of the estimate.
        let product = crt::product(p.primes());
        let product = product[0] as u128 + ((product[1] as u128) << 64);
        for (l, m) in ring.primes().iter().enumerate() {
            for i in 0..n {
                let value = product * (i as u128 + 3) + product / 2 - (product >> 40);
                a[l * n + i] = (value % *m as u128) as u64;
            }
        }
        cpu.rns_ntt(&plan, ring.full(), 1, ViewMut::new(&mut a)).unwrap();
        cpu.rns_mod_down(&plan, &md, 1, View::new(&a), ViewMut::new(&mut out)).unwrap();
        cpu.rns_intt(&plan, Limbs { q: 4, p: 0 }, 1, ViewMut::new(&mut out)).unwrap();
        for l in 0..4 {
            for i in 0..n {
                assert_eq!(out[l * n + i], i as u64 + 3);
            }
        }
    }
}
