//! Arrays ↔ rows, labels and matrices. Input rows are borrowed where they lie.

use std::sync::Arc;

use faer::{Mat, MatRef};
use mercer::basis::Precision;
use mercer::data::{Column, Task, Weights};
use mercer::{FeatureMap, Labels, Monitor, Result, Rows};
use numpy::ndarray::Dimension;
use numpy::{
    Element, PyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::gate::exception;

/// A vector of numbers.
type Numbers<'py> = PyReadonlyArray1<'py, f64>;

/// A matrix of numbers, row after row.
pub(crate) struct Matrix<'py, T: Element = f64>(PyReadonlyArray2<'py, T>);

impl<'py, T: Element> FromPyObject<'_, 'py> for Matrix<'py, T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let array: PyReadonlyArray2<'py, T> = object.extract()?;
        if array.is_c_contiguous() {
            Ok(Self(array))
        } else {
            Err(PyValueError::new_err("a matrix in C order is needed"))
        }
    }
}

impl<T: Element> Matrix<'_, T> {
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.0.shape()[0], self.0.shape()[1])
    }

    pub(crate) fn values(&self) -> PyResult<&[T]> {
        Ok(self.0.as_slice()?)
    }
}

impl Matrix<'_> {
    pub(crate) fn view(&self) -> PyResult<MatRef<'_, f64>> {
        let (n, p) = self.shape();
        Ok(MatRef::from_row_major_slice(self.values()?, n, p))
    }
}

/// A matrix on a GPU, row after row: the memory of CuPy, PyTorch and others, as their `__cuda_array_interface__` has it.
pub(crate) struct GpuMatrix {
    address: u64,
    shape: (usize, usize),
    precision: Precision,
    gpu: usize,
    /// Keeps the memory.
    owner: Arc<Py<PyAny>>,
}

impl<'py> FromPyObject<'_, 'py> for GpuMatrix {
    type Error = PyErr;

    /// The GPU's number, which the interface lacks, is the object's `gpu`.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let interface = object.getattr("__cuda_array_interface__")?;
        let interface = interface.cast::<PyDict>()?;
        let item = |name: &str| interface.get_item(name).map(|found| found.filter(|value| !value.is_none()));
        let needed = || PyValueError::new_err("a matrix of float64 or float32 in C order is needed on a GPU");
        let shape: (usize, usize) = item("shape")?.ok_or_else(needed)?.extract().map_err(|_| needed())?;
        let (address, _): (u64, bool) = item("data")?.ok_or_else(needed)?.extract()?;
        let precision = match item("typestr")?.ok_or_else(needed)?.extract::<String>()?.as_str() {
            "<f8" => Precision::Double,
            "<f4" => Precision::Single,
            _ => return Err(needed()),
        };
        if let Some(strides) = item("strides")? {
            let size = if precision == Precision::Double { 8 } else { 4 };
            let (row, column): (usize, usize) = strides.extract().map_err(|_| needed())?;
            // Of one row, or one column, a stride is no distance.
            if (row != shape.1 * size && shape.0 > 1) || (column != size && shape.1 > 1) {
                return Err(needed());
            }
        }
        if item("mask")?.is_some() {
            return Err(PyValueError::new_err("a matrix on a GPU must have no mask"));
        }
        let gpu = object.getattr("gpu")?.extract()?;
        Ok(Self { address, shape, precision, gpu, owner: Arc::new(object.to_owned().unbind()) })
    }
}

impl GpuMatrix {
    pub(crate) fn shape(&self) -> (usize, usize) {
        self.shape
    }

    pub(crate) fn gpu(&self) -> usize {
        self.gpu
    }

    fn rows(&self) -> Result<Rows<'static>> {
        // SAFETY: the array is alive as long as its owner, and who calls `fit` or `transform` does not write to the rows
        // meanwhile, as with rows of NumPy.
        unsafe { Rows::at_address(self.address, self.shape, self.precision, self.gpu, self.owner.clone()) }
    }

    /// Writes the features of rows that lie on the same GPU, of which there are as many as this has numbers.
    pub(crate) fn write(&self, map: &FeatureMap, rows: &Rows, monitor: &Monitor) -> Result<()> {
        // SAFETY: the array is alive as long as its owner, has the shape of the features, as the caller has seen, and was
        // made for them, so that nobody else knows of it.
        unsafe { map.transform_to_address(rows, self.address, self.precision, self.owner.clone(), monitor) }
    }
}

/// Rows as Python has them: a matrix of float64 or float32, here or on a GPU, or SciPy's CSR.
pub(crate) enum PyRows<'py> {
    OnGpu(GpuMatrix),
    Dense(Matrix<'py>),
    DenseF32(Matrix<'py, f32>),
    Sparse { indptr: Vec<usize>, indices: Vec<u32>, values: Numbers<'py>, p: usize },
}

impl<'py> FromPyObject<'_, 'py> for PyRows<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.hasattr("__cuda_array_interface__")? {
            return object.extract().map(Self::OnGpu);
        }
        if !object.hasattr("indptr")? {
            return object.extract().map(Self::Dense).or_else(|why| match object.extract() {
                Ok(matrix) => Ok(Self::DenseF32(matrix)),
                Err(_) => Err(why),
            });
        }
        let (_, p): (usize, usize) = object.getattr("shape")?.extract()?;
        // Refuses too many columns before their indices are cut to 32 bits.
        Rows::sparse(vec![0], Vec::new(), Vec::new(), p).map_err(exception)?;
        Ok(Self::Sparse {
            indptr: object.getattr("indptr")?.extract::<Indices>()?.to()?,
            indices: object.getattr("indices")?.extract::<Indices>()?.to()?,
            values: object.getattr("data")?.extract()?,
            p,
        })
    }
}

