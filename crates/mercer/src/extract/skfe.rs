//! SKFE: subspace kernel feature extraction, the subspace whose kernel is best aligned with the labels.
//!
//!   A(B) = ‖BᵀC‖²/(‖BᵀSB‖·‖YᵀY‖),  BᵀB = I (m×q);   S = Σ z zᵀ, C = Σ z yᵀ, Y one-hot; `center`: about the means
//!   ∇A = (2·C CᵀB/‖BᵀSB‖ − 2·‖BᵀC‖²·S B (BᵀSB)/‖BᵀSB‖³)/‖YᵀY‖, less its part in the span of B
//!
//! Conjugate gradients on the Grassmann manifold: Polak–Ribière, begun anew where the direction does not climb; vectors are
//! carried along by projection, and a step ends in the orthonormal factor of B + t·H. On the line t the alignment is a
//! function of q×q matrices, so that a good step costs next to nothing.
//!
//! `criterion` = `margin` or `radius-margin` climbs those instead ([`criterion`](crate::basis::criterion)), on the features of at most 5 000
//! rows; `points` = q moves q points of the input space that span the subspace ([`points`](crate::basis::points)).
//!
//! cost    two passes over the rows (moments, signs), then a product of S with q vectors a step: the search does not see n; margins
//!         n·m·q flops an evaluation
//! stops   when the gradient's norm is `tol` of its first, after `max_iter` steps, or when no step gains any more
//! source  SKFE; Edelman, Arias & Smith 1998 (the geometry); Cortes, Mohri & Rostamizadeh 2012 (`center`)
//! differs in a basis' coordinates, where the paper has n coefficients a direction: the same when the basis spans the rows'
//!         images. A does not change when B is rotated, so B is turned until BᵀSB is diagonal, descending. A step never
//!         falls. A basis that spans all rows lets it fit noise (shuffled labels can be aligned to 0.96): its own is `kobl`

use faer::{Mat, MatRef, Scale};
use rand_distr::{Distribution, StandardNormal};

use super::koc::{centroids, orthonormal};
use super::ratio::REG;
use super::{BASIS, BASIS_COMPONENTS, Extractor, N_COMPONENTS, Sizes};
use super::{
    Coordinates, Directions, Extract, Gda, Targets, as_rows, at_least_one, count, fit_methods, kpls, ratio,
};
use crate::basis::ascent::{Objective, inner, maximise};
use crate::basis::criterion::{Criterion, LabelledCriterion};
use crate::basis::kpca::CENTER;
use crate::basis::points::Move;
use crate::basis::{Basis, Method, Threshold};
use crate::data::needs::{Needs, missing_labels};
use crate::data::target::TargetSummary;
use crate::error::{Error, Result};
use crate::evidence::moments::Summary;
use crate::kernel::Shape;
use crate::linalg::{Cholesky, eigen, left_singular, product, self_product};
use crate::monitor::{Monitor, Stage};
use crate::random;
use crate::real::Precision;
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, SEED, Stage as SpecStage, Values};

/// A gradient below this share of the alignment is rounding.
const FLAT: f64 = 1e-13;

/// The least gain of a step, relative to what the slope promises.
const ARMIJO: f64 = 1e-4;

/// Where SKFE's search starts. Too few directions are filled up with those of largest variance; of too many those are kept
/// that carry most of the class sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// At the class centroids.
    #[default]
    Koc,
    /// At the discriminant directions.
    Gda,
    /// At the directions of largest covariance.
    Kpls,
    /// At the directions of largest variance.
    Kpca,
    /// At the discriminant directions in the span of the class means of the input space.
    AkdaQr,
    /// Anywhere.
    Random,
}

impl Start {
    /// Every start's name.
    pub const NAMES: [&'static str; 6] = ["koc", "gda", "kpls", "kpca", "akda-qr", "random"];

    /// The start with this name.
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "koc" => Ok(Self::Koc),
            "gda" => Ok(Self::Gda),
            "kpls" => Ok(Self::Kpls),
            "kpca" => Ok(Self::Kpca),
            "akda-qr" => Ok(Self::AkdaQr),
            "random" => Ok(Self::Random),
            _ => Err(Error::argument(format!(
                "init = `{name}` is not known; use one of {}",
                Self::NAMES.join(", ")
            ))),
        }
    }
}

