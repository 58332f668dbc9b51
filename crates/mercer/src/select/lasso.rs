//! LASSO: columns with a coefficient in L1-penalised least squares.
//!
//!   minimise (1/2n)‖Y − XB‖² + λ Σ_j ‖B_j‖₂      X n×p and Y n×t centred, B p×t
//!
//! Numbers are one target, two classes ±1, more classes one-hot columns: then a column is in or out for all of them. λ is
//! the one of 100 (`n_penalties`) from λ_max down to λ_max/1000 whose fits to cv − 1 folds predict the remaining one best,
//! or given (`penalty`).
//!
//! cost    p ≤ 2 000: n·p² flops once, for all folds together; else n·p·t flops a look at all columns, of which a
//!         penalty takes two or three. Then coordinate_descent.rs
//! stops   on all rows, when the optimality conditions hold to 1e−13·λ_max (a warning beyond 1e−8); along the folds'
//!         paths and on random parts of the rows to 1e−6·λ
//! source  Tibshirani 1996; Yuan & Lin 2006 (groups); Meinshausen & Bühlmann 2010 (stability selection); EKS, sec. 4.2
//! differs columns are not scaled: in a basis' coordinates their size means something

use faer::Mat;
use rayon::prelude::*;

use super::coordinate_descent::{Descent, Effort, length};
use super::folded::Folded;
use super::quadratic::Quadratic;
use super::{Accepts, Columns, N_FEATURES, Scores, Select, finite};
use crate::data::needs::Needs;
use crate::data::weights::refuse;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::random;
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, SEED, Stage, Values};

/// The largest penalty over the smallest.
const SPAN: f64 = 1_000.0;

/// Along a path: how far the optimality conditions may be broken, in λ, and the sweeps it may take.
const ALONG: (f64, usize) = (1e-6, 2_000);

/// At the chosen penalty, in λ_max.
const AT_LAST: (f64, usize) = (1e-13, 20_000);

/// Beyond this, in λ_max, the user should know.
const TOO_FAR: f64 = 1e-8;

/// λ_max below this share of the largest ‖X_j‖‖Y‖/n is rounding: no column goes with the target.
const ROUNDING: f64 = 1e-14;

/// LASSO: columns with a coefficient in L1-penalised least squares.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// Folds that choose the penalty.
    pub cv: usize,
    /// The penalty λ; None: the one that the folds choose.
    pub penalty: Option<f64>,
    /// Penalties that the folds choose from.
    pub n_penalties: usize,
    /// Whether columns are chosen by how often they are, over random parts of the rows (stability selection).
    pub randomized: bool,
    /// Random parts of the rows.
    pub n_resamples: usize,
    /// Share of the rows in each of them.
    pub sample_fraction: f64,
    /// Columns are multiplied by random numbers between 1 − scaling and 1.
    pub scaling: f64,
    /// Share of them that must choose a column for it to be kept.
    pub threshold: f64,
    /// Seed of folds, random parts and scales.
    pub seed: u64,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "lasso",
    stage: Stage::Select,
    file: "select/lasso.rs",
    source: "Tibshirani 1996; Meinshausen & Bühlmann 2010",
    cost: "n·p² and the path",
    parameters: &[
        N_FEATURES,
        Parameter::whole("cv", 2, "folds that choose the penalty").default("5"),
        Parameter::new(
            "randomized",
            Kind::Flag,
            "score columns by how often random parts of the rows choose them (stability selection)",
        )
        .default("false"),
        Parameter::whole("n_resamples", 1, "number of random parts of the rows").default("100"),
        Parameter::share(
            "stability",
            true,
            false,
            "share of the random parts that must choose a column for it to be kept",
        )
        .default("0.6"),
        Parameter::share("sample_fraction", true, false, "share of the rows in a random part").default("0.5"),
        Parameter::share(
            "scaling",
            false,
            true,
            "columns of a random part are multiplied by random numbers between 1 − scaling and 1",
        )
        .default("0.5"),
        Parameter::positive("penalty", "the penalty, which scikit-learn calls alpha")
            .none("the one with the smallest cross-validated error"),
        Parameter::whole("n_penalties", 2, "penalties that cross-validation chooses from").default("100"),
        SEED,
    ],
    help: "LASSO: columns with a coefficient in L1-penalised least squares, or often chosen by it",
};

