//! A ring bound to a device: constants and twiddles of all primes, programs, geometry.

use core::fmt;

use super::blob::Blob;
use super::geometry::{Shape, lanes, shape};
use crate::Result;
use crate::arith::{Modulus, Word};
use crate::backend::cuda::rns::{
    Geometry, Lanes, RnsFactor, RnsLaunch, RnsPrime, SCALED_FACTORS, SplitTwiddle, centred, ops_program,
    passes_program, transform_program,
};
use crate::backend::cuda::{Device, Gpu, Limits, WordClass};
use crate::ring::ntt::Ntt;
use crate::ring::{Shape as NttShape, Wrap};
use crate::rns::{Limbs, RnsRing};
use crate::{Error, backend};

/// A ring on a device.
pub struct RnsPlan<D: Device, W> {
    pub(super) ring: RnsRing<W>,
    pub(super) lanes: Lanes,
    pub(super) shape: Shape,
    pub(super) limits: Limits,
    /// Transforms in two launches, or their rows.
    pub(super) two: Option<D::Module>,
    pub(super) passes: Option<D::Module>,
    pub(super) ops: D::Module,
    /// `n^-1`, for each prime.
    pub(super) scales: Vec<u64>,
    /// One and the twiddles of the first layers, for each prime.
    first_twiddles: Vec<[u64; SCALED_FACTORS]>,
    launch: RnsLaunch,
    pub(super) memory: D::Memory,
}

/// A factor modulo `q` in words of a class.
pub(super) fn factor(word: WordClass, value: u64, q: u64) -> RnsFactor {
    RnsFactor { value, quotient: (((value as u128) << word.bits()) / q as u128) as u64 }
}

/// `2^w mod q`.
pub(super) fn montgomery(word: WordClass, m: &Modulus<u64>) -> u64 {
    m.pow(m.reduce(2), word.bits() as u64)
}

fn prime(word: WordClass, m: &Modulus<u64>, scale: u64) -> RnsPrime {
    let q = m.value();
    let q_inv = (0..5).fold(q, |x, _| x.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(x))));
    let bits = m.bits();
    // 28 leading bits of q, so that as many of 16q fit a word.
    let estimate_down = bits.saturating_sub(28);
    let (leading, kept) = (q >> estimate_down, bits - estimate_down);
    RnsPrime {
        q,
        q_inv: q_inv & (u64::MAX >> (u64::BITS - word.bits())),
        barrett: ((1u128 << word.bits()) / q as u128) as u64,
        one: factor(word, montgomery(word, m), q),
        scale: factor(word, scale, q),
        product_factor: ((1u128 << (2 * bits)) / q as u128) as u64,
        product_shift: bits - 1,
        estimate: ((1u64 << (31 + kept)) / (leading + 1)) as u32,
        estimate_down,
        estimate_shift: kept - 1,
        real_q: q as f64,
        real_q_inv: 1.0 / q as f64,
    }
}

/// Twiddles of one prime as the kernels read them: in natural order up to the last group of the rows, then an array for
/// each of its entries, one element a thread.
fn twiddles(lanes: Lanes, geometry: Option<&Geometry>, ntt: &Ntt, out: &mut Vec<u8>) {
    let q = ntt.modulus().value();
    let mut split = Vec::new();
    in_order(lanes, geometry, ntt, |value| match lanes {
        Lanes::Split(_) => split.push(value),
        Lanes::Double => out.extend(centred(value, q).to_le_bytes()),
        Lanes::Shoup(word, _) => {
            let factor = factor(word, value, q);
            out.extend(&factor.value.to_le_bytes()[..word.bytes()]);
            out.extend(&factor.quotient.to_le_bytes()[..word.bytes()]);
        }
        Lanes::Barrett(word) | Lanes::Native(word) => out.extend(&value.to_le_bytes()[..word.bytes()]),
    });
    out.extend(SplitTwiddle::table(&split, q));
}

fn in_order(lanes: Lanes, geometry: Option<&Geometry>, ntt: &Ntt, mut push: impl FnMut(u64)) {
    let n = ntt.shape().points;
    let power = |index: usize| if index == 0 { 1 } else { ntt.zetas()[index] };
    let Some(geometry) = geometry else {
        (0..n).for_each(|i| push(power(i)));
        return;
    };
    let (depth, whole) = (geometry.last_depth(), geometry.whole());
    let slots = n >> depth;
    (0..slots).for_each(|i| push(power(i)));
    let mut entry = |layer: u32, k: usize| (0..slots).for_each(|slot| push(power(((slots + slot) << layer) + k)));
    if geometry.entries(lanes) == 1 {
        return entry(depth - 1, 0);
    }
    for layer in 0..whole {
        (0..1 << layer).for_each(|k| entry(layer, k));
    }
    (whole..depth).for_each(|layer| entry(layer, 0));
}

