//! Rows of numbers, dense (float64 or float32) or sparse, behind one type.
//!
//! Dense rows lie row after row, so that a panel of rows is one contiguous slice; sparse rows are CSR. All may borrow
//! the caller's memory, and rows too many for it lie in a file. Float32 rows are read where they lie and widened a panel at
//! a time; arithmetic that needs all rows in float64 asks for [`Rows::to_f64`] once, at its public entry, and then looks at
//! them through `Rows::as_f64`.

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use faer::MatRef;

use super::gpu_view::GpuView;
use super::store::{Growing, OnGpu, Store, There};
use crate::cuda::{Buffer, Gpu};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::real::Precision;

/// The share of a GPU's memory that rows may take; more of them are copied there piece by piece.
const ROWS_SHARE: f64 = 0.7;

/// The most columns of sparse rows, whose indices have 32 bits.
pub(crate) const MOST_SPARSE_COLUMNS: u64 = 1 << 32;

/// n rows of p numbers.
///
/// ```
/// use mercer::Rows;
///
/// let rows = Rows::dense(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3)?;
/// assert_eq!((rows.n(), rows.p()), (2, 3));
/// assert_eq!(rows.select(&[1]).to_dense(), [4.0, 5.0, 6.0]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Rows<'a> {
    /// Every number is stored, as float64.
    Dense(Dense<'a>),
    /// Every number is stored, as float32.
    DenseF32(Dense<'a, f32>),
    /// Only the numbers that are not zero are stored.
    Sparse(Csr<'a>),
}

/// Row-major dense rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense<'a, T: Pod = f64> {
    values: Store<'a, T>,
    n: usize,
    p: usize,
}

/// Rows that are known to be float64.
#[derive(Clone, Copy, Debug)]
pub(crate) enum F64Rows<'r> {
    /// Every number is stored.
    Dense(&'r Dense<'r>),
    /// Only the numbers that are not zero are stored.
    Sparse(&'r Csr<'r>),
}

/// Compressed sparse rows: row i holds `indices[indptr[i]..indptr[i+1]]`, ascending, with their `values`.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<'a> {
    indptr: Cow<'a, [usize]>,
    indices: Store<'a, u32>,
    values: Store<'a, f64>,
    p: usize,
}

impl<'a> Rows<'a> {
    /// Dense rows from a row-major slice or vector of n·p numbers.
    pub fn dense(values: impl Into<Cow<'a, [f64]>>, n: usize, p: usize) -> Result<Self> {
        Self::from_store(Store::Memory(values.into()), n, p)
    }

