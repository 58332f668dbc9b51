//! Stability: are the same columns kept when only half of the rows are looked at?
//!
//!   share_j = mean over halves of [column j is kept]      overlap = Σ |A ∩ B| / Σ (|A| + |B|)/2, over pairs of halves A, B
//!
//! The two halves of a pair have no row in common, so what they keep of noise agrees as often as two random choices do,
//! k²/p columns. The shares do not say so: all halves are parts of the rows that the scores come from, and the best of many
//! columns of noise is good in most of them.
//!
//! cost    one score of half the rows a resample
//! source  Meinshausen & Bühlmann 2010 (halves); Shah & Samworth 2013 (complementary pairs)
//! differs columns with equal scores of which only some can be kept share these places, instead of the first ones having
//!         them; halves have equal parts of every class

use super::{Columns, Keep, Scores, Selector};
use crate::data::labels::Labels;
use crate::data::needs::Needs;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::monitor::Monitor;
use crate::random;

/// An overlap this many standard deviations above that of random choices is more than chance.
const CLEARLY: f64 = 2.0;

/// How often columns are kept over random halves of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// Share of the halves in which a column is kept, one a column.
    pub shares: Vec<f64>,
    /// How far halves without a row in common agree.
    pub overlap: Overlap,
}

/// How far halves of the rows without a row in common agree on the columns to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlap {
    /// Mean share of the columns that one half keeps which the other half keeps, too.
    pub mean: f64,
    /// What it is on average if both keep columns at random.
    pub by_chance: f64,
    /// Whether it is no more than random choices may well have.
    pub may_be_chance: bool,
}

impl Selector {
    /// How often each column is kept over this many random halves of the rows, which come in pairs without a row in common.
    ///
    /// ```
    /// use mercer::select::{FTest, Keep, Selector};
    /// use mercer::{Labels, Monitor, Rows};
    ///
    /// // In the first column rows of class b have 9 more than those of class a.
    /// let x = (0..40).flat_map(|i| [(i % 2 * 9 + i % 5) as f64, (i * i % 7) as f64, (i * 3 % 11) as f64]);
    /// let rows = Rows::dense(x.collect::<Vec<_>>(), 40, 3)?;
    /// let labels = Labels::classes(&(0..40).map(|i| ["a", "b"][i % 2]).collect::<Vec<_>>());
    /// let selector = Selector::from(FTest::default());
    /// let stability = selector.stability(&rows, Some(&labels), Keep::Count(1), 10, 0, &Monitor::default())?;
    /// assert_eq!(stability.shares, [1.0, 0.0, 0.0]);
    /// assert!(stability.overlap.mean == 1.0 && !stability.overlap.may_be_chance);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn stability(
        &self,
        rows: &Rows,
        labels: Option<&Labels>,
        keep: Keep,
        resamples: usize,
        seed: u64,
        monitor: &Monitor,
    ) -> Result<Stability> {
        let columns = Columns { rows, labels, space: None, categorical: &[], weights: None, monitor };
        self.stability_by(&columns, keep, (resamples, seed))
    }

    /// [`stability`](Self::stability) of columns, some of which may be categorical, by what each row counts.
    pub(crate) fn stability_by(
        &self,
        columns: &Columns,
        keep: Keep,
        (resamples, seed): (usize, u64),
    ) -> Result<Stability> {
        check_resamples(resamples)?;
        let Columns { rows, labels, categorical, weights, monitor, .. } = *columns;
        let p = rows.p();
        let mut halves: Vec<Vec<f64>> = Vec::with_capacity(resamples);
        for pair in 0..resamples.div_ceil(2) {
            let both = halves_of(rows.n(), labels, seed.wrapping_add(pair as u64));
            for half in both.iter().take(resamples - 2 * pair) {
                monitor.check()?;
                let (part, their) = (rows.select(half), labels.map(|labels| labels.select(half)));
                let weights = weights.map(|weights| weights.select(half));
                let scores = self.score(&Columns {
                    rows: &part,
                    labels: their.as_ref(),
                    space: None,
                    categorical,
                    weights: weights.as_ref(),
                    monitor,
                })?;
                halves.push(kept_shares(&scores, keep));
            }
        }
        let share = |j: usize| halves.iter().map(|kept| kept[j]).sum::<f64>() / resamples as f64;
        Ok(Stability { shares: (0..p).map(share).collect(), overlap: Overlap::of(&halves, p) })
    }

    /// The share of permutations of the labels, with the given ones counted among them, that give a column a score at least
    /// as good as `scores` says: a p-value for every column, by itself.
    ///
    /// ```
    /// use mercer::select::{Relief, Selector};
    /// use mercer::{Labels, Monitor, Rows};
    ///
    /// let x = (0..24).flat_map(|i| [(i % 2 * 5 + i % 3) as f64, (i * i % 7) as f64]);
    /// let rows = Rows::dense(x.collect::<Vec<_>>(), 24, 2)?;
    /// let labels = Labels::classes(&(0..24).map(|i| ["a", "b"][i % 2]).collect::<Vec<_>>());
    /// let p = Selector::from(Relief::default()).permutation_pvalues(&rows, &labels, 99, 0, &Monitor::default())?;
    /// assert_eq!(p[0], 0.01);
    /// assert!(p[1] > 0.05);
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn permutation_pvalues(
        &self,
        rows: &Rows,
        labels: &Labels,
        permutations: usize,
        seed: u64,
        monitor: &Monitor,
    ) -> Result<Vec<f64>> {
        self.permutation_pvalues_by(&Columns::new(rows, labels, monitor), labels, (permutations, seed))
    }

    /// [`permutation_pvalues`](Self::permutation_pvalues) of columns, some of which may be categorical, by what each row
    /// counts; weights stay with their rows.
    pub(crate) fn permutation_pvalues_by(
        &self,
        columns: &Columns,
        labels: &Labels,
        (permutations, seed): (usize, u64),
    ) -> Result<Vec<f64>> {
        self.check_permutations(permutations)?;
        let rows = columns.rows;
        let score = |labels: &Labels| {
            columns.monitor.check()?;
            self.score(&Columns { labels: Some(labels), ..*columns }).map(|found| found.scores)
        };
        let given = score(labels)?;
        let mut as_good = vec![1usize; rows.p()];
        for at in 0..permutations {
            let order = random::permutation(rows.n(), seed.wrapping_add(at as u64));
            for ((count, permuted), given) in
                as_good.iter_mut().zip(score(&labels.select(&order))?).zip(&given)
            {
                *count += usize::from(permuted >= *given);
            }
        }
        Ok(as_good.into_iter().map(|count| count as f64 / (permutations + 1) as f64).collect())
    }

    /// An error if labels would be permuted that the selector does not look at.
    pub(crate) fn check_permutations(&self, permutations: usize) -> Result<()> {
        if self.needs() != Needs::Nothing || permutations == 0 {
            return Ok(());
        }
        Err(Error::argument(format!(
            "permutations = {permutations}, but `{}` does not look at the labels that would be permuted\n\
             hint: leave it out",
            self.name()
        )))
    }
}

