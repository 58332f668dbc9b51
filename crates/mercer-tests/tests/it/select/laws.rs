//! What holds for every selector: laws, bits that do not depend on threads, and refusals in words.

use mercer::data::{Labels, Task, synth};
use mercer::methods::{Stage, names};
use mercer::select::{Columns, Keep, Scores};
use mercer::{Error, Kernel, Monitor, Rows};
use proptest::prelude::*;

use crate::kernel::rows;
use crate::naive::{self, Matrix};
use crate::select::{assert_near, bits, case, classes, score, selector, try_score};

/// Those that have room for missing values and categories.
const RELIEFS: [&str; 8] =
    ["relief", "relieff", "rrelieff", "irelief", "surf", "surf-star", "multisurf", "multisurf-star"];

/// Those that look at one column at a time once neighbours are found, so that a copy scores as its original.
const BY_COLUMN: [&str; 10] = [
    "relief",
    "relieff",
    "rrelieff",
    "irelief",
    "surf",
    "multisurf",
    "multisurf-star",
    "f",
    "mi",
    "laplacian",
];

fn permuted(x: &Matrix, order: &[usize]) -> Matrix {
    order.iter().map(|&i| x[i].clone()).collect()
}

fn scaled_column(x: &Matrix, j: usize, by: f64) -> Matrix {
    let mut x = x.clone();
    x.iter_mut().for_each(|row| row[j] *= by);
    x
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn permuting_the_rows_changes_no_score(seed in 0u64..10_000, n in 12usize..50, p in 1usize..6, c in 2usize..4) {
        let case = case("random", naive::random_rows(n, p, seed), c);
        let order = naive::random_order(n, seed);
        let x = permuted(&case.x, &order);
        let codes: Vec<usize> = order.iter().map(|&i| case.codes[i]).collect();
        let y: Vec<f64> = order.iter().map(|&i| case.y[i]).collect();
        for name in BY_COLUMN.into_iter().chain(["kffs"]) {
            let s = selector(name, &[]);
            let (a, b) = if name == "rrelieff" {
                (score(&s, &rows(&case.x), &Labels::Numbers(case.y.clone())), score(&s, &rows(&x), &Labels::Numbers(y.clone())))
            } else {
                (score(&s, &rows(&case.x), &classes(&case.codes)), score(&s, &rows(&x), &classes(&codes)))
            };
            assert_near(&b.scores, &a.scores, 1e-8, name);
        }
        for name in ["f", "mi", "surf", "multisurf-star"] {
            let s = selector(name, &[]);
            let a = score(&s, &rows(&case.x), &Labels::Numbers(case.y.clone()));
            let b = score(&s, &rows(&x), &Labels::Numbers(y.clone()));
            assert_near(&b.scores, &a.scores, 1e-8, name);
        }
    }

    #[test]
    fn the_unit_of_a_column_changes_no_score_of_those_that_divide_by_it(
        seed in 0u64..10_000, n in 12usize..50, p in 1usize..6, size in -3.0..3.0f64, negative: bool
    ) {
        let case = case("random", naive::random_rows(n, p, seed), 3);
        let by = 10f64.powf(size) * if negative { -1.0 } else { 1.0 };
        let x = scaled_column(&case.x, seed as usize % p, by);
        for name in ["relieff", "rrelieff", "surf-star", "multisurf", "f", "mi"] {
            let s = selector(name, &[]);
            let (a, b) = (score(&s, &rows(&case.x), &classes(&case.codes)), score(&s, &rows(&x), &classes(&case.codes)));
            assert_near(&b.scores, &a.scores, 1e-8, name);
        }
        for name in ["rrelieff", "surf", "multisurf", "f", "mi"] {
            let s = selector(name, &[]);
            let y: Vec<f64> = case.y.iter().map(|v| v * by).collect();
            let a = score(&s, &rows(&case.x), &Labels::Numbers(case.y.clone()));
            let b = score(&s, &rows(&x), &Labels::Numbers(y));
            assert_near(&b.scores, &a.scores, 1e-8, name);
        }
    }

    #[test]
    fn the_unit_of_all_columns_is_the_unit_of_relief(seed in 0u64..10_000, n in 8usize..50, size in -100.0..100.0f64) {
        let case = case("random", naive::random_rows(n, 3, seed), 2);
        let by = 10f64.powf(size);
        let x: Matrix = case.x.iter().map(|row| row.iter().map(|v| v * by).collect()).collect();
        let s = selector("relief", &[]);
        let (a, b) = (score(&s, &rows(&case.x), &classes(&case.codes)), score(&s, &rows(&x), &classes(&case.codes)));
        let expected: Vec<f64> = a.scores.iter().map(|v| v * by).collect();
        assert_near(&b.scores, &expected, 1e-9, "relief");
        assert_near(&b.weights.expect("weights"), &a.weights.expect("weights"), 1e-9, "relief");
    }

    #[test]
    fn a_copied_column_has_a_copied_score(seed in 0u64..10_000, n in 10usize..60, p in 1usize..20) {
        let case = case("random", naive::random_rows(n, p, seed), 2);
        let j = seed as usize % p;
        let x: Matrix = case.x.iter().map(|row| [row.clone(), vec![row[j]]].concat()).collect();
        for name in BY_COLUMN {
            let found = score(&selector(name, &[]), &rows(&x), &classes(&case.codes));
            prop_assert_eq!(found.scores[j].to_bits(), found.scores[p].to_bits(), "{}", name);
            if let Some(pvalues) = found.pvalues {
                prop_assert_eq!(pvalues[j].to_bits(), pvalues[p].to_bits(), "{}", name);
            }
        }
    }

    #[test]
    fn doubled_rows_are_their_own_hits(seed in 0u64..10_000, n in 6usize..30) {
        let case = case("random", naive::random_rows(n, 3, seed), 2);
        let x: Matrix = case.x.iter().chain(&case.x).cloned().collect();
        let codes = case.codes.repeat(2);
        // The nearest hit of a row is its copy, at no distance in any column: only misses count, and none is negative.
        let found = score(&selector("relief", &[]), &rows(&x), &classes(&codes));
        let pairs = naive::Pairs::own(&case.x, &[], false, naive::Norm::Euclidean, &case.codes);
        let mut expected = vec![0.0; 3];
        for i in 0..n {
            let miss = pairs.nearest(i, |o| case.codes[o] != case.codes[i], 1)[0];
            for (sum, d) in expected.iter_mut().zip(&pairs.differences[i][miss]) {
                *sum += d / n as f64;
            }
        }
        assert_near(&found.scores, &expected, 1e-12, "relief");
        // Twice the rows are twice the sums of squares, and more degrees of freedom.
        let once = score(&selector("f", &[]), &rows(&case.x), &classes(&case.codes)).scores;
        let twice = score(&selector("f", &[]), &rows(&x), &classes(&codes)).scores;
        let (n, c) = (n as f64, 2.0);
        let expected: Vec<f64> = once.iter().map(|f| f * (2.0 * n - c) / (n - c)).collect();
        assert_near(&twice, &expected, 1e-10, "f");
    }

    #[test]
    fn what_is_kept_follows_the_scores(seed in 0u64..10_000, p in 1usize..40, count in 1usize..60, share in 0.01..1.0f64) {
        let mut state = seed;
        // Few values, so that many are equal.
        let scores: Vec<f64> = (0..p).map(|_| (naive::random_normal(&mut state) * 2.0).round()).collect();
        let found = Scores { scores: scores.clone(), ..Scores::default() };
        let all = found.keep(Keep::All);
        prop_assert_eq!(&all.columns, &(0..p).collect::<Vec<_>>());
        let mut places = all.ranking.clone();
        places.sort_unstable();
        prop_assert_eq!(places, (1..=p).collect::<Vec<_>>(), "a ranking is a permutation");
        for a in 0..p {
            for b in 0..p {
                let before = scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
                prop_assert!(!before || all.ranking[a] < all.ranking[b]);
            }
        }
        let best = |count: usize| -> Vec<usize> { (0..p).filter(|&j| all.ranking[j] <= count).collect() };
        let kept = found.keep(Keep::Count(count));
        prop_assert_eq!(&kept.columns, &best(count), "the best, ascending");
        prop_assert_eq!(&kept.ranking, &all.ranking);
        prop_assert_eq!(kept.warnings.len(), usize::from(count > p), "more than there are is worth a word");
        let kept = found.keep(Keep::Share(share)).columns;
        prop_assert_eq!(kept, best(((share * p as f64 + 1e-9).floor() as usize).max(1)));
        let kept = found.keep(Keep::Positive).columns;
        prop_assert_eq!(kept, (0..p).filter(|&j| scores[j] > 0.0).collect::<Vec<_>>());

        // Where the selector decides, the best of what it chose.
        let chosen: Vec<bool> = (0..p).map(|_| naive::random_uniform(&mut state) < 0.5).collect();
        let choosy = Scores { chosen: Some(chosen.clone()), ..found.clone() };
        prop_assert_eq!(choosy.keep(Keep::All).columns, (0..p).filter(|&j| chosen[j]).collect::<Vec<_>>());
        let mut wanted: Vec<usize> = (0..p).filter(|&j| chosen[j]).collect();
        wanted.sort_by_key(|&j| all.ranking[j]);
        wanted.truncate(count);
        wanted.sort_unstable();
        prop_assert_eq!(choosy.keep(Keep::Count(count)).columns, wanted);

        // Where it takes one after the other, the earlier of the equal.
        let order = naive::random_order(p, seed);
        let taken = Scores { order: Some(order.clone()), ..found };
        let ranking = taken.keep(Keep::All).ranking;
        for (at, &a) in order.iter().enumerate() {
            for &b in &order[at + 1..] {
                prop_assert!(scores[a] != scores[b] || ranking[a] < ranking[b]);
            }
        }
    }
}