impl FromValues for Lasso {
    fn from_values(values: &Values) -> Self {
        Self {
            cv: values.count("cv").unwrap_or(2),
            penalty: values.number("penalty"),
            n_penalties: values.count("n_penalties").unwrap_or(2),
            randomized: values.flag("randomized"),
            n_resamples: values.count("n_resamples").unwrap_or(1),
            sample_fraction: values.number("sample_fraction").unwrap_or(1.0),
            scaling: values.number("scaling").unwrap_or_default(),
            threshold: values.number("stability").unwrap_or_default(),
            seed: values.seed(),
        }
    }
}

impl Default for Lasso {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Select for Lasso {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn needs(&self) -> Needs {
        Needs::Targets
    }

    fn widens(&self) -> bool {
        true
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        Lasso::score(self, columns)
    }
}

impl Lasso {
    /// ‖B_j‖ of every column at the penalty chosen; `randomized`: the share of the random parts that chose it.
    ///
    /// ```
    /// use mercer::select::{Columns, Lasso};
    /// use mercer::{Labels, Monitor, Rows};
    ///
    /// // Orthogonal columns, y = 3·x₀: each coefficient is its own and shrunk by λ, the last of the path: λ_max = 3.
    /// let rows = Rows::dense(vec![1.0, 1.0, 1.0, -1.0, -1.0, 1.0, -1.0, -1.0], 4, 2)?;
    /// let labels = Labels::Numbers(vec![3.0, 3.0, -3.0, -3.0]);
    /// let monitor = Monitor::default();
    /// let found = Lasso { cv: 4, ..Lasso::default() }.score(&Columns::new(&rows, &labels, &monitor))?;
    /// let penalty = found.penalty.unwrap();
    /// assert!((penalty - 0.003).abs() < 1e-12);
    /// assert!((found.scores[0] - (3.0 - penalty)).abs() < 1e-12);
    /// assert_eq!(found.chosen, Some(vec![true, false]));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check("lasso", Accepts::Numbers)?;
        let labels = columns.labels("lasso")?;
        labels.require_two("lasso")?;
        self.check(columns.rows.n())?;
        if self.randomized {
            refuse(
                columns.weights,
                "lasso with randomized = true",
                "use randomized = false, or leave the weights out",
            )?;
        }
        let monitor = columns.monitor;
        let p = columns.rows.p();
        monitor.begin("summing over folds", self.cv);
        let folded = Folded::new(columns, labels, self.cv, self.seed)?;
        let mut fit = Descent::new(folded.quadratic(None, monitor)?, monitor);
        let largest = fit.largest_penalty();
        let size = folded.x.col_iter().fold(0.0, |m: f64, x| m.max(x.norm_l2())) * folded.y.norm_l2();
        if largest <= ROUNDING * size / folded.x.nrows() as f64 {
            let warnings = vec!["no column is correlated with the target; none is chosen".into()];
            let (scores, chosen) = (vec![0.0; p], Some(vec![false; p]));
            return Ok(Scores { scores, chosen, penalty: Some(0.0), warnings, ..Scores::default() });
        }
        let unit = folded.y_unit / folded.x_unit;
        let (path, mut warnings) = self.path(&folded, largest, unit, monitor)?;
        let lambda = path.last().copied().unwrap_or(largest);
        // In units of x·y, which may be more than there are numbers for.
        let penalty = self.penalty.or(Some((lambda * unit).min(f64::MAX)));
        let (scores, chosen): (Vec<f64>, _) = if self.randomized {
            let shares = self.shares(&folded, lambda, monitor)?;
            let chosen = shares.iter().map(|&share| share >= self.threshold).collect();
            (shares, chosen)
        } else {
            let broken = follow(&mut fit, &path, monitor)? / largest;
            if broken > TOO_FAR {
                warnings.push(format!(
                    "the coefficients have not converged: the optimality conditions are broken by {broken:.0e} of the \
                     largest penalty; columns may be nearly dependent"
                ));
            }
            let (mut scores, mut chosen) = (vec![0.0; p], vec![false; p]);
            for (j, b) in fit.coefficients() {
                scores[j] = length(&b) * (folded.y_unit * folded.x_unit);
                chosen[j] = true;
            }
            (scores, chosen)
        };
        let scores = finite(scores, "lasso")?;
        Ok(Scores { scores, chosen: Some(chosen), penalty, warnings, ..Scores::default() })
    }

