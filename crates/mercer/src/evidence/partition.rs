//! The nearest rows of one partition: where the rows lie in several places, each is asked about the same queries, and what
//! they answer is merged.
//!
//!   nearest_in(partition 1) … nearest_in(partition P)  →  merge by (distance, index among all rows)  =  the nearest of all rows
//!
//! cost    queries × rows of the partition, by the same search as within one set of rows; memory a float64 copy of the
//!         partition's rows with the queries below them. An answer holds k distances and indices per query and group
//! differs distances are computed from the two rows' own numbers, so they do not depend on how the rows are split

use serde::{Deserialize, Serialize};

use super::differences::Differences;
use super::nearest::Nearest;
use super::neighbours::{Groups, Metric, Space};
use super::ranges::Ranges;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Shape};
use crate::monitor::Monitor;

/// Rows from anywhere whose neighbours are sought.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Queries {
    /// The rows.
    pub rows: Rows<'static>,
    /// Their indices among all rows.
    pub places: Vec<usize>,
    /// Their classes; empty for numbers.
    pub codes: Vec<usize>,
}

/// The space in which the rows of all partitions are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SearchSpace {
    /// That of a kernel.
    Kernel(Kernel),
    /// A plain distance between the columns.
    Plain {
        /// The distance.
        metric: Metric,
        /// The columns' ranges over all rows, by which differences are divided; None: differences as they are.
        ranges: Option<Ranges>,
    },
}

/// Groups of rows among which the nearest are found separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupKind {
    /// All other rows.
    All,
    /// Group 0: rows of the same class; group 1: rows of other classes.
    HitsMisses,
    /// One group for each of so many classes, by its code.
    Classes(usize),
}

/// Of each query the nearest rows met so far, by group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearestIn {
    /// The most rows of a list.
    pub(crate) k: usize,
    /// Of each query and group up to k distances and indices among all rows, ascending; of equal distances the lower index
    /// comes first.
    pub(crate) lists: Vec<Vec<Vec<(f64, usize)>>>,
}

impl GroupKind {
    /// Number of groups.
    pub fn count(self) -> usize {
        match self {
            Self::All => 1,
            Self::HitsMisses => 2,
            Self::Classes(c) => c,
        }
    }
}

impl NearestIn {
    /// Lists of so many queries before any row was met.
    pub fn none(queries: usize, k: usize, groups: GroupKind) -> Self {
        Self { k, lists: vec![vec![Vec::new(); groups.count()]; queries] }
    }

    /// Number of queries.
    pub fn n_queries(&self) -> usize {
        self.lists.len()
    }

    /// Distances and indices of a query's nearest rows in a group, ascending.
    ///
    /// # Panics
    /// If there is no such query or group.
    pub fn list(&self, query: usize, group: usize) -> &[(f64, usize)] {
        &self.lists[query][group]
    }

    /// Adds what another partition found for the same queries.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let groups = |of: &Self| of.lists.iter().map(Vec::len).collect::<Vec<_>>();
        if self.k != other.k || groups(self) != groups(other) {
            return Err(Error::argument(format!(
                "the {} nearest of {} queries cannot be merged with the {} nearest of {}; queries, groups and k must be the same",
                self.k,
                self.lists.len(),
                other.k,
                other.lists.len()
            )));
        }
        let theirs = other.lists.iter().flatten();
        for (own, theirs) in
            self.lists.iter_mut().flatten().zip(theirs).filter(|(_, theirs)| !theirs.is_empty())
        {
            let mut nearest = Nearest::new(self.k);
            own.iter().chain(theirs).for_each(|&(distance, place)| nearest.offer(distance, place));
            *own = nearest.into_best();
        }
        Ok(())
    }

    /// Indices among all rows of the queries and of all their neighbours, ascending, each once: the rows whose columns are
    /// needed.
    pub fn rows_involved(&self, queries: &Queries) -> Vec<usize> {
        let neighbours = self.lists.iter().flatten().flatten().map(|(_, place)| *place);
        let mut places: Vec<usize> = queries.places.iter().copied().chain(neighbours).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Queries, and of each query and group the neighbours, nearest first, as positions among the ascending indices of
    /// [`rows_involved`](Self::rows_involved).
    pub(crate) fn positions(&self, queries: &Queries, involved: &[usize]) -> Result<Positions> {
        let position = |place: usize| {
            let found = involved.binary_search(&place);
            found.map_err(|_| Error::argument(format!("row {place} is needed, but was not given")))
        };
        let list = |list: &Vec<(f64, usize)>| list.iter().map(|(_, place)| position(*place)).collect();
        let groups = |groups: &Vec<Vec<(f64, usize)>>| groups.iter().map(list).collect::<Result<_>>();
        Ok((
            queries.places.iter().map(|&place| position(place)).collect::<Result<_>>()?,
            self.lists.iter().map(groups).collect::<Result<_>>()?,
        ))
    }
}