/// Text of the settings that make a selector's work short.
fn quick(name: &str) -> &'static [(&'static str, &'static str)] {
    if name == "lasso" { &[("randomized", "true"), ("n_resamples", "10")] } else { &[] }
}

#[test]
fn one_two_and_three_threads_give_the_same_bits() {
    let table = synth::generate("ringnorm?n=700&seed=6").expect("rows");
    let labels = Labels::decide(table.target.clone().expect("classes"), Task::Auto).expect("labels");
    let space = naive::random_rows(700, 3, 110);
    for name in names(Stage::Select) {
        for with_space in [false, true] {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
                pool.install(|| {
                    let (space, monitor) = (rows(&space), Monitor::default());
                    let space = with_space.then_some((Kernel::rbf(0.1), &space));
                    let columns = Columns { space, ..Columns::new(&table.rows, &labels, &monitor) };
                    let found = selector(name, quick(name)).score(&columns).expect("scores");
                    let pvalues = found.pvalues.as_deref().map(bits);
                    (bits(&found.scores), pvalues, found.chosen, found.order, found.penalty.map(f64::to_bits))
                })
            };
            let one = run(1);
            assert!(one == run(2) && one == run(3), "{name} differs");
        }
    }
    let numbers = Labels::Numbers(naive::random_rows(700, 1, 111).concat());
    for name in ["rrelieff", "surf-star", "multisurf", "f", "mi", "lasso"] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            pool.install(|| bits(&score(&selector(name, &[]), &table.rows, &numbers).scores))
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3), "{name} of numbers differs");
    }
}

