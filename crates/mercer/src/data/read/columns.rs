//! The choice of columns: which is the target, which are inputs, which are returned as text.
//!
//! Columns are counted over the whole source. A target that is stored separately counts as one more column, the last.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::Budget;
use super::{MissingTargets, ReadOptions};
use crate::data::rows::F64Rows;
use crate::data::store::Growing;
use crate::data::table::{edits, plain_names, shown};
use crate::data::{Column, Rows, Table};
use crate::error::{Error, Result};

/// The most columns of a source; the names of more would fill the memory.
pub const MOST_COLUMNS: usize = 1 << 24;

/// The role of each column of a source.
#[derive(Debug)]
pub(super) struct Choice {
    /// The names of all columns.
    pub(super) names: Vec<String>,
    pub(super) named: bool,
    pub(super) target: Option<usize>,
    pub(super) inputs: Vec<usize>,
    pub(super) kept: Vec<usize>,
    /// Whether a kept column that holds text is silently no input; otherwise it is an error.
    pub(super) text_may_leave: bool,
}

impl Choice {
    /// For a source whose columns have these names, or that many columns without names.
    pub(super) fn of_columns(
        path: &str,
        names: std::result::Result<Vec<String>, usize>,
        options: &ReadOptions,
    ) -> Result<Self> {
        let named = names.is_ok();
        check_memory(path, names.as_ref().map_or_else(|p| *p, Vec::len), options)?;
        let names = names.unwrap_or_else(plain_names);
        let target = options.target.as_ref().map(|name| find(path, &names, named, name)).transpose()?;
        Self::new(path, names, named, target, None, options)
    }

    /// `apart` is the index of a separately stored target, which is never an input.
    fn new(
        path: &str,
        names: Vec<String>,
        named: bool,
        target: Option<usize>,
        apart: Option<usize>,
        options: &ReadOptions,
    ) -> Result<Self> {
        if named {
            check_names(path, &names)?;
        }
        let kept = options.keep.iter().map(|name| find(path, &names, named, name)).collect::<Result<_>>()?;
        let mut aside: BTreeSet<usize> = target.into_iter().chain(apart).collect();
        for name in &options.drop {
            aside.insert(find(path, &names, named, name)?);
        }
        let free: Vec<usize> = (0..names.len()).filter(|j| !aside.contains(j)).collect();
        let inputs = match &options.columns {
            None if !options.inputs.is_empty() => {
                chosen(path, &names, named, &options.inputs, &aside, target)?
            }
            None => free,
            Some(wanted) if named && !options.by_place => by_name(path, &names, wanted, &aside, target)?,
            Some(wanted) => by_count(path, free, wanted.len(), target.or(apart).is_some())?,
        };
        if inputs.is_empty() {
            return Err(Error::file(
                path,
                "no input columns are left; name fewer of them in target and drop",
            ));
        }
        let text_may_leave = options.columns.is_none() && options.inputs.is_empty();
        Ok(Self { names, named, target, inputs, kept, text_may_leave })
    }

    pub(super) fn input_names(&self) -> Vec<String> {
        self.inputs.iter().map(|&j| self.names[j].clone()).collect()
    }

    /// [`input_names`](Self::input_names), without a copy where every column is an input.
    fn into_input_names(mut self) -> Vec<String> {
        let p = self.inputs.len();
        if self.inputs.iter().copied().ne(0..p) {
            return self.input_names();
        }
        self.names.truncate(p);
        self.names
    }
}

/// An error if the names of so many columns take more memory than the budget allows; they are held several times.
fn check_memory(path: &str, p: usize, options: &ReadOptions) -> Result<()> {
    const NAME_BYTES: u64 = 4 * 48;
    Budget::new(path, options).check((p as u64).saturating_mul(NAME_BYTES), "names of columns")
}

fn check_names(path: &str, names: &[String]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(Error::file(
            path,
            format!("two columns are called `{}`; every column needs a name of its own", shown(name)),
        )),
        None => Ok(()),
    }
}

/// The columns that the user named as inputs, each once.
fn chosen(
    path: &str,
    names: &[String],
    named: bool,
    wanted: &[String],
    aside: &BTreeSet<usize>,
    target: Option<usize>,
) -> Result<Vec<usize>> {
    let mut inputs = Vec::new();
    for name in wanted {
        let j = find(path, names, named, name)?;
        if aside.contains(&j) {
            let use_ = if target == Some(j) { "the target" } else { "dropped" };
            return Err(Error::file(
                path,
                format!("column `{}` is {use_}, but it is named as an input", shown(name)),
            ));
        }
        if !inputs.contains(&j) {
            inputs.push(j);
        }
    }
    Ok(inputs)
}

