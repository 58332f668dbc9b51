//! Scores of columns, or of a basis' coordinates, over rows in partitions.
//!
//!   f        sums, merged
//!   kffs     moments, then every feature's bit-packed votes, which stay with the rows, and m counts a round
//!   relief   the nearest rows of n_queries rows, merged; the rows involved are few and come here
//!
//! Other selectors look at all rows at once and are refused by name.

use super::answer::Reply;
use super::features::PartedFeatures;
use super::parted::{Parted, unexpected};
use super::question::Ask;
use crate::basis::expansion::Expansion;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::target::TargetSummary;
use crate::error::{Error, Result};
use crate::evidence::neighbours::{Metric, queries};
use crate::evidence::partition::{GroupKind, NearestIn, Queries, SearchSpace};
use crate::evidence::ranges::Ranges;
use crate::extract::{FeatureSums, Targets, at_once};
use crate::monitor::Monitor;
use crate::select::kffs::Voters;
use crate::select::kffs::lines::Lines;
use crate::select::neighbourhood::Neighbourhood;
use crate::select::{FTest, Kffs, RReliefF, Relief, ReliefF, Scores, Selector};

/// What is scored: the columns, or the coordinates of a basis.
#[derive(Clone, Copy)]
pub(super) struct Scored<'f> {
    /// The basis, if there is one.
    pub(super) features: Option<&'f Expansion>,
    /// Whether partitions keep its coordinates.
    pub(super) of_factor: bool,
}

/// A selector of the Relief family and what it asks for.
struct Nearby {
    n_queries: Option<usize>,
    seed: u64,
    k: usize,
    groups: GroupKind,
    metric: Metric,
    /// Whether differences are divided by the columns' ranges.
    by_range: bool,
}

/// The rows involved when some are compared with their neighbours.
pub(super) struct Involved {
    pub(super) rows: Rows<'static>,
    pub(super) labels: Labels,
    /// Positions of the queries among them.
    pub(super) queries: Vec<usize>,
    /// Of each query and group, positions of its neighbours.
    pub(super) groups: Vec<Vec<Vec<usize>>>,
}

