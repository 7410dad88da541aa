//! ML-KEM against three other implementations: honest runs, and keys and ciphertexts that were tampered with where it
//! hurts (one coefficient, one block, the hash, the rejection secret), not only at random bytes.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};

use crate::peers::mlkem::{Implementation, Set, sets};

static SETS: LazyLock<[Set; 3]> = LazyLock::new(sets);

/// Runs one exchange that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let set = u.choose(&SETS[..])?;
    let (d, z, m) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
    let karat = &*set.karat;
    let (mut ek, mut dk) = karat.keygen(&d, &z);
    for peer in set.peers {
        assert!(peer.keygen(&d, &z) == (ek.clone(), dk.clone()), "{}: keys differ from {}'s", set.name, peer.name());
    }
    if u.ratio(1u8, 3u8)? {
        tamper_with_encapsulation_key(u, set.rank, &mut ek)?;
    }
    let Some((mut ciphertext, secret)) = same(set, "encaps", |i| i.encaps(&ek, &m), true) else {
        return Ok(());
    };
    let secret_of_peer = secret;
    let honest = karat.decaps(&dk, &ciphertext);
    if ek[..] == dk[384 * set.rank..][..ek.len()] {
        assert!(honest == Some(secret_of_peer), "{}: an honest ciphertext gives another secret", set.name);
    }
    match u.int_in_range(0..=3u8)? {
        0 => {}
        1 => tamper_with_ciphertext(u, &mut ciphertext)?,
        2 => tamper_with_decapsulation_key(u, set.rank, &mut dk)?,
        _ => {
            tamper_with_ciphertext(u, &mut ciphertext)?;
            tamper_with_decapsulation_key(u, set.rank, &mut dk)?;
        }
    }
    let whole = dk.len() == 768 * set.rank + 96;
    let reduced = !whole || (0..256 * set.rank).all(|i| coefficient(&dk, i) < 3329);
    let result = same(set, "decaps", |i| i.decaps(&dk, &ciphertext), reduced);
    if ciphertext.len() == [768, 1088, 1568][set.rank - 2] && result.is_none() {
        // Only a key that is not what key generation makes may be refused (FIPS 203, section 7.3).
        assert!(dk != karat.keygen(&d, &z).1, "{}: a ciphertext of the right length is refused", set.name);
    }
    Ok(())
}

/// karat's answer, after a comparison with the others'. What karat accepts, nobody may answer otherwise; what it
/// refuses, those must refuse that check keys as FIPS 203 says. A private key's coefficients above `q` have no one
/// meaning: there only refusals are compared.
fn same<T: PartialEq>(
    set: &Set,
    what: &str,
    operation: impl Fn(&dyn Implementation) -> Option<T>,
    comparable: bool,
) -> Option<T> {
    let ours = operation(&*set.karat);
    for peer in set.peers {
        let theirs = operation(peer);
        match (&ours, &theirs) {
            (Some(a), Some(b)) => assert!(a == b || !comparable, "{}: {what} differs from {}'s", set.name, peer.name()),
            (None, Some(_)) => {
                assert!(!peer.checks_keys(), "{}: {what} refuses what {} accepts", set.name, peer.name());
            }
            (Some(_), None) => assert!(!comparable, "{}: {what} accepts what {} refuses", set.name, peer.name()),
            (None, None) => {}
        }
    }
    ours
}

/// Coefficient `i` of 12-bit packed polynomials.
fn coefficient(bytes: &[u8], i: usize) -> u16 {
    let at = i / 2 * 3;
    let [a, b, c] = [bytes[at], bytes[at + 1], bytes[at + 2]].map(u16::from);
    if i % 2 == 0 { a | (b & 15) << 8 } else { b >> 4 | c << 4 }
}

fn set_coefficient(bytes: &mut [u8], i: usize, value: u16) {
    let at = i / 2 * 3;
    if i % 2 == 0 {
        bytes[at] = value as u8;
        bytes[at + 1] = bytes[at + 1] & 0xf0 | (value >> 8) as u8;
    } else {
        bytes[at + 1] = bytes[at + 1] & 0x0f | (value << 4) as u8;
        bytes[at + 2] = (value >> 4) as u8;
    }
}

fn tamper_with_encapsulation_key(u: &mut Unstructured, rank: usize, ek: &mut Vec<u8>) -> Result<()> {
    match u.int_in_range(0..=3u8)? {
        0 => {
            let i = u.int_in_range(0..=256 * rank - 1)?;
            let value = *u.choose(&[3328, 3329, 3330, 4095, 0])?;
            set_coefficient(ek, i, value);
        }
        1 => flip(u, ek)?,
        2 => ek[..384].rotate_left(12),
        _ => resize(u, ek)?,
    }
    Ok(())
}

fn tamper_with_decapsulation_key(u: &mut Unstructured, rank: usize, dk: &mut Vec<u8>) -> Result<()> {
    let secret = 384 * rank;
    let hash = dk.len() - 64;
    match u.int_in_range(0..=5u8)? {
        0 => {
            let i = u.int_in_range(0..=256 * rank - 1)?;
            let value = *u.choose(&[0, 1, 3328, 3329, 4095])?;
            set_coefficient(dk, i, value);
        }
        1 => flip(u, &mut dk[secret..hash])?,
        2 => flip(u, &mut dk[hash..hash + 32])?,
        3 => flip(u, &mut dk[hash + 32..])?,
        4 => {
            // A key inside that is not reduced, with a hash that belongs to it.
            set_coefficient(&mut dk[secret..hash], u.int_in_range(0..=256 * rank - 1)?, 3329);
            let digest = <sha3::Sha3_256 as sha3::Digest>::digest(&dk[secret..hash]);
            dk[hash..hash + 32].copy_from_slice(&digest);
        }
        _ => resize(u, dk)?,
    }
    Ok(())
}

fn tamper_with_ciphertext(u: &mut Unstructured, ciphertext: &mut Vec<u8>) -> Result<()> {
    match u.int_in_range(0..=4u8)? {
        0 => flip(u, ciphertext)?,
        1 => {
            // One bit of a chosen block of 32 bytes: a comparison that stops early misses some.
            let block = u.int_in_range(0..=ciphertext.len() / 32 - 1)?;
            ciphertext[32 * block + u.int_in_range(0..=31usize)?] ^= 1 << u.int_in_range(0..=7u32)?;
        }
        2 => ciphertext.fill(u.arbitrary()?),
        3 => {
            for byte in ciphertext.iter_mut() {
                *byte = u.arbitrary()?;
            }
        }
        _ => resize(u, ciphertext)?,
    }
    Ok(())
}

fn flip(u: &mut Unstructured, bytes: &mut [u8]) -> Result<()> {
    let at = u.int_in_range(0..=bytes.len() - 1)?;
    bytes[at] ^= 1 << u.int_in_range(0..=7u32)?;
    Ok(())
}

fn resize(u: &mut Unstructured, bytes: &mut Vec<u8>) -> Result<()> {
    let len = *u.choose(&[0, 1, 31, bytes.len() - 1, bytes.len() + 1, 2 * bytes.len()])?;
    bytes.resize(len, 0);
    Ok(())
}
