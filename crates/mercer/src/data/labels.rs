//! Labels: classes or numbers, decided in one place for Rust, Python and the command line.
//!
//!   whole numbers are numbers  ⇔  d > 20,  d > √n  and  r < 5    (d distinct values in n rows, the rarest in r of them)
//!
//! cost    a sort of the column

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::str::FromStr;

use super::target::TargetSummary;
use super::weights::{Weights, total, weight};
use crate::error::{Error, Result};

/// Whole numbers with no more distinct values than this are classes: digits, grades, the months of a year.
const FEW_VALUES: usize = 20;

/// A class has at least this many rows to learn from. Numbers become rare towards their ends.
pub(super) const ROWS_OF_A_CLASS: usize = 5;

/// More classes than this, with fewer than [`ROWS_OF_A_CLASS`] rows each on average, are names of rows rather than classes.
const MOST_SMALL_CLASSES: usize = 500;

/// So are more than [`FEW_VALUES`] classes with fewer rows each than this: most have no second row to be recognised by.
const ROWS_TO_RECOGNISE: usize = 2;

/// Of so many classes or more, it is doubtful whether they are classes if most of them have a single row.
const LEAST_DOUBTFUL: usize = 5;

/// Whole numbers with more distinct values than this are read as numbers without a warning.
const MANY_VALUES: usize = 100;

/// The labels of rows: classes or numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// Classes: `codes[i]` indexes `names`, which ascend (as numbers if all of them are numbers).
    Classes {
        /// The class of each row, 0..c.
        codes: Vec<usize>,
        /// The names of the classes.
        names: Vec<String>,
    },
    /// One number per row.
    Numbers(Vec<f64>),
    /// Several numbers per row: targets that are predicted together, or labels of which a row has any number (1 or 0).
    Several {
        /// Row after row.
        values: Vec<f64>,
        /// Numbers a row.
        count: usize,
    },
}

/// How a target column is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Decide by the rule of [`Labels::decide`].
    #[default]
    Auto,
    /// Every distinct value is a class.
    Classes,
    /// The values are numbers.
    Numbers,
}

impl Task {
    /// All choices by name. Synonyms of the last two are `classes` and `numbers`.
    pub const NAMES: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("classification", Self::Classes), ("regression", Self::Numbers)];

    /// Other words for [`Classes`](Self::Classes) and [`Numbers`](Self::Numbers).
    pub const SYNONYMS: [(&'static str, Self); 2] = [("classes", Self::Classes), ("numbers", Self::Numbers)];
}

impl FromStr for Task {
    type Err = Error;

    /// A name or a synonym.
    ///
    /// ```
    /// use mercer::data::Task;
    ///
    /// assert_eq!("numbers".parse::<Task>()?, Task::Numbers);
    /// assert_eq!("regression".parse::<Task>()?, Task::Numbers);
    /// assert!("ranks".parse::<Task>().is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    fn from_str(name: &str) -> Result<Self> {
        let mut all = Self::NAMES.iter().chain(&Self::SYNONYMS);
        all.find(|(n, _)| *n == name).map(|(_, task)| *task).ok_or_else(|| {
            Error::argument(format!(
                "task = `{name}` is not known; use one of auto, classification (or classes), regression (or numbers)"
            ))
        })
    }
}

/// A target column as it was read, before it becomes classes or numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Text, booleans, categories.
    Text(Vec<String>),
    /// A column of an integer type.
    Integers(Vec<i64>),
    /// A column of a floating-point type, or numbers in a text file.
    Numbers(Vec<f64>),
}

