//! What a partition answers.

use std::collections::BTreeSet;
use std::ops::Range;

use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

use super::Partition;
use super::question::{Ask, FactorAsk, FactorQuestion, Question};
use super::state::State;
use super::wire::Matrix;
use crate::basis::Expansion;
use crate::basis::factor_rows::{Factor, FactorRows, LocalRows, Selected};
use crate::data::labels::{Column, Labels};
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::data::target::TargetValues;
use crate::error::{Error, Result};
use crate::evidence::moments::Moments;
use crate::evidence::partition::{NearestIn, nearest_in};
use crate::evidence::ranges::Ranges;
use crate::extract::{Given, Source};
use crate::kernel::Gram;
use crate::kernel::gram::{check_rows, diagonal};
use crate::linalg::Deciding;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::random;
use crate::select::kffs::votes::PartVotes;
use crate::select::{Columns, FSums};

/// Rows whose features are looked at together.
const BATCH: usize = 8_192;

/// What a partition answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer(pub(super) Reply);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// Nothing but that it is done.
    Done,
    /// What the rows and targets are.
    Seen(Seen),
    /// Mean of all numbers, and Σ (v − mean)².
    Spread(f64, f64),
    /// Rows by their indices.
    Taken(Taken),
    /// max |k(x,x)|, Σ k(x,x), and the smallest k(x,x) with its row.
    Begun { largest: f64, trace: f64, lowest: Option<(usize, f64)> },
    /// A sum.
    Sum(f64),
    /// Rows with large residuals, and the largest of a row that is not among them.
    Offered { rows: Taken, beaten: f64 },
    /// A row for each number asked about.
    Drawn(Vec<usize>),
    /// Rows of a random order, with their ranks.
    Ordered { rows: Vec<usize>, ranks: Vec<usize> },
    /// A sum of matrices.
    Matrix(Matrix),
    /// Sums of features and targets.
    Moments(Moments),
    /// The values that decide on signs.
    Signs(Vec<Deciding>),
    /// Sums of the rows of each class, and the number of rows.
    ClassSums { sums: Rows<'static>, sizes: Vec<usize> },
    /// The nearest rows of each query.
    Nearest(NearestIn),
    /// Ranges of columns or features.
    Ranges(Ranges),
    /// Sums for F.
    FSums(FSums),
    /// Rows that are wrong, for each feature asked about.
    Errors(Vec<u64>),
    /// Σ of what is left, and Σ k(x,x).
    Left { residual: f64, trace: f64 },
}

/// What the rows and targets of a partition are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Number of rows.
    pub n: usize,
    /// Number of columns.
    pub p: usize,
    /// Whether they are sparse.
    pub sparse: bool,
    /// The first number that is not finite: its row, its column and itself.
    pub bad: Option<(usize, usize, f64)>,
    /// The first row whose target is not a finite number.
    pub bad_target: Option<usize>,
    /// Mean of all numbers, and Σ (v − mean)².
    pub(super) spread: (f64, f64),
    /// The values of the target.
    pub(super) values: Option<TargetValues>,
}

/// Rows by their indices among all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Taken {
    pub(super) places: Vec<usize>,
    pub(super) rows: Rows<'static>,
    pub(super) labels: Option<Labels>,
    /// k(x,x) and residuals, of offers.
    pub(super) diagonal: Vec<f64>,
    pub(super) residual: Vec<f64>,
}

