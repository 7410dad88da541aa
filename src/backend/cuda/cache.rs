//! Compiled kernels on disk: a read-only pack made ahead, and the user's own cache.
//!
//! Both hold one file for each program and architecture, named by the digest of everything that went into it. A file
//! starts with the digest of its contents; one that does not match, or a folder that others may write to, is not
//! used. The cache is written by renaming a finished file; what a process left that was killed before that is swept
//! away by the next one that writes.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

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

/// The name of a program's file in a pack: versions, architectures, sources and constants have names of their own.
///
/// ```
/// use karat::backend::cuda::{pack_file, programs};
/// let program = &programs()[0];
/// assert!(pack_file(program, "sm_90").starts_with(&program.name()));
/// assert_ne!(pack_file(program, "sm_90"), pack_file(program, "sm_80"));
/// ```
pub fn pack_file(program: &Program, architecture: &str) -> String {
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
    if let Some(pack) = std::env::var_os("KARAT_KERNEL_PACK")
        && let Some(cubin) = packed(program, architecture, Path::new(&pack))
    {
        return Ok(cubin);
    }
    let Some(folder) = folder() else { return compile(program, architecture) };
    // Code of another compiler version is another file.
    let version = nvrtc_version().map_or(String::new(), |(major, minor)| format!("nvrtc-{major}.{minor}-"));
    let path = folder.join(version + &pack_file(program, architecture));
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
            let path = folder.join(pack_file(program, architecture));
            write(&path, &compile(program, architecture)?).map_err(failed)?;
            out.push(path);
        }
    }
    Ok(out)
}

/// Machine code of a program out of a pack, if it is there and whole: a file holds the digest of the code, SHAKE-256 of
/// its length as a 64-bit little-endian number and its bytes, and then the code.
///
/// ```
/// use karat::backend::cuda::{packed, programs};
/// assert!(packed(&programs()[0], "sm_90", "no such folder".as_ref()).is_none());
/// ```
pub fn packed(program: &Program, architecture: &str, folder: &Path) -> Option<Vec<u8>> {
    read(&folder.join(pack_file(program, architecture)))
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = read_file(path)?;
    let cubin = bytes.split_off(DIGEST.min(bytes.len()));
    (bytes == digest(&[&cubin])).then_some(cubin)
}

/// More than any file here has.
const LONGEST: u64 = 1 << 26;

