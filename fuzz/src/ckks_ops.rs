//! Random programs of CKKS operations at small N, on every CPU level, against the same program on plain numbers. The
//! error may be what the noise estimates allow; levels of the CPU must agree bit for bit.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use karat::Cpu;
use karat::ckks::{
    Chain, Ciphertext, Ckks, Complex64, Error, KeyPlan, KeySet, LinearTransform, Literal, Noise, Polynomial, PublicKey,
    SecretKey, SecretKind, Security, Special,
};
use rand_core::{TryCryptoRng, TryRng};

use crate::compare;
use crate::operands::Random;

const LOG_N: u32 = 5;
const DEPTH: usize = 4;
/// Larger values do not fit beside their errors at level 0.
const LARGEST: f64 = 100.0;
/// Standard deviations that an error may have: an operation that is wrong is wrong by far more.
const DEVIATIONS: f64 = 16.0;

/// The same context and keys on one level of the CPU.
struct Level {
    ckks: Ckks<Cpu, u64>,
    secret: SecretKey<Cpu, u64>,
    public: PublicKey<Cpu, u64>,
    keys: KeySet<Cpu, u64>,
}

static LEVELS: LazyLock<Vec<Level>> = LazyLock::new(|| {
    let literal = Literal {
        log_n: LOG_N,
        chain: Chain::Scaled { base: vec![58], depth: DEPTH },
        split: 1,
        special: Special::Bits(vec![60; 2]),
        digits: 3,
        log_scale: 45,
        secret: SecretKind::Ternary,
        security: Security::Insecure,
    };
    let level = |(_, cpu): (&str, Cpu)| {
        let parameters = literal.validate().expect("small parameters");
        let steps: Vec<i64> = (1..1 << (LOG_N - 1)).collect();
        let plan = KeyPlan::new(&parameters).relinearisation().rotations(&steps).conjugation();
        let ckks = Ckks::<_, u64>::new(cpu, parameters).expect("every CPU has the ring");
        let mut keygen = ckks.keygen_with(Seeded(Random(1)));
        let secret = keygen.secret_key().expect("the randomness does not end");
        let public = keygen.public_key(&secret).expect("the randomness does not end");
        let keys = keygen.keys(&secret, &plan).expect("the randomness does not end");
        Level { ckks, secret, public, keys }
    };
    compare::cpus().into_iter().map(level).collect()
});

/// Randomness that a finding repeats.
struct Seeded(Random);

impl TryRng for Seeded {
    type Error = core::convert::Infallible;

    fn try_next_u32(&mut self) -> core::result::Result<u32, Self::Error> {
        Ok(self.0.next() as u32)
    }

