//! Vector files that are damaged, hostile or merely unusual: a typed error or a right answer, never a panic.

use karat::AnyBackend;
use karat::kat::{FileReport, KatError, Runner, files, rsp, vectors};
use proptest::prelude::*;

const TINY: &str = "# tiny

[n = 2]
[q = 17]
[f = x^2 + 1]

count = 0
a = 2 6
b = 5 1
c = 4 15

count = 1
a = 7 8
b = 8 14
c = 12 9
";

fn check(name: &str, bytes: &[u8]) -> FileReport {
    Runner::new(AnyBackend::from_name("scalar").unwrap()).check_reader(name, bytes, &mut |_| ())
}

/// What is wrong with `TINY` after `from` became `to`, and the line.
fn broken(from: &str, to: &str) -> (u64, KatError) {
    assert!(TINY.contains(from), "{from}");
    let error = check("tiny.rsp", TINY.replacen(from, to, 1).as_bytes()).error;
    let error = error.unwrap_or_else(|| panic!("{from} -> {to} is accepted"));
    (error.line, error.error)
}

fn accepted(text: &[u8]) -> (u64, u64, u64) {
    let report = check("tiny.rsp", text);
    assert!(report.error.is_none(), "{:?}", report.error);
    (report.passed, report.failed, report.skipped())
}

#[test]
fn unusual_but_right() {
    assert_eq!(accepted(TINY.as_bytes()), (2, 0, 0));
    assert_eq!(accepted(TINY.replace('\n', "\r\n").as_bytes()), (2, 0, 0));
    assert_eq!(accepted(TINY.trim_end().as_bytes()), (2, 0, 0));
    assert_eq!(accepted(TINY.replace("\n\n", "\n").as_bytes()), (2, 0, 0));
    assert_eq!(accepted(TINY.replace(" = ", "=").as_bytes()), (2, 0, 0));
    assert_eq!(accepted(TINY.replace("a = 2 6", "  a  =\t002   6  ").as_bytes()), (2, 0, 0));
    assert_eq!(accepted(TINY.replace("a = 2 6\nb = 5 1\n", "b = 5 1\n# note\na = 2 6\n").as_bytes()), (2, 0, 0));
    assert_eq!(accepted(&[&b"# caf\xe9\n"[..], TINY.as_bytes()].concat()), (2, 0, 0));
}

#[test]
fn a_ring_may_follow_a_ring() {
    let second = "[f = x - 4]\n[q = 97]\n[n = 1]\ncount = 0\na = 96\nb = 96\nc = 1\n";
    let report = check("two.rsp", [TINY, second].concat().as_bytes());
    assert_eq!((report.passed, report.rings.len()), (3, 2));
    // The count may also go on.
    assert_eq!(accepted([TINY, &second.replace("count = 0", "count = 2")].concat().as_bytes()), (3, 0, 0));
    let half = [TINY, "[q = 97]\ncount = 0\na = 1 1\nb = 1 1\nc = 1 1\n"].concat();
    assert!(matches!(check("x.rsp", half.as_bytes()).error.unwrap().error, KatError::MissingHeader("n")));
}

#[test]
fn what_nobody_checks_is_counted() {
    let text = TINY.replace("[n = 2]", "[origin = here]\n[n = 2]").replace("c = 12 9", "c = 12 9\nd = 1\nseed = 0f");
    assert_eq!(accepted(text.as_bytes()), (2, 0, 3));
    let fields: String = (0..1000).map(|i| format!("u{i} = 1\n")).collect();
    let report = check("x.rsp", [TINY, &fields].concat().as_bytes());
    assert_eq!((report.passed, report.skipped()), (2, 1000));
    assert!(report.skips.len() <= 16);
}

#[test]
fn a_mismatch_says_where() {
    let report = check("tiny.rsp", TINY.replace("c = 12 9", "c = 12 10").as_bytes());
    assert_eq!((report.passed, report.failed, report.is_ok()), (1, 1, false));
    let mismatch = report.mismatch.unwrap();
    assert_eq!((mismatch.count, mismatch.line, mismatch.index), (1, 12, 1));
    assert_eq!((mismatch.expected, mismatch.got), (10, 9));
}

