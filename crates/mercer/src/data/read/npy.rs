//! NPY arrays: one matrix, or one array of an NPZ file.
//!
//! cost    one pass; memory is allocated as data is read, not as the header claims, and within a budget
//! source  the NPY format, versions 1 to 3 (NEP 1), read by the crate `npyz`
//! differs a header must be short and flat: `npyz` parses it as Python, and deep nesting would exhaust the stack

use std::fs::File;
use std::io::{BufReader, Chain, Cursor, ErrorKind, Read};

use npyz::{DType, Deserialize, NpyFile, Order, TypeChar};

use super::budget::exceeded;
use super::columns::{MOST_COLUMNS, Source};
use super::{ReadOptions, caught};
use crate::data::store::Growing;
use crate::data::{Column, Rows};
use crate::error::{Error, Result};

/// The most bytes of a header, and brackets in it. Plain arrays have 128 bytes and 4 brackets.
const MAX_HEADER_BYTES: usize = 1 << 10;
const MAX_BRACKETS: usize = 32;

/// The most brackets within each other: those of records have 4, and the parser takes twice the time for each more that stays
/// open.
const MAX_DEPTH: usize = 5;

/// The most characters of a text item.
const MAX_TEXT_LENGTH: u64 = 1 << 16;

/// A result whose error is a reason, to which the caller adds the file.
pub(super) type Reasoned<T> = std::result::Result<T, String>;

/// An array whose items are still to be read.
pub(super) struct Array<R: Read> {
    file: NpyFile<BufReader<Chain<Cursor<Vec<u8>>, R>>>,
    /// Type of the items, and their size in bytes or characters.
    kind: (TypeChar, u64),
    /// Bytes that its items may take where they are held in memory.
    most: u64,
}

pub(super) fn read<'a>(path: &'a str, file: File, options: &ReadOptions) -> Result<Source<'a>> {
    let array = Array::open(file).map_err(|what| Error::file(path, what))?;
    let integers = matches!(array.kind.0, TypeChar::Int | TypeChar::Uint);
    let rows = array.matrix(options.growing()).map_err(|what| Error::file(path, what))?;
    Ok(Source { integers, ..Source::new(path, rows) })
}

impl<R: Read> Array<R> {
    pub(super) fn open(mut input: R) -> Reasoned<Self> {
        let start = harmless_start(&mut input)?;
        let input = BufReader::new(Cursor::new(start).chain(input));
        let too_large = || "the shape in its header is too large".to_string();
        let file = caught(|| NpyFile::new(input))
            .ok_or_else(too_large)?
            .map_err(|e| format!("not an NPY array, or not a whole one: {e}"))?;
        if file.shape().iter().try_fold(1u64, |total, d| total.checked_mul(*d)).is_none() {
            return Err(too_large());
        }
        let DType::Plain(kind) = file.dtype() else {
            return Err("an array of records; store each column, or one matrix".into());
        };
        match (kind.type_char(), kind.size_field()) {
            known @ ((TypeChar::Bool | TypeChar::Int | TypeChar::Uint, _)
            | (TypeChar::Float, 4 | 8)
            | (TypeChar::ByteStr | TypeChar::UnicodeStr, 1..MAX_TEXT_LENGTH)) => {
                Ok(Self { file, kind: known, most: u64::MAX })
            }
            _ => Err(format!(
                "items of the type `{kind}` cannot be read; allowed are booleans, integers, float32, float64 and \
                 text\nhint: `array.astype(\"float64\")`"
            )),
        }
    }

    /// The array, of whose items at most so many bytes may be in memory; rows go to a file.
    pub(super) fn within(self, most: u64) -> Self {
        Self { most, ..self }
    }

    pub(super) fn is_matrix(&self) -> bool {
        self.file.shape().len() == 2
    }

