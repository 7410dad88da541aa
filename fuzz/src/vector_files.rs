//! Vector files of every format through the runner: whole ones pass, damaged ones and any other bytes get failures,
//! skips with a reason or one typed error, and never a pass that is not one.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use karat::AnyBackend;
use karat::kat::scheme::Own;
use karat::kat::{FileReport, Runner, acvp, nist, vectors};

/// Names and contents of files that pass.
static WHOLE: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let backend = AnyBackend::from_name("scalar").expect("there is always a scalar backend");
    let mut own = Own::new(&backend).expect("karat has its schemes");
    let mut files = Vec::new();
    let mut add = |name, write: &mut dyn FnMut(&mut Vec<u8>)| {
        let mut text = Vec::new();
        write(&mut text);
        files.push((name, text));
    };
    for ring in ["n=4,q=17,f=x^4+1", "n=3,q=8,f=x^3-x-1"] {
        let ring = ring.parse().expect("a ring");
        add("ring.rsp", &mut |text| vectors::write(&backend, &ring, 2, b"seed", text).expect("memory takes all"));
    }
    for scheme in ["ML-KEM-512", "ML-DSA-44"] {
        add("PQCkemKAT.rsp", &mut |text| {
            text.extend_from_slice(format!("# {scheme}\n\n").as_bytes());
            nist::write(&mut own, scheme, &nist::ENTROPY, 1, text).expect("memory takes all");
        });
        add("acvp.json", &mut |text| {
            acvp::write(&mut own, scheme, &nist::ENTROPY, 1, text).expect("memory takes all");
        });
    }
    files
});

thread_local! {
    static RUNNER: std::cell::RefCell<Runner> =
        Runner::new(AnyBackend::from_name("scalar").expect("there is always a scalar backend")).into();
}

/// Checks a file that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    if u.ratio(1u8, 4u8)? {
        let name = *u.choose(&["x.rsp", "x.json", "x.txt", "x.json.gz"])?;
        let rest = u.len();
        check(name, u.bytes(rest)?);
        return Ok(());
    }
    let (name, whole) = u.choose(&WHOLE[..])?;
    let mut text = whole.clone();
    let edits = u.int_in_range(0..=3u8)?;
    for _ in 0..edits {
        edit(u, &mut text)?;
    }
    let report = check(name, &text);
    if edits == 0 {
        assert!(report.is_ok() && report.passed > 0, "a whole file does not pass: {report:?}");
    }
    Ok(())
}

/// The same bytes give the same report, whatever came before.
pub fn check(name: &str, text: &[u8]) -> FileReport {
    let check = || RUNNER.with_borrow_mut(|runner| runner.check_reader(name, text, &mut |_| ()));
    let report = check();
    let again = check();
    assert_eq!((report.passed, report.failed, report.skipped()), (again.passed, again.failed, again.skipped()));
    assert!(report.passed <= text.len() as u64, "more vectors than bytes");
    report
}

/// Removes, repeats, overwrites or inserts a few bytes.
pub fn edit(u: &mut Unstructured, text: &mut Vec<u8>) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let at = u.int_in_range(0..=text.len() - 1)?;
    let len = u.int_in_range(1..=64usize)?.min(text.len() - at);
    match u.int_in_range(0..=4u8)? {
        0 => drop(text.drain(at..at + len)),
        1 => {
            let part = text[at..at + len].to_vec();
            text.splice(at..at, part);
        }
        2 => text[at] = u.arbitrary()?,
        3 => text.truncate(at),
        _ => {
            let tokens: [&[u8]; 8] = [b"\n", b"\"", b"}", b"null", b"99999999999999999999", b" = ", b"00", b"\xff"];
            let token = *u.choose(&tokens)?;
            text.splice(at..at, token.iter().copied());
        }
    }
    Ok(())
}
