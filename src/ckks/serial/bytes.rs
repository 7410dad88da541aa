//! Bytes one after the other.

use crate::ckks::{Error, Result};

/// Collects bytes.
#[derive(Default)]
pub(in crate::ckks) struct Writer(Vec<u8>);

impl Writer {
    pub(in crate::ckks) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// A number as 7 bits a byte, lowest first, the high bit set on all but the last (LEB128).
    pub(in crate::ckks) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A signed number, its sign in the lowest bit.
    pub(in crate::ckks) fn signed(&mut self, value: i64) {
        self.number((value << 1 ^ value >> 63) as u64);
    }

    /// Room for more bytes, zero.
    pub(in crate::ckks) fn zeros(&mut self, len: usize) -> &mut [u8] {
        let start = self.0.len();
        self.0.resize(start + len, 0);
        &mut self.0[start..]
    }

    /// Makes room for what comes: bytes that may be secret are not moved later.
    pub(in crate::ckks) fn reserve(&mut self, len: usize) {
        self.0.reserve_exact(len);
    }

    pub(in crate::ckks) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Takes bytes.
pub(in crate::ckks) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(in crate::ckks) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    pub(in crate::ckks) fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::Format { what: self.what, reason: reason.into() }
    }

    pub(in crate::ckks) fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(|| {
            self.wrong(format!("it ends early: {len} more bytes are announced and {} are there", self.rest.len()))
        })?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(in crate::ckks) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.bytes(N)?;
        bytes.try_into().map_err(|_| self.wrong("it ends early"))
    }

    pub(in crate::ckks) fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(in crate::ckks) fn number(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let low = u64::from(byte & 0x7f);
            if shift == 63 && low > 1 || shift > 0 && byte == 0 {
                return Err(self.wrong("a number is not written in the shortest way"));
            }
            value |= low << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.wrong("a number has too many bytes"))
    }

    /// A number within a range.
    pub(in crate::ckks) fn within(&mut self, name: &str, range: core::ops::RangeInclusive<u64>) -> Result<usize> {
        let value = self.number()?;
        match usize::try_from(value) {
            Ok(size) if range.contains(&value) => Ok(size),
            _ => Err(self.wrong(format!("{name} of {value} is not in {}..={}", range.start(), range.end()))),
        }
    }

    pub(in crate::ckks) fn signed(&mut self) -> Result<i64> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Makes sure that exactly this many bytes are left.
    pub(in crate::ckks) fn expect(&self, len: Option<usize>) -> Result<()> {
        let len = len.ok_or_else(|| super::too_long(self.what))?;
        match self.rest.len() == len {
            true => Ok(()),
            false => Err(self.wrong(format!("{len} bytes must follow and {} do", self.rest.len()))),
        }
    }

    /// Bytes that are left.
    pub(in crate::ckks) fn left(&self) -> usize {
        self.rest.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(value: u64, signed: i64, small in 0u64..300) {
            let mut writer = Writer::default();
            writer.number(value);
            writer.signed(signed);
            writer.number(small);
            let bytes = writer.finish();
            let mut reader = Reader::new(&bytes, "test");
            prop_assert_eq!(reader.number().unwrap(), value);
            prop_assert_eq!(reader.signed().unwrap(), signed);
            prop_assert_eq!(reader.number().unwrap(), small);
            prop_assert!(reader.expect(Some(0)).is_ok());
        }

        #[test]
        fn whatever_is_read_is_written_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            if let Ok(value) = Reader::new(&bytes, "test").number() {
                let mut writer = Writer::default();
                writer.number(value);
                prop_assert!(bytes.starts_with(&writer.finish()));
            }
        }
    }
}