    /// Dense float32 rows from a row-major slice or vector of n·p numbers.
    ///
    /// ```
    /// use mercer::Rows;
    ///
    /// let rows = Rows::dense_f32(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3)?;
    /// assert_eq!((rows.n(), rows.p()), (2, 3));
    /// assert_eq!(rows.select(&[1]).to_dense(), [4.0, 5.0, 6.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn dense_f32(values: impl Into<Cow<'a, [f32]>>, n: usize, p: usize) -> Result<Self> {
        Ok(Self::DenseF32(Dense::new(Store::Memory(values.into()), n, p)?))
    }

    /// Dense rows from numbers in memory or in a file.
    pub(crate) fn from_store(values: Store<'a, f64>, n: usize, p: usize) -> Result<Self> {
        Ok(Self::Dense(Dense::new(values, n, p)?))
    }

    /// Sparse rows from the three parts of CSR. Indices within a row must ascend.
    ///
    /// ```
    /// use mercer::Rows;
    ///
    /// let rows = Rows::sparse(vec![0, 1, 3], vec![2, 0, 1], vec![9.0, 7.0, 8.0], 3)?;
    /// assert_eq!(rows.to_dense(), [0.0, 0.0, 9.0, 7.0, 8.0, 0.0]);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn sparse(
        indptr: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [f64]>>,
        p: usize,
    ) -> Result<Self> {
        Self::from_sparse_store(indptr.into(), Store::Memory(indices.into()), Store::Memory(values.into()), p)
    }

    /// Sparse rows from numbers in memory or in a file.
    pub(crate) fn from_sparse_store(
        indptr: Cow<'a, [usize]>,
        indices: Store<'a, u32>,
        values: Store<'a, f64>,
        p: usize,
    ) -> Result<Self> {
        let csr = Csr { indptr, indices, values, p };
        csr.check()?;
        Ok(Self::Sparse(csr))
    }

    /// These rows on a device: on a GPU dense rows are copied there, and what is computed from all of them is computed there.
    /// Sparse rows are refused by a GPU that was asked for.
    pub fn on(self, device: Device) -> Result<Self> {
        if self.gpu_rows().is_some() {
            return Ok(self);
        }
        if let (Self::Sparse(_), Device::Cuda(_)) = (&self, device) {
            return Err(Error::argument(format!(
                "device = `{device}`, but the rows are sparse: a GPU computes with dense rows\n\
                 hint: compute on the CPU (device = cpu), or make the rows dense if they fit into memory"
            )));
        }
        let Some(gpu) = device.gpu()? else { return Ok(self) };
        // Rows that would leave too little for what is made of them are copied there piece by piece, on every pass.
        let fits = 8.0 * self.n_stored() as f64 <= ROWS_SHARE * gpu.available()? as f64;
        match self {
            Self::Dense(Dense { values, n, p }) => {
                let there =
                    if fits { There::Whole(Arc::new(gpu.upload(&values)?)) } else { There::InPieces(gpu) };
                Ok(Self::Dense(Dense { values: Store::Gpu(OnGpu::new(Some(values), there)), n, p }))
            }
            Self::DenseF32(Dense { values, n, p }) => {
                let there = if fits {
                    let (single, there) = (gpu.upload(&values)?, Arc::new(gpu.room(values.len())?));
                    gpu.widen(&single, &there)?;
                    There::Whole(there)
                } else {
                    There::InPieces(gpu)
                };
                Ok(Self::DenseF32(Dense { values: Store::Gpu(OnGpu::new(Some(values), there)), n, p }))
            }
            sparse @ Self::Sparse(_) => Ok(sparse),
        }
    }

    /// Where these rows lie.
    pub fn device(&self) -> Device {
        self.gpu().map_or(Device::Cpu, |gpu| Device::Cuda(gpu.ordinal))
    }

    /// Rows that lie on a GPU, n×p and row after row: others' memory.
    ///
    /// # Safety
    /// There must be n·p numbers of the precision at the address as long as `owner` lives, on the GPU with this number, and
    /// nobody may write to them meanwhile.
    #[expect(unsafe_code, reason = "an address is believed")]
    pub unsafe fn at_address(
        address: u64,
        (n, p): (usize, usize),
        precision: Precision,
        gpu: usize,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Rows<'static>> {
        let gpu = Gpu::open(gpu)?;
        let many = n.checked_mul(p).ok_or_else(|| Error::data("more rows than numbers have places"))?;
        // SAFETY: as the caller says.
        unsafe {
            match precision {
                Precision::Double => {
                    let there = Arc::new(gpu.borrow::<f64>(address, many, owner)?);
                    let values = Store::Gpu(OnGpu::new(None, There::Whole(there)));
                    Ok(Rows::Dense(Dense { values, n, p }))
                }
                Precision::Single => {
                    let single = gpu.borrow::<f32>(address, many, owner)?;
                    let there = Arc::new(gpu.room(many)?);
                    gpu.widen(&single, &there)?;
                    gpu.wait()?;
                    let values = Store::Gpu(OnGpu::new(None, There::Whole(there)));
                    Ok(Rows::DenseF32(Dense { values, n, p }))
                }
            }
        }
    }

    /// Dense float64 rows that were computed on a GPU.
    pub(crate) fn computed(there: Buffer<f64>, n: usize, p: usize) -> Rows<'static> {
        assert_eq!(there.len(), n * p);
        let values = Store::Gpu(OnGpu::new(None, There::Whole(Arc::new(there))));
        Rows::Dense(Dense { values, n, p })
    }

    /// The rows on their GPU; None where they are not on one.
    pub(crate) fn gpu_rows(&self) -> Option<GpuView<'_>> {
        let there = self.there()?;
        let whole = there.whole().map(|numbers| numbers.matrix(self.p(), self.n()));
        Some(GpuView::new(self, there.gpu(), whole))
    }

    /// The GPU that they are computed with on.
    pub(crate) fn gpu(&self) -> Option<&Arc<Gpu>> {
        self.there().map(There::gpu)
    }

    fn there(&self) -> Option<&There> {
        match self {
            Self::Dense(Dense { values: Store::Gpu(on), .. }) => Some(&on.there),
            Self::DenseF32(Dense { values: Store::Gpu(on), .. }) => Some(&on.there),
            _ => None,
        }
    }

    /// All numbers on a GPU, where they are there.
    fn gpu_numbers(&self) -> Option<&Buffer<f64>> {
        self.there().and_then(There::whole)
    }

    /// Brings rows that lie on a GPU alone here, so that looking at them cannot fail.
    pub(crate) fn fetch(&self) -> Result<()> {
        match self {
            Self::Dense(Dense { values: Store::Gpu(on), .. }) => on.fetch().map(drop),
            Self::DenseF32(Dense { values: Store::Gpu(on), .. }) => on.fetch().map(drop),
            _ => Ok(()),
        }
    }

    /// Whether the rows lie on a GPU alone.
    fn is_there_alone(&self) -> bool {
        match self {
            Self::Dense(Dense { values: Store::Gpu(on), .. }) => !on.is_here(),
            Self::DenseF32(Dense { values: Store::Gpu(on), .. }) => !on.is_here(),
            _ => false,
        }
    }

    /// Copies of rows that lie on a GPU alone; an error of the GPU looks as if there were no such rows.
    fn selected_there(&self, indices: &[usize]) -> Option<Rows<'static>> {
        let out = self.gpu_rows().filter(|_| self.is_there_alone())?.select(indices).ok()?;
        Some(Rows::Dense(Dense { values: out.to_vec().ok()?.into(), n: indices.len(), p: self.p() }))
    }

    /// Dense rows copied from a matrix, one sample a row.
    pub fn from_mat(mat: MatRef<'_, f64>) -> Rows<'static> {
        let values: Vec<f64> = (0..mat.nrows()).flat_map(|i| mat.row(i).iter().copied()).collect();
        Rows::Dense(Dense { values: values.into(), n: mat.nrows(), p: mat.ncols() })
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        match self {
            Self::Dense(d) => d.n,
            Self::DenseF32(d) => d.n,
            Self::Sparse(s) => s.indptr.len() - 1,
        }
    }

    /// Number of columns.
    pub fn p(&self) -> usize {
        match self {
            Self::Dense(d) => d.p,
            Self::DenseF32(d) => d.p,
            Self::Sparse(s) => s.p,
        }
    }

    /// What the numbers are stored in.
    pub fn precision(&self) -> Precision {
        match self {
            Self::DenseF32(_) => Precision::Single,
            Self::Dense(_) | Self::Sparse(_) => Precision::Double,
        }
    }

    /// These rows in float64: themselves, or a copy of float32 rows.
    pub fn to_f64(&self) -> Cow<'_, Rows<'_>> {
        match self {
            Self::DenseF32(d) => Cow::Owned(d.widened(0..d.n)),
            Self::Dense(_) | Self::Sparse(_) => Cow::Borrowed(self),
        }
    }

    /// These rows in float64, without a copy of those that are.
    pub(crate) fn into_f64(self) -> Self {
        match self {
            Self::DenseF32(d) => d.widened(0..d.n),
            rows => rows,
        }
    }

    /// The rows of a range in float64; only float32 rows are copied.
    ///
    /// # Panics
    /// If the range reaches past n.
    pub fn slice_f64(&self, range: Range<usize>) -> Rows<'_> {
        match self {
            Self::DenseF32(d) => d.widened(range),
            Self::Dense(_) | Self::Sparse(_) => self.slice(range),
        }
    }

    /// These rows, which the caller has seen to be in float64.
    ///
    /// # Panics
    /// If they are in float32.
    pub(crate) fn as_f64(&self) -> F64Rows<'_> {
        match self {
            Self::Dense(d) => F64Rows::Dense(d),
            Self::Sparse(s) => F64Rows::Sparse(s),
            Self::DenseF32(_) => unreachable!("float32 rows are widened before (`Rows::to_f64`)"),
        }
    }

    /// Whether only non-zero numbers are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// Copies of the rows with these indices, in this order, in float64.
    ///
    /// # Panics
    /// If an index is not below n.
    pub fn select(&self, indices: &[usize]) -> Rows<'static> {
        if let Some(selected) = self.selected_there(indices) {
            return selected;
        }
        match self {
            Self::Dense(d) => {
                let values: Vec<f64> = indices.iter().flat_map(|&i| d.row(i).iter().copied()).collect();
                Rows::Dense(Dense { values: values.into(), n: indices.len(), p: d.p })
            }
            Self::DenseF32(d) => {
                let row = |&i: &usize| d.row(i).iter().copied().map(f64::from);
                let values: Vec<f64> = indices.iter().flat_map(row).collect();
                Rows::Dense(Dense { values: values.into(), n: indices.len(), p: d.p })
            }
            Self::Sparse(s) => Rows::Sparse(Csr::of_rows(indices.iter().map(|&i| s.row(i)), s.p)),
        }
    }

    /// The rows of a range, without copying.
    ///
    /// # Panics
    /// If the range reaches past n.
    pub fn slice(&self, range: Range<usize>) -> Rows<'_> {
        match self {
            Self::Dense(d) => Rows::Dense(d.slice(range)),
            Self::DenseF32(d) => Rows::DenseF32(d.slice(range)),
            Self::Sparse(s) => Rows::Sparse(Csr {
                indptr: Cow::Borrowed(&s.indptr[range.start..=range.end]),
                indices: s.indices[..].into(),
                values: s.values[..].into(),
                p: s.p,
            }),
        }
    }

    /// All numbers, row-major, zeros included.
    pub fn to_dense(&self) -> Vec<f64> {
        match self {
            Self::Dense(d) => d.values.to_vec(),
            Self::DenseF32(d) => d.values.iter().copied().map(f64::from).collect(),
            Self::Sparse(s) => {
                let mut out = vec![0.0; self.n() * s.p];
                for i in 0..self.n() {
                    let (columns, values) = s.row(i);
                    for (&j, &v) in columns.iter().zip(values) {
                        out[i * s.p + j as usize] = v;
                    }
                }
                out
            }
        }
    }

    /// These rows with only their non-zero numbers stored.
    pub(crate) fn to_sparse(&self) -> Rows<'_> {
        match self {
            Self::Sparse(_) => self.slice(0..self.n()),
            Self::DenseF32(d) => {
                let wide = d.widened(0..d.n);
                let sparse = wide.to_sparse();
                Rows::Sparse(Csr::of_rows((0..d.n).map(|i| sparse.csr_row(i)), d.p))
            }
            Self::Dense(d) => {
                let mut indptr = vec![0];
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                for i in 0..d.n {
                    for (j, &v) in d.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                        columns.push(j as u32);
                        values.push(v);
                    }
                    indptr.push(columns.len());
                }
                Rows::Sparse(Csr {
                    indptr: indptr.into(),
                    indices: columns.into(),
                    values: values.into(),
                    p: d.p,
                })
            }
        }
    }

    /// Rows of one kind, one after the other.
    pub(crate) fn concatenated(parts: &[&Rows]) -> Result<Rows<'static>> {
        let Some(one) = parts.first() else { return Err(Error::data("no rows were given")) };
        let (p, n) = (one.p(), parts.iter().map(|part| part.n()).sum());
        if parts.iter().all(|part| matches!(part, Rows::DenseF32(_))) {
            let values = parts.iter().flat_map(|part| match part {
                Rows::DenseF32(d) => d.values(),
                Rows::Dense(_) | Rows::Sparse(_) => &[],
            });
            return Rows::dense_f32(values.copied().collect::<Vec<f32>>(), n, p);
        }
        if parts.iter().all(|part| part.is_sparse()) {
            let rows = parts.iter().flat_map(|part| match part {
                Rows::Sparse(s) => (0..part.n()).map(|i| s.row(i)).collect::<Vec<_>>(),
                Rows::Dense(_) | Rows::DenseF32(_) => Vec::new(),
            });
            return Ok(Rows::Sparse(Csr::of_rows(rows, p)));
        }
        Rows::dense(parts.iter().flat_map(|part| part.to_dense()).collect::<Vec<f64>>(), n, p)
    }

    /// These rows and more below them, stored as these are.
    pub(crate) fn joined(&self, more: &Rows) -> Rows<'static> {
        if let Self::Sparse(_) = self {
            let more = more.to_sparse();
            let rows = (0..self.n()).map(|i| self.csr_row(i)).chain((0..more.n()).map(|i| more.csr_row(i)));
            return Rows::Sparse(Csr::of_rows(rows, self.p()));
        }
        let values = [self.to_dense(), more.to_dense()].concat();
        Rows::Dense(Dense { values: values.into(), n: self.n() + more.n(), p: self.p() })
    }

    /// How many numbers are stored: all of a dense matrix, the non-zero ones of a sparse one.
    pub(crate) fn n_stored(&self) -> usize {
        match self {
            Self::Dense(_) | Self::DenseF32(_) => self.n() * self.p(),
            Self::Sparse(s) => s.stored().len(),
        }
    }

    /// The numbers that are stored, of rows in float64.
    pub(crate) fn stored(&self) -> &[f64] {
        match self.as_f64() {
            F64Rows::Dense(d) => &d.values,
            F64Rows::Sparse(s) => s.stored(),
        }
    }

    /// Columns and values of row i of sparse rows.
    fn csr_row(&self, i: usize) -> (&[u32], &[f64]) {
        let Self::Sparse(s) = self else { unreachable!("the rows are sparse") };
        s.row(i)
    }

    /// ‖x − y‖² of row i and another's row j, from their differences: equal distances are equal numbers.
    pub(crate) fn squared_distance(&self, i: usize, other: &Rows, j: usize) -> f64 {
        self.sum_of_differences(i, other, j, |d| d * d)
    }

    /// Σ term(x − y) over the columns of row i and another's row j, in their order; term(0) must be 0.
    pub(crate) fn sum_of_differences(
        &self,
        i: usize,
        other: &Rows,
        j: usize,
        term: impl Fn(f64) -> f64,
    ) -> f64 {
        match (self, other) {
            (Self::Dense(a), Rows::Dense(b)) => a.row(i).iter().zip(b.row(j)).map(|(x, y)| term(x - y)).sum(),
            (Self::Sparse(a), Rows::Sparse(b)) => {
                let mut sum = 0.0;
                walk(a.row(i), b.row(j), |_, x, y| sum += term(x - y));
                sum
            }
            // One of them is sparse and the other is not, or in float32.
            _ => {
                let (a, b) = (self.slice(i..i + 1).to_dense(), other.slice(j..j + 1).to_dense());
                a.iter().zip(&b).map(|(x, y)| term(x - y)).sum()
            }
        }
    }

    /// Calls f(column, a, b) for the columns in which row i or row k of sparse rows has a value, in their order.
    pub(crate) fn walk_pair(&self, i: usize, k: usize, f: impl FnMut(usize, f64, f64)) {
        let Self::Sparse(s) = self else { unreachable!("dense rows are zipped") };
        walk(s.row(i), s.row(k), f);
    }

    /// Copies with every number multiplied; by a power of two, if digits are to be kept.
    pub(crate) fn multiplied(&self, factor: f64) -> Rows<'static> {
        self.map(|v| v * factor)
    }

    /// A copy with a function of every stored number.
    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Rows<'static> {
        let mut rows = self.select(&(0..self.n()).collect::<Vec<_>>());
        let (Rows::Dense(Dense { values, .. }) | Rows::Sparse(Csr { values, .. })) = &mut rows else {
            unreachable!("copies are in float64")
        };
        *values = values.iter().map(|v| f(*v)).collect::<Vec<_>>().into();
        rows
    }

    /// An error that names the first NaN or infinity by row and column (counted from 1; by name where names are given).
    pub fn check_finite(&self, names: Option<&[String]>) -> Result<()> {
        if self.are_finite_there() {
            return Ok(());
        }
        self.check_values(names, |v| !v.is_finite(), "only finite numbers are allowed")
    }

    /// An error that names the first infinity, as [`check_finite`](Self::check_finite); NaN is a missing value.
    pub(crate) fn check_no_infinity(&self, names: Option<&[String]>) -> Result<()> {
        self.check_values(names, f64::is_infinite, "numbers, and NaN for missing values, are allowed")
    }

    fn check_values(&self, names: Option<&[String]>, bad: impl Fn(f64) -> bool, allowed: &str) -> Result<()> {
        self.first_where(bad).map_or(Ok(()), |found| Err(bad_value(found, names, allowed)))
    }

    /// The first number that is not finite: its row, its column and itself.
    pub(crate) fn first_not_finite(&self) -> Option<(usize, usize, f64)> {
        if self.are_finite_there() {
            return None;
        }
        self.first_where(|v| !v.is_finite())
    }

    /// Whether a GPU has seen that all are finite; false also where they are not on one.
    fn are_finite_there(&self) -> bool {
        let seen = |numbers: &Buffer<f64>| {
            let place = numbers.gpu().upload(&[u64::MAX])?;
            numbers.gpu().first_not_finite(numbers, &place)?;
            Ok::<_, Error>(place.first(1)?[0] == u64::MAX)
        };
        self.gpu_numbers().is_some_and(|numbers| seen(numbers).unwrap_or(false))
    }

    fn first_where(&self, bad: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        let any = match self {
            Self::DenseF32(d) => d.values.iter().any(|&v| bad(v.into())),
            Self::Dense(_) | Self::Sparse(_) => self.stored().iter().any(|&v| bad(v)),
        };
        if !any {
            return None;
        }
        (0..self.n()).find_map(|i| {
            let found = match self {
                Self::Dense(d) => d.first(i, &bad),
                Self::DenseF32(d) => d.first(i, &bad),
                Self::Sparse(s) => {
                    let (columns, values) = s.row(i);
                    let at = values.iter().position(|&v| bad(v));
                    at.map(|at| (columns[at] as usize, values[at]))
                }
            };
            found.map(|(j, v)| (i, j, v))
        })
    }
}

