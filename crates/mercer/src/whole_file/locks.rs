//! Locks that tell temporary files that are being written from those of processes that have ended. Only on Unix: elsewhere
//! the temporary file of a process that was killed stays.

#[cfg(unix)]
use std::fs::{self, File, TryLockError};
use std::path::Path;

use tempfile::NamedTempFile;

#[cfg(unix)]
use super::PREFIX;

/// Locks a temporary file; whether it still exists.
#[cfg(unix)]
pub(super) fn claim(file: &NamedTempFile) -> bool {
    use std::os::unix::fs::MetadataExt;
    match file.as_file().try_lock() {
        Ok(()) => file.as_file().metadata().map_or(true, |data| data.nlink() > 0),
        Err(TryLockError::WouldBlock) => false,
        // Where there are no locks, nobody removes a file.
        Err(TryLockError::Error(_)) => true,
    }
}

#[cfg(not(unix))]
pub(super) fn claim(_: &NamedTempFile) -> bool {
    true
}

/// Removes the temporary files of processes that have ended.
#[cfg(unix)]
pub(super) fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        if !ours {
            continue;
        }
        if let Ok(file) = File::options().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            // Fails if another process was faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(not(unix))]
pub(super) fn remove_abandoned(_: &Path) {}
