//! The tables of a ring as bytes for a device: one modulus over `Z_q` itself, or the auxiliary primes of a lift.

use super::WordClass;
use super::params::{FLAG_LIFT, FLAG_ROOMY, FLAG_WIDE, Factor, Launch, MAX_PRIMES, NOT_A_POWER, Prime, Tail, estimate};
use crate::arith::{Direction, Modulus, ntt_primes};
use crate::ring::ntt::Ntt;
use crate::ring::{Method, RingSpec, Shape, Wrap};
use crate::{Error, Result};

/// A ring's tables, before they lie on a device.
pub(super) struct Tables {
    pub word: WordClass,
    pub shape: Shape,
    /// Everything but addresses.
    pub launch: Launch,
    pub primes: Vec<Prime>,
    pub zetas: Vec<u8>,
    pub inverse_zetas: Vec<u8>,
    pub slots: Vec<u8>,
    pub tail: Vec<Tail>,
    pub max_terms: u64,
}

/// Sums of this many products must fit a lifted ring's primes (ML-DSA-87 needs 7 columns).
const TERMS: u64 = 1 << 8;

impl WordClass {
    /// Bits of a word.
    pub(crate) const fn bits(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// The class for transforms modulo `q`: lazy sums up to `4q` fit a word.
    fn of(q: u64) -> Self {
        if q < 1 << (Self::Word32.bits() - 2) { Self::Word32 } else { Self::Word64 }
    }

    /// Bits of auxiliary primes: sixteen times one fits a word.
    const fn prime_bits(self) -> u32 {
        self.bits() - 4
    }

    /// A factor of `[0, q)` with its quotient. Public operand.
    fn factor(self, value: u64, q: u64) -> Factor {
        Factor { value, quotient: (((value as u128) << self.bits()) / q as u128) as u64 }
    }

    fn push(self, out: &mut Vec<u8>, value: u64, q: u64) {
        let factor = self.factor(value, q);
        for word in [factor.value, factor.quotient] {
            out.extend_from_slice(&word.to_le_bytes()[..self.bytes()]);
        }
    }
}

impl Tables {
    /// `packed`: lanes of 16 bits where they fit.
    pub(super) fn new(ring: &RingSpec, packed: bool) -> Result<Self> {
        match ring.method() {
            Method::Lift { inside, .. } => Self::lift(ring, inside),
            _ => {
                let ntt = Ntt::of_ring(ring)?;
                let word = WordClass::of(ring.q());
                let packed = packed && ring.q() < 1 << 14 && ntt.shape().len() % 4 == 0;
                let mut tables = Self::empty(if packed { WordClass::Word16 } else { word }, ntt.shape(), ring);
                tables.add_prime(&ntt)?;
                tables.max_terms = u64::MAX;
                Ok(tables)
            }
        }
    }

    /// The tables of one transform alone, for the steps of the k-NTT.
    pub(super) fn of_transform(ring: &RingSpec, ntt: &Ntt) -> Result<Self> {
        let mut tables = Self::empty(WordClass::of(ring.q()), ntt.shape(), ring);
        tables.add_prime(ntt)?;
        Ok(tables)
    }

    fn empty(word: WordClass, shape: Shape, ring: &RingSpec) -> Self {
        let launch = Launch {
            ring_q: ring.q(),
            ring_barrett: ((1u128 << word.bits()) / ring.q() as u128) as u64,
            half: ring.q() / 2,
            log_points: shape.layers(),
            width: shape.width as u32,
            log_width: if shape.width.is_power_of_two() { shape.width.ilog2() } else { NOT_A_POWER },
            len: shape.len() as u32,
            n: ring.n() as u32,
            ..Launch::default()
        };
        Self {
            word,
            shape,
            launch,
            primes: Vec::new(),
            zetas: Vec::new(),
            inverse_zetas: Vec::new(),
            slots: Vec::new(),
            tail: Vec::new(),
            max_terms: 0,
        }
    }

