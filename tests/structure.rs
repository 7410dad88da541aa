//! The rules that the sources keep: layers, `unsafe`, file sizes, literals, exits of secrets.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "structure/magic.rs"]
mod magic;

/// Each layer with the layers that it may name. `error`, `secret`, `bounds` and `memcheck` serve all.
const LAYERS: [(&str, &[&str]); 9] = [
    ("arith", &["arith"]),
    ("ring", &["arith", "ring"]),
    ("backend", &["arith", "ring", "backend"]),
    ("context", &["arith", "ring", "backend", "context"]),
    ("rns", &["arith", "ring", "backend", "context", "rns"]),
    ("ckks", &["arith", "ring", "backend", "context", "rns", "ckks"]),
    ("schemes", &["arith", "ring", "backend", "context", "schemes"]),
    ("kat", &["arith", "ring", "backend", "context", "schemes", "kat"]),
    ("conformance", &["arith", "ring", "backend", "context", "rns", "conformance"]),
];

/// The layer of each name that the crate's root exports.
const EXPORTS: [(&str, &[&str]); 3] = [
    ("ring", &["Ring", "RingSpec", "UserRing"]),
    ("backend", &["AnyBackend", "Backend", "Cpu", "Reference", "RingMul"]),
    ("context", &["PolyBatch", "RingContext"]),
];

/// Names of the root that serve every layer.
const COMMON: [&str; 7] = ["Error", "Result", "SecretVec", "error", "secret", "bounds", "memcheck"];

