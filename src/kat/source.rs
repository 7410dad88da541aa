//! Where vectors come from: files, folders and gzip streams.

use std::boxed::Box;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::rc::Rc;
use std::vec::Vec;

/// Bytes that a format is told by.
const HEAD: usize = 1 << 12;

/// The files that paths name: a file is itself, a folder stands for the regular files below it, sorted.
///
/// Links are followed, every folder is visited once. Pipes and devices are taken where they are named, not where
/// they lie in a folder. What does not exist or cannot be listed stays in the list under its own name: whoever opens it
/// is told why, and everything else is still looked at.
///
/// ```
/// use karat::kat::files;
/// let found = files(&["Cargo.toml".into(), "no such file".into()]);
/// assert_eq!(found, ["Cargo.toml".as_ref(), "no such file".as_ref()] as [&std::path::Path; 2]);
/// ```
pub fn files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut visited = BTreeSet::new();
    for path in paths {
        let start = out.len();
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => walk(path.clone(), &mut visited, &mut out),
            _ => out.push(path.clone()),
        }
        out[start..].sort();
    }
    out
}

fn walk(folder: PathBuf, visited: &mut BTreeSet<PathBuf>, out: &mut Vec<PathBuf>) {
    let mut folders = Vec::from([folder]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::canonicalize(&folder).and_then(|real| match visited.insert(real) {
            true => fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>(),
            false => Ok(Vec::new()),
        }) else {
            out.push(folder);
            continue;
        };
        for path in entries {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => folders.push(path),
                Ok(metadata) if !metadata.is_file() => {}
                _ => out.push(path),
            }
        }
    }
}

/// An opened source: decompressed bytes, their beginning, and how much was read.
pub(super) struct Source<'a> {
    pub(super) reader: Box<dyn BufRead + 'a>,
    pub(super) head: Vec<u8>,
    pub(super) bytes: Rc<Cell<u64>>,
}

impl<'a> Source<'a> {
    /// Looks at the beginning; gzip is told by its magic number.
    pub(super) fn new(reader: impl Read + 'a) -> io::Result<Self> {
        let bytes = Rc::new(Cell::new(0));
        let counted = Counted { reader, bytes: Rc::clone(&bytes) };
        let (magic, raw) = peek(Box::new(BufReader::with_capacity(1 << 16, counted)), 2)?;
        let plain = if magic == [0x1f, 0x8b] { gunzip(raw)? } else { raw };
        let (head, reader) = peek(plain, HEAD)?;
        Ok(Self { reader, head, bytes })
    }
}

/// The first bytes of a reader, and a reader that gives them again.
fn peek<'a>(mut reader: Box<dyn BufRead + 'a>, len: usize) -> io::Result<(Vec<u8>, Box<dyn BufRead + 'a>)> {
    let mut head = Vec::new();
    (&mut reader).take(len as u64).read_to_end(&mut head)?;
    let again = io::Cursor::new(head.clone());
    Ok((head, Box::new(again.chain(reader))))
}

#[cfg(feature = "cli")]
fn gunzip<'a>(reader: Box<dyn BufRead + 'a>) -> io::Result<Box<dyn BufRead + 'a>> {
    Ok(Box::new(BufReader::with_capacity(1 << 16, Gunzip(flate2::bufread::MultiGzDecoder::new(reader)))))
}

#[cfg(not(feature = "cli"))]
fn gunzip<'a>(_reader: Box<dyn BufRead + 'a>) -> io::Result<Box<dyn BufRead + 'a>> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this build cannot read gzip: build with the feature `cli`"))
}

/// Decompression with typed errors.
#[cfg(feature = "cli")]
struct Gunzip<R>(flate2::bufread::MultiGzDecoder<R>);

#[cfg(feature = "cli")]
impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use super::KatError;
        self.0.read(buffer).map_err(|error| match error.kind() {
            kind @ io::ErrorKind::UnexpectedEof => io::Error::new(kind, KatError::TruncatedGzip),
            kind @ (io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                io::Error::new(kind, KatError::CorruptGzip(std::string::ToString::to_string(&error)))
            }
            _ => error,
        })
    }
}

struct Counted<R> {
    reader: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.bytes.set(self.bytes.get() + count as u64);
        Ok(count)
    }
}
