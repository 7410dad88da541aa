//! Polynomials as NumPy arrays: C order, shape (N,) or (batch, N), any integer type.

use std::io::Read;

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};

use crate::failure::Failure;
use crate::poly::Format;

/// Longest header that is read: NumPy writes 128 bytes for an array of integers.
const MAX_HEADER: usize = 1 << 10;

/// Most digits in a header: sizes with more overflow 64 bits.
const MAX_DIGITS: usize = 18;

/// Reads polynomials from an array.
pub struct NpyReader<R> {
    name: String,
    reader: R,
    format: Format,
    item: Item,
    flat: bool,
    rows: u64,
    /// Rows read so far.
    row: u64,
    bytes: Vec<u8>,
}

/// The type of the array's items.
#[derive(Debug, Clone, Copy)]
struct Item {
    bytes: usize,
    signed: bool,
    big_endian: bool,
}

impl Item {
    fn new(dtype: &DType) -> Option<Self> {
        let DType::Plain(plain) = dtype else { return None };
        let signed = match plain.type_char() {
            TypeChar::Int => true,
            TypeChar::Uint => false,
            _ => return None,
        };
        let bytes = plain.num_bytes().filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8))?;
        Some(Self { bytes, signed, big_endian: plain.endianness() == Endianness::Big })
    }

    /// The value of one item.
    fn value(self, bytes: &[u8]) -> i128 {
        let byte = |i: usize| u128::from(bytes[if self.big_endian { self.bytes - 1 - i } else { i }]) << (8 * i);
        let unused = 128 - 8 * self.bytes as u32;
        let value = (0..self.bytes).fold(0, |value, i| value | byte(i)) << unused;
        if self.signed { value as i128 >> unused } else { (value >> unused) as i128 }
    }
}

impl<R: Read> NpyReader<R> {
    /// Reads and checks the header.
    pub fn new(name: &str, mut reader: R, format: Format) -> Result<Self, Failure> {
        let error = |reason: String| Failure::Input { file: name.into(), place: "the header".into(), reason };
        let bytes = header_bytes(&mut reader).map_err(error)?;
        let header = NpyHeader::from_reader(&bytes[..]).map_err(|e| error(e.to_string()))?;
        let Some(item) = Item::new(&header.dtype()) else {
            return Err(error(format!("the type is {}; an integer type is needed", header.dtype().descr())));
        };
        let n = format.n as u64;
        let (flat, rows) = match *header.shape() {
            [length] if length == n => (true, 1),
            [rows, length] if length == n => (false, rows),
            ref shape => {
                return Err(error(format!("the shape is {shape:?}; ({n},) or (batch, {n}) is needed")));
            }
        };
        if header.order() == Order::Fortran && !flat {
            return Err(error("the array is in Fortran order; C order is needed (numpy.ascontiguousarray)".into()));
        }
        let bytes = vec![0; format.n * item.bytes];
        Ok(Self { name: name.into(), reader, format, item, flat, rows, row: 0, bytes })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the shape is (N,).
    pub fn is_flat(&self) -> bool {
        self.flat
    }

    fn error(&self, place: String, reason: String) -> Failure {
        Failure::Input { file: self.name.clone(), place, reason }
    }

    /// Appends the residues of the next row; false at the end.
    pub fn next(&mut self, out: &mut Vec<u64>) -> Result<bool, Failure> {
        if self.row == self.rows {
            return match self.reader.read(&mut [0]).map_err(Failure::io(&self.name))? {
                0 => Ok(false),
                _ => Err(self.error("the end".into(), "there is more data than the shape says".into())),
            };
        }
        self.reader.read_exact(&mut self.bytes).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => self
                .error(format!("row {}", self.row), format!("the file ends here; the shape says {} rows", self.rows)),
            _ => Failure::io(&self.name)(e),
        })?;
        for (i, bytes) in self.bytes.chunks_exact(self.item.bytes).enumerate() {
            let residue = self.format.residue(self.item.value(bytes));
            out.push(
                residue.ok_or_else(|| self.error(format!("row {}, coefficient {i}", self.row), self.format.range()))?,
            );
        }
        self.row += 1;
        Ok(true)
    }
}

