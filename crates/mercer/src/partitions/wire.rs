//! How questions, answers and states are written, for types that do not know of it themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use faer::{Mat, MatRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::basis::expansion::{Expansion, Landmarks};
use crate::basis::factor_rows::{FactorState, NewPivots};
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::target::TargetValues;
use crate::error::Error;
use crate::evidence::moments::Moments;
use crate::kernel::{Kernel, Shape};
use crate::linalg::Deciding;

/// Writes a type as another that can be written: what it is made of, and how it is made again.
macro_rules! written_as {
    ($type:ty, $written:ty, $write:expr, $read:expr) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let write: fn(&$type) -> $written = $write;
                write(self).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read: fn($written) -> Result<$type, Error> = $read;
                read(<$written>::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    };
}

/// A matrix that can be written.
#[derive(Clone, Debug)]
pub(super) struct Matrix(pub(super) Mat<f64>);

/// A matrix by rows.
type ByRows = (usize, usize, Vec<f64>);

fn by_rows(matrix: MatRef<'_, f64>) -> ByRows {
    let (n, m) = matrix.shape();
    (n, m, (0..n).flat_map(|i| (0..m).map(move |j| matrix[(i, j)])).collect())
}

fn of_rows((n, m, values): ByRows) -> Result<Mat<f64>, Error> {
    if values.len() != n * m {
        return Err(damaged("a matrix"));
    }
    Ok(MatRef::from_row_major_slice(&values, n, m).to_owned())
}

fn damaged(what: &str) -> Error {
    Error::data(format!("{what} that was sent is damaged"))
}

written_as!(Matrix, ByRows, |m| by_rows(m.0.as_ref()), |written| of_rows(written).map(Matrix));

/// Rows in one of their three kinds.
#[derive(Serialize, Deserialize)]
pub(super) enum WrittenRows {
    Dense(usize, usize, Vec<f64>),
    Single(usize, usize, Vec<f32>),
    Sparse(usize, Vec<usize>, Vec<u32>, Vec<f64>),
}

fn write_rows(rows: &Rows) -> WrittenRows {
    match rows {
        Rows::Dense(d) => WrittenRows::Dense(rows.n(), rows.p(), d.values().to_vec()),
        Rows::DenseF32(d) => WrittenRows::Single(rows.n(), rows.p(), d.values().to_vec()),
        Rows::Sparse(s) => {
            let (mut ends, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..rows.n() {
                let (columns, stored) = s.row(i);
                indices.extend(columns);
                values.extend(stored);
                ends.push(indices.len());
            }
            WrittenRows::Sparse(rows.p(), ends, indices, values)
        }
    }
}

fn read_rows(written: WrittenRows) -> Result<Rows<'static>, Error> {
    match written {
        WrittenRows::Dense(n, p, values) => Rows::dense(values, n, p),
        WrittenRows::Single(n, p, values) => Rows::dense_f32(values, n, p),
        WrittenRows::Sparse(p, ends, indices, values) => Rows::sparse(ends, indices, values, p),
    }
}

