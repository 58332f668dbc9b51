//! Rows in partitions, as the coordinator sees them.

use std::collections::BTreeMap;

use super::answer::{Answer, Reply, Seen, Taken};
use super::question::{Ask, Question};
use super::{Engine, merged_in_a_tree};
use crate::basis::expansion::Expansion;
use crate::data::labels::{Labels, Task, target_not_finite};
use crate::data::rows::{Rows, not_finite};
use crate::data::target::{TargetSummary, TargetValues};
use crate::error::{Error, Result};
use crate::kernel::gamma::RowSample;
use crate::kernel::{Kernel, Shape};

/// Rows in partitions, which were looked at once: how many there are, and what their targets are.
pub struct Parted<'e> {
    engine: &'e dyn Engine,
    sizes: Vec<usize>,
    /// The index of each partition's first row among all.
    first: Vec<usize>,
    n: usize,
    p: usize,
    sparse: bool,
    /// Standard deviation of all numbers.
    deviation: f64,
    target: Option<TargetSummary>,
}

impl<'e> Parted<'e> {
    /// Looks at every partition, and decides with the task what the targets are. What the user should know of that is added to
    /// the warnings.
    pub fn open(engine: &'e dyn Engine, task: Task, warnings: &mut Vec<String>) -> Result<Self> {
        Self::open_named(engine, task, None, warnings)
    }

    /// [`open`](Self::open) with the columns' names, for messages.
    pub fn open_named(
        engine: &'e dyn Engine,
        task: Task,
        names: Option<&[String]>,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        let seen: Vec<Seen> = engine
            .ask(&Question(Ask::Look), &[])?
            .into_iter()
            .map(|answer| if let Reply::Seen(seen) = answer.0 { Ok(seen) } else { Err(unexpected()) })
            .collect::<Result<_>>()?;
        let sizes: Vec<usize> = seen.iter().map(|seen| seen.n).collect();
        let mut n = 0;
        let mut add = |size: &usize| {
            n += size;
            n - size
        };
        let first: Vec<usize> = sizes.iter().map(&mut add).collect();
        if n == 0 {
            return Err(Error::data(format!(
                "all {} partitions are empty; at least one row is needed",
                seen.len()
            )));
        }
        let full = || seen.iter().zip(&first).enumerate().filter(|(_, (seen, _))| seen.n > 0);
        let p = full().next().map_or(0, |(_, (seen, _))| seen.p);
        if let Some((number, (other, _))) = full().find(|(_, (seen, _))| seen.p != p) {
            return Err(Error::data(format!(
                "partition {} has {} columns, but those before it have {p}",
                number + 1,
                other.p
            )));
        }
        if p == 0 {
            return Err(Error::data(format!("the data has {n} rows and 0 columns; at least one is needed")));
        }
        for (_, (seen, first)) in full() {
            if let Some((i, j, v)) = seen.bad {
                return Err(not_finite((first + i, j, v), names));
            }
            if let Some(row) = seen.bad_target {
                return Err(target_not_finite(first + row));
            }
        }
        let spreads = full().map(|(_, (seen, _))| ((seen.n * seen.p) as f64, seen.spread)).collect();
        let values: Vec<&TargetValues> = full().filter_map(|(_, (seen, _))| seen.values.as_ref()).collect();
        let mut parted = Self {
            engine,
            n,
            p,
            sparse: full().any(|(_, (seen, _))| seen.sparse),
            deviation: deviation(spreads)?,
            target: None,
            sizes,
            first,
        };
        if let [one, others @ ..] = &values[..] {
            let mut all = TargetValues::clone(one);
            others.iter().try_for_each(|more| all.merge(more))?;
            let target = all.decide(task, warnings)?;
            let names = match &target {
                TargetSummary::Classes { names, .. } => Some(names.clone()),
                TargetSummary::Numbers { .. } | TargetSummary::Several { .. } => None,
            };
            parted.ask(Ask::Label { names })?;
            parted.target = Some(target);
        }
        Ok(parted)
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Whether rows are sparse.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// What the targets are together, if there are any.
    pub fn target(&self) -> Option<&TargetSummary> {
        self.target.as_ref()
    }

    /// Number of partitions that have rows.
    pub(super) fn n_full(&self) -> usize {
        self.sizes.iter().filter(|size| **size > 0).count()
    }

    pub(super) fn ask(&self, ask: Ask) -> Result<Vec<Reply>> {
        let answers = self.engine.ask(&Question(ask), &self.first)?;
        if answers.len() != self.sizes.len() {
            return Err(unexpected());
        }
        Ok(answers.into_iter().map(|Answer(reply)| reply).collect())
    }

    pub(super) fn ask_merged(&self, ask: Ask) -> Result<Reply> {
        Ok(self.engine.ask_merged(&Question(ask), &self.first)?.0)
    }

    /// Rows by their indices, in this order, with their labels.
    pub fn take(&self, places: &[usize]) -> Result<(Rows<'static>, Option<Labels>)> {
        if places.is_empty() {
            return Ok((Rows::dense(Vec::new(), 0, self.p)?, None));
        }
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let replies = self.ask(Ask::Take { places: sorted.clone() })?;
        let mut found: Vec<Taken> = Vec::new();
        for reply in replies {
            let Reply::Taken(taken) = reply else { return Err(unexpected()) };
            found.push(taken);
        }
        found.retain(|taken| !taken.places.is_empty());
        let (places_found, rows, labels) = joined(found)?;
        let at: BTreeMap<usize, usize> = places_found.iter().enumerate().map(|(at, p)| (*p, at)).collect();
        let order: Option<Vec<usize>> = places.iter().map(|place| at.get(place).copied()).collect();
        let order =
            order.ok_or_else(|| Error::data(format!("rows were asked for that are not among {}", self.n)))?;
        Ok((rows.select(&order), labels.map(|labels| labels.select(&order))))
    }

    /// So many rows, drawn at random, in the order of all rows; all of them where there are no more.
    pub fn sample(&self, size: usize, seed: u64) -> Result<(Rows<'static>, Option<Labels>)> {
        let mut places = crate::random::sample(self.n, size, seed);
        places.sort_unstable();
        self.take(&places)
    }

    /// Multiplies the columns of every partition by these numbers; later questions are about that copy.
    pub(super) fn weigh(&mut self, factors: Vec<f64>) -> Result<()> {
        let seen = self.ask(Ask::Weigh { factors })?;
        let spreads =
            seen.into_iter().zip(&self.sizes).filter(|(_, n)| **n > 0).map(|(reply, n)| match reply {
                Reply::Spread(mean, square) => Ok(((n * self.p) as f64, (mean, square))),
                _ => Err(unexpected()),
            });
        self.deviation = deviation(spreads.collect::<Result<_>>()?)?;
        Ok(())
    }

    /// An error unless the rows are fit for this kernel.
    pub(super) fn check(&self, kernel: Kernel) -> Result<()> {
        if kernel.shape == Shape::Precomputed {
            return Err(crate::extract::at_once("a precomputed kernel"));
        }
        self.ask(Ask::Check { kernel }).map(|_| ())
    }

    /// What an orthonormal basis leaves of the rows, relative to Σ k(x,x), and that sum.
    pub(super) fn residual(&self, expansion: &Expansion) -> Result<(f64, f64)> {
        let Reply::Left { residual, trace } =
            self.ask_merged(Ask::Residual { expansion: expansion.clone() })?
        else {
            return Err(unexpected());
        };
        Ok((if trace > 0.0 { residual / trace } else { 0.0 }, trace))
    }
}

impl RowSample for Parted<'_> {
    fn n(&self) -> usize {
        self.n
    }

