//! The vectors of the folder `kats/`, compiled in.

use karat::RingSpec;
use karat::kat::{FileError, rsp};

/// Known products of one ring, `[count][N]` each.
pub struct Known {
    /// The ring.
    pub ring: RingSpec,
    /// First factors.
    pub a: Vec<u64>,
    /// Second factors.
    pub b: Vec<u64>,
    /// Products.
    pub c: Vec<u64>,
}

macro_rules! files {
    ($($name:literal)*) => {
        const FILES: &[(&str, &[u8])] = &[
            $((concat!($name, ".rsp"), include_bytes!(concat!("../../../kats/", $name, ".rsp")))),*
        ];
    };
}

files! {
    "falcon-1024" "falcon-512" "haetae" "ml-dsa" "ml-kem" "n1-q17" "n1-q2" "n100-q97-sparse" "n1000-q1000-cyclic"
    "n128-q2-62" "n2-q17" "n3-q5-power" "n4-q9" "n512-q257" "n64-q2" "n64-q2-16" "n64-q2-32" "n64-q2-32-plus"
    "n64-q50bit" "n64-q65537" "n81-q3-cyclic" "n96-q2-61" "ntru-hps2048509" "ntru-hps2048677" "ntru-hps4096821"
    "ntru-hrss701" "ntruplus-1152" "ntruplus-576" "ntruplus-768" "ntruplus-864" "raccoon" "saber" "smaug-t-128"
    "smaug-t-192" "sntrup1013" "sntrup1277" "sntrup653" "sntrup761" "sntrup857" "sntrup953"
}

/// The known products of every file; each file is about one ring.
pub fn all() -> Result<Vec<Known>, FileError> {
    let mut out: Vec<Known> = Vec::new();
    for (name, text) in FILES {
        let mut reader = rsp::Reader::new(*name, *text);
        let mut known: Option<Known> = None;
        while let Some(record) = reader.read()? {
            let ring = || (*record.ring).clone();
            let known = known.get_or_insert_with(|| Known { ring: ring(), a: vec![], b: vec![], c: vec![] });
            known.a.extend_from_slice(&record.a);
            known.b.extend_from_slice(&record.b);
            known.c.extend_from_slice(&record.c);
        }
        out.extend(known);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_compiled_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/kats/SHA256SUMS");
        let sums = std::fs::read_to_string(folder).unwrap();
        let mut listed: Vec<_> = sums.lines().map(|line| line.split_once("  ").unwrap().1).collect();
        let mut compiled: Vec<_> = FILES.iter().map(|(name, _)| *name).collect();
        listed.sort_unstable();
        compiled.sort_unstable();
        assert_eq!(compiled, listed);
    }

    #[test]
    fn files_hold_products() {
        for known in all().unwrap() {
            assert!(known.a.len() >= 5 * known.ring.n(), "{}", known.ring);
            assert_eq!((known.a.len(), known.b.len()), (known.c.len(), known.c.len()));
        }
    }
}