/// An error unless there are enough halves to be compared with each other.
pub(crate) fn check_resamples(resamples: usize) -> Result<()> {
    if resamples >= 2 {
        return Ok(());
    }
    Err(Error::argument(format!(
        "resamples = {resamples}, but halves of the rows are compared with each other, so at least 2 are needed; 0: none"
    )))
}

impl Overlap {
    /// Of halves in pairs, the first with the second, the third with the fourth, …; what each keeps of p columns.
    fn of(halves: &[Vec<f64>], p: usize) -> Self {
        let (mut common, mut kept, mut expected, mut variance) = (0.0, 0.0, 0.0, 0.0);
        let p = p as f64;
        for pair in halves.chunks_exact(2) {
            let (a, b): (f64, f64) = (pair[0].iter().sum(), pair[1].iter().sum());
            common += pair[0].iter().zip(&pair[1]).map(|(a, b)| a * b).sum::<f64>();
            kept += f64::midpoint(a, b);
            expected += a * b / p;
            // Of the hypergeometric distribution: a of p columns are marked, and b are drawn.
            variance += b * (a / p) * (1.0 - a / p) * (p - b) / (p - 1.0).max(1.0);
        }
        let of_kept = |sum: f64| if kept > 0.0 { sum / kept } else { 0.0 };
        Self {
            mean: of_kept(common),
            by_chance: of_kept(expected),
            may_be_chance: common <= expected + CLEARLY * variance.max(0.0).sqrt(),
        }
    }
}

/// Two halves of 0..n at random, each ascending, with equal parts of every class.
fn halves_of(n: usize, labels: Option<&Labels>, seed: u64) -> [Vec<usize>; 2] {
    let mut order = random::permutation(n, seed);
    if let Some(Labels::Classes { codes, .. }) = labels {
        order.sort_by_key(|&i| codes[i]);
    }
    [0, 1].map(|half| {
        let mut rows: Vec<usize> = order.iter().copied().skip(half).step_by(2).collect();
        rows.sort_unstable();
        rows
    })
}

