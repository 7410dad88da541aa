//! More than fits: files of many records, polynomials beyond memory, endless input, variables of the environment with
//! nonsense in them. Nothing panics, nothing grows, nothing is wrong.
//!
//! Programs run in bounded memory: a limit on their address space, which they would run into. `KARAT_OVERLOAD=1` makes
//! the inputs larger than that limit; without it they are small enough for every day.
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Run;

/// Whether the large inputs are wanted.
fn large() -> bool {
    std::env::var_os("KARAT_OVERLOAD").is_some()
}

/// Address space in KiB: what the program and two threads need, far less than the large inputs.
const LIMIT: u32 = 400 << 10;

/// Runs a line of the shell with `karat` as `$1` in a folder, in bounded memory and for ten minutes at most.
fn bounded(folder: &Path, line: &str) -> Run {
    let line = format!("ulimit -v {LIMIT}; {line}");
    let output = Command::new("sh")
        .args(["-c", &line, "sh", env!("CARGO_BIN_EXE_karat")])
        .current_dir(folder)
        .env("RAYON_NUM_THREADS", "2")
        .env_remove("KARAT_BACKEND")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Vectors are made and validated as they stream by.
#[test]
fn files_of_many_records() {
    let count: u64 = if large() { 10_000_000 } else { 5_000 };
    let folder = tempfile::tempdir().unwrap();
    let make = format!("timeout 3000 \"$1\" vectors --ring q=17,f=x^4+1 --count {count} --seed 00 --out many.rsp");
    bounded(folder.path(), &make).ok();
    let text = bounded(folder.path(), "timeout 3000 \"$1\" kat many.rsp").ok();
    // Extremes come before the random records.
    let records: u64 =
        text.strip_prefix("many.rsp: ok, ").and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap();
    assert!((count..count + 100).contains(&records) && text.contains(" passed, 0 failed"), "{text}");
    // The last record is looked at like the first.
    let size = std::fs::metadata(folder.path().join("many.rsp")).unwrap().len();
    let cut = "head -c -2 many.rsp | timeout 3000 \"$1\" kat /dev/stdin";
    let run = bounded(folder.path(), cut);
    assert_ne!(run.code, 0, "{size} bytes: {}", run.stdout);
    assert!(run.stdout.contains(&format!("{} passed", records - 1)), "{}", run.stdout);
}

/// Arrays of zeros that take no room on the disk, and are longer than memory where they are large.
#[test]
fn polynomials_beyond_memory() {
    let count: u64 = if large() { 1 << 20 } else { 1 << 11 };
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.npy", "b.npy"] {
        let shape = format!("{{'descr': '<u2', 'fortran_order': False, 'shape': ({count}, 256), }}\n");
        let mut file = File::create(folder.path().join(name)).unwrap();
        file.write_all(&[b"\x93NUMPY\x01\x00", &(shape.len() as u16).to_le_bytes()[..], shape.as_bytes()].concat())
            .unwrap();
        file.set_len(10 + shape.len() as u64 + 512 * count).unwrap();
    }
    let line = "timeout 3000 \"$1\" mul --ring ml-kem --a a.npy --b b.npy --out c.npy";
    bounded(folder.path(), line).ok();
    let size = std::fs::metadata(folder.path().join("c.npy")).unwrap().len();
    assert!(size > 2048 * count && size < 2048 * count + 1000, "{size}");
}

/// Input that never ends, and lines that never end, are refused or counted; none is waited for in growing memory.
#[test]
fn endless_input() {
    let folder = tempfile::tempdir().unwrap();
    let head = "printf '# karat ring vectors v1\\n\\n[n = 4]\\n[q = 17]\\n[f = x^4 + 1]\\n\\ncount = 0\\na = '";
    for (line, codes) in [
        ("timeout 60 \"$1\" kat /dev/zero".to_owned(), &[1, 2][..]),
        ("yes | timeout 60 \"$1\" kat /dev/stdin".into(), &[1, 2]),
        (format!("({head}; cat /dev/zero) | timeout 60 \"$1\" kat /dev/stdin"), &[1, 2]),
        (format!("({head}; yes '1 ' | tr -d '\\n') | timeout 60 \"$1\" kat /dev/stdin"), &[1, 2]),
        ("timeout 60 \"$1\" mul --ring ml-kem --a /dev/zero --b /dev/zero".into(), &[2]),
        ("yes | timeout 60 \"$1\" mul --ring ml-kem --a - --b /dev/null".into(), &[2]),
        (
            "yes 1 | tr '\\n' ' ' | head -c 50000000 | timeout 60 \"$1\" mul --ring ml-kem --a - --b /dev/null".into(),
            &[2],
        ),
        ("timeout 60 \"$1\" vectors --ring ml-kem --count 10 --seed 00 --out /dev/full".into(), &[2]),
        ("timeout 60 \"$1\" rings >/dev/full".into(), &[2]),
    ] {
        let run = bounded(folder.path(), &line);
        assert!(codes.contains(&run.code), "{line}: status {}: {}", run.code, run.stderr);
        assert!(!run.stderr.contains("panicked"), "{line}: {}", run.stderr);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Whatever the environment holds: a result that is right, or status 2 and a line that says why.
#[test]
fn variables_with_nonsense() {
    let names = [
        "KARAT_BACKEND",
        "KARAT_CUDA_VARIANT",
        "KARAT_CACHE_DIR",
        "KARAT_KERNEL_PACK",
        "KARAT_VECTORS",
        "KARAT_REQUIRE",
        "XDG_CACHE_HOME",
        "HOME",
    ];
    let values: [OsString; 8] = [
        "".into(),
        " ".into(),
        "/dev/zero".into(),
        "-1".into(),
        "cuda:99999999999999999999".into(),
        "\u{1}\n\u{1f980}=;$(exit 7)".into(),
        OsString::from_vec(vec![0xff, 0xfe, b'/', 0x80]),
        "x,".repeat(30_000).into(),
    ];
    let karat = |name: &str, value: &OsString| {
        let args = ["ntt", "--ring", "q=17,f=x^4+1"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
        let mut child = command
            .args(args)
            .env_remove("KARAT_BACKEND")
            .env(name, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // What refuses its environment need not read.
        let _ = child.stdin.take().unwrap().write_all(b"1 2 3 4\n");
        child.wait_with_output().unwrap()
    };
    let right = karat("KARAT_UNUSED", &"".into()).stdout;
    assert!(right.ends_with(b"\n"));
    for name in names {
        for value in &values {
            let output = karat(name, value);
            let stderr = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => assert!(output.stdout == right && stderr.is_empty(), "{name}={value:?}: {stderr}"),
                Some(2) => {
                    assert!(stderr.starts_with("error: ") && output.stdout.is_empty(), "{name}={value:?}: {stderr}");
                    assert!(stderr.len() < 1000 && name == "KARAT_BACKEND", "{name}={value:?}: {stderr}");
                }
                code => panic!("{name}={value:?}: {code:?}, {stderr}"),
            }
        }
    }
}
