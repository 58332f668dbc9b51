//! What all labels together are, without a label for every row: the classes and their sizes, or the range of numbers.
//!
//! A [`TargetSummary`] is made of labels that are all here, or merged from the [`TargetValues`] of partitions, where a class may be
//! missing in one of them and classes or numbers can only be decided from all.

use std::collections::BTreeMap;

use super::labels::{Column, Labels, ROWS_OF_A_CLASS, Task, number_in, refuse_identifier};
use super::needs::Needs;
use crate::error::{Error, Result};

/// Distinct numbers of a column that are counted. More than this are numbers in up to 4·10⁹ rows, by the rule for whole
/// numbers.
const MOST_NUMBERS: usize = 1 << 16;

/// Distinct texts of a column that are counted: as many classes as methods can tell apart.
const MOST_CLASSES: usize = 65_535;

/// What all labels together are.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetSummary {
    /// Classes.
    Classes {
        /// The name of each.
        names: Vec<String>,
        /// The number of rows of each.
        sizes: Vec<usize>,
    },
    /// Numbers.
    Numbers {
        /// How many.
        n: usize,
        /// Their mean.
        mean: f64,
        /// The smallest and the largest.
        range: (f64, f64),
    },
    /// Several targets.
    Several {
        /// How many.
        count: usize,
        /// Whether every row has the same.
        constant: bool,
    },
}

impl TargetSummary {
    /// Of labels that are all here.
    pub fn of(labels: &Labels) -> Self {
        match labels {
            Labels::Classes { codes, names } => {
                let mut sizes = vec![0; names.len()];
                codes.iter().for_each(|&code| sizes[code] += 1);
                Self::Classes { names: names.clone(), sizes }
            }
            Labels::Numbers(values) => {
                let n = values.len();
                let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mean = values.iter().map(|v| v / n as f64).sum();
                Self::Numbers { n, mean, range: (low, high) }
            }
            Labels::Several { values, count } => {
                let constant = values.chunks(*count).all(|row| row == &values[..*count]);
                Self::Several { count: *count, constant }
            }
        }
    }

    /// Number of classes; None for numbers.
    pub fn n_classes(&self) -> Option<usize> {
        match self {
            Self::Classes { names, .. } => Some(names.len()),
            Self::Numbers { .. } | Self::Several { .. } => None,
        }
    }

    /// The largest deviation of a number from the mean, 1 where there is none: with mean and unit taken out, neither an offset
    /// nor a unit of the target matters to what is computed from it.
    pub(crate) fn unit(&self) -> f64 {
        match self {
            Self::Numbers { mean, range: (low, high), .. } if high > low => (high - mean).max(mean - low),
            _ => 1.0,
        }
    }

    /// One label of each kind that there is, to ask what a method needs of labels; with more of one class, so that there are as many for
    /// each as there are rows, or enough.
    pub fn sample(&self) -> Labels {
        match self {
            Self::Classes { names, sizes } => {
                let (c, n) = (names.len(), sizes.iter().sum::<usize>());
                let enough = n.min(ROWS_OF_A_CLASS * c).max(c);
                let codes = (0..enough).map(|i| if i < c { i } else { 0 }).collect();
                Labels::Classes { codes, names: names.clone() }
            }
            Self::Numbers { range: (low, high), .. } => Labels::Numbers(vec![*low, *high]),
            Self::Several { count, constant } => {
                let second = f64::from(u8::from(!constant));
                let values = [vec![0.0; *count], vec![second; *count]].concat();
                Labels::Several { values, count: *count }
            }
        }
    }

    /// An error that names the method unless such labels will do.
    pub(crate) fn check(&self, needs: Needs, method: &str) -> Result<()> {
        needs.check_kind(method, Some(&self.sample()))?;
        match self {
            Self::Classes { names, sizes } if needs != Needs::Nothing => {
                refuse_identifier(method, sizes.iter().sum(), names.len())
            }
            _ => Ok(()),
        }
    }

    /// The names and sizes of the classes; an error, naming the method, unless rows are of at least two.
    pub(crate) fn require_classes(&self, method: &str) -> Result<(&[String], &[usize])> {
        self.sample().require_classes(method)?;
        let Self::Classes { names, sizes } = self else { return Ok((&[], &[])) };
        if sizes.iter().filter(|size| **size > 0).count() < 2 {
            return Err(Error::data(format!(
                "`{method}` needs rows of at least 2 classes, but all are of one"
            )));
        }
        Ok((names, sizes))
    }

    /// A warning if a class has a single row, which has no neighbour of its own class.
    pub(crate) fn lonely_warning(&self) -> Vec<String> {
        let Self::Classes { names, sizes } = self else { return Vec::new() };
        let lonely: Vec<&str> =
            (0..names.len()).filter(|&c| sizes[c] == 1).map(|c| names[c].as_str()).collect();
        match lonely.as_slice() {
            [] => Vec::new(),
            [first, rest @ ..] => vec![format!(
                "{} of {} classes have a single row (`{first}`{}), which has no hit and counts with its misses only",
                lonely.len(),
                names.len(),
                if rest.is_empty() { "" } else { ", …" }
            )],
        }
    }
}

