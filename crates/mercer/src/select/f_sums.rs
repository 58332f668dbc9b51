//! Mergeable sums for the F-test, by class or along a numeric target, from one batch of rows or many.
//!
//!   classes  n, x̄ and s = √Σ(x − x̄)² of each     two parts: s² = s₁² + s₂² + d², d = √(n₁·n₂/(n₁ + n₂))·(x̄₂ − x̄₁)
//!   numbers  a = Σ(x − x̄)(y − ȳ)/s_y and the rest of s_x, ℓ² = s_x² − a²
//!            two parts: a = u·v, ℓ² = ℓ₁² + ℓ₂² + |u − a·v|², u = (a₁, a₂, d_x), v = (s_y1, s_y2, d_y)/s_y
//!
//! cost    three passes over a column in the cache; sparse: over the stored values, plus c per column. State: 4·c or 6
//!         numbers per column
//! source  Chan, Golub & LeVeque 1983
//! differs a mean is stored as its difference from the smallest number, so that an offset costs no digits; sums of squares as
//!         their roots, which do not overflow; merging only adds, so nothing cancels

use serde::{Deserialize, Serialize};

use super::by_column::{Column, each_column};
use super::{Columns, check_width};
use crate::data::labels::Labels;
use crate::data::weights::{Weights, total, weight};
use crate::error::{Error, Result};

/// Columns that are transposed at once: two cache lines per row.
const COLUMNS_AT_ONCE: usize = 16;

/// Range, mean (`low + above`) and spread of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The smallest; infinite where there are none.
    pub low: f64,
    /// The largest; minus infinity where there are none.
    pub high: f64,
    /// The mean less the smallest.
    pub above: f64,
    /// √Σ(x − x̄)².
    pub spread: f64,
}

/// A column, split into the part along the target and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Along {
    /// The column.
    pub x: Spread,
    /// The part of its spread along the target, with its sign.
    pub along: f64,
    /// The rest of its spread.
    pub left: f64,
}

/// The sums of the rows so far.
///
/// ```
/// use mercer::select::{Columns, FSums, FTest};
/// use mercer::{Labels, Monitor, Rows};
///
/// let of = |values: Vec<f64>, codes: Vec<usize>| {
///     let rows = Rows::dense(values, codes.len(), 1)?;
///     let labels = Labels::Classes { codes, names: vec!["a".into(), "b".into()] };
///     FSums::of(&Columns::new(&rows, &labels, &Monitor::default()))
/// };
/// let mut sums = of(vec![1.0, 3.0], vec![0, 0])?;
/// assert!(!sums.is_enough());
/// sums.merge(&of(vec![4.0, 6.0], vec![1, 1])?)?;
/// let f = FTest::default().score_sums(&sums)?.scores[0];
/// assert!((f - 4.5).abs() < 1e-14); // as in `FTest::score`
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FSums {
    /// For classes.
    Classes {
        /// Rows of each class.
        sizes: Vec<f64>,
        /// Of every column, by class.
        columns: Vec<Vec<Spread>>,
    },
    /// For numbers.
    Numbers {
        /// Rows.
        n: f64,
        /// The target.
        target: Spread,
        /// Every column.
        columns: Vec<Along>,
    },
}