impl Answer {
    /// One answer of two partitions, the first before the second.
    pub fn merged(self, other: Self) -> Result<Self> {
        Ok(Self(match (self.0, other.0) {
            (Reply::Moments(mut own), Reply::Moments(theirs)) => {
                own.merge(&theirs)?;
                Reply::Moments(own)
            }
            (Reply::Matrix(own), Reply::Matrix(theirs)) => Reply::Matrix(Matrix(own.0 + theirs.0)),
            (Reply::Signs(mut own), Reply::Signs(theirs)) => {
                if own.is_empty() {
                    return Ok(Self(Reply::Signs(theirs)));
                }
                own.iter_mut().zip(&theirs).for_each(|(own, theirs)| own.then(theirs));
                Reply::Signs(own)
            }
            (Reply::ClassSums { sums, sizes }, Reply::ClassSums { sums: more, sizes: others }) => {
                Reply::ClassSums {
                    sums: added(&sums, &more)?,
                    sizes: sizes.iter().zip(&others).map(|(a, b)| a + b).collect(),
                }
            }
            (Reply::Left { residual, trace }, Reply::Left { residual: more, trace: others }) => {
                Reply::Left { residual: residual + more, trace: trace + others }
            }
            (Reply::Nearest(mut own), Reply::Nearest(theirs)) => {
                own.merge(&theirs)?;
                Reply::Nearest(own)
            }
            (Reply::Ranges(mut own), Reply::Ranges(theirs)) => {
                own.merge(&theirs)?;
                Reply::Ranges(own)
            }
            (Reply::FSums(mut own), Reply::FSums(theirs)) => {
                own.merge(&theirs)?;
                Reply::FSums(own)
            }
            (Reply::Done, Reply::Done) => Reply::Done,
            _ => return Err(Error::argument("such answers are not merged")),
        }))
    }
}

