//! The readers of polynomials of the program `karat`: NumPy arrays and text. Whole files give their numbers or the one
//! error that they deserve, damaged ones an error or reduced numbers.

use std::io::BufReader;

use arbitrary::{Result, Unstructured};

use crate::failure::Failure;
use crate::npy::NpyReader;
use crate::poly::Format;
use crate::text::TextReader;
use crate::vector_files::edit;

/// Reads files that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

/// The type of an array's items.
#[derive(Clone, Copy)]
struct Item {
    width: usize,
    signed: bool,
    big: bool,
}

impl Item {
    fn description(self) -> String {
        let order = match (self.width, self.big) {
            (1, _) => '|',
            (_, true) => '>',
            (_, false) => '<',
        };
        format!("{order}{}{}", if self.signed { 'i' } else { 'u' }, self.width)
    }

    /// The bytes of a value, and the value that they hold.
    fn encode(self, value: u64) -> (Vec<u8>, i128) {
        let mut bytes = value.to_le_bytes()[..self.width].to_vec();
        let bits = 8 * self.width as u32;
        let held = u128::from(value) & (u128::MAX >> (128 - bits));
        let negative = self.signed && held >> (bits - 1) == 1;
        if self.big {
            bytes.reverse();
        }
        (bytes, held as i128 - if negative { 1i128 << bits } else { 0 })
    }
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let q = *u.choose(&[2, 3, 17, 256, 3329, 70000, 1 << 32, (1 << 62) - 1])?;
    let format = Format { n: u.int_in_range(1..=6)?, q, centred: u.arbitrary()? };
    let item = Item { width: *u.choose(&[1, 2, 4, 8])?, signed: u.arbitrary()?, big: u.arbitrary()? };
    let (rows, flat) = match u.int_in_range(0..=4usize)? {
        4 => (1, true),
        rows => (rows, false),
    };
    let (mut data, mut text, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..rows * format.n {
        // Small steps around the ends of the range, and any.
        let near = i64::from(u.int_in_range(-2..=2i8)?);
        let value = match u.int_in_range(0..=4u8)? {
            0 => u.arbitrary()?,
            1 => q.wrapping_add_signed(near),
            2 => (q / 2).wrapping_add_signed(near),
            3 => 0u64.wrapping_add_signed(near),
            _ => (q / 2).wrapping_neg().wrapping_add_signed(near),
        };
        let (bytes, value) = item.encode(value);
        data.extend(bytes);
        values.push(value);
        text.extend(format!("{value}{}", if (i + 1) % format.n == 0 { "\n" } else { " " }).into_bytes());
    }
    let shape = if flat { format!("({},)", format.n) } else { format!("({rows}, {})", format.n) };
    let mut array = header(u, &item.description(), &shape)?;
    array.extend(data);

    let expected: Option<Vec<u64>> = values.iter().map(|value| residue(format, *value)).collect();
    match u.int_in_range(0..=2u8)? {
        0 => {
            assert_eq!(read(&array, format), expected, "an array of {} as {format:?}", item.description());
            assert_eq!(read_text(&text, format), expected, "text as {format:?}");
        }
        1 => {
            for _ in 0..u.int_in_range(1..=3u8)? {
                edit(u, &mut array)?;
                edit(u, &mut text)?;
            }
            read(&array, format);
            read_text(&text, format);
        }
        _ => {
            let rest = u.bytes(u.len())?;
            read(rest, format);
            read_text(rest, format);
        }
    }
    Ok(())
}

/// What a coefficient means, by definition.
fn residue(format: Format, value: i128) -> Option<u64> {
    let q = i128::from(format.q);
    let (least, most) = if format.centred { (-(q / 2), q / 2) } else { (0, q - 1) };
    (least..=most).contains(&value).then(|| value.rem_euclid(q) as u64)
}

/// A header of either version, padded as NumPy does or not.
fn header(u: &mut Unstructured, descr: &str, shape: &str) -> Result<Vec<u8>> {
    let mut dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    if u.arbitrary()? {
        dict += &" ".repeat(117 - dict.len());
    }
    dict.push('\n');
    let version = u.int_in_range(1..=3u8)?;
    let mut out = [b"\x93NUMPY", &[version, 0][..]].concat();
    match version {
        1 => out.extend((dict.len() as u16).to_le_bytes()),
        _ => out.extend((dict.len() as u32).to_le_bytes()),
    }
    out.extend(dict.into_bytes());
    Ok(out)
}

fn read(bytes: &[u8], format: Format) -> Option<Vec<u64>> {
    let mut out = Vec::new();
    let mut read_all = || {
        let mut reader = NpyReader::new("a.npy", bytes, format)?;
        while reader.next(&mut out)? {}
        Ok(())
    };
    let result = read_all();
    judge(result, out, bytes, format)
}

fn read_text(bytes: &[u8], format: Format) -> Option<Vec<u64>> {
    let mut out = Vec::new();
    let mut reader = TextReader::new("a", BufReader::with_capacity(3, bytes), format);
    let mut read_all = || {
        while reader.next(&mut out)? {}
        Ok(())
    };
    let result = read_all();
    judge(result, out, bytes, format)
}

/// What was read is reduced and no longer than the file; an error is short.
fn judge(result: std::result::Result<(), Failure>, out: Vec<u64>, bytes: &[u8], format: Format) -> Option<Vec<u64>> {
    assert!(out.iter().all(|c| *c < format.q) && out.len() <= bytes.len(), "more or larger numbers than the file has");
    match result {
        Ok(()) => Some(out),
        Err(error) => {
            assert!(error.to_string().len() < 1024, "an error as long as the file");
            None
        }
    }
}
