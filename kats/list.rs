//! Which files of ring vectors there are: shared by the test and by `examples/make_kats.rs`.

use std::fmt::Write as _;

use karat::{AnyBackend, RingSpec, kat::vectors, ring::presets};
use sha2::{Digest, Sha256};

/// The seed of every file; the ring enters the derivation, so files have nothing in common.
pub const SEED: &[u8] = b"karat kats";

/// Rings that no scheme names: the smallest ones, odd degrees, composite moduli, sparse polynomials, and moduli at
/// the ends of word classes.
const USER_RINGS: [(&str, &str); 17] = [
    ("n1-q2", "q=2,f=x+1"),
    ("n1-q17", "q=17,f=x-4"),
    ("n2-q17", "q=17,f=x^2+1"),
    ("n3-q5-power", "q=5,f=x^3"),
    ("n4-q9", "q=9,f=x^4+1"),
    ("n64-q2", "q=2,f=x^64+1"),
    ("n81-q3-cyclic", "q=3,f=x^81-1"),
    ("n100-q97-sparse", "q=97,f=x^100+3x^7+5"),
    ("n128-q2-62", "q=4611686018427387903,f=x^128+1"),
    ("n96-q2-61", "q=2305843009213693952,f=x^96-x^48+1"),
    ("n64-q2-32", "q=4294967296,f=x^64+1"),
    ("n64-q2-32-plus", "q=4294967297,f=x^64-1"),
    ("n64-q2-16", "q=65536,f=x^64+1"),
    ("n64-q65537", "q=65537,f=x^64+1"),
    ("n64-q50bit", "q=1125899904679937,f=x^64+1"),
    ("n512-q257", "q=257,f=x^512+1"),
    ("n1000-q1000-cyclic", "q=1000,f=x^1000-1"),
];

/// File names, rings and numbers of random records. Presets that share a ring share a file.
pub fn all() -> Vec<(String, RingSpec, u64)> {
    let preset = |ring: &RingSpec| (ring.name().to_owned(), ring.clone());
    let user = |(name, ring): (&str, &str)| (name.to_owned(), ring.parse().expect("a valid ring"));
    let mut out: Vec<(String, RingSpec, u64)> = Vec::new();
    for (name, ring) in presets::all().into_iter().map(preset).chain(USER_RINGS.map(user)) {
        if !out.iter().any(|(_, known, _)| same(known, &ring)) {
            // Fewer records of large rings keep the folder small.
            let count = if ring.n() <= 256 { 2 } else { 1 };
            out.push((name + ".rsp", ring, count));
        }
    }
    out
}

/// Whether two descriptions mean the same ring.
pub fn same(a: &RingSpec, b: &RingSpec) -> bool {
    (a.n(), a.q(), a.f()) == (b.n(), b.q(), b.f())
}

/// The text of one file.
pub fn generate(backend: &AnyBackend, ring: &RingSpec, count: u64) -> Vec<u8> {
    let mut text = Vec::new();
    vectors::write(backend, ring, count, SEED, &mut text).expect("memory takes everything");
    text
}

/// SHA-256 in hexadecimal.
pub fn sha256(data: &[u8]) -> String {
    Sha256::digest(data).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
