//! Results on standard output.

use std::io::{ErrorKind, Write};

use mercer::{Error, Result};

/// Text on standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Bytes on standard output. A closed pipe, as with `| head`, is not an error: the remaining work is still done.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|source| Error::Io { path: "standard output".into(), source }),
    }
}
