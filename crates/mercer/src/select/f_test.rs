//! F-test: does a column's mean differ between classes, or does it go with the numbers?
//!
//!   classes: F = (Σ_g n_g(x̄_g − x̄)²/(c−1)) / (Σ_g Σ_{i∈g} (x_i − x̄_g)²/(n−c))      numbers: F = r²/(1−r²)·(n−2)
//!
//! p = P(F > f) with c−1 and n−c, or 1 and n−2, degrees of freedom.
//!
//! cost    three passes over a column in the cache; sparse: over what is stored, plus c a column
//! source  Fisher 1925; eks.txt 4.1; levels: Benjamini & Hochberg 1995, and Bonferroni
//! differs means first, then squares about them, so an offset does no harm; 1−r² is summed from the residuals. A
//!         constant column has F = 0, one that is constant in every class the largest number there is; so has one
//!         whose 1−r² double precision cannot tell from 0

use super::by_column::{Column, each_column};
use super::tails::f_upper;
use super::{Columns, Scores};
use crate::data::labels::Labels;
use crate::error::{Error, Result};

/// Columns that are transposed together: two cache lines a row.
const AT_ONCE: usize = 16;

/// Which columns the test itself keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Level {
    /// It only scores.
    #[default]
    None,
    /// Those with a p-value below this: the rate of false positives.
    Fpr(f64),
    /// By Benjamini and Hochberg: the rate of false discoveries.
    Fdr(f64),
    /// By Bonferroni: the chance of any false positive.
    Fwe(f64),
}

/// F-test.
#[derive(Clone, Debug, Default)]
pub struct FTest {
    /// Which columns it keeps.
    pub level: Level,
}

impl FTest {
    /// F of every column, its p-value, and what the level keeps.
    ///
    /// ```
    /// use mercer::select::{Columns, FTest, Level};
    /// use mercer::{Labels, Monitor, Rows};
    ///
    /// // Means 2 and 5, squares about them 2 + 2; between them 2·1.5² + 2·1.5² = 9: F = (9/1)/(4/2).
    /// let rows = Rows::dense(vec![1.0, 7.0, 3.0, 7.0, 4.0, 7.0, 6.0, 7.0], 4, 2)?;
    /// let labels = Labels::classes(&["a", "a", "b", "b"]);
    /// let monitor = Monitor::default();
    /// let found = FTest { level: Level::Fpr(0.2) }.score(&Columns::new(&rows, &labels, &monitor))?;
    /// assert_eq!(found.scores, [4.5, 0.0]);
    /// let p = found.pvalues.unwrap();
    /// assert!((p[0] - (1.0 - (9.0f64 / 13.0).sqrt())).abs() < 1e-15); // 1 and 2 degrees of freedom
    /// assert_eq!(p[1], 1.0);
    /// assert_eq!(found.chosen, Some(vec![true, false]));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("f", false)?;
        self.level.check()?;
        let labels = columns.labels("f")?;
        labels.require_two("f")?;
        columns.monitor.begin("testing columns", columns.rows.p());
        let (scores, d1, d2) = match labels {
            Labels::Classes { codes, names } => by_classes(columns, codes, names.len())?,
            Labels::Numbers(_) => by_numbers(columns, labels)?,
        };
        let pvalues: Vec<f64> = scores.iter().map(|&f| f_upper(f, d1, d2)).collect();
        let chosen = self.level.choose(&pvalues);
        Ok(Scores { scores, pvalues: Some(pvalues), chosen, ..Scores::default() })
    }
}

impl Level {
    fn check(self) -> Result<()> {
        match self {
            Self::Fpr(level) | Self::Fdr(level) | Self::Fwe(level) if !(level > 0.0 && level < 1.0) => {
                Err(Error::argument(format!("level = {level}, but it must be a number above 0 and below 1")))
            }
            _ => Ok(()),
        }
    }

    fn choose(self, pvalues: &[f64]) -> Option<Vec<bool>> {
        let p = pvalues.len() as f64;
        let keep = |passes: &dyn Fn(f64) -> bool| Some(pvalues.iter().map(|&v| passes(v)).collect());
        match self {
            Self::None => None,
            Self::Fpr(level) => keep(&|v| v < level),
            Self::Fwe(level) => keep(&|v| v < level / p),
            Self::Fdr(level) => {
                let mut ascending = pvalues.to_vec();
                ascending.sort_by(f64::total_cmp);
                let below = |(at, v): &(usize, &f64)| **v <= level / p * (at + 1) as f64;
                let last = ascending.iter().enumerate().rfind(below);
                keep(&|v| last.is_some_and(|(_, &last)| v <= last))
            }
        }
    }
}