impl Partition<'_> {
    /// The answer to a question, and the new state if it makes one. `number` is the partition's place among the partitions,
    /// `first` the index of its first row among all rows.
    pub fn answer(
        &self,
        state: &State,
        question: &Question,
        number: usize,
        first: Option<usize>,
        monitor: &Monitor,
    ) -> Result<(Option<State>, Answer)> {
        let first = first.unwrap_or(0);
        let rows = state.weighted.as_deref().unwrap_or(&self.rows);
        let labels = state.labels.as_deref();
        let options = Options::watched(monitor);
        let mut next = None;
        let reply = match &question.0 {
            Ask::Look => Reply::Seen(self.look()?),
            Ask::Label { names } => {
                let column = self.target.as_deref().cloned();
                let column = column.ok_or_else(|| Error::argument("this partition has no target"))?;
                let labels = Labels::known(column, names.as_deref())?;
                next = Some(State { labels: Some(labels.into()), ..state.clone() });
                Reply::Done
            }
            Ask::Weigh { factors } => {
                let weighted = Scaling::of_factors(factors.clone()).apply(&self.rows)?;
                let (mean, square) = spread(&weighted);
                next = Some(State { weighted: Some(weighted.into()), ..state.clone() });
                Reply::Spread(mean, square)
            }
            Ask::Check { kernel } => {
                check_rows(*kernel, rows, first)?;
                Reply::Done
            }
            Ask::Take { places } => Reply::Taken(take(rows, labels, places, first)),
            Ask::Begin { kernel, keep } => {
                let gram = Gram::unchecked(*kernel, rows);
                let g = if *keep { Factor::Shared(Vec::new()) } else { Factor::Recomputed };
                let begun = LocalRows::begin(&gram, first, g, monitor)?;
                let lowest = begun.diagonal.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
                let reply = Reply::Begun {
                    largest: begun.largest(),
                    trace: begun.trace(),
                    lowest: lowest.map(|(i, v)| (first + i, v)),
                };
                next = Some(State { factor: Some(begun.into_state()), ..state.clone() });
                reply
            }
            Ask::Factor(question) => {
                let (factor, reply) = self.factor(rows, state, question, number, first, monitor)?;
                next = factor;
                reply
            }
            Ask::Moments { expansion, targets, of_factor } => {
                let columns = state.factor.as_ref().and_then(|factor| factor.columns.as_deref());
                let given = match columns {
                    Some(blocks) if *of_factor => Given::Blocks(blocks),
                    _ => Given::Nothing,
                };
                Reply::Moments(Source::<f64>::with(rows, labels, expansion, given, &options).sums(*targets)?)
            }
            Ask::Signs { expansion } => {
                let source = Source::<f64>::with(rows, labels, expansion, Given::Nothing, &options);
                Reply::Signs(source.deciding()?)
            }
            Ask::ClassSums => {
                let labels = labels.ok_or_else(no_labels)?;
                let (codes, c) = labels.require_classes("class means")?;
                class_sums(rows, codes, c)?
            }
            Ask::Nearest { queries, k, groups, space } => {
                let codes = if let Some(Labels::Classes { codes, .. }) = labels { &codes[..] } else { &[] };
                Reply::Nearest(nearest_in(queries, rows, codes, first, *k, *groups, space, monitor)?)
            }
            Ask::Ranges { features } => Reply::Ranges(
                each_batch(rows, features.as_ref(), |ranges, batch, _| {
                    let own = Ranges::of(batch);
                    match ranges {
                        None => Ok(own),
                        Some(mut ranges) => ranges.merge(&own).map(|()| ranges),
                    }
                })?
                .unwrap_or_else(|| Ranges::none(features.as_ref().map_or(rows.p(), Expansion::n_features))),
            ),
            Ask::FSums { features } => {
                let labels = labels.ok_or_else(no_labels)?;
                let found = each_batch(rows, features.as_ref(), |sums, batch, here| {
                    let labels = labels.select(&here.collect::<Vec<_>>());
                    let own = FSums::of(&Columns::new(batch, &labels, monitor))?;
                    match sums {
                        None => Ok(own),
                        Some(mut sums) => FSums::merge(&mut sums, &own).map(|()| sums),
                    }
                })?;
                let p = features.as_ref().map_or(rows.p(), Expansion::n_features);
                Reply::FSums(found.unwrap_or_else(|| FSums::none(p, labels.n_classes())))
            }
            Ask::Votes { features, of_factor, lines, theta } => {
                let (codes, _) = labels.ok_or_else(no_labels)?.require_classes("kffs")?;
                let columns = state.factor.as_ref().and_then(|factor| factor.columns.as_deref());
                let votes = match features {
                    None => {
                        let of = |here: Range<usize>| Ok(matrix(&rows.slice_f64(here)));
                        PartVotes::of((rows.n(), rows.p()), codes, lines, *theta, of)?
                    }
                    Some(expansion) => {
                        let given = match columns {
                            Some(blocks) if *of_factor => Given::Blocks(blocks),
                            _ => Given::Nothing,
                        };
                        let source = Source::<f64>::with(rows, None, expansion, given, &options);
                        let shape = (rows.n(), expansion.n_features());
                        PartVotes::of(shape, codes, lines, *theta, |here| Ok(source.of(here)))?
                    }
                };
                next = Some(State { votes: Some(votes), ..state.clone() });
                Reply::Done
            }
            Ask::Errors { taken, left } => {
                let mut votes =
                    state.votes.clone().ok_or_else(|| Error::argument("no votes were counted here"))?;
                if let Some(column) = taken {
                    votes.take(*column);
                }
                let errors = votes.errors(left);
                next = taken.map(|_| State { votes: Some(votes), ..state.clone() });
                Reply::Errors(errors)
            }
            Ask::Residual { expansion } => {
                let own = diagonal(expansion.kernel, rows);
                let left = expansion.residuals(rows, &own, monitor)?;
                Reply::Left { residual: left.iter().sum(), trace: own.iter().sum() }
            }
        };
        Ok((next, Answer(reply)))
    }

    fn look(&self) -> Result<Seen> {
        let rows = &self.rows;
        let bad = rows.first_not_finite();
        let finite = bad.is_none();
        let values = self.target.as_deref().map(TargetValues::of).transpose()?;
        Ok(Seen {
            n: rows.n(),
            p: rows.p(),
            sparse: rows.is_sparse(),
            bad,
            bad_target: self.target.as_deref().and_then(Column::first_not_finite),
            spread: if finite { spread(rows) } else { (0.0, 0.0) },
            values,
        })
    }

    fn factor(
        &self,
        rows: &Rows,
        state: &State,
        question: &FactorQuestion,
        number: usize,
        first: usize,
        monitor: &Monitor,
    ) -> Result<(Option<State>, Reply)> {
        let begun = state.factor.clone().ok_or_else(|| Error::argument("no factor was begun here"))?;
        let gram = Gram::unchecked(question.kernel, rows);
        let mut factor = LocalRows::from_state(&gram, first, question.largest, begun, monitor);
        for block in &question.new {
            let before: Vec<usize> = (0..block.part.0.nrows()).collect();
            factor.add_rows(&block.pivots, &question.pivots.select(&before), block.part.0.as_ref())?;
        }
        let set = |rows: &[usize]| rows.iter().copied().collect::<BTreeSet<usize>>();
        let reply = match &question.ask {
            FactorAsk::Sum => Reply::Sum(factor.residual_sum()?),
            FactorAsk::Farthest { count, tie, floor } => {
                let found = factor.farthest(*count, *tie, *floor)?;
                Reply::Offered { rows: taken(found.rows, found.selected), beaten: found.beaten }
            }
            FactorAsk::FirstAbove { least } => {
                let found: Vec<usize> = factor.first_above(*least).into_iter().collect();
                let selected = factor.select(&found)?;
                Reply::Offered { rows: taken(found, selected), beaten: f64::NEG_INFINITY }
            }
            FactorAsk::OpenSum { floor, retired } => Reply::Sum(factor.open_sum(*floor, &set(retired))),
            FactorAsk::RowsAt { targets, floor, retired } => {
                let own = targets.get(number).map_or(&[][..], Vec::as_slice);
                Reply::Drawn(factor.rows_at(own, *floor, &set(retired)))
            }
            FactorAsk::InOrder { n, seed, start, count, novelty, floor } => {
                let mut found: Vec<(usize, usize)> = random::permutation(*n, *seed)
                    .into_iter()
                    .enumerate()
                    .skip(*start)
                    .filter(|(_, row)| (first..first + rows.n()).contains(row))
                    .filter(|(_, row)| {
                        let i = row - first;
                        factor.residual[i] > novelty.of(factor.diagonal[i]).max(*floor)
                    })
                    .take(*count)
                    .collect();
                found.sort_unstable();
                let (ranks, rows) = found.into_iter().unzip();
                Reply::Ordered { rows, ranks }
            }
            FactorAsk::Products { selected, g, part } => Reply::Matrix(Matrix(factor.products_of(
                selected,
                g.0.as_ref(),
                &question.pivots,
                part.0.as_ref(),
            )?)),
        };
        let next =
            (!question.new.is_empty()).then(|| State { factor: Some(factor.into_state()), ..state.clone() });
        Ok((next, reply))
    }
}

