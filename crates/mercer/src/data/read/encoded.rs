//! Tables whose columns are encoded as they are read.

use super::{EncodeMode, ReadOptions};
use crate::data::encode::{EncodeSettings, Encoded, Encoder, RawColumn, RawRows};
use crate::data::store::{Growing, Store};
use crate::data::{Rows, Table};
use crate::error::{Error, Result};

impl ReadOptions {
    /// What is known of the input columns before they are read; None if they must be numbers.
    pub(super) fn raw_columns(&self, names: Vec<String>) -> Option<Vec<RawColumn>> {
        if matches!(self.encode, EncodeMode::Off) {
            return None;
        }
        // A source without names has those of the columns that are wanted of it, where these have some.
        let has_names =
            |wanted: &Vec<String>| wanted.len() == names.len() && wanted.iter().all(|n| !n.is_empty());
        let names = self.columns.clone().filter(has_names).unwrap_or(names);
        Some(names.iter().map(|name| RawColumn::new(name)).collect())
    }

    /// Whether a missing value is an error.
    pub(super) fn refuses_missing(&self) -> bool {
        match &self.encode {
            EncodeMode::Off => true,
            EncodeMode::Keep => false,
            EncodeMode::Learn(settings) => settings.missing == crate::data::encode::Missing::Refuse,
            EncodeMode::Apply(encoder) => encoder.medians.is_none(),
        }
    }

    /// An array, encoded where it has missing values or columns that were named as categories, or as training rows were; None:
    /// it is to be used as it is.
    pub(super) fn encoded_array(
        &self,
        path: &str,
        rows: &Rows,
        names: &[String],
        named: bool,
    ) -> Result<Option<Table>> {
        let wanted = match &self.encode {
            EncodeMode::Off => false,
            EncodeMode::Apply(_) => true,
            EncodeMode::Keep => !rows.is_sparse() && rows.check_finite(None).is_err(),
            EncodeMode::Learn(settings) => {
                let missing = rows.check_finite(None).is_err() && !self.refuses_missing();
                !settings.categorical.is_empty() || ((missing || settings.keep_medians) && !rows.is_sparse())
            }
        };
        let Some(mut columns) = self.raw_columns(names.to_vec()).filter(|_| wanted) else { return Ok(None) };
        let Rows::Dense(dense) = rows else {
            return Err(Error::file(
                path,
                "the rows are sparse, but only dense ones are encoded\nhint: leave categorical out, or write a table",
            ));
        };
        let names = Some(names);
        let checked =
            if self.refuses_missing() { rows.check_finite(names) } else { rows.check_no_infinity(names) };
        checked.map_err(|e| Error::file(path, e.to_string()))?;
        let mut cells = Growing::like(dense.store());
        for row in dense.values().chunks_exact(rows.p()) {
            row.iter().zip(&mut columns).try_for_each(|(v, column)| cells.push(column.number(*v)))?;
        }
        // The columns of an array are numbers of the user's own making, row numbers or not.
        let options = Self { inputs: vec![String::new()], ..self.clone() };
        options.encoded(path, columns, cells.finish()?, rows.n(), named).map(Some)
    }

    /// The encoded table; one that holds only numbers stays as it is.
    pub(super) fn encoded(
        &self,
        path: &str,
        columns: Vec<RawColumn>,
        cells: Store<'static, f64>,
        n: usize,
        named: bool,
    ) -> Result<Table> {
        let in_file = |error: Error| match error {
            Error::Data(text) => Error::file(path, text),
            error => error,
        };
        let raw = RawRows::new(columns, cells, n).map_err(in_file)?;
        let (encoder, Encoded { rows, notes, warnings }) = match &self.encode {
            EncodeMode::Apply(encoder) => (encoder.clone(), encoder.apply(&raw).map_err(in_file)?),
            EncodeMode::Off => return plain(raw, named),
            EncodeMode::Keep => return kept(&raw, named).map_err(in_file),
            EncodeMode::Learn(settings) => {
                let settings = EncodeSettings {
                    by_place: !named,
                    keep_row_numbers: !self.inputs.is_empty(),
                    ..settings.clone()
                };
                if !raw.needs_encoding(&settings) {
                    return plain(raw, named);
                }
                Encoder::learn(&raw, &settings).map_err(in_file)?
            }
        };
        let names = encoder.names();
        Ok(Table { named, encoder: Some(encoder), notes, warnings, ..Table::of_rows(rows, names) })
    }
}

/// Numbers and gaps, which need no encoder.
fn kept(raw: &RawRows, named: bool) -> Result<Table> {
    let Encoded { rows, notes, .. } = raw.keep()?;
    Ok(Table { named, notes, ..Table::of_rows(rows, raw.names()) })
}

fn plain(raw: RawRows, named: bool) -> Result<Table> {
    let (names, n) = (raw.names(), raw.n());
    let rows = Rows::from_store(raw.into_store(), n, names.len())?;
    Ok(Table { named, ..Table::of_rows(rows, names) })
}
