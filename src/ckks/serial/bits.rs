//! Residues as packed bits.

use crate::arith::Word;
use crate::ckks::encoder::for_each_limb;

/// Bytes of one limb of `n` residues.
pub(in crate::ckks) fn packed_len(prime: u64, n: usize) -> usize {
    (n * (u64::BITS - prime.leading_zeros()) as usize).div_ceil(8)
}

/// Writes the residues of one limb, `order[t]` the place of the `t`-th.
pub(in crate::ckks) fn pack<W: Word>(prime: u64, words: &[W], order: &[u32], out: &mut [u8]) {
    let bits = u64::BITS - prime.leading_zeros();
    let (mut window, mut filled) = (0u128, 0);
    let mut out = out.iter_mut();
    for place in order {
        window |= u128::from(words[*place as usize].to_u64()) << filled;
        filled += bits;
        while filled >= 8 {
            if let Some(byte) = out.next() {
                *byte = window as u8;
            }
            window >>= 8;
            filled -= 8;
        }
    }
    if let Some(byte) = out.next() {
        *byte = window as u8;
    }
}

/// Reads limbs that lie one behind the other; `None` where a residue is not below its prime, or a bit beyond the last
/// is set.
pub(in crate::ckks) fn unpack<W: Word>(primes: &[u64], bytes: &[u8], n: usize, orders: &[&[u32]]) -> Option<Vec<W>> {
    let mut out = vec![W::ZERO; primes.len() * n];
    let starts: Vec<usize> = primes
        .iter()
        .scan(0, |end, prime| {
            let start = *end;
            *end += packed_len(*prime, n);
            Some(start)
        })
        .collect();
    let wrong = core::sync::atomic::AtomicBool::new(false);
    let index = |prime: &u64| primes.iter().position(|other| other == prime).unwrap_or(0);
    for_each_limb(primes, &mut out, n, |(prime, out)| {
        let limb = index(prime);
        let bits = u64::BITS - prime.leading_zeros();
        let mask = u64::MAX >> prime.leading_zeros();
        let mut bytes = bytes[starts[limb]..][..packed_len(*prime, n)].iter();
        let (mut window, mut filled) = (0u128, 0);
        let mut right = true;
        for place in orders[limb] {
            while filled < bits {
                window |= u128::from(bytes.next().copied().unwrap_or(0)) << filled;
                filled += 8;
            }
            let value = window as u64 & mask;
            right &= value < *prime;
            out[*place as usize] = W::from_u64(value);
            window >>= bits;
            filled -= bits;
        }
        if !right || window != 0 {
            wrong.store(true, core::sync::atomic::Ordering::Relaxed);
        }
    });
    (!wrong.into_inner()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_comes_back() {
        for bits in 2..=61u32 {
            let prime = (1u64 << bits) - 1;
            let n = 16;
            let words: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9e3779b97f4a7c15) % prime).collect();
            let order: Vec<u32> = (0..n as u32).rev().collect();
            let mut bytes = vec![0; packed_len(prime, n)];
            pack(prime, &words, &order, &mut bytes);
            assert_eq!(unpack::<u64>(&[prime], &bytes, n, &[&order]).unwrap(), words);
            // A residue equal to the prime.
            bytes.fill(0xff);
            assert!(unpack::<u64>(&[prime], &bytes, n, &[&order]).is_none());
        }
    }

    #[test]
    fn bits_beyond_the_last_must_be_zero() {
        let order: Vec<u32> = (0..4).collect();
        let mut bytes = vec![0; packed_len(5, 4)];
        assert_eq!(bytes.len(), 2);
        bytes[1] = 0x10;
        assert!(unpack::<u64>(&[5], &bytes, 4, &[&order]).is_none());
        bytes[1] = 0x08;
        assert_eq!(unpack::<u64>(&[5], &bytes, 4, &[&order]).unwrap(), [0, 0, 0, 4]);
    }
}
