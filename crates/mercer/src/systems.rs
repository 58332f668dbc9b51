//! Systems: a basis and a selector under one name, which is all they are.
//!
//!   takes      kobl + kffs, the features multiplied by their weights
//!   k-relief   gram-schmidt (beyond 5000 rows kobl) + relief
//!   sk-relief  sparse + relief
//!   eks        any basis + any selector
//!
//! Neighbours are sought in the kernel's space, differences are those of the basis' coordinates, and what is kept stays in
//! the basis' order.
//!
//! cost    n·l kernel values and 2·n·m·l flops for the coordinates, then the selector's; memory n·m numbers, in single
//!         precision where the basis was fitted in it
//! source  takes.txt; sk-relief.txt; eks.txt
//! differs coordinates in single precision are widened a few columns or rows at a time where they are scored; `irelief`,
//!         `laplacian` and `lasso` take a copy in double. Neighbours of rows in single precision are sought in a copy of
//!         the rows, n·p numbers

use faer::MatMut;

use crate::basis::expansion::Panels;
use crate::basis::{FittedBasis, Method, Precision};
use crate::data::either::Either;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::single::Single;
use crate::error::{Error, Result};
use crate::kernel::Shape;
use crate::map::FeatureMap;
use crate::monitor::Monitor;
use crate::select::{Columns, Keep, Kept, Kffs, Relief, Scores, Selector};

/// A selector and what becomes of its scores, for the coordinates of a basis.
///
/// ```
/// use mercer::{Basis, Kernel, System, data::{Labels, Task, synth}, select::Keep};
///
/// let table = synth::generate("ringnorm?n=200&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let basis = Basis::kobl(Kernel::rbf(0.05)).fit(&table.rows)?;
/// let fitted = System::k_relief().keep(Keep::Count(5)).fit(&table.rows, &labels, basis)?;
/// assert_eq!(fitted.map.n_features(), 5);
/// assert!(fitted.map.feature_names[0].starts_with("kobl"));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct System {
    /// `takes`, `k-relief`, `sk-relief` or `eks`.
    pub name: &'static str,
    /// What scores the coordinates.
    pub selector: Selector,
    /// How many are kept.
    pub keep: Keep,
    /// Whether they are multiplied by their weights: `kffs`' scores, or what `relief` and `irelief` call weights. Other
    /// selectors have none.
    pub weighted: bool,
    /// Progress out, stop in.
    pub monitor: Monitor,
}

/// What a system found.
#[derive(Clone, Debug)]
pub struct FittedSystem {
    /// The map whose features are the coordinates kept.
    pub map: FeatureMap,
    /// Scores of all coordinates.
    pub scores: Scores,
    /// Which were kept, and the place of each.
    pub kept: Kept,
    /// What the user should know, about the basis too.
    pub warnings: Vec<String>,
}

impl System {
    /// `kffs`, all coordinates with a positive weight, multiplied by it.
    pub fn takes() -> Self {
        Self::new("takes", Selector::Kffs(Kffs { reweight: false }), Keep::Positive).weighted(true)
    }

    /// `relief` with the nearest hit and miss, the best 10 coordinates.
    pub fn k_relief() -> Self {
        Self::new("k-relief", Selector::Relief(Relief::default()), Keep::Count(10))
    }

    /// The same; its basis has few landmarks.
    pub fn sk_relief() -> Self {
        Self { name: "sk-relief", ..Self::k_relief() }
    }

    /// Any selector, the best two thirds of the coordinates.
    pub fn eks(selector: Selector) -> Self {
        Self::new("eks", selector, Keep::Share(2.0 / 3.0))
    }

    fn new(name: &'static str, selector: Selector, keep: Keep) -> Self {
        Self { name, selector, keep, weighted: false, monitor: Monitor::default() }
    }

    /// Sets how many coordinates are kept.
    pub fn keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Sets whether features are multiplied by their weights.
    pub fn weighted(mut self, weighted: bool) -> Self {
        self.weighted = weighted;
        self
    }

    /// Lets a caller watch and stop the fit.
    pub fn monitor(mut self, monitor: &Monitor) -> Self {
        self.monitor = monitor.clone();
        self
    }

    /// The basis that the system comes with, for n rows.
    ///
    /// ```
    /// use mercer::{System, basis::Method};
    ///
    /// let mut warnings = Vec::new();
    /// assert_eq!(System::k_relief().default_basis(100, &mut warnings), Method::GramSchmidt);
    /// assert!(warnings.is_empty());
    /// assert_eq!(System::k_relief().default_basis(9_000, &mut warnings), Method::Kobl);
    /// assert!(warnings[0].starts_with("9000 rows are more than 5000"));
    /// ```
    pub fn default_basis(&self, n: usize, warnings: &mut Vec<String>) -> Method {
        match self.name {
            "takes" => Method::Kobl,
            "sk-relief" => Method::Sparse,
            name => Method::GramSchmidt.or_kobl(n, name, warnings),
        }
    }

    /// Scores the coordinates that a basis, fitted on these rows, gives them, and keeps the best. Only the selector
    /// `laplacian` does without labels.
    pub fn fit<'l, 'r>(
        &self,
        rows: impl Into<Either<'r>>,
        labels: impl Into<Option<&'l Labels>>,
        basis: FittedBasis,
    ) -> Result<FittedSystem> {
        self.fit_in(rows, labels, basis, None)
    }

