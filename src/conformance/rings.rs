//! The rings of the suite, by group.

use alloc::vec::Vec;

use super::SplitMix64;
use crate::Result;
use crate::arith::{Direction, is_prime_vartime, ntt_primes};
use crate::ring::{MAX_Q, Quotient, RingSpec, Term};

/// The ring of this name or description.
///
/// # Errors
/// As parsing a [`RingSpec`].
///
/// ```
/// assert_eq!(karat::conformance::rings::named("ml-kem")?[0].q(), 3329);
/// # Ok::<(), karat::Error>(())
/// ```
pub fn named(text: &str) -> Result<Vec<RingSpec>> {
    Ok(alloc::vec![text.parse()?])
}

fn all_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<RingSpec>> {
    texts.into_iter().map(str::parse).collect()
}

/// Moduli 2, 3, 4 and 5 with polynomials of every kind, and degrees from 1.
///
/// # Errors
/// None; so for all groups.
///
/// ```
/// assert!(karat::conformance::rings::tiny_moduli()?.iter().all(|ring| ring.q() <= 5));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn tiny_moduli() -> Result<Vec<RingSpec>> {
    let polynomials = ["x+1", "x-1", "x^2-1", "x^3", "x^5+1", "x^16-1", "x^37-x-1", "x^64+1"];
    let mut out = Vec::new();
    for f in polynomials {
        let (n, f) = Quotient::parse(f)?;
        for q in 2..=5 {
            out.push(RingSpec::new(n, q, f.clone())?);
        }
    }
    Ok(out)
}

/// Composite moduli and prime powers, odd ones with a k-NTT and even ones without.
///
/// ```
/// assert!(karat::conformance::rings::composite_moduli()?.iter().any(|ring| ring.method().label().0 == "k-ntt"));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn composite_moduli() -> Result<Vec<RingSpec>> {
    let mut out = Vec::new();
    for (n, q) in [
        (128, 257 * 12289),
        (32, 17 * 97),
        (16, 3 * 5 * 7),
        (64, 17 * 17 * 17),
        (256, 3329 * 3329),
        (64, 97 * 97 * 193),
        (64, 12289 * 12289 * 12289 * 12289),
        (64, 8380417 * 8380417),
        (128, 2 * 3 * 5 * 7),
        (64, 1 << 61),
        (64, MAX_Q - 1),
        (64, MAX_Q - 2),
    ] {
        out.push(RingSpec::negacyclic(n, q)?);
        out.push(RingSpec::new(n, q, Quotient::Cyclic)?);
    }
    Ok(out)
}

/// Degrees with an odd factor, small enough for a transform and too large for one.
///
/// ```
/// assert!(karat::conformance::rings::odd_factors()?.iter().all(|ring| !ring.n().is_power_of_two()));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn odd_factors() -> Result<Vec<RingSpec>> {
    all_of([
        "q=11,f=x^5+1",
        "q=97,f=x^48+1",
        "q=97,f=x^96-1",
        "q=12289,f=x^1536+1",
        "q=4096,f=x^768-1",
        "q=8380417,f=x^240+1",
        "q=549824583172097,f=x^112-1",
        "q=257,f=x^34+1",
        "q=4611686018427387903,f=x^37-1",
    ])
}

/// Polynomials `f` that no scheme uses: dense, with large coefficients, with a term next to the top, with none.
///
/// ```
/// assert!(karat::conformance::rings::odd_polynomials()?.iter().any(|ring| ring.f().lower_terms().is_empty()));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn odd_polynomials() -> Result<Vec<RingSpec>> {
    let mut out = all_of([
        "q=7681,f=x^2",
        "q=13,f=x-4",
        "q=12289,f=x^64",
        "q=3329,f=x^64-x^63",
        "q=3329,f=x^64+12289x^63-9223372036854775807x^32+3329",
        "q=2305843009213693951,f=x^61-x^60-x^59+2305843009213693950",
        "q=65536,f=x^50+x^49+1",
        "q=4294967296,f=x^50-x^25+1",
    ])?;
    let dense = (0..Quotient::MAX_TERMS).rev();
    let terms = dense.map(|exponent| Term { exponent, coefficient: [3, -5, 1][exponent % 3] }).collect();
    let f = Quotient::from_lower_terms(terms)?;
    for q in [4591, 8380417, (1 << 61) - 1] {
        out.push(RingSpec::new(Quotient::MAX_TERMS, q, f.clone())?);
        out.push(RingSpec::new(200, q, f.clone())?);
    }
    Ok(out)
}

/// A short ring of every method and word size.
///
/// ```
/// assert!(karat::conformance::rings::small()?.iter().all(|ring| ring.n() <= 64));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn small() -> Result<Vec<RingSpec>> {
    let mut out = all_of([
        "q=12289,f=x^64+1",
        "q=8380417,f=x^32+1",
        "q=549824583172097,f=x^64+1",
        "q=257,f=x^64-1",
        "q=3329,f=x^32+1,alpha=2",
        "q=12289,f=x^8+1,alpha=3",
        "q=97,f=x^48+1",
        "q=8192,f=x^64+1",
        "q=4096,f=x^51-1",
        "q=4591,f=x^61-x-1",
        "q=2305843009213693952,f=x^32+1",
        "q=5,f=x+1",
    ])?;
    out.push("q=3329,f=x^64+1".parse::<RingSpec>()?.with_lift());
    Ok(out)
}

