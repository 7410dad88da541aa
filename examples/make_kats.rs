//! Makes the ring vectors of the folder `kats` again, and their list of digests.
//!
//! `cargo run --release --example make_kats [FOLDER]`

use std::path::PathBuf;
use std::{env, fs, io};

use karat::AnyBackend;

#[path = "../kats/list.rs"]
mod list;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).unwrap_or("kats".into()));
    let oracle = AnyBackend::from_name("reference").map_err(io::Error::other)?;
    let mut sums = Vec::new();
    for (file, ring, count) in list::all() {
        let text = list::generate(&oracle, &ring, count);
        sums.push(format!("{}  {file}\n", list::sha256(&text)));
        fs::write(folder.join(file), text)?;
    }
    sums.sort_by_key(|line| line[64..].to_owned());
    fs::write(folder.join("SHA256SUMS"), sums.concat())
}
