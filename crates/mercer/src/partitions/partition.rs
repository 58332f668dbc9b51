//! The partition's side: the answer to a question, a pure function of the partition's rows, its state and the question.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use faer::{Mat, MatRef};

use super::Partition;
use super::answer::{Answer, Reply, Seen, Taken};
use super::question::{Ask, FactorAsk, FactorQuestion, Question};
use super::state::State;
use super::wire::Matrix;
use crate::basis::Expansion;
use crate::basis::factor_rows::{Factor, FactorRows, InOrder, LocalRows, Selected};
use crate::data::labels::{Column, Labels};
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::data::target::TargetValues;
use crate::error::{Error, Result};
use crate::evidence::partition::nearest_in;
use crate::evidence::ranges::Ranges;
use crate::extract::{Given, Source, class_means};
use crate::kernel::gram::{check_rows, diagonal};
use crate::kernel::{Gram, Kernel};
use crate::linalg::product;
use crate::monitor::Monitor;
use crate::options::Options;
use crate::random;
use crate::select::kffs::lines::Lines;
use crate::select::kffs::votes::PartVotes;
use crate::select::{Columns, FSums};

/// Rows whose features are looked at together.
const BATCH: usize = 8_192;

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
        let asked = Asked {
            rows: state.weighted.as_deref().unwrap_or(&self.rows),
            labels: state.labels.as_deref(),
            state,
            number,
            first: first.unwrap_or(0),
            monitor,
        };
        let (state, reply) = match &question.0 {
            Ask::Look => (None, Reply::Seen(self.look()?)),
            Ask::Label { names } => (Some(self.labelled(state, names.as_deref())?), Reply::Done),
            Ask::Weigh { factors } => self.weighted(state, factors)?,
            Ask::Begin { kernel, keep } => asked.begin(*kernel, *keep),
            Ask::Factor(question) => asked.factor(question)?,
            Ask::Votes { features, of_factor, lines, theta } => {
                let votes = asked.votes(features.as_ref(), *of_factor, lines, *theta)?;
                (Some(State { votes: Some(votes), ..state.clone() }), Reply::Done)
            }
            Ask::Errors { taken, left } => asked.errors(*taken, left)?,
            other => (None, asked.about(other)?),
        };
        Ok((state, Answer(reply)))
    }

    fn look(&self) -> Result<Seen> {
        let rows = &self.rows;
        let bad = rows.first_not_finite();
        Ok(Seen {
            n: rows.n(),
            p: rows.p(),
            sparse: rows.is_sparse(),
            spread: if bad.is_none() { spread(rows) } else { (0.0, 0.0) },
            bad,
            bad_target: self.target.as_deref().and_then(Column::first_not_finite),
            values: self.target.as_deref().map(TargetValues::of).transpose()?,
        })
    }

    fn labelled(&self, state: &State, names: Option<&[String]>) -> Result<State> {
        let column = self.target.as_deref().cloned();
        let column = column.ok_or_else(|| Error::argument("this partition has no target"))?;
        Ok(State { labels: Some(Labels::known(column, names)?.into()), ..state.clone() })
    }

    fn weighted(&self, state: &State, factors: &[f64]) -> Result<(Option<State>, Reply)> {
        let weighted = Scaling::of_factors(factors.to_vec()).apply(&self.rows)?;
        let (mean, square) = spread(&weighted);
        let state = State { weighted: Some(weighted.into()), ..state.clone() };
        Ok((Some(state), Reply::Spread(mean, square)))
    }
}

/// A partition that is asked.
struct Asked<'a> {
    rows: &'a Rows<'a>,
    labels: Option<&'a Labels>,
    state: &'a State,
    number: usize,
    /// The index of its first row among all.
    first: usize,
    monitor: &'a Monitor,
}

