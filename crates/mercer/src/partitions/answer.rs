//! What a partition answers.

use serde::{Deserialize, Serialize};

use super::wire::Matrix;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::target::TargetValues;
use crate::error::{Error, Result};
use crate::evidence::moments::Moments;
use crate::evidence::partition::NearestIn;
use crate::evidence::ranges::Ranges;
use crate::linalg::Deciding;
use crate::select::FSums;

/// What a partition answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer(pub(super) Reply);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// Nothing but that it is done.
    Done,
    /// What the rows and targets are.
    Seen(Seen),
    /// Mean of all numbers, and Σ (v − mean)².
    Spread(f64, f64),
    /// Rows by their indices.
    Taken(Taken),
    /// max |k(x,x)|, Σ k(x,x), and the smallest k(x,x) with its row.
    Begun { largest: f64, trace: f64, lowest: Option<(usize, f64)> },
    /// A sum.
    Sum(f64),
    /// Rows with large residuals, and the largest of a row that is not among them.
    Offered { rows: Taken, beaten: f64 },
    /// A row for each number asked about.
    Drawn(Vec<usize>),
    /// Rows of a random order, with their ranks.
    Ordered { rows: Vec<usize>, ranks: Vec<usize> },
    /// A sum of matrices.
    Matrix(Matrix),
    /// Sums of features and targets.
    Moments(Moments),
    /// The values that decide on signs.
    Signs(Vec<Deciding>),
    /// Sums of the rows of each class, and the number of rows.
    ClassSums { sums: Rows<'static>, sizes: Vec<usize> },
    /// The nearest rows of each query.
    Nearest(NearestIn),
    /// Ranges of columns or features.
    Ranges(Ranges),
    /// Sums for F.
    FSums(FSums),
    /// Rows that are wrong, for each feature asked about.
    Errors(Vec<u64>),
    /// Σ of what is left, and Σ k(x,x).
    Left { residual: f64, trace: f64 },
}

/// What the rows and targets of a partition are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Number of rows.
    pub n: usize,
    /// Number of columns.
    pub p: usize,
    /// Whether they are sparse.
    pub sparse: bool,
    /// The first number that is not finite: its row, its column and itself.
    pub bad: Option<(usize, usize, f64)>,
    /// The first row whose target is not a finite number.
    pub bad_target: Option<usize>,
    /// Mean of all numbers, and Σ (v − mean)².
    pub(super) spread: (f64, f64),
    /// The values of the target.
    pub(super) values: Option<TargetValues>,
}

/// Rows by their indices among all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Taken {
    pub(super) places: Vec<usize>,
    pub(super) rows: Rows<'static>,
    pub(super) labels: Option<Labels>,
    /// k(x,x) and residuals, of offers.
    pub(super) diagonal: Vec<f64>,
    pub(super) residual: Vec<f64>,
}

impl Answer {
    /// One answer of two partitions, the first before the second.
    pub fn merged(self, other: Self) -> Result<Self> {
        Ok(Self(match (self.0, other.0) {
            (Reply::Moments(mut own), Reply::Moments(theirs)) => {
                own.merge(&theirs)?;
                Reply::Moments(own)
            }
            (Reply::Matrix(own), Reply::Matrix(theirs)) => Reply::Matrix(Matrix(own.0 + theirs.0)),
            (Reply::Signs(mut own), Reply::Signs(theirs)) => {
                if own.is_empty() {
                    return Ok(Self(Reply::Signs(theirs)));
                }
                own.iter_mut().zip(&theirs).for_each(|(own, theirs)| own.then(theirs));
                Reply::Signs(own)
            }
            (Reply::ClassSums { sums, sizes }, Reply::ClassSums { sums: more, sizes: others }) => {
                Reply::ClassSums {
                    sums: added(&sums, &more)?,
                    sizes: sizes.iter().zip(&others).map(|(a, b)| a + b).collect(),
                }
            }
            (Reply::Left { residual, trace }, Reply::Left { residual: more, trace: others }) => {
                Reply::Left { residual: residual + more, trace: trace + others }
            }
            (Reply::Nearest(mut own), Reply::Nearest(theirs)) => {
                own.merge(&theirs)?;
                Reply::Nearest(own)
            }
            (Reply::Ranges(mut own), Reply::Ranges(theirs)) => {
                own.merge(&theirs)?;
                Reply::Ranges(own)
            }
            (Reply::FSums(mut own), Reply::FSums(theirs)) => {
                own.merge(&theirs)?;
                Reply::FSums(own)
            }
            (Reply::Done, Reply::Done) => Reply::Done,
            _ => return Err(Error::argument("such answers are not merged")),
        }))
    }
}

/// Sums of rows, one by one.
fn added(a: &Rows, b: &Rows) -> Result<Rows<'static>> {
    let (Rows::Sparse(x), Rows::Sparse(y)) = (a, b) else {
        let sum = a.to_dense().iter().zip(b.to_dense()).map(|(a, b)| a + b).collect::<Vec<f64>>();
        return Rows::dense(sum, a.n(), a.p());
    };
    let (mut ends, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..a.n() {
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (columns, stored) in [x.row(i), y.row(i)] {
            row.extend(columns.iter().copied().zip(stored.iter().copied()));
        }
        row.sort_by_key(|(column, _)| *column);
        for equal in row.chunk_by(|a, b| a.0 == b.0) {
            indices.push(equal[0].0);
            values.push(equal.iter().map(|(_, v)| v).sum());
        }
        ends.push(indices.len());
    }
    Rows::sparse(ends, indices, values, a.p())
}
