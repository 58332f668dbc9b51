//! An array of `NumPy`: one matrix, or one column of an NPZ file.
//!
//! cost    one pass, in pieces: a header that promises more than the file holds reserves nothing
//! source  the NPY format, versions 1 to 3 (NEP 1)
//! differs the header is scanned for its three entries, not parsed as Python: nesting cannot exhaust the stack

use std::fs::File;
use std::io::{BufReader, Read};

use super::columns::{MOST_COLUMNS, Source};
use crate::data::{Column, Rows};
use crate::error::{Error, Result};

/// Bytes read at a time, about.
const PIECE: usize = 1 << 16;

/// A result whose error is a reason, to which the caller adds the file.
pub(super) type Reasoned<T> = std::result::Result<T, String>;

/// What an array holds: numbers of some width, or texts of some length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Boolean,
    Signed,
    Unsigned,
    Float,
    Bytes,
    Unicode,
}

/// The header of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    kind: Kind,
    big_endian: bool,
    /// Bytes of one item.
    size: usize,
    by_columns: bool,
    shape: Vec<usize>,
}

/// An array whose items are still to be read.
pub(super) struct Array<R> {
    header: Header,
    input: R,
}

pub(super) fn read(path: &str, file: File) -> Result<Source<'_>> {
    let array = Array::open(BufReader::new(file)).map_err(|what| Error::file(path, what))?;
    let integers = matches!(array.header.kind, Kind::Signed | Kind::Unsigned);
    let rows = array.matrix().map_err(|what| Error::file(path, what))?;
    Ok(Source { integers, ..Source::new(path, rows) })
}

impl<R: Read> Array<R> {
    pub(super) fn open(mut input: R) -> Reasoned<Self> {
        let header = Header::read(&mut input)?;
        Ok(Self { header, input })
    }

    pub(super) fn is_matrix(&self) -> bool {
        self.header.shape.len() == 2
    }

    /// One row a first index; an array of one dimension is one column.
    pub(super) fn matrix(self) -> Reasoned<Rows<'static>> {
        let (n, p) = match self.header.shape[..] {
            [n] => (n, 1),
            [n, p] => (n, p),
            _ => return Err(format!("{} dimensions; a matrix has 2", self.header.shape.len())),
        };
        if p > MOST_COLUMNS {
            return Err(format!("{p} columns; at most {MOST_COLUMNS} can be read"));
        }
        let by_columns = self.header.by_columns;
        let mut values = self.numbers()?;
        if by_columns && n > 1 && p > 1 {
            values = (0..n).flat_map(|i| values[i..].iter().step_by(n).copied()).collect();
        }
        Rows::dense(values, n, p).map_err(|e| e.to_string())
    }

    /// As a target: integers are integers, truth values are text.
    pub(super) fn column(self) -> Reasoned<Column> {
        if self.header.shape.iter().filter(|d| **d != 1).count() > 1 {
            return Err("a target has one value a row".into());
        }
        match self.header.kind {
            Kind::Signed | Kind::Unsigned => self.integers().map(Column::Integers),
            Kind::Float => self.numbers().map(Column::Numbers),
            Kind::Boolean => self.items(|b| Ok((b[0] != 0).to_string())).map(Column::Text),
            Kind::Bytes => self.items(|b| Ok(bytes_text(b))).map(Column::Text),
            Kind::Unicode => {
                let big_endian = self.header.big_endian;
                self.items(move |b| Ok(unicode_text(b, big_endian))).map(Column::Text)
            }
        }
    }

    pub(super) fn numbers(self) -> Reasoned<Vec<f64>> {
        let Header { kind, big_endian, size, .. } = self.header;
        match (kind, size) {
            (Kind::Float, 8) => self.items(move |b| Ok(f64::from_bits(unsigned(b, big_endian)))),
            (Kind::Float, _) => {
                self.items(move |b| Ok(f64::from(f32::from_bits(unsigned(b, big_endian) as u32))))
            }
            (Kind::Signed, _) => self.items(move |b| Ok(signed(b, big_endian) as f64)),
            (Kind::Unsigned | Kind::Boolean, _) => self.items(move |b| Ok(unsigned(b, big_endian) as f64)),
            (Kind::Bytes | Kind::Unicode, _) => Err("it holds text, but must hold numbers".into()),
        }
    }

    pub(super) fn integers(self) -> Reasoned<Vec<i64>> {
        let Header { kind, big_endian, .. } = self.header;
        match kind {
            Kind::Signed => self.items(move |b| Ok(signed(b, big_endian))),
            Kind::Unsigned => self.items(move |b| {
                let v = unsigned(b, big_endian);
                i64::try_from(v).map_err(|_| format!("{v} is too large; integers go up to {}", i64::MAX))
            }),
            _ => Err("it must hold integers".into()),
        }
    }

    /// Every item, in the order of the file.
    fn items<T>(mut self, item: impl Fn(&[u8]) -> Reasoned<T>) -> Reasoned<Vec<T>> {
        let (size, shape) = (self.header.size, &self.header.shape);
        let total = shape.iter().try_fold(1usize, |total, d| total.checked_mul(*d));
        let total = total.ok_or_else(|| format!("the shape {shape:?} is too large"))?;
        let mut piece = vec![0; (PIECE / size).max(1) * size];
        let mut items = Vec::new();
        while items.len() < total {
            let count = (total - items.len()).min(piece.len() / size);
            let piece = &mut piece[..count * size];
            self.input.read_exact(piece).map_err(|e| {
                format!("the header promises {total} values of shape {shape:?}, but the data ends early: {e}")
            })?;
            for bytes in piece.chunks_exact(size) {
                items.push(item(bytes)?);
            }
        }
        Ok(items)
    }
}