    /// As rows; an array of one dimension is one column. The numbers are collected in `values`.
    pub(super) fn matrix(self, mut values: Growing<f64>) -> Reasoned<Rows<'static>> {
        let (n, p) = match self.file.shape() {
            [n] => (*n as usize, 1),
            [n, p] => (*n as usize, *p as usize),
            shape => return Err(format!("{} dimensions; a matrix has 2", shape.len())),
        };
        if p > MOST_COLUMNS {
            return Err(format!("{p} columns; at most {MOST_COLUMNS} can be read"));
        }
        let by_columns = self.file.order() == Order::Fortran;
        let in_words = |e: Error| e.to_string();
        self.each_number(&mut |v| values.push(v).map_err(in_words))?;
        let mut store = values.finish().map_err(in_words)?;
        if by_columns && n > 1 && p > 1 {
            let mut by_rows = Growing::like(&store);
            (0..n)
                .try_for_each(|i| store[i..].iter().step_by(n).try_for_each(|v| by_rows.push(*v)))
                .map_err(in_words)?;
            store = by_rows.finish().map_err(in_words)?;
        }
        Rows::from_store(store, n, p).map_err(|e| e.to_string())
    }

    /// As a target: integers stay integers, booleans become text.
    pub(super) fn column(self) -> Reasoned<Column> {
        if self.file.shape().iter().filter(|d| **d != 1).count() > 1 {
            return Err("a target has one value per row".into());
        }
        match self.kind.0 {
            TypeChar::Int | TypeChar::Uint => self.integers().map(Column::Integers),
            TypeChar::Float => self.numbers().map(Column::Numbers),
            TypeChar::Bool => self.texts(|truth: bool| truth.to_string()).map(Column::Text),
            _ => self.texts(|text: String| text).map(Column::Text),
        }
    }

    pub(super) fn numbers(self) -> Reasoned<Vec<f64>> {
        let (mut numbers, most) = (Vec::new(), self.most);
        self.each_number(&mut |v| push(&mut numbers, v, most))?;
        Ok(numbers)
    }

    /// Calls `hand` with every number, in the order of the file.
    fn each_number(self, hand: &mut dyn FnMut(f64) -> Reasoned<()>) -> Reasoned<()> {
        match self.kind {
            (TypeChar::Float, 8) => self.each(|v: f64| hand(v)),
            (TypeChar::Float, _) => self.each(|v: f32| hand(f64::from(v))),
            (TypeChar::Bool, _) => self.each(|v: bool| hand(f64::from(v))),
            (TypeChar::Int, 1) => self.each(|v: i8| hand(v.into())),
            (TypeChar::Int, 2) => self.each(|v: i16| hand(v.into())),
            (TypeChar::Int, 4) => self.each(|v: i32| hand(v.into())),
            (TypeChar::Int, _) => self.each(|v: i64| hand(v as f64)),
            (TypeChar::Uint, 1) => self.each(|v: u8| hand(v.into())),
            (TypeChar::Uint, 2) => self.each(|v: u16| hand(v.into())),
            (TypeChar::Uint, 4) => self.each(|v: u32| hand(v.into())),
            (TypeChar::Uint, _) => self.each(|v: u64| hand(v as f64)),
            _ => Err("it holds text, but must hold numbers".into()),
        }
    }

    pub(super) fn integers(self) -> Reasoned<Vec<i64>> {
        match self.kind {
            (TypeChar::Int, 1) => self.items::<i8, _>(i64::from),
            (TypeChar::Int, 2) => self.items::<i16, _>(i64::from),
            (TypeChar::Int, 4) => self.items::<i32, _>(i64::from),
            (TypeChar::Int, _) => self.items(|v: i64| v),
            (TypeChar::Uint, 1) => self.items::<u8, _>(i64::from),
            (TypeChar::Uint, 2) => self.items::<u16, _>(i64::from),
            (TypeChar::Uint, 4) => self.items::<u32, _>(i64::from),
            (TypeChar::Uint, _) => {
                (self.items::<u64, _>(i64::try_from)?.into_iter().collect::<std::result::Result<_, _>>())
                    .map_err(|_| format!("an integer is too large; they go up to {}", i64::MAX))
            }
            _ => Err("it must hold integers".into()),
        }
    }

    /// Every item, in the order of the file.
    fn items<T: Deserialize, U>(self, item: impl Fn(T) -> U) -> Reasoned<Vec<U>> {
        let (mut items, most) = (Vec::new(), self.most);
        self.each(|v| push(&mut items, item(v), most))?;
        Ok(items)
    }

    fn texts<T: Deserialize>(self, text: impl Fn(T) -> String) -> Reasoned<Vec<String>> {
        let (mut texts, mut left, most) = (Vec::new(), self.most, self.most);
        self.each(|v| {
            let text = text(v);
            let size = size_of::<String>() + text.len();
            left = left.checked_sub(size as u64).ok_or_else(|| exceeded(most, "items"))?;
            texts.push(text);
            Ok(())
        })?;
        Ok(texts)
    }

    fn each<T: Deserialize>(self, mut hand: impl FnMut(T) -> Reasoned<()>) -> Reasoned<()> {
        let shape = self.file.shape().to_vec();
        for item in self.file.data().map_err(|e| e.to_string())? {
            hand(item.map_err(|e| match e.kind() {
                ErrorKind::UnexpectedEof => {
                    format!("the header promises the shape {shape:?}, but the data ends early: {e}")
                }
                _ => e.to_string(),
            })?)?;
        }
        Ok(())
    }
}

/// Adds an item to those in memory, which may be at most so many bytes.
fn push<T>(items: &mut Vec<T>, item: T, most: u64) -> Reasoned<()> {
    if (items.len() * size_of::<T>()) as u64 >= most {
        return Err(exceeded(most, "items"));
    }
    items.push(item);
    Ok(())
}

