//! ML-DSA against three other implementations: honest runs, and signatures and keys that were tampered with where
//! it hurts (a coefficient of z at its bound, the encoding of hints, a secret out of range), not only at random bytes.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};

use crate::peers::mldsa::{Set, sets};

static SETS: LazyLock<[Set; 3]> = LazyLock::new(sets);

/// Signs and verifies what the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let set = u.choose(&SETS[..])?;
    let seed = u.arbitrary()?;
    let rnd: [u8; 32] = if u.arbitrary()? { [0; 32] } else { u.arbitrary()? };
    let context = vec![u.arbitrary::<u8>()?; *u.choose(&[0, 1, 17, 254, 255, 256])?];
    let len = u.int_in_range(0..=40usize)?.min(u.len());
    let message = u.bytes(len)?.to_vec();
    let (mut pk, mut sk) = set.karat.keygen(&seed);
    let peer = *u.choose(&set.peers)?;
    assert!(peer.keygen(&seed) == (pk.clone(), sk.clone()), "{}: keys differ from {}'s", set.name, peer.name());

    if u.ratio(1u8, 5u8)? {
        // Any private key gets a signature or an error, in bounded time.
        tamper_with_private_key(u, set, &mut sk)?;
        let _ = set.karat.sign(&sk, &message, &context, &rnd);
        return Ok(());
    }
    let ours = set.karat.sign(&sk, &message, &context, &rnd);
    assert!(ours.is_some() == (context.len() <= 255), "{}: context of {} bytes", set.name, context.len());
    let theirs = peer.sign(&sk, &message, &context, &rnd);
    assert!(theirs == ours, "{}: the signature differs from {}'s", set.name, peer.name());
    let Some(mut signature) = ours else {
        assert!(!set.karat.verify(&pk, &message, &context, &[]), "{}: a context that is too long", set.name);
        return Ok(());
    };
    assert!(set.karat.verify(&pk, &message, &context, &signature), "{}: an honest signature is refused", set.name);

    match u.int_in_range(0..=6u8)? {
        0 => tamper_with_z(u, set, &mut signature)?,
        1 | 2 => tamper_with_hints(u, set, &mut signature)?,
        3 => flip(u, &mut signature)?,
        4 => flip(u, &mut pk)?,
        5 => signature.truncate(u.int_in_range(0..=signature.len())?),
        _ => signature.resize(signature.len() + 1, 0),
    }
    let ours = set.karat.verify(&pk, &message, &context, &signature);
    for peer in set.peers {
        let theirs = peer.verify(&pk, &message, &context, &signature);
        assert!(ours == theirs, "{}: karat says {ours}, {} {theirs}", set.name, peer.name());
    }
    Ok(())
}

/// One coefficient of `z` at the bound, next to it, or at the end of its encoding.
fn tamper_with_z(u: &mut Unstructured, set: &Set, signature: &mut [u8]) -> Result<()> {
    let gamma1 = 1u32 << (set.z_bits - 1);
    let place = u.int_in_range(0..=256 * set.l - 1)?;
    let values = [set.z_bound, set.z_bound - 1, set.z_bound + 1, gamma1, 0];
    let z = *u.choose(&values)?;
    let negative: bool = u.arbitrary()?;
    // The encoding holds gamma1 - z.
    let word = if negative { (gamma1 + z).min(2 * gamma1 - 1) } else { gamma1 - z };
    let start = 8 * set.challenge + place * set.z_bits;
    for bit in 0..set.z_bits {
        let (at, mask) = ((start + bit) / 8, 1u8 << ((start + bit) % 8));
        signature[at] = signature[at] & !mask | if word >> bit & 1 == 1 { mask } else { 0 };
    }
    Ok(())
}

/// Repeated, unsorted or too many hints, decreasing counts, padding that is not zero.
fn tamper_with_hints(u: &mut Unstructured, set: &Set, signature: &mut [u8]) -> Result<()> {
    let start = signature.len() - set.omega - set.k;
    let hints = &mut signature[start..];
    let used = hints[set.omega + set.k - 1] as usize;
    match u.int_in_range(0..=5u8)? {
        0 if used >= 2 => hints[1] = hints[0],
        1 if used >= 2 => hints.swap(0, 1),
        2 if used < set.omega => hints[u.int_in_range(used..=set.omega - 1)?] = u.arbitrary()?,
        3 => hints[set.omega + u.int_in_range(0..=set.k - 1)?] = u.arbitrary()?,
        4 => hints[set.omega + set.k - 1] = (set.omega + 1) as u8,
        _ => hints[u.int_in_range(0..=set.omega - 1)?] = u.arbitrary()?,
    }
    Ok(())
}

/// A secret coefficient outside `[-eta, eta]`, or any other part of the key.
fn tamper_with_private_key(u: &mut Unstructured, set: &Set, sk: &mut Vec<u8>) -> Result<()> {
    let secrets = 128..128 + 32 * set.eta_bits * (set.l + set.k);
    match u.int_in_range(0..=3u8)? {
        0 => sk[u.int_in_range(secrets.start..=secrets.end - 1)?] = 0xff,
        1 => sk[secrets].fill(u.arbitrary()?),
        2 => flip(u, sk)?,
        _ => sk.truncate(u.int_in_range(0..=sk.len())?),
    }
    Ok(())
}

fn flip(u: &mut Unstructured, bytes: &mut [u8]) -> Result<()> {
    let at = u.int_in_range(0..=bytes.len() - 1)?;
    bytes[at] ^= 1 << u.int_in_range(0..=7u32)?;
    Ok(())
}