/// The only files, or folders, that may hold `unsafe`.
const UNSAFE: [&str; 17] = [
    "src/backend/cpu/avx2.rs",
    "src/backend/cpu/avx512.rs",
    "src/backend/cpu/lanes.rs",
    "src/backend/cpu/vector.rs",
    "src/backend/cpu/vector/",
    "src/backend/cuda/",
    "src/rns/cpu/avx2.rs",
    "src/rns/cpu/avx512.rs",
    "src/rns/cpu/entry.rs",
    "src/schemes/hash/keccak.rs",
    // One call each into code for AVX2, behind a proof that the CPU has it.
    "src/schemes/encode.rs",
    "src/schemes/levels.rs",
    "src/schemes/rejection.rs",
    "benches/ring_mul/",
    // A request that valgrind knows, in builds with the feature `memcheck`.
    "src/memcheck.rs",
    "tests/allocations.rs",
    "tests/memory/",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below some folders of the project with one of these endings, as paths relative to its root.
fn files(folders: &[&str], endings: &[&str]) -> Vec<(String, String)> {
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                if !name.ends_with("target") {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                out.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    out
}

fn rust_files() -> Vec<(String, String)> {
    let out = files(&["src", "tests", "benches", "examples", "kats", "fuzz", "kernels"], &[".rs"]);
    assert!(out.iter().any(|(path, _)| path == "src/lib.rs"));
    out
}

/// The code of a file: without comments, strings' contents kept, up to its unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The first segments of all paths that start at `crate::`.
fn named_at_root(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let word =
            |s: &str| s.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        let Some(group) = rest.strip_prefix('{') else {
            out.push(word(rest));
            continue;
        };
        let mut depth = 1;
        let mut start = true;
        for (i, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => start = true,
                c if depth == 1 && start && !c.is_whitespace() => {
                    out.push(word(&group[i..]));
                    start = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    out
}

#[test]
fn layers_name_only_lower_ones() {
    let mut wrong = Vec::new();
    for (path, text) in files(&["src"], &[".rs"]) {
        let inside = path.strip_prefix("src/").unwrap();
        let module = inside.split(['/', '.']).next().unwrap();
        let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == module) else {
            assert!(
                ["lib", "bin", "error", "secret", "bounds", "memcheck"].contains(&module),
                "{path}: an unknown layer"
            );
            continue;
        };
        for name in named_at_root(&code(&text)) {
            let layer = EXPORTS.iter().find(|(_, names)| names.contains(&&*name)).map_or(&*name, |(layer, _)| layer);
            let macros = name.is_empty() || text.contains(&format!("crate::{name}!"));
            if !macros && !COMMON.contains(&layer) && !allowed.contains(&layer) {
                wrong.push(format!("{path} names {layer} (`crate::{name}`)"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_scan_of_paths_sees_groups_and_single_names() {
    let names = named_at_root("use crate::{Error, backend::{Cpu, Any}, ring}; let x = crate::kat::Run;");
    assert_eq!(names, ["Error", "backend", "ring", "kat"]);
}

#[test]
fn files_are_short_and_modules_have_names() {
    let mut wrong = Vec::new();
    for (path, text) in files(
        &["src", "tests", "benches", "examples", "kats", "fuzz", "kernels"],
        &[".rs", ".cu", ".cuh", ".h", ".c", ".cpp", ".py"],
    ) {
        let lines = text.lines().count();
        if lines > 500 {
            wrong.push(format!("{path} has {lines} lines"));
        }
        if path.ends_with("/mod.rs") && !path.contains("tests/") {
            wrong.push(format!("{path}: name the file after the module"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn unsafe_stands_in_listed_files_with_its_reason() {
    let mut wrong = Vec::new();
    for (path, text) in rust_files() {
        if path == "tests/structure.rs" || path.starts_with("kernels/host/") {
            continue;
        }
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            let is_unsafe = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|u| code.contains(u));
            if !is_unsafe {
                continue;
            }
            if !UNSAFE.iter().any(|allowed| path.starts_with(allowed)) {
                wrong.push(format!("{path}:{}: unsafe in a file that is not listed", i + 1));
            }
            let reason = lines[i.saturating_sub(6)..=i].iter().any(|l| l.contains("SAFETY") || l.contains("# Safety"));
            if !reason {
                wrong.push(format!("{path}:{}: no SAFETY line", i + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_is_left_unfinished() {
    // Spelled in halves, so that this file does not find itself.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["todo", "!("], ["unimplemented", "!("], ["#[ig", "nore"]];
    let mut wrong = Vec::new();
    for (path, text) in rust_files() {
        for mark in marks.iter().map(|halves| halves.concat()) {
            if text.contains(&mark) {
                wrong.push(format!("{path}: {mark}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Secrets leave their types only where this list says: file and number of calls.
#[test]
fn exits_of_secrets_are_listed() {
    let mut found = Vec::new();
    for (path, text) in files(&["src"], &[".rs"]) {
        let code = code(&text);
        let exits = code.matches(".declassify(").count() + code.matches(".expose(").count();
        if exits > 0 {
            found.push((path, exits));
        }
    }
    found.sort();
    let expected: Vec<(String, usize)> = EXITS.iter().map(|(path, count)| (path.to_string(), *count)).collect();
    assert_eq!(found, expected, "say in EXITS why a new exit is right");
}

/// See [`exits_of_secrets_are_listed`].
const EXITS: [(&str, usize); 4] = [
    // A secret key as bytes, which its owner asked for; they are erased on drop.
    ("src/ckks/serial/objects.rs", 1),
    // The suite compares its own test data with the oracle's.
    ("src/conformance/contract.rs", 2),
    // The public t of a key pair; what a signature reveals once it is accepted.
    ("src/schemes/mldsa/batch.rs", 2),
    // The public t of a key pair.
    ("src/schemes/mlkem/batch.rs", 1),
];

#[test]
fn literals_say_where_they_come_from() {
    let mut wrong = Vec::new();
    let sources = files(&["src/arith", "src/ring", "src/backend", "src/rns"], &[".rs"]);
    for (path, text) in sources.into_iter().chain(files(&["kernels"], &[".cu", ".cuh"])) {
        // Presets are parameters, each with its source beside it.
        if ["presets.rs", "watched.rs", "/tests.rs"].iter().any(|end| path.ends_with(end))
            || path.starts_with("kernels/host/")
        {
            continue;
        }
        let lines: Vec<&str> = text.split("#[cfg(test)]\nmod tests").next().unwrap().lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let note =
                [i.checked_sub(1), Some(i)].into_iter().flatten().find_map(|j| lines[j].split_once("// magic: "));
            if let Some((_, claim)) = note
                && let Err(reason) = magic::check(claim)
            {
                wrong.push(format!("{path}:{}: {reason}", i + 1));
            }
            let code = line.split("//").next().unwrap();
            if note.is_none() && magic::has_long_literal(code) {
                wrong.push(format!("{path}:{}: {}", i + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "literals of four or more digits without `// magic: value == expression`: {wrong:#?}");
}

#[test]
fn the_project_speaks_of_itself_alone() {
    let mut wrong = Vec::new();
    let texts = files(&["."], &[".md", ".toml"]);
    for (path, text) in rust_files().into_iter().chain(texts.into_iter().filter(|(path, _)| !path.contains("target"))) {
        if text.contains(concat!("/wo", "rk/")) || text.contains(concat!("/ro", "ot/")) {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "paths of one machine: {wrong:#?}");
}

#[test]
fn the_readme_names_the_commands_that_ci_runs() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    for command in ["cargo test", "cargo run --release -- check"] {
        assert!(read("README.md").contains(command), "README.md: {command}");
    }
    assert!(read(".ci/run").contains("cargo test"));
}