#[test]
fn every_fault_has_its_error_and_line() {
    use KatError::*;
    assert!(matches!(broken("a = 2 6", "a = 2"), (8, WrongCount { field: "a", expected: 2, got: 1 })));
    assert!(matches!(broken("a = 2 6", "a = 2 6 1"), (8, WrongCount { field: "a", expected: 2, got: 3 })));
    assert!(matches!(broken("a = 2 6", "a ="), (8, WrongCount { field: "a", expected: 2, got: 0 })));
    assert!(matches!(broken("b = 5 1", "b = 5 17"), (9, Unreduced { field: "b", index: 1, q: 17 })));
    let huge = format!("b = {}", "9".repeat(100));
    assert!(matches!(broken("b = 5", &huge), (9, Unreduced { field: "b", index: 0, q: 17 })));
    for bad in ["-2", "+2", "2.0", "0x2", "2,", "two", "2\0", "²"] {
        let (line, error) = broken("a = 2 6", &format!("a = {bad} 6"));
        assert!(line == 8 && matches!(error, Malformed { .. }), "{bad}: {error:?}");
    }
    assert!(matches!(broken("[n = 2]", "[n = 3]"), (5, DegreeMismatch { n: 3, degree: 2 })));
    assert!(matches!(broken("[n = 2]", "[n = 99999999999999999999]"), (3, Malformed { .. })));
    assert!(matches!(broken("[n = 2]", "[n = 2]\n[n = 2]"), (4, DuplicateHeader("n"))));
    assert!(matches!(broken("[q = 17]", "[q = 17"), (4, Malformed { .. })));
    assert!(matches!(broken("[q = 17]", "[q = 1]"), (5, Ring(_))));
    assert!(matches!(broken("[q = 17]", "[q = 4611686018427387904]"), (5, Ring(_))));
    assert!(matches!(broken("[q = 17]\n", ""), (6, MissingHeader("q"))));
    assert!(matches!(broken("[f = x^2 + 1]\n", ""), (6, MissingHeader("f"))));
    assert!(matches!(broken("[f = x^2 + 1]", "[f = 2x^2 + 1]"), (5, Ring(_))));
    assert!(matches!(broken("[f = x^2 + 1]", "[f = x^200000 + 1]"), (5, Ring(_))));
    assert!(matches!(broken("count = 0\n", ""), (7, OutsideRecord("a"))));
    assert!(matches!(broken("count = 0", "count = 1"), (7, OutOfOrder { expected: 0, got: 1 })));
    assert!(matches!(broken("count = 1", "count = 0"), (12, OutOfOrder { expected: 1, got: 0 })));
    assert!(matches!(broken("count = 1", "count = 18446744073709551615"), (12, OutOfOrder { .. })));
    assert!(matches!(broken("count = 1", "count = "), (12, Malformed { .. })));
    assert!(matches!(broken("b = 5 1\n", ""), (7, MissingField { count: 0, field: "b" })));
    assert!(matches!(broken("c = 12 9\n", ""), (12, MissingField { count: 1, field: "c" })));
    assert!(matches!(broken("b = 5 1", "a = 5 1"), (9, DuplicateField { count: 0, field: "a" })));
    assert!(matches!(broken("count = 0", "what is this"), (7, Malformed { .. })));
    assert!(matches!(broken("count = 0", "d = 1"), (7, Malformed { .. })));
    assert!(matches!(broken(&TINY[38..], ""), (_, NoRecords)));
}

#[test]
fn records_before_an_error_count() {
    let report = check("tiny.rsp", TINY.replace("c = 12 9", "c = 12 x").as_bytes());
    assert_eq!((report.passed, report.failed, report.error.unwrap().line), (1, 0, 15));
}

/// An endless line, of any kind, is refused after what the ring can need.
#[test]
fn endless_lines() {
    use std::io::Read;
    for start in ["#", "[f = ", "[n = 2", "\0", &TINY[..TINY.find("6\n").unwrap()], TINY] {
        for byte in [b'1', b' ', 0, b'#'] {
            let endless = start.as_bytes().chain(std::io::repeat(byte));
            let mut runner = Runner::new(AnyBackend::from_name("scalar").unwrap());
            let error = runner.check_reader("x.rsp", endless, &mut |_| ()).error.unwrap();
            assert!(matches!(error.error, KatError::LineTooLong { limit } if limit < 5000), "{start:?}: {error}");
        }
    }
}

/// Many records, none of them held: the reader's memory is one line and one record.
#[test]
fn many_records_stream() {
    use std::io::{BufReader, Read};
    struct Records(u64, Vec<u8>);
    impl Read for Records {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.1.is_empty() && self.0 < 200_000 {
                self.1 = format!("count = {}\na = 3\nb = 6\nc = 1\n", self.0).into_bytes();
                self.0 += 1;
            }
            let len = buffer.len().min(self.1.len());
            buffer[..len].copy_from_slice(&self.1[..len]);
            self.1.drain(..len);
            Ok(len)
        }
    }
    let source = b"[n = 1]\n[q = 17]\n[f = x + 1]\n".chain(Records(0, Vec::new()));
    let mut calls = 0;
    let mut runner = Runner::new(AnyBackend::from_name("scalar").unwrap());
    let report = runner.check_reader("many", BufReader::new(source), &mut |progress| {
        calls += 1;
        assert!(progress.bytes > 0 && progress.failed == 0);
    });
    assert_eq!((report.passed, report.failed), (200_000, 0));
    assert!(calls > 1, "progress is told on the way");
}

