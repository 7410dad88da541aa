//! Operands for checks and measurements: extremes first, then pseudo-random ones.

use karat::RingSpec;
use karat::arith::Word;

/// How many pairs of extremes there are.
pub const EXTREMES: usize = 8;

/// `count` pairs of operands, `[count][N]` each; the same for the same ring and seed.
pub fn operands<W: Word>(spec: &RingSpec, count: usize, seed: u64) -> (Vec<W>, Vec<W>) {
    let (n, q) = (spec.n(), spec.q());
    let mut stream = Stream(seed);
    let mut out = (Vec::with_capacity(count * n), Vec::with_capacity(count * n));
    for pair in 0..count {
        for i in 0..n {
            let (a, b) = extreme(pair, i, n, q).unwrap_or_else(|| (stream.next() % q, stream.next() % q));
            out.0.push(W::from_u64(a));
            out.1.push(W::from_u64(b));
        }
    }
    out
}

/// Coefficient `i` of the extreme pair of this number.
fn extreme(pair: usize, i: usize, n: usize, q: u64) -> Option<(u64, u64)> {
    let (most, half, alternating) = (q - 1, q / 2, i % 2 == 1);
    let top = if i == n - 1 { 1 } else { 0 };
    let first = if i == 0 { most } else { 0 };
    Some(match pair {
        0 => (most, most),
        1 => (top, top),
        2 => (0, most),
        // The centred extremes of both signs: what a lift must have room for.
        3 => (half, half),
        4 => ((half + 1) % q, half),
        5 => {
            if alternating {
                (half, (half + 1) % q)
            } else {
                ((half + 1) % q, half)
            }
        }
        6 => {
            if alternating {
                (half, most)
            } else {
                (0, 1 % q)
            }
        }
        7 => (first, most),
        _ => return None,
    })
}

/// SplitMix64 (Steele, Lea and Flood, 2014): enough for test data.
pub struct Stream(pub u64);

impl Stream {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn operands_are_reduced_and_differ() {
        use super::*;
        for spec in ["q=2,f=x+1", "q=3,f=x^3-1", "ml-kem", "raccoon"] {
            let spec: RingSpec = spec.parse().unwrap();
            let (a, b) = operands::<u64>(&spec, EXTREMES + 2, 1);
            assert!(a.iter().chain(&b).all(|c| *c < spec.q()));
            let random = |i: usize| &a[(EXTREMES + i) * spec.n()..][..spec.n()];
            assert!(spec.n() < 100 || random(0) != random(1));
        }
    }
}