/// F of every column, and its two degrees of freedom.
fn by_classes(columns: &Columns, codes: &[usize], names: usize) -> Result<(Vec<f64>, f64, f64)> {
    let mut sizes = vec![0.0; names];
    codes.iter().for_each(|&g| sizes[g] += 1.0);
    let (n, c) = (codes.len(), sizes.iter().filter(|size| **size > 0.0).count());
    if c < 2 {
        return Err(Error::data("`f` needs at least 2 classes, but all rows are of one"));
    }
    if n <= c {
        return Err(Error::data(format!(
            "`f` compares the spread within classes, but {n} rows in {c} classes leave no degree of freedom for it; \
             more rows than classes are needed"
        )));
    }
    let (d1, d2) = ((c - 1) as f64, (n - c) as f64);
    let scores =
        each_column(columns.rows, AT_ONCE, columns.monitor, |_, x| Ok(class_f(x, codes, &sizes, d1, d2)))?;
    Ok((scores, d1, d2))
}

/// F of one column for classes.
fn class_f(column: Column, codes: &[usize], sizes: &[f64], d1: f64, d2: f64) -> f64 {
    let c = sizes.len();
    let (mut low, mut high) = (vec![f64::INFINITY; c], vec![f64::NEG_INFINITY; c]);
    let mut zeros = sizes.to_vec();
    column.visit(|i, x| {
        let g = codes[i];
        low[g] = low[g].min(x);
        high[g] = high[g].max(x);
        zeros[g] -= 1.0;
    });
    for g in (0..c).filter(|&g| zeros[g] > 0.0) {
        low[g] = low[g].min(0.0);
        high[g] = high[g].max(0.0);
    }
    let least = low.iter().copied().fold(f64::INFINITY, f64::min);
    let most = high.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if least == most {
        return 0.0;
    }
    let classes: Vec<usize> = (0..c).filter(|&g| sizes[g] > 0.0).collect();
    if classes.iter().all(|&g| low[g] == high[g]) {
        return f64::MAX;
    }
    let unit = Column::unit(least, most);
    // About a number of the class itself, so that neither an offset nor a far class costs digits.
    let mut mean = vec![0.0; c];
    column.visit(|i, x| mean[codes[i]] += unit * x - unit * low[codes[i]]);
    for &g in &classes {
        mean[g] = unit * low[g] + (mean[g] - zeros[g] * (unit * low[g])) / sizes[g];
    }
    let mut within = 0.0;
    column.visit(|i, x| within += (unit * x - mean[codes[i]]).powi(2));
    within += classes.iter().map(|&g| zeros[g] * mean[g] * mean[g]).sum::<f64>();
    let n: f64 = sizes.iter().sum();
    let base = mean[classes[0]];
    let overall = base + classes.iter().map(|&g| sizes[g] * (mean[g] - base)).sum::<f64>() / n;
    let between: f64 = classes.iter().map(|&g| sizes[g] * (mean[g] - overall).powi(2)).sum();
    (between / d1 / (within / d2)).min(f64::MAX)
}

/// F of every column, and its two degrees of freedom.
fn by_numbers(columns: &Columns, labels: &Labels) -> Result<(Vec<f64>, f64, f64)> {
    let n = labels.len();
    if n < 3 {
        return Err(Error::data(format!(
            "`f` correlates columns with numbers, but {n} rows leave no degree of freedom for it; at least 3 are needed"
        )));
    }
    let (y, _, _) = labels.centered();
    let all: f64 = y.iter().map(|v| v * v).sum();
    let d2 = (n - 2) as f64;
    let scores = each_column(columns.rows, AT_ONCE, columns.monitor, |_, x| Ok(number_f(x, &y, all, d2)))?;
    Ok((scores, 1.0, d2))
}