#[test]
fn every_selector_stops_when_it_is_told_to() {
    let case = case("two classes", naive::random_rows(50, 4, 112), 2);
    let monitor = Monitor::default();
    monitor.stop();
    let (x, space, labels) = (rows(&case.x), rows(&case.x), classes(&case.codes));
    for name in names(Stage::Select) {
        for space in [None, Some((Kernel::rbf(1.0), &space))] {
            let columns = Columns { space, ..Columns::new(&x, &labels, &monitor) };
            let stopped = selector(name, &[]).score(&columns);
            assert!(matches!(stopped, Err(Error::Interrupted)), "{name}: {stopped:?}");
        }
    }
    let numbers = Labels::Numbers(case.y);
    for name in ["rrelieff", "surf-star", "multisurf", "f", "mi", "lasso"] {
        let stopped = selector(name, &[]).score(&Columns::new(&x, &numbers, &monitor));
        assert!(matches!(stopped, Err(Error::Interrupted)), "{name} of numbers: {stopped:?}");
    }
}

#[test]
fn a_selector_by_name_has_the_defaults_of_its_type() {
    use mercer::select::{IRelief, Kffs, Laplacian, Lasso, MultiSurf, MutualInfo, RReliefF, Relief, ReliefF};
    let by_name = |name: &str| {
        let text = format!("{:?}", selector(name, &[]));
        text.split_once('(').expect("a variant").1.trim_end_matches(')').to_string()
    };
    let same = |name: &str, default: String| assert_eq!(by_name(name), default.trim_end_matches(')'));
    same("relief", format!("{:?}", Relief::default()));
    same("relieff", format!("{:?}", ReliefF::default()));
    same("rrelieff", format!("{:?}", RReliefF::default()));
    same("irelief", format!("{:?}", IRelief::default()));
    same("multisurf", format!("{:?}", MultiSurf::default()));
    same("kffs", format!("{:?}", Kffs::default()));
    same("mi", format!("{:?}", MutualInfo::default()));
    same("laplacian", format!("{:?}", Laplacian::default()));
    same("lasso", format!("{:?}", Lasso::default()));
}