/// Folds over batches of the rows, or of their features, with the places of each batch.
fn each_batch<T>(
    rows: &Rows,
    features: Option<&Expansion>,
    mut add: impl FnMut(Option<T>, &Rows, Range<usize>) -> Result<T>,
) -> Result<Option<T>> {
    let Some(expansion) = features else {
        return if rows.n() == 0 { Ok(None) } else { add(None, rows, 0..rows.n()).map(Some) };
    };
    let mut sum = None;
    for start in (0..rows.n()).step_by(BATCH) {
        let here = start..rows.n().min(start + BATCH);
        let z = expansion.transform(&rows.slice_f64(here.clone()))?;
        sum = Some(add(sum, &Rows::from_mat(z.as_ref()), here)?);
    }
    Ok(sum)
}

/// Dense rows as a matrix.
fn matrix(rows: &Rows) -> Mat<f64> {
    let values = rows.to_dense();
    MatRef::from_row_major_slice(&values, rows.n(), rows.p()).to_owned()
}

fn no_labels() -> Error {
    Error::argument("this partition has no labels yet")
}

fn taken(places: Vec<usize>, selected: Selected) -> Taken {
    Taken {
        places,
        rows: selected.rows,
        labels: None,
        diagonal: selected.diagonal,
        residual: selected.residual.unwrap_or_default(),
    }
}