#[test]
fn cut_at_every_byte() {
    let whole = check("tiny.rsp", TINY.as_bytes()).passed;
    for len in 0..TINY.len() {
        let report = check("tiny.rsp", &TINY.as_bytes()[..len]);
        // Only the last line's end and whole records may be missing without a trace.
        let complete = TINY[..len].trim_end().ends_with("c = 4 15") || TINY[..len].ends_with("c = 12 9");
        assert_eq!(report.is_ok(), complete, "{len}: {report:?}");
        assert!(report.passed <= whole);
    }
}

#[test]
fn other_formats_are_skipped_with_a_reason() {
    for (name, content) in
        [("hash.rsp", "[L = 32]\n\nLen = 0\nMsg = 00\nMD = e3\n"), ("README.md", "# Vectors\n"), ("empty", "")]
    {
        let report = check(name, content.as_bytes());
        assert_eq!((report.passed, report.failed, report.skipped()), (0, 0, 1), "{name}");
        assert!(report.is_ok() && report.format.is_none() && !report.skips[0].reason.is_empty());
    }
    // Of a scheme that is known, and damaged: an error or a skip, never passed.
    for (name, content) in [
        ("kem.rsp", "# Kyber512\n\ncount = 0\nseed = 061550\npk = 11\n"),
        ("acvp.json", "{\"vsId\": 42, \"algorithm\": \"ML-KEM\"}"),
    ] {
        let report = check(name, content.as_bytes());
        assert_eq!(report.passed, 0, "{name}");
        assert!(!report.is_ok() || report.skipped() > 0, "{name}");
    }
}

#[test]
fn files_that_are_not_there() {
    let report =
        Runner::new(AnyBackend::from_name("scalar").unwrap()).check_file("no such file.rsp".as_ref(), &mut |_| ());
    assert!(matches!(report.error.unwrap().error, KatError::Io(_)));
}