/// Up to 8 bytes as a number.
fn unsigned(bytes: &[u8], big_endian: bool) -> u64 {
    let fold = |total: u64, byte: &u8| total << 8 | u64::from(*byte);
    if big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) }
}

fn signed(bytes: &[u8], big_endian: bool) -> i64 {
    let unused = 64 - 8 * bytes.len().min(8);
    (unsigned(bytes, big_endian) << unused).cast_signed() >> unused
}

fn bytes_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').into()
}

fn unicode_text(bytes: &[u8], big_endian: bool) -> String {
    let letter =
        |b: &[u8]| char::from_u32(unsigned(b, big_endian) as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    bytes.chunks_exact(4).map(letter).collect::<String>().trim_end_matches('\0').into()
}

impl Header {
    fn read(input: &mut impl Read) -> Reasoned<Self> {
        let mut start = [0; 8];
        let short = |e: std::io::Error| format!("not an NPY array, or not a whole one: {e}");
        input.read_exact(&mut start).map_err(short)?;
        if !start.starts_with(b"\x93NUMPY") {
            return Err("not an NPY array: it does not start with `\\x93NUMPY`".into());
        }
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(format!("NPY version {version}; versions 1 to 3 can be read")),
        };
        let mut length = [0; 4];
        input.read_exact(&mut length[..width]).map_err(short)?;
        let length = u64::from(u32::from_le_bytes(length));
        let mut text = Vec::new();
        input.take(length).read_to_end(&mut text).map_err(short)?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`
    fn parse(text: &str) -> Reasoned<Self> {
        let entry = |key: &str| {
            let at = text.find(&format!("'{key}'"))? + key.len() + 2;
            Some(text[at..].trim_start().strip_prefix(':')?.trim_start())
        };
        let broken = || format!("the NPY header is broken: {}", text.chars().take(100).collect::<String>());
        let descr = entry("descr").ok_or_else(broken)?;
        let Some((descr, _)) = descr.strip_prefix('\'').and_then(|d| d.split_once('\'')) else {
            return Err("an array of records; store each column, or one matrix".into());
        };
        let by_columns = entry("fortran_order").ok_or_else(broken)?.starts_with("True");
        let shape = entry("shape").and_then(|s| s.strip_prefix('(')?.split_once(')')).ok_or_else(broken)?.0;
        let shape = (shape.split(',').map(str::trim).filter(|d| !d.is_empty()))
            .map(|d| d.parse().map_err(|_| broken()))
            .collect::<Reasoned<Vec<usize>>>()?;
        let (kind, size) = kind(descr).ok_or_else(|| {
            format!(
                "items of the type `{descr}` cannot be read; allowed are truth values, integers, float32, float64 \
                 and text\nhint: `array.astype(\"float64\")`"
            )
        })?;
        Ok(Self { kind, big_endian: descr.starts_with('>'), size, by_columns, shape })
    }
}

