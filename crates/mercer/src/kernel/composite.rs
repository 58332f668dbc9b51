//! Sums of products of kernels, each on all columns or on a group of them.
//!
//!   k(x, z) = Σ_t w_t Π_f k_tf(x_G, z_G),   w_t ≥ 0,   G the columns of the factor
//!
//! Sums and products of positive semi-definite kernels are positive semi-definite (Schur), and so is a kernel on a group of columns.
//!
//! cost    each distinct factor once, and one product a factor and value
//! differs a composite is interned: there is one of each text, it is never freed, and so a [`Kernel`] stays a small value that is copied

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::ops::{Add, Mul};
use std::sync::{Mutex, PoisonError};

use super::block::{PANEL, Panel};
use super::gram::{check_part, diagonal};
use super::kernel::{Kernel, Shape};
use super::pairs::pair_statistic;
use crate::data::rows::Rows;
use crate::error::{Error, Result};

/// The most terms that a sum may have once its parentheses are multiplied out.
pub(super) const MOST_TERMS: usize = 100;

/// A weighted sum of products of kernels.
#[derive(Debug, PartialEq)]
pub struct Composite {
    terms: Vec<Term>,
    text: String,
}

/// A weight times a product; without factors a constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) weight: f64,
    pub(super) factors: Vec<Factor>,
}

/// A kernel on some columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factor {
    pub(super) shape: Shape,
    pub(super) width: Width,
    pub(super) columns: Columns,
}

/// γ of a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Width {
    /// This number.
    Fixed(f64),
    /// The kernel's γ times this number.
    Free(f64),
}

/// The columns that a factor sees, ascending.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Columns {
    All,
    Places(Vec<usize>),
    /// Not yet looked up.
    Names(Vec<String>),
}

