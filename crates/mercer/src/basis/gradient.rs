//! How much features depend on inputs: the mean squared slope of every feature along every input.
//!
//!   S[q, j] = (1/n) Σ_i (∂z_q(x_i)/∂x_ij)²,   ∂z/∂x_j = D_j Aᵀ,   D_j[i, l] = ∂k(x_i, landmark_l)/∂x_ij
//!
//! cost    n·l kernel values, then 2·n·p·l·q flops as matrix products; memory up to 8·p·(l + 17·q + 1024) bytes
//! differs `matern12` at a landmark, `laplacian` where two numbers are equal, `cosine` at a zero row and `chi2` where two
//!         numbers are 0 have no slope there: 0; `match` is flat: 0. Sums and products of kernels follow the rules for sums and products

use faer::{Mat, MatRef};

use super::expansion::{Blocks, Expansion, Landmarks};
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::composite::Parts;
use crate::kernel::kernel::Statistic;
use crate::kernel::pairs::{length, unit_row};
use crate::kernel::{Kernel, Panel, Shape};
use crate::linalg::sum_in_order;
use crate::monitor::Monitor;
use crate::options::{DEFAULT_MEMORY, bytes};

/// Rows that are looked at together: a panel's D_j stays in the cache.
const SLOPE_ROWS: usize = 64;

impl Expansion {
    /// Mean over the rows, which are those that the kernel sees, of the squared slope of every feature along every
    /// input, q×p. `FeatureMap::input_importance` scales the rows first.
    pub fn input_importance(&self, rows: &Rows, monitor: &Monitor) -> Result<Mat<f64>> {
        let Landmarks::Rows(landmarks) = &self.landmarks else {
            return Err(Error::argument(
                "the kernel is precomputed, so the inputs behind it are not known and have no importance here\n\
                 hint: fit on the rows themselves, with a kernel such as `rbf`",
            ));
        };
        if self.kernel.shape.is_own() {
            return Err(Error::argument(format!(
                "the kernel `{}` is a function whose slopes are not known, so inputs have no importance here\n\
                 hint: use a kernel such as `rbf`",
                self.kernel.shape.name()
            )));
        }
        self.check(rows, None, 0)?;
        let rows = &*rows.to_f64();
        let (n, p, q) = (rows.n(), rows.p(), self.n_features());
        if n == 0 {
            return Err(Error::data("no rows were given, so there is no mean slope"));
        }
        self.check_importance(n, DEFAULT_MEMORY)?;
        monitor.begin("following the inputs", n);
        let slopes = Along::new(self.kernel, landmarks);
        let l = landmarks.n();
        let blocks = Blocks::of(self.matrix.as_ref());
        let mut sum = sum_in_order(n.div_ceil(SLOPE_ROWS), q, p, monitor, |at| {
            let mut part = Mat::zeros(q, p);
            let panel = rows.slice(at * SLOPE_ROWS..n.min((at + 1) * SLOPE_ROWS));
            let h = panel.n();
            let values = slopes.values(&panel);
            let mut z = Mat::zeros(h, q);
            let mut d = vec![0.0; h * l];
            // A stop is answered here and reported by the sum.
            for j in (0..p).take_while(|_| monitor.check().is_ok()) {
                if slopes.fill(&values, j, &mut d) {
                    let d = MatRef::from_row_major_slice(&d, h, l);
                    blocks.multiply(self.matrix.as_ref(), d, z.as_mut());
                    for (s, z) in part.col_mut(j).iter_mut().zip(z.col_iter()) {
                        *s = z.iter().map(|v| v * v).sum();
                    }
                }
            }
            monitor.advance(h);
            part
        })?;
        monitor.check()?;
        let factor = slopes.factor();
        sum.col_iter_mut().for_each(|column| {
            column.iter_mut().for_each(|v| *v = *v / n as f64 * factor * factor);
        });
        if sum.col_iter().any(|column| column.iter().any(|v| !v.is_finite())) {
            return Err(Error::Numerical(
                "the squared slopes are too large for a number\nhint: scale the columns".into(),
            ));
        }
        Ok(sum)
    }