impl Parted<'_> {
    /// Scores of the columns.
    pub fn scores(&self, selector: &Selector, monitor: &Monitor) -> Result<Scores> {
        self.scores_of(selector, Scored { features: None, of_factor: false }, monitor)
    }

    pub(super) fn scores_of(&self, selector: &Selector, scored: Scored, monitor: &Monitor) -> Result<Scores> {
        let name = selector.name();
        let target = self.target().ok_or_else(|| crate::data::needs::missing_labels(name))?;
        target.check(selector.needs(), name)?;
        if let Some(test) = selector.downcast::<FTest>() {
            return match self.ask_merged(Ask::FSums { features: scored.features.cloned() })? {
                Reply::FSums(sums) => test.score_sums(&sums),
                _ => Err(unexpected()),
            };
        }
        if let Some(kffs) = selector.downcast::<Kffs>() {
            return self.votes(kffs, scored, monitor);
        }
        let classes = target.n_classes();
        if let Some(relief) = selector.downcast::<Relief>() {
            let near = self.neighbourhood(
                name,
                scored,
                &Nearby {
                    n_queries: relief.n_queries,
                    seed: relief.seed,
                    k: relief.n_neighbors.counted()?,
                    groups: GroupKind::HitsMisses,
                    metric: relief.metric.unwrap_or(Metric::Euclidean),
                    by_range: false,
                },
            )?;
            return relief.score_neighbourhood(&near.seen());
        }
        if let Some(relief) = selector.downcast::<ReliefF>() {
            let near = self.neighbourhood(
                name,
                scored,
                &Nearby {
                    n_queries: relief.n_queries,
                    seed: relief.seed,
                    k: relief.n_neighbors.counted()?,
                    groups: GroupKind::Classes(classes.unwrap_or(0)),
                    metric: relief.metric.unwrap_or(Metric::Manhattan),
                    by_range: true,
                },
            )?;
            return relief.score_neighbourhood(&near.seen());
        }
        if let Some(relief) = selector.downcast::<RReliefF>() {
            let near = self.neighbourhood(
                name,
                scored,
                &Nearby {
                    n_queries: relief.n_queries,
                    seed: relief.seed,
                    k: relief.n_neighbors.counted()?,
                    groups: GroupKind::All,
                    metric: relief.metric.unwrap_or(Metric::Manhattan),
                    by_range: true,
                },
            )?;
            return relief.score_neighbourhood(&near.seen());
        }
        Err(at_once(name))
    }

    fn votes(&self, kffs: &Kffs, scored: Scored, monitor: &Monitor) -> Result<Scores> {
        let Some(TargetSummary::Classes { names, .. }) = self.target() else { return Err(unexpected()) };
        let identity;
        let expansion = if let Some(expansion) = scored.features {
            expansion
        } else {
            identity = Expansion::of_columns(self.p());
            &identity
        };
        let sums = PartedFeatures { parted: self, expansion, of_factor: scored.of_factor };
        let summary = sums.moments(Targets::Labels)?;
        let (m, lines) = (summary.mean.len(), Lines::of(&summary));
        let features = scored.features.cloned();
        self.ask(Ask::Votes { features, of_factor: scored.of_factor, lines, theta: kffs.theta })?;
        let mut voters = PartedVoters { parted: self, taken: None, errors: Vec::new() };
        kffs.score_voters(&mut voters, (self.n(), m, names.len()), monitor)
    }

    /// The nearest rows of some, in partitions that answer about a space.
    pub(super) fn involved(
        &self,
        places: &[usize],
        k: usize,
        groups: GroupKind,
        space: SearchSpace,
    ) -> Result<Involved> {
        let (rows, labels) = self.take(places)?;
        let codes = match labels {
            Some(Labels::Classes { codes, .. }) => codes,
            _ => Vec::new(),
        };
        let queries = Queries { rows, places: places.to_vec(), codes };
        let ask = Ask::Nearest { queries: queries.clone(), k, groups, space };
        let Reply::Nearest(found) = self.ask_merged(ask)? else { return Err(unexpected()) };
        let all = NearestIn::rows_involved(&found, &queries);
        let (queries, groups) = found.positions(&queries, &all)?;
        let (rows, labels) = self.take(&all)?;
        let labels = labels.ok_or_else(unexpected)?;
        Ok(Involved { rows, labels, queries, groups })
    }

    fn neighbourhood(&self, name: &str, scored: Scored, wanted: &Nearby) -> Result<Near> {
        let Some(count) = wanted.n_queries else {
            return Err(compares_every_row(name));
        };
        let ranges = |features: Option<&Expansion>| -> Result<Ranges> {
            match self.ask_merged(Ask::Ranges { features: features.cloned() })? {
                Reply::Ranges(ranges) => Ok(ranges),
                _ => Err(unexpected()),
            }
        };
        let own = if wanted.by_range { Some(ranges(scored.features)?) } else { None };
        let space = match scored.features {
            // Neighbours are those of the kernel's space, and differences those of its coordinates.
            Some(expansion) => SearchSpace::Kernel(expansion.kernel),
            None => SearchSpace::Plain { metric: wanted.metric, ranges: own.clone() },
        };
        let places = queries(self.n(), Some(count), wanted.seed);
        let involved = self.involved(&places, wanted.k, wanted.groups, space)?;
        let columns = match scored.features {
            Some(expansion) => Rows::from_mat(expansion.transform(&involved.rows)?.as_ref()),
            None => involved.rows.clone(),
        };
        let (sizes, target_range) = match self.target() {
            Some(TargetSummary::Classes { sizes, .. }) => (sizes.clone(), None),
            Some(TargetSummary::Numbers { range, .. }) => (Vec::new(), Some(*range)),
            Some(TargetSummary::Several { .. }) | None => return Err(unexpected()),
        };
        Ok(Near { involved, columns, sizes, target_range, ranges: own, n: self.n() })
    }
}

/// Neighbours of all rows are not sought in partitions.
pub(super) fn compares_every_row(method: &str) -> Error {
    Error::argument(format!(
        "`{method}` compares every row with all others, but they lie in partitions\n\
         hint: set n_queries, the number of rows that are compared and stand for all"
    ))
}

/// What a [`Neighbourhood`] is a view of.
struct Near {
    involved: Involved,
    columns: Rows<'static>,
    sizes: Vec<usize>,
    target_range: Option<(f64, f64)>,
    ranges: Option<Ranges>,
    n: usize,
}

impl Near {
    fn seen(&self) -> Neighbourhood<'_> {
        Neighbourhood {
            columns: &self.columns,
            queries: self.involved.queries.clone(),
            groups: self.involved.groups.clone(),
            labels: self.involved.labels.clone(),
            sizes: self.sizes.clone(),
            n: self.n,
            target_range: self.target_range,
            ranges: self.ranges.clone(),
        }
    }
}

/// Votes in partitions; a column that was taken goes out with the next question.
struct PartedVoters<'p, 'e> {
    parted: &'p Parted<'e>,
    taken: Option<usize>,
    /// The columns that were asked about last, with the rows that each gets wrong.
    errors: Vec<(usize, u64)>,
}

impl Voters for PartedVoters<'_, '_> {
    fn errors(&mut self, left: &[usize]) -> Result<Vec<u64>> {
        let mut sums = vec![0; left.len()];
        for reply in self.parted.ask(Ask::Errors { taken: self.taken.take(), left: left.to_vec() })? {
            let Reply::Errors(errors) = reply else { return Err(unexpected()) };
            sums.iter_mut().zip(errors).for_each(|(sum, errors)| *sum += errors);
        }
        self.errors = left.iter().copied().zip(sums.iter().copied()).collect();
        Ok(sums)
    }

    fn take(&mut self, column: usize) -> Result<u64> {
        self.taken = Some(column);
        let found = self.errors.iter().find(|(other, _)| *other == column);
        found.map(|(_, errors)| *errors).ok_or_else(unexpected)
    }
}