impl FSums {
    /// Sums of p columns before any row: of this many classes, or None for numbers. What is merged into them stays as it is, so
    /// they stand for a batch without rows.
    ///
    /// ```
    /// use mercer::select::{Columns, FSums};
    /// use mercer::{Labels, Monitor, Rows};
    ///
    /// let rows = Rows::dense(vec![1.0, 2.0, 4.0], 3, 1)?;
    /// let batch = FSums::of(&Columns::new(&rows, &Labels::Numbers(vec![0.0, 1.0, 1.5]), &Monitor::default()))?;
    /// let mut sums = FSums::none(1, None);
    /// assert!(!sums.is_enough());
    /// sums.merge(&batch)?;
    /// sums.merge(&FSums::none(1, None))?;
    /// assert!(sums.is_enough());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn none(p: usize, classes: Option<usize>) -> Self {
        if let Some(c) = classes {
            return Self::Classes { sizes: vec![0.0; c], columns: vec![vec![Spread::NONE; c]; p] };
        }
        let column = Along { x: Spread::NONE, along: 0.0, left: 0.0 };
        Self::Numbers { n: 0.0, target: Spread::NONE, columns: vec![column; p] }
    }

    /// The sums of one batch. Its labels may name classes that it has no rows of.
    pub fn of(columns: &Columns) -> Result<Self> {
        let labels = columns.labels("f")?;
        let (n, p) = (columns.rows.n(), columns.rows.p());
        if n == 0 || p == 0 || labels.len() != n {
            return Err(Error::data(format!(
                "the data has {n} rows, {p} columns and {} labels; `f` needs rows, columns, and as many labels as rows",
                labels.len()
            )));
        }
        check_width(columns.rows, Some(labels), "f")?;
        columns.rows.check_finite(None)?;
        let weights = columns.weights;
        match labels {
            Labels::Classes { codes, names } => {
                let mut sizes = vec![0.0; names.len()];
                codes.iter().enumerate().for_each(|(i, &g)| sizes[g] += weight(weights, i));
                let f = |_, x: Column| Ok(spreads(x, codes, &sizes, weights));
                let columns = each_column(columns.rows, COLUMNS_AT_ONCE, columns.monitor, f)?;
                Ok(Self::Classes { sizes, columns })
            }
            Labels::Numbers(values) => {
                let all = total(weights, n);
                let target = spreads(Column::Dense(values), &vec![0; n], &[all], weights)[0];
                let unit = if target.spread > 0.0 { target.spread } else { 1.0 };
                let y: Vec<f64> = values.iter().map(|v| ((v - target.low) - target.above) / unit).collect();
                let f = |_, x: Column| Ok(along(x, &y, weights));
                let columns = each_column(columns.rows, COLUMNS_AT_ONCE, columns.monitor, f)?;
                Ok(Self::Numbers { n: all, target, columns })
            }
            Labels::Several { .. } => {
                labels.require_one("f on batches")?;
                unreachable!("several targets are refused")
            }
        }
    }

    /// Adds the sums of another batch.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Classes { sizes, columns }, Self::Classes { sizes: more, columns: others })
                if columns.len() == others.len() && sizes.len() == more.len() =>
            {
                for (own, other) in columns.iter_mut().zip(others) {
                    for (g, (own, other)) in own.iter_mut().zip(other).enumerate() {
                        *own = own.merged(sizes[g], *other, more[g]).0;
                    }
                }
                sizes.iter_mut().zip(more).for_each(|(size, more)| *size += more);
                Ok(())
            }
            (Self::Numbers { n, target, columns }, Self::Numbers { n: m, target: more, columns: others })
                if columns.len() == others.len() =>
            {
                let (all, apart) = target.merged(*n, *more, *m);
                // The unit vector along which the target spreads: within both parts, and between them.
                let unit = if all.spread > 0.0 { all.spread } else { 1.0 };
                let v = [target.spread / unit, more.spread / unit, apart / unit];
                for (own, other) in columns.iter_mut().zip(others) {
                    let (x, apart) = own.x.merged(*n, other.x, *m);
                    let u = [own.along, other.along, apart];
                    let along: f64 = u.iter().zip(&v).map(|(u, v)| u * v).sum();
                    let across = u.iter().zip(&v).map(|(u, v)| u - along * v).fold(0.0, f64::hypot);
                    *own = Along { x, along, left: own.left.hypot(other.left).hypot(across) };
                }
                (*n, *target) = (*n + m, all);
                Ok(())
            }
            _ => Err(Error::argument("sums of other columns, classes or kinds of labels cannot be merged")),
        }
    }

    /// Whether there are enough rows for a test.
    pub fn is_enough(&self) -> bool {
        match self {
            Self::Classes { sizes, .. } => {
                let c = sizes.iter().filter(|size| **size > 0.0).count();
                c >= 2 && sizes.iter().sum::<f64>() > c as f64
            }
            Self::Numbers { n, target, .. } => *n >= 3.0 && target.low < target.high,
        }
    }

    /// F of every column, and its two degrees of freedom.
    pub(super) fn test(&self) -> Result<(Vec<f64>, f64, f64)> {
        match self {
            Self::Classes { sizes, columns } => {
                let (n, c) = (sizes.iter().sum::<f64>(), sizes.iter().filter(|size| **size > 0.0).count());
                if c < 2 {
                    return Err(Error::data("`f` needs at least 2 classes, but all rows are of one"));
                }
                if n <= c as f64 {
                    return Err(Error::data(format!(
                        "`f` compares the spread within classes, but {n} rows in {c} classes leave no degree of freedom for it; \
                         more rows than classes are needed"
                    )));
                }
                let (d1, d2) = ((c - 1) as f64, n - c as f64);
                Ok((columns.iter().map(|spreads| class_f(spreads, sizes, d1, d2)).collect(), d1, d2))
            }
            Self::Numbers { n, target, columns } => {
                if *n < 3.0 {
                    return Err(Error::data(format!(
                        "`f` correlates columns with numbers, but {n} rows leave no degree of freedom for it; at least 3 are needed"
                    )));
                }
                if target.low == target.high {
                    return Err(Error::data(
                        "`f` looks at the target, but it is the same number in every row",
                    ));
                }
                let d2 = n - 2.0;
                Ok((columns.iter().map(|column| number_f(column, d2)).collect(), 1.0, d2))
            }
        }
    }
}