fn by_name(
    path: &str,
    names: &[String],
    wanted: &[String],
    aside: &BTreeSet<usize>,
    target: Option<usize>,
) -> Result<Vec<usize>> {
    let places: BTreeMap<&str, usize> = names.iter().enumerate().map(|(j, n)| (n.as_str(), j)).collect();
    let found = |name: &String| match places.get(name.as_str()).copied() {
        None => {
            Err(Error::file(path, format!("column `{}` is missing; {}", shown(name), nearest(names, name))))
        }
        Some(j) if aside.contains(&j) => {
            let use_ = if target == Some(j) { "the target" } else { "dropped" };
            Err(Error::file(
                path,
                format!("column `{}` is {use_}, but it is needed as an input", shown(name)),
            ))
        }
        Some(j) => Ok(j),
    };
    wanted.iter().map(found).collect()
}

/// The first columns, for sources without names. One more column is allowed as a target, unless the target is known.
fn by_count(path: &str, mut free: Vec<usize>, wanted: usize, target_known: bool) -> Result<Vec<usize>> {
    let trailing_target = !target_known && free.len() == wanted + 1;
    if free.len() != wanted && !trailing_target {
        let allowed = if target_known { "" } else { " (or one more, a target at the end)" };
        return Err(Error::file(
            path,
            format!(
                "{wanted} input columns are needed{allowed}, but there are {}, and no names to go by",
                free.len()
            ),
        ));
    }
    free.truncate(wanted);
    Ok(free)
}

/// The column of this name or at this position: `-1` is the last; without names `1` is the first.
fn find(path: &str, names: &[String], named: bool, name: &str) -> Result<usize> {
    let found = names.iter().position(|n| n == name).or_else(|| place(name, names.len(), named));
    found.ok_or_else(|| {
        Error::file(path, format!("there is no column `{}`; {}", shown(name), nearest(names, name)))
    })
}

/// The place among p columns that a number means.
pub(super) fn place(number: &str, p: usize, named: bool) -> Option<usize> {
    let place: i64 = number.parse().ok()?;
    let count = usize::try_from(place.unsigned_abs()).ok()?;
    let j = match place {
        ..0 => p.checked_sub(count)?,
        _ if named => return None,
        _ => count.checked_sub(1)?,
    };
    (j < p).then_some(j)
}

/// Suggestions for an error: all columns of a narrow source, the three most similar names of a wide one.
fn nearest(names: &[String], name: &str) -> String {
    let quoted =
        |names: &[&String]| names.iter().map(|n| format!("`{}`", shown(n))).collect::<Vec<_>>().join(", ");
    if names.len() <= 8 {
        return format!("the columns are {}", quoted(&names.iter().collect::<Vec<_>>()));
    }
    let mut order: Vec<&String> = names.iter().collect();
    order.sort_by_cached_key(|n| edits(n, name));
    format!("the closest of {} columns are {}", names.len(), quoted(&order[..3]))
}