impl Column {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(v) => v.len(),
            Self::Integers(v) => v.len(),
            Self::Numbers(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Column {
    /// Whether whole numbers, and how often they occur; None where any value is not a whole number.
    fn whole(&self) -> Option<Occurrences> {
        match self {
            Self::Integers(values) => {
                let mut sorted = values.clone();
                sorted.sort_unstable();
                Some(Occurrences::of(&sorted))
            }
            Self::Numbers(values) if values.iter().all(|v| v.fract() == 0.0) => {
                let mut sorted = values.clone();
                // Equal values lie side by side, minus zero and zero too.
                sorted.sort_unstable_by(f64::total_cmp);
                Some(Occurrences::of(&sorted))
            }
            _ => None,
        }
    }

    /// The first row whose value is not a finite number.
    pub(crate) fn first_not_finite(&self) -> Option<usize> {
        if let Self::Numbers(values) = self { values.iter().position(|v| !v.is_finite()) } else { None }
    }

    /// Every value as a name. Minus zero is zero.
    fn into_names(self) -> Vec<String> {
        match self {
            Self::Text(values) => values,
            Self::Integers(values) => values.iter().map(i64::to_string).collect(),
            Self::Numbers(values) => values.iter().map(|v| (v + 0.0).to_string()).collect(),
        }
    }

    /// Every value as a number; an error if one is other text.
    fn into_numbers(self) -> Result<Vec<f64>> {
        match self {
            Self::Text(values) => match values.iter().find(|text| number_in(text).is_none()) {
                Some(text) => Err(Error::data(format!(
                    "task = regression, but the target holds the text `{text}`; use task = classification"
                ))),
                None => Ok(values.iter().filter_map(|text| number_in(text)).collect()),
            },
            Self::Integers(values) => Ok(values.into_iter().map(|v| v as f64).collect()),
            Self::Numbers(values) => Ok(values),
        }
    }
}

/// The target at this row is not a finite number.
pub(crate) fn target_not_finite(row: usize) -> Error {
    Error::data(format!("the target is not a finite number at row {}", row + 1))
}

/// An error, naming the method, if c classes of n rows look like an identifier of the rows.
pub(crate) fn refuse_identifier(method: &str, n: usize, c: usize) -> Result<()> {
    let least = match c {
        0..=FEW_VALUES => return Ok(()),
        _ if c <= MOST_SMALL_CLASSES => ROWS_TO_RECOGNISE,
        _ => ROWS_OF_A_CLASS,
    };
    if n / least >= c {
        return Ok(());
    }
    Err(Error::data(format!(
        "`{method}` looks at the target, but its {n} rows have {c} classes, fewer than {least} rows each: it looks like an \
         identifier of the rows\n\
         hint: choose another target; if its values are amounts, override the choice (task = regression); if they are classes, \
         leave out or merge those with few rows"
    )))
}

/// What to know of classes that are all written as numbers.
fn numbers_as_text<S: AsRef<str>>(names: &[S]) -> Option<String> {
    let doubtful = names.len() > FEW_VALUES && names.iter().all(|name| number_in(name.as_ref()).is_some());
    doubtful.then(|| read_as_classes(names.len(), "its numbers are given as text or categories"))
}

/// The finite number that a text holds.
pub(super) fn number_in(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|v: &f64| v.is_finite())
}

/// How often the values of a column occur.
struct Occurrences {
    rows: usize,
    distinct: usize,
    /// Rows with the rarest value.
    rarest: usize,
    /// Values that occur once.
    single: usize,
}

impl Occurrences {
    /// Of values in ascending order.
    fn of<T: PartialEq>(sorted: &[T]) -> Self {
        Self::of_sizes(&sorted.chunk_by(T::eq).map(<[T]>::len).collect::<Vec<_>>())
    }

    /// Of values that occur so often each.
    fn of_sizes(sizes: &[usize]) -> Self {
        Self {
            rows: sizes.iter().sum(),
            distinct: sizes.len(),
            rarest: sizes.iter().copied().min().unwrap_or(0),
            single: sizes.iter().filter(|size| **size == 1).count(),
        }
    }

    /// More distinct values than √n, in whole arithmetic.
    fn many_for_the_rows(&self) -> bool {
        self.distinct.saturating_mul(self.distinct) > self.rows
    }

    /// The rule: whether whole numbers that occur so often are numbers.
    fn are_numbers(&self) -> bool {
        self.distinct > FEW_VALUES && self.many_for_the_rows() && self.rarest < ROWS_OF_A_CLASS
    }