/// Every modulus from 2 to 600, where derived constants have their odd cases.
///
/// ```
/// assert_eq!(karat::conformance::rings::every_small_modulus()?.len(), 599);
/// # Ok::<(), karat::Error>(())
/// ```
pub fn every_small_modulus() -> Result<Vec<RingSpec>> {
    (2..=600).map(|q| RingSpec::negacyclic(8, q)).collect()
}

/// Pseudorandom moduli of every size, with one polynomial of each kind in turn.
///
/// ```
/// assert!(karat::conformance::rings::random_moduli()?.len() > 100);
/// # Ok::<(), karat::Error>(())
/// ```
pub fn random_moduli() -> Result<Vec<RingSpec>> {
    let mut random = SplitMix64::new(62);
    let mut out = Vec::new();
    for bits in 2..62 {
        for f in ["x^16+1", "x^16-1", "x^11-x-1"] {
            let (n, f) = Quotient::parse(f)?;
            out.push(RingSpec::new(n, (1 << bits) + random.below(1 << bits), f)?);
        }
    }
    Ok(out)
}

/// Moduli on both sides of `2^bits`, where kernels change: NTT primes as near as there are, every sixteenth of the
/// way to `2^(bits+1)` (each has its own room for lazy sums), and the numbers next to the power whatever they are.
///
/// ```
/// let rings = karat::conformance::rings::around(31)?;
/// assert!(rings.iter().any(|ring| ring.q() == 1 << 31));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn around(bits: u32) -> Result<Vec<RingSpec>> {
    let mut out = Vec::new();
    for (n, order) in [(32, 2), (8, 16), (64, 128), (256, 512)] {
        for direction in [Direction::Descending, Direction::Ascending] {
            // None this near is no failure: short moduli have few roots.
            for q in ntt_primes(bits, order, 1, direction).unwrap_or_default() {
                out.push(RingSpec::negacyclic(n, q)?);
            }
        }
    }
    let power = 1u64 << bits;
    for q in [power - 1, power, power + 1] {
        if q < MAX_Q {
            out.push(RingSpec::negacyclic(64, q)?);
            out.push(RingSpec::new(61, q, Quotient::Cyclic)?);
        }
    }
    for sixteenth in (1..16).filter(|_| 2 * power <= MAX_Q) {
        let start = power + (sixteenth << bits >> 4);
        let mut candidates = (start / 128..).map(|k| 128 * k + 1).take_while(|p| *p < 2 * power);
        if let Some(q) = candidates.find(|p| is_prime_vartime(*p)) {
            out.push(RingSpec::negacyclic(64, q)?);
        }
    }
    Ok(out)
}

/// Rings of `N = 2^log2_n`: complete, cyclic, k-NTT and lifted, in every word size, moduli at the top of each. From
/// `2^11` on, where a product takes its time, odd and even lengths share the kinds between them.
///
/// ```
/// assert!(karat::conformance::rings::length(17)?.iter().all(|ring| ring.n() == 1 << 17));
/// # Ok::<(), karat::Error>(())
/// ```
pub fn length(log2_n: u32) -> Result<Vec<RingSpec>> {
    let n = 1usize << log2_n;
    let prime = |bits, order: usize| Ok(ntt_primes(bits, order as u64, 1, Direction::Descending)?[0]);
    let mut out = alloc::vec![
        RingSpec::negacyclic(n, 12289)?,
        RingSpec::negacyclic(n, prime(31, 2 * n)?)?,
        RingSpec::negacyclic(n, prime(62, 2 * n)?)?,
    ];
    if log2_n < 11 || log2_n.is_multiple_of(2) {
        out.push(RingSpec::new(n, prime(50, n)?, Quotient::Cyclic)?);
        out.push(RingSpec::new(n, 1 << 61, Quotient::Cyclic)?);
    }
    if log2_n < 11 || !log2_n.is_multiple_of(2) {
        out.push(RingSpec::negacyclic(n, prime(60, 2 * n)?)?);
        out.push(RingSpec::negacyclic(n, 8192)?);
    }
    if log2_n > 0 && (log2_n < 11 || !log2_n.is_multiple_of(2)) {
        let (_, f) = Quotient::parse(&alloc::format!("x^{n}-x-1"))?;
        out.push(RingSpec::new(n, 4591, f)?);
    }
    Ok(out)
}

/// A ring `x^N + 1` with a complete transform modulo a prime just below `2^bits`.
///
/// ```
/// assert_eq!(karat::conformance::rings::complete(13, 60)?[0].method().label().0, "complete");
/// # Ok::<(), karat::Error>(())
/// ```
pub fn complete(log2_n: u32, bits: u32) -> Result<Vec<RingSpec>> {
    let primes = ntt_primes(bits, 2 << log2_n, 1, Direction::Descending)?;
    primes.into_iter().map(|q| RingSpec::negacyclic(1 << log2_n, q)).collect()
}
