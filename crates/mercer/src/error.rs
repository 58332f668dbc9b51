//! The one error type. Its text says what was given, what is allowed and what to do.

/// Why a call could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter, or a combination of parameters, that is not allowed.
    #[error("{0}")]
    Argument(String),
    /// Rows or labels that the method cannot use.
    #[error("{0}")]
    Data(String),
    /// Arithmetic that broke down on data that looked fine.
    #[error("{0}")]
    Numerical(String),
    /// More memory than the budget allows.
    #[error("{0}")]
    Memory(String),
    /// A file that is not what it should be.
    #[error("{path}: {reason}")]
    File {
        /// The file as it was named.
        path: String,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file as it was named.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A GPU that is not there, lacks a library, or failed.
    #[error("{0}")]
    Device(String),
    /// [`Monitor::stop`](crate::Monitor::stop) was called.
    #[error("interrupted")]
    Interrupted,
}

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::Argument(text.into())
    }

    pub(crate) fn device(text: impl Into<String>) -> Self {
        Self::Device(text.into())
    }

    pub(crate) fn data(text: impl Into<String>) -> Self {
        Self::Data(text.into())
    }

    pub(crate) fn file(path: impl AsRef<std::path::Path>, reason: impl Into<String>) -> Self {
        Self::File { path: path.as_ref().display().to_string(), reason: reason.into() }
    }

    pub(crate) fn io(path: impl AsRef<std::path::Path>, source: std::io::Error) -> Self {
        Self::Io { path: path.as_ref().display().to_string(), source }
    }
}