/// Queries, and of each query and group the neighbours.
pub(crate) type Positions = (Vec<usize>, Vec<Vec<Vec<usize>>>);

/// The nearest rows of one partition for each query, exactly. `codes` are the classes of the partition's rows, empty for
/// numbers, and `first` is the index of its first row among all rows. A query is never its own neighbour, but an equal row
/// is. Rows must be finite where the space is a kernel's.
///
/// ```
/// use mercer::evidence::{neighbours::Metric, partition::{GroupKind, Queries, SearchSpace, nearest_in}};
/// use mercer::{Monitor, Rows};
///
/// let (left, right) = (Rows::dense(vec![0.0, 4.0], 2, 1)?, Rows::dense(vec![3.0, 1.0], 2, 1)?);
/// let queries = Queries { rows: Rows::dense(vec![4.0], 1, 1)?, places: vec![1], codes: Vec::new() };
/// let space = SearchSpace::Plain { metric: Metric::Manhattan, ranges: None };
/// let ask = |rows, first| nearest_in(&queries, rows, &[], first, 2, GroupKind::All, &space, &Monitor::default());
/// let mut nearest = ask(&left, 0)?;
/// assert_eq!(nearest.list(0, 0), [(4.0, 0)]); // not row 1, which is the query
/// nearest.merge(&ask(&right, 2)?)?;
/// assert_eq!(nearest.list(0, 0), [(1.0, 2), (3.0, 3)]);
/// # Ok::<(), mercer::Error>(())
/// ```
#[expect(clippy::too_many_arguments, reason = "a question and a partition, which are sent separately")]
pub fn nearest_in(
    queries: &Queries,
    rows: &Rows,
    codes: &[usize],
    first: usize,
    k: usize,
    groups: GroupKind,
    space: &SearchSpace,
    monitor: &Monitor,
) -> Result<NearestIn> {
    queries.check(rows, codes, groups)?;
    let n = rows.n();
    if n == 0 || queries.places.is_empty() {
        return Ok(NearestIn::none(queries.places.len(), k, groups));
    }
    // A query that lies in this partition is asked about as the row that it is, so that it is not its own neighbour; the
    // others are joined below the rows.
    let mut elsewhere = Vec::new();
    let mut asked = Vec::with_capacity(queries.places.len());
    for (query, place) in queries.places.iter().enumerate() {
        let here = place.checked_sub(first).filter(|at| *at < n);
        asked.push(here.unwrap_or(n + elsewhere.len()));
        if here.is_none() {
            elsewhere.push(query);
        }
    }
    let joined = (!elsewhere.is_empty()).then(|| rows.joined(&queries.rows.select(&elsewhere)));
    let all = joined.as_ref().unwrap_or(rows);
    let classes: Vec<usize> = match groups {
        GroupKind::All => Vec::new(),
        _ => codes.iter().copied().chain(elsewhere.iter().map(|&query| queries.codes[query])).collect(),
    };
    let groups = match groups {
        GroupKind::All => Groups::All,
        GroupKind::HitsMisses => Groups::HitsMisses(&classes),
        GroupKind::Classes(c) => Groups::Classes(&classes, c),
    };
    let space = space.of(all)?;
    // Rows beyond what can be squared are compared in a unit of their own, which other partitions do not have.
    let unit = match &space {
        Space::Plain(differences, Metric::Euclidean) => differences.unit().powi(2),
        Space::Plain(differences, Metric::Manhattan) => differences.unit(),
        Space::Kernel(..) => 1.0,
    };
    let base = space.base(n, groups.classes(), space.strategy(n, k))?;
    let lists = space.lists_among(&base, groups, k, &asked, monitor, |_, panel| {
        let list = |nearest: &Nearest| nearest.best().iter().map(|&(d, at)| (d / unit, first + at)).collect();
        panel.iter().map(|groups| groups.iter().map(list).collect()).collect::<Vec<Vec<Vec<(f64, usize)>>>>()
    })?;
    let lists = lists.concat();
    if unit != 1.0 && lists.iter().flatten().flatten().any(|(distance, _)| !distance.is_finite()) {
        return Err(Error::Numerical(
            "distances between rows are too large to be squared\nhint: scale the columns first".into(),
        ));
    }
    Ok(NearestIn { k, lists })
}