/// F of one column for numbers, y their deviations from the mean and `all` the sum of their squares.
fn number_f(column: Column, y: &[f64], all: f64, d2: f64) -> f64 {
    let n = y.len() as f64;
    let zeros = n - column.values().len() as f64;
    let ends = if zeros > 0.0 { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    let (low, high) = column.values().iter().fold(ends, |(low, high), &v| (v.min(low), v.max(high)));
    if low == high {
        return 0.0;
    }
    let unit = Column::unit(low, high);
    let base = unit * low;
    let above: f64 = column.values().iter().map(|x| unit * x - base).sum();
    let mean = base + (above - zeros * base) / n;
    // Of the rows where the column is 0 only sums over y are needed: those over all rows less those over the others.
    let (mut square, mut product, mut y_sum, mut y_square) = (zeros * mean * mean, 0.0, 0.0, 0.0);
    column.visit(|i, x| {
        let deviation = unit * x - mean;
        square += deviation * deviation;
        product += deviation * y[i];
        y_sum += y[i];
        y_square += y[i] * y[i];
    });
    if zeros > 0.0 {
        product += mean * y_sum;
    }
    let slope = product / all;
    let mut left = 0.0;
    column.visit(|i, x| left += (unit * x - mean - slope * y[i]).powi(2));
    if zeros > 0.0 {
        left += zeros * mean * mean - 2.0 * mean * slope * y_sum + slope * slope * (all - y_square);
    }
    let (explained, unexplained) = (slope * product / square, left / square);
    if unexplained < f64::EPSILON { f64::MAX } else { explained / unexplained * d2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::Rows;
    use crate::data::synth;
    use crate::monitor::Monitor;

    fn scores(rows: &Rows, labels: &Labels) -> Scores {
        FTest::default().score(&Columns::new(rows, labels, &Monitor::default())).expect("scores")
    }

    fn numbers(n: usize) -> (Vec<f64>, Labels) {
        let table = synth::generate(&format!("friedman?n={n}&seed=1")).expect("rows");
        let y = (0..n).map(|i| table.rows.to_dense()[i * 10]).collect();
        (table.rows.to_dense(), Labels::Numbers(y))
    }

    #[test]
    fn two_classes_are_the_numbers_zero_and_one() {
        let (x, _) = numbers(60);
        let rows = Rows::dense(x, 60, 10).expect("rows");
        let codes: Vec<usize> = (0..60).map(|i| usize::from(i % 3 == 0)).collect();
        let as_numbers = Labels::Numbers(codes.iter().map(|&g| g as f64).collect());
        let as_classes = Labels::Classes { codes, names: vec!["0".into(), "1".into()] };
        let (classes, numbers) = (scores(&rows, &as_classes), scores(&rows, &as_numbers));
        for (a, b) in classes.scores.iter().zip(&numbers.scores) {
            assert!((a - b).abs() <= 1e-12 * a, "{a} {b}");
        }
    }

    #[test]
    fn neither_offset_nor_unit_nor_zeros_left_out_change_f() {
        let (mut x, labels) = numbers(80);
        x.iter_mut().enumerate().filter(|(at, _)| at % 3 > 0).for_each(|(_, v)| *v = 0.0);
        let classes = Labels::Classes {
            codes: (0..80).map(|i| i % 7).collect(),
            names: (0..8).map(|g| g.to_string()).collect(),
        };
        for labels in [&labels, &classes] {
            let plain = scores(&Rows::dense(x.clone(), 80, 10).expect("rows"), labels).scores;
            let close = |values: Vec<f64>, tolerance: f64| {
                let rows = Rows::dense(values, 80, 10).expect("rows");
                for found in [scores(&rows, labels), scores(&rows.to_sparse(), labels)] {
                    for (a, b) in found.scores.iter().zip(&plain) {
                        assert!((a - b).abs() <= tolerance * (b + 1.0), "{a} {b}");
                    }
                }
            };
            close(x.clone(), 1e-12);
            close(x.iter().map(|v| v * 1e-200).collect(), 1e-12);
            close(x.iter().map(|v| v * 1e300).collect(), 1e-12);
            // Of 16 digits the offset takes 6.
            close(x.iter().map(|v| v + 1e6).collect(), 1e-8);
        }
    }

    #[test]
    fn constant_and_perfect_columns_have_the_ends_of_the_scale() {
        // Columns: constant; constant in each class; of the numbers themselves; anything.
        let y = [0.1, 0.1, 0.1, 0.7, 0.7, 0.7];
        let x: Vec<f64> =
            y.iter().enumerate().flat_map(|(i, y)| [0.1, *y, 3.0 - y * 1e-3, i as f64]).collect();
        let rows = Rows::dense(x, 6, 4).expect("rows");
        for labels in [Labels::classes(&["a", "a", "a", "b", "b", "b"]), Labels::Numbers(y.to_vec())] {
            let found = scores(&rows, &labels);
            assert_eq!(found.scores[..3], [0.0, f64::MAX, f64::MAX]);
            assert_eq!(found.pvalues.expect("p")[..3], [1.0, 0.0, 0.0]);
            assert!(found.scores[3] > 1.0 && found.scores[3] < 100.0);
        }
    }

    #[test]
    fn no_degree_of_freedom_is_an_error() {
        let rows = Rows::dense(vec![1.0, 2.0], 2, 1).expect("rows");
        let monitor = Monitor::default();
        for labels in [Labels::classes(&["a", "b"]), Labels::Numbers(vec![0.0, 1.0])] {
            let error = FTest::default().score(&Columns::new(&rows, &labels, &monitor)).expect_err("refused");
            assert!(error.to_string().contains("degree of freedom"), "{error}");
        }
    }

    #[test]
    fn levels_keep_what_they_say() {
        let p = [0.01, 0.02, 0.03, 0.5, 0.004];
        let kept = |level: Level| -> Vec<usize> {
            let chosen = level.choose(&p).expect("a level chooses");
            (0..5).filter(|&j| chosen[j]).collect()
        };
        assert_eq!(kept(Level::Fpr(0.03)), [0, 1, 4]);
        // 0.03 ≤ 0.05·4/5, so the three before it pass too, though 0.02 alone does at 3/5 as well.
        assert_eq!(kept(Level::Fdr(0.05)), [0, 1, 2, 4]);
        assert_eq!(kept(Level::Fwe(0.05)), [4]);
        assert!(Level::Fdr(1.0).check().is_err() && Level::None.choose(&p).is_none());
    }
}
