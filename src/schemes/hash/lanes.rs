//! Several sponges side by side: each lane of a vector works off one job after the other. Matrices and noise need dozens
//! of short outputs, and the hashes of keys and ciphertexts fill lanes that would idle.

use core::ops::Range;

use super::keccak::{Lanes, Permute, READ, Scalar};
use crate::schemes::Wiped;
use crate::schemes::wipe::{wipe, wipe_below};

/// Bytes of a block of SHAKE-128.
pub(in crate::schemes) const RATE128: usize = 168;
/// Bytes of a block of SHAKE-256 and of SHA3-256.
pub(in crate::schemes) const RATE256: usize = 136;

/// Most jobs that are in work at once.
pub(in crate::schemes) const MAX_LANES: usize = 8;

/// The byte that separates SHAKE from SHA-3, with the first bit of the padding.
const SHAKE: u8 = 0x1f;
#[cfg(feature = "mlkem")]
const SHA3: u8 = 0x06;

/// One input: the concatenation of byte strings, and at most two bytes more.
#[derive(Clone, Copy)]
pub(in crate::schemes) struct Job<'a> {
    parts: &'a [&'a [u8]],
    suffix: [u8; 2],
    suffix_len: usize,
    rate: usize,
    domain: u8,
}

impl<'a> Job<'a> {
    const fn new(parts: &'a [&'a [u8]], rate: usize, domain: u8) -> Self {
        Self { parts, suffix: [0; 2], suffix_len: 0, rate, domain }
    }

    /// SHAKE-128.
    pub(in crate::schemes) const fn shake128(parts: &'a [&'a [u8]]) -> Self {
        Self::new(parts, RATE128, SHAKE)
    }

    /// SHAKE-256.
    pub(in crate::schemes) const fn shake256(parts: &'a [&'a [u8]]) -> Self {
        Self::new(parts, RATE256, SHAKE)
    }

    /// SHA3-256.
    #[cfg(feature = "mlkem")]
    pub(in crate::schemes) const fn sha3_256(parts: &'a [&'a [u8]]) -> Self {
        Self::new(parts, RATE256, SHA3)
    }

    /// SHA3-512.
    #[cfg(feature = "mlkem")]
    pub(in crate::schemes) const fn sha3_512(parts: &'a [&'a [u8]]) -> Self {
        Self::new(parts, 72, SHA3)
    }

    /// The input and one byte more.
    #[cfg(feature = "mlkem")]
    pub(in crate::schemes) const fn and_byte(self, a: u8) -> Self {
        Self { suffix: [a, 0], suffix_len: 1, ..self }
    }

    /// The input and two bytes more.
    pub(in crate::schemes) const fn and_bytes(self, suffix: [u8; 2]) -> Self {
        Self { suffix, suffix_len: 2, ..self }
    }

    /// The output of this input alone.
    pub(in crate::schemes) fn read(self, mut out: &mut [u8]) {
        each_block(
            Lanes::One,
            1,
            |_| self,
            |_, _, block| {
                let take = block.len().min(out.len());
                let (now, later) = core::mem::take(&mut out).split_at_mut(take);
                now.copy_from_slice(&block[..take]);
                out = later;
                out.is_empty()
            },
        );
    }

    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum::<usize>() + self.suffix_len
    }

    /// Copies the input from `start` on, as far as it goes.
    fn copy(&self, mut start: usize, block: &mut [u8]) {
        let mut filled = 0;
        for part in self.parts.iter().copied().chain([&self.suffix[..self.suffix_len]]) {
            let rest = &part[start.min(part.len())..];
            start = start.saturating_sub(part.len());
            let take = rest.len().min(block.len() - filled);
            block[filled..filled + take].copy_from_slice(&rest[..take]);
            filled += take;
        }
    }
}

/// Squeezes the outputs of `job(i)` for all `i < count`, block by block, into `sink(lane, i, block)`, until that says
/// that output `i` needs no more.
///
/// Blocks of one output come in order and in one lane below [`MAX_LANES`]; those of other outputs come in between, from
/// other lanes. Jobs start in order.
pub(in crate::schemes) fn each_block<'a>(
    lanes: Lanes,
    count: usize,
    job: impl Fn(usize) -> Job<'a>,
    sink: impl FnMut(usize, usize, &[u8]) -> bool,
) {
    match lanes {
        Lanes::One => work_off(Scalar, 0..count, job, sink),
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        Lanes::Four(avx2) => work_off(avx2, 0..count, job, sink),
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        Lanes::Eight(avx512) => work_off(avx512, 0..count, job, sink),
    }
}

/// What a lane is at.
struct Work<'a> {
    index: usize,
    job: Job<'a>,
    /// Bytes of the input that are in; more than there are once the padding is in, too.
    absorbed: usize,
}

fn work_off<'a, const LANES: usize>(
    permutation: impl Permute<LANES>,
    mut waiting: Range<usize>,
    job: impl Fn(usize) -> Job<'a>,
    mut sink: impl FnMut(usize, usize, &[u8]) -> bool,
) {
    let mut state = States::<LANES>::new();
    let mut block = Wiped::new([0; RATE128]);
    let mut start = || waiting.next().map(|index| Work { index, job: job(index), absorbed: 0 });
    let mut works: [Option<Work>; LANES] = core::array::from_fn(|_| start());
    while works.iter().any(Option::is_some) {
        for (lane, work) in works.iter_mut().enumerate() {
            if let Some(work) = work {
                work.absorb(&mut state, lane, &mut block);
            }
        }
        permutation.permute(&mut state.words);
        if works.iter().flatten().any(Work::squeezes) {
            permutation.read(&state.words, &mut state.outputs);
        }
        for (lane, (slot, output)) in works.iter_mut().zip(&state.outputs).enumerate() {
            let Some(work) = slot.as_ref().filter(|work| work.squeezes()) else { continue };
            let block = &bytemuck::cast_slice(output)[..work.job.rate];
            if sink(lane, work.index, block) {
                *slot = start();
            }
        }
    }
}

