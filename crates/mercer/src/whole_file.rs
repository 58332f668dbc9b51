//! Atomic writes: a file is written under a temporary name in the same folder and renamed when it is complete.

use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// The folder of a file.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file in the same folder, which is removed unless it is renamed.
pub(crate) fn temporary(path: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // Temporary files are private by default; this one should get the permissions of any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(".mercer-").tempfile_in(folder(path)).map_err(|e| {
        // The error names the final file, not the temporary one.
        Error::io(path, e.kind().into())
    })
}