impl<'a> Asked<'a> {
    /// What is asked without a change of the state.
    fn about(&self, ask: &Ask) -> Result<Reply> {
        let Self { rows, labels, first, monitor, .. } = *self;
        Ok(match ask {
            Ask::Check { kernel } => {
                check_rows(*kernel, rows, first)?;
                Reply::Done
            }
            Ask::Take { places } => Reply::Taken(self.take(places)),
            Ask::Moments { expansion, targets, of_factor } => {
                let options = Options::watched(monitor);
                let given = self.given(*of_factor);
                Reply::Moments(Source::<f64>::with(rows, labels, expansion, given, &options).sums(*targets)?)
            }
            Ask::Signs { expansion, along } => {
                let options = Options::watched(monitor);
                let source = Source::<f64>::with(rows, labels, expansion, Given::Nothing, &options);
                Reply::Signs(match (self.given(along.is_some()), along) {
                    (Given::Blocks(blocks), Some((matrix, offset))) => source.deciding_of(|here| {
                        features_along(blocks, matrix.0.as_ref(), offset, rows.n(), here)
                    })?,
                    _ => source.deciding()?,
                })
            }
            Ask::ClassSums => self.class_sums()?,
            Ask::Residual { expansion } => {
                let own = diagonal(expansion.kernel, rows);
                let left = expansion.residuals(rows, &own, monitor)?;
                Reply::Left { residual: left.iter().sum(), trace: own.iter().sum() }
            }
            Ask::Nearest { queries, k, groups, space } => {
                let codes = if let Some(Labels::Classes { codes, .. }) = labels { &codes[..] } else { &[] };
                Reply::Nearest(nearest_in(queries, rows, codes, first, *k, *groups, space, monitor)?)
            }
            Ask::Ranges { features } => {
                let found = self.each_batch(features.as_ref(), |ranges: Option<Ranges>, batch, _| {
                    let mut all = ranges.unwrap_or_else(|| Ranges::none(batch.p()));
                    all.merge(&Ranges::of(batch)).map(|()| all)
                })?;
                Reply::Ranges(found.unwrap_or_else(|| Ranges::none(self.width(features.as_ref()))))
            }
            Ask::FSums { features } => {
                let labels = self.labels()?;
                let nothing = || FSums::none(self.width(features.as_ref()), labels.n_classes());
                let found = self.each_batch(features.as_ref(), |sums: Option<FSums>, batch, here| {
                    let labels = labels.select(&here.collect::<Vec<_>>());
                    let mut all = sums.unwrap_or_else(nothing);
                    all.merge(&FSums::of(&Columns::new(batch, &labels, monitor))?).map(|()| all)
                })?;
                Reply::FSums(found.unwrap_or_else(nothing))
            }
            _ => return Err(Error::argument("this question makes a new state")),
        })
    }

