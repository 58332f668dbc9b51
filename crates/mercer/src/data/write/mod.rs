//! Writers of features. The file extension chooses the format.
//!
//! Files are written atomically: under a temporary name in the same folder, renamed when complete. Numbers in text are the
//! shortest that read back as the same bits.

mod typed_column;

use std::collections::BTreeSet;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::ipc::writer::FileWriter;
use faer::MatRef;
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as ParquetCompression;
use parquet::file::properties::WriterProperties;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use self::typed_column::{TypedColumn, write_array};
use super::format::Format;
use crate::error::{Error, Result};
use crate::whole_file::{finish, folder, temporary};

/// Rows per batch in Parquet and Arrow files.
const BATCH_ROWS: usize = 1 << 14;

/// An error unless a file of this name can be written: a known format in an existing folder. To be called before long work.
///
/// ```
/// use mercer::data::write::check_output;
///
/// assert!(check_output("features.parquet").is_ok());
/// let error = check_output("features.xlsx").expect_err("not a format");
/// assert!(error.to_string().contains(".csv, .tsv"));
/// ```
pub fn check_output(path: &str) -> Result<()> {
    Format::of(path)?;
    check_place(path)
}

/// An error unless a file of any format can be written there. To be called before long work.
///
/// ```
/// use mercer::data::write::check_place;
///
/// assert!(check_place("model.mercer").is_ok());
/// assert!(check_place("no-such-folder/model.mercer").is_err());
/// ```
pub fn check_place(path: &str) -> Result<()> {
    let place = Path::new(path);
    if path.is_empty() || place.is_dir() {
        return Err(Error::file(path, "this is a folder; name a file in it"));
    }
    // A device or a pipe would be replaced by the file, not written to.
    if place.exists() && !place.is_file() {
        return Err(Error::file(
            path,
            "this is not a regular file, so it cannot be replaced; name another file",
        ));
    }
    let folder = folder(place);
    if !folder.is_dir() {
        let reason = format!("the folder `{}` does not exist; make it first", folder.display());
        return Err(Error::file(path, reason));
    }
    // Permissions are checked by creating a temporary file.
    temporary(path.as_ref()).map(drop)
}

/// Writes a text file atomically.
///
/// ```
/// use mercer::data::write::write_text;
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("page.html").display().to_string();
/// write_text(&path, "<p>hello")?;
/// assert_eq!(std::fs::read_to_string(&path).expect("written"), "<p>hello");
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn write_text(path: &str, text: &str) -> Result<()> {
    check_place(path)?;
    let mut file = temporary(path.as_ref())?;
    file.write_all(text.as_bytes()).map_err(|e| Error::io(path, e))?;
    finish(file, path.as_ref())
}

/// An error unless a file of this name can hold this many text columns next to the features.
///
/// ```
/// use mercer::data::write::check_kept;
///
/// assert!(check_kept("features.csv", 3).is_ok());
/// assert!(check_kept("features.npy", 1).is_err());
/// ```
pub fn check_kept(path: &str, n_kept: usize) -> Result<()> {
    match (Format::of(path)?, n_kept) {
        (Format::Npy, 1..) => {
            Err(Error::file(path, "NPY holds numbers only; use CSV, Parquet or NPZ to keep columns"))
        }
        (Format::Libsvm { .. }, 2..) => Err(Error::file(
            path,
            format!(
                "LIBSVM has room for one kept column, the label, but {n_kept} are kept; use CSV or Parquet"
            ),
        )),
        _ => Ok(()),
    }
}

/// Writes the kept columns and then n×q features. NPZ holds the features as `X` and each kept column under its name; LIBSVM
/// takes one kept column as the label.
///
/// ```
/// use faer::mat;
/// use mercer::data::write::write_features;
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("features.csv").display().to_string();
/// let z = mat![[0.5, -1.0], [0.1, 2.0]];
/// let kept = [("id".to_string(), vec!["a".to_string(), "b".to_string()])];
/// write_features(&path, &["z1".into(), "z2".into()], z.as_ref(), &kept)?;
/// assert_eq!(std::fs::read_to_string(&path).expect("written"), "id,z1,z2\na,0.5,-1\nb,0.1,2\n");
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn write_features(
    path: &str,
    names: &[String],
    values: MatRef<'_, f64>,
    kept: &[(String, Vec<String>)],
) -> Result<()> {
    check_output(path)?;
    check_kept(path, kept.len())?;
    let table = Output::new(names, values, kept)?;
    let mut file = temporary(path.as_ref())?;
    let mut out = BufWriter::new(file.as_file_mut());
    table.write(Format::of(path)?, &mut out).and_then(|()| out.flush()).map_err(|e| Error::io(path, e))?;
    drop(out);
    finish(file, path.as_ref())
}

