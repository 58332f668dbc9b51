//! Arrays ↔ rows, labels and maps. Input rows are borrowed where they lie.

use faer::{Mat, MatRef};
use mercer::basis::{Expansion, Landmarks};
use mercer::data::{Column, Either, Scaling, Single, Task};
use mercer::{FeatureMap, Kernel, Labels, Rows, Shape};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
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

/// Rows in either precision.
#[derive(FromPyObject)]
pub(crate) enum EitherRows<'py> {
    Single(Matrix<'py, f32>),
    Double(PyRows<'py>),
}

/// The same as Rust has them.
pub(crate) enum OfEither<'a> {
    Single(Single<'a>),
    Double(Rows<'a>),
}

impl EitherRows<'_> {
    pub(crate) fn rows(&self) -> PyResult<OfEither<'_>> {
        Ok(match self {
            Self::Single(matrix) => OfEither::Single(matrix.rows()?),
            Self::Double(rows) => OfEither::Double(rows.rows()?),
        })
    }
}

impl OfEither<'_> {
    pub(crate) fn view(&self) -> Either<'_> {
        match self {
            Self::Single(rows) => rows.into(),
            Self::Double(rows) => rows.into(),
        }
    }
}

impl Matrix<'_, f32> {
    pub(crate) fn rows(&self) -> PyResult<Single<'_>> {
        let (n, p) = self.shape();
        Single::new(self.values()?, n, p).map_err(exception)
    }
}

/// Rows as Python has them: a matrix of numbers or SciPy's CSR.
pub(crate) enum PyRows<'py> {
    Dense(Matrix<'py>),
    Sparse { indptr: Vec<usize>, indices: Vec<u32>, values: Numbers<'py>, p: usize },
}

impl<'py> FromPyObject<'_, 'py> for PyRows<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if !object.hasattr("indptr")? {
            return object.extract().map(Self::Dense);
        }
        let (_, p): (usize, usize) = object.getattr("shape")?.extract()?;
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
            Self::Dense(matrix) => {
                let (n, p) = matrix.shape();
                Rows::dense(matrix.values()?, n, p)
            }
            Self::Sparse { indptr, indices, values, p } => {
                Rows::sparse(indptr, indices, values.as_slice()?, *p)
            }
        };
        rows.map_err(exception)
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

/// A target as Python has it; what it means is decided by [`Labels::decide`].
#[derive(FromPyObject)]
pub(crate) enum Target<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Numbers(PyReadonlyArray1<'py, f64>),
    Text(Vec<String>),
}

impl Target<'_> {
    pub(crate) fn labels(self, task: &str) -> PyResult<Labels> {
        let task = match task {
            "auto" => Task::Auto,
            "classes" => Task::Classes,
            "numbers" => Task::Numbers,
            _ => {
                let text = format!("task = `{task}` is not known; use one of auto, classes, numbers");
                return Err(PyValueError::new_err(text));
            }
        };
        let column = match self {
            Self::Integers(array) => Column::Integers(array.as_slice()?.to_vec()),
            Self::Numbers(array) => Column::Numbers(array.as_slice()?.to_vec()),
            Self::Text(values) => Column::Text(values),
        };
        Labels::decide(column, task).map_err(exception)
    }
}

/// What a transform needs of a fitted map, read from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PyExpansion<'py> {
    kernel: String,
    gamma: f64,
    degree: u32,
    coef0: f64,
    alpha: f64,
    n_inputs: usize,
    /// None: the landmarks are columns of a precomputed kernel.
    landmarks: Option<PyRows<'py>>,
    pivots: PyReadonlyArray1<'py, isize>,
    matrix: Matrix<'py>,
    offset: Numbers<'py>,
    origin: Option<Numbers<'py>>,
    scaling: Option<(Numbers<'py>, Numbers<'py>)>,
    input_names: Option<Vec<String>>,
}

impl PyExpansion<'_> {
    pub(crate) fn kernel(&self) -> PyResult<Kernel> {
        let shape = Shape::named(&self.kernel, self.degree, self.coef0, self.alpha).map_err(exception)?;
        Ok(Kernel { shape, gamma: self.gamma })
    }

    pub(crate) fn expansion(&self) -> PyResult<Expansion> {
        let kernel = self.kernel()?;
        let matrix = self.matrix.view()?.to_owned();
        let landmarks = match &self.landmarks {
            Some(rows) => Landmarks::Rows(rows.to_owned()?),
            None => Landmarks::Columns { indices: self.columns(matrix.ncols())?, n: self.n_inputs },
        };
        let offset = self.offset.as_slice()?.to_vec();
        let origin = self.origin.as_ref().map(|o| o.as_slice().map(<[f64]>::to_vec)).transpose()?;
        let expansion = Expansion { kernel, landmarks, matrix, offset, origin };
        check(&expansion)?;
        Ok(expansion)
    }

    /// The columns of a precomputed kernel that are landmarks: the pivots, or all where there are none.
    fn columns(&self, l: usize) -> PyResult<Vec<usize>> {
        let pivots = self.pivots()?;
        if pivots.iter().any(|i| *i >= self.n_inputs) {
            return Err(PyValueError::new_err("a pivot is not one of the training rows"));
        }
        Ok(if pivots.is_empty() && l == self.n_inputs { (0..l).collect() } else { pivots })
    }

    pub(crate) fn pivots(&self) -> PyResult<Vec<usize>> {
        let whole = |i: &isize| {
            usize::try_from(*i).map_err(|_| PyValueError::new_err(format!("pivot {i} is below 0")))
        };
        self.pivots.as_slice()?.iter().map(whole).collect()
    }

    /// The map, without what only a file needs.
    pub(crate) fn map(&self) -> PyResult<FeatureMap> {
        let scaling = match &self.scaling {
            Some((center, factor)) => {
                Some(Scaling { center: center.as_slice()?.to_vec(), factor: factor.as_slice()?.to_vec() })
            }
            None => None,
        };
        Ok(FeatureMap {
            method: String::new(),
            scaling,
            expansion: self.expansion()?,
            input_names: self.input_names.clone(),
            feature_names: Vec::new(),
            scores: Vec::new(),
            pivots: self.pivots()?,
            pivot_norms: Vec::new(),
            eigenvalues: Vec::new(),
            facts: serde_json::Map::new(),
        })
    }
}