    /// What whole numbers were read as, if that is not obvious.
    fn doubt(&self) -> Option<String> {
        let Self { rows, distinct, rarest, single } = self;
        let classes = !self.are_numbers();
        if (LEAST_DOUBTFUL..=FEW_VALUES).contains(distinct) && 2 * single > *distinct {
            let why =
                format!("{distinct} whole numbers differ in {rows} rows, and {single} of them occur once");
            return Some(read_as_classes(*distinct, &why));
        }
        if *distinct <= FEW_VALUES || (!classes && *distinct > MANY_VALUES) {
            return None;
        }
        let why = if !classes {
            let often = if *rarest == 1 { "once".to_string() } else { format!("{rarest} times") };
            format!("{distinct} whole numbers differ in {rows} rows, and the rarest occurs {often}")
        } else if self.many_for_the_rows() {
            format!("each of its whole numbers occurs {rarest} times or more")
        } else {
            format!("only {distinct} whole numbers differ in {rows} rows")
        };
        Some(if classes { read_as_classes(*distinct, &why) } else { read_as_numbers(&why) })
    }
}

fn read_as_classes(classes: usize, why: &str) -> String {
    format!(
        "the target was read as {classes} classes: {why}\nhint: if they are amounts, override the choice (task = regression)"
    )
}

fn read_as_numbers(why: &str) -> String {
    format!(
        "the target was read as numbers: {why}\nhint: if they are classes, override the choice (task = classification)"
    )
}

impl Labels {
    /// Classes or numbers? Text is classes. Numbers are numbers if any is not whole. Whole numbers, of an integer type or
    /// not, are numbers if more than 20 and more than √n of them are distinct and the rarest occurs fewer than 5 times,
    /// else classes. `task` overrides.
    ///
    /// ```
    /// use mercer::data::{Column, Labels, Task};
    ///
    /// let labels = Labels::decide(Column::Numbers(vec![10.0, 9.0, 10.0]), Task::Auto)?;
    /// assert_eq!(labels, Labels::Classes { codes: vec![1, 0, 1], names: vec!["9".into(), "10".into()] });
    /// let loads = Column::Integers((0..336).map(|i| 700 + i * i % 201).collect());
    /// assert!(matches!(Labels::decide(loads, Task::Auto)?, Labels::Numbers(_)));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn decide(column: Column, task: Task) -> Result<Self> {
        Self::decide_with(column, task, &mut Vec::new())
    }

