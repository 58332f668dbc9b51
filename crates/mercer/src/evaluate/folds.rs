//! Folds and splits: which rows are for training and which for testing.
//!
//!   rows in random order, sorted by class, dealt out to k folds in turn
//!
//! so that every fold has its share of every class, to within one row, and all folds are of one size, to within one.
//!
//! cost    n a repeat
//! differs a class with fewer rows than folds is dealt out all the same, with a warning; of a class of one row
//!         [`splits`] keeps that row for training. Where the measure is a mean over the classes, splits that lack one are left out

use rand::seq::SliceRandom;

use crate::data::labels::Labels;
use crate::error::{Error, Result};
use crate::random;

/// Which rows are for training and which for testing; both ascend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Training rows.
    pub train: Vec<usize>,
    /// Test rows.
    pub test: Vec<usize>,
}

/// Stratified (classes) or plain (numbers) k-fold splits, `repeats` times, each repeat shuffled anew from the seed; and
/// warnings. More repeats do not change the first ones.
///
/// ```
/// use mercer::{Labels, evaluate::folds::folds};
///
/// let labels = Labels::classes(&["a", "b", "a", "b", "a", "b"]);
/// let (splits, warnings) = folds(&labels, 3, 2, 0)?;
/// assert_eq!((splits.len(), warnings.len()), (6, 0));
/// assert_eq!((splits[0].train.len(), splits[0].test.len()), (4, 2)); // one a and one b
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn folds(labels: &Labels, k: usize, repeats: usize, seed: u64) -> Result<(Vec<Split>, Vec<String>)> {
    let n = labels.len();
    if k < 2 || k > n {
        return Err(Error::argument(format!(
            "{k} folds of {n} rows, but there must be at least 2 folds and no more than rows"
        )));
    }
    require_repeats(repeats)?;
    let mut generator = random::generator(seed);
    let mut out = Vec::with_capacity(k * repeats);
    for _ in 0..repeats {
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut generator);
        order.sort_by_key(|&i| class(labels, i));
        let mut fold = vec![0; n];
        order.iter().enumerate().for_each(|(at, &i)| fold[i] = at % k);
        out.extend((0..k).map(|held| parted(n, |i| fold[i] == held)));
    }
    Ok((out, small_classes(labels, k)))
}

/// k folds that keep groups together: rows of one group, such as those of one patient, are never on both sides. Groups are
/// dealt out by their size, the largest first, each to the smallest fold; groups of one size in random order.
///
/// ```
/// use mercer::evaluate::folds::group_folds;
///
/// let patients = ["a", "a", "b", "b", "b", "c"];
/// for split in group_folds(&patients, 3, 1, 0)? {
///     assert!(split.test.iter().all(|&i| split.train.iter().all(|&j| patients[i] != patients[j])));
/// }
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn group_folds<G: Ord>(groups: &[G], k: usize, repeats: usize, seed: u64) -> Result<Vec<Split>> {
    let mut names: Vec<&G> = groups.iter().collect();
    names.sort_unstable();
    names.dedup();
    if k < 2 || k > names.len() {
        return Err(Error::argument(format!(
            "{k} folds of {} groups, but there must be at least 2 folds and no more than groups",
            names.len()
        )));
    }
    require_repeats(repeats)?;
    let place: Vec<usize> = groups.iter().filter_map(|group| names.binary_search(&group).ok()).collect();
    let mut sizes = vec![0usize; names.len()];
    place.iter().for_each(|&at| sizes[at] += 1);
    let mut generator = random::generator(seed);
    let mut out = Vec::with_capacity(k * repeats);
    for _ in 0..repeats {
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.shuffle(&mut generator);
        order.sort_by_key(|&at| std::cmp::Reverse(sizes[at]));
        let (mut fold, mut rows) = (vec![0; names.len()], vec![0usize; k]);
        for at in order {
            let smallest = (0..k).min_by_key(|&held| rows[held]).unwrap_or(0);
            fold[at] = smallest;
            rows[smallest] += sizes[at];
        }
        out.extend((0..k).map(|held| parted(groups.len(), |i| fold[place[i]] == held)));
    }
    Ok(out)
}

/// k splits of rows in the order of time: each tests the next part of the rows, and is trained on all before it.
///
/// ```
/// use mercer::evaluate::folds::ordered_folds;
///
/// let splits = ordered_folds(8, 3)?;
/// assert_eq!((&splits[0].train[..], &splits[0].test[..]), (&[0, 1][..], &[2, 3][..]));
/// assert_eq!((&splits[2].train[..], &splits[2].test[..]), (&[0, 1, 2, 3, 4, 5][..], &[6, 7][..]));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn ordered_folds(n: usize, k: usize) -> Result<Vec<Split>> {
    if k < 2 || k + 1 > n {
        return Err(Error::argument(format!(
            "{k} splits in order of {n} rows, but there must be at least 2 splits and more rows than splits"
        )));
    }
    let size = n / (k + 1);
    let split = |at: usize| {
        let start = n - (k - at) * size;
        Split { train: (0..start).collect(), test: (start..start + size).collect() }
    };
    Ok((0..k).map(split).collect())
}