impl Spread {
    /// That of no numbers.
    const NONE: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, above: 0.0, spread: 0.0 };

    /// The spread of n and m numbers together, and √(n·m/(n + m)) times the difference of their means.
    fn merged(self, n: f64, other: Self, m: f64) -> (Self, f64) {
        if n == 0.0 || m == 0.0 {
            return (if n == 0.0 { other } else { self }, 0.0);
        }
        let low = self.low.min(other.low);
        let apart = (other.low - self.low) + (other.above - self.above);
        let weighted = (n * (m / (n + m))).sqrt() * apart;
        let all = Self {
            low,
            high: self.high.max(other.high),
            above: (self.low - low) + self.above + apart * (m / (n + m)),
            spread: self.spread.hypot(other.spread).hypot(weighted),
        };
        (all, weighted)
    }
}

/// The spread of one column in each class.
fn spreads(column: Column, codes: &[usize], sizes: &[f64], weights: Option<&Weights>) -> Vec<Spread> {
    let c = sizes.len();
    let mut found = vec![Spread::NONE; c];
    let mut zeros = sizes.to_vec();
    column.visit(|i, x| {
        let of = &mut found[codes[i]];
        (of.low, of.high) = (of.low.min(x), of.high.max(x));
        zeros[codes[i]] -= weight(weights, i);
    });
    if weights.is_some() {
        // What rounding leaves of no weight at all is none.
        zeros.iter_mut().zip(sizes).for_each(|(zeros, size)| *zeros *= f64::from(*zeros > 1e-12 * size));
    }
    for (of, _) in found.iter_mut().zip(&zeros).filter(|(_, zeros)| **zeros > 0.0) {
        (of.low, of.high) = (of.low.min(0.0), of.high.max(0.0));
    }
    let least = found.iter().map(|of| of.low).fold(f64::INFINITY, f64::min);
    let most = found.iter().map(|of| of.high).fold(f64::NEG_INFINITY, f64::max);
    if least == most {
        return found;
    }
    let unit = Column::unit(least, most);
    column.visit(|i, x| {
        found[codes[i]].above += weight(weights, i) * (unit * x - unit * found[codes[i]].low);
    });
    for g in (0..c).filter(|&g| sizes[g] > 0.0) {
        found[g].above = (found[g].above - zeros[g] * (unit * found[g].low)) / sizes[g];
    }
    column.visit(|i, x| {
        let of = &mut found[codes[i]];
        of.spread += weight(weights, i) * ((unit * x - unit * of.low) - of.above).powi(2);
    });
    for g in (0..c).filter(|&g| sizes[g] > 0.0) {
        let of = &mut found[g];
        let squares = of.spread + zeros[g] * (unit * of.low + of.above).powi(2);
        (of.above, of.spread) = (of.above / unit, squares.sqrt() / unit);
    }
    found
}