fn kind(descr: &str) -> Option<(Kind, usize)> {
    let mut letters = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr).chars();
    let letter = letters.next()?;
    let size: usize = letters.as_str().parse().ok()?;
    match (letter, size) {
        ('b', 1) => Some((Kind::Boolean, 1)),
        ('i', 1 | 2 | 4 | 8) => Some((Kind::Signed, size)),
        ('u', 1 | 2 | 4 | 8) => Some((Kind::Unsigned, size)),
        ('f', 4 | 8) => Some((Kind::Float, size)),
        ('S', 1..PIECE) => Some((Kind::Bytes, size)),
        ('U', 1..PIECE) => Some((Kind::Unicode, 4 * size)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(descr: &str, shape: &str, order: &str, data: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend(data);
        bytes
    }

    fn numbers(descr: &str, data: &[u8]) -> Reasoned<Vec<f64>> {
        Array::open(&array(descr, "(1,)", "False", data)[..])?.numbers()
    }

    #[test]
    fn every_width_and_byte_order_is_read() {
        assert_eq!(numbers("<i2", &(-5i16).to_le_bytes()), Ok(vec![-5.0]));
        assert_eq!(numbers(">i4", &(-70_000i32).to_be_bytes()), Ok(vec![-70_000.0]));
        assert_eq!(numbers("<i8", &i64::MIN.to_le_bytes()), Ok(vec![i64::MIN as f64]));
        assert_eq!(numbers("|u1", &[255]), Ok(vec![255.0]));
        assert_eq!(numbers(">f8", &0.1f64.to_be_bytes()), Ok(vec![0.1]));
        assert_eq!(numbers("<f4", &0.5f32.to_le_bytes()), Ok(vec![0.5]));
        assert_eq!(numbers("|b1", &[1]), Ok(vec![1.0]));
        assert!(numbers("<f2", &[0, 0]).is_err_and(|e| e.contains("float64")));
    }

    #[test]
    fn a_matrix_stored_by_columns_is_turned() {
        let bytes = array("|u1", "(2, 3)", "True", &[1, 4, 2, 5, 3, 6]);
        let rows = Array::open(&bytes[..]).and_then(Array::matrix).expect("a matrix");
        assert_eq!(rows.to_dense(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn texts_lose_their_padding() {
        let column = |descr, data: &[u8]| {
            Array::open(&array(descr, "(1,)", "False", data)[..]).and_then(Array::column)
        };
        assert_eq!(column("|S3", b"ab\0"), Ok(Column::Text(vec!["ab".into()])));
        assert_eq!(column(">U2", &[0, 0, 0, 0xe9, 0, 0, 0, 0]), Ok(Column::Text(vec!["é".into()])));
    }

    #[test]
    fn a_shape_beyond_all_memory_is_an_error() {
        let bytes = array("<f8", "(4294967296, 4294967296, 16)", "False", &[]);
        assert!(Array::open(&bytes[..]).and_then(Array::numbers).is_err_and(|e| e.contains("too large")));
        let bytes = array("<f8", "(1000000000, 1000)", "False", &[0; 64]);
        assert!(Array::open(&bytes[..]).and_then(Array::numbers).is_err_and(|e| e.contains("ends early")));
    }
}