    fn labels(&self) -> Result<&'a Labels> {
        self.labels.ok_or_else(|| Error::argument("this partition has no labels yet"))
    }

    /// Number of columns, or of features.
    fn width(&self, features: Option<&Expansion>) -> usize {
        features.map_or(self.rows.p(), Expansion::n_features)
    }

    /// The columns of G, where they are the features and were kept.
    fn given(&self, of_factor: bool) -> Given<'a, f64> {
        let columns = self.state.factor.as_ref().and_then(|factor| factor.columns.as_deref());
        columns.filter(|_| of_factor).map_or(Given::Nothing, Given::Blocks)
    }

    fn take(&self, places: &[usize]) -> Taken {
        let here = self.first..self.first + self.rows.n();
        let places: Vec<usize> = places.iter().copied().filter(|place| here.contains(place)).collect();
        let own: Vec<usize> = places.iter().map(|place| place - self.first).collect();
        Taken {
            rows: self.rows.select(&own),
            labels: self.labels.map(|labels| labels.select(&own)),
            places,
            diagonal: Vec::new(),
            residual: Vec::new(),
        }
    }

    fn begin(&self, kernel: Kernel, keep: bool) -> (Option<State>, Reply) {
        let gram = Gram::unchecked(kernel, self.rows);
        let g = if keep { Factor::Shared(Vec::new()) } else { Factor::Recomputed };
        let begun = LocalRows::begin(&gram, self.first, g, self.monitor);
        let lowest = begun.diagonal.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        let reply = Reply::Begun {
            largest: begun.largest(),
            trace: begun.trace(),
            lowest: lowest.map(|(i, v)| (self.first + i, v)),
        };
        (Some(State { factor: Some(begun.into_state()), ..self.state.clone() }), reply)
    }

    fn factor(&self, question: &FactorQuestion) -> Result<(Option<State>, Reply)> {
        let Self { rows, first, number, state, monitor, .. } = *self;
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
                let is_new = |row: usize| {
                    let own = row.checked_sub(first).filter(|i| *i < rows.n());
                    own.is_some_and(|i| novelty.is_left(factor.residual[i], factor.diagonal[i], *floor))
                };
                let order = random::permutation(*n, *seed);
                let InOrder { rows, ranks, .. } = InOrder::among(&order, *start, *count, is_new);
                Reply::Ordered { rows, ranks }
            }
            FactorAsk::Products { selected, g, part } => {
                let (g, part) = (g.0.as_ref(), part.0.as_ref());
                Reply::Matrix(Matrix(factor.products_of(selected, g, &question.pivots, part)?))
            }
        };
        let next =
            (!question.new.is_empty()).then(|| State { factor: Some(factor.into_state()), ..state.clone() });
        Ok((next, reply))
    }

    fn votes(
        &self,
        features: Option<&Expansion>,
        of_factor: bool,
        lines: &Lines,
        theta: usize,
    ) -> Result<PartVotes> {
        let rows = self.rows;
        let (codes, _) = self.labels()?.require_classes("kffs")?;
        let Some(expansion) = features else {
            let of = |here: Range<usize>| Ok(matrix(&rows.slice_f64(here)));
            return PartVotes::of((rows.n(), rows.p()), codes, lines, theta, of);
        };
        let options = Options::watched(self.monitor);
        let source = Source::<f64>::with(rows, None, expansion, self.given(of_factor), &options);
        let shape = (rows.n(), expansion.n_features());
        PartVotes::of(shape, codes, lines, theta, |here| Ok(source.of(here)))
    }

    fn errors(&self, taken: Option<usize>, left: &[usize]) -> Result<(Option<State>, Reply)> {
        let votes = self.state.votes.as_ref().ok_or_else(|| Error::argument("no votes were counted here"))?;
        let Some(column) = taken else { return Ok((None, Reply::Errors(votes.errors(left)))) };
        let mut votes = votes.clone();
        votes.take(column);
        let errors = votes.errors(left);
        Ok((Some(State { votes: Some(votes), ..self.state.clone() }), Reply::Errors(errors)))
    }

    /// Sums of the rows of each class.
    fn class_sums(&self) -> Result<Reply> {
        let rows = self.rows.to_f64();
        let (codes, c) = self.labels()?.require_classes("class means")?;
        let mut sizes = vec![0; c];
        codes.iter().for_each(|&code| sizes[code] += 1);
        let zero = if rows.is_sparse() {
            Rows::sparse(vec![0, 0], Vec::new(), Vec::new(), rows.p())?
        } else {
            Rows::dense(vec![0.0; rows.p()], 1, rows.p())?
        };
        let sum = |class: usize| {
            let members: Vec<usize> = (0..rows.n()).filter(|&i| codes[i] == class).collect();
            if members.is_empty() {
                return Ok(zero.clone());
            }
            // The mean of one class, times its rows.
            let mean = class_means(&rows.select(&members), &vec![0; members.len()], 1, None)?;
            Ok(mean.multiplied(members.len() as f64))
        };
        let sums = (0..c).map(sum).collect::<Result<Vec<_>>>()?;
        Ok(Reply::ClassSums { sums: Rows::concatenated(&sums.iter().collect::<Vec<_>>())?, sizes })
    }

    /// Folds over batches of the rows, or of their features, with the places of each batch; None: there are no rows.
    fn each_batch<T>(
        &self,
        features: Option<&Expansion>,
        mut add: impl FnMut(Option<T>, &Rows, Range<usize>) -> Result<T>,
    ) -> Result<Option<T>> {
        let rows = self.rows;
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
}

/// Features along directions from coordinates in blocks of columns, for the rows of a range among n.
fn features_along(
    blocks: &[Arc<Vec<f64>>],
    directions: MatRef<'_, f64>,
    offset: &[f64],
    n: usize,
    here: Range<usize>,
) -> Mat<f64> {
    let mut z = Mat::from_fn(here.len(), directions.nrows(), |_, j| -offset.get(j).copied().unwrap_or(0.0));
    let mut start = 0;
    for block in blocks {
        let width = block.len() / n;
        let own =
            MatRef::from_row_major_slice(&block[here.start * width..here.end * width], here.len(), width);
        z += product(own, directions.subcols(start, width).transpose());
        start += width;
    }
    z
}

/// Dense rows as a matrix.
fn matrix(rows: &Rows) -> Mat<f64> {
    let values = rows.to_dense();
    MatRef::from_row_major_slice(&values, rows.n(), rows.p()).to_owned()
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
    let mut mean = 0.0;
    each(&mut |v| mean += v / count);
    let mut square = (count - rows.n_stored() as f64) * mean * mean;
    each(&mut |v| square += (v - mean) * (v - mean));
    (mean, square)
}