/// A number at this row and column is not allowed among the rows.
fn bad_value((i, j, v): (usize, usize, f64), names: Option<&[String]>, allowed: &str) -> Error {
    let column = names.and_then(|n| n.get(j)).map_or(String::new(), |name| format!(" (`{name}`)"));
    let what = if v.is_nan() { "NaN" } else { "infinity" };
    Error::data(format!(
        "Input contains {what} at row {}, column {}{column}; {allowed}\n\
         hint: fill or drop such rows first",
        i + 1,
        j + 1
    ))
}

/// A number at this row and column is not finite.
pub(crate) fn not_finite(found: (usize, usize, f64), names: Option<&[String]>) -> Error {
    bad_value(found, names, "only finite numbers are allowed")
}

/// The column at a place of a sparse row; beyond its end one that is larger than any.
#[inline(always)]
pub(crate) fn index_or_end(columns: &[u32], at: usize) -> u64 {
    columns.get(at).map_or(u64::MAX, |&j| u64::from(j))
}

/// Calls f(column, a, b) for the columns in which either of two sparse rows has a value, in their order.
fn walk((a, x): (&[u32], &[f64]), (b, y): (&[u32], &[f64]), mut f: impl FnMut(usize, f64, f64)) {
    let (mut at, mut other) = (0, 0);
    while at < a.len() || other < b.len() {
        let (left, right) = (index_or_end(a, at), index_or_end(b, other));
        let u = if left <= right { x[at] } else { 0.0 };
        let v = if right <= left { y[other] } else { 0.0 };
        f(left.min(right) as usize, u, v);
        at += usize::from(left <= right);
        other += usize::from(right <= left);
    }
}

