use rand::RngExt;

use super::*;
use crate::evidence::neighbours::{Metric, queries};
use crate::evidence::partition::{GroupKind, NearestIn, Queries, SearchSpace, nearest_in};
use crate::kernel::Kernel;
use crate::monitor::Monitor;
use crate::random;
use crate::select::rrelieff::target_range;
use crate::select::{Columns, RReliefF, Relief, ReliefF, Scores, Selector};

const N: usize = 240;
const P: usize = 6;

/// Rows whose first columns go with the class; class c − 1 has a single row where it is lonely.
fn data(c: usize, lonely: bool, gaps: bool) -> (Rows<'static>, Labels) {
    let mut generator = random::generator(c as u64);
    let mut codes: Vec<usize> = (0..N).map(|_| generator.random_range(0..c - usize::from(lonely))).collect();
    // Sorted rows at the end: classes that some partitions do not have.
    codes[N / 2..].sort_unstable();
    if lonely {
        codes[7] = c - 1;
    }
    let mut values: Vec<f64> = Vec::new();
    for (i, class) in codes.iter().enumerate() {
        values.extend((0..P).map(|j| {
            let signal = if j < 2 { *class as f64 } else { 0.0 };
            if gaps && (i + j) % 13 == 0 { f64::NAN } else { signal + generator.random_range(-2.0..2.0) }
        }));
    }
    let names = (0..c).map(|class| format!("class {class}")).collect();
    (Rows::dense(values, N, P).expect("rows"), Labels::Classes { codes, names })
}

/// Scores over a Neighbourhood that was found by partitions.
fn over_partitions(
    (rows, labels): (&Rows, &Labels),
    asked: &[usize],
    k: usize,
    groups: GroupKind,
    space: &SearchSpace,
    score: &dyn Fn(&Neighbourhood) -> Result<Scores>,
) -> Scores {
    let all_codes = match labels {
        Labels::Classes { codes, .. } => codes.clone(),
        Labels::Numbers(_) | Labels::Several { .. } => vec![0; N],
    };
    let of = |indices: &[usize]| indices.iter().map(|&i| all_codes[i]).collect::<Vec<_>>();
    let queries = Queries { rows: rows.select(asked), places: asked.to_vec(), codes: of(asked) };
    let mut nearest = NearestIn::none(asked.len(), k, groups);
    let mut ranges = Ranges::none(P);
    for cut in [0, 1, 1, 100, 180, 239, N].windows(2) {
        let (part, codes) = (rows.slice(cut[0]..cut[1]), &all_codes[cut[0]..cut[1]]);
        let found = nearest_in(&queries, &part, codes, cut[0], k, groups, space, &Monitor::default());
        nearest.merge(&found.expect("answer")).expect("same question");
        ranges.merge(&Ranges::of(&part)).expect("same columns");
    }
    let involved = nearest.rows_involved(&queries);
    let (queries, groups) = nearest.positions(&queries, &involved).expect("all involved");
    let c = labels.n_classes().unwrap_or(0);
    let near = Neighbourhood {
        columns: &rows.select(&involved),
        queries,
        groups,
        labels: labels.select(&involved),
        sizes: (0..c).map(|class| all_codes.iter().filter(|&&code| code == class).count()).collect(),
        n: N,
        target_range: matches!(labels, Labels::Numbers(_)).then(|| target_range(labels)),
        ranges: Some(ranges),
    };
    score(&near).expect("scores")
}

fn assert_same(found: &Scores, expected: &Scores, what: &str) {
    let size = expected.scores.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    for (a, b) in found.scores.iter().zip(&expected.scores) {
        assert!((a - b).abs() <= 1e-12 * size, "{what}: {a} for {b}");
    }
    let (p, expected_p) = (found.pvalues.iter().flatten(), expected.pvalues.iter().flatten());
    assert!(p.zip(expected_p).all(|(a, b)| (a - b).abs() <= 1e-9), "{what}");
    assert_eq!(found.weights.is_some(), expected.weights.is_some());
    assert_eq!(found.scores.len(), P);
    assert_eq!(found.warnings, expected.warnings, "{what}");
}