/// Subspace kernel feature extraction.
///
/// ```
/// use mercer::{Basis, Kernel, Labels, Rows, extract::Skfe};
///
/// let rows = Rows::dense(vec![2.0, 0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 1.0], 4, 2)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let map = Skfe::default().fit(&rows, &labels, basis)?;
/// // C = diag(4, 2), S = diag(8, 2), YᵀY = diag(2, 2), and both directions are taken.
/// let alignment = map.facts.alignment_path[0];
/// assert!((alignment - (16.0 + 4.0) / (68f64.sqrt() * 8f64.sqrt())).abs() < 1e-12);
/// assert!((map.eigenvalues[0] - 8.0).abs() < 1e-12);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Skfe {
    /// Number of features; None: one a class.
    pub n_components: Option<usize>,
    /// What is maximised.
    pub criterion: Criterion,
    /// Number of points of the input space that are moved and span the subspace; None: directions in a basis' coordinates
    /// are sought.
    pub points: Option<usize>,
    /// Where the search starts.
    pub init: Start,
    /// The most steps.
    pub max_iter: usize,
    /// The gradient, relative to the first, at which the search ends.
    pub tol: f64,
    /// Whether alignment is that of centred kernels.
    pub center: bool,
    /// Softness of the margin: what is added to the diagonal of the kernel, relative to its mean.
    pub reg: f64,
    /// Seed of a random start.
    pub seed: u64,
}

/// Rows whose features margins look at.
const MARGIN_ROWS: usize = 5_000;

/// A last step that gained more than this share of the alignment was in the middle of the climb.
const RISING: f64 = 1e-2;

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "skfe",
    stage: SpecStage::Extract,
    file: "extract/skfe.rs",
    source: "SKFE",
    cost: "n·m² flops, then m²·q per step",
    parameters: &[
        BASIS.none("kobl of all rows; beyond 5000 rpcholesky"),
        N_COMPONENTS.none("one per class"),
        BASIS_COMPONENTS,
        Parameter::new("criterion", Kind::Choice(&Criterion::NAMES), "what the subspace maximises")
            .default("alignment"),
        Parameter::whole("points", 1, "points of the input space that are moved and span the subspace")
            .none("directions in the basis' coordinates"),
        Parameter::new("init", Kind::Choice(&Start::NAMES), "where the search starts").default("koc"),
        Parameter::whole("max_iter", 1, "the most steps").default("50"),
        Parameter::share("tol", false, false, "gradient, relative to the first, at which the search ends")
            .default("1e-6"),
        CENTER.default("false").help("alignment of centred kernels"),
        REG.default("0.1")
            .help("softness of the margin: what is added to the kernel's diagonal, relative to its mean"),
        SEED,
    ],
    help: "subspace kernel feature extraction: the subspace whose kernel is best aligned with the labels",
};

impl FromValues for Skfe {
    fn from_values(values: &Values) -> Self {
        Self {
            n_components: values.count("n_components"),
            criterion: values
                .text("criterion")
                .and_then(|name| Criterion::named(name).ok())
                .unwrap_or_default(),
            points: values.count("points"),
            init: values.text("init").and_then(|name| Start::named(name).ok()).unwrap_or(Start::Koc),
            max_iter: values.count("max_iter").unwrap_or(1),
            tol: values.number("tol").unwrap_or_default(),
            center: values.flag("center"),
            reg: values.number("reg").unwrap_or_default(),
            seed: values.seed(),
        }
    }
}

impl Default for Skfe {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for Skfe {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn default_basis(&self, n: usize, warnings: &mut Vec<String>) -> Method {
        if self.points.is_some() {
            return Method::Kmeans;
        }
        Method::Kobl.up_to_many_rows(n, SPEC.name, warnings)
    }

    fn default_settings(&self, basis: Basis) -> Basis {
        // All rows, as far as they are independent; of points there are as many as were asked for.
        if self.points.is_none() && basis.ends_by_default() {
            basis.threshold(Threshold::Constant(0.0))
        } else {
            basis
        }
    }

    fn basis_settings(&self, settings: Basis) -> Result<Basis> {
        let Some(points) = self.points else { return Ok(settings) };
        if settings.method != Method::Kmeans {
            return Err(Error::argument(format!(
                "points = {points} are a basis of their own, but basis = `{}` was given, too\n\
                 hint: leave one of them out; the kernel and its width can be given without a basis",
                settings.method.name()
            )));
        }
        if let Some(m) = settings.n_components.filter(|m| *m != points) {
            return Err(Error::argument(format!(
                "points = {points}, but the basis is to have {m} components\nhint: leave the size of the basis out"
            )));
        }
        let Self { criterion, center, reg, max_iter, tol, .. } = *self;
        Ok(settings.n_components(points).moves(Move { criterion, center, reg, max_iter, tol }))
    }

