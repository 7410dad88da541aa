//! Several extendable outputs side by side: matrices and noise need dozens of short ones.

use super::keccak::{Lanes, Permute, Portable};
use core::ops::Range;
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a block of SHAKE-128.
pub(in crate::schemes) const RATE128: usize = 168;
/// Bytes of a block of SHAKE-256.
pub(in crate::schemes) const RATE256: usize = 136;

/// Most outputs that interleave: they have consecutive indices.
pub(in crate::schemes) const MAX_LANES: usize = 8;

/// One output: a common seed, followed by a few bytes of its own.
#[derive(Clone, Copy)]
pub(in crate::schemes) struct Job {
    suffix: [u8; 2],
    len: usize,
}

impl Job {
    /// `seed ‖ a`.
    #[cfg(feature = "mlkem")]
    pub(in crate::schemes) fn byte(a: u8) -> Self {
        Self { suffix: [a, 0], len: 1 }
    }

    /// `seed ‖ a ‖ b`.
    pub(in crate::schemes) fn bytes(a: u8, b: u8) -> Self {
        Self { suffix: [a, b], len: 2 }
    }
}

/// Squeezes the SHAKE output of `seed ‖ job(i)` for all `i < count`, block by block, into `sink(i, block)`, until
/// that says that output `i` needs no more. The rate chooses SHAKE-128 or SHAKE-256.
///
/// Blocks of one output come in order. Those of at most [`MAX_LANES`] consecutive outputs interleave, and all of these
/// end before the next group starts.
///
/// # Bounds
/// The seed and the job's bytes fit in one block.
pub(in crate::schemes) fn each_block<const RATE: usize>(
    lanes: Lanes,
    seed: &[u8],
    count: usize,
    job: impl Fn(usize) -> Job,
    mut sink: impl FnMut(usize, &[u8; RATE]) -> bool,
) {
    let mut next = 0;
    while next < count {
        next += match lanes {
            Lanes::One => group(Portable, seed, next..count, &job, &mut sink),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Lanes::Four(avx2) => group(avx2, seed, next..count, &job, &mut sink),
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            Lanes::Eight(avx512) => group(avx512, seed, next..count, &job, &mut sink),
        };
    }
}

/// As many outputs as there are lanes, from the first of a range on; says how many.
fn group<const RATE: usize, const LANES: usize>(
    permutation: impl Permute<LANES>,
    seed: &[u8],
    range: Range<usize>,
    job: &impl Fn(usize) -> Job,
    sink: &mut impl FnMut(usize, &[u8; RATE]) -> bool,
) -> usize {
    let (first, active) = (range.start, LANES.min(range.len()));
    let mut state = States::<LANES>::new();
    for lane in 0..active {
        state.absorb::<RATE>(lane, seed, &job(first + lane));
    }
    let mut block = Zeroizing::new([0; RATE]);
    let mut done = [false; LANES];
    while done[..active].contains(&false) {
        permutation.permute(&mut state.0);
        for (lane, done) in done[..active].iter_mut().enumerate() {
            // An output that is complete never sees another block.
            if !*done {
                state.block(lane, &mut block);
                *done = sink(first + lane, &block);
            }
        }
    }
    active
}

/// Keccak states whose words lie side by side; erased on drop.
struct States<const LANES: usize>([[u64; LANES]; 25]);

impl<const LANES: usize> States<LANES> {
    fn new() -> Self {
        Self([[0; LANES]; 25])
    }

    /// One padded block `seed ‖ job` into one lane.
    fn absorb<const RATE: usize>(&mut self, lane: usize, seed: &[u8], job: &Job) {
        let mut block = Zeroizing::new([0u8; RATE]);
        let len = seed.len() + job.len;
        block[..seed.len()].copy_from_slice(seed);
        block[seed.len()..len].copy_from_slice(&job.suffix[..job.len]);
        block[len] = 0x1f;
        block[RATE - 1] |= 0x80;
        for (words, bytes) in self.0.iter_mut().zip(block.as_chunks().0) {
            words[lane] = u64::from_le_bytes(*bytes);
        }
    }

    fn block<const RATE: usize>(&self, lane: usize, block: &mut [u8; RATE]) {
        for (words, bytes) in self.0.iter().zip(block.as_chunks_mut().0) {
            *bytes = words[lane].to_le_bytes();
        }
    }
}

impl<const LANES: usize> Drop for States<LANES> {
    fn drop(&mut self) {
        self.0.as_flattened_mut().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shake::{ExtendableOutput, Shake128, Shake256, Update, XofReader};

    /// Only one output of a group needs more blocks than the others, each in turn.
    fn outputs_agree<const RATE: usize, H: Default + Update + ExtendableOutput>() {
        for (lanes, count) in
            [Lanes::One, Lanes::best()].into_iter().flat_map(|l| [1usize, 2, 3, 4, 5, 8, 9, 11, 17].map(|c| (l, c)))
        {
            for long in 0..count {
                let mut got = vec![Vec::new(); count];
                each_block::<RATE>(
                    lanes,
                    b"seed",
                    count,
                    |i| Job::bytes(i as u8, 77),
                    |i, block| {
                        got[i].extend_from_slice(block);
                        got[i].len() == RATE * if i == long { 5 } else { 2 }
                    },
                );
                for (i, got) in got.iter().enumerate() {
                    let mut hash = H::default();
                    hash.update(b"seed");
                    hash.update(&[i as u8, 77]);
                    let mut expected = vec![0; RATE * if i == long { 5 } else { 2 }];
                    hash.finalize_xof().read(&mut expected);
                    assert_eq!(*got, expected, "output {i} of {count}");
                }
            }
        }
    }

    #[test]
    fn lanes_are_shake() {
        outputs_agree::<RATE128, Shake128>();
        outputs_agree::<RATE256, Shake256>();
    }
}
