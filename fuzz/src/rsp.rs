//! The reader of ring vectors: any bytes get records or a typed error, and what it reads it reads again.

use std::io::{BufRead, BufReader};

use karat::RingSpec;
use karat::kat::rsp::{Reader, Writer};

/// One record as plain data.
type Plain = (RingSpec, u64, [Vec<u64>; 3]);

/// Reads the bytes as a file, whole and in small pieces; writes what came out and reads that.
pub fn run(data: &[u8]) {
    let (records, error) = read(data);
    let (pieces, piecewise_error) = read(BufReader::with_capacity(7, data));
    assert!(records == pieces && error == piecewise_error, "the size of the reader's buffer matters");

    for (ring, _, polynomials) in &records {
        let canonical = |p: &Vec<u64>| p.len() == ring.n() && p.iter().all(|c| *c < ring.q());
        assert!(polynomials.iter().all(canonical), "a record of {ring} is not canonical");
    }
    let mut text = Vec::new();
    let mut writer = Writer::new(&mut text);
    let mut current: Option<&RingSpec> = None;
    for (ring, count, [a, b, c]) in &records {
        if current != Some(ring) || *count == 0 {
            writer.ring(ring).expect("memory takes everything");
            current = Some(ring);
        }
        writer.record(a, b, c).expect("what was read is canonical");
    }
    if !records.is_empty() {
        let (again, error) = read(&text[..]);
        assert_eq!(error, None, "the writer's text is refused");
        assert!(again.iter().map(|r| (&r.0, &r.2)).eq(records.iter().map(|r| (&r.0, &r.2))), "records changed");
    }
}

fn read(reader: impl BufRead) -> (Vec<Plain>, Option<String>) {
    let mut reader = Reader::new("input.rsp", reader);
    let mut out = Vec::new();
    loop {
        match reader.read() {
            Ok(Some(r)) => out.push((RingSpec::clone(&r.ring), r.count, [r.a.clone(), r.b.clone(), r.c.clone()])),
            Ok(None) => return (out, None),
            Err(error) => {
                assert!(matches!(reader.read(), Ok(None)), "there is something behind an error");
                return (out, Some(error.to_string()));
            }
        }
    }
}
