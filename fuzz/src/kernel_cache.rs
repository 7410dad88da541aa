//! Files of compiled kernels, whole and damaged: exactly the machine code that was written, or nothing.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use karat::backend::cuda::{Program, pack_file, packed, programs};
use shake::{ExtendableOutput, Shake256, Update, XofReader};

use crate::fields::{fill, flip};

/// A folder of this process.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("karat-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("the folder for temporary files can be written");
    folder
});

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(programs);

/// Reads a file that the bytes describe.
pub fn run(data: &[u8]) {
    // Too few bytes are no finding.
    let _ = attempt(&mut Unstructured::new(data));
}

fn attempt(u: &mut Unstructured) -> Result<()> {
    let program = u.choose(&PROGRAMS)?;
    let architecture = *u.choose(&["sm_80", "sm_90", "sm_120"])?;
    let path = FOLDER.join(pack_file(program, architecture));
    let mut code = vec![0; *u.choose(&[0, 1, 31, 32, 33, 1000])?];
    fill(u, &mut code)?;
    let mut file = whole(&code);
    match u.int_in_range(0..=6u8)? {
        0 => {}
        1 => file.truncate(u.int_in_range(0..=file.len())?),
        2 => file.push(u.arbitrary()?),
        3 => flip(u, &mut file)?,
        4 => file.drain(..u.int_in_range(0..=file.len())?).for_each(drop),
        5 => {
            let by = u.int_in_range(0..=file.len())?;
            file.rotate_left(by);
        }
        _ => fill(u, &mut file)?,
    }
    fs::write(&path, &file).expect("the folder for temporary files can be written");
    let found = packed(program, architecture, &FOLDER);
    fs::remove_file(&path).expect("it was written");
    // A rotation by nothing damages nothing.
    let expected = (file == whole(&code)).then_some(code);
    assert!(found == expected, "a damaged file is used, or a whole one is not");
    assert!(packed(program, architecture, &FOLDER).is_none(), "a file that is not there");
    Ok(())
}

/// The digest, and what it is of.
fn whole(code: &[u8]) -> Vec<u8> {
    let mut hash = Shake256::default();
    hash.update(&(code.len() as u64).to_le_bytes());
    hash.update(code);
    let mut out = vec![0; 32];
    hash.finalize_xof().read(&mut out);
    out.extend_from_slice(code);
    out
}