    /// As [`decide`](Self::decide); where the choice is not obvious, a warning says what it was, why, and how to override it.
    /// It is not obvious if more than 20 and at most 100 whole numbers are distinct, if more than half of 5 to 20 distinct
    /// whole numbers occur once, or if more than 20 classes are all written as numbers. There is none if `task` says what the
    /// column is.
    ///
    /// ```
    /// use mercer::data::{Column, Labels, Task};
    ///
    /// let mut warnings = Vec::new();
    /// let labels = Labels::decide_with(Column::Integers((0..30).collect()), Task::Auto, &mut warnings)?;
    /// assert_eq!(labels.n_classes(), None);
    /// assert!(warnings[0].starts_with("the target was read as numbers"));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn decide_with(column: Column, task: Task, warnings: &mut Vec<String>) -> Result<Self> {
        if let Some(row) = column.first_not_finite() {
            return Err(target_not_finite(row));
        }
        let is_text = matches!(column, Column::Text(_));
        let whole = if task == Task::Auto { column.whole() } else { None };
        warnings.extend(whole.as_ref().and_then(Occurrences::doubt));
        let are_numbers = match task {
            Task::Classes => false,
            Task::Numbers => true,
            Task::Auto => !is_text && whole.is_none_or(|whole| whole.are_numbers()),
        };
        if are_numbers {
            return column.into_numbers().map(Self::Numbers);
        }
        let labels = Self::classes_of(column);
        if let Self::Classes { names, .. } = &labels
            && is_text
            && task == Task::Auto
        {
            warnings.extend(numbers_as_text(names));
        }
        Ok(labels)
    }

    /// The classes of a column. Of numbers, which are few as names, only the distinct ones are.
    fn classes_of(column: Column) -> Self {
        fn by_value<T: Copy>(
            values: &[T],
            order: impl Fn(&T, &T) -> Ordering,
            name: impl Fn(&T) -> String,
        ) -> Labels {
            let mut distinct = values.to_vec();
            distinct.sort_unstable_by(&order);
            distinct.dedup_by(|a, b| order(a, b) == Ordering::Equal);
            let names: Vec<String> = distinct.iter().map(name).collect();
            let Labels::Classes { codes, names } = Labels::classes(&names) else {
                unreachable!("they are classes")
            };
            let place = |value: &T| distinct.binary_search_by(|own| order(own, value)).unwrap_or_default();
            Labels::Classes { codes: values.iter().map(|value| codes[place(value)]).collect(), names }
        }
        match column {
            Column::Text(_) => Self::classes(&column.into_names()),
            Column::Integers(values) => by_value(&values, i64::cmp, i64::to_string),
            // Minus zero is zero.
            Column::Numbers(values) => {
                let values: Vec<f64> = values.iter().map(|v| v + 0.0).collect();
                by_value(&values, f64::total_cmp, f64::to_string)
            }
        }
    }

    /// Whether a column is numbers, by the rule of [`decide_with`](Self::decide_with), from its distinct values and how often
    /// each occurs; numbers among them must be whole.
    pub(crate) fn are_numbers<S: AsRef<str>>(
        names: &[S],
        sizes: &[usize],
        is_text: bool,
        task: Task,
        warnings: &mut Vec<String>,
    ) -> Result<bool> {
        match task {
            Task::Classes => Ok(false),
            Task::Numbers => {
                let texts = names.iter().map(|name| name.as_ref().to_string()).collect();
                Column::Text(texts).into_numbers().map(|_| true)
            }
            Task::Auto if is_text => {
                warnings.extend(numbers_as_text(names));
                Ok(false)
            }
            Task::Auto => {
                let found = Occurrences::of_sizes(sizes);
                warnings.extend(found.doubt());
                Ok(found.are_numbers())
            }
        }
    }

    /// The labels of a column of which it is known what it is: the names of the classes of all rows, or None for numbers.
    pub fn known(column: Column, names: Option<&[String]>) -> Result<Self> {
        let Some(names) = names else { return column.into_numbers().map(Self::Numbers) };
        let code: BTreeMap<&str, usize> = names.iter().enumerate().map(|(i, s)| (s.as_str(), i)).collect();
        let codes = column.into_names().into_iter().map(|name| {
            code.get(name.as_str())
                .copied()
                .ok_or_else(|| Error::data(format!("the class `{name}` is not among those of all rows")))
        });
        Ok(Self::Classes { codes: codes.collect::<Result<_>>()?, names: names.to_vec() })
    }

    /// Classes named by text. They are ordered as numbers if all of them are, else as text.
    pub fn classes<S: AsRef<str>>(values: &[S]) -> Self {
        let mut names: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        let numbers: Option<Vec<f64>> = names.iter().map(|text| number_in(text)).collect();
        if let Some(numbers) = numbers {
            let mut order: Vec<usize> = (0..names.len()).collect();
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
            names = order.into_iter().map(|i| names[i]).collect();
        }
        let code: BTreeMap<&str, usize> = names.iter().enumerate().map(|(i, s)| (*s, i)).collect();
        Self::Classes {
            codes: values.iter().map(|v| code[v.as_ref()]).collect(),
            names: names.into_iter().map(String::from).collect(),
        }
    }

    /// Recodes the classes with these names, in this order; an error if a class is not among them.
    ///
    /// ```
    /// use mercer::Labels;
    ///
    /// let batch = Labels::classes(&["b", "b"]).among(vec!["a".into(), "b".into()])?;
    /// assert_eq!(batch, Labels::Classes { codes: vec![1, 1], names: vec!["a".into(), "b".into()] });
    /// assert!(Labels::classes(&["c"]).among(vec!["a".into(), "b".into()]).is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn among(&self, names: Vec<String>) -> Result<Self> {
        let Self::Classes { codes, names: own } = self else { return Ok(self.clone()) };
        let place = |name: &String| {
            names.iter().position(|known| known == name).ok_or_else(|| {
                Error::data(format!(
                    "the class `{name}` is not among those of the first batch: {}\n\
                     hint: name all classes (`classes`) with the first batch, or set task = regression if they are numbers",
                    names.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ")
                ))
            })
        };
        let places: Vec<usize> = own.iter().map(place).collect::<Result<_>>()?;
        Ok(Self::Classes { codes: codes.iter().map(|&g| places[g]).collect(), names })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes { codes, .. } => codes.len(),
            Self::Numbers(values) => values.len(),
            Self::Several { values, count } => values.len() / count,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of classes; None for numbers.
    pub fn n_classes(&self) -> Option<usize> {
        match self {
            Self::Classes { names, .. } => Some(names.len()),
            Self::Numbers(_) | Self::Several { .. } => None,
        }
    }

    /// The class codes and the number of classes; an error, naming the method, if there are fewer than two classes.
    pub fn require_classes(&self, method: &str) -> Result<(&[usize], usize)> {
        match self {
            Self::Classes { names, .. } if names.len() < 2 => Err(Error::data(format!(
                "`{method}` needs at least 2 classes, but the target holds only one class: {}",
                names.first().map_or("(none)", String::as_str)
            ))),
            Self::Classes { codes, names } => Ok((codes, names.len())),
            Self::Several { count, .. } => Err(several(method, *count)),
            Self::Numbers(_) => Err(Error::data(format!(
                "`{method}` needs classes, but the target was read as numbers\n\
                 hint: if the values are classes, give them as text, or override the choice (task = classification)"
            ))),
        }
    }

    /// The labels of the rows with these indices; the classes keep their codes and names.
    pub fn select(&self, indices: &[usize]) -> Self {
        match self {
            Self::Classes { codes, names } => {
                Self::Classes { codes: indices.iter().map(|&i| codes[i]).collect(), names: names.clone() }
            }
            Self::Numbers(values) => Self::Numbers(indices.iter().map(|&i| values[i]).collect()),
            Self::Several { values, count } => {
                let row = |&i: &usize| values[i * count..(i + 1) * count].iter().copied();
                Self::Several { values: indices.iter().flat_map(row).collect(), count: *count }
            }
        }
    }

    /// Centred target columns, row-major n×c, and their number. Numbers are also divided by their largest deviation, the third
    /// part, so that neither an offset nor a unit matters to what is computed from them; each of several targets is divided by
    /// its standard deviation, so that all count the same.
    pub(crate) fn centered(&self) -> (Vec<f64>, usize, Vec<f64>) {
        self.centered_by(None)
    }

    /// [`centered`](Self::centered) about the means of weighted rows.
    pub(crate) fn centered_by(&self, weights: Option<&Weights>) -> (Vec<f64>, usize, Vec<f64>) {
        let (mut y, c) = self.one_hot();
        for (j, mean) in self.target_means(weights).into_iter().enumerate() {
            y.iter_mut().skip(j).step_by(c).for_each(|v| *v -= mean);
        }
        let largest = |j: usize| y.iter().skip(j).step_by(c).fold(0.0f64, |m, v| m.max(v.abs()));
        let deviation = |j: usize| {
            // In units of the largest, so that squares neither overflow nor vanish.
            let largest = largest(j).max(f64::MIN_POSITIVE);
            let square = |(i, v): (usize, &f64)| weight(weights, i) * (v / largest).powi(2);
            let squares: f64 = y.iter().skip(j).step_by(c).enumerate().map(square).sum();
            largest * (squares / total(weights, self.len())).sqrt()
        };
        let unit = |j: usize| match self {
            Self::Classes { .. } => 1.0,
            Self::Numbers(_) => largest(j),
            Self::Several { .. } => deviation(j),
        };
        let units: Vec<f64> = (0..c).map(unit).map(|unit| if unit > 0.0 { unit } else { 1.0 }).collect();
        for (j, unit) in units.iter().enumerate() {
            y.iter_mut().skip(j).step_by(c).for_each(|v| *v /= unit);
        }
        (y, c, units)
    }

    /// Several targets less their means, in units of their standard deviations, with these means and units; other labels as
    /// they are, with none.
    pub(crate) fn standardised(&self, weights: Option<&Weights>) -> (Cow<'_, Self>, Vec<f64>, Vec<f64>) {
        if !matches!(self, Self::Several { .. }) {
            return (Cow::Borrowed(self), Vec::new(), Vec::new());
        }
        let (values, count, units) = self.centered_by(weights);
        (Cow::Owned(Self::Several { values, count }), self.target_means(weights), units)
    }

    /// The means of the columns of [`one_hot`](Self::one_hot). That of equal values is that value: what rounding made of it would
    /// be all that a constant target has.
    pub(crate) fn target_means(&self, weights: Option<&Weights>) -> Vec<f64> {
        let all = total(weights, self.len());
        let mean = |j: usize| {
            let values = || (0..self.len()).map(|i| self.target(i, j));
            match values().next() {
                Some(first) if values().all(|v| v == first) => first,
                _ => values().enumerate().map(|(i, v)| v * weight(weights, i) / all).sum(),
            }
        };
        (0..self.n_targets()).map(mean).collect()
    }

    /// Rows of every class; empty for numbers.
    pub(crate) fn class_sizes(&self) -> Vec<usize> {
        match TargetSummary::of(self) {
            TargetSummary::Classes { sizes, .. } => sizes,
            _ => Vec::new(),
        }
    }

    /// A warning if a class has a single row, which has no neighbour of its own class.
    pub(crate) fn lonely_warning(&self) -> Vec<String> {
        TargetSummary::of(self).lonely_warning()
    }

    /// Several targets, row after row. An error unless there are at least two, of finite numbers.
    ///
    /// ```
    /// use mercer::Labels;
    ///
    /// let labels = Labels::several(vec![1.0, 0.5, 2.0, 0.1], 2)?;
    /// assert_eq!((labels.len(), labels.n_classes()), (2, None));
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn several(values: Vec<f64>, count: usize) -> Result<Self> {
        if count < 2 || !values.len().is_multiple_of(count) {
            return Err(Error::argument(format!(
                "{} numbers are no rows of {count} targets, of which there must be at least 2",
                values.len()
            )));
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            return Err(target_not_finite(at / count));
        }
        Ok(Self::Several { values, count })
    }

    /// The first number of each row that is not finite.
    pub(crate) fn first_not_finite(&self) -> Option<usize> {
        match self {
            Self::Classes { .. } => None,
            Self::Numbers(values) => values.iter().position(|v| !v.is_finite()),
            Self::Several { values, count } => {
                values.iter().position(|v| !v.is_finite()).map(|at| at / count)
            }
        }
    }

    /// One of several targets, or the labels themselves where there is but one.
    pub(crate) fn only(&self, j: usize) -> Self {
        match self {
            Self::Several { values, count } => {
                Self::Numbers(values.iter().skip(j).step_by(*count).copied().collect())
            }
            one => one.clone(),
        }
    }

    /// An error, naming the method, where there are several targets.
    pub(crate) fn require_one(&self, method: &str) -> Result<()> {
        match self {
            Self::Several { count, .. } => Err(several(method, *count)),
            Self::Classes { .. } | Self::Numbers(_) => Ok(()),
        }
    }

    /// An error, naming the method, if classes are so many and so small that they look like an identifier of the rows.
    pub(crate) fn refuse_identifier(&self, method: &str) -> Result<()> {
        self.n_classes().map_or(Ok(()), |c| refuse_identifier(method, self.len(), c))
    }

    /// An error if all rows have the same label.
    pub(crate) fn require_two(&self, what: &str) -> Result<()> {
        match self {
            Self::Classes { .. } => self.require_classes(what).map(|_| ()),
            Self::Numbers(values) if values.iter().all(|v| *v == values[0]) => Err(Error::data(format!(
                "`{what}` looks at the target, but it is the same number in every row"
            ))),
            Self::Several { values, count } if values.chunks(*count).all(|row| row == &values[..*count]) => {
                Err(Error::data(format!(
                    "`{what}` looks at the targets, but they are the same numbers in every row"
                )))
            }
            Self::Numbers(_) | Self::Several { .. } => Ok(()),
        }
    }

    /// Number of columns of [`one_hot`](Self::one_hot).
    pub(crate) fn n_targets(&self) -> usize {
        match self {
            Self::Classes { names, .. } => names.len(),
            Self::Numbers(_) => 1,
            Self::Several { count, .. } => *count,
        }
    }

    /// The number at row i, column j of [`one_hot`](Self::one_hot).
    pub(crate) fn target(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Classes { codes, .. } => f64::from(u8::from(codes[i] == j)),
            Self::Numbers(values) => values[i],
            Self::Several { values, count } => values[i * count + j],
        }
    }

    /// As columns of numbers, row-major n×c: one-hot classes, or the numbers themselves (c = 1).
    pub(crate) fn one_hot(&self) -> (Vec<f64>, usize) {
        match self {
            Self::Classes { codes, names } => {
                let c = names.len();
                let mut out = vec![0.0; codes.len() * c];
                for (row, &code) in out.chunks_exact_mut(c.max(1)).zip(codes) {
                    row[code] = 1.0;
                }
                (out, c)
            }
            Self::Numbers(values) => (values.clone(), 1),
            Self::Several { values, count } => (values.clone(), *count),
        }
    }
}

