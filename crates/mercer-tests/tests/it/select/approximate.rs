//! Approximate neighbours: most of the true ones, the same from any number of threads, on any rows; otherwise a refusal.

use mercer::data::{Task, synth};
use mercer::evidence::approximate::Search;
use mercer::evidence::differences::Differences;
use mercer::evidence::neighbours::{Found, Groups, Metric, Space};
use mercer::select::{Columns, ReliefF};
use mercer::{Kernel, Labels, Monitor, Rows};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

/// With lists for classes of 2 000 rows, so that tests take few of them.
const APPROXIMATE: Search = Search::Approximate { min_rows: 2_000 };

fn found(space: &Space, search: Search, groups: Groups, k: usize) -> (Vec<Found>, Option<String>) {
    // Some of the rows only.
    let queries: Vec<usize> = (0..space.n()).filter(|i| i % 10 != 3).collect();
    let monitor = Monitor::default();
    let (parts, note) =
        space.nearest_by(search, groups, k, &queries, &monitor, <[Found]>::to_vec).expect("neighbours");
    assert!(parts.concat().iter().map(|found| found.query).eq(queries), "in the order of the queries");
    (parts.concat(), note)
}

/// The share of the true neighbours that were found, and the share that is said.
fn recall(space: &Space, groups: Groups, k: usize) -> (f64, f64) {
    let (all, none) = found(space, Search::Exact, groups, k);
    assert_eq!(none, None);
    let (most, note) = found(space, APPROXIMATE, groups, k);
    let said = note.expect("said");
    let said = said.strip_prefix("neighbours are approximate: ").and_then(|rest| rest.split(' ').next());
    let (mut right, mut whole) = (0, 0);
    for (all, most) in all.iter().zip(&most) {
        for (all, most) in all.groups.iter().zip(&most.groups) {
            assert_eq!(all.len(), most.len(), "as many as there are");
            right += all.iter().filter(|i| most.contains(i)).count();
            whole += all.len();
        }
    }
    (right as f64 / whole as f64, said.and_then(|share| share.parse::<f64>().ok()).expect("a share") / 100.0)
}

fn noise(n: usize, p: usize) -> Rows<'static> {
    let mut generator = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    let values: Vec<f64> = (0..n * p).map(|_| StandardNormal.sample(&mut generator)).collect();
    Rows::dense(values, n, p).expect("rows")
}

#[test]
fn most_true_neighbours_are_found_in_both_metrics_and_by_class() {
    // Without any structure, which is the hardest.
    let rows = noise(9_000, 8);
    let two: Vec<usize> = (0..9_000).map(|i| i % 2).collect();
    for metric in [Metric::Euclidean, Metric::Manhattan] {
        let space = Space::Plain(Differences::new(&rows, &[], true).expect("rows"), metric);
        for (groups, k) in [(Groups::All, 10), (Groups::HitsMisses(&two), 3), (Groups::Classes(&two, 2), 1)] {
            let (share, said) = recall(&space, groups, k);
            assert!(share > 0.92, "{metric:?} {groups:?}: {share}");
            assert!((share - said).abs() < 0.05, "{metric:?}: {said} said for {share}");
        }
    }
}

/// At the size from which on `approx` makes lists by itself.
#[test]
#[ignore = "slow: make check-all"]
fn most_true_neighbours_are_found_at_full_size() {
    let rows = noise(45_000, 12);
    let two: Vec<usize> = (0..45_000).map(|i| i % 2).collect();
    let space = Space::Plain(Differences::new(&rows, &[], true).expect("rows"), Metric::Manhattan);
    let (all, _) = found(&space, Search::Exact, Groups::HitsMisses(&two), 3);
    let (most, note) = found(&space, Search::APPROXIMATE, Groups::HitsMisses(&two), 3);
    assert!(note.is_some(), "it is approximate");
    let pairs = || all.iter().zip(&most).flat_map(|(all, most)| all.groups.iter().zip(&most.groups));
    let right: usize = pairs().map(|(all, most)| all.iter().filter(|i| most.contains(i)).count()).sum();
    let whole: usize = pairs().map(|(all, _)| all.len()).sum();
    assert!(right as f64 > 0.92 * whole as f64, "{right} of {whole}");
}

#[test]
fn a_small_class_beside_a_large_one_is_searched_to_the_last_row() {
    let rows = noise(6_000, 8);
    let codes: Vec<usize> = (0..6_000).map(|i| usize::from(i % 10 == 0)).collect();
    let space = Space::of_kernel(Kernel::rbf(0.1), &rows).expect("rows");
    let groups = Groups::Classes(&codes, 2);
    let (all, most) = (found(&space, Search::Exact, groups, 4).0, found(&space, APPROXIMATE, groups, 4).0);
    assert!(all.iter().zip(&most).all(|(all, most)| all.groups[1] == most.groups[1]));
    assert!(all != most, "the large one is not");
}