/// Random splits: this share of every class (numbers: of the rows) is for testing, `repeats` times; and warnings. A class
/// of two rows or more has at least one in either part.
///
/// ```
/// use mercer::{Labels, evaluate::folds::splits};
///
/// let labels = Labels::Numbers((0..10).map(f64::from).collect());
/// let (splits, _) = splits(&labels, 0.3, 2, 7)?;
/// assert_eq!((splits.len(), splits[0].test.len(), splits[1].train.len()), (2, 3, 7));
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn splits(
    labels: &Labels,
    test_share: f64,
    repeats: usize,
    seed: u64,
) -> Result<(Vec<Split>, Vec<String>)> {
    let n = labels.len();
    if !(test_share > 0.0 && test_share < 1.0) {
        return Err(Error::argument(format!(
            "test_share = {test_share}, but it must lie between 0 and 1, such as 0.2"
        )));
    }
    require_repeats(repeats)?;
    let mut generator = random::generator(seed);
    let mut out = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(&mut generator);
        order.sort_by_key(|&i| class(labels, i));
        let mut tested = vec![false; n];
        for rows in order.chunk_by(|&a, &b| class(labels, a) == class(labels, b)) {
            let wanted = (test_share * rows.len() as f64).round() as usize;
            let least = usize::from(rows.len() > 1);
            let count = wanted.clamp(least, rows.len() - 1);
            rows[..count].iter().for_each(|&i| tested[i] = true);
        }
        out.push(parted(n, |i| tested[i]));
    }
    if out.iter().any(|split| split.test.is_empty()) {
        return Err(Error::data(format!(
            "{n} rows cannot be split: no class has a second row to be tested on"
        )));
    }
    Ok((out, small_classes(labels, 2)))
}

/// The places of the splits with rows of every class on both sides, for measures that are means over the classes: a part without a
/// class would be scored by the others alone.
pub(super) fn with_every_class(splits: &[Split], labels: &Labels) -> Vec<usize> {
    let Labels::Classes { codes, names } = labels else { return (0..splits.len()).collect() };
    let count = |part: &mut dyn Iterator<Item = usize>| {
        let mut is_there = vec![false; names.len()];
        part.for_each(|i| is_there[codes[i]] = true);
        is_there.into_iter().filter(|there| *there).count()
    };
    let all = count(&mut (0..codes.len()));
    let is_whole = |split: &Split| {
        [&split.train, &split.test].iter().all(|part| count(&mut part.iter().copied()) == all)
    };
    (0..splits.len()).filter(|&at| is_whole(&splits[at])).collect()
}

/// The splits with rows of every class on both sides; all of them where none is left.
pub(super) fn with_every_class_or_all(splits: Vec<Split>, labels: &Labels) -> Vec<Split> {
    let whole = with_every_class(&splits, labels);
    if whole.is_empty() { splits } else { whole.into_iter().map(|at| splits[at].clone()).collect() }
}

fn require_repeats(repeats: usize) -> Result<()> {
    if repeats == 0 { Err(Error::argument("repeats = 0, but at least 1 is needed")) } else { Ok(()) }
}

fn class(labels: &Labels, i: usize) -> usize {
    match labels {
        Labels::Classes { codes, .. } => codes[i],
        Labels::Numbers(_) | Labels::Several { .. } => 0,
    }
}

fn parted(n: usize, is_test: impl Fn(usize) -> bool) -> Split {
    let (test, train) = (0..n).partition(|&i| is_test(i));
    Split { train, test }
}

/// A warning if a class has fewer rows than there are parts.
fn small_classes(labels: &Labels, sides: usize) -> Vec<String> {
    let Labels::Classes { codes, names } = labels else { return Vec::new() };
    let mut sizes = vec![0usize; names.len()];
    codes.iter().for_each(|&code| sizes[code] += 1);
    let small: Vec<usize> = (0..names.len()).filter(|&c| sizes[c] > 0 && sizes[c] < sides).collect();
    match small.as_slice() {
        [] => Vec::new(),
        [first, rest @ ..] => vec![format!(
            "{} of {} classes have fewer than {sides} rows (`{}` has {}{}), so they are missing from some of the parts",
            small.len(),
            names.len(),
            names[*first],
            sizes[*first],
            if rest.is_empty() { "" } else { ", …" }
        )],
    }
}