    /// Penalties from the largest down to the one that is given, or that the folds choose; and what the user should know.
    fn path(
        &self,
        folded: &Folded,
        largest: f64,
        unit: f64,
        monitor: &Monitor,
    ) -> Result<(Vec<f64>, Vec<String>)> {
        let power = |i: usize| SPAN.powf(-(i as f64) / (self.n_penalties - 1) as f64);
        let mut penalties: Vec<f64> = (0..self.n_penalties).map(|i| largest * power(i)).collect();
        let Some(given) = self.penalty else {
            let (best, warnings) = cross_validate(folded, &penalties, monitor)?;
            penalties.truncate(best + 1);
            return Ok((penalties, warnings));
        };
        let lambda = given / unit;
        penalties.retain(|penalty| *penalty > lambda);
        penalties.push(lambda);
        let mut warnings = Vec::new();
        if lambda >= largest && !self.randomized {
            warnings.push(format!(
                "penalty = {given}, but from {:.4} on no column has a coefficient; none is chosen",
                largest * unit
            ));
        }
        Ok((penalties, warnings))
    }

    fn check(&self, n: usize) -> Result<()> {
        if self.cv < 2 || self.cv > n {
            return Err(Error::argument(format!(
                "cv = {}, but {n} rows make at least 2 and at most {n} folds; change it",
                self.cv
            )));
        }
        if self.penalty.is_some_and(|penalty| !(penalty > 0.0 && penalty.is_finite())) {
            return Err(Error::argument(format!(
                "penalty = {}, but it must be a finite number above 0",
                self.penalty.unwrap_or_default()
            )));
        }
        if self.n_penalties < 2 {
            return Err(Error::argument(format!(
                "n_penalties = {}, but it must be a whole number of at least 2",
                self.n_penalties
            )));
        }
        if self.randomized && !(self.sample_fraction > 0.0 && self.sample_fraction <= 1.0) {
            return Err(Error::argument(format!(
                "sample_fraction = {}, but it must be a number above 0 and at most 1",
                self.sample_fraction
            )));
        }
        if self.randomized && !(self.scaling >= 0.0 && self.scaling < 1.0) {
            return Err(Error::argument(format!(
                "scaling = {}, but it must be a number of at least 0 and below 1",
                self.scaling
            )));
        }
        if self.randomized && self.n_resamples == 0 {
            return Err(Error::argument("n_resamples = 0, but it must be a whole number of at least 1"));
        }
        if self.randomized && !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::argument(format!(
                "threshold = {}, but it must be a number above 0 and at most 1",
                self.threshold
            )));
        }
        Ok(())
    }

    /// For every column the share of random parts of the rows in which it has a coefficient.
    fn shares(&self, folded: &Folded, lambda: f64, monitor: &Monitor) -> Result<Vec<f64>> {
        monitor.begin("fitting random parts", self.n_resamples);
        let chosen: Result<Vec<Vec<usize>>> = (0..self.n_resamples)
            .into_par_iter()
            .map(|resample| {
                let chosen = self.choose_in_part(folded, lambda, resample, monitor);
                monitor.advance(1);
                chosen
            })
            .collect();
        let mut counts = vec![0u32; folded.x.ncols()];
        chosen?.into_iter().flatten().for_each(|j| counts[j] += 1);
        Ok(counts.into_iter().map(|count| f64::from(count) / self.n_resamples as f64).collect())
    }

    /// The columns with a coefficient on a random part of the rows, each multiplied by a random number from 1 less `scaling`
    /// to 1.
    fn choose_in_part(
        &self,
        folded: &Folded,
        lambda: f64,
        resample: usize,
        monitor: &Monitor,
    ) -> Result<Vec<usize>> {
        // A stream of its own, so that it matters neither which thread draws nor how many resamples there are.
        let mut generator = random::generator(self.seed);
        generator.set_stream(resample as u64 + 1);
        let n = folded.x.nrows();
        let part = ((n as f64 * self.sample_fraction) as usize).max(1);
        let mut rows = rand::seq::index::sample(&mut generator, n, part).into_vec();
        rows.sort_unstable();
        let least = 1.0 - self.scaling;
        let scale =
            (0..folded.x.ncols()).map(|_| least + self.scaling * random::uniform(&mut generator)).collect();
        let part = Quadratic::of_rows(folded.x.as_ref(), folded.y.as_ref(), rows, Some(scale), monitor)?;
        let mut fit = Descent::new(part, monitor);
        // Warm starts: a penalty at once would take in most columns.
        let mut step = 0.5 * fit.largest_penalty();
        while step > lambda {
            fit.solve(step, Effort { tolerance: 0.01 * step, sweeps: ALONG.1 })?;
            step *= 0.5;
        }
        fit.solve(lambda, along(lambda))?;
        Ok(fit.coefficients().map(|(j, _)| j).collect())
    }
}