/// A source that is read completely before its columns are chosen.
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    pub(super) rows: Rows<'static>,
    pub(super) names: Option<Vec<String>>,
    /// The target, if the source stores it separately.
    pub(super) target: Option<Column>,
    /// Whether that target is returned even if it was not requested.
    pub(super) target_always: bool,
    /// Whether the columns are of an integer type.
    pub(super) integers: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(path: &'a str, rows: Rows<'static>) -> Self {
        Self { path, rows, names: None, target: None, target_always: false, integers: false }
    }

    /// Columns past the largest index of a LIBSVM file are zero, not missing.
    pub(super) fn arrange_padded(mut self, options: &ReadOptions) -> Result<Table> {
        let wanted = options.columns.as_ref().map_or(0, Vec::len);
        if let Rows::Sparse(_) = &self.rows
            && wanted > self.rows.p()
        {
            self.rows = choose_sparse(&self.rows, &(0..self.rows.p()).collect::<Vec<_>>(), wanted)?;
        }
        // Any name means the labels, so that one command line fits all formats; a mistyped one should not pass in silence.
        let is_column = |name: &str| find(self.path, &plain_names(self.rows.p()), false, name).is_ok();
        let other = options.target.as_deref().filter(|name| *name != "target" && !is_column(name));
        let note = other.map(|name| {
            format!("the target is the label of each line: no column is called `{}`", shown(name))
        });
        let mut table = self.arrange(options)?;
        table.notes.extend(note);
        Ok(table)
    }

    pub(super) fn arrange(self, options: &ReadOptions) -> Result<Table> {
        let p = self.rows.p();
        if p > MOST_COLUMNS {
            let reason = format!("{p} columns; at most {MOST_COLUMNS} can be read");
            return Err(Error::file(self.path, reason));
        }
        if self.rows.n() == 0 {
            return Err(Error::file(self.path, "there are no rows"));
        }
        let choice = self.choose(options)?;
        let kept = choice.kept.iter().map(|&j| (choice.names[j].clone(), self.text(j))).collect();
        let target = choice.target.map(|j| self.column(j));
        let rows = if choice.inputs.iter().copied().eq(0..p) {
            self.rows
        } else {
            match self.rows.as_f64() {
                F64Rows::Dense(d) => {
                    let mut values = Growing::like(d.store());
                    for i in 0..self.rows.n() {
                        choice.inputs.iter().try_for_each(|&j| values.push(d.row(i)[j]))?;
                    }
                    Rows::from_store(values.finish()?, self.rows.n(), choice.inputs.len())?
                }
                F64Rows::Sparse(_) => choose_sparse(&self.rows, &choice.inputs, choice.inputs.len())?,
            }
        };
        let target_name = choice.target.map_or("target", |j| &choice.names[j]);
        check_target(self.path, target_name, target.as_ref())?;
        let (named, names) = (choice.named, choice.into_input_names());
        let table = if let Some(table) = options.encoded_array(self.path, &rows, &names, named)? {
            table
        } else {
            rows.check_finite(Some(&names)).map_err(|e| Error::file(self.path, e.to_string()))?;
            Table::of_rows(rows, names)
        };
        Ok(Table { named, target, kept, ..table })
    }

    fn choose(&self, options: &ReadOptions) -> Result<Choice> {
        let p = self.rows.p();
        check_memory(self.path, p, options)?;
        if self.target.is_none() {
            return Choice::of_columns(self.path, self.names.clone().ok_or(p), options);
        }
        let named = self.names.is_some();
        let mut names = self.names.clone().unwrap_or_else(|| plain_names(p));
        names.push("target".into());
        let target = match &options.target {
            Some(name) => Some(find(self.path, &names, named, name).unwrap_or(p)),
            None => self.target_always.then_some(p),
        };
        Choice::new(self.path, names, named, target, Some(p), options)
    }

    fn column(&self, j: usize) -> Column {
        match &self.target {
            Some(target) if j == self.rows.p() => target.clone(),
            _ if self.integers => Column::Integers(self.numbers(j).iter().map(|v| *v as i64).collect()),
            _ => Column::Numbers(self.numbers(j)),
        }
    }

    fn numbers(&self, j: usize) -> Vec<f64> {
        let n = self.rows.n();
        match self.rows.as_f64() {
            F64Rows::Dense(d) => (0..n).map(|i| d.row(i)[j]).collect(),
            F64Rows::Sparse(s) => (0..n)
                .map(|i| {
                    let (columns, values) = s.row(i);
                    columns.iter().position(|&c| c as usize == j).map_or(0.0, |at| values[at])
                })
                .collect(),
        }
    }

    fn text(&self, j: usize) -> Vec<String> {
        match self.column(j) {
            Column::Text(v) => v,
            Column::Integers(v) => v.iter().map(ToString::to_string).collect(),
            Column::Numbers(v) => v.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Sparse rows of p columns, the first of which are these columns of the source, in this order.
fn choose_sparse(rows: &Rows, inputs: &[usize], p: usize) -> Result<Rows<'static>> {
    let Rows::Sparse(s) = rows else {
        return Err(Error::data("the rows are dense"));
    };
    let mut place: Vec<Option<u32>> = vec![None; rows.p()];
    for (to, &from) in inputs.iter().enumerate() {
        place[from] = Some(to as u32);
    }
    let (mut indptr, mut indices, mut values) = (vec![0], s.growing_indices(), Growing::like(s.store()));
    for i in 0..rows.n() {
        let (columns, stored) = s.row(i);
        let mut row: Vec<(u32, f64)> =
            columns.iter().zip(stored).filter_map(|(&j, &v)| Some((place[j as usize]?, v))).collect();
        row.sort_unstable_by_key(|(j, _)| *j);
        for (j, v) in row {
            indices.push(j)?;
            values.push(v)?;
        }
        indptr.push(indices.len());
    }
    Rows::from_sparse_store(indptr.into(), indices.finish()?, values.finish()?, p)
}

/// A target read from an array of numbers may hold NaN.
fn check_target(path: &str, name: &str, target: Option<&Column>) -> Result<()> {
    let mut missing = MissingTargets::default();
    match target {
        Some(Column::Numbers(values)) => {
            for (i, v) in values.iter().enumerate().filter(|(_, v)| !v.is_finite()) {
                if v.is_infinite() {
                    return Err(super::not_finite(path, i + 1, name, &v.to_string()));
                }
                missing.add(i + 1);
            }
        }
        Some(Column::Text(values)) => {
            let empty = values.iter().enumerate().filter(|(_, text)| text.is_empty());
            empty.for_each(|(i, _)| missing.add(i + 1));
        }
        _ => {}
    }
    missing.check(path, name, target.map_or(0, Column::len))
}