    fn sizes(&self) -> Sizes {
        Sizes::Separate
    }

    fn needs(&self) -> Needs {
        Needs::ClassesOrSeveral
    }

    fn takes_weights(&self) -> bool {
        self.points.is_none() && self.criterion == Criterion::Alignment
    }

    fn sized(&self, q: usize) -> Option<Extractor> {
        let points = self.points.map(|_| q);
        Some(Self { n_components: Some(q), points, ..self.clone() }.into())
    }

    fn check(&self) -> Result<()> {
        at_least_one(&[
            ("n_components", self.n_components),
            ("points", self.points),
            ("max_iter", Some(self.max_iter)),
        ])?;
        ratio::check(self.reg)?;
        if let (Some(q), Some(points)) = (self.n_components, self.points)
            && q > points
        {
            return Err(Error::argument(format!(
                "n_components = {q}, but {points} points span at most {points} directions\n\
                 hint: raise points, or leave n_components out"
            )));
        }
        if self.criterion != Criterion::Alignment && self.reg == 0.0 {
            return Err(Error::argument(
                "reg = 0, but a margin needs some softness: reg must be above 0, or criterion = `alignment`",
            ));
        }
        if self.tol.is_finite() && self.tol >= 0.0 {
            return Ok(());
        }
        Err(Error::argument(format!("tol = {}, but it must be a finite number of at least 0", self.tol)))
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        let m = coordinates.basis.n_components();
        let mut summary = coordinates.moments(Targets::Labels)?;
        let usual = match coordinates.target("skfe")? {
            TargetSummary::Several { count, .. } => {
                summary.standardise_targets();
                return self.several(*count)?.find_aligned(coordinates, &summary, *count);
            }
            _ if self.points.is_some() => m,
            _ => {
                coordinates.classes("skfe")?;
                summary.sizes().iter().filter(|size| **size > 0.0).count()
            }
        };
        self.find_aligned(coordinates, &summary, usual)
    }
}

fit_methods!(Skfe);

impl Skfe {
    /// These settings for several targets: kernels are centred, and the search starts with partial least squares, as there are
    /// no classes.
    fn several(&self, count: usize) -> Result<Self> {
        let refused = |what: &str| {
            Err(Error::argument(format!(
                "`skfe` was given {count} targets, for which {what} has no meaning\n\
                 hint: leave it out: with several targets criterion = alignment, init = kpls, kpca or random, no points"
            )))
        };
        match self.init {
            _ if self.criterion != Criterion::Alignment => refused("a margin"),
            _ if self.points.is_some() => refused("points"),
            Start::Gda | Start::AkdaQr => refused("a start among class means"),
            Start::Koc => Ok(Self { center: true, init: Start::Kpls, ..self.clone() }),
            _ => Ok(Self { center: true, ..self.clone() }),
        }
    }

    /// The subspace of the best alignment, or that of the points that were moved.
    fn find_aligned(&self, coordinates: &Coordinates, summary: &Summary, usual: usize) -> Result<Directions> {
        let m = coordinates.basis.n_components();
        let q = count(self.n_components, usual, m, &format!("the basis has {m} coordinates"))?;
        let problem = Problem::new(summary, self.center)?;
        let found = if self.points.is_some() {
            // The points have been moved: what they span is what was sought.
            let point = problem.point(Mat::identity(m, m));
            Climbed { path: vec![point.value], point, left: None }
        } else {
            let start = self.start(summary, &problem, q, coordinates)?;
            match self.criterion {
                Criterion::Alignment => problem.climb(start, self.max_iter, self.tol, coordinates.monitor)?,
                _ => self.climb_margin(&problem, start, coordinates)?,
            }
        };
        let (spread, rotation) = eigen(found.point.within.clone(), coordinates.monitor)?;
        let vectors = product(found.point.b.as_ref(), rotation.as_ref());
        let origin = if self.center { summary.mean.clone() } else { Vec::new() };
        let mut directions = coordinates.oriented(as_rows(vectors.as_ref(), q), origin)?;
        directions.eigenvalues = spread.iter().map(|v| v.max(0.0) * problem.unit).collect();
        // An early end is meant, as more steps fit noise; one in the middle of the climb is not.
        if let [.., before, last] = found.path[..]
            && self.criterion == Criterion::Alignment
            && found.left.is_some()
            && last - before > RISING * last.abs()
        {
            directions.warnings.push(format!(
                "`skfe` of {q} features ended after max_iter = {} steps while the alignment, {last:.6}, still rose by {:.1e} per step\n\
                 hint: raise max_iter",
                self.max_iter,
                last - before
            ));
        }
        directions.alignment_path = found.path;
        Ok(directions)
    }