impl Work<'_> {
    /// The next block of the input, if any is left: the last one has the padding.
    fn absorb<const LANES: usize>(&mut self, state: &mut States<LANES>, lane: usize, block: &mut [u8; RATE128]) {
        let (len, rate) = (self.job.len(), self.job.rate);
        if self.absorbed > len {
            return;
        }
        let block = &mut block[..rate];
        if self.absorbed == 0 {
            state.clear(lane);
        }
        if self.absorbed + rate <= len {
            self.job.copy(self.absorbed, block);
            self.absorbed += rate;
        } else {
            block.fill(0);
            self.job.copy(self.absorbed, block);
            block[len - self.absorbed] = self.job.domain;
            block[rate - 1] |= 0x80;
            self.absorbed = len + 1;
        }
        state.add(lane, block);
    }

    /// Whether the input is in, with its padding.
    fn squeezes(&self) -> bool {
        self.absorbed > self.job.len()
    }
}

/// Keccak states whose words lie side by side, and the first words of each, one behind the other; erased on drop, with
/// what permutations left on the stack.
struct States<const LANES: usize> {
    words: [[u64; LANES]; 25],
    outputs: [[u64; READ]; LANES],
}

impl<const LANES: usize> States<LANES> {
    fn new() -> Self {
        Self { words: [[0; LANES]; 25], outputs: [[0; READ]; LANES] }
    }

    fn clear(&mut self, lane: usize) {
        self.words.iter_mut().for_each(|words| words[lane] = 0);
    }

    fn add(&mut self, lane: usize, block: &[u8]) {
        for (words, bytes) in self.words.iter_mut().zip(block.as_chunks().0) {
            words[lane] ^= u64::from_le_bytes(*bytes);
        }
    }
}

impl<const LANES: usize> Drop for States<LANES> {
    fn drop(&mut self) {
        wipe(bytemuck::cast_slice_mut(self.words.as_flattened_mut()));
        wipe(bytemuck::cast_slice_mut(self.outputs.as_flattened_mut()));
        wipe_below();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shake::{ExtendableOutput, Shake128, Shake256, Update, XofReader};

    /// Only one output of a group needs more blocks than the others, each in turn; one input is longer than a block.
    fn outputs_agree<H: Default + Update + ExtendableOutput>(make: for<'a> fn(&'a [&'a [u8]]) -> Job<'a>, rate: usize) {
        let long_input = [3; 500];
        for (lanes, count) in
            [Lanes::One, Lanes::best()].into_iter().flat_map(|l| [1usize, 2, 3, 4, 5, 8, 9, 11, 17].map(|c| (l, c)))
        {
            for long in 0..count {
                // Every length around a block's end.
                let tail = rate - 4 - 2 - count + long;
                let parts = [&b"seed"[..], &[], &long_input[..tail]];
                let longer = [&b"seed"[..], &long_input];
                let mut got = vec![Vec::new(); count];
                let mut in_lane = [None; MAX_LANES];
                each_block(
                    lanes,
                    count,
                    |i| make(if i == long { &longer } else { &parts }).and_bytes([i as u8, 77]),
                    |lane, i, block| {
                        assert!(block.len() == rate && in_lane[lane].is_none_or(|other| other == i));
                        got[i].extend_from_slice(block);
                        let done = got[i].len() == rate * if i == long { 5 } else { 2 };
                        in_lane[lane] = (!done).then_some(i);
                        done
                    },
                );
                for (i, got) in got.iter().enumerate() {
                    let mut hash = H::default();
                    hash.update(b"seed");
                    hash.update(if i == long { &long_input } else { &long_input[..tail] });
                    hash.update(&[i as u8, 77]);
                    let mut expected = vec![0; rate * if i == long { 5 } else { 2 }];
                    hash.finalize_xof().read(&mut expected);
                    assert_eq!(*got, expected, "output {i} of {count}");
                }
            }
        }
    }

    #[test]
    fn lanes_are_shake() {
        outputs_agree::<Shake128>(|parts| Job::shake128(parts), RATE128);
        outputs_agree::<Shake256>(|parts| Job::shake256(parts), RATE256);
    }

    #[cfg(feature = "mlkem")]
    #[test]
    fn single_inputs_are_sha3() {
        use sha3::Digest;
        let message = [7; 300];
        for len in 0..message.len() {
            let parts = [&message[..len / 3], &message[len / 3..len]];
            let (mut short, mut long) = ([0; 32], [0; 64]);
            Job::sha3_256(&parts).read(&mut short);
            Job::sha3_512(&parts).read(&mut long);
            assert_eq!(short[..], sha3::Sha3_256::digest(&message[..len])[..]);
            assert_eq!(long[..], sha3::Sha3_512::digest(&message[..len])[..]);
        }
    }

    /// Nothing of a job is left when the next one begins in its lane.
    #[test]
    fn lanes_are_cleared() {
        let mut state = States::<4>::new();
        state.add(2, &[0xab; RATE256]);
        assert_eq!(state.words[16][2], 0xabab_abab_abab_abab);
        state.clear(2);
        assert!(state.words.as_flattened().iter().all(|word| *word == 0));
    }
}