impl Composite {
    /// The composite as text, which is read as the same.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn factors(&self) -> impl Iterator<Item = &Factor> {
        self.terms.iter().flat_map(|term| &term.factors)
    }

    /// Whether the kernel's γ has a part in it.
    pub(super) fn uses_gamma(&self) -> bool {
        self.factors().any(Factor::is_free)
    }

    /// Whether a part of it is a function of the user's.
    pub(super) fn has_own(&self) -> bool {
        self.factors().any(|factor| matches!(factor.shape, Shape::Own(_)))
    }

    pub(super) fn check(&self) -> Result<()> {
        for term in &self.terms {
            if !(term.weight >= 0.0 && term.weight.is_finite()) {
                return Err(Error::argument(format!(
                    "the kernel `{}` has the weight {}, but weights must be finite numbers of at least 0: a sum with another is \
                     not positive semi-definite",
                    self.text, term.weight
                )));
            }
        }
        for factor in self.factors() {
            match factor.shape {
                Shape::Precomputed => {
                    return Err(Error::argument(
                        "the kernel `precomputed` cannot be a part of another: its rows are no rows of columns\n\
                         hint: add or multiply the matrices yourself and give the result",
                    ));
                }
                Shape::Composite(inner) => inner.check()?,
                shape => shape.check()?,
            }
            if let Width::Fixed(gamma) = factor.width
                && !(gamma > 0.0 && gamma.is_finite())
            {
                return Err(Error::argument(format!(
                    "gamma = {gamma} in the kernel `{}`, but it must be a finite number above 0",
                    self.text
                )));
            }
        }
        Ok(())
    }

    /// An error if columns are named that nobody has looked up.
    pub(super) fn check_names(&self) -> Result<()> {
        let unknown = self.factors().find_map(|factor| match &factor.columns {
            Columns::Names(names) => names.first(),
            _ => None,
        });
        unknown.map_or(Ok(()), |name| {
            Err(Error::argument(format!(
                "the kernel `{}` is on the column `{name}`, but these rows have no names of columns\n\
                 hint: give a table with names, or places such as columns=0:5",
                self.text
            )))
        })
    }

    /// An error unless every column is among p.
    pub(super) fn check_columns(&self, p: usize) -> Result<()> {
        let last = self.factors().filter_map(|factor| factor.columns.places()?.last().copied()).max();
        match last {
            Some(last) if last >= p => Err(Error::argument(format!(
                "the kernel `{}` is on column {last}, but the rows have {p} columns, 0 to {}",
                self.text,
                p.saturating_sub(1)
            ))),
            _ => Ok(()),
        }
    }

    /// What a kernel asks of rows, of every factor.
    pub(super) fn check_rows(&self, gamma: f64, rows: &Rows, first: usize) -> Result<()> {
        self.check_columns(rows.p())?;
        for factor in self.factors() {
            factor.each_panel(rows, |start, part| {
                let places = factor.columns.places();
                check_part(factor.kernel(gamma), part, first + start, places)
            })?;
        }
        Ok(())
    }

    /// k(x,x) of every row.
    pub(super) fn diagonal(&self, gamma: f64, rows: &Rows) -> Vec<f64> {
        let (parts, terms) = self.distinct();
        let of_parts: Vec<Vec<f64>> = parts
            .iter()
            .map(|factor| {
                let mut all = Vec::with_capacity(rows.n());
                let kernel = factor.kernel(gamma);
                let _ = factor.each_panel(rows, |_, part| {
                    all.extend(diagonal(kernel, part));
                    Ok(())
                });
                all
            })
            .collect();
        let mut out = vec![0.0; rows.n()];
        add_up(&terms, &of_parts, &mut out);
        out
    }

    /// The value of one pair of rows, from their own numbers.
    pub(super) fn pair(&self, gamma: f64, rows: &Rows, i: usize, j: usize) -> f64 {
        let two = rows.select(&[i, j]);
        let (parts, terms) = self.distinct();
        let value = |factor: &&Factor| {
            let kernel = factor.kernel(gamma);
            let mut value = [pair_statistic(kernel, &factor.columns.of(&two), 0, 1)];
            kernel.finish(&mut value);
            value.to_vec()
        };
        let mut out = [0.0];
        add_up(&terms, &parts.iter().map(value).collect::<Vec<_>>(), &mut out);
        out[0]
    }

    /// Its different factors, and every term as a weight and places among them.
    fn distinct(&self) -> (Vec<&Factor>, Weighted) {
        let mut parts: Vec<&Factor> = Vec::new();
        let mut place = |factor| {
            parts.iter().position(|other| *other == factor).unwrap_or_else(|| {
                parts.push(factor);
                parts.len() - 1
            })
        };
        let terms = self
            .terms
            .iter()
            .map(|term| (term.weight, term.factors.iter().map(&mut place).collect()))
            .collect();
        (parts, terms)
    }

    /// The same with other widths.
    pub(super) fn with_widths(&self, mut width: impl FnMut(&Factor) -> Result<Width>) -> Result<Shape> {
        let mut terms = self.terms.clone();
        for factor in terms.iter_mut().flat_map(|term| &mut term.factors) {
            if factor.is_free() {
                factor.width = width(factor)?;
            }
        }
        Ok(intern(terms))
    }

    /// The same on columns that were looked up among these names.
    fn with_names(&self, names: &[String]) -> Result<Shape> {
        let mut terms = self.terms.clone();
        for factor in terms.iter_mut().flat_map(|term| &mut term.factors) {
            if let Columns::Names(wanted) = &factor.columns {
                let mut places = Vec::new();
                for name in wanted {
                    places.extend(looked_up(name, names)?);
                }
                factor.columns = Columns::at(places)?;
            }
        }
        Ok(intern(terms))
    }
}

/// Weights, and factors by their places.
type Weighted = Vec<(f64, Vec<usize>)>;

/// Σ_t w_t Π_f values_f, added to what is there.
fn add_up(terms: &[(f64, Vec<usize>)], parts: &[Vec<f64>], out: &mut [f64]) {
    let mut product = vec![0.0; out.len()];
    for (weight, factors) in terms {
        product.fill(*weight);
        for &at in factors {
            product.iter_mut().zip(&parts[at]).for_each(|(p, v)| *p *= v);
        }
        out.iter_mut().zip(&product).for_each(|(o, p)| *o += p);
    }
}