    /// B to start at, m×q with orthonormal columns.
    fn start(
        &self,
        summary: &Summary,
        problem: &Problem,
        q: usize,
        coordinates: &Coordinates,
    ) -> Result<Mat<f64>> {
        let (precision, monitor) = (coordinates.precision(), coordinates.monitor);
        let m = summary.mean.len();
        let begin = match self.init {
            Start::Koc => centroids(summary, precision).0,
            Start::Gda => {
                let factor = summary.between_factor();
                let (total, reg) = (summary.total.clone(), Gda::default().reg);
                let found = ratio::solve(total, reg, factor.as_ref(), precision, monitor)?;
                found.map_or(Mat::zeros(m, 0), |found| orthonormal(found.vectors.as_ref(), precision).0)
            }
            Start::Kpls => {
                let found = kpls::components(summary, q, precision, monitor)?;
                orthonormal(found.rotations.as_ref(), precision).0
            }
            Start::Kpca => Mat::zeros(m, 0),
            Start::AkdaQr => class_means(summary, coordinates)?,
            Start::Random => {
                let mut generator = random::generator(self.seed);
                let normal = Mat::from_fn(m, q, |_, _| StandardNormal.sample(&mut generator));
                orthonormal(normal.as_ref(), Precision::Double).0
            }
        };
        let have = begin.ncols();
        if have > q {
            let toward = product(begin.transpose(), problem.c.as_ref());
            let (_, axes) = left_singular(toward, monitor)?;
            return Ok(product(begin.as_ref(), axes.subcols(0, q)));
        }
        if have == q {
            return Ok(begin);
        }
        // What is in already gets the lowest eigenvalue of all.
        let inside = product(begin.transpose(), problem.s.as_ref());
        let rest = problem.s.as_ref() - product(begin.as_ref(), inside.as_ref());
        let across = product(rest.as_ref(), begin.as_ref());
        let rest =
            rest - product((across + begin.as_ref() * Scale(2.0 * m as f64)).as_ref(), begin.transpose());
        let (_, axes) = eigen(rest, monitor)?;
        let filled = Mat::from_fn(m, q, |i, j| if j < have { begin[(i, j)] } else { axes[(i, j - have)] });
        Ok(orthonormal(filled.as_ref(), Precision::Double).0)
    }
}

impl Skfe {
    /// Climbs a criterion that looks at the features of the rows; the path is that of the alignment.
    fn climb_margin(&self, problem: &Problem, start: Mat<f64>, coordinates: &Coordinates) -> Result<Climbed> {
        let (rows, labels) = coordinates.some(&random::sample(coordinates.n, MARGIN_ROWS, self.seed))?;
        let labels = labels.ok_or_else(|| missing_labels("skfe"))?;
        let z = coordinates.basis.coordinates(&rows, coordinates.monitor)?.to_dense();
        let z = MatRef::from_row_major_slice(&z, rows.n(), start.nrows()).to_owned();
        let unit = z.squared_norm_l2() / rows.n() as f64;
        let labelled = LabelledCriterion::new(self.criterion, &labels, self.center, self.reg, unit);
        let mut path = Vec::new();
        let seen = |b: &Mat<f64>| path.push(problem.point(b.clone()).value);
        let objective = Subspaces { z, labelled };
        let found = maximise(&objective, start, self.max_iter, self.tol, coordinates.monitor, seen)?;
        Ok(Climbed { point: problem.point(found.at), path, left: None })
    }
}

/// The discriminant directions in the span of the class means' images.
fn class_means(summary: &Summary, coordinates: &Coordinates) -> Result<Mat<f64>> {
    let (precision, monitor) = (coordinates.precision(), coordinates.monitor);
    if coordinates.basis.expansion.kernel.shape == Shape::Precomputed {
        return Err(Error::argument(
            "init = `akda-qr` takes the means of the classes' rows, which a precomputed kernel does not know\n\
             hint: use init = `koc` or `gda`",
        ));
    }
    let means = coordinates.class_means()?;
    let images = coordinates.basis.expansion.transform(&means)?;
    let (span, _) = orthonormal(images.transpose(), precision);
    let inside = product(span.transpose(), summary.total.as_ref());
    let total = product(inside.as_ref(), span.as_ref());
    let factor = product(span.transpose(), summary.between_factor().as_ref());
    let found = ratio::solve(total, Gda::default().reg, factor.as_ref(), precision, monitor)?;
    Ok(found.map_or_else(
        || Mat::zeros(summary.mean.len(), 0),
        |found| orthonormal(product(span.as_ref(), found.vectors.as_ref()).as_ref(), precision).0,
    ))
}

/// Subspaces of the coordinates, by the features of the rows in them.
struct Subspaces {
    z: Mat<f64>,
    labelled: LabelledCriterion,
}

impl Objective for Subspaces {
    fn value_and_gradient(&self, at: &Mat<f64>) -> (f64, Mat<f64>) {
        let (value, slope) = self.labelled.value_and_gradient(product(self.z.as_ref(), at.as_ref()).as_ref());
        (value, product(self.z.transpose(), slope.as_ref()))
    }