/// The bytes up to the data, if they can be a header of an array of integers. This bounds what hostile files can make
/// the parser do.
fn header_bytes(reader: &mut impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; 10];
    let truncated = |_| "this is no NumPy array, or it ends in the header".to_string();
    reader.read_exact(&mut bytes).map_err(truncated)?;
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err("this is no NumPy array: the magic bytes are missing".into());
    }
    let mut len = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    if bytes[6] > 1 {
        bytes.resize(12, 0);
        reader.read_exact(&mut bytes[10..]).map_err(truncated)?;
        len |= usize::from(u16::from_le_bytes([bytes[10], bytes[11]])) << 16;
    }
    if len > MAX_HEADER {
        return Err(format!("a header of {len} bytes belongs to no plain array of integers"));
    }
    let start = bytes.len();
    bytes.resize(start + len, 0);
    reader.read_exact(&mut bytes[start..]).map_err(truncated)?;
    // One digit is the type's.
    if bytes[start..].iter().filter(|b| b.is_ascii_digit()).count() > MAX_DIGITS + 1 {
        return Err("the shape is too large, or this is no plain array of integers".into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { n: 2, q: 70000, centred: true };

    /// An array file with this description and data.
    fn array(descr: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((dict.len() as u16).to_le_bytes());
        out.extend(dict.bytes());
        out.extend(data);
        out
    }

    fn read(bytes: &[u8]) -> Result<Vec<u64>, String> {
        let mut reader = NpyReader::new("t", bytes, FORMAT).map_err(|e| e.to_string())?;
        let mut out = Vec::new();
        while reader.next(&mut out).map_err(|e| e.to_string())? {}
        Ok(out)
    }

    #[test]
    fn integer_types() {
        for (descr, data) in [
            ("|i1", &[1u8, 0xff][..]),
            ("<i2", &[1, 0, 0xff, 0xff]),
            (">i2", &[0, 1, 0xff, 0xff]),
            ("<i4", &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]),
            (">i8", &[0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ] {
            assert_eq!(read(&array(descr, "False", "(2,)", data)).unwrap(), [1, 69999], "{descr}");
            assert_eq!(read(&array(descr, "False", "(1, 2)", data)).unwrap(), [1, 69999], "{descr}");
        }
        assert_eq!(read(&array("|u1", "False", "(2,)", &[1, 255])).unwrap(), [1, 255]);
        assert_eq!(read(&array(">u2", "False", "(2,)", &[0, 1, 1, 0])).unwrap(), [1, 256]);
        assert!(read(&array("<u8", "False", "(0, 2)", &[])).unwrap().is_empty());
    }

    #[test]
    fn wrong_arrays() {
        for (bytes, expected) in [
            (array("<f8", "False", "(2,)", &[0; 16]), "type is '<f8'"),
            (array("|b1", "False", "(2,)", &[0; 2]), "type is '|b1'"),
            (array("|O", "False", "(2,)", &[0; 16]), "integer type"),
            (array("<i8", "True", "(2, 2)", &[0; 32]), "Fortran"),
            (array("<i8", "False", "(3,)", &[0; 24]), "shape is [3]"),
            (array("<i8", "False", "(1, 1, 2)", &[0; 16]), "shape is [1, 1, 2]"),
            (array("<i8", "False", "()", &[0; 8]), "shape is []"),
            (array("<i8", "False", "(4294967296, 4294967296, 4294967296)", &[]), "too large"),
            (array("<i2", "False", "(2, 2)", &[0; 7]), "row 1"),
            (array("<i2", "False", "(2,)", &[0; 5]), "more data"),
            (array("<u2", "False", "(2,)", &[0, 0, 0xff, 0xff]), "row 0, coefficient 1"),
            (array("<u8", "False", "(2,)", &[0xff; 16]), "row 0, coefficient 0"),
            (array("", "False", "(2,)", &[]), "header"),
            (array("<i8", "0", "(2,)", &[]), "header"),
            (array("<i8", "False", &"(".repeat(900), &[]), "header"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), "4294967295 bytes"),
            (b"1 2 3\n4 5 6\n".to_vec(), "magic"),
            (Vec::new(), "header"),
        ] {
            let message = read(&bytes).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