/// Writes kept columns and features as CSV to any stream, such as standard output.
///
/// ```
/// use faer::mat;
/// use mercer::data::write::write_csv;
///
/// let mut out = Vec::new();
/// write_csv(&mut out, &["z1".into()], mat![[0.1], [1e-7]].as_ref(), &[])?;
/// assert_eq!(out, b"z1\n0.1\n1e-7\n");
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn write_csv(
    out: &mut dyn Write,
    names: &[String],
    values: MatRef<'_, f64>,
    kept: &[(String, Vec<String>)],
) -> Result<()> {
    let table = Output::new(names, values, kept)?;
    table.write_text(b',', out).map_err(|e| Error::io("output", e))
}

/// What is to be written, checked.
struct Output<'a> {
    names: &'a [String],
    values: MatRef<'a, f64>,
    kept: &'a [(String, Vec<String>)],
}

impl<'a> Output<'a> {
    fn new(names: &'a [String], values: MatRef<'a, f64>, kept: &'a [(String, Vec<String>)]) -> Result<Self> {
        if names.len() != values.ncols() {
            return Err(Error::argument(format!("{} names for {} columns", names.len(), values.ncols())));
        }
        if let Some((name, column)) = kept.iter().find(|(_, column)| column.len() != values.nrows()) {
            let n = values.nrows();
            return Err(Error::argument(format!(
                "kept column `{name}` has {} values for {n} rows",
                column.len()
            )));
        }
        let table = Self { names, values, kept };
        let mut seen = BTreeSet::new();
        if let Some(name) = table.all_names().find(|name| !seen.insert(*name)) {
            return Err(Error::argument(format!(
                "two columns are called `{name}`; rename or do not keep one of them"
            )));
        }
        Ok(table)
    }

    fn all_names(&self) -> impl Iterator<Item = &str> {
        self.kept.iter().map(|(name, _)| name).chain(self.names).map(String::as_str)
    }

    fn write<W: Write + Seek + Send>(&self, format: Format, out: &mut W) -> std::io::Result<()> {
        match format {
            Format::Text { separator, gzip } => zipped(gzip, out, |out| self.write_text(separator, out)),
            Format::Libsvm { gzip } => zipped(gzip, out, |out| self.write_libsvm(out)),
            Format::Parquet => self.write_parquet(out),
            Format::Arrow => self.write_arrow(out),
            Format::Npy => self.write_npy(out),
            Format::Npz => self.write_npz(out),
        }
    }

    fn write_text(&self, separator: u8, out: &mut dyn Write) -> std::io::Result<()> {
        self.write_records(separator, out).map_err(|e| match e.into_kind() {
            // Unchanged, so that a caller can recognise a closed pipe.
            csv::ErrorKind::Io(e) => e,
            e => std::io::Error::other(format!("{e:?}")),
        })
    }