/// Places of a column with this name, or of those that an encoder made of it: `city=Rome`, `city=Oslo`.
fn looked_up(name: &str, names: &[String]) -> Result<Vec<usize>> {
    let all = |is: &dyn Fn(&String) -> bool| (0..names.len()).filter(|&j| is(&names[j])).collect::<Vec<_>>();
    let same = all(&|other| other == name);
    let made = format!("{name}=");
    let found = if same.is_empty() { all(&|other| other.starts_with(&made)) } else { same };
    if !found.is_empty() {
        return Ok(found);
    }
    let few: Vec<String> = names.iter().take(10).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > 10 { ", …" } else { "" };
    Err(Error::argument(format!(
        "the kernel is on the column `{name}`, which is not there; columns are {}{more}",
        few.join(", ")
    )))
}

impl Factor {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, width: Width::Free(1.0), columns: Columns::All }
    }

    fn is_free(&self) -> bool {
        self.shape.uses_gamma() && matches!(self.width, Width::Free(_))
    }

    /// The factor's kernel where the whole has this γ.
    pub(super) fn kernel(&self, gamma: f64) -> Kernel {
        let gamma = match self.width {
            Width::Fixed(own) => own,
            Width::Free(share) => gamma * share,
        };
        Kernel { shape: self.shape, gamma: if self.shape.uses_gamma() { gamma } else { 1.0 } }
    }

    /// The factor's columns of the rows, panel by panel where they have to be copied; with the place of the first row.
    fn each_panel(&self, rows: &Rows, mut look: impl FnMut(usize, &Rows) -> Result<()>) -> Result<()> {
        if self.columns == Columns::All {
            return look(0, rows);
        }
        (0..rows.n()).step_by(PANEL).try_for_each(|start| {
            look(start, &self.columns.of(&rows.slice(start..rows.n().min(start + PANEL))))
        })
    }
}

impl Columns {
    /// Columns by place, each once, in any order.
    pub(super) fn at(mut places: Vec<usize>) -> Result<Self> {
        places.sort_unstable();
        if let Some(place) = places.windows(2).find_map(|pair| (pair[0] == pair[1]).then_some(pair[0])) {
            return Err(Error::argument(format!("columns of a kernel hold {place} twice")));
        }
        if places.is_empty() {
            return Err(Error::argument(
                "columns of a kernel are none\nhint: leave columns out for all of them",
            ));
        }
        Ok(Self::Places(places))
    }

    pub(super) fn places(&self) -> Option<&[usize]> {
        match self {
            Self::Places(places) => Some(places),
            _ => None,
        }
    }

    /// These columns of rows, in float64 where they are copied.
    pub(super) fn of<'r>(&self, rows: &'r Rows<'r>) -> Cow<'r, Rows<'r>> {
        let Self::Places(places) = self else { return Cow::Borrowed(rows) };
        let (n, p) = (rows.n(), places.len());
        let made = match rows {
            Rows::Dense(d) => {
                let values: Vec<f64> =
                    (0..n).flat_map(|i| places.iter().map(move |&j| d.row(i)[j])).collect();
                Rows::dense(values, n, p)
            }
            Rows::DenseF32(d) => {
                let row = |i: usize| places.iter().map(move |&j| f64::from(d.row(i)[j]));
                Rows::dense((0..n).flat_map(row).collect::<Vec<f64>>(), n, p)
            }
            Rows::Sparse(s) => {
                let (mut ends, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
                for i in 0..n {
                    let (columns, stored) = s.row(i);
                    for (&j, &v) in columns.iter().zip(stored) {
                        if let Ok(at) = places.binary_search(&(j as usize)) {
                            indices.push(at as u32);
                            values.push(v);
                        }
                    }
                    ends.push(indices.len());
                }
                Rows::sparse(ends, indices, values, p)
            }
        };
        Cow::Owned(made.unwrap_or_else(|e| unreachable!("{e}")))
    }
}

