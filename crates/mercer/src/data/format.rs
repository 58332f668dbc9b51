//! File formats by file extension, for reading and writing.

use crate::error::{Error, Result};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text with this separator, perhaps gzipped.
    Text {
        separator: u8,
        gzip: bool,
    },
    /// Index:value pairs, perhaps gzipped.
    Libsvm {
        gzip: bool,
    },
    Parquet,
    /// Arrow IPC, also known as Feather version 2.
    Arrow,
    Npy,
    Npz,
}

/// The known file extensions, for error texts.
pub(crate) const EXTENSIONS: &str =
    ".csv, .tsv, .libsvm, .svm, .svmlight (each also with .gz), .parquet, .arrow, .ipc, .feather, .npy, .npz";

impl Format {
    pub(crate) fn of(path: &str) -> Result<Self> {
        let lower = path.to_ascii_lowercase();
        let (stem, gzip) = lower.strip_suffix(".gz").map_or((lower.as_str(), false), |stem| (stem, true));
        let file = stem.rsplit(['/', '\\']).next().unwrap_or(stem);
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        match (ending, gzip) {
            ("csv", gzip) => Ok(Self::Text { separator: b',', gzip }),
            ("tsv", gzip) => Ok(Self::Text { separator: b'\t', gzip }),
            ("libsvm" | "svm" | "svmlight", gzip) => Ok(Self::Libsvm { gzip }),
            ("parquet", false) => Ok(Self::Parquet),
            ("arrow" | "ipc" | "feather", false) => Ok(Self::Arrow),
            ("npy", false) => Ok(Self::Npy),
            ("npz", false) => Ok(Self::Npz),
            _ => Err(Error::file(
                path,
                format!("the file extension is not a known format; use one of {EXTENSIONS}"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_in_a_folder_is_not_an_extension() {
        assert!(Format::of("data.csv/rows").is_err());
        assert!(Format::of("rows.parquet.gz").is_err());
        assert_eq!(Format::of("A.TSV.GZ").ok(), Some(Format::Text { separator: b'\t', gzip: true }));
    }
}
