//! ML-KEM and ML-DSA beside other implementations, on one thread, all in one run.
//!
//! Each operation is checked first, then all implementations are timed in turn, many short rounds each; the table shows
//! medians and the ratio to karat's (above 1: karat is faster). Messages that are signed are those of CCTV's benchmark,
//! whose numbers of rejections are representative, where `KARAT_VECTORS` names their folder. `--json FILE` writes the
//! same rows; any other argument is a filter on `scheme/operation`. `KARAT_BACKEND` names karat's level.
//!
//! ```text
//! cargo bench --features bench-schemes --bench schemes -- [--json FILE] [FILTER]
//! ```

mod dsa;
mod kem;
mod measure;

use measure::Bench;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut json, mut filter) = (None, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = arguments.next(),
            "--bench" => {}
            _ => filter = Some(argument),
        }
    }
    let mut bench = Bench::new(filter);
    kem::all(&mut bench);
    dsa::all(&mut bench);
    if let Some(path) = json {
        std::fs::write(&path, bench.json()).expect("the JSON file can be written");
    }
}
