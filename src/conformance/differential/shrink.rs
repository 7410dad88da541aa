//! From a counterexample to a smaller one, as long as something smaller is still wrong.

use alloc::vec::Vec;

use super::counterexample::{Counterexample, Outcome};
use crate::arith::Word;

/// Products that a search may take, in coefficients: some seconds for slow functions.
const MOST: u64 = 1 << 22;

struct Search<W, F> {
    factors: [Vec<W>; 2],
    outcome: Outcome,
    products: u64,
    most: u64,
    wrong: F,
}

/// Greedy search: fewer coefficients, then smaller ones, then lower ones, until none of these steps stays wrong.
pub(super) fn shrink<W: Word>(
    a: &[W],
    b: &[W],
    outcome: Outcome,
    wrong: impl FnMut(&[W], &[W]) -> Option<Outcome>,
) -> Counterexample<W> {
    let most = (MOST / a.len().max(1) as u64).clamp(1 << 8, 1 << 16);
    let mut search = Search { factors: [a.to_vec(), b.to_vec()], outcome, products: 0, most, wrong };
    loop {
        let mut better = false;
        for side in [0, 1] {
            better |= search.clear(side);
            better |= search.lower(side);
            better |= search.shift(side);
        }
        if !better || search.products >= search.most {
            break;
        }
    }
    let Search { factors: [a, b], outcome, products, .. } = search;
    Counterexample::new(a, b, outcome, products)
}

impl<W: Word, F: FnMut(&[W], &[W]) -> Option<Outcome>> Search<W, F> {
    /// Keeps a changed factor if the product is still wrong.
    fn keeps(&mut self, side: usize, factor: Vec<W>) -> bool {
        if factor == self.factors[side] || self.products >= self.most {
            return false;
        }
        self.products += 1;
        let before = core::mem::replace(&mut self.factors[side], factor);
        match (self.wrong)(&self.factors[0], &self.factors[1]) {
            Some(outcome) => {
                self.outcome = outcome;
                true
            }
            None => {
                self.factors[side] = before;
                false
            }
        }
    }

    /// Sets runs of coefficients to zero, halves first.
    fn clear(&mut self, side: usize) -> bool {
        let n = self.factors[side].len();
        let mut better = false;
        let mut run = n.next_power_of_two();
        while run > 0 {
            for start in (0..n).step_by(run) {
                let mut factor = self.factors[side].clone();
                factor[start..(start + run).min(n)].fill(W::ZERO);
                better |= self.keeps(side, factor);
            }
            run /= 2;
        }
        better
    }

    /// Makes coefficients smaller, by the largest step that works.
    fn lower(&mut self, side: usize) -> bool {
        let mut better = false;
        for i in 0..self.factors[side].len() {
            let mut step = self.factors[side][i].to_u64();
            while step > 0 {
                let value = self.factors[side][i].to_u64();
                let mut factor = self.factors[side].clone();
                factor[i] = W::from_u64(value.saturating_sub(step));
                if self.keeps(side, factor) {
                    better = true;
                } else {
                    step /= 2;
                }
            }
        }
        better
    }

    /// Divides by powers of `x`.
    fn shift(&mut self, side: usize) -> bool {
        let mut better = false;
        let mut by = self.factors[side].len() / 2;
        while by > 0 {
            let (low, high) = self.factors[side].split_at(by);
            if low.iter().all(|c| *c == W::ZERO) {
                let mut factor = high.to_vec();
                factor.extend_from_slice(low);
                if self.keeps(side, factor) {
                    better = true;
                    continue;
                }
            }
            by /= 2;
        }
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_at_something_that_no_step_makes_smaller() {
        // Wrong where a has a coefficient of 7 or more and b one above its first.
        let wrong = |a: &[u16], b: &[u16]| {
            let is_wrong = a.iter().any(|c| *c >= 7) && b[1..].iter().any(|c| *c > 0);
            is_wrong.then_some(Outcome::Length { got: 0, expected: 0 })
        };
        let first = Outcome::Length { got: 0, expected: 0 };
        let found = shrink(&[9, 100, 8, 5, 60], &[1, 2, 3, 4, 5], first, wrong);
        assert_eq!((&found.a[..], &found.b[..]), (&[7, 0, 0, 0, 0][..], &[0, 1, 0, 0, 0][..]));
    }

    #[test]
    fn ends_where_everything_is_wrong() {
        let first = Outcome::Length { got: 0, expected: 1 };
        let found = shrink(&[u64::MAX; 64], &[3; 64], first.clone(), |_, _| Some(first.clone()));
        assert!(found.a.iter().chain(&found.b).all(|c| *c == 0));
        assert!(found.products < 1000);
    }
}