/// Several targets were given to a method that takes one.
fn several(method: &str, count: usize) -> Error {
    Error::argument(format!(
        "`{method}` takes one target, but {count} were given\n\
         hint: fit each by itself, or use `kpls`, `skfe`, `f`, `mi`, `lasso` or a regressor, which take several"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integers and floats of the same values; both must be decided alike. The number of classes, None for numbers, and
    /// whether there is a warning.
    fn decided(values: &[i64], task: Task) -> (Option<usize>, bool) {
        let floats = values.iter().map(|&v| v as f64).collect();
        let [a, b] = [Column::Integers(values.to_vec()), Column::Numbers(floats)].map(|column| {
            let mut warnings = Vec::new();
            (Labels::decide_with(column, task, &mut warnings).expect("decided").n_classes(), warnings)
        });
        assert_eq!(a, b);
        (a.0, !a.1.is_empty())
    }

    #[test]
    fn whole_numbers_are_numbers_if_many_are_distinct_and_some_are_rare() {
        let times = |distinct: i64, times: usize| -> Vec<i64> {
            (0..distinct).flat_map(|v| std::iter::repeat_n(v, times)).collect()
        };
        assert_eq!(decided(&times(20, 1), Task::Auto), (Some(20), true));
        assert_eq!(decided(&times(20, 2), Task::Auto), (Some(20), false));
        assert_eq!(decided(&times(21, 1), Task::Auto), (None, true));
        assert_eq!(decided(&times(21, 4), Task::Auto), (None, true));
        assert_eq!(decided(&times(21, 5), Task::Auto), (Some(21), true));
        assert_eq!(decided(&times(101, 1), Task::Auto), (None, false));
        assert_eq!(decided(&times(101, 5), Task::Auto), (Some(101), true));
        // 25² = 625 rows: 25 distinct values are not more than the root, 26 are.
        let with_a_rare_one = |distinct: i64| [times(distinct, 1), vec![0; 625 - distinct as usize]].concat();
        assert_eq!(decided(&with_a_rare_one(25), Task::Auto), (Some(25), true));
        assert_eq!(decided(&with_a_rare_one(26), Task::Auto), (None, true));
        assert_eq!(decided(&times(60, 1), Task::Classes), (Some(60), false));
        assert_eq!(decided(&times(2, 9), Task::Numbers), (None, false));
        assert_eq!(decided(&[], Task::Auto), (Some(0), false));
    }

    #[test]
    fn text_is_classes_and_fractions_are_numbers() {
        let kind = |column, task| Labels::decide(column, task).expect("decided").n_classes();
        assert_eq!(kind(Column::Numbers(vec![0.0, 1.0, 1.5]), Task::Auto), None);
        assert_eq!(kind(Column::Numbers(vec![0.0, 1.0, 1.5]), Task::Classes), Some(3));
        assert_eq!(kind(Column::Numbers(vec![0.0, -0.0, 1.0]), Task::Auto), Some(2));
        assert_eq!(kind(Column::Text(vec!["b".into(), "a".into()]), Task::Auto), Some(2));
        assert_eq!(kind(Column::Text(vec!["1".into(), "2".into()]), Task::Numbers), None);
        assert!(Labels::decide(Column::Text(vec!["x".into()]), Task::Numbers).is_err());
        assert!(Labels::decide(Column::Numbers(vec![f64::NAN]), Task::Auto).is_err());
    }

    #[test]
    fn many_classes_that_are_text_but_written_as_numbers_are_doubtful() {
        let warned = |texts: Vec<String>, task| {
            let mut warnings = Vec::new();
            Labels::decide_with(Column::Text(texts), task, &mut warnings).expect("decided");
            warnings
        };
        let numbers = || (0..21).map(|i| format!("{i}.5")).collect::<Vec<String>>();
        assert!(warned(numbers(), Task::Auto)[0].starts_with("the target was read as 21 classes"));
        assert!(warned(numbers()[1..].to_vec(), Task::Auto).is_empty());
        assert!(warned([numbers(), vec!["x".into()]].concat(), Task::Auto).is_empty());
        assert!(warned(numbers(), Task::Classes).is_empty());
    }
}