    fn project(&self, at: &Mat<f64>, slope: Mat<f64>) -> Mat<f64> {
        tangent(at.as_ref(), slope)
    }

    fn retract(&self, at: &Mat<f64>, direction: &Mat<f64>, t: f64) -> Option<Mat<f64>> {
        let mut b = at + direction * Scale(t);
        // Twice, because rounding grows with the square of t.
        for _ in 0..2 {
            Cholesky::new(self_product(b.as_ref()))?.forward(b.as_mut().transpose_mut());
        }
        Some(b)
    }
}

/// What is climbed: S in units of its mean diagonal, C in units of its largest entry, and the alignment's other factors.
struct Problem {
    s: Mat<f64>,
    c: Mat<f64>,
    unit: f64,
    factor: f64,
}

/// A place on the manifold.
struct Point {
    b: Mat<f64>,
    /// S B.
    sb: Mat<f64>,
    /// BᵀC.
    toward: Mat<f64>,
    /// BᵀSB.
    within: Mat<f64>,
    value: f64,
}

/// The end of a search.
struct Climbed {
    point: Point,
    path: Vec<f64>,
    /// The last gradient's norm relative to the first, where `max_iter` ended it.
    left: Option<f64>,
}

impl Problem {
    fn new(summary: &Summary, center: bool) -> Result<Self> {
        let (s, c, targets) = if center {
            (summary.total.clone(), summary.cross.clone(), summary.target_total.norm_l2())
        } else {
            // One-hot: YᵀY has the sizes of the classes on its diagonal.
            let sizes = summary.sizes().iter().map(|size| size * size).sum::<f64>();
            (summary.gram(), summary.sums(), sizes.sqrt())
        };
        let m = s.nrows();
        let unit = (0..m).map(|i| s[(i, i)]).sum::<f64>() / m as f64;
        let largest = c.norm_max();
        if unit < f64::MIN_POSITIVE || largest == 0.0 {
            return Err(Error::data(
                "`skfe`: the classes have the same mean in the basis' coordinates, so no direction is aligned with them",
            ));
        }
        let factor = (largest / unit.sqrt()).powi(2) / targets;
        Ok(Self { s: s * Scale(1.0 / unit), c: c * Scale(1.0 / largest), unit, factor })
    }

    fn point(&self, b: Mat<f64>) -> Point {
        let sb = product(self.s.as_ref(), b.as_ref());
        let toward = product(b.transpose(), self.c.as_ref());
        let mut within = product(b.transpose(), sb.as_ref());
        make_symmetric(&mut within);
        let value = self.alignment(toward.squared_norm_l2(), within.norm_l2());
        Point { b, sb, toward, within, value }
    }

    fn alignment(&self, toward: f64, within: f64) -> f64 {
        if within > 0.0 { self.factor * (toward / within) } else { 0.0 }
    }