impl<'a, T: Pod> Dense<'a, T> {
    fn new(values: Store<'a, T>, n: usize, p: usize) -> Result<Self> {
        if n.checked_mul(p) != Some(values.len()) {
            return Err(Error::data(format!("{} numbers given for {n} rows of {p} columns", values.len())));
        }
        Ok(Self { values, n, p })
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.p..(i + 1) * self.p]
    }

    /// All rows, one after the other.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The numbers of the rows in a range, one row after the other.
    pub(crate) fn panel(&self, range: Range<usize>) -> &[T] {
        &self.values[range.start * self.p..range.end * self.p]
    }

    /// The rows as a matrix, n×p.
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef::from_row_major_slice(&self.values, self.n, self.p)
    }

    /// Where the rows' numbers are.
    pub(crate) fn store(&self) -> &Store<'_, T> {
        &self.values
    }

    fn slice(&self, range: Range<usize>) -> Dense<'_, T> {
        let n = range.len();
        Dense { values: self.panel(range).into(), n, p: self.p }
    }
}

impl<T: Pod + Into<f64>> Dense<'_, T> {
    /// Copies of the rows of a range, in float64.
    fn widened(&self, range: Range<usize>) -> Rows<'static> {
        let n = range.len();
        let values: Vec<f64> = self.panel(range).iter().map(|v| (*v).into()).collect();
        Rows::Dense(Dense { values: values.into(), n, p: self.p })
    }

    /// Column and value of the first bad number of row i.
    fn first(&self, i: usize, bad: impl Fn(f64) -> bool) -> Option<(usize, f64)> {
        self.row(i).iter().map(|v| (*v).into()).enumerate().find(|(_, v)| bad(*v))
    }
}