impl Queries {
    /// An error unless rows, indices and classes fit together, and with a partition.
    fn check(&self, rows: &Rows, codes: &[usize], groups: GroupKind) -> Result<()> {
        if self.rows.n() != self.places.len() {
            return Err(Error::argument(format!(
                "{} queries, but {} indices",
                self.rows.n(),
                self.places.len()
            )));
        }
        if rows.n() > 0 && !self.places.is_empty() && rows.p() != self.rows.p() {
            return Err(Error::data(format!(
                "queries have {} columns, but the rows of the partition {}",
                self.rows.p(),
                rows.p()
            )));
        }
        if groups == GroupKind::All {
            return Ok(());
        }
        if codes.len() != rows.n() || self.codes.len() != self.places.len() {
            return Err(Error::argument(format!(
                "{} rows and {} queries, but classes of {} and {}",
                rows.n(),
                self.places.len(),
                codes.len(),
                self.codes.len()
            )));
        }
        match (groups, codes.iter().chain(&self.codes).max()) {
            (GroupKind::Classes(c), Some(&most)) if most >= c => {
                Err(Error::argument(format!("class {most} was met, but there are only {c}, numbered from 0")))
            }
            _ => Ok(()),
        }
    }
}

impl SearchSpace {
    /// The space over these rows.
    fn of<'a>(&self, rows: &'a Rows<'a>) -> Result<Space<'a>> {
        match self {
            Self::Kernel(kernel) if kernel.shape == Shape::Precomputed => Err(Error::argument(
                "a precomputed kernel compares all rows at once, but this is a part of them\nhint: fit on a sample",
            )),
            Self::Kernel(kernel) => Space::of_kernel(*kernel, rows),
            Self::Plain { metric, ranges } => {
                Ok(Space::Plain(Differences::of(rows.to_f64(), &[], ranges.as_ref())?, *metric))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::evidence::neighbours::{Found, queries};
    use crate::random;

    /// Half of them are enough for a k-d tree of two columns.
    const N: usize = 300;

    fn rows(kind: &str, p: usize) -> Vec<f64> {
        let mut generator = random::generator(3);
        let mut values: Vec<f64> = (0..N * p).map(|_| generator.random_range(-2.0..2.0)).collect();
        match kind {
            "grid" => values.iter_mut().for_each(|v| *v = v.round()),
            // Rows 0..20 again and again.
            "copies" => (20 * p..N * p).for_each(|at| values[at] = values[at % (20 * p)]),
            "gaps" => values.iter_mut().step_by(11).skip(3).for_each(|v| *v = f64::NAN),
            "huge" => values.iter_mut().for_each(|v| *v *= 1e120),
            _ => {}
        }
        values
    }

    /// The answers of all partitions, merged.
    fn merged(
        rows: &Rows,
        codes: &[usize],
        asked: &[usize],
        cuts: &[usize],
        k: usize,
        groups: GroupKind,
        space: &SearchSpace,
    ) -> NearestIn {
        let codes_of = |indices: &[usize]| indices.iter().map(|&i| codes[i]).collect();
        let queries = Queries { rows: rows.select(asked), places: asked.to_vec(), codes: codes_of(asked) };
        let mut all = NearestIn::none(asked.len(), k, groups);
        for cut in cuts.windows(2).rev() {
            let (part, codes) = (rows.slice(cut[0]..cut[1]), &codes[cut[0]..cut[1]]);
            let found = nearest_in(&queries, &part, codes, cut[0], k, groups, space, &Monitor::default());
            all.merge(&found.expect("answer")).expect("same question");
        }
        all
    }

    fn check(rows: &Rows, space: &SearchSpace, what: &str) {
        let codes: Vec<usize> = (0..N).map(|i| if i == 77 { 3 } else { i * i % 5 % 3 }).collect();
        let whole = space.of(rows).expect("space");
        let asked = queries(N, Some(40), 5);
        let kinds = [
            (GroupKind::All, Groups::All),
            (GroupKind::HitsMisses, Groups::HitsMisses(&codes)),
            (GroupKind::Classes(4), Groups::Classes(&codes, 4)),
        ];
        for (kind, groups) in kinds {
            for k in [1, 7, N] {
                let expected = whole.nearest(groups, k, &asked, &Monitor::default(), <[Found]>::to_vec);
                let expected = expected.expect("nearest").concat();
                for cuts in [&[0, N][..], &[0, 0, 1, 2, 60, 60, 299, N], &[0, 150, N, N]] {
                    let found = merged(rows, &codes, &asked, cuts, k, kind, space);
                    for (query, expected) in expected.iter().enumerate() {
                        for (group, expected) in expected.groups.iter().enumerate() {
                            let list = found.list(query, group);
                            let places: Vec<usize> = list.iter().map(|(_, place)| *place).collect();
                            assert_eq!(
                                &places, expected,
                                "{what}, {kind:?}, k = {k}, {cuts:?}, query {query}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn nearest_of_partitions_are_the_nearest_of_all_rows() {
        let poly = Kernel { shape: Shape::Poly { degree: 3, coef0: 1.0 }, gamma: 0.5 };
        let cosine = Kernel { shape: Shape::Cosine, gamma: 1.0 };
        let laplacian = Kernel { shape: Shape::Laplacian, gamma: 0.3 };
        for kind in ["random", "grid", "copies"] {
            // Two columns: k-d trees.
            for p in [2, 9] {
                let dense = Rows::dense(rows(kind, p), N, p).expect("rows");
                let narrow: Vec<f32> = dense.to_dense().iter().map(|v| *v as f32).collect();
                let narrow = Rows::dense_f32(narrow, N, p).expect("rows");
                for (storage, rows) in [("dense", &dense), ("sparse", &dense.to_sparse()), ("f32", &narrow)] {
                    for kernel in [Kernel::rbf(0.2), laplacian, poly, cosine] {
                        let what = format!("{kind}, {p}, {storage}, {kernel:?}");
                        check(rows, &SearchSpace::Kernel(kernel), &what);
                    }
                }
            }
        }
    }

    #[test]
    fn plain_distances_over_ranges_with_gaps_and_outlandish_numbers_merge_too() {
        for kind in ["grid", "copies", "gaps", "huge"] {
            let dense = Rows::dense(rows(kind, 5), N, 5).expect("rows");
            for metric in [Metric::Manhattan, Metric::Euclidean] {
                for ranges in [None, Some(Ranges::of(&dense))] {
                    check(&dense, &SearchSpace::Plain { metric, ranges }, kind);
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let rows = Rows::dense(vec![0.0, 1.0, 2.0], 3, 1).expect("rows");
        let queries = Queries { rows: rows.select(&[0]), places: vec![0], codes: vec![2] };
        let plain = SearchSpace::Plain { metric: Metric::Euclidean, ranges: None };
        let ask = |queries: &Queries, rows: &Rows, codes: &[usize], groups, space: &SearchSpace| {
            nearest_in(queries, rows, codes, 0, 1, groups, space, &Monitor::default())
        };
        assert!(ask(&queries, &rows, &[0, 1, 2], GroupKind::Classes(3), &plain).is_ok());
        assert!(ask(&queries, &rows, &[0, 1, 2], GroupKind::Classes(2), &plain).is_err());
        assert!(ask(&queries, &rows, &[0, 1], GroupKind::HitsMisses, &plain).is_err());
        let wide = Rows::dense(vec![0.0; 4], 2, 2).expect("rows");
        assert!(ask(&queries, &wide, &[0, 1], GroupKind::HitsMisses, &plain).is_err());
        assert!(
            ask(&queries, &rows, &[], GroupKind::All, &SearchSpace::Kernel(Kernel::precomputed())).is_err()
        );
        let mut one = NearestIn::none(1, 3, GroupKind::All);
        assert!(one.merge(&NearestIn::none(1, 2, GroupKind::All)).is_err());
        assert!(one.merge(&NearestIn::none(1, 3, GroupKind::HitsMisses)).is_err());
    }
}