/// Goes along the penalties, closely at the last; by how much its optimality conditions are broken.
fn follow(fit: &mut Descent, penalties: &[f64], monitor: &Monitor) -> Result<f64> {
    monitor.begin("fitting all rows", penalties.len());
    let mut broken = 0.0;
    for (i, &lambda) in penalties.iter().enumerate() {
        let last = Effort { tolerance: AT_LAST.0 * penalties[0], sweeps: AT_LAST.1 };
        broken = fit.solve(lambda, if i + 1 == penalties.len() { last } else { along(lambda) })?;
        monitor.advance(1);
    }
    Ok(broken)
}

fn along(lambda: f64) -> Effort {
    Effort { tolerance: ALONG.0 * lambda, sweeps: ALONG.1 }
}

/// The place of the penalty with the smallest error on rows that were left out, and what the user should know.
fn cross_validate(folded: &Folded, penalties: &[f64], monitor: &Monitor) -> Result<(usize, Vec<String>)> {
    let cv = folded.folds.len();
    monitor.begin("choosing the penalty", cv * penalties.len());
    let paths: Result<Vec<(Vec<f64>, usize)>> =
        (0..cv).into_par_iter().map(|fold| errors_on(folded, fold, penalties, monitor)).collect();
    let paths = paths?;
    let mean = |i: usize| paths.iter().map(|(errors, _)| errors[i]).sum::<f64>() / cv as f64;
    let mut best = (0, mean(0));
    for i in 1..penalties.len() {
        if mean(i) < best.1 {
            best = (i, mean(i));
        }
    }
    let unsettled: usize = paths.iter().map(|(_, unsettled)| unsettled).sum();
    let warnings = if unsettled > 0 {
        vec![format!(
            "{unsettled} of {} fits of the cross-validation stopped before they converged; columns may be nearly \
             dependent",
            cv * penalties.len()
        )]
    } else {
        Vec::new()
    };
    Ok((best.0, warnings))
}

