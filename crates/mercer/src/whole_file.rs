//! Atomic writes: a file is written under a temporary name in the same folder and renamed when it is complete.
//!
//! A process that is killed leaves its temporary file behind, and the next write into that folder removes it. Files that are
//! being written are locked, which tells them from those that were left.

mod locks;

use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// How the names of temporary files begin.
const PREFIX: &str = ".mercer-unfinished-";

/// The folder of a file.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file in the same folder, which is removed unless it becomes the file by [`finish`].
pub(crate) fn temporary(path: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // Temporary files are private by default; this one should get the permissions of any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(PREFIX);
    locks::remove_abandoned(folder(path));
    loop {
        let file = builder.tempfile_in(folder(path)).map_err(|e| {
            // The error names the final file, not the temporary one.
            Error::io(path, e.kind().into())
        })?;
        // Before it was locked, another process may have taken it for an abandoned one.
        if locks::claim(&file) {
            return Ok(file);
        }
    }
}

/// Makes a complete temporary file the file of this name.
pub(crate) fn finish(file: NamedTempFile, path: &Path) -> Result<()> {
    // After a crash of the machine there must be the old file or the new one. Some systems report a full disk only here.
    file.as_file().sync_all().map_err(|e| Error::io(path, e))?;
    file.persist(path).map_err(|e| Error::io(path, e.error))?;
    Ok(())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_being_written_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let left = folder.path().join(format!("{PREFIX}abc123"));
        let others = folder.path().join(".mercer-mine");
        fs::write(&left, "half").expect("written");
        fs::write(&others, "mine").expect("written");
        let path = folder.path().join("out");
        let mut first = temporary(&path).expect("made");
        assert!(!left.exists() && others.exists());
        let second = temporary(&path).expect("made");
        assert!(first.path().exists(), "it is being written");
        first.write_all(b"whole").expect("written");
        finish(first, &path).expect("renamed");
        drop(second);
        assert_eq!(fs::read(&path).expect("there"), b"whole");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
    }
}