/// Landmarks, prepared for every different factor.
#[derive(Debug)]
pub(super) struct Sum {
    p: usize,
    parts: Vec<(&'static Columns, Panel)>,
    terms: Weighted,
}

impl Sum {
    pub(super) fn new(composite: &'static Composite, gamma: f64, landmarks: &Rows) -> Self {
        let (parts, terms) = composite.distinct();
        let panel = |factor: &'static Factor| {
            (&factor.columns, Panel::new(factor.kernel(gamma), &factor.columns.of(landmarks)))
        };
        Self { p: landmarks.p(), parts: parts.into_iter().map(panel).collect(), terms }
    }

    pub(super) fn p(&self) -> usize {
        self.p
    }

    /// Values of every different factor, row-major.
    pub(super) fn parts(&self, rows: &Rows, length: usize) -> Vec<Vec<f64>> {
        let values = |(columns, panel): &(&'static Columns, Panel)| {
            let mut values = vec![0.0; length];
            panel.fill(&columns.of(rows), &mut values);
            values
        };
        self.parts.iter().map(values).collect()
    }

    pub(super) fn fill(&self, rows: &Rows, out: &mut [f64]) {
        let parts = self.parts(rows, out.len());
        out.fill(0.0);
        add_up(&self.terms, &parts, out);
    }
}

/// What slopes and graphs of a composite are made of: each different factor's kernel and columns, and every term as a
/// weight and places among them.
pub(crate) struct Parts {
    pub(crate) kernels: Vec<Kernel>,
    columns: Vec<&'static Columns>,
    pub(crate) terms: Weighted,
}

impl Parts {
    pub(crate) fn new(composite: &'static Composite, gamma: f64) -> Self {
        let (parts, terms) = composite.distinct();
        let kernels = parts.iter().map(|factor| factor.kernel(gamma)).collect();
        Self { kernels, columns: parts.iter().map(|factor| &factor.columns).collect(), terms }
    }

    /// The columns that a part sees.
    pub(crate) fn columns<'r>(&self, part: usize, rows: &'r Rows<'r>) -> Cow<'r, Rows<'r>> {
        self.columns[part].of(rows)
    }

    /// The places of the columns that a part sees; None: all.
    pub(crate) fn places(&self, part: usize) -> Option<&[usize]> {
        self.columns[part].places()
    }

    /// Where a column stands among those that a part sees.
    pub(crate) fn place(&self, part: usize, j: usize) -> Option<usize> {
        match self.places(part) {
            Some(places) => places.binary_search(&j).ok(),
            None => Some(j),
        }
    }

    /// ∂k/∂k_f for every different factor f, from the values of all of them.
    pub(crate) fn outer(&self, values: &[Vec<f64>], length: usize) -> Vec<Vec<f64>> {
        let mut outer = vec![vec![0.0; length]; self.kernels.len()];
        for (weight, factors) in &self.terms {
            for (own, &at) in factors.iter().enumerate() {
                let others = factors.iter().enumerate().filter(|(other, _)| *other != own).map(|(_, &f)| f);
                let mut product = vec![*weight; length];
                for other in others {
                    product.iter_mut().zip(&values[other]).for_each(|(p, v)| *p *= v);
                }
                outer[at].iter_mut().zip(&product).for_each(|(o, p)| *o += p);
            }
        }
        outer
    }
}

impl Shape {
    /// The formula of a sum: as it is where it is one kernel on all columns whose γ is not given.
    pub(super) fn of_terms(terms: Vec<Term>) -> Self {
        match &terms[..] {
            [Term { weight: 1.0, factors }] => match &factors[..] {
                [Factor { shape, width: Width::Free(1.0), columns: Columns::All }] => *shape,
                _ => intern(terms),
            },
            _ => intern(terms),
        }
    }

    /// Whether it is, or has as a part, a function of the user's.
    pub fn is_own(self) -> bool {
        match self {
            Self::Own(_) => true,
            Self::Composite(composite) => composite.has_own(),
            _ => false,
        }
    }