    /// The same with the rows' coordinates in the basis, row-major n×m, where the caller has them already.
    pub fn fit_in<'l, 'r>(
        &self,
        rows: impl Into<Either<'r>>,
        labels: impl Into<Option<&'l Labels>>,
        basis: FittedBasis,
        features: Option<&[f64]>,
    ) -> Result<FittedSystem> {
        let scores = self.scores(rows, labels.into(), &basis, features)?;
        self.finish(basis, scores)
    }

    /// Scores of all coordinates; `features` as in [`fit_in`](Self::fit_in).
    pub(crate) fn scores<'r>(
        &self,
        rows: impl Into<Either<'r>>,
        labels: Option<&Labels>,
        basis: &FittedBasis,
        features: Option<&[f64]>,
    ) -> Result<Scores> {
        self.check(labels)?;
        let rows = rows.into();
        let kernel = basis.expansion.kernel;
        if kernel.shape == Shape::Precomputed && rows.n() != rows.p() {
            return Err(Error::data(
                "a precomputed kernel must be the square matrix that the basis was fitted on",
            ));
        }
        basis.expansion.check(rows, None, 0)?;
        let (n, m) = (rows.n(), basis.n_components());
        let wide = self.selector.seeks_neighbours().then(|| rows.whole());
        let score = |coordinates: Either| {
            self.selector.score(&Columns {
                rows: coordinates,
                labels,
                space: wide.as_deref().map(|rows| (kernel, rows)),
                categorical: &[],
                monitor: &self.monitor,
            })
        };
        match (features, basis.precision) {
            (Some(given), _) => score((&Rows::dense(given, n, m)?).into()),
            (None, Precision::Double) => {
                let mut z = vec![0.0; n * m];
                let out = MatMut::from_row_major_slice_mut(&mut z, n, m);
                basis.expansion.ready().all(rows, out, &self.monitor)?;
                score((&Rows::dense(z, n, m)?).into())
            }
            (None, Precision::Single) => {
                let mut z = vec![0.0f32; n * m];
                let out = MatMut::from_row_major_slice_mut(&mut z, n, m);
                basis.expansion.narrow(n).all(rows, out, &self.monitor)?;
                score((&Single::new(z, n, m)?).into())
            }
        }
    }

    /// An error unless the system can be fitted on such labels; `fit` asks too, but after the basis was fitted.
    pub fn check(&self, labels: Option<&Labels>) -> Result<()> {
        self.check_settings()?;
        let name = if self.name == "eks" { self.selector.name() } else { self.name };
        match (&self.selector, labels) {
            (Selector::Laplacian(_), _) => Ok(()),
            (_, None) => Err(Error::argument(format!(
                "`{name}` looks at the labels, but none were given\nhint: give them (y, `--target COL`)"
            ))),
            (
                Selector::RReliefF(_) | Selector::FTest(_) | Selector::MutualInfo(_) | Selector::Lasso(_),
                Some(labels),
            ) => labels.require_two(name),
            (_, Some(labels)) => labels.require_classes(name).map(|_| ()),
        }
    }

    /// An error unless the settings make sense together.
    pub(crate) fn check_settings(&self) -> Result<()> {
        let name = self.selector.name();
        if self.weighted && !self.selector.has_weights() {
            return Err(Error::argument(format!(
                "weighted = true, but `{name}` gives scores and no weights; kffs, relief and irelief have weights\n\
                 hint: use weighted = false"
            )));
        }
        let metric = match &self.selector {
            Selector::Relief(relief) => relief.metric,
            Selector::ReliefF(relief) => relief.metric,
            Selector::RReliefF(relief) => relief.metric,
            Selector::MultiSurf(relief) => relief.metric,
            _ => None,
        };
        if metric.is_some() {
            return Err(Error::argument(format!(
                "metric is given for `{name}`, but in `{}` neighbours are those of the kernel's space\n\
                 hint: leave it out; the kernel is the choice of a metric",
                self.name
            )));
        }
        Ok(())
    }

    /// What every coordinate is multiplied by, if by anything.
    pub(crate) fn weights<'s>(&self, scores: &'s Scores) -> Option<&'s [f64]> {
        self.weighted.then(|| scores.weights.as_deref().unwrap_or(&scores.scores))
    }

    fn finish(&self, basis: FittedBasis, scores: Scores) -> Result<FittedSystem> {
        let kept = scores.keep(self.keep);
        let of = |values: &[f64]| -> Vec<f64> { kept.columns.iter().map(|&j| values[j]).collect() };
        let mut warnings = [&basis.warnings[..], &scores.warnings, &kept.warnings].concat();
        let weights = self.weights(&scores).map(of);
        let idle = weights.iter().flatten().filter(|w| **w == 0.0).count();
        if idle > 0 {
            warnings.push(format!(
                "{idle} of the {} features kept have the weight 0, so they are 0 on every row; \
                 weighted = false keeps them as they are",
                kept.columns.len()
            ));
        }
        let basis = FeatureMap::from(basis);
        let mut map = FeatureMap::from_columns(
            self.name,
            basis,
            &kept.columns,
            weights.as_deref(),
            of(&scores.scores),
        )?;
        map.facts.insert("selector".into(), self.selector.name().into());
        map.facts.insert("weighted".into(), self.weighted.into());
        if let Some(penalty) = scores.penalty {
            map.facts.insert("penalty".into(), penalty.into());
        }
        if !scores.error_path.is_empty() {
            map.facts.insert("error_path".into(), scores.error_path.clone().into());
        }
        Ok(FittedSystem { map, scores, kept, warnings })
    }
}
