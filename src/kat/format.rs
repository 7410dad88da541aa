//! Formats of vector files, told by their content.

use std::path::Path;
use std::string::String;

use super::error::excerpt;

/// A format that the [`Runner`](super::Runner) validates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Ring products, `.rsp`: see [`rsp`](super::rsp).
    Ring,
    /// Key pairs with ciphertexts or signatures, `.rsp` of NIST's submission kit.
    #[cfg(feature = "cli")]
    Nist,
    /// NIST's ACVP vectors, or Wycheproof's: JSON.
    #[cfg(feature = "cli")]
    Json,
    /// The text vectors of CCTV for ML-KEM.
    #[cfg(feature = "cli")]
    Cctv,
}

impl Format {
    /// The format of a file that begins with these bytes.
    ///
    /// Content decides. Only a file that is named `.rsp` or `.json` (or that and `.gz`) and whose first line fits no
    /// format at all counts as a (damaged) ring file or document, so that it gets an error and not a skip.
    ///
    /// # Errors
    /// The reason why no reader of this build takes the file.
    ///
    /// ```
    /// use karat::kat::Format;
    /// assert_eq!(Format::detect("x".as_ref(), b"# tiny\n\n[n = 1]\n"), Ok(Format::Ring));
    /// assert!(Format::detect("notes.md".as_ref(), b"# Notes\n").is_err());
    /// ```
    pub fn detect(path: &Path, head: &[u8]) -> Result<Self, String> {
        let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
        let named = named(path, ".rsp");
        #[cfg(feature = "cli")]
        if let Some(format) = Self::of_schemes(head, first) {
            return Ok(format);
        }
        #[cfg(feature = "cli")]
        if first.and_then(key).is_none() && self::named(path, ".json") {
            return Ok(Self::Json);
        }
        match first.and_then(key) {
            // The next field tells a ring's `count` from that of other response files.
            Some(b"count") => match lines.find(|line| !line.is_empty()).and_then(key) {
                Some(key) if RING_KEYS.contains(&key) => Ok(Self::Ring),
                None if named => Ok(Self::Ring),
                _ => Err("a response file that is not about rings: no reader for it".into()),
            },
            Some(key) if RING_KEYS.contains(&key) => Ok(Self::Ring),
            // Headers of one's own may stand before those of a ring.
            Some(_) if lines.filter_map(key).any(|key| HEADERS.contains(&key)) => Ok(Self::Ring),
            Some(other) => Err(["unknown format: it begins with the field `", &excerpt(other), "`"].concat()),
            None if named => Ok(Self::Ring),
            None => Err(match first {
                Some(line) => ["unknown format: it begins with `", &excerpt(line), "`"].concat(),
                None if head.is_empty() => "the file is empty".into(),
                None => "unknown format: nothing but comments at its beginning".into(),
            }),
        }
    }

    /// The formats of schemes: their first lines fit no ring file.
    #[cfg(feature = "cli")]
    fn of_schemes(head: &[u8], first: Option<&[u8]>) -> Option<Self> {
        let first = first?;
        let second = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).skip_while(|line| *line != first).nth(1);
        match first {
            // `[n = 17]` begins a ring file, `[{` and `["` a JSON document.
            [b'{', ..] | [b'[', b'{' | b'"', ..] | b"[" => Some(Self::Json),
            _ if key(first) == Some(b"count") && second.and_then(key) == Some(b"seed") => Some(Self::Nist),
            _ if super::cctv::is_text(first) => Some(Self::Cctv),
            _ => None,
        }
    }
}

const HEADERS: [&[u8]; 3] = [b"n", b"q", b"f"];
const RING_KEYS: [&[u8]; 7] = [b"n", b"q", b"f", b"count", b"a", b"b", b"c"];

/// The key of a line `key = value` or `[key = value]`.
fn key(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(b"[").unwrap_or(line);
    let end = line.iter().position(|byte| *byte == b'=')?;
    let key = line[..end].trim_ascii();
    super::rsp::is_key(key).then_some(key)
}

fn named(path: &Path, end: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        let ring = |name: &str, head: &[u8]| Format::detect(name.as_ref(), head) == Ok(Format::Ring);
        assert!(ring("x.txt", b"[q = 17]"));
        assert!(ring("x", b"# c\r\n\r\n[ n = 1 ]\r\n"));
        assert!(ring("x", b"[origin = somewhere]\n[n = 1]\n"));
        assert!(ring("x", b"count = 0\na = 1\n"), "the headers are missing: an error, not a skip");
        assert!(!ring("x.rsp", b"# Kyber512\n\ncount = 0\nseed = 00\n"));
        assert!(!ring("x.rsp", b"[L = 32]\nLen = 0\nMsg = 00\n"));
        assert!(!ring("x.json", b"{\"algorithm\": \"ML-KEM\"}"));
        assert!(!ring("x.json", b"[{\"n = 1\": 2}]"));
        assert!(!ring("x", b""));
        assert!(!ring("x", b"# only a comment"));
    }

    #[test]
    fn damaged_ring_files_are_not_skipped() {
        for head in [&b""[..], b"# c\n", b"\0\0\0", b"n 17", b"[n 17]", b"\xff\xfe[n = 1]", b"count = 0"] {
            assert_eq!(Format::detect("x.rsp".as_ref(), head), Ok(Format::Ring), "{head:?}");
            assert_eq!(Format::detect("x.RSP.gz".as_ref(), head), Ok(Format::Ring), "{head:?}");
            assert!(Format::detect("x.bin".as_ref(), head).is_err(), "{head:?}");
        }
    }
}