impl PyRows<'_> {
    pub(crate) fn rows(&self) -> PyResult<Rows<'_>> {
        let rows = match self {
            Self::OnGpu(matrix) => matrix.rows(),
            Self::Dense(matrix) => {
                let (n, p) = matrix.shape();
                Rows::dense(matrix.values()?, n, p)
            }
            Self::DenseF32(matrix) => {
                let (n, p) = matrix.shape();
                Rows::dense_f32(matrix.values()?, n, p)
            }
            Self::Sparse { indptr, indices, values, p } => {
                Rows::sparse(indptr, indices, values.as_slice()?, *p)
            }
        };
        rows.map_err(exception)
    }

    /// The number of the GPU that the rows lie on.
    pub(crate) fn gpu(&self) -> Option<usize> {
        match self {
            Self::OnGpu(matrix) => Some(matrix.gpu()),
            _ => None,
        }
    }

    pub(crate) fn to_owned(&self) -> PyResult<Rows<'static>> {
        let rows = self.rows()?;
        Ok(rows.select(&(0..rows.n()).collect::<Vec<_>>()))
    }
}

/// Whole numbers in either of the types that SciPy uses for indices.
#[derive(FromPyObject)]
enum Indices<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

impl Indices<'_> {
    fn to<T: TryFrom<i32> + TryFrom<i64>>(&self) -> PyResult<Vec<T>> {
        fn all<S: Copy, T: TryFrom<S>>(values: &[S]) -> Option<Vec<T>> {
            values.iter().map(|&v| T::try_from(v).ok()).collect()
        }
        let converted = match self {
            Self::Short(array) => all(array.as_slice()?),
            Self::Long(array) => all(array.as_slice()?),
        };
        converted
            .ok_or_else(|| PyValueError::new_err("an index of the sparse matrix is negative or too large"))
    }
}

/// A target as Python has it; what it means is decided by [`Labels::decide_with`].
#[derive(FromPyObject)]
pub(crate) enum Target<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Numbers(PyReadonlyArray1<'py, f64>),
    Several(Matrix<'py>),
    Text(Vec<String>),
}

impl Target<'_> {
    /// Classes or numbers; a choice that is not obvious is added to the warnings.
    pub(crate) fn labels(self, task: &str, warnings: &mut Vec<String>) -> PyResult<Labels> {
        let task: Task = task.parse().map_err(exception)?;
        if let Self::Several(matrix) = &self {
            return Labels::several(matrix.values()?.to_vec(), matrix.shape().1).map_err(exception);
        }
        Labels::decide_with(self.column()?, task, warnings).map_err(exception)
    }

    /// The column, of which it is not decided what it is.
    pub(crate) fn column(self) -> PyResult<Column> {
        Ok(match self {
            Self::Integers(array) => Column::Integers(array.as_slice()?.to_vec()),
            Self::Numbers(array) => Column::Numbers(array.as_slice()?.to_vec()),
            Self::Text(values) => Column::Text(values),
            Self::Several(_) => {
                return Err(PyValueError::new_err("one target is needed, but several were given"));
            }
        })
    }
}

/// What each row counts.
pub(crate) fn weights_of(weights: Option<Vec<f64>>) -> PyResult<Option<Weights>> {
    weights.map(|weights| Weights::new(weights).map_err(exception)).transpose()
}

/// Rows as a matrix, or as the parts of CSR in SciPy's order: values, indices, indptr. Their numbers are read-only.
pub(crate) fn python_rows<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyAny>> {
    let Rows::Sparse(csr) = rows else {
        let values = PyArray1::from_vec(py, rows.to_dense());
        return Ok(frozen(values.reshape([rows.n(), rows.p()])?).into_any());
    };
    let (mut values, mut indices, mut indptr) = (Vec::new(), Vec::new(), vec![0i64]);
    for i in 0..rows.n() {
        let (columns, stored) = csr.row(i);
        values.extend_from_slice(stored);
        indices.extend(columns.iter().map(|&j| i64::from(j)));
        indptr.push(values.len().cast_signed() as i64);
    }
    let values = frozen(PyArray1::from_vec(py, values));
    let parts = (values, PyArray1::from_vec(py, indices), PyArray1::from_vec(py, indptr));
    Ok(parts.into_pyobject(py)?.into_any())
}

/// An array that cannot be written into.
pub(crate) fn frozen<T: Element, D: Dimension>(array: Bound<'_, PyArray<T, D>>) -> Bound<'_, PyArray<T, D>> {
    array.readwrite().make_nonwriteable();
    array
}

/// Indices and ranks, in NumPy's own type for them.
pub(crate) fn whole(py: Python<'_>, values: Vec<usize>) -> Bound<'_, PyArray1<isize>> {
    PyArray1::from_vec(py, values.into_iter().map(usize::cast_signed).collect())
}

pub(crate) fn matrix_array<'py>(py: Python<'py>, matrix: &Mat<f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    /// Rows that are written together: a row at a time would touch every column's memory again for each.
    const ROWS: usize = 64;
    let (m, n) = (matrix.nrows(), matrix.ncols());
    let mut values = vec![0.0; m * n];
    for (at, rows) in values.chunks_mut((ROWS * n).max(1)).enumerate() {
        for j in 0..n {
            let column = matrix.col(j).get(at * ROWS..m.min((at + 1) * ROWS));
            rows.iter_mut().skip(j).step_by(n).zip(column.iter()).for_each(|(v, c)| *v = *c);
        }
    }
    PyArray1::from_vec(py, values).reshape([m, n])
}