    fn add_prime(&mut self, ntt: &Ntt) -> Result<()> {
        let (m, word) = (ntt.modulus(), self.word);
        let q = m.value();
        if q % 2 == 0 || word.bits() - q.ilog2() - 1 < 2 {
            return Err(Error::InvalidModulus { q, reason: "transforms need an odd modulus of at most 62 bits" });
        }
        // Roots of -1 and powers of two are invertible modulo an odd modulus.
        let invert = |x: u64| m.inv_vartime(x).unwrap_or(0);
        let one = m.pow(m.reduce(2), word.bits() as u64);
        let scale = invert(m.reduce(self.shape.points as u64));
        let mut q_inv = q;
        for _ in 0..5 {
            q_inv = q_inv.wrapping_mul(2u64.wrapping_sub(q.wrapping_mul(q_inv)));
        }
        let mask = u64::MAX >> (64 - word.bits());
        let [estimate, estimate_down] = estimate(q);
        self.primes.push(Prime {
            q,
            estimate,
            estimate_down,
            q_inv: q_inv & mask,
            barrett: ((1u128 << word.bits()) / q as u128) as u64,
            room: (((1u128 << word.bits()) / q as u128) as u64).min(1 << 20),
            one: word.factor(one, q),
            scale: word.factor(scale, q),
            mont_scale: word.factor(m.mul(scale, one), q),
            ..Prime::default()
        });
        self.launch.prime_count = self.primes.len() as u32;
        let roomy = self.primes.iter().all(|prime| prime.q < 1 << (word.bits() - 4));
        self.launch.flags = self.launch.flags & !FLAG_ROOMY | if roomy { FLAG_ROOMY } else { 0 };
        for (zeta, inverse) in ntt.zetas().iter().zip(ntt.inverse_zetas()) {
            word.push(&mut self.zetas, *zeta, q);
            word.push(&mut self.inverse_zetas, inverse, q);
        }
        for slot in ntt.slots() {
            word.push(&mut self.slots, *slot, q);
        }
        Ok(())
    }

    fn lift(ring: &RingSpec, inside: Option<Wrap>) -> Result<Self> {
        let (n, q) = (ring.n(), Modulus::<u64>::new(ring.q())?);
        let shape = match inside {
            Some(wrap) => {
                let points = 1 << n.trailing_zeros();
                Shape { points, width: n / points, wrap }
            }
            None => linear_shape(n),
        };
        let bits = bound_bits(n, ring.q());
        let need = bits + 2 + TERMS.ilog2();
        // Two primes of half the size cost less than one.
        let narrow = need <= 2 * (WordClass::Word32.prime_bits() - 1) && WordClass::of(ring.q()) == WordClass::Word32;
        let word = if narrow { WordClass::Word32 } else { WordClass::Word64 };
        let count = need.div_ceil(word.prime_bits() - 1) as usize;
        let primes = ntt_primes(word.prime_bits(), 2 * shape.points as u64, count, Direction::Descending)?;
        if count > MAX_PRIMES {
            return Err(Error::Unsupported { what: "lift", reason: format!("it needs {count} primes") });
        }
        let product_bits: u32 = primes.iter().map(|p| p.ilog2()).sum();
        let mut tables = Self::empty(word, shape, ring);
        tables.max_terms = 1 << (product_bits - bits - 2).min(40);
        tables.launch.flags |= FLAG_LIFT;
        for (i, &p) in primes.iter().enumerate() {
            tables.add_prime(&Ntt::new(shape, p, None)?)?;
            let m = Modulus::<u64>::new(p)?;
            let before = &primes[..i];
            let product = |m: &Modulus<u64>| before.iter().fold(m.reduce(1), |x, p| m.mul(x, m.reduce(*p)));
            let prime = &mut tables.primes[i];
            prime.minus_ring = m.neg(m.reduce(ring.q()));
            // q·2^s with s = bits - floor(log2 q) + log2 terms is at least terms times the bound.
            let shift = bits - ring.q().ilog2() + tables.max_terms.ilog2();
            prime.offset = m.mul(m.reduce(ring.q()), m.pow(2, shift as u64));
            prime.garner = word.factor(m.inv_vartime(product(&m)).unwrap_or(0), p);
            for (factor, other) in prime.before.iter_mut().zip(before) {
                *factor = word.factor(m.reduce(*other), p);
            }
            prime.weight = word.factor(product(&q), ring.q());
            if ring.q() > p {
                tables.launch.flags |= FLAG_WIDE;
            }
        }
        if inside.is_none() {
            for term in ring.f().lower_terms() {
                let factor = q.neg(q.from_i64_vartime(term.coefficient));
                tables.tail.push(Tail { exponent: term.exponent as u64, factor: word.factor(factor, ring.q()) });
            }
            tables.launch.tail_terms = tables.tail.len() as u32;
        }
        Ok(tables)
    }
}

/// `ceil(log2(N·floor(q/2)²))`, at least 1.
fn bound_bits(n: usize, q: u64) -> u32 {
    let half = (q / 2) as u128;
    let square = half * half;
    (128 - square.leading_zeros() + usize::BITS - (n - 1).leading_zeros()).max(1)
}

/// Widest point of a linear product.
const MAX_LINEAR_WIDTH: usize = 8;

/// A negacyclic length that holds a linear product of `N`-coefficient operands: `width·2^k >= 2N - 1` with the least
/// estimated cost. A layer costs about as much as a product at a point: three transforms, `width` products.
fn linear_shape(n: usize) -> Shape {
    let need = 2 * n - 1;
    let shape = |width: usize| {
        let points = need.div_ceil(width).next_power_of_two();
        Shape { points, width, wrap: Wrap::Negacyclic }
    };
    (1..=MAX_LINEAR_WIDTH)
        .map(shape)
        .min_by_key(|shape| shape.len() * (3 * shape.layers() as usize + 2 * shape.width))
        .unwrap_or(shape(1))
}