/// The bytes of a regular file of bounded length: a pipe would be waited for, a device never ends.
pub(super) fn read_file(path: &Path) -> Option<Vec<u8>> {
    let usable = |meta: fs::Metadata| (meta.is_file() && meta.len() <= LONGEST).then_some(());
    usable(fs::metadata(path).ok()?)?;
    let file = fs::File::open(path).ok()?;
    usable(file.metadata().ok()?)?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn write(path: &Path, cubin: &[u8]) -> io::Result<()> {
    write_file(path, &[&digest(&[cubin]), cubin])
}

/// Marks files that are not finished.
const UNFINISHED: &str = "tmp-";
/// Unfinished files of this age belong to nobody: no file here takes as long to write.
const ABANDONED: Duration = Duration::from_secs(60);

/// Puts a file in its place whole or not at all, and removes what was abandoned beside it.
pub(super) fn write_file(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    sweep(path);
    let unique = format!("{UNFINISHED}{}-{:?}", std::process::id(), std::thread::current().id());
    let temporary = path.with_extension(unique.replace(['(', ')'], ""));
    // Nobody else has this name now; another process may have had it.
    let _ = fs::remove_file(&temporary);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary)?;
    let written = parts.iter().try_for_each(|part| file.write_all(part)).and_then(|()| file.sync_all());
    let result = written.and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Removes unfinished files that nobody writes any more. What cannot be looked at stays.
fn sweep(path: &Path) {
    let Some(entries) = path.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let unfinished = path.extension().is_some_and(|extension| extension.to_string_lossy().starts_with(UNFINISHED));
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if unfinished && age().is_some_and(|age| age >= ABANDONED) {
            let _ = fs::remove_file(path);
        }
    }
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

    /// A pipe, a device, a folder, links to them, a file that is too long: none is waited for, none is read.
    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_not_used() {
        let folder = scratch("hostile");
        let path = folder.join("x.cubin");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(read(&path), None);
            // A finished file takes its place.
            write(&path, b"code").unwrap();
            assert_eq!(read(&path).unwrap(), b"code");
            fs::remove_file(&path).unwrap();
        }
        for target in ["/dev/zero", "/dev/null", "/", "/no such file"] {
            std::os::unix::fs::symlink(target, &path).unwrap();
            assert_eq!(read(&path), None, "{target}");
            write(&path, b"code").unwrap();
            assert!(fs::symlink_metadata(&path).unwrap().is_file(), "the link was followed");
            fs::remove_file(&path).unwrap();
        }
        fs::File::create(&path).unwrap().set_len(LONGEST + 1).unwrap();
        assert_eq!(read(&path), None);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(read(&path).is_none() && write(&path, b"code").is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a temporary file stayed behind");
        fs::remove_dir_all(folder).unwrap();
    }

    /// A full disk, as the system tells it: the file is not there, and nothing else is.
    #[test]
    fn what_does_not_fit_leaves_nothing() {
        let name = "backend::cuda::cache::tests::what_does_not_fit_leaves_nothing";
        const FOLDER: &str = "KARAT_TEST_FULL";
        if let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) {
            assert!(write(&folder.join("x.cubin"), &vec![7; 1 << 20]).is_err());
            return;
        }
        let folder = scratch("full");
        // Files of 32 KiB at most; the signal that comes with longer ones is ignored, so that writing fails.
        let line = format!("trap '' XFSZ; ulimit -f 64 && exec \"$1\" --exact {name}");
        let mut shell = std::process::Command::new("sh");
        let Ok(executable) = std::env::current_exe() else { return };
        shell.args(["-c", &line, "sh"]).arg(executable).env(FOLDER, &folder);
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }

    /// Processes that are killed while they write: what can be read is whole, and what they left goes away.
    #[test]
    fn killed_while_it_writes() {
        let name = "backend::cuda::cache::tests::killed_while_it_writes";
        const FOLDER: &str = "KARAT_TEST_KILLED";
        let code = |i: usize| vec![i as u8; 100_000 + i];
        if let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) {
            (0..100_000).for_each(|i| write(&folder.join(format!("{}.cubin", i % 8)), &code(i % 8)).unwrap());
            return;
        }
        let folder = scratch("killed");
        for round in 0..12 {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name])
                .env(FOLDER, &folder)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            while fs::read_dir(&folder).unwrap().next().is_none() {
                assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            }
            std::thread::sleep(Duration::from_millis(3 * round));
            // SIGKILL.
            child.kill().unwrap();
            child.wait().unwrap();
            for i in 0..8 {
                let path = folder.join(format!("{i}.cubin"));
                assert!(!path.exists() || read(&path).unwrap() == code(i), "{i} is not whole");
            }
        }
        let unfinished = || {
            let all = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            all.filter(|path| path.extension().is_some_and(|e| e.to_string_lossy().starts_with(UNFINISHED)))
        };
        let old = std::time::SystemTime::now() - 2 * ABANDONED;
        fs::write(folder.join("9.tmp-1-ThreadId1"), b"left").unwrap();
        for path in unfinished() {
            fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        }
        // One that is being written stays.
        fs::write(folder.join("9.tmp-2-ThreadId1"), b"young").unwrap();
        write(&folder.join("9.cubin"), b"code").unwrap();
        assert_eq!(unfinished().collect::<Vec<_>>(), [folder.join("9.tmp-2-ThreadId1")]);
        fs::remove_dir_all(folder).unwrap();
    }

    /// A folder that cannot be written to, or is none: the cache does without it.
    #[cfg(unix)]
    #[test]
    fn folders_that_cannot_be_used() {
        use std::os::unix::fs::PermissionsExt;
        let folder = scratch("read-only");
        write(&folder.join("x.cubin"), b"code").unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
        assert!(private(&folder));
        assert_eq!(read(&folder.join("x.cubin")).unwrap(), b"code");
        // Whoever may do everything writes all the same.
        let written = write(&folder.join("y.cubin"), b"code");
        assert!(written.is_ok() == folder.join("y.cubin").exists());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        fs::write(&folder, b"a file").unwrap();
        assert!(!private(&folder) && !private(&folder.join("below")) && !private(Path::new("/dev/null/x")));
        fs::remove_file(folder).unwrap();
    }

    #[test]
    fn names_tell_programs_and_architectures_apart() {
        let mut names: Vec<_> = programs()
            .iter()
            .flat_map(|program| ["sm_80", "sm_90"].map(|architecture| pack_file(program, architecture)))
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