#[test]
fn few_rows_and_one_column_are_enough() {
    let x = rows(&vec![vec![0.0], vec![1.0], vec![5.0], vec![6.5]]);
    for name in names(Stage::Select) {
        let settings: &[(&str, &str)] = if name == "lasso" { &[("cv", "2")] } else { &[] };
        let found = score(&selector(name, settings), &x, &classes(&[0, 0, 1, 1]));
        assert!(found.scores.len() == 1 && found.scores[0].is_finite(), "{name}: {:?}", found.scores);
    }
}

#[test]
fn columns_that_say_nothing_have_no_score() {
    let x = rows(&vec![vec![0.1, -3.0]; 12]);
    for name in names(Stage::Select) {
        let found = score(&selector(name, &[]), &x, &classes(&[0, 1].repeat(6)));
        let expected = if name == "laplacian" { -2.0 } else { 0.0 };
        assert_eq!(found.scores, [expected; 2], "{name}");
        if let Some(weights) = found.weights {
            assert_eq!(weights, [0.0; 2], "{name}");
        }
        if let Some(pvalues) = found.pvalues {
            assert_eq!(pvalues, [1.0; 2], "{name}");
        }
    }
}

fn refused(name: &str, x: &Rows, labels: &Labels, words: &str) {
    match try_score(&selector(name, &[]), x, labels) {
        Ok(found) => panic!("{name} did not refuse ({words}): {found:?}"),
        Err(error) => assert!(error.to_string().contains(words), "{name}, {words}: {error}"),
    }
}

#[test]
fn numbers_are_refused_where_classes_are_needed() {
    let x = rows(&naive::random_rows(10, 2, 113));
    let numbers = Labels::Numbers((0..10).map(|i| f64::from(i) * 0.3).collect());
    for name in ["relief", "relieff", "irelief", "kffs"] {
        refused(name, &x, &numbers, &format!("`{name}` needs classes"));
    }
}

#[test]
fn one_class_is_refused() {
    let x = rows(&naive::random_rows(10, 2, 114));
    for name in ["relief", "relieff", "irelief", "multisurf", "kffs"] {
        refused(name, &x, &classes(&[0; 10]), "needs at least 2 classes");
    }
    // No degrees of freedom are left between the classes.
    assert!(try_score(&selector("f", &[]), &x, &classes(&[0; 10])).is_err());
}

#[test]
fn missing_labels_are_refused_by_all_but_the_laplacian_score() {
    let x = rows(&naive::random_rows(10, 2, 115));
    let (labels, monitor) = (classes(&[0, 1].repeat(5)), Monitor::default());
    for name in names(Stage::Select) {
        let columns = Columns { labels: None, ..Columns::new(&x, &labels, &monitor) };
        let found = selector(name, &[]).score(&columns);
        if name == "laplacian" {
            assert_eq!(found.expect("scores"), score(&selector(name, &[]), &x, &labels));
        } else {
            let text = found.expect_err(name).to_string();
            assert!(text.contains("looks at the labels, but none were given"), "{name}: {text}");
        }
    }
}

#[test]
fn labels_of_another_length_are_refused() {
    let x = rows(&naive::random_rows(10, 2, 116));
    for name in names(Stage::Select) {
        refused(name, &x, &classes(&[0, 1, 0]), "10 rows, but 3 labels");
    }
    for name in ["rrelieff", "surf-star", "multisurf", "f", "mi", "lasso"] {
        refused(name, &x, &Labels::Numbers(vec![0.5; 11]), "10 rows, but 11 labels");
        let mut bad = vec![0.5; 10];
        bad[3] = f64::NAN;
        refused(name, &x, &Labels::Numbers(bad), "not a finite number at row 4");
    }
}