#[test]
fn what_is_searched_exactly_is_found_exactly_and_without_a_note() {
    let rows = noise(3_600, 5);
    let codes: Vec<usize> = (0..3_600).map(|i| i % 2).collect();
    let space = Space::Plain(Differences::new(&rows, &[], false).expect("rows"), Metric::Euclidean);
    // Two classes of 1 800 rows, for which no lists are made.
    let groups = Groups::HitsMisses(&codes);
    let exact = found(&space, Search::Exact, groups, 2);
    assert_eq!(found(&space, APPROXIMATE, groups, 2), exact);
    // Few rows that ask.
    let monitor = Monitor::default();
    let of_few = |search: Search| {
        let few: Vec<usize> = (0..300).map(|i| 7 * i).collect();
        space.nearest_by(search, Groups::All, 3, &few, &monitor, <[Found]>::to_vec).expect("neighbours")
    };
    assert_eq!(of_few(APPROXIMATE), of_few(Search::Exact));
    assert_eq!(of_few(APPROXIMATE).1, None);
}

#[test]
fn odd_rows_have_neighbours_all_the_same() {
    let n = 3_000;
    let same = vec![1.5; n * 3];
    let huge: Vec<f64> = (0..n * 3).map(|i| f64::from(i as u32 % 977) * 1e120).collect();
    let tiny: Vec<f64> = huge.iter().map(|v| v * 1e-250).collect();
    let ties: Vec<f64> = (0..n * 3).map(|i| f64::from(i as u32 % 2)).collect();
    let line: Vec<f64> = (0..n * 3).map(|i| f64::from(i as u32 / 3)).collect();
    let flat: Vec<f64> =
        (0..n * 3).map(|i| if i % 3 == 1 { 7.0 } else { (f64::from(i as u32)).sin() }).collect();
    // Narrow clusters far apart, a row of each in turn, which float32 cannot resolve.
    let apart: Vec<f64> =
        (0..n * 3).map(|i| 1e6 * f64::from(i as u32 / 3 % 40) + (f64::from(i as u32)).sin()).collect();
    let kinds =
        [("same", same), ("huge", huge), ("tiny", tiny), ("ties", ties), ("line", line), ("flat", flat)];
    for (name, values) in kinds.into_iter().chain([("apart", apart)]) {
        let rows = Rows::dense(values, n, 3).expect("rows");
        let space = Space::Plain(Differences::new(&rows, &[], false).expect("rows"), Metric::Euclidean);
        let (near, note) = found(&space, APPROXIMATE, Groups::All, 4);
        assert!(note.is_none_or(|note| note.contains("% of the true ones")), "{name}");
        let mut short = 0;
        for Found { query, groups } in near {
            assert_eq!(groups[0].len(), 4, "{name}");
            assert!(!groups[0].contains(&query), "{name}: {query} is no neighbour of itself");
            let distances: Vec<f64> = groups[0].iter().map(|&i| space.distance(query, i)).collect();
            assert!(distances.is_sorted(), "{name}: nearest first");
            let ordered = |pair: &[usize]| {
                space.distance(query, pair[0]) < space.distance(query, pair[1]) || pair[0] < pair[1]
            };
            assert!(groups[0].windows(2).all(ordered), "{name}: the lower index first among equals");
            short += usize::from(distances[3] == 0.0);
        }
        assert!(!["same", "ties"].contains(&name) || short > n / 2, "{name}: equal rows are nearest");
    }
}

#[test]
fn scores_are_near_the_exact_ones_and_the_same_from_any_number_of_threads() {
    let table = synth::generate("waveform?n=7500&seed=1").expect("rows");
    let labels = Labels::decide(table.target.clone().expect("classes"), Task::Auto).expect("labels");
    let score = |neighbors: Search, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        let relieff = ReliefF { neighbors, n_queries: Some(2_500), ..ReliefF::default() };
        let monitor = Monitor::default();
        pool.install(|| relieff.score(&Columns::new(&table.rows, &labels, &monitor)).expect("scores"))
    };
    let (exact, approximate) = (score(Search::Exact, 2), score(APPROXIMATE, 1));
    assert_eq!(approximate.scores, score(APPROXIMATE, 2).scores);
    assert_eq!(approximate.scores, score(APPROXIMATE, 3).scores);
    assert!(approximate.warnings.iter().any(|w| w.contains("% of the true ones were found")));
    let apart = exact.scores.iter().zip(&approximate.scores).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let largest = exact.scores.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(apart < 0.05 * largest, "{apart} beside {largest}");
}

#[test]
fn what_the_index_cannot_hold_is_refused_with_what_to_do() {
    let dense = Rows::dense(vec![0.0, 1.0, 2.0, 0.0, 5.0, f64::NAN], 3, 2).expect("rows");
    let sparse = Rows::sparse(vec![0, 1, 2], vec![1, 0], vec![1.0, 2.0], 2).expect("rows");
    let monitor = Monitor::default();
    let refusal = |space: &Space| {
        let found = space.nearest_by(APPROXIMATE, Groups::All, 1, &[0], &monitor, <[Found]>::to_vec);
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
    let relieff = ReliefF { neighbors: APPROXIMATE, ..ReliefF::default() };
    assert!(relieff.score(&Columns::new(&dense, &labels, &monitor)).is_err());
}
