//! Transforms and automorphisms.

use alloc::vec::Vec;

use super::super::Pattern;
use super::subject::{Checked, Subject};
use crate::arith::{Word, bit_reverse, negacyclic_root};
use crate::rns::{Domain, Limbs, RnsMul};

/// Patterns that reach the bounds of every lane.
const PATTERNS: [Pattern; 4] = [Pattern::TopZero, Pattern::Half, Pattern::Top, Pattern::Random];

pub(super) fn transforms<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    orders(s)?;
    let limbs = s.ring.full();
    let (count, primes) = (limbs.count(), s.of(limbs));
    for pattern in if s.long() { &PATTERNS[2..] } else { &PATTERNS[..] } {
        let a = s.fill(&primes, 2, *pattern);
        let ntt = s.transformed(limbs, &a, true)?;
        let mut indices = s.indices(1 << 6);
        if s.long() {
            indices.drain(..20);
        }
        values(s, limbs, &a, &ntt, &indices)?;
        let back = s.transformed(limbs, &ntt, false)?;
        let all: Vec<usize> = (0..s.n).collect();
        let n = s.n;
        s.same(&alloc::format!("intt of ntt, {}", pattern.name()), count, &back, &all, |k, l, i| {
            a[(k * count + l) * n + i].to_u64()
        })?;
        // From another operand, one polynomial shared by three.
        let source = s.put(count, &a)?;
        let mut out = s.room(count, 3)?;
        let result = s.backend.rns_ntt_from(&s.plan, limbs, 3, source.shared(), out.view_mut());
        s.done("rns_ntt_from", result)?;
        let got = s.get("rns_ntt_from", &out)?;
        s.same("rns_ntt_from, shared", count, &got, &all, |_, l, i| ntt[l * n + i].to_u64())?;
        let kept = s.get("rns_ntt_from", &source)?;
        s.same("the source of rns_ntt_from", count, &kept, &all, |k, l, i| a[(k * count + l) * n + i].to_u64())?;
        let mut back = s.room(count, 3)?;
        let result = s.backend.rns_intt_from(&s.plan, limbs, 3, out.view(), back.view_mut());
        s.done("rns_intt_from", result)?;
        let back = s.get("rns_intt_from", &back)?;
        s.same("rns_intt_from", count, &back, &all, |_, l, i| a[l * n + i].to_u64())?;
    }
    sparse(s)?;
    levels(s)
}

/// Orders are permutations.
fn orders<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    for prime in 0..s.ring.primes().len() {
        let mut order = s.done("rns_order", s.backend.rns_order(&s.plan, prime))?;
        order.sort_unstable();
        if !order.iter().copied().eq(0..s.n as u32) {
            return Err(s.wrong(alloc::format!("rns_order of prime {prime}"), "a permutation", "was none".into()));
        }
    }
    Ok(())
}

/// Compares transforms with values at the points: Horner's rule at some slots.
fn values<B: RnsMul<W>, W: Word>(
    s: &mut Subject<'_, B, W>,
    limbs: Limbs,
    a: &[W],
    ntt: &[W],
    slots: &[usize],
) -> Checked<()> {
    let count = limbs.count();
    let primes: Vec<usize> = s.ring.indices(limbs).collect();
    let log = s.n.trailing_zeros();
    for (row, (a, ntt)) in a.chunks_exact(s.n).zip(ntt.chunks_exact(s.n)).enumerate() {
        let prime = primes[row % count];
        let m = s.moduli[prime];
        let gamma = s.done("the root", negacyclic_root(m.value(), s.n as u64))?;
        let order = s.done("rns_order", s.backend.rns_order(&s.plan, prime))?;
        for slot in slots {
            let point = m.pow(gamma, 2 * bit_reverse(*slot, log) as u64 + 1);
            let value = a.iter().rev().fold(0, |sum, c| m.add(m.mul(sum, point), c.to_u64()));
            s.equal("rns_ntt, value at a slot", (row, *slot), ntt[order[*slot] as usize].to_u64(), value)?;
        }
    }
    Ok(())
}