/// One column along the target; y are the target's deviations from its mean in units of its spread.
fn along(column: Column, y: &[f64], weights: Option<&Weights>) -> Along {
    let n = total(weights, y.len());
    let x = spreads(column, &vec![0; y.len()], &[n], weights)[0];
    if x.low == x.high {
        return Along { x, along: 0.0, left: 0.0 };
    }
    let unit = Column::unit(x.low, x.high);
    let (base, above) = (unit * x.low, unit * x.above);
    let mean = base + above;
    let mut zeros = n - column.values().len() as f64;
    if weights.is_some() {
        zeros = n;
        column.visit(|i, _| zeros -= weight(weights, i));
        zeros *= f64::from(zeros > 1e-12 * n);
    }
    // Rows where the column is 0 contribute sums over y only: those over all rows less those over the other rows.
    let (mut product, mut sum, mut square, mut all) = (0.0, 0.0, 0.0, 0.0);
    column.visit(|i, v| {
        let y_weighted = weight(weights, i) * y[i];
        product += ((unit * v - base) - above) * y_weighted;
        sum += y_weighted;
        square += y_weighted * y[i];
    });
    if zeros > 0.0 {
        product += mean * sum;
        all = y.iter().enumerate().map(|(i, y)| weight(weights, i) * y * y).sum();
    }
    let mut left = 0.0;
    column.visit(|i, v| left += weight(weights, i) * ((unit * v - base) - above - product * y[i]).powi(2));
    if zeros > 0.0 {
        left += zeros * mean * mean - 2.0 * mean * product * sum + product * product * (all - square);
    }
    Along { x, along: product / unit, left: left.max(0.0).sqrt() / unit }
}

/// F of one column for classes.
fn class_f(column: &[Spread], sizes: &[f64], d1: f64, d2: f64) -> f64 {
    let classes: Vec<(&Spread, f64)> =
        column.iter().zip(sizes).filter(|(_, size)| **size > 0.0).map(|(of, size)| (of, *size)).collect();
    let least = classes.iter().map(|(of, _)| of.low).fold(f64::INFINITY, f64::min);
    let most = classes.iter().map(|(of, _)| of.high).fold(f64::NEG_INFINITY, f64::max);
    if least == most {
        return 0.0;
    }
    if classes.iter().all(|(of, _)| of.low == of.high) {
        return f64::MAX;
    }
    let first = classes[0].0;
    let apart = |of: &Spread| (of.low - first.low) + (of.above - first.above);
    let n: f64 = sizes.iter().sum();
    let mean = classes.iter().map(|(of, size)| size / n * apart(of)).sum::<f64>();
    let between = classes.iter().map(|(of, size)| size.sqrt() * (apart(of) - mean)).fold(0.0, f64::hypot);
    let within = classes.iter().map(|(of, _)| of.spread).fold(0.0, f64::hypot);
    ((between / within).powi(2) * (d2 / d1)).min(f64::MAX)
}

/// F of one column for numbers.
fn number_f(column: &Along, d2: f64) -> f64 {
    if column.x.low == column.x.high {
        0.0
    } else if (column.left / column.x.spread).powi(2) < f64::EPSILON {
        f64::MAX
    } else {
        (column.along / column.left).powi(2) * d2
    }
}