/// What is kept of every column: 1, 0, or a share of the last places where equal scores compete for them.
fn kept_shares(scores: &Scores, keep: Keep) -> Vec<f64> {
    let selection = scores.keep(keep);
    let mut kept = vec![0.0; scores.scores.len()];
    selection.columns.iter().for_each(|&j| kept[j] = 1.0);
    let least = selection.columns.iter().map(|&j| scores.scores[j]).min_by(f64::total_cmp);
    let (Some(least), None) = (least, &scores.order) else { return kept };
    let may = |j: &usize| scores.chosen.as_ref().is_none_or(|chosen| chosen[*j]);
    let tied: Vec<usize> = (0..kept.len()).filter(|&j| scores.scores[j] == least).filter(may).collect();
    let places: f64 = tied.iter().map(|&j| kept[j]).sum();
    tied.iter().for_each(|&j| kept[j] = places / tied.len() as f64);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::FTest;

    /// n rows of p columns of noise.
    fn noise(n: usize, p: usize, seed: u64) -> Rows<'static> {
        let mut generator = random::generator(seed);
        let values: Vec<f64> = (0..n * p).map(|_| random::uniform(&mut generator)).collect();
        Rows::dense(values, n, p).expect("rows")
    }

    fn two_classes(n: usize) -> Labels {
        Labels::classes(&(0..n).map(|i| if i % 3 == 0 { "a" } else { "b" }).collect::<Vec<_>>())
    }

    #[test]
    fn halves_have_no_row_in_common_and_equal_parts_of_every_class() {
        let labels = two_classes(61);
        let [a, b] = halves_of(61, Some(&labels), 3);
        let mut all = [a.clone(), b.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..61).collect::<Vec<_>>());
        let count = |half: &[usize]| half.iter().filter(|i| *i % 3 == 0).count();
        assert!(count(&a).abs_diff(count(&b)) <= 1 && a.len().abs_diff(b.len()) <= 1);
        assert_ne!(halves_of(61, Some(&labels), 4)[0], a);
    }

    #[test]
    fn equal_scores_share_the_last_places() {
        let of = |scores: &[f64], keep| {
            kept_shares(&Scores { scores: scores.to_vec(), ..Scores::default() }, keep)
        };
        assert_eq!(of(&[2.0, 1.0, 1.0, 0.0], Keep::Count(2)), [1.0, 0.5, 0.5, 0.0]);
        assert_eq!(of(&[1.0; 4], Keep::Count(1)), [0.25; 4]);
        assert_eq!(of(&[1.0; 4], Keep::All), [1.0; 4]);
        assert_eq!(of(&[0.0, 0.0, 1.0], Keep::Positive), [0.0, 0.0, 1.0]);
        assert_eq!(of(&[0.0, 0.0], Keep::Positive), [0.0, 0.0]);
        let chosen = Scores {
            scores: vec![1.0, 1.0, 1.0],
            chosen: Some(vec![true, false, true]),
            ..Scores::default()
        };
        assert_eq!(kept_shares(&chosen, Keep::Count(1)), [0.5, 0.0, 0.5]);
        let taken = Scores { scores: vec![1.0, 1.0], order: Some(vec![1, 0]), ..Scores::default() };
        assert_eq!(kept_shares(&taken, Keep::Count(1)), [0.0, 1.0]);
    }

    #[test]
    fn halves_agree_on_noise_as_often_as_by_chance() {
        let selector = Selector::from(FTest::default());
        let (mut sum, mut flagged) = (0.0, 0);
        for seed in 0..20 {
            let (rows, labels) = (noise(60, 20, seed), two_classes(60));
            let found =
                selector.stability(&rows, Some(&labels), Keep::Count(4), 10, seed, &Monitor::default());
            let overlap = found.expect("shares").overlap;
            assert!((overlap.by_chance - 0.2).abs() < 1e-12);
            sum += overlap.mean;
            flagged += usize::from(overlap.may_be_chance);
        }
        assert!((sum / 20.0 - 0.2).abs() < 0.05, "{}", sum / 20.0);
        assert!(flagged >= 17, "{flagged}");
    }

    #[test]
    fn constant_columns_are_all_alike() {
        let rows = Rows::dense(vec![1.0; 20 * 5], 20, 5).expect("rows");
        let selector = Selector::from(FTest::default());
        let found =
            selector.stability(&rows, Some(&two_classes(20)), Keep::Count(2), 5, 0, &Monitor::default());
        let found = found.expect("shares");
        assert!(found.shares.iter().all(|share| (share - 0.4).abs() < 1e-12));
        assert!(found.overlap.may_be_chance && (found.overlap.mean - found.overlap.by_chance).abs() < 1e-12);
    }

    #[test]
    fn one_half_has_nothing_to_be_compared_with() {
        let selector = Selector::from(FTest::default());
        let found = selector.stability(
            &noise(20, 3, 0),
            Some(&two_classes(20)),
            Keep::Count(1),
            1,
            0,
            &Monitor::default(),
        );
        assert!(found.expect_err("refused").to_string().contains("at least 2"));
    }
}
