//! NPZ: a zip of named arrays. Rows are `X`, or the first matrix, or the sparse rows of `scipy.sparse.save_npz`; the
//! target is `target` or `y`.
//!
//! cost    as for NPY; a target and the parts of sparse rows, which are in memory, share the budget
//! source  `numpy.savez`; `scipy.sparse.save_npz` for `data`, `indices`, `indptr` and `shape`

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use zip::ZipArchive;

use super::ReadOptions;
use super::columns::{MOST_COLUMNS, Source};
use super::npy::{Array, Reasoned};
use crate::data::{Column, Rows};
use crate::error::{Error, Result};

/// What an array may take at least, however small the budget.
const LEAST_BYTES: u64 = 1 << 20;

pub(super) fn read<'a>(path: &'a str, file: File, options: &ReadOptions) -> Result<Source<'a>> {
    let mut arrays =
        Arrays::open(file, options.memory.unwrap_or(u64::MAX)).map_err(|what| Error::file(path, what))?;
    let within = |name: &str, what: String| Error::file(path, format!("array `{name}`: {what}"));
    let rows = if ["data", "indices", "indptr", "shape"].iter().all(|name| arrays.has(name)) {
        sparse(&mut arrays).map_err(|what| Error::file(path, what))?
    } else {
        let name = arrays.matrix_name().map_err(|what| Error::file(path, what))?;
        arrays.get(&name).and_then(|a| a.matrix(options.growing())).map_err(|what| within(&name, what))?
    };
    let Some(name) = ["target", "y"].into_iter().find(|name| arrays.has(name)) else {
        if options.target.is_some() {
            let reason = format!("there is no array `target` or `y`; the arrays are {}", arrays.list());
            return Err(Error::file(path, reason));
        }
        return Ok(Source::new(path, rows));
    };
    let target = arrays.get(name).and_then(Array::column).map_err(|what| within(name, what))?;
    if target.len() != rows.n() {
        return Err(within(name, format!("{} values for {} rows", target.len(), rows.n())));
    }
    Ok(Source { target: Some(target), ..Source::new(path, rows) })
}

/// The layout of `scipy.sparse.save_npz`: `data`, `indices`, `indptr`, `shape`.
fn sparse<R: Read + Seek>(arrays: &mut Arrays<R>) -> Reasoned<Rows<'static>> {
    if arrays.has("format")
        && let Column::Text(format) = arrays.get("format")?.column()?
        && format != ["csr"]
    {
        return Err(format!("a sparse matrix of the format {format:?}; store it by rows: `.tocsr()`"));
    }
    let shape = whole(&arrays.get("shape")?.integers()?)?;
    let [n, p] = shape[..] else {
        return Err(format!("the shape of a matrix has 2 numbers, not {}", shape.len()));
    };
    if p > MOST_COLUMNS {
        return Err(format!("{p} columns; at most {MOST_COLUMNS} can be read"));
    }
    let indptr = whole(&arrays.get("indptr")?.integers()?)?;
    if indptr.len().checked_sub(1) != Some(n) {
        return Err(format!("`indptr` holds {} numbers, but {n} rows need one more than {n}", indptr.len()));
    }
    let indices = whole(&arrays.get("indices")?.integers()?)?;
    let narrow = |j: &usize| u32::try_from(*j).map_err(|_| format!("column index {j} is too large"));
    let indices: Vec<u32> = indices.iter().map(narrow).collect::<Reasoned<_>>()?;
    let values = arrays.get("data")?.numbers()?;
    let (indices, values) = ascending(&indptr, indices, values)?;
    Rows::sparse(indptr, indices, values, p).map_err(|e| e.to_string())
}

fn whole(values: &[i64]) -> Reasoned<Vec<usize>> {
    let one = |v: &i64| usize::try_from(*v).map_err(|_| format!("{v}, where a count or an index must be"));
    values.iter().map(one).collect()
}

/// `scipy.sparse` may leave the indices of a row unsorted.
fn ascending(
    indptr: &[usize],
    mut indices: Vec<u32>,
    mut values: Vec<f64>,
) -> Reasoned<(Vec<u32>, Vec<f64>)> {
    for w in indptr.windows(2) {
        let range = w[0]..w[1];
        let (Some(columns), Some(stored)) = (indices.get_mut(range.clone()), values.get_mut(range)) else {
            return Err("sparse rows do not fit together: `indptr` points past the values".into());
        };
        if !columns.is_sorted() {
            let mut pairs: Vec<(u32, f64)> = columns.iter().copied().zip(stored.iter().copied()).collect();
            pairs.sort_by_key(|(j, _)| *j);
            for ((j, v), pair) in columns.iter_mut().zip(stored).zip(pairs) {
                (*j, *v) = pair;
            }
        }
    }
    Ok((indices, values))
}

/// The arrays of an NPZ file.
struct Arrays<R> {
    zip: ZipArchive<R>,
    names: Vec<String>,
    /// Bytes that the items of an array may take where they are held in memory.
    most: u64,
}

impl Arrays<BufReader<File>> {
    fn open(file: File, memory: u64) -> Reasoned<Self> {
        let zip = ZipArchive::new(BufReader::new(file))
            .map_err(|e| format!("not an NPZ file, or not a whole one: {e}"))?;
        let names =
            zip.file_names().flatten().filter_map(|name| Some(name.strip_suffix(".npy")?.to_string()));
        let names = names.collect();
        // Indices are copied while they are checked.
        Ok(Self { zip, names, most: (memory / 8).max(LEAST_BYTES) })
    }
}

impl<R: Read + Seek> Arrays<R> {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    fn list(&self) -> String {
        self.names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
    }

    fn get(&mut self, name: &str) -> Reasoned<Array<impl Read + '_>> {
        let most = self.most;
        let entry = self.zip.by_name(&format!("{name}.npy")).map_err(|e| e.to_string())?;
        Ok(Array::open(entry)?.within(most))
    }

    /// `X`, or the first array that is a matrix.
    fn matrix_name(&mut self) -> Reasoned<String> {
        if self.has("X") {
            return Ok("X".into());
        }
        for name in self.names.clone() {
            if self.get(&name).is_ok_and(|array| array.is_matrix()) {
                return Ok(name);
            }
        }
        Err(format!("there is no array `X` and no other matrix; the arrays are {}", self.list()))
    }
}
