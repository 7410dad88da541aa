//! Every target over its committed seeds and over pseudorandom inputs, with any toolchain and without libFuzzer.

use std::path::Path;

use crate::TARGETS;
use crate::operands::Random;

#[test]
fn seeds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for (name, run) in TARGETS {
        let mut files = 0;
        for entry in std::fs::read_dir(folder.join(name)).expect("every target has seeds") {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            run(&std::fs::read(path).unwrap());
            files += 1;
        }
        assert!(files > 0, "{name} has no seed");
    }
}

#[test]
fn pseudorandom_inputs() {
    for (name, run) in TARGETS {
        let mut random = Random(name.len() as u64);
        for round in 0..200 {
            let len = random.next() as usize % 400;
            let data: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
            println!("{name}, input {round}");
            run(&data);
        }
    }
}
