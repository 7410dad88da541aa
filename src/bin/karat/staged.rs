//! Output that appears whole or not at all: it is written aside and put in its place at the end, so that bad input
//! leaves nothing behind.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, SpooledTempFile};

use crate::failure::Failure;

/// Output up to this size waits in memory, larger output in a temporary file.
const IN_MEMORY: usize = 1 << 23;

/// Output that waits.
pub struct Staged {
    path: Option<String>,
    data: Data,
}

enum Data {
    /// Beside a regular file, whose place it takes.
    Beside(NamedTempFile),
    /// To be copied to standard output, or to what is no regular file (a device or a pipe).
    Spooled(SpooledTempFile),
}

impl Staged {
    /// Output to a file; to standard output where there is no path or it is `-`.
    pub fn new(path: Option<&str>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != "-") else {
            return Ok(Self { path: None, data: Data::Spooled(SpooledTempFile::new(IN_MEMORY)) });
        };
        let replaceable = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(Failure::Usage(format!("{path}: this is a folder; --out takes a file")));
            }
            Ok(metadata) => metadata.is_file(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => true,
            Err(e) => return Err(Failure::io(path)(e)),
        };
        let data = if replaceable {
            Data::Beside(beside(&target(path)).map_err(Failure::io(path))?)
        } else {
            Data::Spooled(SpooledTempFile::new(IN_MEMORY))
        };
        Ok(Self { path: Some(path.into()), data })
    }

    /// The name for messages.
    pub fn name(&self) -> &str {
        self.path.as_deref().unwrap_or("standard output")
    }

    /// The target's path; `None` for standard output.
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Puts the output where it belongs; what belongs on standard output is given back for that.
    pub fn commit(self) -> Result<Option<impl Read>, Failure> {
        let Some(path) = self.path else {
            let Data::Spooled(mut spool) = self.data else { unreachable!("standard output is spooled") };
            spool.rewind().map_err(Failure::io("standard output"))?;
            return Ok(Some(spool));
        };
        let done = match self.data {
            Data::Beside(file) => file.persist(target(&path)).map(|_| ()).map_err(|e| e.error),
            Data::Spooled(mut spool) => copy(&mut spool, &path),
        };
        done.map_err(Failure::io(&path)).map(|()| None)
    }
}

/// The file that a path means: what a symbolic link points to is replaced, not the link.
fn target(path: &str) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.into())
}

/// A temporary file in the same folder, with the permissions of any new file.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".karat-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // the umask takes from these
    builder.tempfile_in(folder)
}

fn copy(spool: &mut SpooledTempFile, path: &str) -> io::Result<()> {
    spool.rewind()?;
    io::copy(spool, &mut fs::OpenOptions::new().write(true).open(path)?).map(|_| ())
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.data {
            Data::Beside(file) => file.write(bytes),
            Data::Spooled(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.data {
            Data::Beside(file) => file.flush(),
            Data::Spooled(file) => file.flush(),
        }
    }
}

impl Seek for Staged {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match &mut self.data {
            Data::Beside(file) => file.seek(position),
            Data::Spooled(file) => file.seek(position),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_without_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut staged = Staged::new(path.to_str()).unwrap();
        staged.write_all(b"half").unwrap();
        drop(staged);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn commit_replaces_a_file_and_keeps_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        #[cfg(unix)]
        let (link, path) = {
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            (link, path)
        };
        #[cfg(not(unix))]
        let link = path.clone();
        let mut staged = Staged::new(link.to_str()).unwrap();
        staged.write_all(b"new").unwrap();
        assert!(staged.commit().unwrap().is_none());
        assert_eq!(fs::read_to_string(path).unwrap(), "new");
        #[cfg(unix)]
        assert!(fs::symlink_metadata(link).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_to_and_not_replaced() {
        let mut staged = Staged::new(Some("/dev/null")).unwrap();
        staged.write_all(b"gone").unwrap();
        staged.commit().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn impossible_targets() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Staged::new(folder.path().to_str()).is_err());
        assert!(Staged::new(folder.path().join("none/out").to_str()).is_err());
    }
}
