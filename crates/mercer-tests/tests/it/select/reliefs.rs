//! The Relief family against pair-by-pair references.

use mercer::data::Labels;
use mercer::select::{Columns, Scores};
use mercer::{Kernel, Monitor};

use crate::kernel::rows;
use crate::naive::{self, Matrix, Norm, Pairs};
use crate::select::{
    CATEGORICAL, Case, assert_each_near, assert_near, bits, both, case, case_with_categories,
    case_with_categories_and_missing_values, case_with_missing_values, cases, classes, kernel, norm, score,
    score_categorical, score_in_space, selector, tolerance, with_metric,
};

const METRICS: [Option<&str>; 3] = [None, Some("euclidean"), Some("manhattan")];

/// The cases with their categorical columns.
fn all_cases() -> Vec<(Case, &'static [usize])> {
    let mut all: Vec<(Case, &[usize])> = cases().into_iter().map(|case| (case, &[] as &[usize])).collect();
    all.push((case_with_missing_values(), &[]));
    all.push((case_with_categories(), &CATEGORICAL));
    all.push((case_with_categories_and_missing_values(), &CATEGORICAL));
    all
}

/// What rounding may do where values may be missing.
fn tolerance_of(case: &Case) -> f64 {
    if case.x.iter().flatten().any(|v| v.is_nan()) { 1e-9 } else { tolerance(&case.x) }
}

/// Where differences are in units of the column's range: each is right to a few roundings, however small the scores.
fn tolerance_of_scaled(case: &Case, slow: &[f64]) -> f64 {
    let size = slow.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    tolerance_of(case).max(4.0 * f64::EPSILON / size)
}

#[test]
fn relief_has_the_scores_and_weights_of_the_reference() {
    for (case, categorical) in all_cases() {
        for metric in METRICS {
            let pairs = Pairs::own(&case.x, categorical, false, norm(metric, Norm::Euclidean), &case.codes);
            for (k, power) in [("1", "1"), ("3", "1"), ("2", "2"), ("100", "1")] {
                let slow = pairs.relief(k.parse().expect("k"), power.parse().expect("power"));
                let fast = selector("relief", &with_metric(metric, &[("n_neighbors", k), ("power", power)]));
                for x in both(&case.x) {
                    let what = format!("{}, {metric:?}, k = {k}, power {power}", case.name);
                    let found = score_categorical(&fast, &x, &classes(&case.codes), categorical);
                    assert_near(&found.scores, &slow.scores, tolerance_of(&case), &what);
                    let weights = found.weights.expect("relief has weights");
                    assert_near(&weights, &slow.weights, tolerance_of(&case), &what);
                    assert!(found.pvalues.is_none() && found.chosen.is_none(), "{what}");
                }
            }
        }
    }
}

#[test]
fn relieff_has_the_scores_and_pvalues_of_the_reference() {
    for (case, categorical) in all_cases() {
        for metric in METRICS {
            let pairs = Pairs::own(&case.x, categorical, true, norm(metric, Norm::Manhattan), &case.codes);
            for k in ["1", "4", "10", "100"] {
                let neighbours = k.parse().expect("k");
                let (slow, pvalues) = (pairs.relieff(neighbours), pairs.stir_pvalues(neighbours));
                let fast = selector("relieff", &with_metric(metric, &[("n_neighbors", k)]));
                for x in both(&case.x) {
                    let what = format!("{}, {metric:?}, k = {k}", case.name);
                    let found = score_categorical(&fast, &x, &classes(&case.codes), categorical);
                    assert_near(&found.scores, &slow, tolerance_of_scaled(&case, &slow), &what);
                    assert_each_near(&found.pvalues.expect("p-values"), &pvalues, 1e-8, &what);
                }
            }
        }
    }
}