    /// The gradient on the manifold.
    fn gradient(&self, at: &Point) -> Mat<f64> {
        let norm = at.within.norm_l2();
        if norm == 0.0 {
            return Mat::zeros(at.b.nrows(), at.b.ncols());
        }
        let up = product(self.c.as_ref(), at.toward.transpose()) * Scale(2.0 * self.factor / norm);
        let down = product(at.sb.as_ref(), at.within.as_ref()) * Scale(2.0 * at.value / norm / norm);
        tangent(at.b.as_ref(), up - down)
    }

    /// A step along the direction that gains, and where it ends. `guess`: how far the last one went.
    fn step(
        &self,
        from: &Point,
        gradient: &Mat<f64>,
        direction: &Mat<f64>,
        guess: Option<f64>,
    ) -> Option<(f64, Point)> {
        let slope = inner(gradient, direction);
        if slope <= 0.0 {
            return None;
        }
        let line = Line::new(self, from, direction);
        let t = line.search(slope, guess.unwrap_or(0.1 / direction.norm_l2()))?;
        let there = self.point(line.end(t)?);
        (there.value > from.value).then_some((t, there))
    }

    fn climb(&self, start: Mat<f64>, max_iter: usize, tol: f64, monitor: &Monitor) -> Result<Climbed> {
        let mut here = self.point(start);
        let mut path = vec![here.value];
        let mut gradient = self.gradient(&here);
        let first = gradient.norm_l2();
        let mut direction = gradient.clone();
        let mut step = None;
        monitor.enter(Stage {
            name: "aligning with the labels",
            total: max_iter,
            open: true,
            ..Stage::default()
        });
        for _ in 0..max_iter {
            monitor.check()?;
            if gradient.norm_l2() <= (tol * first).max(FLAT * here.value) {
                return Ok(Climbed { point: here, path, left: None });
            }
            let mut next = self.step(&here, &gradient, &direction, step);
            if next.is_none() {
                direction.clone_from(&gradient);
                next = self.step(&here, &gradient, &direction, step);
            }
            let Some((t, there)) = next else {
                return Ok(Climbed { point: here, path, left: None });
            };
            step = Some(t);
            let before = gradient;
            here = there;
            path.push(here.value);
            gradient = self.gradient(&here);
            let carried = tangent(here.b.as_ref(), before.clone());
            let turn = inner(&gradient, &(&gradient - &carried)) / before.squared_norm_l2();
            direction = &gradient + tangent(here.b.as_ref(), direction) * Scale(turn.max(0.0));
            monitor.advance(1);
        }
        let left = Some(gradient.norm_l2() / first);
        Ok(Climbed { point: here, path, left })
    }
}

/// The alignment along B + t·H, made orthonormal, by q×q matrices.
struct Line<'a> {
    problem: &'a Problem,
    from: &'a Point,
    direction: &'a Mat<f64>,
    /// HᵀC.
    toward: Mat<f64>,
    /// BᵀSH + HᵀSB, HᵀSH and HᵀH.
    mixed: Mat<f64>,
    within: Mat<f64>,
    square: Mat<f64>,
}

impl<'a> Line<'a> {
    fn new(problem: &'a Problem, from: &'a Point, direction: &'a Mat<f64>) -> Self {
        let sh = product(problem.s.as_ref(), direction.as_ref());
        let half = product(from.b.transpose(), sh.as_ref());
        let mut within = product(direction.transpose(), sh.as_ref());
        make_symmetric(&mut within);
        Self {
            problem,
            from,
            direction,
            toward: product(direction.transpose(), problem.c.as_ref()),
            mixed: &half + half.transpose(),
            within,
            square: self_product(direction.as_ref()),
        }
    }

    /// R with RᵀR = (B + tH)ᵀ(B + tH) = I + t²·HᵀH, lower triangular as Rᵀ; None if t is beyond numbers.
    fn factor(&self, t: f64) -> Option<Cholesky> {
        let q = self.square.nrows();
        let gram = Mat::from_fn(q, q, |i, j| f64::from(u8::from(i == j)) + t * t * self.square[(i, j)]);
        Cholesky::new(gram)
    }

    fn value(&self, t: f64) -> Option<f64> {
        let factor = self.factor(t)?;
        let mut toward = &self.from.toward + &self.toward * Scale(t);
        let mut within = &self.from.within + &self.mixed * Scale(t) + &self.within * Scale(t * t);
        factor.forward(toward.as_mut());
        factor.forward(within.as_mut());
        factor.forward(within.as_mut().transpose_mut());
        let value = self.problem.alignment(toward.squared_norm_l2(), within.norm_l2());
        value.is_finite().then_some(value)
    }

