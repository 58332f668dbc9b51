//! F-test: does a column's mean differ between classes, or does it go with the numbers?
//!
//!   classes: F = (Σ_g n_g(x̄_g − x̄)²/(c−1)) / (Σ_g Σ_{i∈g} (x_i − x̄_g)²/(n−c))      numbers: F = r²/(1−r²)·(n−2)
//!
//! p = P(F > f) with c−1 and n−c, or 1 and n−2, degrees of freedom.
//!
//! cost    that of the sums, see `f_sums`
//! source  Fisher 1925; EKS, sec. 4.1; levels: Benjamini & Hochberg 1995, and Bonferroni
//! differs means first, then squares about them, so an offset does no harm; 1−r² is summed from what is left. A
//!         constant column has F = 0, one that is constant in every class the largest number there is; so has one
//!         whose 1−r² float64 cannot tell from 0

use super::f_sums::FSums;
use super::tails::f_upper;
use super::{Accepts, Columns, N_FEATURES, Scores, Select, finite};
use crate::data::labels::Labels;
use crate::data::needs::Needs;
use crate::error::{Error, Result};
use crate::spec::{MethodSpec, Parameter, Stage, Values};

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

pub(crate) const F: MethodSpec = MethodSpec {
    name: "f",
    stage: Stage::Select,
    file: "select/f_test.rs",
    source: "Fisher; EKS, sec. 4.1",
    cost: "n·p",
    parameters: &[N_FEATURES],
    help: "F-test of classes, or of correlation with numbers; with p-values",
};

pub(crate) const FPR: MethodSpec = MethodSpec {
    name: "fpr",
    stage: Stage::Select,
    file: "select/f_test.rs",
    source: "EKS, sec. 4.1",
    cost: "n·p",
    parameters: &[N_FEATURES, LEVEL],
    help: "columns with an F-test p-value below the level",
};

pub(crate) const FDR: MethodSpec = MethodSpec {
    name: "fdr",
    stage: Stage::Select,
    file: "select/f_test.rs",
    source: "Benjamini & Hochberg 1995",
    cost: "n·p",
    parameters: &[N_FEATURES, LEVEL],
    help: "columns that pass the F-test at this rate of false discoveries",
};

pub(crate) const FWE: MethodSpec = MethodSpec {
    name: "fwe",
    stage: Stage::Select,
    file: "select/f_test.rs",
    source: "Bonferroni; EKS, sec. 4.1",
    cost: "n·p",
    parameters: &[N_FEATURES, LEVEL],
    help: "columns that pass the F-test at this chance of any false positive",
};

const LEVEL: Parameter = Parameter::share("level", true, true, "how much error is allowed").default("0.05");

impl FTest {
    /// The test behind one of the four names, with the level that was set.
    pub(crate) fn from_values(spec: &MethodSpec, values: &Values) -> Self {
        let level = values.number("level").unwrap_or_default();
        Self {
            level: match spec.name {
                "fpr" => Level::Fpr(level),
                "fdr" => Level::Fdr(level),
                "fwe" => Level::Fwe(level),
                _ => Level::None,
            },
        }
    }
}