#[test]
fn rrelieff_has_the_scores_of_the_reference() {
    for (case, categorical) in all_cases() {
        for metric in METRICS {
            let pairs = Pairs::own(&case.x, categorical, true, norm(metric, Norm::Manhattan), &case.codes);
            for (k, sigma) in [("1", "20"), ("10", "3"), ("70", "20")] {
                let slow = pairs.rrelieff(&case.y, k.parse().expect("k"), sigma.parse().expect("σ"));
                let fast =
                    selector("rrelieff", &with_metric(metric, &[("n_neighbors", k), ("sigma", sigma)]));
                for x in both(&case.x) {
                    let what = format!("{}, {metric:?}, k = {k}, σ = {sigma}", case.name);
                    let labels = Labels::Numbers(case.y.clone());
                    let found = score_categorical(&fast, &x, &labels, categorical);
                    assert_near(&found.scores, &slow, tolerance_of_scaled(&case, &slow), &what);
                }
            }
        }
    }
}

#[test]
fn rrelieff_reads_classes_as_the_numbers_of_their_codes() {
    for case in cases() {
        let numbers: Vec<f64> = case.codes.iter().map(|c| *c as f64).collect();
        let fast = selector("rrelieff", &[("n_neighbors", "7")]);
        let x = rows(&case.x);
        let by_class = score(&fast, &x, &classes(&case.codes)).scores;
        assert_eq!(bits(&by_class), bits(&score(&fast, &x, &Labels::Numbers(numbers.clone())).scores));
        let pairs = Pairs::own(&case.x, &[], true, Norm::Manhattan, &case.codes);
        assert_near(&by_class, &pairs.rrelieff(&numbers, 7, 20.0), tolerance(&case.x), case.name);
    }
}

#[test]
fn irelief_has_the_scores_and_weights_of_the_reference() {
    for (case, categorical) in all_cases() {
        let pairs = Pairs::own(&case.x, categorical, false, Norm::Manhattan, &case.codes);
        let spread = naive::max_abs(&pairs.distances.iter().map(|d| positive(d)).collect());
        for width in [None, Some(spread), Some(spread / 20.0)] {
            let slow = pairs.irelief(width);
            let text = width.map(|w| format!("{w:?}"));
            let settings: Vec<(&str, &str)> = text.iter().map(|w| ("width", w.as_str())).collect();
            let fast = selector("irelief", &settings);
            // Every round starts from the last one's weights and adds its own rounding.
            let tolerance = tolerance_of(&case) * slow.rounds as f64;
            for x in both(&case.x) {
                let what = format!("{}, width {width:?}, {} rounds", case.name, slow.rounds);
                let found = score_categorical(&fast, &x, &classes(&case.codes), categorical);
                assert_near(&found.scores, &slow.scores, tolerance, &what);
                let weights = found.weights.expect("irelief has weights");
                assert_near(&weights, &slow.weights, tolerance, &what);
                assert!(slow.settled || !found.warnings.is_empty(), "{what}: it did not settle");
            }
        }
    }
}

/// Without what is infinite.
fn positive(distances: &[f64]) -> Vec<f64> {
    distances.iter().map(|d| if d.is_finite() { *d } else { 0.0 }).collect()
}

#[test]
fn irelief_survives_widths_at_which_the_kernel_underflows() {
    let case = case("two classes", naive::random_rows(40, 3, 70), 2);
    for width in ["1e-300", "1e-6", "1e300"] {
        let found = score(&selector("irelief", &[("width", width)]), &rows(&case.x), &classes(&case.codes));
        assert!(found.scores.iter().all(|v| v.is_finite()), "width {width}: {:?}", found.scores);
    }
    // At width 0 one hit and one miss are left, and only rows that are nearer to their hit count.
    let pairs = Pairs::own(&naive::columns(&case.x, &[0]), &[], false, Norm::Manhattan, &case.codes);
    let mut sum = 0.0;
    for i in 0..40 {
        let hit = pairs.distances[i][pairs.nearest(i, |o| case.codes[o] == case.codes[i], 1)[0]];
        let miss = pairs.distances[i][pairs.nearest(i, |o| case.codes[o] != case.codes[i], 1)[0]];
        sum += if hit < miss { miss - hit } else { 0.0 };
    }
    let narrow = selector("irelief", &[("width", "1e-12")]);
    let found = score(&narrow, &rows(&naive::columns(&case.x, &[0])), &classes(&case.codes));
    assert_near(&found.scores, &[sum / 40.0], 1e-9, "width 1e-12");
}

