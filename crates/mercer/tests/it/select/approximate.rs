//! Approximate neighbours: most of the true ones, the same from any number of threads, on any rows; otherwise a refusal.

use mercer::data::{Task, synth};
use mercer::evidence::approximate::Search;
use mercer::evidence::differences::Differences;
use mercer::evidence::neighbours::{Found, Groups, Metric, Space};
use mercer::select::{Columns, ReliefF};
use mercer::{Kernel, Labels, Monitor, Rows};

fn found(space: &Space, search: Search, groups: Groups, k: usize) -> (Vec<Found>, Option<String>) {
    let queries: Vec<usize> = (0..space.n()).step_by(151).collect();
    let monitor = Monitor::default();
    let (parts, note) =
        space.nearest_by(search, groups, k, &queries, &monitor, <[Found]>::to_vec).expect("neighbours");
    (parts.concat(), note)
}

/// The share of the true neighbours that were found.
fn recall(space: &Space, groups: Groups, k: usize) -> f64 {
    let (all, none) = found(space, Search::Exact, groups, k);
    assert_eq!(none, None);
    let (most, note) = found(space, Search::Approximate, groups, k);
    assert!(note.expect("said").contains("neighbours are approximate"));
    let (mut right, mut whole) = (0, 0);
    for (all, most) in all.iter().zip(&most) {
        assert_eq!(all.query, most.query);
        for (all, most) in all.groups.iter().zip(&most.groups) {
            assert_eq!(all.len(), most.len(), "as many as there are");
            right += all.iter().filter(|i| most.contains(i)).count();
            whole += all.len();
        }
    }
    right as f64 / whole as f64
}

#[test]
fn most_true_neighbours_are_found_in_both_metrics_and_by_class() {
    let table = synth::generate("waveform?n=45000&seed=3").expect("rows");
    let labels = Labels::decide(table.target.clone().expect("classes"), Task::Auto).expect("labels");
    let (codes, c) = labels.require_classes("test").expect("classes");
    for metric in [Metric::Euclidean, Metric::Manhattan] {
        let space = Space::Plain(Differences::new(&table.rows, &[], true).expect("rows"), metric);
        assert!(recall(&space, Groups::All, 10) > 0.8, "{metric:?}");
        // Classes of 15 000 rows are searched one by one.
        assert!(recall(&space, Groups::Classes(codes, c), 5) == 1.0, "{metric:?}");
    }
    let two: Vec<usize> = (0..45_000).map(|i| i % 2).collect();
    let space = Space::of_kernel(Kernel::rbf(0.1), &table.rows).expect("rows");
    assert!(recall(&space, Groups::HitsMisses(&two), 3) > 0.8);
}

#[test]
fn odd_rows_have_neighbours_all_the_same() {
    let n = 20_000;
    let same = vec![1.5; n * 3];
    let huge: Vec<f64> = (0..n * 3).map(|i| f64::from(i as u32 % 977) * 1e120).collect();
    let tiny: Vec<f64> = huge.iter().map(|v| v * 1e-250).collect();
    let ties: Vec<f64> = (0..n * 3).map(|i| f64::from(i as u32 % 2)).collect();
    let line: Vec<f64> = (0..n * 3).map(|i| f64::from(i as u32 / 3)).collect();
    for (name, values) in [("same", same), ("huge", huge), ("tiny", tiny), ("ties", ties), ("line", line)] {
        let rows = Rows::dense(values, n, 3).expect("rows");
        let space = Space::Plain(Differences::new(&rows, &[], false).expect("rows"), Metric::Euclidean);
        let (near, note) = found(&space, Search::Approximate, Groups::All, 4);
        assert!(note.is_some(), "{name}");
        for Found { query, groups } in near {
            assert_eq!(groups[0].len(), 4, "{name}");
            assert!(!groups[0].contains(&query), "{name}: {query} is no neighbour of itself");
        }
    }
}

#[test]
fn scores_are_near_the_exact_ones_and_the_same_from_any_number_of_threads() {
    let table = synth::generate("waveform?n=62000&seed=1").expect("rows");
    let labels = Labels::decide(table.target.clone().expect("classes"), Task::Auto).expect("labels");
    let score = |neighbors: Search, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        let relieff = ReliefF { neighbors, n_queries: Some(200), ..ReliefF::default() };
        let monitor = Monitor::default();
        pool.install(|| relieff.score(&Columns::new(&table.rows, &labels, &monitor)).expect("scores"))
    };
    let (exact, approximate) = (score(Search::Exact, 2), score(Search::Approximate, 1));
    assert_eq!(approximate.scores, score(Search::Approximate, 2).scores);
    assert_eq!(approximate.scores, score(Search::Approximate, 3).scores);
    assert!(approximate.warnings.iter().any(|w| w.contains("% of the true ones were found")));
    let apart = exact.scores.iter().zip(&approximate.scores).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let largest = exact.scores.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(apart < 0.2 * largest, "{apart} beside {largest}");
}

#[test]
fn what_the_index_cannot_hold_is_refused_with_what_to_do() {
    let dense = Rows::dense(vec![0.0, 1.0, 2.0, 0.0, 5.0, f64::NAN], 3, 2).expect("rows");
    let sparse = Rows::sparse(vec![0, 1, 2], vec![1, 0], vec![1.0, 2.0], 2).expect("rows");
    let monitor = Monitor::default();
    let refusal = |space: &Space| {
        let found = space.nearest_by(Search::Approximate, Groups::All, 1, &[0], &monitor, <[Found]>::to_vec);
        found.expect_err("refused").to_string()
    };
    let gaps = Space::Plain(Differences::new(&dense, &[], false).expect("rows"), Metric::Euclidean);
    assert!(refusal(&gaps).contains("without missing values"), "{}", refusal(&gaps));
    let of_sparse = Space::Plain(Differences::new(&sparse, &[], false).expect("rows"), Metric::Euclidean);
    assert!(refusal(&of_sparse).contains("dense rows"), "{}", refusal(&of_sparse));
    let precomputed = Space::of_kernel(Kernel::precomputed(), &sparse).expect("space");
    assert!(refusal(&precomputed).contains("`precomputed`"), "{}", refusal(&precomputed));
    let unknown = Search::named("fast").expect_err("unknown").to_string();
    assert!(unknown.contains("`fast`") && unknown.contains("exact, approx"), "{unknown}");
    let labels = Labels::classes(&["a", "b", "a"]);
    let relieff = ReliefF { neighbors: Search::Approximate, ..ReliefF::default() };
    assert!(relieff.score(&Columns::new(&dense, &labels, &monitor)).is_err());
}