    /// Whether a part of it asks which numbers are equal.
    pub(crate) fn compares_equal(self) -> bool {
        match self {
            Self::Composite(composite) => composite.factors().any(|factor| factor.shape.compares_equal()),
            shape => shape == Self::Match,
        }
    }

    /// The texts of the user's functions in it, each once.
    pub fn functions(self) -> Vec<&'static str> {
        let mut found: Vec<&'static str> = match self {
            Self::Own(own) => vec![own.text()],
            Self::Composite(composite) => {
                composite.factors().flat_map(|factor| factor.shape.functions()).collect()
            }
            _ => Vec::new(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A single kernel in the dress of a sum, `rbf(gamma=0.1)`, as it is, with its γ.
    pub(crate) fn single(self) -> Option<Kernel> {
        let Self::Composite(composite) = self else { return None };
        match &composite.terms[..] {
            [Term { weight: 1.0, factors }] => match &factors[..] {
                [Factor { shape, width: Width::Fixed(gamma), columns: Columns::All }] => {
                    Some(Kernel { shape: *shape, gamma: *gamma })
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The same formula with columns looked up among these names: `match(columns=city)` becomes `match(columns=3)`. A name that
    /// is not there stands for the columns that an encoder made of it (`city=Rome`).
    ///
    /// ```
    /// use mercer::Shape;
    ///
    /// let names = ["age", "city", "street"].map(String::from);
    /// let shape: Shape = "rbf(columns=age)*match(columns=city,street)".parse()?;
    /// assert_eq!(shape.with_names(&names)?.name(), "rbf(columns=0)*match(columns=1:3)");
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn with_names(self, names: &[String]) -> Result<Self> {
        match self {
            Self::Composite(composite) => composite.with_names(names),
            plain => Ok(plain),
        }
    }
}

impl Kernel {
    /// This kernel with every width as a number.
    pub(crate) fn settled(self) -> Self {
        match self.shape {
            Shape::Composite(composite) if composite.uses_gamma() => {
                let fixed = |factor: &Factor| Ok(Width::Fixed(factor.kernel(self.gamma).gamma));
                let shape = composite.with_widths(fixed).unwrap_or(self.shape);
                Self { shape, gamma: 1.0 }
            }
            _ => self,
        }
    }

    fn terms(self) -> Vec<Term> {
        match self.settled().shape {
            Shape::Composite(composite) => composite.terms.clone(),
            shape => {
                let width = if shape.uses_gamma() { Width::Fixed(self.gamma) } else { Width::Free(1.0) };
                vec![Term { weight: 1.0, factors: vec![Factor { width, ..Factor::new(shape) }] }]
            }
        }
    }

    /// The kernel as text, every width as a number.
    pub(super) fn written(self) -> String {
        written(&self.terms())
    }

    pub(super) fn of_terms(terms: Vec<Term>) -> Self {
        let shape = Shape::of_terms(terms);
        shape.single().unwrap_or(Self { shape, gamma: 1.0 })
    }

    /// This kernel on these columns, by place; parts that have columns of their own keep them.
    ///
    /// ```
    /// use mercer::{Kernel, Rows};
    ///
    /// let kernel = Kernel::rbf(0.5).on_columns(&[0])? * Kernel::matching().on_columns(&[1, 2])?;
    /// assert_eq!(kernel.to_string(), "rbf(gamma=0.5, columns=0)*match(columns=1:3)");
    /// let rows = Rows::dense(vec![0.0, 7.0, 7.0, 0.0, 7.0, 8.0], 2, 3)?;
    /// assert_eq!(kernel.matrix(&rows, &rows)?[(0, 1)], 0.5); // equal in one column of two
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn on_columns(self, columns: &[usize]) -> Result<Self> {
        let columns = Columns::at(columns.to_vec())?;
        let mut terms = self.terms();
        for factor in terms.iter_mut().flat_map(|term| &mut term.factors) {
            if factor.columns == Columns::All {
                factor.columns = columns.clone();
            }
        }
        Ok(Self::of_terms(terms))
    }
}

/// Every term of one times every term of the other.
pub(super) fn multiplied(a: &[Term], b: &[Term]) -> Vec<Term> {
    let product = |x: &Term, y: &Term| Term {
        weight: x.weight * y.weight,
        factors: [&x.factors[..], &y.factors[..]].concat(),
    };
    a.iter().flat_map(|x| b.iter().map(move |y| product(x, y))).collect()
}

/// The sum of two kernels.
///
/// ```
/// use mercer::Kernel;
///
/// let kernel = 0.5 * Kernel::rbf(0.1) + Kernel::linear();
/// assert_eq!(kernel.to_string(), "0.5*rbf(gamma=0.1)+linear");
/// assert_eq!("0.5*rbf(gamma=0.1)+linear".parse::<Kernel>()?, kernel);
/// # Ok::<(), mercer::Error>(())
/// ```
impl Add for Kernel {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::of_terms([self.terms(), other.terms()].concat())
    }
}

/// The product of two kernels.
impl Mul for Kernel {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::of_terms(multiplied(&self.terms(), &other.terms()))
    }
}

/// A kernel times a number. One below 0 is refused where the kernel is used: it would not be positive semi-definite.
impl Mul<Kernel> for f64 {
    type Output = Kernel;

    fn mul(self, kernel: Kernel) -> Kernel {
        Kernel::of_terms(multiplied(&[Term { weight: self, factors: Vec::new() }], &kernel.terms()))
    }
}

impl Mul<f64> for Kernel {
    type Output = Self;

    fn mul(self, weight: f64) -> Self {
        weight * self
    }
}

fn written(terms: &[Term]) -> String {
    terms.iter().map(Term::to_string).collect::<Vec<_>>().join("+")
}

/// The one composite with these terms.
fn intern(terms: Vec<Term>) -> Shape {
    static KNOWN: Mutex<BTreeMap<String, &'static Composite>> = Mutex::new(BTreeMap::new());
    let text = written(&terms);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    Shape::Composite(
        known.entry(text.clone()).or_insert_with(|| Box::leak(Box::new(Composite { terms, text }))),
    )
}

impl Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.weight != 1.0 || self.factors.is_empty() {
            write!(f, "{}", self.weight)?;
        }
        for (at, factor) in self.factors.iter().enumerate() {
            let times = if at > 0 || self.weight != 1.0 { "*" } else { "" };
            write!(f, "{times}{factor}")?;
        }
        Ok(())
    }
}

impl Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut settings = Vec::new();
        match self.width {
            _ if !self.shape.uses_gamma() => {}
            Width::Fixed(gamma) => settings.push(format!("gamma={gamma}")),
            Width::Free(1.0) => {}
            Width::Free(share) => settings.push(format!("width={share}")),
        }
        match self.shape {
            Shape::Poly { degree, coef0 } => settings.push(format!("degree={degree}, coef0={coef0}")),
            Shape::Sigmoid { coef0 } => settings.push(format!("coef0={coef0}")),
            Shape::Rq { alpha } => settings.push(format!("alpha={alpha}")),
            _ => {}
        }
        match &self.columns {
            Columns::All => {}
            Columns::Places(places) => settings.push(format!("columns={}", ranges(places))),
            Columns::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                settings.push(format!("columns={}", names.join(",")));
            }
        }
        f.write_str(self.shape.name())?;
        if settings.is_empty() { Ok(()) } else { write!(f, "({})", settings.join(", ")) }
    }
}

/// A name as it is where it is a word, else between quotes.
fn quoted(name: &str) -> String {
    let word = name.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
        && name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if word { name.into() } else { format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")) }
}

/// Ascending places as 0:3,5.
fn ranges(places: &[usize]) -> String {
    let runs = places.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        run => format!("{}:{}", run[0], run[0] + run.len()),
    });
    runs.collect::<Vec<_>>().join(",")
}
