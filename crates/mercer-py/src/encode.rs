//! Tables of mixed columns: collected, encoded, handed back as blocks of rows.

use mercer::Rows;
use mercer::data::encode::{EncodeSettings, Encoded, Encoder, RawRows, RawTable as Collected, RawValues};
use mercer::data::sniff::{SAMPLE_BYTES, Style};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::gate::{exception, memory};

/// Rows in a block.
const BLOCK: usize = 65_536;

/// Encoder as JSON, names of the encoded columns, notes, warnings.
type Learned = (String, Vec<String>, Vec<String>, Vec<String>);

/// Values of a column: numbers, days of dates, or text.
#[derive(FromPyObject)]
enum Values<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Texts(Vec<Option<String>>),
}

/// Rows of mixed columns, collected batch by batch; rows beyond half the memory budget go to a temporary file.
#[pyclass(module = "mercer._core")]
pub(crate) struct RawTable {
    names: Vec<String>,
    collected: Option<Collected>,
    rows: Option<RawRows>,
}

#[pymethods]
impl RawTable {
    #[new]
    fn new(py: Python<'_>, names: Vec<String>) -> PyResult<Self> {
        let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
        let collected = Some(Collected::new(&borrowed, Some(memory(py, None)? / 2)));
        Ok(Self { names, collected, rows: None })
    }

    /// Adds rows: for every column its kind (numbers, dates, text, words or categories) and values.
    fn push(&mut self, columns: Vec<(String, Values<'_>)>) -> PyResult<()> {
        let mut values = Vec::with_capacity(columns.len());
        for (kind, column) in columns {
            values.push(match (kind.as_str(), column) {
                ("numbers", Values::Numbers(array)) => RawValues::Numbers(array.as_slice()?.to_vec()),
                ("dates", Values::Numbers(array)) => RawValues::Dates(array.as_slice()?.to_vec()),
                ("text", Values::Texts(texts)) => RawValues::Texts(texts),
                ("words", Values::Texts(texts)) => RawValues::Words(texts),
                ("categories", Values::Texts(texts)) => RawValues::Categories(texts),
                (kind, _) => {
                    return Err(PyValueError::new_err(format!("`{kind}` is no kind of such values")));
                }
            });
        }
        match &mut self.collected {
            Some(collected) => collected.push(values).map_err(exception),
            None => Err(PyValueError::new_err("the table is finished")),
        }
    }

    /// Learns an encoder and gives the encoded rows to `sink`, block after block.
    fn learn(
        &mut self,
        py: Python<'_>,
        categorical: Vec<String>,
        missing: &str,
        keep_row_numbers: bool,
        sink: &Bound<'_, PyAny>,
    ) -> PyResult<Learned> {
        let missing = missing.parse().map_err(exception)?;
        let settings = EncodeSettings { categorical, missing, keep_row_numbers, ..EncodeSettings::default() };
        let raw = self.finished()?;
        let learned = py.detach(|| Encoder::learn(raw, &settings));
        let (encoder, Encoded { rows, notes, warnings }) = learned.map_err(exception)?;
        pour(py, &rows, sink)?;
        Ok((encoder.to_json(), encoder.names(), notes, warnings))
    }

    /// Encodes the rows as an encoder (JSON) says, gives them to `sink`, and returns notes.
    fn apply(&mut self, py: Python<'_>, encoder: &str, sink: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let mut encoder = Encoder::from_json(encoder).map_err(exception)?;
        if encoder.by_place && self.names.len() == encoder.columns.len() {
            encoder
                .columns
                .iter_mut()
                .zip(&self.names)
                .for_each(|(column, name)| column.name.clone_from(name));
        }
        let raw = self.finished()?;
        let Encoded { rows, notes, .. } = py.detach(|| encoder.apply(raw)).map_err(exception)?;
        pour(py, &rows, sink)?;
        Ok(notes)
    }
}

impl RawTable {
    fn finished(&mut self) -> PyResult<&RawRows> {
        if let Some(collected) = self.collected.take() {
            self.rows = Some(collected.finish().map_err(exception)?);
        }
        self.rows.as_ref().ok_or_else(|| PyValueError::new_err("the table has no rows"))
    }
}

fn pour(py: Python<'_>, rows: &Rows, sink: &Bound<'_, PyAny>) -> PyResult<()> {
    for start in (0..rows.n()).step_by(BLOCK) {
        let block = rows.slice(start..rows.n().min(start + BLOCK));
        sink.call1((PyArray1::from_vec(py, block.to_dense()).reshape([block.n(), block.p()])?,))?;
    }
    Ok(())
}

/// Separator and decimal sign of a text table, from its first bytes. `usual`: the separator of its file extension.
#[pyfunction]
#[pyo3(signature = (sample, usual, *, sep=None, decimal=None))]
pub(crate) fn sniff(
    sample: &[u8],
    usual: &str,
    sep: Option<&str>,
    decimal: Option<&str>,
) -> PyResult<(String, String)> {
    let usual = Style::separator(usual).map_err(exception)?;
    let sep = sep.map(Style::separator).transpose().map_err(exception)?;
    let decimal = decimal.map(Style::decimal).transpose().map_err(exception)?;
    let sample = &sample[..sample.len().min(SAMPLE_BYTES as usize)];
    let style = Style::of(sample, usual, sep, decimal);
    Ok((char::from(style.separator).into(), char::from(style.decimal).into()))
}

/// Columns of the source that an encoder (JSON) needs, whether they go by place, and the columns that it makes.
#[pyfunction]
pub(crate) fn encoder_columns(encoder: &str) -> PyResult<(Vec<String>, bool, Vec<String>)> {
    let encoder = Encoder::from_json(encoder).map_err(exception)?;
    Ok((encoder.inputs(), encoder.by_place, encoder.names()))
}

/// What an encoder (JSON) makes of columns that are not just numbers, in words.
#[pyfunction]
pub(crate) fn encoder_words(encoder: &str) -> PyResult<Vec<(String, String)>> {
    Ok(Encoder::from_json(encoder).map_err(exception)?.describe())
}