impl Select for FTest {
    fn spec(&self) -> &'static MethodSpec {
        match self.level {
            Level::None => &F,
            Level::Fpr(_) => &FPR,
            Level::Fdr(_) => &FDR,
            Level::Fwe(_) => &FWE,
        }
    }

    fn needs(&self) -> Needs {
        Needs::Targets
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        FTest::score(self, columns)
    }
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
    /// assert!((found.scores[0] - 4.5).abs() < 1e-14 && found.scores[1] == 0.0);
    /// let p = found.pvalues.unwrap();
    /// assert!((p[0] - (1.0 - (9.0f64 / 13.0).sqrt())).abs() < 1e-15); // 1 and 2 degrees of freedom
    /// assert_eq!(p[1], 1.0);
    /// assert_eq!(found.chosen, Some(vec![true, false]));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("f", Accepts::Numbers)?;
        self.level.check()?;
        columns.labels("f")?.require_two("f")?;
        if let Labels::Several { count, .. } = columns.labels("f")? {
            return self.score_several(columns, *count);
        }
        columns.monitor.begin("testing columns", columns.rows.p());
        let sums = FSums::of(columns)?;
        let found = self.score_sums(&sums)?;
        Ok(Scores { sums: Some(sums), ..found })
    }

    /// The largest F among the targets; its p-value is Bonferroni's, for as many tests as there are targets.
    fn score_several(&self, columns: &Columns, count: usize) -> Result<Scores> {
        let p = columns.rows.p();
        let (mut scores, mut pvalues) = (vec![0.0f64; p], vec![1.0f64; p]);
        for j in 0..count {
            let labels = columns.labels("f")?.only(j);
            // A target that does not vary says nothing of any column.
            if labels.require_two("f").is_err() {
                continue;
            }
            let found = Self { level: Level::None }.score(&Columns { labels: Some(&labels), ..*columns })?;
            scores.iter_mut().zip(&found.scores).for_each(|(own, new)| *own = own.max(*new));
            let new = found.pvalues.unwrap_or_default();
            pvalues.iter_mut().zip(&new).for_each(|(own, new)| *own = own.min(count as f64 * new));
        }
        let chosen = self.level.choose(&pvalues);
        Ok(Scores { scores, pvalues: Some(pvalues), chosen, ..Scores::default() })
    }

    /// Scores from sums over the rows of one batch or many.
    pub fn score_sums(&self, sums: &FSums) -> Result<Scores> {
        self.level.check()?;
        let (scores, d1, d2) = sums.test()?;
        let scores = finite(scores, "f")?;
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

    /// Sums of batches of these sizes, the last size again and again.
    fn in_batches(rows: &Rows, labels: &Labels, sizes: &[usize]) -> FSums {
        let (mut sums, mut start, mut at): (Option<FSums>, usize, usize) = (None, 0, 0);
        while start < rows.n() {
            let end = rows.n().min(start + sizes[at.min(sizes.len() - 1)]);
            let here: Vec<usize> = (start..end).collect();
            let (part, their) = (rows.slice(start..end), labels.select(&here));
            let batch = FSums::of(&Columns::new(&part, &their, &Monitor::default())).expect("sums");
            match &mut sums {
                None => sums = Some(batch),
                Some(sums) => sums.merge(&batch).expect("fits"),
            }
            (start, at) = (end, at + 1);
        }
        sums.expect("rows")
    }

    #[test]
    fn how_rows_are_cut_into_batches_does_not_matter() {
        // Columns: as they are; far from zero; tiny; huge; constant; nearly the target; exactly it; mostly zero.
        let (x, _) = numbers(400);
        let y: Vec<f64> = (0..400).map(|i| 1e5 + x[i * 10]).collect();
        let values: Vec<f64> = (0..400)
            .flat_map(|i| {
                let v = x[i * 10 + 1];
                let near = y[i] + 1e-5 * v;
                [v, 1e6 + v, 1e-200 * v, 1e300 * v, 0.1, near, y[i], if i % 9 == 0 { v } else { 0.0 }]
            })
            .collect();
        let rows = Rows::dense(values, 400, 8).expect("rows");
        let codes: Vec<usize> =
            (0..400).map(|i| usize::from(y[i] > 1e5 + 0.4) + usize::from(i % 3 == 0)).collect();
        let classes = Labels::Classes { codes, names: (0..4).map(|g| g.to_string()).collect() };
        for labels in [Labels::Numbers(y), classes] {
            for rows in [rows.slice(0..400), rows.to_sparse()] {
                let whole = scores(&rows, &labels);
                for sizes in [&[1][..], &[3, 150, 1, 200], &[199]] {
                    let sums = in_batches(&rows, &labels, sizes);
                    let found = FTest::default().score_sums(&sums).expect("scores");
                    for (j, (a, b)) in found.scores.iter().zip(&whole.scores).enumerate() {
                        // Of 16 digits the offset takes 6, and so does the target's.
                        let tolerance = if j == 1 || j == 5 { 1e-8 } else { 1e-10 };
                        assert!((a - b).abs() <= tolerance * b, "{j}: {a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn partitions_without_rows_or_without_a_class_change_nothing() {
        let (x, _) = numbers(200);
        let rows = Rows::dense(x.clone(), 200, 10).expect("rows");
        // Sorted classes: most partitions have one or two of four, and the last class has no rows at all.
        let codes = (0..200).map(|i| i / 67).collect();
        let names = (0..4).map(|g| g.to_string()).collect();
        let y = (0..200).map(|i| x[i * 10] + f64::from(i as u32 / 50)).collect();
        for labels in [Labels::Classes { codes, names }, Labels::Numbers(y)] {
            let whole = scores(&rows, &labels);
            for cuts in [&[0, 0, 200][..], &[0, 1, 1, 2, 70, 199, 200, 200], &[0, 67, 134, 200]] {
                let mut parts: Vec<FSums> = cuts
                    .windows(2)
                    .map(|cut| {
                        let here: Vec<usize> = (cut[0]..cut[1]).collect();
                        let (part, their) = (rows.slice(cut[0]..cut[1]), labels.select(&here));
                        match here.len() {
                            0 => FSums::none(10, labels.n_classes()),
                            _ => FSums::of(&Columns::new(&part, &their, &Monitor::default())).expect("sums"),
                        }
                    })
                    .collect();
                // From either end, and starting with nothing.
                for _ in 0..2 {
                    parts.reverse();
                    let mut sums = FSums::none(10, labels.n_classes());
                    parts.iter().for_each(|part| sums.merge(part).expect("fits"));
                    let found = FTest::default().score_sums(&sums).expect("scores");
                    for (a, b) in found.scores.iter().zip(&whole.scores) {
                        assert!((a - b).abs() <= 1e-11 * (1.0 + b), "{cuts:?}: {a} for {b}");
                    }
                }
            }
            let nothing = FSums::none(10, labels.n_classes());
            assert!(!nothing.is_enough() && FTest::default().score_sums(&nothing).is_err());
        }
    }

    #[test]
    fn too_few_rows_are_not_enough_yet_and_others_do_not_merge() {
        let one = Rows::dense(vec![1.0, 2.0], 1, 2).expect("rows");
        let of = |rows: &Rows, labels: &Labels| {
            FSums::of(&Columns::new(rows, labels, &Monitor::default())).expect("sums")
        };
        let mut numbers = of(&one, &Labels::Numbers(vec![1.0]));
        assert!(!numbers.is_enough() && FTest::default().score_sums(&numbers).is_err());
        let two = Labels::Classes { codes: vec![0], names: vec!["a".into(), "b".into()] };
        let mut classes = of(&one, &two);
        assert!(!classes.is_enough() && FTest::default().score_sums(&classes).is_err());
        assert!(numbers.merge(&classes).is_err() && classes.merge(&numbers).is_err());
        let narrow = of(&Rows::dense(vec![1.0], 1, 1).expect("rows"), &two);
        assert!(classes.merge(&narrow).is_err());
    }
}