#[test]
fn neighbours_from_partitions_give_the_local_scores() {
    let monitor = Monitor::default();
    let kernel = Kernel::rbf(0.1);
    for (c, lonely, gaps) in [(2, false, false), (2, false, true), (3, true, false), (40, true, false)] {
        let (rows, labels) = data(c, lonely, gaps);
        // Fewer than a panel, several panels, all.
        for n_queries in [Some(30), Some(150), None] {
            let asked = queries(N, n_queries, 9);
            for in_kernel in [false, true].into_iter().filter(|in_kernel| !(gaps && *in_kernel)) {
                let local = Columns {
                    space: in_kernel.then_some((kernel, &rows)),
                    ..Columns::new(&rows, &labels, &monitor)
                };
                let space = |metric, ranges| {
                    if in_kernel {
                        SearchSpace::Kernel(kernel)
                    } else {
                        SearchSpace::Plain { metric, ranges }
                    }
                };
                let what = format!("{c} classes, {n_queries:?}, kernel: {in_kernel}");
                let ranges = Some(Ranges::of(&rows));

                let relief = Relief { n_neighbors: 3.into(), n_queries, seed: 9, ..Relief::default() };
                let plain = space(Metric::Euclidean, None);
                let score = |near: &Neighbourhood| relief.score_neighbourhood(near);
                let found =
                    over_partitions((&rows, &labels), &asked, 3, GroupKind::HitsMisses, &plain, &score);
                assert_same(&found, &relief.score(&local).expect("scores"), &what);

                let relieff = ReliefF { n_neighbors: 4.into(), n_queries, seed: 9, ..ReliefF::default() };
                let scaled = space(Metric::Manhattan, ranges);
                let score = |near: &Neighbourhood| relieff.score_neighbourhood(near);
                let found =
                    over_partitions((&rows, &labels), &asked, 4, GroupKind::Classes(c), &scaled, &score);
                assert_same(&found, &relieff.score(&local).expect("scores"), &what);

                let rrelieff = RReliefF { n_neighbors: 10.into(), n_queries, seed: 9, ..RReliefF::default() };
                let score = |near: &Neighbourhood| rrelieff.score_neighbourhood(near);
                let y = (0..N).map(|i| rows.to_dense()[i * P + 1] + (i % 7) as f64).map(|v| v.max(-3.0));
                for labels in [labels.clone(), Labels::Numbers(y.collect())] {
                    let local = Columns { labels: Some(&labels), ..local };
                    let found =
                        over_partitions((&rows, &labels), &asked, 10, GroupKind::All, &scaled, &score);
                    assert_same(&found, &rrelieff.score(&local).expect("scores"), &what);
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let rows = Rows::dense(vec![0.0, 1.0, 3.0], 3, 1).expect("rows");
    let near = Neighbourhood {
        columns: &rows,
        queries: vec![0],
        groups: vec![vec![vec![1], vec![2]]],
        labels: Labels::classes(&["a", "a", "b"]),
        sizes: vec![2, 1],
        n: 3,
        target_range: None,
        ranges: None,
    };
    let relief = Relief::default();
    assert_eq!(relief.score_neighbourhood(&near).expect("scores").scores, [2.0]);
    let refused = [
        Neighbourhood { queries: Vec::new(), ..near.clone() },
        Neighbourhood { groups: vec![vec![vec![1]]], ..near.clone() },
        Neighbourhood { groups: vec![vec![vec![1], vec![3]]], ..near.clone() },
        Neighbourhood { sizes: vec![2], ..near.clone() },
    ];
    assert!(refused.iter().all(|near| relief.score_neighbourhood(near).is_err()));
    assert!(ReliefF::default().score_neighbourhood(&near).is_err(), "no ranges");
    assert!(Selector::from(relief).downcast::<ReliefF>().is_none());
    assert!(Selector::from(ReliefF::default()).downcast::<ReliefF>().is_some());
}
