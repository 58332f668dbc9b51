//! Labels: classes or numbers, decided in one place for Rust, Python and the command line.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// A column of whole numbers with more distinct values than this is a regression target.
pub const MOST_CLASSES_IN_NUMBERS: usize = 50;

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

impl Labels {
    /// Classes or numbers? Text and integers are classes; numbers are numbers if any is not whole or if more than
    /// 50 are distinct, else classes. `task` overrides.
    ///
    /// ```
    /// use mercer::data::{Column, Labels, Task};
    ///
    /// let labels = Labels::decide(Column::Numbers(vec![10.0, 9.0, 10.0]), Task::Auto)?;
    /// assert_eq!(labels, Labels::Classes { codes: vec![1, 0, 1], names: vec!["9".into(), "10".into()] });
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn decide(column: Column, task: Task) -> Result<Self> {
        if let Column::Numbers(values) = &column
            && let Some(row) = values.iter().position(|v| !v.is_finite())
        {
            return Err(Error::data(format!("the target is not a finite number at row {}", row + 1)));
        }
        match (column, task) {
            (Column::Text(values), Task::Numbers) => {
                let text = values.iter().find(|v| !v.trim().parse::<f64>().is_ok_and(f64::is_finite));
                match text {
                    Some(text) => Err(Error::data(format!(
                        "task = numbers, but the target holds the text `{text}`; use task = classes"
                    ))),
                    None => Ok(Self::Numbers(values.iter().filter_map(|v| v.trim().parse().ok()).collect())),
                }
            }
            (Column::Text(values), _) => Ok(Self::classes(&values)),
            (Column::Integers(values), Task::Numbers) => {
                Ok(Self::Numbers(values.into_iter().map(|v| v as f64).collect()))
            }
            (Column::Integers(values), _) => {
                Ok(Self::classes(&values.iter().map(i64::to_string).collect::<Vec<_>>()))
            }
            (Column::Numbers(values), Task::Numbers) => Ok(Self::Numbers(values)),
            (Column::Numbers(values), task) => {
                let names: Vec<String> = values.iter().map(|v| (v + 0.0).to_string()).collect();
                let classes = Self::classes(&names);
                let whole = values.iter().all(|v| v.fract() == 0.0);
                let few = classes.n_classes().is_some_and(|c| c <= MOST_CLASSES_IN_NUMBERS);
                Ok(if task == Task::Classes || (whole && few) { classes } else { Self::Numbers(values) })
            }
        }
    }

    /// Classes named by text. They are ordered as numbers if all of them are, else as text.
    pub fn classes<S: AsRef<str>>(values: &[S]) -> Self {
        let mut names: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
        names.sort_unstable();
        names.dedup();
        let numbers: Option<Vec<f64>> =
            names.iter().map(|s| s.trim().parse::<f64>().ok().filter(|v| v.is_finite())).collect();
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
                     hint: name all classes (`classes`) with the first batch, or set task = numbers if they are numbers",
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
            Self::Numbers(_) => None,
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
            Self::Numbers(_) => Err(Error::data(format!(
                "`{method}` needs classes, but the target was read as numbers\n\
                 hint: if the values are classes, give them as integers or text, or override the choice (task = classes)"
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
        }
    }

    /// Centred target columns, row-major n×c, and their number. Numbers are also divided by their largest deviation, the third
    /// part, so that neither an offset nor a unit matters to what is computed from them.
    pub(crate) fn centered(&self) -> (Vec<f64>, usize, f64) {
        let (mut y, c) = self.one_hot();
        let n = self.len() as f64;
        for j in 0..c {
            let mean: f64 = y.iter().skip(j).step_by(c).map(|v| v / n).sum();
            y.iter_mut().skip(j).step_by(c).for_each(|v| *v -= mean);
        }
        let unit = match self {
            Self::Classes { .. } => 1.0,
            Self::Numbers(_) => y.iter().fold(0.0f64, |m, v| m.max(v.abs())),
        };
        let unit = if unit > 0.0 { unit } else { 1.0 };
        y.iter_mut().for_each(|v| *v /= unit);
        (y, c, unit)
    }

    /// A warning if the classes look like numbers: more than 50 of them, all written as numbers, with ten rows each at
    /// most.
    pub(crate) fn many_classes_warning(&self) -> Option<String> {
        let Self::Classes { codes, names } = self else { return None };
        let numbers = || names.iter().all(|name| name.trim().parse::<f64>().is_ok());
        let many = names.len() > MOST_CLASSES_IN_NUMBERS && codes.len() <= 10 * names.len() && numbers();
        many.then(|| {
            format!(
                "the target was read as {} classes of {} rows; if it holds numbers, give them as floats or set task = numbers",
                names.len(),
                codes.len()
            )
        })
    }

    /// A warning if a class has a single row, which has no neighbour of its own class.
    pub(crate) fn lonely_warning(&self) -> Vec<String> {
        let Self::Classes { codes, names } = self else { return Vec::new() };
        let mut sizes = vec![0usize; names.len()];
        codes.iter().for_each(|&code| sizes[code] += 1);
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

    /// An error if all rows have the same label.
    pub(crate) fn require_two(&self, what: &str) -> Result<()> {
        match self {
            Self::Classes { .. } => self.require_classes(what).map(|_| ()),
            Self::Numbers(values) if values.iter().all(|v| *v == values[0]) => Err(Error::data(format!(
                "`{what}` looks at the target, but it is the same number in every row"
            ))),
            Self::Numbers(_) => Ok(()),
        }
    }

    /// Number of columns of [`one_hot`](Self::one_hot).
    pub(crate) fn n_targets(&self) -> usize {
        self.n_classes().unwrap_or(1)
    }

    /// The number at row i, column j of [`one_hot`](Self::one_hot).
    pub(crate) fn target(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Classes { codes, .. } => f64::from(u8::from(codes[i] == j)),
            Self::Numbers(values) => values[i],
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(column: Column, task: Task) -> Option<usize> {
        Labels::decide(column, task).expect("decided").n_classes()
    }

    #[test]
    fn integers_and_text_are_classes_and_fractions_are_numbers() {
        let many: Vec<f64> = (0..51).map(f64::from).collect();
        assert_eq!(kind(Column::Numbers(vec![0.0, 1.0, 1.5]), Task::Auto), None);
        assert_eq!(kind(Column::Numbers(many[..50].to_vec()), Task::Auto), Some(50));
        assert_eq!(kind(Column::Numbers(many.clone()), Task::Auto), None);
        assert_eq!(kind(Column::Numbers(many), Task::Classes), Some(51));
        assert_eq!(kind(Column::Integers((0..60).collect()), Task::Auto), Some(60));
        assert_eq!(kind(Column::Integers((0..60).collect()), Task::Numbers), None);
        assert_eq!(kind(Column::Text(vec!["b".into(), "a".into()]), Task::Auto), Some(2));
        assert_eq!(kind(Column::Text(vec!["1".into(), "2".into()]), Task::Numbers), None);
        assert!(Labels::decide(Column::Text(vec!["x".into()]), Task::Numbers).is_err());
        assert!(Labels::decide(Column::Numbers(vec![f64::NAN]), Task::Auto).is_err());
    }

    #[test]
    fn minus_zero_and_zero_are_one_class() {
        assert_eq!(kind(Column::Numbers(vec![0.0, -0.0, 1.0]), Task::Auto), Some(2));
    }
}