/// Attributes of an estimator can be overwritten; parts that no longer fit together must not reach the arithmetic.
fn check(expansion: &Expansion) -> PyResult<()> {
    let (q, l) = (expansion.matrix.nrows(), expansion.landmarks.len());
    let origin = expansion.origin.as_ref().map_or(l, Vec::len);
    if expansion.matrix.ncols() == l && expansion.offset.len() == q && origin == l {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the fitted attributes do not fit together: coefficients {q} × {}, {l} landmarks, offset {}, origin {origin}\n\
         hint: fit again",
        expansion.matrix.ncols(),
        expansion.offset.len()
    )))
}

/// What a model file holds beyond [`PyExpansion`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PyDetails<'py> {
    method: String,
    feature_names: Vec<String>,
    scores: Numbers<'py>,
    pivot_norms: Numbers<'py>,
    eigenvalues: Numbers<'py>,
    facts: String,
}

impl PyDetails<'_> {
    /// Fills in what the map does not have yet.
    fn complete(self, map: FeatureMap) -> PyResult<FeatureMap> {
        let facts = serde_json::from_str(&self.facts)
            .map_err(|e| PyValueError::new_err(format!("the facts are not a JSON object: {e}")))?;
        Ok(FeatureMap {
            method: self.method,
            feature_names: self.feature_names,
            scores: self.scores.as_slice()?.to_vec(),
            pivot_norms: self.pivot_norms.as_slice()?.to_vec(),
            eigenvalues: self.eigenvalues.as_slice()?.to_vec(),
            facts,
            ..map
        })
    }
}

/// The map that a dictionary of arrays describes.
pub(crate) fn feature_map(model: &Bound<'_, PyAny>) -> PyResult<FeatureMap> {
    let map = model.extract::<PyExpansion>()?.map()?;
    model.extract::<PyDetails>()?.complete(map)
}

/// A map as a dictionary of arrays: what [`PyExpansion`] and [`PyDetails`] read.
pub(crate) fn dictionary(py: Python<'_>, map: FeatureMap) -> PyResult<Bound<'_, PyDict>> {
    let Expansion { kernel, landmarks, matrix, offset, origin } = map.expansion;
    let (degree, coef0, alpha) = match kernel.shape {
        Shape::Poly { degree, coef0 } => (degree, coef0, 1.0),
        Shape::Sigmoid { coef0 } => (3, coef0, 1.0),
        Shape::Rq { alpha } => (3, 1.0, alpha),
        _ => (3, 1.0, 1.0),
    };
    let numbers = |values: Vec<f64>| PyArray1::from_vec(py, values);
    let out = PyDict::new(py);
    out.set_item("method", map.method)?;
    out.set_item("kernel", kernel.shape.name())?;
    out.set_item("gamma", kernel.gamma)?;
    out.set_item("degree", degree)?;
    out.set_item("coef0", coef0)?;
    out.set_item("alpha", alpha)?;
    out.set_item("n_inputs", landmarks.p())?;
    let mut pivots = map.pivots;
    match landmarks {
        Landmarks::Rows(rows) => out.set_item("landmarks", python_rows(py, &rows)?)?,
        Landmarks::Columns { indices, n } => {
            // Exact `kpca` has every training row as a landmark and no pivots.
            if indices.len() != n || !pivots.is_empty() {
                pivots = indices;
            }
            out.set_item("landmarks", py.None())?;
        }
    }
    out.set_item("pivots", whole(py, pivots))?;
    out.set_item("matrix", matrix_array(py, &matrix)?)?;
    out.set_item("offset", numbers(offset))?;
    out.set_item("origin", origin.map(numbers))?;
    out.set_item("scaling", map.scaling.map(|s| (numbers(s.center), numbers(s.factor))))?;
    out.set_item("input_names", map.input_names)?;
    out.set_item("feature_names", map.feature_names)?;
    out.set_item("scores", numbers(map.scores))?;
    out.set_item("pivot_norms", numbers(map.pivot_norms))?;
    out.set_item("eigenvalues", numbers(map.eigenvalues))?;
    out.set_item("facts", serde_json::Value::Object(map.facts).to_string())?;
    Ok(out)
}

/// Rows as a matrix, or as the parts of CSR in SciPy's order: values, indices, indptr.
pub(crate) fn python_rows<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyAny>> {
    let Rows::Sparse(csr) = rows else {
        let values = PyArray1::from_vec(py, rows.to_dense());
        return Ok(values.reshape([rows.n(), rows.p()])?.into_any());
    };
    let (mut values, mut indices, mut indptr) = (Vec::new(), Vec::new(), vec![0i64]);
    for i in 0..rows.n() {
        let (columns, stored) = csr.row(i);
        values.extend_from_slice(stored);
        indices.extend(columns.iter().map(|&j| i64::from(j)));
        indptr.push(values.len().cast_signed() as i64);
    }
    let parts =
        (PyArray1::from_vec(py, values), PyArray1::from_vec(py, indices), PyArray1::from_vec(py, indptr));
    Ok(parts.into_pyobject(py)?.into_any())
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
