//! A file appears whole or not at all: it is written beside its place under another name, and renamed when done.

use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// The folder that a file of this name lies in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file in the same folder, which vanishes unless it is renamed.
pub(crate) fn temporary(path: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    // Temporary files are private; what becomes of this one should be as readable as any file the user makes.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(".mercer-").tempfile_in(folder(path)).map_err(|e| {
        // The name of the temporary file is nobody's business.
        Error::io(path, e.kind().into())
    })
}