written_as!(Rows<'static>, WrittenRows, |rows| write_rows(rows), read_rows);

/// Name, γ, degree, coef0 and α.
type WrittenKernel = (String, f64, u32, f64, f64);

fn write_kernel(kernel: &Kernel) -> WrittenKernel {
    let (mut degree, mut constant, mut power) = (0, 0.0, 0.0);
    match kernel.shape {
        Shape::Poly { degree: d, coef0 } => (degree, constant) = (d, coef0),
        Shape::Sigmoid { coef0 } => constant = coef0,
        Shape::Rq { alpha } => power = alpha,
        _ => {}
    }
    (kernel.shape.name().to_string(), kernel.gamma, degree, constant, power)
}

fn read_kernel((name, gamma, degree, coef0, alpha): WrittenKernel) -> Result<Kernel, Error> {
    let shape = Shape::named(&name, degree, coef0, alpha).map_err(|_| damaged("a kernel"))?;
    Ok(Kernel { shape, gamma })
}

written_as!(Kernel, WrittenKernel, write_kernel, read_kernel);

type WrittenExpansion = (WrittenKernel, WrittenRows, ByRows, Vec<f64>);

fn write_expansion(expansion: &Expansion) -> WrittenExpansion {
    let landmarks = match &expansion.landmarks {
        Landmarks::Rows(rows) => write_rows(rows),
        // A precomputed kernel is refused before it comes to this.
        Landmarks::Columns { .. } => WrittenRows::Dense(0, 0, Vec::new()),
    };
    let Expansion { kernel, matrix, offset, .. } = expansion;
    (write_kernel(kernel), landmarks, by_rows(matrix.as_ref()), offset.clone())
}

fn read_expansion((kernel, landmarks, matrix, offset): WrittenExpansion) -> Result<Expansion, Error> {
    Ok(Expansion {
        kernel: read_kernel(kernel)?,
        landmarks: Landmarks::Rows(read_rows(landmarks)?),
        matrix: of_rows(matrix)?,
        offset,
        origin: None,
    })
}

written_as!(Expansion, WrittenExpansion, write_expansion, read_expansion);

written_as!(
    NewPivots,
    (Vec<usize>, WrittenRows, ByRows, Vec<f64>),
    |new| (new.places.clone(), write_rows(&new.rows), by_rows(new.earlier.as_ref()), new.factor.clone()),
    |(places, rows, earlier, factor)| {
        Ok(NewPivots { places, rows: read_rows(rows)?, earlier: of_rows(earlier)?, factor })
    }
);

/// Codes and names, or numbers.
#[derive(Serialize, Deserialize)]
pub(super) enum WrittenLabels {
    Classes(Vec<usize>, Vec<String>),
    Numbers(Vec<f64>),
    Several(Vec<f64>, usize),
}

fn write_labels(labels: &Labels) -> WrittenLabels {
    match labels.clone() {
        Labels::Classes { codes, names } => WrittenLabels::Classes(codes, names),
        Labels::Numbers(values) => WrittenLabels::Numbers(values),
        Labels::Several { values, count } => WrittenLabels::Several(values, count),
    }
}

fn read_labels(written: WrittenLabels) -> Labels {
    match written {
        WrittenLabels::Classes(codes, names) => Labels::Classes { codes, names },
        WrittenLabels::Numbers(values) => Labels::Numbers(values),
        WrittenLabels::Several(values, count) => Labels::Several { values, count },
    }
}

written_as!(Labels, WrittenLabels, write_labels, |written| Ok(read_labels(written)));

/// Columns of G, k(x,x), residuals, pivots and copies.
type WrittenFactor = (Option<Vec<Arc<Vec<f64>>>>, Vec<f64>, Vec<f64>, Vec<bool>, Option<Arc<Vec<bool>>>);

written_as!(
    FactorState,
    WrittenFactor,
    |factor| {
        (
            factor.columns.clone(),
            factor.diagonal.clone(),
            factor.residual.clone(),
            factor.is_pivot.clone(),
            factor.copies.clone(),
        )
    },
    |(columns, diagonal, residual, is_pivot, copies)| {
        Ok(FactorState { columns, diagonal, residual, is_pivot, copies })
    }
);

written_as!(
    Moments,
    (usize, f64, Vec<f64>, Vec<f64>, ByRows),
    |moments| {
        let (m, n, shift, mean, scatter) = moments.parts();
        (m, n, shift.to_vec(), mean.to_vec(), by_rows(scatter.as_ref()))
    },
    |(m, n, shift, mean, scatter)| Moments::from_parts(m, n, shift, mean, of_rows(scatter)?)
);

written_as!(Deciding, (f64, Vec<f64>), Deciding::parts, |parts| Ok(Deciding::from_parts(parts)));

/// Number of values, whether they are text, whether they are whole, how often each occurs, sum, smallest and largest.
type WrittenValues = (usize, bool, bool, Option<BTreeMap<String, usize>>, f64, f64, f64);

written_as!(
    TargetValues,
    WrittenValues,
    |v| (v.n, v.is_text, v.whole, v.counts.clone(), v.sum, v.low, v.high),
    |(n, is_text, whole, counts, sum, low, high)| Ok(TargetValues {
        n,
        is_text,
        whole,
        counts,
        sum,
        low,
        high
    })
);
