//! Compiled kernels on disk: a read-only pack made ahead, and the user's own cache.
//!
//! Both hold one file for each program and architecture, named by the digest of everything that went into it. A file
//! starts with the digest of its contents; one that does not match, or a folder that others may write to, is not
//! used. The cache is written by renaming a finished file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};

use super::jit::compile;
use super::probe::nvrtc_version;
use super::source::Program;
use crate::{Error, Result};

const DIGEST: usize = 32;

fn digest(parts: &[&[u8]]) -> [u8; DIGEST] {
    let mut hasher = Shake256::default();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut out = [0; DIGEST];
    hasher.finalize_xof().read(&mut out);
    out
}

/// The file of a program in a pack or a cache.
fn file_name(program: &Program, architecture: &str) -> String {
    let mut parts: Vec<Vec<u8>> = vec![env!("CARGO_PKG_VERSION").into(), architecture.into()];
    parts.extend(program.headers().into_iter().map(|(_, text)| text.as_bytes().to_vec()));
    parts.push(program.family().text().into());
    parts.extend(program.defines().into_iter().map(|(name, value)| format!("{name}={value}").into_bytes()));
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let hex: String = digest(&parts)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{architecture}-{hex}.cubin", program.name())
}

/// Machine code of a program: from the pack, the cache, or NVRTC.
pub(super) fn find(program: &Program, architecture: &str) -> Result<Vec<u8>> {
    let name = file_name(program, architecture);
    if let Some(pack) = std::env::var_os("KARAT_KERNEL_PACK")
        && let Some(cubin) = read(&Path::new(&pack).join(&name))
    {
        return Ok(cubin);
    }
    let Some(folder) = folder() else { return compile(program, architecture) };
    // Code of another compiler version is another file.
    let version = nvrtc_version().map_or(String::new(), |(major, minor)| format!("nvrtc-{major}.{minor}-"));
    let path = folder.join(version + &name);
    if let Some(cubin) = read(&path) {
        return Ok(cubin);
    }
    let cubin = compile(program, architecture)?;
    // A cache that cannot be written costs time, not correctness.
    let _ = write(&path, &cubin);
    Ok(cubin)
}

/// Compiles programs ahead into a folder that `KARAT_KERNEL_PACK` may name on hosts without NVRTC. Needs no GPU.
///
/// # Errors
/// As [`compile`]; `Device` where a file cannot be written.
pub fn build_pack(programs: &[Program], architectures: &[&str], folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| Error::Device {
        operation: "writing a kernel pack",
        reason: format!("{}: {error}", folder.display()),
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut out = Vec::new();
    for architecture in architectures {
        for program in programs {
            let path = folder.join(file_name(program, architecture));
            write(&path, &compile(program, architecture)?).map_err(failed)?;
            out.push(path);
        }
    }
    Ok(out)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = fs::read(path).ok()?;
    let cubin = bytes.split_off(DIGEST.min(bytes.len()));
    (bytes == digest(&[&cubin])).then_some(cubin)
}

fn write(path: &Path, cubin: &[u8]) -> std::io::Result<()> {
    let unique = format!("tmp-{}-{:?}", std::process::id(), std::thread::current().id());
    let temporary = path.with_extension(unique.replace(['(', ')'], ""));
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary)?;
    let written = file.write_all(&digest(&[cubin])).and_then(|()| file.write_all(cubin)).and_then(|()| file.sync_all());
    let result = written.and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// The user's cache, made if need be; `None` where there is no place for it or others could write to it.
pub(super) fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("KARAT_CACHE_DIR")
        .or_else(|| set("XDG_CACHE_HOME").map(|base| base.join("karat")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/karat")))?;
    private(&folder).then_some(folder)
}

#[cfg(unix)]
fn private(folder: &Path) -> bool {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let Ok(meta) = fs::symlink_metadata(folder) else { return false };
    // The owner of this process is whoever owns its entry in /proc.
    let owner = fs::metadata("/proc/self").map(|own| own.uid());
    meta.is_dir() && meta.permissions().mode() & 0o077 == 0 && owner.map_or(true, |uid| uid == meta.uid())
}

#[cfg(not(unix))]
fn private(folder: &Path) -> bool {
    fs::create_dir_all(folder).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::programs;
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("karat-cache-{}-{name}", std::process::id()));
        assert!(private(&folder));
        folder
    }

    #[test]
    fn damaged_files_are_not_used() {
        let folder = scratch("damaged");
        let path = folder.join("x.cubin");
        write(&path, b"machine code").unwrap();
        assert_eq!(read(&path).unwrap(), b"machine code");
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(read(&path), None);
        }
        for i in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[i] ^= 1;
            fs::write(&path, flipped).unwrap();
            assert_eq!(read(&path), None);
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a temporary file stayed behind");
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn folders_of_others_are_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = scratch("open");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o770)).unwrap();
        assert!(!private(&folder));
        let link = folder.with_extension("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(private(&folder) && !private(&link));
        fs::remove_file(link).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_tell_programs_and_architectures_apart() {
        let mut names: Vec<_> = programs()
            .iter()
            .flat_map(|program| ["sm_80", "sm_90"].map(|architecture| file_name(program, architecture)))
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