/// All slots of polynomials with three terms.
fn sparse<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let limbs = s.ring.full();
    let (n, primes) = (s.n, s.of(limbs));
    let terms = [0, n / 2 - 1, n - 1];
    let mut a = Vec::new();
    for m in &primes {
        let mut limb = alloc::vec![W::ZERO; n];
        for (term, c) in terms.iter().zip([1, m.value() - 1, m.value() / 2]) {
            limb[*term] = W::from_u64(c);
        }
        a.extend(limb);
    }
    let ntt = s.transformed(limbs, &a, true)?;
    for (row, prime) in s.ring.indices(limbs).enumerate() {
        let (m, log) = (s.moduli[prime], n.trailing_zeros());
        let gamma = s.done("the root", negacyclic_root(m.value(), n as u64))?;
        let mut powers = alloc::vec![1; 2 * n];
        for i in 1..2 * n {
            powers[i] = m.mul(powers[i - 1], gamma);
        }
        let order = s.done("rns_order", s.backend.rns_order(&s.plan, prime))?;
        for slot in 0..n {
            let exponent = 2 * bit_reverse(slot, log) as u64 + 1;
            let term =
                |i: usize| m.mul(a[row * n + i].to_u64(), powers[(exponent * i as u64 % (2 * n as u64)) as usize]);
            let value = terms.iter().fold(0, |sum, i| m.add(sum, term(*i)));
            let got = ntt[row * n + order[slot] as usize].to_u64();
            s.equal("rns_ntt of three terms", (row, slot), got, value)?;
        }
    }
    Ok(())
}

/// A level's limbs transform as in the whole ring.
fn levels<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let (full, n) = (s.ring.full(), s.n);
    let primes = s.of(full);
    let a = s.fill(&primes, 1, Pattern::Random);
    let whole = s.transformed(full, &a, true)?;
    for q in 1..=full.q.min(4) {
        for p in [0, full.p] {
            let limbs = Limbs { q, p };
            let rows: Vec<usize> = s.ring.indices(limbs).collect();
            let part: Vec<W> = rows.iter().flat_map(|row| a[row * n..][..n].to_vec()).collect();
            let got = s.transformed(limbs, &part, true)?;
            let all: Vec<usize> = (0..n).collect();
            s.same("rns_ntt at a level", limbs.count(), &got, &all, |_, l, i| whole[rows[l] * n + i].to_u64())?;
        }
    }
    Ok(())
}

pub(super) fn automorphism<B: RnsMul<W>, W: Word>(s: &mut Subject<'_, B, W>) -> Checked<()> {
    let (limbs, n) = (s.ring.full(), s.n);
    let (count, primes) = (limbs.count(), s.of(limbs));
    let mut a = s.fill(&primes, 2, Pattern::Random);
    // Zeros keep their value when the sign changes.
    a[1] = W::ZERO;
    a[n - 1] = W::ZERO;
    let ntt = s.transformed(limbs, &a, true)?;
    let (coefficients, values) = (s.put(count, &a)?, s.put(count, &ntt)?);
    let all: Vec<usize> = (0..n).collect();
    for g in [1, 3, 5, 25, 2 * n as u32 - 1, n as u32 + 1, n as u32 - 1, u32::MAX] {
        let mut expected = alloc::vec![W::ZERO; a.len()];
        for (row, (a, expected)) in a.chunks_exact(n).zip(expected.chunks_exact_mut(n)).enumerate() {
            for (i, c) in a.iter().enumerate() {
                let j = i as u64 * g as u64 % (2 * n as u64);
                let m = &primes[row % count];
                let c = if j >= n as u64 { m.neg(c.to_u64()) } else { c.to_u64() };
                expected[j as usize % n] = W::from_u64(c);
            }
        }
        for (domain, operand) in [(Domain::Coefficient, &coefficients), (Domain::Ntt, &values)] {
            let mut out = s.room(count, 2)?;
            let result = s.backend.rns_automorphism(&s.plan, limbs, 2, g, domain, operand.view(), out.view_mut());
            s.done("rns_automorphism", result)?;
            let mut got = s.get("rns_automorphism", &out)?;
            if domain == Domain::Ntt {
                got = s.transformed(limbs, &got, false)?;
            }
            s.same(&alloc::format!("x -> x^{g}, {domain:?}"), count, &got, &all, |k, l, i| {
                expected[(k * count + l) * n + i].to_u64()
            })?;
        }
    }
    Ok(())
}