/// Folders are walked to the bottom, once, links included; the order is the names'.
#[test]
fn folders() {
    use std::fs;
    let root = std::env::temp_dir().join(format!("karat-folders-{}", std::process::id()));
    let deep = root.join("b/c/d");
    fs::create_dir_all(&deep).unwrap();
    for file in [root.join("z.rsp"), root.join("a.txt"), deep.join("tiny.rsp")] {
        fs::write(file, TINY).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(&root, deep.join("loop")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", root.join("gone")).unwrap();
    let found = files(&[root.clone(), root.join("a.txt")]);
    let mut expected = vec![root.join("a.txt"), deep.join("tiny.rsp"), root.join("z.rsp"), root.join("a.txt")];
    if cfg!(unix) {
        expected.insert(2, root.join("gone"));
    }
    assert_eq!(found, expected);
    let mut runner = Runner::new(AnyBackend::from_name("scalar").unwrap());
    let reports: Vec<_> = found.iter().map(|path| runner.check_file(path, &mut |_| ())).collect();
    assert_eq!(reports.iter().map(|report| report.passed).sum::<u64>(), 8);
    assert_eq!(reports.iter().filter(|report| report.error.is_some()).count(), cfg!(unix) as usize);
    fs::remove_dir_all(&root).unwrap();
}

#[test]
fn seeds_and_records_of_the_writer_are_checked() {
    let ring = "n=2,q=17,f=x^2+1".parse().unwrap();
    let backend = AnyBackend::from_name("scalar").unwrap();
    let mut out = Vec::new();
    assert!(matches!(vectors::write(&backend, &ring, 1, &[0; 1025], &mut out), Err(KatError::Seed { .. })));
    assert!(out.is_empty());
    vectors::write(&backend, &ring, 1, &[0; 1024], &mut out).unwrap();
    assert_eq!(accepted(&out), (5, 0, 0), "the longest seed's comment can be read back");

    let mut writer = rsp::Writer::new(Vec::new());
    assert!(matches!(writer.record(&[1, 1], &[1, 1], &[1, 1]), Err(KatError::MissingHeader(_))));
    writer.ring(&ring).unwrap();
    for bad in [&[1][..], &[1, 1, 1], &[17, 0]] {
        assert!(matches!(writer.record(&[1, 1], bad, &[1, 1]), Err(KatError::Engine(_))));
    }
    assert_eq!(writer.finish().unwrap(), b"[n = 2]\n[q = 17]\n[f = x^2 + 1]\n", "nothing of a bad record is written");
}

#[cfg(feature = "cli")]
#[path = "hostile/schemes.rs"]
mod schemes;

#[cfg(feature = "cli")]
mod gzip {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn is_told_by_its_content() {
        for name in ["tiny.rsp.gz", "tiny.rsp", "tiny"] {
            assert_eq!(check(name, &gzip(TINY.as_bytes())).passed, 2);
        }
        let (first, second) = TINY.split_at(60);
        assert_eq!(accepted(&[gzip(first.as_bytes()), gzip(second.as_bytes())].concat()), (2, 0, 0), "two members");
    }

    #[test]
    fn cut_or_damaged() {
        let whole = gzip(TINY.as_bytes());
        for len in 2..whole.len() {
            let error = check("tiny.rsp.gz", &whole[..len]).error.unwrap();
            assert!(matches!(error.error, KatError::TruncatedGzip), "{len}: {error}");
        }
        let mut damaged = whole.clone();
        let crc = whole.len() - 8;
        damaged[crc] ^= 1;
        assert!(matches!(check("tiny.rsp.gz", &damaged).error.unwrap().error, KatError::CorruptGzip(_)));
        let trailing = [&whole[..], b"rubbish that is no gzip"].concat();
        assert!(matches!(check("tiny.rsp.gz", &trailing).error.unwrap().error, KatError::CorruptGzip(_)));
    }

    #[test]
    fn a_cut_after_many_records_names_the_line() {
        let mut text = Vec::new();
        let ring = "ml-kem".parse().unwrap();
        vectors::write(&AnyBackend::from_name("scalar").unwrap(), &ring, 10, b"gz", &mut text).unwrap();
        let whole = gzip(&text);
        let report = check("kem.rsp.gz", &whole[..whole.len() * 9 / 10]);
        assert!(report.passed > 5 && report.failed == 0, "{report:?}");
        let error = report.error.unwrap();
        assert!(matches!(error.error, KatError::TruncatedGzip) && error.line > 20, "{error}");
    }

    proptest! {
        #[test]
        fn damaged_bytes_never_pass_as_more(at in 0usize..150, bit in 0u8..8) {
            let mut bytes = gzip(TINY.as_bytes());
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            let report = check("tiny.rsp.gz", &bytes);
            prop_assert!(report.passed <= 2 && report.failed == 0);
        }
    }
}

#[cfg(not(feature = "cli"))]
#[test]
fn gzip_needs_the_feature() {
    assert!(matches!(check("x.rsp.gz", b"\x1f\x8b\x08").error.unwrap().error, KatError::Io(_)));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), named: bool) {
        let report = check(if named { "x.rsp" } else { "x" }, &bytes);
        prop_assert_eq!((report.passed, report.failed), (0, 0));
        prop_assert!(report.error.is_some() || report.skipped() > 0);
    }

    /// Lines of the format in any order and number.
    #[test]
    fn shuffled_lines_never_panic(lines in prop::collection::vec(
        prop::sample::select(TINY.lines().collect::<Vec<_>>()), 0..30)) {
        let report = check("x.rsp", lines.join("\n").as_bytes());
        prop_assert!(report.passed > 0 || report.failed > 0 || report.error.is_some());
    }

    #[test]
    fn mutated_files_never_panic(edits in prop::collection::vec((0usize..TINY.len(), any::<u8>()), 1..6)) {
        let mut bytes = TINY.as_bytes().to_vec();
        for (at, byte) in edits {
            bytes[at] = byte;
        }
        let report = check("x.rsp", &bytes);
        prop_assert!(report.passed + report.failed <= 2);
        prop_assert!(report.passed + report.failed > 0 || report.error.is_some() || report.skipped() > 0);
    }

    /// What the writer writes the reader reads, and the writer writes again the same.
    #[test]
    fn written_vectors_read_back(n in 1usize..20, q in 2u64..1 << 62, count in 0u64..4, seed: [u8; 8]) {
        let ring = karat::RingSpec::negacyclic(n, q).unwrap();
        let mut text = Vec::new();
        vectors::write(&AnyBackend::from_name("reference").unwrap(), &ring, count, &seed, &mut text).unwrap();
        let mut reader = rsp::Reader::new("memory", &text[..]);
        let mut writer = rsp::Writer::new(Vec::new());
        writer.comment(std::str::from_utf8(&text).unwrap().lines().next().unwrap().trim_start_matches("# ")).unwrap();
        writer.ring(&ring).unwrap();
        let mut records = 0;
        while let Some(record) = reader.read().unwrap() {
            prop_assert_eq!(record.count, records);
            writer.record(&record.a, &record.b, &record.c).unwrap();
            records += 1;
        }
        prop_assert_eq!(records, count + vectors::EXTREMES);
        prop_assert_eq!(writer.finish().unwrap(), text);
    }
}