impl<D: Device, W: Word> RnsPlan<D, W> {
    pub(super) fn new(gpu: &Gpu<D>, ring: &RnsRing<W>) -> Result<Self> {
        if W::WIDTH == 16 {
            return Err(Error::Unsupported {
                what: "RNS arithmetic in 16-bit words on a GPU",
                reason: "use words of 32 or 64 bits".into(),
            });
        }
        let (device, limits, n) = (gpu.device(), gpu.device().limits(), ring.n());
        let largest = ring.primes().iter().copied().max().unwrap_or(0);
        let lanes = lanes(&limits, gpu.ntt(), W::WIDTH, largest)?;
        let word = lanes.word();
        let shape = shape(&limits, gpu.ntt(), &gpu.tuning().ntt, lanes, n.ilog2(), ring.primes().len())?;
        let geometry = match &shape {
            Shape::Passes(_) => None,
            Shape::Two(geometry) | Shape::Mixed(_, geometry) => Some(geometry),
        };
        let (mut primes, mut scales, mut first_twiddles) = (Vec::new(), Vec::new(), Vec::new());
        let mut tables = Vec::new();
        for &q in ring.primes() {
            let ntt = Ntt::new(NttShape { points: n, width: 1, wrap: Wrap::Negacyclic }, q, None)?;
            let m = ntt.modulus();
            let scale = m.inv_vartime(n as u64 % q).unwrap_or(0);
            primes.push(prime(word, m, scale));
            scales.push(scale);
            let mut first = [0; SCALED_FACTORS];
            first.iter_mut().zip(ntt.zetas()).for_each(|(out, zeta)| *out = *zeta);
            first[0] = 1;
            first_twiddles.push(first);
            twiddles(lanes, geometry, &ntt, &mut tables);
        }
        let table_len = tables.len() / lanes.twiddle_bytes() / primes.len();
        let factors = scaled(lanes, ring.primes(), &scales, &first_twiddles);
        let mut blob = Blob::new();
        let offsets = [blob.add(&primes), blob.add(&factors), blob.add(&tables)];
        let memory = blob.upload(device)?;
        let [primes, factors, tables] = offsets.map(|offset| backend::cuda::Memory::address(&memory) + offset);
        let launch = RnsLaunch {
            primes,
            tables,
            factors,
            table_len: table_len as u64,
            log_n: n.ilog2(),
            polys: 1,
            special: ring.q().len() as u32,
            galois: 1,
            ..RnsLaunch::default()
        };
        Ok(Self {
            ring: ring.clone(),
            lanes,
            shape,
            limits,
            two: geometry.map(|geometry| device.load(&transform_program(lanes, geometry))).transpose()?,
            passes: match shape {
                Shape::Two(_) => None,
                _ => Some(device.load(&passes_program(lanes))?),
            },
            ops: device.load(&ops_program(word))?,
            scales,
            first_twiddles,
            launch,
            memory,
        })
    }

    /// The ring.
    pub(crate) fn ring(&self) -> &RnsRing<W> {
        &self.ring
    }

    /// What ends an inverse transform that is multiplied by these factors, one for each prime: see [`SCALED`].
    pub(super) fn scaled(&self, factors: &[u64]) -> Vec<RnsFactor> {
        scaled(self.lanes, self.ring.primes(), factors, &self.first_twiddles)
    }

    /// A launch block for operands of these limbs, which are still missing.
    pub(super) fn launch(&self, limbs: Limbs, polys: usize) -> RnsLaunch {
        RnsLaunch { polys: polys as u32, limbs: limbs.count() as u32, q_limbs: limbs.q as u32, ..self.launch }
    }

    /// For limbs whose primes the kernel finds elsewhere.
    pub(super) fn launch_of(&self, count: usize, polys: usize) -> RnsLaunch {
        self.launch(Limbs { q: count, p: 0 }, polys)
    }

    /// The primes of `Q` start at `first` instead, and so must the launch's factors.
    pub(super) fn launch_from(&self, first: usize, limbs: Limbs, polys: usize) -> RnsLaunch {
        let primes = self.launch.primes + (first * size_of::<RnsPrime>()) as u64;
        let tables = self.launch.tables + self.launch.table_len * (first * self.lanes.twiddle_bytes()) as u64;
        let special = self.launch.special - first as u32;
        RnsLaunch { primes, tables, special, ..self.launch(limbs, polys) }
    }
}

fn scaled(lanes: Lanes, primes: &[u64], factors: &[u64], first_twiddles: &[[u64; SCALED_FACTORS]]) -> Vec<RnsFactor> {
    let of_prime = |((q, value), twiddles): ((&u64, &u64), &[u64; SCALED_FACTORS])| {
        let entries = twiddles.map(|twiddle| {
            let product = (u128::from(*value) * u128::from(twiddle) % u128::from(*q)) as u64;
            match lanes {
                Lanes::Split(_) => {
                    let SplitTwiddle { factors: [low, high], quotients } = SplitTwiddle::new(product, *q);
                    [RnsFactor { value: low, quotient: quotients }, RnsFactor { value: high, quotient: 0 }]
                }
                Lanes::Double => {
                    [RnsFactor { value: centred(product, *q).to_bits(), quotient: 0 }, RnsFactor::default()]
                }
                _ => [factor(lanes.word(), product, *q), RnsFactor::default()],
            }
        });
        [0, 1].into_iter().flat_map(move |half| entries.map(|entry| entry[half]))
    };
    primes.iter().zip(factors).zip(first_twiddles).flat_map(of_prime).collect()
}

impl<D: Device, W> fmt::Debug for RnsPlan<D, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RnsPlan({:?}, {:?})", self.lanes, self.shape)
    }
}