/// The values of a target column, or of a part of it, and how often each occurs.
///
/// ```
/// use mercer::data::{Column, Task, TargetValues, TargetSummary};
///
/// let mut all = TargetValues::of(&Column::Text(vec!["b".into(), "b".into()]))?;
/// all.merge(&TargetValues::of(&Column::Text(vec!["a".into()]))?)?;
/// let TargetSummary::Classes { names, sizes } = all.decide(Task::Auto, &mut Vec::new())? else { panic!() };
/// assert_eq!((names, sizes), (vec!["a".to_string(), "b".to_string()], vec![1, 2]));
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TargetValues {
    /// Number of values.
    pub n: usize,
    /// Whether they are text.
    pub is_text: bool,
    /// Whether numbers among them are all whole.
    pub whole: bool,
    /// How often each occurs, by name; None where too many differ to be classes.
    pub counts: Option<BTreeMap<String, usize>>,
    /// Sum, smallest and largest, of numbers.
    pub sum: f64,
    /// The smallest number.
    pub low: f64,
    /// The largest number.
    pub high: f64,
}

impl TargetValues {
    /// Those of a column.
    pub fn of(column: &Column) -> Result<Self> {
        let is_text = matches!(column, Column::Text(_));
        let numbers: Vec<f64> = match column {
            Column::Text(texts) => texts.iter().filter_map(|text| number_in(text)).collect(),
            Column::Integers(values) => values.iter().map(|v| *v as f64).collect(),
            Column::Numbers(values) => values.clone(),
        };
        let counts = match column {
            Column::Text(texts) => counted(texts.iter().cloned(), MOST_CLASSES + 1),
            Column::Integers(values) => counted_numbers(values.clone(), i64::to_string),
            Column::Numbers(values) => {
                // Minus zero is zero; ordered by their bits, equal numbers lie side by side.
                let bits = values.iter().map(|v| (v + 0.0).to_bits()).collect();
                counted_numbers(bits, |bits| f64::from_bits(*bits).to_string())
            }
        };
        if is_text && counts.as_ref().is_none_or(|counts| counts.len() > MOST_CLASSES) {
            return Err(too_many_classes());
        }
        Ok(Self {
            n: column.len(),
            is_text,
            whole: is_text || numbers.iter().all(|v| v.fract() == 0.0),
            counts,
            sum: numbers.iter().sum(),
            low: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            high: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }

    /// Adds those of other rows, which come after these.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if other.n == 0 {
            return Ok(());
        }
        if self.n == 0 {
            *self = other.clone();
            return Ok(());
        }
        if self.is_text != other.is_text {
            return Err(Error::data(
                "the target is text in some partitions and numbers in others\nhint: give it one type",
            ));
        }
        match (&mut self.counts, &other.counts) {
            (Some(own), Some(theirs)) => {
                for (name, count) in theirs {
                    *own.entry(name.clone()).or_insert(0) += count;
                }
                if own.len() > MOST_CLASSES && self.is_text {
                    return Err(too_many_classes());
                }
                if own.len() > MOST_NUMBERS {
                    self.counts = None;
                }
            }
            (own, _) => *own = None,
        }
        self.n += other.n;
        self.whole &= other.whole;
        self.sum += other.sum;
        (self.low, self.high) = (self.low.min(other.low), self.high.max(other.high));
        Ok(())
    }

    /// Classes or numbers, by the rule of [`Labels::decide_with`], which decides as it would with all labels in one place.
    pub fn decide(&self, task: Task, warnings: &mut Vec<String>) -> Result<TargetSummary> {
        let numbers = || TargetSummary::Numbers {
            n: self.n,
            mean: self.sum / self.n as f64,
            range: (self.low, self.high),
        };
        if task == Task::Auto && !self.whole {
            return Ok(numbers());
        }
        let Some(counts) = &self.counts else {
            return if task == Task::Classes { Err(too_many_classes()) } else { Ok(numbers()) };
        };
        let (names, sizes): (Vec<&String>, Vec<usize>) =
            counts.iter().map(|(name, count)| (name, *count)).unzip();
        if Labels::are_numbers(&names, &sizes, self.is_text, task, warnings)? {
            return Ok(numbers());
        }
        // In the order that labels have: as numbers if all are, else as text.
        let Labels::Classes { names, .. } = Labels::classes(&names) else { return Ok(numbers()) };
        let sizes = names.iter().map(|name| counts[name]).collect();
        Ok(TargetSummary::Classes { names, sizes })
    }
}

fn too_many_classes() -> Error {
    Error::data(format!(
        "the target holds more than {MOST_CLASSES} distinct values as classes, so it looks like an identifier\n\
         hint: give another column as the target, or task = regression if they are amounts"
    ))
}

/// How often each occurs; None if more than `most` differ.
fn counted(values: impl Iterator<Item = String>, most: usize) -> Option<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
        if counts.len() > most {
            return None;
        }
    }
    Some(counts)
}

/// How often each of the numbers occurs; None if too many differ.
fn counted_numbers<T: Ord>(
    mut values: Vec<T>,
    name: impl Fn(&T) -> String,
) -> Option<BTreeMap<String, usize>> {
    values.sort_unstable();
    if values.chunk_by(T::eq).count() > MOST_NUMBERS {
        return None;
    }
    Some(values.chunk_by(T::eq).map(|equal| (name(&equal[0]), equal.len())).collect())
}