#[test]
fn infinity_is_refused_by_all_and_nan_by_those_without_room_for_it() {
    let labels = classes(&[0, 1].repeat(5));
    for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let mut x = naive::random_rows(10, 2, 117);
        x[4][1] = bad;
        for x in [rows(&x), crate::kernel::sparse(&x)] {
            for name in names(Stage::Select) {
                match (bad.is_nan(), RELIEFS.contains(&name)) {
                    (false, _) => refused(name, &x, &labels, "Input contains infinity"),
                    (true, false) => refused(name, &x, &labels, "NaN at row 5, column 2"),
                    (true, true) => {
                        let found = score(&selector(name, &[]), &x, &labels);
                        assert!(found.scores.iter().all(|s| s.is_finite()), "{name}: {:?}", found.scores);
                    }
                }
            }
        }
    }
}

#[test]
fn categorical_columns_are_for_the_relief_family_and_mutual_information() {
    let x = rows(&naive::random_rows(10, 2, 118));
    let (labels, monitor) = (classes(&[0, 1].repeat(5)), Monitor::default());
    for name in names(Stage::Select) {
        let columns = Columns { categorical: &[1], ..Columns::new(&x, &labels, &monitor) };
        let found = selector(name, &[]).score(&columns);
        if name == "mi" || RELIEFS.contains(&name) {
            assert_eq!(found.expect(name).scores.len(), 2);
            let columns = Columns { categorical: &[2], ..columns };
            let text = selector(name, &[]).score(&columns).expect_err(name).to_string();
            assert!(text.contains("categorical column 2 does not exist"), "{name}: {text}");
        } else {
            let text = found.expect_err(name).to_string();
            assert!(text.contains("has no use for categorical columns"), "{name}: {text}");
        }
    }
}

#[test]
fn a_share_of_neighbours_is_that_of_all_rows_divided_among_hits_and_misses() {
    let (x, codes) = (rows(&naive::random_rows(100, 3, 121)), [0, 1].repeat(50));
    let (labels, numbers) = (classes(&codes), Labels::Numbers((0..100).map(f64::from).collect()));
    for (name, labels, share, count) in [
        ("relief", &labels, "0.1", "5"),
        ("relieff", &labels, "0.29", "14"),
        ("rrelieff", &numbers, "0.29", "29"),
        ("relieff", &labels, "1e-6", "1"),
    ] {
        let found = |k: &str| score(&selector(name, &[("n_neighbors", k)]), &x, labels).scores;
        assert_eq!(bits(&found(share)), bits(&found(count)), "{name}, {share}");
        let counted = selector(name, &[("n_neighbors", share)]).n_neighbors(100);
        assert_eq!(counted.map(|k| k.to_string()).as_deref(), Some(count));
    }
    for wrong in ["0", "1.0", "1.5", "-0.1", "NaN", "all", ""] {
        let text = mercer::methods::selector("relieff", &[("n_neighbors", wrong)]);
        let text = text.map(|_| ()).expect_err(wrong).to_string();
        assert!(
            text.contains("a whole number of at least 1, or a share of the rows above 0 and below 1"),
            "{text}"
        );
    }
    // Methods whose neighbours are no hits and misses have no shares.
    assert!(mercer::methods::selector("mi", &[("n_neighbors", "0.1")]).is_err());
}

#[test]
fn a_kernels_space_must_have_the_same_rows_and_nothing_missing() {
    let x = rows(&naive::random_rows(10, 2, 119));
    let (labels, monitor) = (classes(&[0, 1].repeat(5)), Monitor::default());
    let mut holes = naive::random_rows(10, 3, 120);
    holes[2][1] = f64::NAN;
    let bad = [
        (Kernel::rbf(1.0), rows(&naive::random_rows(9, 2, 121)), "9 rows in the kernel's space"),
        (Kernel::rbf(1.0), rows(&holes), "NaN"),
        (Kernel::precomputed(), rows(&naive::random_rows(10, 9, 122)), ""),
    ];
    for name in ["relief", "relieff", "rrelieff", "surf", "multisurf"] {
        for (kernel, space, words) in &bad {
            let columns = Columns { space: Some((*kernel, space)), ..Columns::new(&x, &labels, &monitor) };
            let text = match selector(name, &[]).score(&columns) {
                Ok(found) => panic!("{name} did not refuse {}, {words}: {found:?}", kernel.shape.name()),
                Err(error) => error.to_string(),
            };
            assert!(text.contains(words), "{name}: {text}");
        }
    }
}

#[test]
fn a_single_row_is_refused() {
    for name in names(Stage::Select) {
        refused(name, &rows(&vec![vec![1.0, 2.0]]), &classes(&[0]), "needs at least 2 rows and 1 column");
    }
}