/// The first bytes of the file; an error if its header could exhaust memory or stack when parsed.
fn harmless_start(input: &mut impl Read) -> Reasoned<Vec<u8>> {
    let mut start = Vec::new();
    let short = |e: std::io::Error| format!("not an NPY array, or not a whole one: {e}");
    input.take(MAX_HEADER_BYTES as u64).read_to_end(&mut start).map_err(short)?;
    if !start.starts_with(b"\x93NUMPY") {
        return Err("not an NPY array: it does not start with `\\x93NUMPY`".into());
    }
    let (length, text) = match start[6..] {
        [1, _, a, b, ..] => (u32::from_le_bytes([a, b, 0, 0]), &start[10..]),
        [_, _, a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]), &start[12..]),
        _ => return Err("not a whole NPY array: it ends inside its header".into()),
    };
    let text = &text[..text.len().min(length as usize)];
    let brackets = text.iter().filter(|b| b"([{".contains(b)).count();
    let is_plain = brackets <= MAX_BRACKETS && depth(text).is_some_and(|depth| depth <= MAX_DEPTH);
    if length as usize > MAX_HEADER_BYTES - 12 || !is_plain {
        return Err(format!(
            "a header of {length} bytes, which no plain array has; store each column of records, or one matrix"
        ));
    }
    Ok(start)
}

/// The most brackets that are open at a time; None where quotes are not as NumPy writes them, so that it cannot be told which
/// brackets are text to the parser.
fn depth(header: &[u8]) -> Option<usize> {
    let text = header.trim_ascii_end();
    let has = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    if [&b"\\"[..], b"\n", b"\r", b"'''", b"\"\"\""].into_iter().any(has) {
        return None;
    }
    let (mut open, mut most, mut quote) = (0usize, 0, None);
    for &byte in text {
        match (byte, quote) {
            // In text, too: the parser may not get as far as to see that it is text.
            (b'(' | b'[' | b'{', _) => open += 1,
            (b')' | b']' | b'}', None) => open = open.saturating_sub(1),
            (b'\'' | b'"', None) => quote = Some(byte),
            (_, Some(opened)) if byte == opened => quote = None,
            _ => {}
        }
        most = most.max(open);
    }
    quote.is_none().then_some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_that_stay_open_are_refused_before_they_are_parsed() {
        // Twelve took half a second, and each more twice as long.
        for count in [6, 12, 28] {
            let shape = format!("(3,{}", "[".repeat(count));
            let why = Array::open(&array("<f8", &shape, "False", &[])[..]).err().expect("refused");
            assert!(why.starts_with("a header of "), "{why}");
        }
    }

    #[test]
    fn closing_brackets_in_text_close_nothing() {
        // 178 bytes took 4 seconds.
        for text in ["')))))'", r"'\')))))'", "''')))))'''", "\")))))\"", "')))))\n", "')))))"] {
            let shape = format!("(3, [{{ {text}, [{{ {text}, [{{ {text}, [{{");
            let why = Array::open(&array("<f8", &shape, "False", &[])[..]).err().expect("refused");
            assert!(why.starts_with("a header of "), "{text}: {why}");
        }
    }

    #[test]
    fn names_of_columns_may_have_quotes_and_closing_brackets() {
        let header = br#"{'descr': [('a)', '<f8'), ("it's", '<f8')], 'shape': (2,), }  "#;
        assert_eq!(depth(header), Some(3));
    }

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
    fn a_matrix_in_fortran_order_is_transposed() {
        let bytes = array("|u1", "(2, 3)", "True", &[1, 4, 2, 5, 3, 6]);
        let rows = Array::open(&bytes[..]).and_then(|a| a.matrix(Growing::new(0))).expect("a matrix");
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
    fn a_shape_that_exceeds_memory_is_an_error() {
        let bytes = array("<f8", "(4294967296, 4294967296, 16)", "False", &[]);
        assert!(Array::open(&bytes[..]).and_then(Array::numbers).is_err_and(|e| e.contains("too large")));
        let bytes = array("<f8", "(4611686018427387904, 4)", "False", &[]);
        assert!(Array::open(&bytes[..]).is_err_and(|e| e.contains("too large")));
        let bytes = array("<f8", "(1000000000, 1000)", "False", &[0; 64]);
        assert!(Array::open(&bytes[..]).and_then(Array::numbers).is_err_and(|e| e.contains("ends early")));
    }

    #[test]
    fn a_header_that_nests_without_end_is_refused() {
        let nested = |depth: usize| array("<f8", &"(".repeat(depth), "False", &[]);
        for depth in [1, 20, 100, 900, 20_000] {
            assert!(Array::open(&nested(depth)[..]).is_err(), "{depth}");
        }
        let mut long = b"\x93NUMPY\x02\x00".to_vec();
        long.extend(u32::MAX.to_le_bytes());
        assert!(Array::open(&long[..]).is_err_and(|e| e.contains("4294967295 bytes")));
    }
}