    /// An error with the estimate unless the importance of the inputs, averaged over n rows, keeps to a limit on memory.
    ///
    /// ```
    /// use mercer::{Basis, Kernel, Rows};
    ///
    /// let rows = Rows::dense(vec![0.0, 1.0, 2.0], 3, 1)?;
    /// let map = Basis::kobl(Kernel::rbf(1.0)).fit(&rows)?.expansion;
    /// assert!(map.check_importance(3, 1_000).is_ok());
    /// assert!(map.check_importance(3, 10).is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn check_importance(&self, n: usize, memory: u64) -> Result<()> {
        // Up to sixteen parts of the sum, each with its rows, wait for their turn beside the result.
        let (l, q, p) = (self.landmarks.len(), self.n_features(), self.landmarks.p());
        let parts = n.div_ceil(SLOPE_ROWS).min(16);
        let needed = 8 * p as u64 * (l + q + parts * (q + n.min(SLOPE_ROWS))) as u64;
        if needed <= memory {
            return Ok(());
        }
        Err(Error::Memory(format!(
            "the importance of {p} inputs for {q} features with {l} landmarks needs {}, but the budget is {}\n\
             hint: fit fewer features or landmarks (n_features, n_components), or leave columns out",
            bytes(needed),
            bytes(memory)
        )))
    }
}

/// Slopes of a kernel, or of the parts of a sum.
enum Along {
    One(Box<Slopes>),
    Sum(Parts, Vec<Slopes>),
}

/// What a panel of rows needs for every column: of one kernel, or of each part with ∂k/∂k_part.
enum AlongValues {
    One(Values),
    Sum(Vec<(Values, Vec<f64>)>),
}

impl Along {
    fn new(kernel: Kernel, landmarks: &Rows) -> Self {
        let Shape::Composite(composite) = kernel.shape else {
            return Self::One(Box::new(Slopes::new(kernel, landmarks)));
        };
        let parts = Parts::new(composite, kernel.gamma);
        let slopes = parts.kernels.iter().enumerate();
        let slopes = slopes.map(|(at, kernel)| Slopes::new(*kernel, &parts.columns(at, landmarks))).collect();
        Self::Sum(parts, slopes)
    }

    fn factor(&self) -> f64 {
        match self {
            Self::One(slopes) => slopes.factor(),
            Self::Sum(..) => 1.0,
        }
    }

    fn values(&self, rows: &Rows) -> AlongValues {
        let (parts, slopes) = match self {
            Self::One(slopes) => return AlongValues::One(slopes.values(rows)),
            Self::Sum(parts, slopes) => (parts, slopes),
        };
        let (mut all, mut k) = (Vec::new(), Vec::new());
        for (at, slopes) in slopes.iter().enumerate() {
            let part = parts.columns(at, rows);
            let mut values = vec![0.0; rows.n() * slopes.l];
            slopes.panel.fill(&part, &mut values);
            k.push(values);
            all.push(slopes.values(&part));
        }
        let outer = parts.outer(&k, k.first().map_or(0, Vec::len));
        AlongValues::Sum(all.into_iter().zip(outer).collect())
    }

    /// ∂k/∂x_j of every row and landmark over the factor, row-major into `d`; false: all are 0.
    fn fill(&self, values: &AlongValues, j: usize, d: &mut [f64]) -> bool {
        let (parts, slopes, values) = match (self, values) {
            (Self::One(slopes), AlongValues::One(values)) => return slopes.fill(values, j, d),
            (Self::Sum(parts, slopes), AlongValues::Sum(values)) => (parts, slopes, values),
            _ => unreachable!("values are made by the same slopes"),
        };
        d.fill(0.0);
        let (mut own, mut any) = (vec![0.0; d.len()], false);
        for (at, (slopes, (values, outer))) in slopes.iter().zip(values).enumerate() {
            let Some(j) = parts.place(at, j) else { continue };
            if slopes.fill(values, j, &mut own) {
                any = true;
                let factor = slopes.factor();
                d.iter_mut().zip(&own).zip(outer).for_each(|((d, own), outer)| *d += outer * own * factor);
            }
        }
        any
    }
}

/// Slopes of kernel values along the inputs.
struct Slopes {
    kernel: Kernel,
    panel: Panel,
    /// Landmarks by column, p×l; cosine: of length 1.
    transposed: Vec<f64>,
    l: usize,
}

/// What a panel of rows needs for every column.
struct Values {
    /// Rows, row-major, treated as the landmarks are.
    x: Vec<f64>,
    /// ∂k/∂s, h×l.
    outer: Vec<f64>,
    /// Cosine: k itself, h×l.
    k: Vec<f64>,
    /// Cosine: lengths of the rows.
    lengths: Vec<f64>,
}