    /// The end of the line, with orthonormal columns.
    fn end(&self, t: f64) -> Option<Mat<f64>> {
        let mut b = &self.from.b + self.direction * Scale(t);
        self.factor(t)?.forward(b.as_mut().transpose_mut());
        // Once more, because rounding grows with the square of t.
        Cholesky::new(self_product(b.as_ref()))?.forward(b.as_mut().transpose_mut());
        Some(b)
    }

    /// A step that climbs enough, near the best: halved until it does, then halved or doubled while that gains, then the
    /// top of the parabola through it and its neighbours.
    fn search(&self, slope: f64, guess: f64) -> Option<f64> {
        let enough = |t: f64| self.value(t).filter(|v| *v >= self.from.value + ARMIJO * t * slope);
        let better = |t: f64, than: f64| enough(t).filter(|v| *v > than);
        let mut halves = (0..60).map(|times| guess * 0.5f64.powi(times));
        let (mut t, mut value) = halves.find_map(|t| Some((t, enough(t)?)))?;
        for factor in [2.0, 0.5] {
            while let Some(higher) = better(factor * t, value) {
                (t, value) = (factor * t, higher);
            }
        }
        let (Some(low), Some(high)) = (self.value(0.5 * t), self.value(2.0 * t)) else { return Some(t) };
        let bend = high - 3.0 * value + 2.0 * low;
        let top = 0.75 * t * (high - 5.0 * value + 4.0 * low) / bend;
        let lies_between = top > 0.5 * t && top < 2.0 * t;
        Some(if lies_between && better(top, value).is_some() { top } else { t })
    }
}

/// What of a matrix is orthogonal to B.
fn tangent(b: MatRef<'_, f64>, a: Mat<f64>) -> Mat<f64> {
    let inside = product(b.transpose(), a.as_ref());
    a - product(b, inside.as_ref())
}