    fn try_next_u64(&mut self) -> core::result::Result<u64, Self::Error> {
        Ok(self.0.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> core::result::Result<(), Self::Error> {
        bytes.fill_with(|| self.0.next() as u8);
        Ok(())
    }
}

impl TryCryptoRng for Seeded {}

/// A vector of the program: encrypted on every level of the CPU, plain, and how far apart they may be.
struct Value {
    encrypted: Vec<Ciphertext<Cpu, u64>>,
    plain: Vec<Complex64>,
    error: f64,
    /// Dropped by hand: its scale is another level's, and automatic mode may refuse it.
    dropped: bool,
}

impl Value {
    fn size(&self) -> f64 {
        size(&self.plain)
    }

    fn level(&self) -> usize {
        self.encrypted[0].level()
    }

    /// One operation's own error in a slot, at this value's scale: key switching, rounding and encoding together.
    fn step(&self) -> f64 {
        let ckks = &LEVELS[0].ckks;
        let noise = Noise::new(ckks.parameters());
        let deviation = Noise::both(noise.key_switch(self.level()), noise.fresh_public());
        DEVIATIONS * (-noise.slot_bits(deviation, self.encrypted[0].scale(), self.plain.len())).exp2()
    }
}

fn size(plain: &[Complex64]) -> f64 {
    plain.iter().map(|z| z.norm()).fold(0.0, f64::max)
}

/// Runs a program that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes end the program.
    let _ = program(&mut Unstructured::new(data));
}

fn program(u: &mut Unstructured) -> Result<()> {
    let slots = 1 << u.int_in_range(0..=LOG_N - 1)?;
    let mut values = vec![fresh(u, slots)?, fresh(u, slots)?];
    while !u.is_empty() && values.len() < 12 {
        let Some(value) = operation(u, &values)? else { continue };
        check(&value);
        values.push(value);
    }
    // Operands stay as they were.
    values.iter().for_each(check);
    Ok(())
}

/// Within the bound on every level of the CPU, and the same bits.
fn check(value: &Value) {
    let bytes = |ciphertext: &Ciphertext<Cpu, u64>| ciphertext.to_bytes().expect("memory takes all");
    let first = bytes(&value.encrypted[0]);
    for (level, ciphertext) in LEVELS.iter().zip(&value.encrypted) {
        assert!(bytes(ciphertext) == first, "levels of the CPU differ: {ciphertext:?}");
        let got = level.ckks.decode(&level.ckks.decrypt(ciphertext, &level.secret).unwrap()).unwrap();
        for (slot, (got, wanted)) in got.iter().zip(&value.plain).enumerate() {
            let error = (got - wanted).norm();
            assert!(
                error <= value.error,
                "slot {slot}: {got} where {wanted} is right to {}; {ciphertext:?}",
                value.error
            );
        }
    }
}

/// A complex number of small size, often a special one.
fn number(u: &mut Unstructured) -> Result<Complex64> {
    let part = |u: &mut Unstructured| -> Result<f64> {
        Ok(match u.int_in_range(0..=5u8)? {
            0 => 0.0,
            1 => 1.0,
            2 => -2.0,
            3 => 0.5,
            _ => f64::from(u.arbitrary::<i16>()?) / 16384.0,
        })
    };
    Ok(Complex64::new(part(u)?, if u.arbitrary()? { part(u)? } else { 0.0 }))
}

fn numbers(u: &mut Unstructured, count: usize) -> Result<Vec<Complex64>> {
    (0..count).map(|_| number(u)).collect()
}

fn fresh(u: &mut Unstructured, slots: usize) -> Result<Value> {
    let plain = numbers(u, slots)?;
    let (seed, secret) = (u.arbitrary()?, u.arbitrary()?);
    let encrypt = |level: &Level| {
        let plaintext = level.ckks.encode(&plain).expect("small values");
        let mut random = Seeded(Random(seed));
        let encrypted = if secret {
            level.ckks.encrypt_secret_with(&plaintext, &level.secret, &mut random)
        } else {
            level.ckks.encrypt_with(&plaintext, &level.public, &mut random)
        };
        encrypted.expect("the randomness does not end")
    };
    let encrypted = LEVELS.iter().map(encrypt).collect();
    let mut value = Value { encrypted, plain, error: 0.0, dropped: false };
    value.error = value.step();
    Ok(value)
}

/// What an operation should give: the plain result, the error that operands bring, the level.
struct Expected {
    plain: Vec<Complex64>,
    error: f64,
    level: Option<usize>,
}

/// One operation on earlier values; `None` where it is refused, or its result would be too large.
fn operation(u: &mut Unstructured, values: &[Value]) -> Result<Option<Value>> {
    let (a, b) = (u.choose(values)?, u.choose(values)?);
    let slots = a.plain.len();
    let each = |f: &dyn Fn(Complex64) -> Complex64| a.plain.iter().map(|z| f(*z)).collect::<Vec<_>>();
    let zip = |f: &dyn Fn(Complex64, Complex64) -> Complex64| {
        a.plain.iter().zip(&b.plain).map(|(a, b)| f(*a, *b)).collect::<Vec<_>>()
    };
    let turned = |step: i64| (0..slots).map(|j| a.plain[(j as i64 + step).rem_euclid(slots as i64) as usize]).collect();
    let (low, down) = (Some(a.level().min(b.level())), |level: usize| level.checked_sub(1));
    let same = |plain| Expected { plain, error: a.error, level: Some(a.level()) };
    let product_error = a.error * b.size() + b.error * a.size() + a.error * b.error;

    Ok(match u.int_in_range(0..=17u8)? {
        0 => with(&[a, b], Expected { plain: zip(&|a, b| a + b), error: a.error + b.error, level: low }, |e, x| {
            e.add(x[0], x[1])
        }),
        1 => with(&[a, b], Expected { plain: zip(&|a, b| a - b), error: a.error + b.error, level: low }, |e, x| {
            e.sub(x[0], x[1])
        }),
        2 => with(&[a], same(each(&|z| -z)), |e, x| e.neg(x[0])),
        3 | 4 => {
            let expected = Expected { plain: zip(&|a, b| a * b), error: product_error, level: low.and_then(down) };
            with(&[a, b], expected, |e, x| e.multiply(x[0], x[1]))
        }
        5 => {
            let error = 2.0 * a.error * a.size() + a.error * a.error;
            let expected = Expected { plain: each(&|z| z * z), error, level: down(a.level()) };
            with(&[a], expected, |e, x| e.square(x[0]))
        }
        6 => with(&[a], same(each(&|z| z * Complex64::i())), |e, x| e.multiply_i(x[0])),
        7 => {
            let c = number(u)?;
            with(&[a], same(each(&|z| z + c)), |e, x| e.add_scalar(x[0], c))
        }
        8 => {
            let c = number(u)?;
            let whole = c.re.fract() == 0.0 && c.im.fract() == 0.0;
            let level = if whole { Some(a.level()) } else { down(a.level()) };
            let expected = Expected { plain: each(&|z| z * c), error: a.error * c.norm(), level };
            with(&[a], expected, |e, x| e.multiply_scalar(x[0], c))
        }
        9 => {
            let p = numbers(u, slots)?;
            let plain = a.plain.iter().zip(&p).map(|(a, p)| a + p).collect();
            with(&[a], same(plain), |e, x| e.add_plain(x[0], &e.encode_addend(&p, x[0])?))
        }
        10 => {
            let p = numbers(u, slots)?;
            let plain = a.plain.iter().zip(&p).map(|(a, p)| a - p).collect();
            with(&[a], same(plain), |e, x| e.sub_plain(x[0], &e.encode_addend(&p, x[0])?))
        }
        11 => {
            let p = numbers(u, slots)?;
            let plain = a.plain.iter().zip(&p).map(|(a, p)| a * p).collect();
            let expected = Expected { plain, error: a.error * size(&p), level: down(a.level()) };
            with(&[a], expected, |e, x| e.multiply_plain(x[0], &e.encode_factor(&p, x[0])?))
        }
        12 => {
            let step = i64::from(u.arbitrary::<i8>()?);
            with(&[a], same(turned(step)), |e, x| e.rotate(x[0], step))
        }
        13 => with(&[a], same(each(&|z| z.conj())), |e, x| e.conjugate(x[0])),
        14 => {
            let steps = [i64::from(u.arbitrary::<i8>()?), i64::from(u.arbitrary::<i8>()?)];
            with(&[a], same(turned(steps[1])), |e, x| Ok(e.rotate_hoisted(x[0], &steps)?.remove(1)))
        }
        15 => {
            let degree = u.int_in_range(0..=7usize)?;
            let coefficients: Vec<f64> = (0..=degree).map(|_| Ok(number(u)?.re)).collect::<Result<_>>()?;
            // Powers of larger values have no room.
            if a.size() > 2.0 {
                return Ok(None);
            }
            let p = Polynomial::monomial(coefficients).expect("finite coefficients");
            let horner = |z: Complex64| p.coefficients().iter().rev().fold(Complex64::default(), |sum, c| sum * z + *c);
            // The derivative's bound, and as much again for errors of steps that later products multiply.
            let slope: f64 =
                p.coefficients().iter().enumerate().map(|(i, c)| c.abs() * i as f64 * 2f64.powi(i as i32)).sum();
            let expected = Expected {
                plain: each(&horner),
                error: (a.error + 16.0 * a.step()) * (1.0 + 2.0 * slope),
                level: a.level().checked_sub(p.depth()),
            };
            with(&[a], expected, |e, x| e.polynomial(x[0], &p))
        }
        16 => {
            let level = u.int_in_range(0..=a.level())?;
            let expected = Expected { plain: a.plain.clone(), error: a.error, level: Some(level) };
            let drop = with(&[a], expected, |_, x| {
                let mut copy = x[0].copy()?;
                copy.drop_to_level(level)?;
                Ok(copy)
            });
            drop.map(|value| Value { dropped: value.dropped || level < a.level(), ..value })
        }
        _ => {
            let mut diagonals = Vec::new();
            for _ in 0..u.int_in_range(1..=3u8)? {
                diagonals.push((i64::from(u.arbitrary::<i8>()?), numbers(u, slots)?));
            }
            let mut plain = vec![Complex64::default(); slots];
            let mut factor = 0.0;
            for (k, diagonal) in &diagonals {
                let turned: Vec<Complex64> = turned(*k);
                plain.iter_mut().zip(turned.iter().zip(diagonal)).for_each(|(sum, (z, d))| *sum += z * d);
                factor += size(diagonal);
            }
            let transform = LinearTransform::from_diagonals(slots, diagonals).expect("all diagonals are as long");
            let error = (a.error + a.step()) * (1.0 + factor);
            with(&[a], Expected { plain, error, level: down(a.level()) }, |e, x| {
                e.transform(x[0], &transform.prepare(e, x[0].level(), x[0].scale())?)
            })
        }
    })
}

type Evaluator<'a> = karat::ckks::Evaluator<'a, Cpu, u64>;

/// Computes on every level of the CPU. An operation may be refused where a level is missing, and must be then.
fn with(
    operands: &[&Value],
    expected: Expected,
    compute: impl Fn(&Evaluator, &[&Ciphertext<Cpu, u64>]) -> karat::ckks::Result<Ciphertext<Cpu, u64>>,
) -> Option<Value> {
    let widest = operands.iter().map(|value| value.error).fold(expected.error, f64::max);
    if size(&expected.plain) > LARGEST || widest > 1.0 / 64.0 {
        return None;
    }
    let dropped = operands.iter().any(|value| value.dropped);
    let mut encrypted = Vec::new();
    for (i, level) in LEVELS.iter().enumerate() {
        let evaluator = level.ckks.evaluator(&level.keys).expect("the chain is a scaled one");
        let operands_here: Vec<_> = operands.iter().map(|value| &value.encrypted[i]).collect();
        match (compute(&evaluator, &operands_here), expected.level) {
            (Ok(result), Some(level)) => {
                assert_eq!(result.level(), level, "the level of {result:?}");
                encrypted.push(result);
            }
            (Err(Error::LevelExhausted { .. }), None) => return None,
            (Err(_), _) if dropped => return None,
            (Ok(result), None) => panic!("no level is left, and there is {result:?}"),
            (Err(error), level) => panic!("{error} where level {level:?} is right"),
        }
    }
    let mut value = Value { encrypted, plain: expected.plain, error: 0.0, dropped };
    value.error = expected.error + 4.0 * value.step() * (1.0 + size(&value.plain));
    Some(value)
}