impl Slopes {
    fn new(kernel: Kernel, landmarks: &Rows) -> Self {
        let (l, p) = (landmarks.n(), landmarks.p());
        let y = treated(kernel, landmarks);
        let mut transposed = vec![0.0; p * l];
        for (i, row) in y.chunks_exact(p).enumerate() {
            row.iter().enumerate().for_each(|(j, v)| transposed[j * l + i] = *v);
        }
        Self { kernel, panel: Panel::new(kernel, landmarks), transposed, l }
    }

    /// What every slope is to be multiplied by in the end, so that none overflows on the way.
    fn factor(&self) -> f64 {
        match self.kernel.shape.statistic() {
            Statistic::SquaredDistance => 2.0 * self.kernel.gamma.sqrt(),
            Statistic::Manhattan | Statistic::ChiSquared => self.kernel.gamma,
            _ => 1.0,
        }
    }

    fn values(&self, rows: &Rows) -> Values {
        let mut outer = vec![0.0; rows.n() * self.l];
        self.panel.statistics(rows, &mut outer);
        let x = treated(self.kernel, rows);
        let (mut k, mut lengths) = (Vec::new(), Vec::new());
        if self.kernel.shape.statistic() == Statistic::Cosine {
            k.clone_from(&outer);
            let dense = rows.to_dense();
            lengths = dense.chunks_exact(rows.p()).map(length).collect();
        }
        self.kernel.differentiate(&mut outer);
        Values { x, outer, k, lengths }
    }

    /// ∂k/∂x_j of every row and landmark over the factor, row-major into `d`; false: all are 0.
    fn fill(&self, values: &Values, j: usize, d: &mut [f64]) -> bool {
        let l = self.l;
        let p = self.transposed.len() / l;
        if self.kernel.shape.statistic() == Statistic::Equal {
            return false;
        }
        let y = &self.transposed[j * l..(j + 1) * l];
        let x = || values.x.iter().skip(j).step_by(p);
        if y.iter().chain(x()).all(|v| *v == 0.0) {
            return false;
        }
        let lines = d.chunks_exact_mut(l).zip(values.outer.chunks_exact(l)).zip(x());
        match self.kernel.shape.statistic() {
            Statistic::Product => lines.for_each(|((d, outer), _)| {
                d.iter_mut().zip(outer).zip(y).for_each(|((d, o), y)| *d = o * y);
            }),
            Statistic::Cosine => {
                let more = values.k.chunks_exact(l).zip(&values.lengths);
                lines.zip(more).for_each(|(((d, _), x), (k, length))| {
                    for ((d, y), k) in d.iter_mut().zip(y).zip(k) {
                        *d = if *length > 0.0 { (y - k * x) / length } else { 0.0 };
                    }
                });
            }
            Statistic::SquaredDistance => {
                let root = self.kernel.gamma.sqrt();
                lines.for_each(|((d, outer), x)| {
                    // Where k has come down to 0 the difference may be infinite.
                    for ((d, o), y) in d.iter_mut().zip(outer).zip(y) {
                        *d = if *o == 0.0 { 0.0 } else { o * (root * (x - y)) };
                    }
                });
            }
            Statistic::Manhattan => lines.for_each(|((d, outer), x)| {
                for ((d, o), y) in d.iter_mut().zip(outer).zip(y) {
                    let sign = f64::from(i8::from(x > y) - i8::from(x < y));
                    *d = o * sign;
                }
            }),
            Statistic::Additive => lines.for_each(|((d, _), x)| {
                // 2xy/(x+y) has the slope 2(y/(x+y))².
                for (d, y) in d.iter_mut().zip(y) {
                    *d = if x + y > 0.0 { 2.0 * (y / (x + y)).powi(2) } else { 0.0 };
                }
            }),
            Statistic::Equal | Statistic::Value => unreachable!("flat, or refused"),
            Statistic::ChiSquared | Statistic::Given => lines.for_each(|((d, outer), x)| {
                for ((d, o), y) in d.iter_mut().zip(outer).zip(y) {
                    // (x−y)²/(x+y) has the slope e(2−e), e = (x−y)/(x+y).
                    let e = if x + y > 0.0 { (x - y) / (x + y) } else { 0.0 };
                    *d = o * e * (2.0 - e);
                }
            }),
        }
        true
    }
}

/// Rows as their slopes are computed from, row-major.
pub(super) fn treated(kernel: Kernel, rows: &Rows) -> Vec<f64> {
    let values = rows.to_dense();
    match kernel.shape.statistic() {
        Statistic::Cosine => values.chunks_exact(rows.p()).flat_map(unit_row).collect(),
        _ => values,
    }
}