    fn write_records(&self, separator: u8, out: &mut dyn Write) -> csv::Result<()> {
        let mut writer = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
        writer.write_record(self.all_names())?;
        let mut number = String::new();
        for i in 0..self.values.nrows() {
            for (_, column) in self.kept {
                writer.write_field(&column[i])?;
            }
            for v in self.values.row(i).iter() {
                shortest(*v, &mut number);
                writer.write_field(&number)?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        Ok(writer.flush()?)
    }

    /// Without a kept column the label is 0. Zeros are omitted, except in the last column, which fixes the number of columns.
    fn write_libsvm(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut number = String::new();
        for i in 0..self.values.nrows() {
            let label = self.kept.first().map_or("0", |(_, column)| column[i].trim());
            if label.is_empty() || label.contains(|c: char| c.is_whitespace() || c == ':' || c == '#') {
                let reason = format!("row {}: `{label}` cannot be a LIBSVM label; use CSV", i + 1);
                return Err(std::io::Error::other(reason));
            }
            out.write_all(label.as_bytes())?;
            for (j, v) in self.values.row(i).iter().enumerate() {
                if *v != 0.0 || j + 1 == self.values.ncols() {
                    shortest(*v, &mut number);
                    write!(out, " {}:{number}", j + 1)?;
                }
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn write_parquet<W: Write + Send>(&self, out: &mut W) -> std::io::Result<()> {
        let kept = self.typed();
        let schema = self.schema(&kept);
        let properties = WriterProperties::builder().set_compression(ParquetCompression::SNAPPY).build();
        let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
        for batch in self.batches(&schema, &kept) {
            writer.write(&batch.map_err(std::io::Error::other)?)?;
        }
        writer.close()?;
        Ok(())
    }

    fn write_arrow<W: Write>(&self, out: &mut W) -> std::io::Result<()> {
        let kept = self.typed();
        let schema = self.schema(&kept);
        let mut writer = FileWriter::try_new(out, &schema).map_err(std::io::Error::other)?;
        for batch in self.batches(&schema, &kept) {
            batch.and_then(|batch| writer.write(&batch)).map_err(std::io::Error::other)?;
        }
        writer.finish().map_err(std::io::Error::other)
    }

    fn typed(&self) -> Vec<TypedColumn<'a>> {
        self.kept.iter().map(|(_, column)| TypedColumn::of(column)).collect()
    }

    fn schema(&self, kept: &[TypedColumn]) -> Arc<Schema> {
        let kept =
            self.kept.iter().zip(kept).map(|((name, _), column)| Field::new(name, column.kind(), false));
        let features = self.names.iter().map(|name| Field::new(name, DataType::Float64, false));
        Arc::new(Schema::new(kept.chain(features).collect::<Vec<_>>()))
    }

    fn batches(
        &self,
        schema: &Arc<Schema>,
        kept: &[TypedColumn],
    ) -> impl Iterator<Item = std::result::Result<RecordBatch, arrow::error::ArrowError>> {
        let n = self.values.nrows();
        (0..n).step_by(BATCH_ROWS).map(move |start| {
            let count = BATCH_ROWS.min(n - start);
            let part = self.values.subrows(start, count);
            let feature =
                |j| Arc::new(Float64Array::from_iter_values(part.col(j).iter().copied())) as ArrayRef;
            let kept = kept.iter().map(|column| column.array(start, count));
            RecordBatch::try_new(schema.clone(), kept.chain((0..part.ncols()).map(feature)).collect())
        })
    }

    fn write_npy(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let (n, q) = (self.values.nrows(), self.values.ncols());
        let rows = (0..n).flat_map(|i| self.values.row(i).iter().copied());
        write_array(out, &[n as u64, q as u64], rows)
    }

    fn write_npz<W: Write + Seek>(&self, out: &mut W) -> std::io::Result<()> {
        let mut zip = ZipWriter::new(out);
        // `large_file`: an array may be larger than 4 GiB.
        let options = SimpleFileOptions::default().large_file(true);
        zip.start_file("X.npy", options)?;
        let mut inside = BufWriter::new(&mut zip);
        self.write_npy(&mut inside)?;
        inside.flush()?;
        drop(inside);
        for ((name, _), column) in self.kept.iter().zip(self.typed()) {
            zip.start_file(format!("{name}.npy"), options)?;
            column.write_npy(&mut zip)?;
        }
        zip.finish()?;
        Ok(())
    }
}

fn zipped(
    gzip: bool,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    if !gzip {
        return write(out);
    }
    let mut encoder = GzEncoder::new(out, Compression::default());
    write(&mut encoder)?;
    encoder.finish().map(|_| ())
}

/// The shortest digits that read back as the same bits; with an exponent where plain digits would be long.
fn shortest(v: f64, text: &mut String) {
    use std::fmt::Write as _;
    text.clear();
    let plain = v == 0.0 || (1e-5..1e16).contains(&v.abs()) || !v.is_finite();
    // Writing to a String cannot fail.
    let _ = if plain { write!(text, "{v}") } else { write!(text, "{v:e}") };
}