/// Mean squared error on a fold's rows of the fits to all others, for every penalty; and the fits that did not settle.
fn errors_on(
    folded: &Folded,
    fold: usize,
    penalties: &[f64],
    monitor: &Monitor,
) -> Result<(Vec<f64>, usize)> {
    let rows = folded.folds[fold].clone();
    let (x, y) = (folded.x.get(rows.clone(), ..), folded.y.get(rows, ..));
    let (x_mean, y_mean) = folded.means_without(fold);
    let mut fit = Descent::new(folded.quadratic(Some(fold), monitor)?, monitor);
    let mut unsettled = 0;
    let mut errors = Vec::with_capacity(penalties.len());
    for &lambda in penalties {
        let effort = along(lambda);
        unsettled += usize::from(fit.solve(lambda, effort)? > effort.tolerance);
        let mut left = Mat::from_fn(y.nrows(), y.ncols(), |i, s| y[(i, s)] - y_mean[s]);
        for (j, b) in fit.coefficients() {
            monitor.check()?;
            for (left, b) in left.col_iter_mut().zip(&b) {
                left.iter_mut().zip(x.col(j).iter()).for_each(|(left, x)| *left -= (x - x_mean[j]) * b);
            }
        }
        let squared = match folded.weights_of(fold) {
            None => left.squared_norm_l2() / (y.nrows() * y.ncols()) as f64,
            Some(weights) => {
                let of_row = |i: usize| weights[i] * left.row(i).squared_norm_l2();
                let all = weights.iter().sum::<f64>() * y.ncols() as f64;
                (0..y.nrows()).map(of_row).sum::<f64>() / all
            }
        };
        errors.push(squared);
        monitor.advance(1);
    }
    Ok((errors, unsettled))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::Labels;
    use crate::data::rows::Rows;
    use crate::data::synth;

    fn data(n: usize) -> (Vec<f64>, Vec<f64>) {
        let x = synth::generate(&format!("friedman?n={n}&seed=9")).expect("rows").rows.to_dense();
        let y = (0..n).map(|i| 3.0 * x[i * 10] - x[i * 10 + 4] + 0.2 * x[i * 10 + 9].powi(2)).collect();
        (x, y)
    }

    fn classes(y: &[f64], names: &str) -> Labels {
        let name = |v: &f64| names.chars().nth((v * 2.0).floor().clamp(0.0, 3.0) as usize).expect("a name");
        Labels::classes(&y.iter().map(|v| name(v).to_string()).collect::<Vec<_>>())
    }

    fn scores(lasso: &Lasso, rows: &Rows, labels: &Labels) -> Scores {
        lasso.score(&Columns::new(rows, labels, &Monitor::default())).expect("scores")
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let (x, y) = data(90);
        let rows = Rows::dense(x, 90, 10).expect("rows");
        for randomized in [false, true] {
            let lasso = Lasso { randomized, n_resamples: 11, ..Lasso::default() };
            for labels in [Labels::Numbers(y.clone()), classes(&y, "abcd")] {
                let with = |threads: usize| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
                    pool.install(|| scores(&lasso, &rows, &labels))
                };
                let one = with(1);
                assert!(one.scores[0] > 0.0);
                assert_eq!(one, with(2));
                assert_eq!(one, with(7));
            }
        }
    }

    #[test]
    fn units_and_zeros_left_out_change_nothing_but_the_unit() {
        let (mut x, y) = data(60);
        x.iter_mut().enumerate().filter(|(at, _)| at % 10 > 5).for_each(|(_, v)| *v = v.round());
        let plain = scores(
            &Lasso::default(),
            &Rows::dense(x.clone(), 60, 10).expect("rows"),
            &Labels::Numbers(y.clone()),
        );
        let sparse = Rows::dense(x.clone(), 60, 10).expect("rows");
        assert_eq!(plain, scores(&Lasso::default(), &sparse.to_sparse(), &Labels::Numbers(y.clone())));
        for (x_unit, y_unit) in [(1e-200, 1.0), (1.0, 1e150), (1e150, 1e-100)] {
            let rows = Rows::dense(x.iter().map(|v| v * x_unit).collect::<Vec<_>>(), 60, 10).expect("rows");
            let found =
                scores(&Lasso::default(), &rows, &Labels::Numbers(y.iter().map(|v| v * y_unit).collect()));
            assert_eq!(found.chosen, plain.chosen);
            for (a, b) in found.scores.iter().zip(&plain.scores) {
                assert!((a / y_unit * x_unit - b).abs() <= 1e-9 * b, "{a} {b}");
            }
        }
    }

    #[test]
    fn two_classes_are_the_numbers_minus_one_and_one() {
        let (x, y) = data(70);
        let rows = Rows::dense(x, 70, 10).expect("rows");
        let labels = classes(&y, "aabb");
        let Labels::Classes { codes, .. } = &labels else { unreachable!("classes") };
        let numbers = Labels::Numbers(codes.iter().map(|&g| 2.0 * g as f64 - 1.0).collect());
        // The folds differ, because those of classes are stratified, so the penalty may; what does not are the choices
        // on one fold's worth of rows at a penalty that both share.
        let penalty = |labels: &Labels| {
            let monitor = Monitor::default();
            let folded = Folded::new(&Columns::new(&rows, labels, &monitor), labels, 5, 0).expect("folds");
            let mut fit = Descent::new(folded.quadratic(None, &monitor).expect("sums"), &monitor);
            let largest = fit.largest_penalty() * folded.y_unit / folded.x_unit;
            let last = Effort { tolerance: 1e-13, sweeps: 1_000 };
            fit.solve(0.1 * fit.largest_penalty(), last).expect("fit");
            let b: Vec<f64> = fit.coefficients().map(|(_, b)| b[0] * folded.y_unit * folded.x_unit).collect();
            (largest, b)
        };
        let ((a, left), (b, right)) = (penalty(&labels), penalty(&numbers));
        assert!((a - b).abs() < 1e-13 * a && left.len() == right.len());
        left.iter().zip(&right).for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{a} {b}"));
    }

    #[test]
    fn stability_finds_the_columns_that_matter() {
        let (x, y) = data(200);
        let rows = Rows::dense(x, 200, 10).expect("rows");
        let lasso = Lasso { randomized: true, n_resamples: 40, threshold: 0.9, ..Lasso::default() };
        let found = scores(&lasso, &rows, &Labels::Numbers(y));
        assert!(found.scores.iter().all(|v| (0.0..=1.0).contains(v)));
        let chosen = found.chosen.expect("it chooses");
        assert!(chosen[0] && chosen[4]);
        assert_eq!(chosen, found.scores.iter().map(|v| *v >= 0.9).collect::<Vec<_>>());
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let rows = Rows::dense(vec![1.0, 2.0, 3.0, 4.0], 4, 1).expect("rows");
        let monitor = Monitor::default();
        let says = |lasso: Lasso, labels: Labels, part: &str| {
            let error =
                lasso.score(&Columns::new(&rows, &labels, &monitor)).expect_err("refused").to_string();
            assert!(error.contains(part), "{error}");
        };
        let numbers = || Labels::Numbers(vec![0.0, 1.0, 3.0, 2.0]);
        says(Lasso::default(), numbers(), "cv = 5, but 4 rows");
        says(Lasso { cv: 1, ..Lasso::default() }, numbers(), "cv = 1");
        says(Lasso { cv: 2, ..Lasso::default() }, Labels::Numbers(vec![1.0; 4]), "the same number");
        let random = || Lasso { cv: 2, randomized: true, ..Lasso::default() };
        says(Lasso { threshold: 0.0, ..random() }, numbers(), "threshold = 0");
        says(Lasso { sample_fraction: 0.0, ..random() }, numbers(), "sample_fraction = 0");
        says(Lasso { scaling: 1.0, ..random() }, numbers(), "scaling = 1");
        says(Lasso { penalty: Some(0.0), ..random() }, numbers(), "penalty = 0");
        says(Lasso { n_penalties: 1, ..random() }, numbers(), "n_penalties = 1");
        let wide = Rows::sparse(vec![0, 0, 0], Vec::<u32>::new(), Vec::new(), 1 << 30).expect("rows");
        let two = Labels::Numbers(vec![0.0, 1.0]);
        let error = Lasso { cv: 2, ..Lasso::default() }
            .score(&Columns::new(&wide, &two, &monitor))
            .expect_err("refused");
        assert!(matches!(&error, Error::Memory(text) if text.contains("68.7 GB")), "{error}");
        let constant = Rows::dense(vec![2.0; 4], 4, 1).expect("rows");
        let found = scores(&Lasso { cv: 2, ..Lasso::default() }, &constant, &numbers());
        assert_eq!((found.scores, found.chosen), (vec![0.0], Some(vec![false])));
        assert_eq!(found.warnings.len(), 1);
    }
}