    fn p(&self) -> usize {
        self.p
    }

    fn deviation(&self) -> f64 {
        self.deviation
    }

    fn target(&self) -> Option<TargetSummary> {
        self.target.clone()
    }

    fn some(&self, places: &[usize]) -> Result<(Rows<'static>, Option<Labels>)> {
        self.take(places)
    }
}

/// Rows of several partitions, one after the other.
pub(super) fn joined(found: Vec<Taken>) -> Result<(Vec<usize>, Rows<'static>, Option<Labels>)> {
    let mut parts = found.into_iter();
    let Some(mut all) = parts.next() else { return Err(unexpected()) };
    let mut rows = vec![all.rows];
    for part in parts {
        all.places.extend(part.places);
        rows.push(part.rows);
        all.labels = match (all.labels, part.labels) {
            (Some(Labels::Classes { mut codes, names }), Some(Labels::Classes { codes: more, .. })) => {
                codes.extend(more);
                Some(Labels::Classes { codes, names })
            }
            (Some(Labels::Numbers(mut values)), Some(Labels::Numbers(more))) => {
                values.extend(more);
                Some(Labels::Numbers(values))
            }
            _ => None,
        };
    }
    Ok((all.places, Rows::concatenated(&rows.iter().collect::<Vec<_>>())?, all.labels))
}

/// Standard deviation of all numbers, from how many there are in each partition, their mean and Σ (v − mean)².
fn deviation(spreads: Vec<(f64, (f64, f64))>) -> Result<f64> {
    let (count, (_, square)) = merged_in_a_tree(spreads, |(a, (x, s)), (b, (y, t))| {
        let (all, apart) = (a + b, y - x);
        Ok((all, (x + apart * (b / all), s + t + apart * apart * a * (b / all))))
    })?;
    Ok((square / count).sqrt())
}

/// An engine that breaks the rules.
pub(super) fn unexpected() -> Error {
    Error::argument("the partitions did not answer what they were asked")
}