impl Csr<'static> {
    /// Copies of rows, each its columns and values.
    fn of_rows<'r>(rows: impl Iterator<Item = (&'r [u32], &'r [f64])>, p: usize) -> Self {
        let mut indptr = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (columns, numbers) in rows {
            indices.extend_from_slice(columns);
            values.extend_from_slice(numbers);
            indptr.push(indices.len());
        }
        Self { indptr: indptr.into(), indices: indices.into(), values: values.into(), p }
    }
}

impl Csr<'_> {
    /// Where the rows' numbers are.
    pub(crate) fn store(&self) -> &Store<'_, f64> {
        &self.values
    }

    /// Indices yet to come, to be kept where these rows' are.
    pub(crate) fn growing_indices(&self) -> Growing<u32> {
        Growing::like(&self.indices)
    }

    /// The values of all rows.
    fn stored(&self) -> &[f64] {
        &self.values[self.indptr[0]..self.indptr[self.indptr.len() - 1]]
    }

    /// Number of columns.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Column indices and values of row i.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    fn check(&self) -> Result<()> {
        if self.p as u64 > MOST_SPARSE_COLUMNS {
            return Err(Error::data(format!(
                "sparse rows of {} columns; at most {MOST_SPARSE_COLUMNS} are possible\n\
                 hint: leave out the columns that no row has, or hash their names to fewer",
                self.p
            )));
        }
        let shapes_fit = self.indptr.first() == Some(&0)
            && self.indptr.last() == Some(&self.indices.len())
            && self.indices.len() == self.values.len()
            && self.indptr.windows(2).all(|w| w[0] <= w[1]);
        if !shapes_fit {
            return Err(Error::data(
                "sparse rows do not fit together: indptr must start at 0, never fall and end at the number of values",
            ));
        }
        for i in 0..self.indptr.len() - 1 {
            let (columns, _) = self.row(i);
            let ascending = columns.windows(2).all(|w| w[0] < w[1]);
            if !ascending || columns.last().is_some_and(|&j| j as usize >= self.p) {
                return Err(Error::data(format!(
                    "sparse row {}: column indices must ascend and lie below {}",
                    i + 1,
                    self.p
                )));
            }
        }
        Ok(())
    }
}