/// The names, whether the radius is a row's own, and whether far rows count.
const SURFS: [(&str, bool, bool); 4] = [
    ("surf", false, false),
    ("surf-star", false, true),
    ("multisurf", true, false),
    ("multisurf-star", true, true),
];

#[test]
fn the_surf_family_has_the_scores_of_the_reference() {
    for (case, categorical) in all_cases() {
        for metric in METRICS {
            let pairs = Pairs::own(&case.x, categorical, true, norm(metric, Norm::Manhattan), &case.codes);
            for (name, multi, star) in SURFS {
                let fast = selector(name, &with_metric(metric, &[]));
                for (numbers, labels) in
                    [(None, classes(&case.codes)), (Some(&case.y[..]), Labels::Numbers(case.y.clone()))]
                {
                    let slow = pairs.surf(multi, star, numbers);
                    for x in both(&case.x) {
                        let what = format!("{name}, {}, {metric:?}, {}", case.name, numbers.is_some());
                        let found = score_categorical(&fast, &x, &labels, categorical);
                        assert_near(&found.scores, &slow, tolerance_of_scaled(&case, &slow), &what);
                        assert!(found.pvalues.is_none(), "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_unit_of_numbers_changes_no_surf_score() {
    let case = case("random", naive::random_rows(40, 3, 77), 2);
    for (name, ..) in SURFS {
        let of = |unit: f64| {
            let numbers = case.y.iter().map(|v| v * unit).collect();
            score(&selector(name, &[]), &rows(&case.x), &Labels::Numbers(numbers)).scores
        };
        for unit in [1e-200, 1e200] {
            assert_near(&of(unit), &of(1.0), 1e-12, name);
        }
    }
}

/// Kernels, their distances, and the rows they compare.
fn spaces(x: &Matrix) -> Vec<(&'static str, Kernel, Matrix, Matrix)> {
    let mut spaces = Vec::new();
    for name in ["rbf", "laplacian", "matern32", "linear", "poly", "cosine"] {
        let distances = naive::kernel_distances(name, 0.3, 2, 1.0, x);
        spaces.push((name, kernel(name, 0.3), distances, x.clone()));
    }
    let k = naive::gram("matern52", 0.3, 2, 1.0, 1.0, x);
    let mut distances = naive::zeros(x.len(), x.len());
    for a in 0..x.len() {
        for b in 0..x.len() {
            distances[a][b] = (k[a][a] + k[b][b] - 2.0 * k[a][b]).max(0.0).sqrt();
        }
    }
    spaces.push(("precomputed", Kernel::precomputed(), distances, k));
    spaces
}

#[test]
fn in_a_kernels_space_neighbours_are_found_there_and_compared_in_the_columns() {
    // The columns that are scored are not those that neighbours are sought by.
    let sets = [
        case("three classes", naive::random_rows(60, 4, 71), 3),
        case("fewer rows than columns", naive::random_rows(12, 20, 72), 2),
        case("one column", naive::random_rows(35, 1, 73), 2),
    ];
    for case in sets {
        let other = naive::random_rows(case.x.len(), 3, 74);
        let z: Matrix = case.x.iter().zip(&other).map(|(a, b)| [a.clone(), b.clone()].concat()).collect();
        for (name, kernel, distances, space) in spaces(&case.x) {
            let pairs = |scaled: bool| Pairs {
                differences: naive::differences(&z, &[], scaled),
                distances: distances.clone(),
                codes: case.codes.clone(),
                queries: (0..z.len()).collect(),
            };
            for (z, space) in both(&z).iter().zip(&both(&space)) {
                let check = |which: &str, settings: &[(&str, &str)], labels: &Labels, slow: Vec<f64>| {
                    let found = score_in_space(&selector(which, settings), z, labels, kernel, space);
                    assert_near(&found.scores, &slow, 1e-9, &format!("{which}, {name}, {}", case.name));
                    found
                };
                let labels = classes(&case.codes);
                for (k, text) in [(1, "1"), (5, "5")] {
                    let k_is = [("n_neighbors", text)];
                    check("relief", &k_is, &labels, pairs(false).relief(k, 1).scores);
                    let found = check("relieff", &k_is, &labels, pairs(true).relieff(k));
                    let pvalues = found.pvalues.expect("p-values");
                    assert_each_near(&pvalues, &pairs(true).stir_pvalues(k), 1e-8, name);
                    let numbers = Labels::Numbers(case.y.clone());
                    check("rrelieff", &k_is, &numbers, pairs(true).rrelieff(&case.y, k, 20.0));
                }
                let numbers = Labels::Numbers(case.y.clone());
                for (which, multi, star) in SURFS {
                    check(which, &[], &labels, pairs(true).surf(multi, star, None));
                    check(which, &[], &numbers, pairs(true).surf(multi, star, Some(&case.y)));
                }
            }
        }
    }
}

#[test]
fn in_a_kernels_space_columns_may_be_categorical_and_values_missing() {
    let case = case_with_categories_and_missing_values();
    let space = naive::random_rows(case.x.len(), 3, 75);
    let pairs = |scaled: bool| Pairs {
        differences: naive::differences(&case.x, &CATEGORICAL, scaled),
        distances: naive::kernel_distances("rbf", 0.5, 2, 1.0, &space),
        codes: case.codes.clone(),
        queries: (0..case.x.len()).collect(),
    };
    let (x, space, monitor) = (rows(&case.x), rows(&space), Monitor::default());
    let check = |name: &str, labels: &Labels, slow: &[f64]| {
        let columns = Columns {
            space: Some((Kernel::rbf(0.5), &space)),
            categorical: &CATEGORICAL,
            ..Columns::new(&x, labels, &monitor)
        };
        let found = selector(name, &[]).score(&columns).expect("scores");
        assert_near(&found.scores, slow, 1e-9, name);
    };
    check("relief", &classes(&case.codes), &pairs(false).relief(1, 1).scores);
    check("relieff", &classes(&case.codes), &pairs(true).relieff(10));
    check("rrelieff", &Labels::Numbers(case.y.clone()), &pairs(true).rrelieff(&case.y, 70, 20.0));
    for (name, multi, star) in SURFS {
        check(name, &classes(&case.codes), &pairs(true).surf(multi, star, None));
    }
}

#[test]
fn equal_rows_elsewhere_are_neighbours_in_every_kernels_space() {
    // Copies of a row differ from a third alike, so it does not matter which of them rounding puts first.
    let sets = naive::nasty_sets();
    let (name, x) = sets.iter().find(|(name, _)| *name == "duplicate rows").expect("there");
    let case = case(name, x.clone(), 3);
    for (name, kernel, distances, space) in spaces(&case.x) {
        let pairs = Pairs {
            differences: naive::differences(&case.x, &[], false),
            distances,
            codes: case.codes.clone(),
            queries: (0..case.x.len()).collect(),
        };
        let fast = selector("relief", &[("n_neighbors", "2")]);
        let found = score_in_space(&fast, &rows(&case.x), &classes(&case.codes), kernel, &rows(&space));
        assert_near(&found.scores, &pairs.relief(2, 1).scores, 1e-9, name);
    }
}

#[test]
fn ties_go_to_the_lower_index_in_every_space() {
    // A grid whose differences, ranges and distances are exact: most distances are tied.
    let x: Matrix = (0..81).map(|i| vec![f64::from(i % 9), f64::from(i / 9)]).collect();
    let z: Matrix = (0..81).map(|i| vec![f64::from(i * 37 % 65), f64::from(i * 11 % 9), x[0][0]]).collect();
    let codes: Vec<usize> = (0..81).map(|i| (i / 2 + i / 9) % 3).collect();
    let y: Vec<f64> = (0..81).map(|i| f64::from(i * 29 % 65)).collect();
    let (labels, numbers) = (classes(&codes), Labels::Numbers(y.clone()));
    let three = [("n_neighbors", "3")];
    for metric in METRICS {
        let euclidean = Pairs::own(&x, &[], false, norm(metric, Norm::Euclidean), &codes);
        let found = score(&selector("relief", &with_metric(metric, &three)), &rows(&x), &labels);
        assert_near(&found.scores, &euclidean.relief(3, 1).scores, 1e-12, "relief");
        let pairs = Pairs::own(&x, &[], true, norm(metric, Norm::Manhattan), &codes);
        let found = score(&selector("relieff", &with_metric(metric, &three)), &rows(&x), &labels);
        assert_near(&found.scores, &pairs.relieff(3), 1e-12, "relieff");
        let found = score(&selector("rrelieff", &with_metric(metric, &three)), &rows(&x), &numbers);
        assert_near(&found.scores, &pairs.rrelieff(&y, 3, 20.0), 1e-12, "rrelieff");
    }
    for name in ["rbf", "laplacian", "linear"] {
        let pairs = |scaled: bool| Pairs {
            differences: naive::differences(&z, &[], scaled),
            distances: naive::kernel_distances(name, 0.5, 2, 1.0, &x),
            codes: codes.clone(),
            queries: (0..81).collect(),
        };
        let found = |which: &str, labels: &Labels| {
            score_in_space(&selector(which, &three), &rows(&z), labels, kernel(name, 0.5), &rows(&x)).scores
        };
        assert_near(&found("relief", &labels), &pairs(false).relief(3, 1).scores, 1e-12, name);
        assert_near(&found("relieff", &labels), &pairs(true).relieff(3), 1e-12, name);
        assert_near(&found("rrelieff", &numbers), &pairs(true).rrelieff(&y, 3, 20.0), 1e-12, name);
    }
}

#[test]
fn rows_at_the_radius_are_neither_near_nor_far() {
    // Four rows, each at distance 1 from all others.
    let x: Matrix = (0..4).map(|i| vec![f64::from(i)]).collect();
    for (name, ..) in SURFS {
        let found = score_categorical(&selector(name, &[]), &rows(&x), &classes(&[0, 0, 1, 1]), &[0]);
        assert_eq!(found.scores, [0.0], "{name}");
    }
}

#[test]
fn a_sample_of_queries_is_a_set_of_rows_whose_contributions_are_averaged() {
    let case = case("two classes", naive::random_rows(9, 2, 76), 2);
    let (labels, numbers) = (classes(&case.codes), Labels::Numbers(case.y.clone()));
    // Which rows are drawn is the library's own affair: one of the 84 sets must give its scores.
    let subsets: Vec<Vec<usize>> =
        (0..9).flat_map(|a| (a + 1..9).flat_map(move |b| (b + 1..9).map(move |c| vec![a, b, c]))).collect();
    for name in ["relief", "relieff", "rrelieff", "irelief", "surf-star", "multisurf"] {
        for seed in ["0", "1", "2"] {
            let fast = selector(name, &[("n_queries", "3"), ("seed", seed)]);
            let scaled = name != "relief" && name != "irelief";
            let default = if name == "relief" { Norm::Euclidean } else { Norm::Manhattan };
            let labels = if name == "rrelieff" { &numbers } else { &labels };
            let found = score(&fast, &rows(&case.x), labels).scores;
            let gives_it = |queries: &Vec<usize>| {
                let mut pairs = Pairs::own(&case.x, &[], scaled, default, &case.codes);
                pairs.queries.clone_from(queries);
                let slow = match name {
                    "relief" => pairs.relief(1, 1).scores,
                    "relieff" => pairs.relieff(10),
                    "rrelieff" => pairs.rrelieff(&case.y, 70, 20.0),
                    "irelief" => pairs.irelief(None).scores,
                    "surf-star" => pairs.surf(false, true, None),
                    _ => pairs.multisurf(),
                };
                found.iter().zip(&slow).all(|(a, b)| (a - b).abs() < 1e-9)
            };
            assert!(subsets.iter().any(gives_it), "{name}, seed {seed}: {found:?} is of no three rows");
        }
    }
}

#[test]
fn as_many_queries_as_rows_are_all_of_them_and_seeds_choose_fewer() {
    let case = case("three classes", naive::random_rows(60, 4, 77), 3);
    let x = rows(&case.x);
    for name in ["relief", "relieff", "rrelieff", "irelief", "surf", "multisurf"] {
        let run = |settings: &[(&str, &str)]| score(&selector(name, settings), &x, &classes(&case.codes));
        let all = run(&[]);
        for queries in ["60", "61", "100000"] {
            let found = run(&[("n_queries", queries), ("seed", "5")]);
            assert_eq!(bits(&found.scores), bits(&all.scores), "{name}, {queries} queries");
        }
        let some = run(&[("n_queries", "20"), ("seed", "1")]);
        assert_eq!(some, run(&[("n_queries", "20"), ("seed", "1")]), "{name}: one seed, one result");
        let other = run(&[("n_queries", "20"), ("seed", "2")]);
        assert_ne!(some.scores, other.scores, "{name}: another seed, another sample");
        assert_ne!(some.scores, all.scores, "{name}");
    }
}

#[test]
fn classes_of_one_row_are_announced_once() {
    let mut case = case("two classes", naive::random_rows(30, 3, 78), 2);
    for name in ["relief", "relieff", "multisurf"] {
        let found = score(&selector(name, &[]), &rows(&case.x), &classes(&case.codes));
        assert!(found.warnings.is_empty(), "{name}: {:?}", found.warnings);
    }
    case.codes[4] = 2;
    case.codes[5] = 3;
    for name in ["relief", "relieff", "multisurf"] {
        let found = score(&selector(name, &[]), &rows(&case.x), &classes(&case.codes));
        assert_eq!(found.warnings.len(), 1, "{name}: {:?}", found.warnings);
    }
    let found = score(&selector("irelief", &[]), &rows(&case.x), &classes(&case.codes));
    assert!(!found.warnings.is_empty());
}

#[test]
fn a_class_without_rows_changes_nothing() {
    let case = case("two classes", naive::random_rows(40, 3, 79), 2);
    let names = vec!["0".to_string(), "1".to_string(), "2".to_string()];
    let three = Labels::Classes { codes: case.codes.clone(), names };
    for name in ["relief", "relieff", "irelief", "multisurf", "f", "mi"] {
        let x = rows(&case.x);
        // The F-test's sums have a place for the class.
        let found = |labels: &Labels| Scores { sums: None, ..score(&selector(name, &[]), &x, labels) };
        assert_eq!(found(&three), found(&classes(&case.codes)), "{name}");
    }
}

#[test]
fn a_row_or_a_column_with_nothing_in_it_does_no_harm() {
    let mut case = case("three classes", naive::random_rows(40, 4, 80), 3);
    case.x[7] = vec![f64::NAN; 4];
    for row in &mut case.x {
        row[2] = f64::NAN;
    }
    let own = |scaled, norm| Pairs::own(&case.x, &[], scaled, norm, &case.codes);
    let (labels, numbers) = (classes(&case.codes), Labels::Numbers(case.y.clone()));
    let check = |name: &str, labels: &Labels, slow: &[f64]| {
        let found = score(&selector(name, &[("n_neighbors", "3")]), &rows(&case.x), labels);
        assert_near(&found.scores, slow, 1e-9, name);
        assert_eq!(found.scores[2], 0.0, "{name}: a column with nothing in it");
    };
    check("relief", &labels, &own(false, Norm::Euclidean).relief(3, 1).scores);
    check("relieff", &labels, &own(true, Norm::Manhattan).relieff(3));
    check("rrelieff", &numbers, &own(true, Norm::Manhattan).rrelieff(&case.y, 3, 20.0));
    let found = score(&selector("multisurf", &[]), &rows(&case.x), &labels);
    assert_near(&found.scores, &own(true, Norm::Manhattan).multisurf(), 1e-9, "multisurf");
    let found = score(&selector("irelief", &[]), &rows(&case.x), &labels);
    assert!(found.scores.iter().all(|v| v.is_finite()), "{:?}", found.scores);
}

#[test]
fn the_other_selectors_take_no_notice_of_a_kernels_space() {
    let case = case("two classes", naive::random_rows(40, 3, 81), 2);
    let (x, labels) = (rows(&case.x), classes(&case.codes));
    let space = rows(&naive::random_rows(40, 2, 82));
    for name in ["irelief", "kffs", "f", "mi", "laplacian", "lasso"] {
        let found = score_in_space(&selector(name, &[]), &x, &labels, Kernel::rbf(1.0), &space);
        assert_eq!(found, score(&selector(name, &[]), &x, &labels), "{name}");
    }
}