fn make_symmetric(a: &mut Mat<f64>) {
    for j in 1..a.ncols() {
        for i in 0..j {
            let mean = f64::midpoint(a[(i, j)], a[(j, i)]);
            (a[(i, j)], a[(j, i)]) = (mean, mean);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, Threshold};
    use crate::data::labels::{Labels, Task};
    use crate::data::synth;
    use crate::kernel::Kernel;
    use crate::options::Options;

    fn find(spec: &str, skfe: &Skfe) -> (Mat<f64>, Labels, Directions) {
        let table = synth::generate(spec).expect("rows");
        let labels = Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels");
        let basis = Basis::kobl(Kernel::rbf(0.1)).threshold(Threshold::Constant(0.0)).n_components(40);
        let basis = basis.fit(&table.rows).expect("fits");
        let options = Options::default();
        let coordinates =
            Coordinates::new(&table.rows, Some(&labels), &basis, None, &options).expect("they fit");
        let found = skfe.directions(&coordinates).expect("directions");
        drop(coordinates);
        (basis.expansion.transform(&table.rows).expect("features"), labels, found)
    }

    fn gradient_of(problem: &Problem, b: &Mat<f64>) -> Mat<f64> {
        problem.gradient(&problem.point(b.clone()))
    }

    fn small_problem(center: bool) -> Problem {
        let wave = |i: usize, j: usize| ((i * i * 37 + j * j * 91 + i * j * 53) as f64 * 0.7).sin();
        let z =
            Mat::from_fn(50, 8, |i, j| wave(i, j) / (j + 1) as f64 + 0.3 * f64::from(u8::from(i % 3 == j)));
        let y = Mat::from_fn(50, 3, |i, j| f64::from(u8::from(i % 3 == j)));
        let mut sums = crate::evidence::moments::Moments::new(8, 3);
        sums.accumulate(z.as_ref(), y.as_ref()).expect("fits");
        Problem::new(&sums.finish().expect("rows"), center).expect("problem")
    }

    #[test]
    fn the_gradient_is_that_of_differences_and_the_line_that_of_points() {
        for center in [false, true] {
            let problem = small_problem(center);
            let wave = |i: usize, j: usize| ((i * 5 + j * j * 3) as f64).cos();
            let (b, _) = orthonormal(Mat::from_fn(8, 2, wave).as_ref(), Precision::Double);
            let here = problem.point(b.clone());
            let gradient = gradient_of(&problem, &b);
            let direction = tangent(b.as_ref(), Mat::from_fn(8, 2, |i, j| wave(j + 2, i)));
            let line = Line::new(&problem, &here, &direction);
            let step = 1e-5;
            let there = |t: f64| problem.point(line.end(t).expect("orthonormal")).value;
            let slope = (there(step) - there(-step)) / (2.0 * step);
            assert!((slope - inner(&gradient, &direction)).abs() < 1e-8, "{slope}");
            for t in [-0.3, 0.1, 2.0] {
                assert!((line.value(t).expect("a number") - there(t)).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn the_path_never_falls_and_ends_at_the_alignment_of_the_features() {
        for center in [false, true] {
            for init in [Start::Koc, Start::Gda, Start::Kpls, Start::Kpca, Start::AkdaQr, Start::Random] {
                let skfe = Skfe { init, center, n_components: Some(3), ..Skfe::default() };
                let (z, labels, found) = find("ringnorm?n=150&seed=2", &skfe);
                assert!(found.alignment_path.is_sorted(), "{init:?}");
                let mut f = &z * found.matrix.transpose();
                let (y, c) = labels.one_hot();
                let mut y = MatRef::from_row_major_slice(&y, z.nrows(), c).to_owned();
                if center {
                    crate::linalg::center_columns(&mut y);
                    for j in 0..3 {
                        f.col_mut(j).iter_mut().for_each(|v| *v -= found.offset[j]);
                    }
                }
                let (k, target) = (&f * f.transpose(), &y * y.transpose());
                let alignment = inner(&k, &target) / (k.norm_l2() * target.norm_l2());
                let last = found.alignment_path.last().expect("a start");
                assert!((alignment - last).abs() < 1e-10, "{init:?}: {alignment} {last}");
                let spread = f.transpose() * &f;
                for i in 0..3 {
                    assert!((spread[(i, i)] - found.eigenvalues[i]).abs() < 1e-9 * found.eigenvalues[0]);
                    assert!((0..i).all(|j| spread[(i, j)].abs() < 1e-9 * found.eigenvalues[0]));
                }
                let gram = &found.matrix * found.matrix.transpose();
                assert!((gram - Mat::<f64>::identity(3, 3)).norm_max() < 1e-13);
            }
        }
    }

    #[test]
    fn a_square_b_has_nowhere_to_go() {
        let problem = small_problem(false);
        let (b, kept) = orthonormal(
            Mat::from_fn(8, 8, |i, j| (((i + 1) * (i + j * j)) as f64).sin()).as_ref(),
            Precision::Double,
        );
        assert_eq!(kept.len(), 8);
        let found = problem.climb(b, 50, 1e-6, &Monitor::default()).expect("climbed");
        assert!(found.path.len() < 4 && found.left.is_none(), "{:?}", found.path);
    }

    #[test]
    fn margins_climb_along_the_slope_of_differences() {
        let wave = |i: usize, j: usize| ((i * i * 37 + j * j * 91 + i * j * 53) as f64 * 0.7).sin();
        let z =
            Mat::from_fn(50, 8, |i, j| wave(i, j) / (j + 1) as f64 + 0.3 * f64::from(u8::from(i % 3 == j)));
        let names: Vec<&str> = (0..50).map(|i| ["a", "b", "c"][i % 3]).collect();
        for criterion in [Criterion::Margin, Criterion::RadiusMargin] {
            let labelled = LabelledCriterion::new(criterion, &Labels::classes(&names), false, 0.1, 1.0);
            let objective = Subspaces { z: z.clone(), labelled };
            let (b, _) = orthonormal(Mat::from_fn(8, 2, |i, j| wave(j, i)).as_ref(), Precision::Double);
            let slope = objective.project(&b, objective.value_and_gradient(&b).1);
            let direction = objective.project(&b, Mat::from_fn(8, 2, |i, j| wave(i + 1, j)));
            let at = |t: f64| {
                objective.value_and_gradient(&objective.retract(&b, &direction, t).expect("orthonormal")).0
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((difference - inner(&slope, &direction)).abs() < 1e-7, "{criterion:?}");
            let found = maximise(&objective, b, 30, 1e-6, &Monitor::default(), |_| ()).expect("no stop");
            assert!(found.path.is_sorted() && found.path.len() > 3, "{:?}", found.path);
        }
    }
}