fn take(rows: &Rows, labels: Option<&Labels>, places: &[usize], first: usize) -> Taken {
    let here = first..first + rows.n();
    let places: Vec<usize> = places.iter().copied().filter(|place| here.contains(place)).collect();
    let own: Vec<usize> = places.iter().map(|place| place - first).collect();
    Taken {
        rows: rows.select(&own),
        labels: labels.map(|labels| labels.select(&own)),
        places,
        diagonal: Vec::new(),
        residual: Vec::new(),
    }
}

/// Mean of all numbers, and Σ (v − mean)².
fn spread(rows: &Rows) -> (f64, f64) {
    let count = (rows.n() * rows.p()) as f64;
    if count == 0.0 {
        return (0.0, 0.0);
    }
    let each = |f: &mut dyn FnMut(f64)| match rows {
        Rows::DenseF32(d) => d.values().iter().for_each(|v| f(f64::from(*v))),
        Rows::Dense(_) | Rows::Sparse(_) => rows.stored().iter().for_each(|v| f(*v)),
    };
    let mut sum = 0.0;
    each(&mut |v| sum += v / count);
    let mean = sum;
    let mut square = (count - rows.n_stored() as f64) * mean * mean;
    each(&mut |v| square += (v - mean) * (v - mean));
    (mean, square)
}

/// Sums of the rows of each class.
fn class_sums(rows: &Rows, codes: &[usize], c: usize) -> Result<Reply> {
    let mut sizes = vec![0; c];
    codes.iter().for_each(|&code| sizes[code] += 1);
    let mut sums = empty_like(rows, c)?;
    for class in 0..c {
        let members: Vec<usize> = (0..rows.n()).filter(|&i| codes[i] == class).collect();
        if members.is_empty() {
            continue;
        }
        // The mean of one class, times its rows.
        let zeros = vec![0; members.len()];
        let mean = crate::extract::class_means(&rows.select(&members), &zeros, 1)?;
        sums = replaced(&sums, class, &mean.multiplied(members.len() as f64))?;
    }
    Ok(Reply::ClassSums { sums, sizes })
}

fn empty_like(rows: &Rows, n: usize) -> Result<Rows<'static>> {
    if rows.is_sparse() {
        return Rows::sparse(vec![0; n + 1], Vec::new(), Vec::new(), rows.p());
    }
    Rows::dense(vec![0.0; n * rows.p()], n, rows.p())
}

/// Rows with the one at this place replaced.
fn replaced(rows: &Rows, at: usize, one: &Rows) -> Result<Rows<'static>> {
    let joined = rows.to_f64().joined(one);
    let order: Vec<usize> = (0..rows.n()).map(|i| if i == at { rows.n() } else { i }).collect();
    Ok(joined.select(&order))
}

/// Sums of rows, one by one.
fn added(a: &Rows, b: &Rows) -> Result<Rows<'static>> {
    let (Rows::Sparse(x), Rows::Sparse(y)) = (a, b) else {
        let sum = a.to_dense().iter().zip(b.to_dense()).map(|(a, b)| a + b).collect::<Vec<f64>>();
        return Rows::dense(sum, a.n(), a.p());
    };
    let (mut ends, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..a.n() {
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (columns, stored) in [x.row(i), y.row(i)] {
            row.extend(columns.iter().copied().zip(stored.iter().copied()));
        }
        row.sort_by_key(|(column, _)| *column);
        for equal in row.chunk_by(|a, b| a.0 == b.0) {
            indices.push(equal[0].0);
            values.push(equal.iter().map(|(_, v)| v).sum());
        }
        ends.push(indices.len());
    }
    Rows::sparse(ends, indices, values, a.p())
}
