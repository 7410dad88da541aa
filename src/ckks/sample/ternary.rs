//! Ternary polynomials in constant time.

use zeroize::Zeroizing;

use super::Expander;
use crate::arith::mask_if_less;

/// `n` values uniform in {-1, 0, 1}: `floor(3u / 2^64) - 1` for uniform words `u`, off by less than `2^-62`.
pub(in crate::ckks) fn ternary(expander: &mut Expander, n: usize) -> Zeroizing<Vec<i8>> {
    Zeroizing::new((0..n).map(|_| ((u128::from(expander.word()) * 3) >> 64) as i8 - 1).collect())
}

/// `n` values of which exactly `weight` are ±1 in random places, the others 0.
///
/// Each value gets a random key of 61 bits above its two bits, and a sorting network puts the keys in order: the same
/// comparisons whatever the keys are.
///
/// # Bounds
/// `n` a power of two, `weight <= n`.
pub(in crate::ckks) fn sparse_ternary(expander: &mut Expander, n: usize, weight: usize) -> Zeroizing<Vec<i8>> {
    // 0, 1 or 2 for 0, 1 or -1.
    let mut keys: Zeroizing<Vec<u64>> = Zeroizing::new(
        (0..n)
            .map(|i| {
                let word = expander.word();
                let value = if i < weight { 1 + (word & 1) } else { 0 };
                // Below 2^63: a difference of two keys shows its sign.
                (expander.word() >> 1) & !3 | value
            })
            .collect(),
    );
    bitonic_sort(&mut keys);
    let value = |key: &u64| {
        let bits = (key & 3) as i8;
        (bits & 1) - (bits >> 1)
    };
    Zeroizing::new(keys.iter().map(value).collect())
}

/// Sorts a power of two of words below `2^63` in an order of comparisons that depends on their number alone (Batcher 1968).
fn bitonic_sort(keys: &mut [u64]) {
    let n = keys.len();
    let mut size = 2;
    while size <= n {
        let mut step = size / 2;
        while step > 0 {
            for i in (0..n).filter(|i| i & step == 0) {
                let j = i + step;
                let (a, b) = (keys[i], keys[j]);
                // Descending runs take the other way round.
                let less = mask_if_less(b, a);
                let swap = (less ^ if i & size == 0 { 0 } else { u64::MAX }) & (a ^ b);
                (keys[i], keys[j]) = (a ^ swap, b ^ swap);
            }
            step /= 2;
        }
        size *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_sorts() {
        let mut expander = Expander::new(&[3; 32], 0);
        for log in 0..10 {
            let mut keys: Vec<u64> = (0..1 << log).map(|_| expander.word() >> (1 + log % 3 * 30)).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            bitonic_sort(&mut keys);
            assert_eq!(keys, expected);
        }
    }

    #[test]
    fn sparse_secrets_have_their_weight_everywhere() {
        let n = 256;
        let mut places = vec![0; n];
        let mut signs = 0i64;
        for stream in 0..400 {
            let values = sparse_ternary(&mut Expander::new(&[4; 32], stream), n, 32);
            assert_eq!(values.iter().filter(|x| **x != 0).count(), 32);
            assert!(values.iter().all(|x| (-1..=1).contains(x)));
            for (place, value) in places.iter_mut().zip(values.iter()) {
                *place += i64::from(value.abs());
                signs += i64::from(*value);
            }
        }
        // 50 on average in each place; six deviations of about 6.6, and of 113 for the sum of signs.
        assert!(places.iter().all(|count| (10..=90).contains(count)), "{places:?}");
        assert!(signs.abs() < 680, "{signs}");
        assert!(sparse_ternary(&mut Expander::new(&[4; 32], 0), 16, 16).iter().all(|x| *x != 0));
    }

    #[test]
    fn ternary_values_are_balanced() {
        let values = ternary(&mut Expander::new(&[5; 32], 0), 3 << 14);
        for wanted in -1..=1 {
            let count = values.iter().filter(|x| **x == wanted).count() as f64;
            assert!((count - f64::from(1 << 14)).abs() < 6.0 * (f64::from(1 << 15) / 3.0).sqrt(), "{wanted}: {count}");
        }
    }
}
