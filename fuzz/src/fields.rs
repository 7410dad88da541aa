//! Encoded keys, ciphertexts and signatures as fields of equally wide elements, and mutations that know them.

use arbitrary::{Result, Unstructured};

use crate::operands::Random;

/// `count` elements of `bits` bits each, the least significant bit first, from byte `start` on.
#[derive(Debug, Clone)]
pub struct Field {
    pub start: usize,
    pub count: usize,
    pub bits: usize,
    /// Values where something changes.
    pub ends: Vec<u32>,
}

impl Field {
    /// Bytes: a hash, a seed.
    pub fn bytes(start: usize, count: usize) -> Self {
        Self { start, count, bits: 8, ends: vec![0, 0xff] }
    }

    /// The first byte behind it.
    pub fn end(&self) -> usize {
        self.start + self.count * self.bits / 8
    }

    pub fn get(&self, bytes: &[u8], i: usize) -> u32 {
        let start = 8 * self.start + i * self.bits;
        (0..self.bits).fold(0, |value, bit| {
            let at = start + bit;
            value | u32::from(bytes[at / 8] >> (at % 8) & 1) << bit
        })
    }

    pub fn set(&self, bytes: &mut [u8], i: usize, value: u32) {
        let start = 8 * self.start + i * self.bits;
        for bit in 0..self.bits {
            let (at, mask) = ((start + bit) / 8, 1u8 << ((start + bit) % 8));
            bytes[at] = bytes[at] & !mask | if value >> bit & 1 == 1 { mask } else { 0 };
        }
    }

    fn index(&self, u: &mut Unstructured) -> Result<usize> {
        u.int_in_range(0..=self.count - 1)
    }

    /// A value where something changes, or any.
    fn value(&self, u: &mut Unstructured) -> Result<u32> {
        if u.ratio(1u8, 4u8)? { u.arbitrary() } else { Ok(*u.choose(&self.ends)?) }
    }

    fn mutate(&self, u: &mut Unstructured, bytes: &mut [u8], other: &[u8]) -> Result<()> {
        let whole = self.start..self.end();
        match u.int_in_range(0..=8u8)? {
            0..=2 => self.set(bytes, self.index(u)?, self.value(u)?),
            3 => {
                let value = self.value(u)?;
                (0..self.count).for_each(|i| self.set(bytes, i, value));
            }
            4 => {
                let (i, j) = (self.index(u)?, self.index(u)?);
                let (a, b) = (self.get(bytes, i), self.get(bytes, j));
                self.set(bytes, i, b);
                self.set(bytes, j, a);
            }
            5 => bytes[whole].rotate_left(u.int_in_range(0..=self.end() - self.start)?),
            6 => bytes[whole.clone()].copy_from_slice(&other[whole]),
            7 => fill(u, &mut bytes[whole])?,
            _ => flip(u, &mut bytes[whole])?,
        }
        Ok(())
    }
}

/// Changes one to three fields: an element at an end of its range, all of them, two exchanged, the field moved, or
/// taken from another object of the same kind.
pub fn mutate(u: &mut Unstructured, fields: &[Field], bytes: &mut [u8], other: &[u8]) -> Result<()> {
    for _ in 0..u.int_in_range(1..=3u8)? {
        u.choose(fields)?.mutate(u, bytes, other)?;
    }
    Ok(())
}

/// Pseudorandom bytes, or those of the input.
pub fn fill(u: &mut Unstructured, bytes: &mut [u8]) -> Result<()> {
    if u.arbitrary()? {
        let mut random = Random(u.arbitrary()?);
        bytes.fill_with(|| random.next() as u8);
    } else {
        for byte in bytes {
            *byte = u.arbitrary()?;
        }
    }
    Ok(())
}

/// Flips one bit of one byte; every block of 32 bytes is as likely as its length.
pub fn flip(u: &mut Unstructured, bytes: &mut [u8]) -> Result<()> {
    let at = u.int_in_range(0..=bytes.len() - 1)?;
    bytes[at] ^= 1 << u.int_in_range(0..=7u32)?;
    Ok(())
}

/// Another length.
pub fn resize(u: &mut Unstructured, bytes: &mut Vec<u8>) -> Result<()> {
    let len = *u.choose(&[0, 1, 31, bytes.len() - 1, bytes.len() + 1, 2 * bytes.len()])?;
    bytes.resize(len, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_lie_side_by_side() {
        for bits in [3, 8, 10, 12, 18, 20] {
            let field = Field { start: 1, count: 8, bits, ends: vec![0] };
            let mut bytes = vec![0; field.end() + 1];
            let value = |i: usize| (0x9e37_79b9 >> i) & ((1 << bits) - 1);
            (0..8).for_each(|i| field.set(&mut bytes, i, value(i)));
            assert!((0..8).all(|i| field.get(&bytes, i) == value(i)), "{bits} bits");
            assert_eq!((bytes[0], bytes[field.end()]), (0, 0), "{bits} bits");
        }
    }
}
