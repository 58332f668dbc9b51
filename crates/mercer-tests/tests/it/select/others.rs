//! kffs, F-test, mutual information, Laplacian score and lasso against the references.

use mercer::data::{Labels, Weights};
use mercer::select::{Columns, Kffs, Scores, Selector};
use mercer::{Monitor, Rows};

use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix};
use crate::select::{
    Case, assert_each_near, assert_near, bits, both, case, cases, classes, score, selector, tolerance,
    try_score,
};

#[test]
fn kffs_takes_the_columns_of_the_reference_in_its_order() {
    for case in cases() {
        for (reweight, theta) in [(false, 1), (true, 1), (false, 2), (true, 3), (false, 1_000_000)] {
            let slow = naive::kffs(&case.x, &case.codes, reweight, theta);
            for x in both(&case.x) {
                let what = format!("{}, reweight {reweight}, theta {theta}", case.name);
                let found = score(&Selector::from(Kffs { reweight, theta }), &x, &classes(&case.codes));
                assert_eq!(found.order.as_ref(), Some(&slow.order), "{what}");
                assert_near(&found.scores, &slow.weights, 1e-9, &what);
                assert_near(&found.error_path, &slow.error_path, 1e-15, &what);
            }
        }
    }
}

#[test]
fn kffs_agrees_with_the_reference_where_ensembles_errors_and_fits_are_tied() {
    for seed in 0..40 {
        let mut state = 100 + seed;
        let mut whole = |below: f64| (naive::random_uniform(&mut state) * below).floor();
        let (n, p, c) = (8 + seed as usize % 9, 12, 2 + seed as usize % 3);
        // With few rows ensembles tie, and so do their errors; with few values lines also tie in their rows.
        let few_values: Matrix = (0..n).map(|_| (0..p).map(|_| whole(4.0)).collect()).collect();
        let codes: Vec<usize> = (0..n).map(|i| if i < c { i } else { whole(c as f64) as usize }).collect();
        for x in [few_values, naive::random_rows(n, p, 200 + seed)] {
            for (reweight, theta) in [(false, 1), (true, 1), (false, 2), (true, 3), (false, 5)] {
                let slow = naive::kffs(&x, &codes, reweight, theta);
                let found = score(&Selector::from(Kffs { reweight, theta }), &rows(&x), &classes(&codes));
                let what = format!("seed {seed}, {c} classes, reweight {reweight}, theta {theta}");
                assert_eq!(found.order, Some(slow.order), "{what}");
                assert_near(&found.scores, &slow.weights, 1e-9, &what);
                assert_near(&found.error_path, &slow.error_path, 1e-15, &what);
            }
        }
    }
}

#[test]
fn kffs_lets_a_constant_column_vote_for_the_mean_whatever_its_value() {
    // The mean of thirty 0.1s is not 0.1: least squares on what is left would be noise.
    let case = case("two classes", naive::random_rows(30, 2, 90), 2);
    let x: Matrix = case.x.iter().map(|row| vec![0.1, row[0], 1e-9]).collect();
    for codes in
        [case.codes, (0..30).map(|i| usize::from(i % 3 == 0) * 2 + usize::from(i % 5 == 0)).collect()]
    {
        let slow = naive::kffs(&x, &codes, false, 1);
        let found = score(&selector("kffs", &[]), &rows(&x), &classes(&codes));
        assert_eq!(found.order, Some(slow.order));
        assert_near(&found.error_path, &slow.error_path, 1e-15, "constant columns");
    }
}

#[test]
fn kffs_ranks_columns_by_the_round_that_took_them() {
    let case = case("three classes", naive::random_rows(40, 9, 91), 3);
    let found = score(&selector("kffs", &[]), &rows(&case.x), &classes(&case.codes));
    let order = found.order.clone().expect("an order");
    for q in 1..=9 {
        let kept = found.keep(mercer::select::Keep::Count(q));
        assert!(order.iter().enumerate().all(|(at, &j)| kept.ranking[j] == at + 1));
        let mut first = order[..q].to_vec();
        first.sort_unstable();
        assert_eq!(kept.columns, first);
    }
}

#[test]
fn kffs_gives_weights_with_many_classes() {
    // Twelve classes in a ring: every column is right about two of them at most.
    let angle = |class: usize| class as f64 * std::f64::consts::TAU / 12.0;
    let codes: Vec<usize> = (0..240).map(|i| i % 12).collect();
    let noise = naive::random_rows(240, 2, 5);
    let near =
        |i: usize| (angle(codes[i]).cos() + 0.05 * noise[i][0], angle(codes[i]).sin() + 0.05 * noise[i][1]);
    let x: Matrix = (0..240).map(|i| vec![near(i).0, near(i).1, near(i).0 * near(i).1]).collect();
    let found = score(&selector("kffs", &[]), &rows(&x), &classes(&codes));
    assert!(found.error_path.iter().all(|e| *e > 0.5), "{:?}", found.error_path);
    assert!(found.scores.iter().all(|w| *w > 0.0), "{:?}", found.scores);
}

fn assert_f(found: &Scores, (f, p): (Vec<f64>, Vec<f64>), tolerance: f64, what: &str) {
    assert_near(&found.scores, &f, tolerance, what);
    // d ln p/d ln F is at most about half of what F and its degrees of freedom allow; 100 covers these sets.
    assert_each_near(found.pvalues.as_ref().expect("p-values"), &p, 100.0 * tolerance, what);
}

#[test]
fn the_f_test_has_the_scores_and_pvalues_of_the_reference() {
    for case in cases() {
        for x in both(&case.x) {
            let found = score(&selector("f", &[]), &x, &classes(&case.codes));
            assert_f(&found, naive::anova(&case.x, &case.codes), tolerance(&case.x), case.name);
            assert!(found.chosen.is_none());
            let found = score(&selector("f", &[]), &x, &Labels::Numbers(case.y.clone()));
            assert_f(&found, naive::correlation_f(&case.x, &case.y), tolerance(&case.x), case.name);
        }
    }
}

#[test]
fn the_f_test_does_not_mind_offsets() {
    let case = case("three classes", naive::random_rows(50, 3, 92), 3);
    let before = score(&selector("f", &[]), &rows(&case.x), &classes(&case.codes));
    // Whole numbers of 2⁻²⁰ survive the shift to 2³⁰ unrounded, so that the scores must survive it too.
    let grain = 2f64.powi(20);
    let x: Matrix = case.x.iter().map(|r| r.iter().map(|v| (v * grain).round() / grain).collect()).collect();
    let shifted: Matrix = x.iter().map(|r| r.iter().map(|v| v + 2f64.powi(30)).collect()).collect();
    let plain = score(&selector("f", &[]), &rows(&x), &classes(&case.codes));
    let after = score(&selector("f", &[]), &rows(&shifted), &classes(&case.codes));
    assert_near(&plain.scores, &before.scores, 1e-4, "rounded to the grain");
    assert_near(&after.scores, &plain.scores, 1e-6, "shifted");
}

#[test]
fn the_f_test_knows_constant_and_perfect_columns() {
    let codes = [0, 0, 0, 0, 1, 1, 1, 1];
    let x: Matrix = codes.iter().enumerate().map(|(i, c)| vec![0.1, *c as f64, i as f64 % 3.0]).collect();
    for x in both(&x) {
        let found = score(&selector("f", &[]), &x, &classes(&codes));
        assert_eq!(found.scores[..2], [0.0, f64::MAX]);
        assert_eq!(found.pvalues.expect("p-values")[..2], [1.0, 0.0]);
    }
    let x: Matrix = (0..8).map(|i| vec![0.1, f64::from(i), f64::from(i * i % 5)]).collect();
    let y = Labels::Numbers((0..8).map(|i| 2.0 * f64::from(i) - 1.0).collect());
    let found = score(&selector("f", &[]), &rows(&x), &y);
    assert_eq!(found.scores[..2], [0.0, f64::MAX]);
    assert_eq!(found.pvalues.expect("p-values")[..2], [1.0, 0.0]);
}

#[test]
fn the_f_test_refuses_when_no_row_is_left_to_measure_noise_by() {
    let x = rows(&naive::random_rows(3, 2, 93));
    let text = try_score(&selector("f", &[]), &x, &classes(&[0, 1, 2])).expect_err("n = c").to_string();
    assert!(text.contains('3'), "says how many: {text}");
    let two = rows(&naive::random_rows(2, 2, 93));
    let numbers = Labels::Numbers(vec![1.0, 2.5]);
    assert!(try_score(&selector("f", &[]), &two, &numbers).is_err(), "n = 2");
}

type Choice = fn(&[f64], f64) -> Vec<bool>;

#[test]
fn fpr_fdr_and_fwe_choose_what_the_reference_chooses() {
    // 40 columns, of which a few go with the classes.
    let codes: Vec<usize> = (0..60).map(|i| i % 3).collect();
    let mut x = naive::random_rows(60, 40, 94);
    for (row, code) in x.iter_mut().zip(&codes) {
        for (j, v) in row.iter_mut().enumerate().take(8) {
            *v += *code as f64 * 0.1 * (j + 1) as f64;
        }
    }
    let (f, p) = naive::anova(&x, &codes);
    let ways: [(&str, Choice); 3] =
        [("fpr", naive::chosen_fpr), ("fdr", naive::chosen_fdr), ("fwe", naive::chosen_fwe)];
    let mut numbers = Vec::new();
    for (name, choose) in ways {
        for level in ["0.01", "0.05", "0.3", "0.000000000000001"] {
            let found = score(&selector(name, &[("level", level)]), &rows(&x), &classes(&codes));
            let expected = choose(&p, level.parse().expect("a level"));
            assert_near(&found.scores, &f, 1e-9, name);
            assert_eq!(found.chosen.as_ref(), Some(&expected), "{name} at {level}");
            numbers.push(expected.iter().filter(|c| **c).count());
            let kept = found.keep(mercer::select::Keep::All).columns;
            assert_eq!(kept, (0..40).filter(|&j| expected[j]).collect::<Vec<_>>());
        }
    }
    assert!(numbers.contains(&0) && numbers.iter().any(|n| *n > 3), "{numbers:?}");
}

/// Without tied values, or distances that are tied in exact arithmetic.
fn untied(case: &Case) -> bool {
    !["duplicate rows", "a constant column", "mostly zeros"].contains(&case.name)
}

#[test]
fn mutual_information_is_that_of_the_reference() {
    for case in cases().into_iter().filter(untied) {
        for (k, text) in [(1, "1"), (3, "3"), (6, "6")] {
            let fast = selector("mi", &[("n_neighbors", text)]);
            for x in both(&case.x) {
                let what = format!("{}, k = {k}", case.name);
                let found = score(&fast, &x, &classes(&case.codes));
                let slow = naive::mutual_information_of_classes(&case.x, &case.codes, k);
                assert_near(&found.scores, &slow, 1e-9, &what);
                let found = score(&fast, &x, &Labels::Numbers(case.y.clone()));
                let slow = naive::mutual_information_of_numbers(&case.x, &case.y, k);
                assert_near(&found.scores, &slow, 1e-9, &what);
            }
        }
    }
}

#[test]
fn mutual_information_of_tied_values_is_sane() {
    let mut state = 95;
    let codes: Vec<usize> = (0..300).map(|i| i % 2).collect();
    let x: Matrix = codes
        .iter()
        .map(|c| {
            let noise = (naive::random_uniform(&mut state) * 4.0).floor();
            vec![*c as f64, noise, 0.7, *c as f64 * 4.0 + noise]
        })
        .collect();
    let found = score(&selector("mi", &[]), &rows(&x), &classes(&codes)).scores;
    let two = 2.0f64.ln();
    assert!((found[0] - two).abs() < 0.05, "the classes themselves: {}", found[0]);
    assert!(found[1] < 0.1, "noise: {}", found[1]);
    assert_eq!(found[2], 0.0, "a constant");
    assert!((found[3] - two).abs() < 0.05, "told apart by size: {}", found[3]);
    let again = score(&selector("mi", &[]), &sparse(&x), &classes(&codes)).scores;
    assert_eq!(bits(&found), bits(&again), "the noise that parts the tied is always the same");
    let y = Labels::Numbers(x.iter().map(|row| row[3]).collect());
    let found = score(&selector("mi", &[]), &rows(&x), &y).scores;
    assert!(found.iter().all(|v| v.is_finite() && *v >= 0.0), "{found:?}");
    assert!(found[3] > found[0] && found[0] > found[2], "{found:?}");
}

#[test]
fn mutual_information_of_categories_is_that_of_the_reference() {
    let mut state = 97;
    let mut whole = |below: f64| (naive::random_uniform(&mut state) * below).floor();
    let n = 90;
    let codes: Vec<usize> = (0..n).map(|_| whole(3.0) as usize).collect();
    // The classes under other names, chance, minus zero and zero, a constant, and names that all differ.
    let x: Matrix = (0..n)
        .map(|i| vec![-7.5 * codes[i] as f64, whole(4.0), -0.0 * (i % 2) as f64, 1.0, i as f64])
        .collect();
    let y: Vec<f64> = (0..n).map(|i| codes[i] as f64 + naive::random_uniform(&mut state)).collect();
    let of_y: Matrix = y.iter().map(|v| vec![*v]).collect();
    let monitor = Monitor::default();
    for given in both(&x) {
        let found = |labels: &Labels, weights: Option<&Weights>| {
            let columns =
                Columns { categorical: &[0, 1, 2, 3, 4], weights, ..Columns::new(&given, labels, &monitor) };
            selector("mi", &[]).score(&columns).expect("scores").scores
        };
        let labels = classes(&codes);
        let expected: Vec<f64> = (0..2).map(|j| naive::mutual_information_of_codes(&x, j, &codes)).collect();
        let of_classes = found(&labels, None);
        assert_near(&of_classes[..2], &expected, 1e-14, "classes");
        assert_eq!(of_classes[2..], [0.0; 3]);
        let of_numbers = found(&Labels::Numbers(y.clone()), None);
        for j in 0..2 {
            let column: Vec<usize> = x.iter().map(|row| (row[j] + 20.0) as usize).collect();
            let expected = naive::mutual_information_of_classes(&of_y, &column, 3);
            assert_near(&of_numbers[j..=j], &expected, 1e-9, "numbers");
        }
        assert_eq!(of_numbers[2..], [0.0; 3]);
        // A weight of two is a row twice, for classes to the last digits.
        let weights = Weights::new((0..n).map(|i| (i % 3) as f64).collect()).expect("weights");
        let repeated: Vec<usize> = (0..n).flat_map(|i| vec![i; i % 3]).collect();
        let (twice, labels_twice) = (given.select(&repeated), labels.select(&repeated));
        let columns = Columns { categorical: &[0, 1], ..Columns::new(&twice, &labels_twice, &monitor) };
        let by_copies = selector("mi", &[]).score(&columns).expect("scores").scores;
        assert_near(&found(&labels, Some(&weights))[..2], &by_copies[..2], 1e-14, "weights");
        let several = Labels::Several { values: y.iter().flat_map(|v| [*v, 1.0]).collect(), count: 2 };
        let half: Vec<f64> = of_numbers.iter().map(|v| v / 2.0).collect();
        assert_near(&found(&several, None), &half, 1e-15, "the mean over targets, one of which is constant");
    }
}

#[test]
fn mutual_information_with_classes_of_one_row_each_is_refused() {
    let (x, labels, monitor) =
        (rows(&naive::random_rows(4, 2, 96)), classes(&[0, 1, 2, 3]), Monitor::default());
    let refused = selector("mi", &[]).score(&Columns::new(&x, &labels, &monitor)).expect_err("refused");
    assert!(refused.to_string().contains("every class has one row"), "{refused}");
}

#[test]
fn the_laplacian_score_is_that_of_full_matrices() {
    let monitor = Monitor::default();
    for case in cases() {
        for (k, text) in [(1, "1"), (5, "5"), (100, "100")] {
            let slow = naive::laplacian_score(&case.x, k);
            for x in both(&case.x) {
                let what = format!("{}, k = {k}", case.name);
                let columns = Columns {
                    rows: &x,
                    labels: None,
                    space: None,
                    categorical: &[],
                    weights: None,
                    monitor: &monitor,
                };
                let found = selector("laplacian", &[("n_neighbors", text)]).score(&columns).expect("scores");
                assert_near(&found.scores, &slow, tolerance(&case.x), &what);
            }
        }
    }
}

#[test]
fn the_laplacian_score_knows_constant_columns_and_equal_rows() {
    let x: Matrix = naive::random_rows(30, 2, 97).iter().map(|r| vec![r[0], 0.1, r[1]]).collect();
    let laplacian = selector("laplacian", &[]);
    let labels = classes(&[0, 1].repeat(15));
    let found = score(&laplacian, &rows(&x), &labels).scores;
    assert_eq!(found[1], -2.0);
    assert!(found[0] > -2.0 && found[0] <= 0.0);
    // Every neighbour is a copy: t = 0, and nothing varies along an edge.
    let copies: Matrix = (0..4).flat_map(|i| vec![vec![f64::from(i), 3.0]; 6]).collect();
    let found = score(&laplacian, &rows(&copies), &classes(&[0, 1].repeat(12))).scores;
    assert_eq!(found[1], -2.0);
    assert!(found[0].abs() < 1e-12, "{found:?}");
}

/// The scores at a penalty: ‖B_j‖₂ of every column.
fn norms(b: &Matrix) -> Vec<f64> {
    b.iter().map(|row| naive::dot(row, row).sqrt()).collect()
}

fn column(values: &[f64]) -> Matrix {
    values.iter().map(|v| vec![*v]).collect()
}

/// That the scores are those of the optimum at the penalty, and the penalty one of the path.
fn assert_lasso(found: &Scores, x: &Matrix, y: &Matrix, what: &str) {
    let penalty = found.penalty.expect("a penalty");
    let largest = naive::lasso_largest_penalty(x, y);
    let on_path = |p: &f64| (p - penalty).abs() <= 1e-9 * p;
    assert!(naive::lasso_path(largest).iter().any(on_path), "{what}: {penalty} of {largest}");
    let b = naive::lasso(x, y, penalty, &naive::zeros(x[0].len(), y[0].len()));
    let gap = naive::lasso_optimality_gap(x, y, penalty, &b);
    assert!(gap < 1e-7, "{what}: the reference has not converged: {gap:e}");
    // What is fast stops at a tolerance of its own, well below what a choice of columns can depend on. At the largest
    // penalty all are 0, up to rounding of what a coefficient can be.
    let slow = norms(&b);
    let widest =
        naive::transpose(&naive::center_columns(x)).iter().map(|c| naive::dot(c, c)).fold(0.0, f64::max);
    let unit = largest / (widest / x.len() as f64);
    let size = slow.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    assert_near(&found.scores, &slow, (1e-9 * unit / size).max(1e-6), what);
    let chosen: Vec<bool> = found.scores.iter().map(|s| *s > 0.0).collect();
    assert_eq!(found.chosen.as_ref(), Some(&chosen), "{what}");
    // The found norms with the reference's directions leave no more of the gradient than that.
    let scaled: Matrix = b
        .iter()
        .zip(&found.scores)
        .map(|(row, score)| {
            let norm = naive::dot(row, row).sqrt();
            row.iter().map(|v| if norm > 0.0 { v / norm * score } else { 0.0 }).collect()
        })
        .collect();
    let gap = naive::lasso_optimality_gap(x, y, penalty, &scaled);
    assert!(gap * penalty < 1e-5 * largest, "{what}: {gap:e}");
}

#[test]
fn the_lasso_is_optimal_at_its_penalty() {
    for case in cases() {
        let targets = naive::class_targets(&case.codes);
        for x in both(&case.x) {
            let found = score(&selector("lasso", &[]), &x, &classes(&case.codes));
            assert_lasso(&found, &case.x, &targets, &format!("{}, classes", case.name));
            let found = score(&selector("lasso", &[]), &x, &Labels::Numbers(case.y.clone()));
            assert_lasso(&found, &case.x, &column(&case.y), &format!("{}, numbers", case.name));
        }
    }
}

#[test]
fn the_lasso_finds_the_penalty_of_leaving_each_row_out() {
    // With as many folds as rows no shuffle matters.
    for (n, p, seed) in [(24, 4, 98), (16, 20, 99)] {
        let x = naive::random_rows(n, p, seed);
        let mut state = seed;
        let y: Vec<f64> =
            x.iter().map(|r| r[0] - 0.5 * r[1] + 0.7 * naive::random_normal(&mut state)).collect();
        let path = naive::lasso_path(naive::lasso_largest_penalty(&x, &column(&y)));
        let errors = naive::lasso_leave_one_out(&x, &column(&y), &path);
        let folds = n.to_string();
        let found = score(&selector("lasso", &[("cv", &folds)]), &rows(&x), &Labels::Numbers(y));
        let penalty = found.penalty.expect("a penalty");
        let at = (0..100).min_by(|&a, &b| (path[a] - penalty).abs().total_cmp(&(path[b] - penalty).abs()));
        let least = errors.iter().copied().fold(f64::MAX, f64::min);
        let error = errors[at.expect("a path")];
        // Neighbours on a flat minimum differ by less than the solvers' tolerances.
        assert!(error <= least * (1.0 + 1e-6), "n = {n}: {error} at {penalty}, least {least}");
    }
}

#[test]
fn the_lasso_keeps_what_matters_and_drops_most_of_the_rest() {
    let x = naive::random_rows(120, 15, 101);
    let mut state = 102;
    let y: Vec<f64> =
        x.iter().map(|r| 3.0 * r[2] - 2.0 * r[7] + 0.5 * naive::random_normal(&mut state)).collect();
    let found = score(&selector("lasso", &[]), &rows(&x), &Labels::Numbers(y.clone()));
    let chosen = found.chosen.expect("chosen");
    assert!(chosen[2] && chosen[7]);
    assert!((found.scores[2] - 3.0).abs() < 0.3 && (found.scores[7] - 2.0).abs() < 0.3, "{:?}", found.scores);
    let found = score(&selector("lasso", &[("randomized", "true")]), &rows(&x), &Labels::Numbers(y));
    assert!(found.scores.iter().all(|s| (0.0..=1.0).contains(s)), "shares");
    assert_eq!((found.scores[2], found.scores[7]), (1.0, 1.0), "always chosen");
    let chosen: Vec<bool> = found.scores.iter().map(|s| *s >= 0.6).collect();
    assert_eq!(found.chosen, Some(chosen));
}

#[test]
fn the_lasso_takes_a_column_for_all_classes_or_for_none() {
    let case = case("five classes", naive::random_rows(90, 6, 103), 3);
    let found = score(&selector("lasso", &[]), &rows(&case.x), &classes(&case.codes));
    assert!(found.scores[0] > 0.0 && found.scores[5] > 0.0, "they made the classes: {:?}", found.scores);
}

#[test]
fn the_randomized_lasso_counts_resamples_and_follows_its_seed() {
    let case = case("numbers", naive::random_rows(60, 8, 104), 2);
    let labels = Labels::Numbers(case.y);
    let run = |settings: &[(&str, &str)]| {
        let all = [&[("randomized", "true"), ("n_resamples", "40")], settings].concat();
        score(&selector("lasso", &all), &rows(&case.x), &labels)
    };
    let found = run(&[("seed", "3")]);
    for share in &found.scores {
        let count = share * 40.0;
        assert!((count - count.round()).abs() < 1e-9, "{share} is no share of 40");
    }
    assert_eq!(found, run(&[("seed", "3")]), "one seed, one result");
    assert!((4..10).any(|seed| run(&[("seed", &seed.to_string())]).scores != found.scores), "others differ");
    let plain = score(&selector("lasso", &[("seed", "3")]), &rows(&case.x), &labels);
    assert_eq!(found.penalty, plain.penalty, "the penalty is the cross-validated one");
    let strict = run(&[("seed", "3"), ("stability", "1.0")]);
    assert_eq!(strict.chosen, Some(found.scores.iter().map(|s| *s >= 1.0).collect::<Vec<_>>()));
    assert!(found.scores[0] > 0.9, "what made the numbers is nearly always chosen: {:?}", found.scores);
}

#[test]
fn the_lasso_at_a_given_penalty_is_the_reference_there() {
    let case = case("numbers", naive::random_rows(60, 8, 106), 3);
    let numbers = (Labels::Numbers(case.y.clone()), column(&case.y));
    for (labels, y) in [numbers, (classes(&case.codes), naive::class_targets(&case.codes))] {
        let largest = naive::lasso_largest_penalty(&case.x, &y);
        for share in [0.5, 0.05] {
            let penalty = share * largest;
            let text = format!("{penalty:?}");
            let found = score(&selector("lasso", &[("penalty", &text)]), &rows(&case.x), &labels);
            assert_eq!(found.penalty, Some(penalty));
            let slow = norms(&naive::lasso(&case.x, &y, penalty, &naive::zeros(8, y[0].len())));
            assert_near(&found.scores, &slow, 1e-6, "given penalty");
            // All rows and columns as they are: every resample is that fit.
            let settings = [
                ("penalty", &*text),
                ("randomized", "true"),
                ("sample_fraction", "1"),
                ("scaling", "0"),
                ("n_resamples", "6"),
                ("stability", "1e-5"),
            ];
            let always = score(&selector("lasso", &settings), &rows(&case.x), &labels);
            let chosen: Vec<f64> = slow.iter().map(|v| f64::from(u8::from(*v > 1e-9))).collect();
            assert_eq!(always.scores, chosen);
        }
        let huge = score(&selector("lasso", &[("penalty", "1e6")]), &rows(&case.x), &labels);
        assert!(
            huge.scores.iter().all(|s| *s == 0.0)
                && huge.warnings[0].contains("penalty = 1000000, but from ")
        );
    }
}

#[test]
fn the_randomized_lasso_has_the_settings_of_the_thesis() {
    let case = case("numbers", naive::random_rows(60, 8, 104), 2);
    let labels = Labels::Numbers(case.y.clone());
    let thesis =
        [("randomized", "true"), ("n_resamples", "6"), ("stability", "1e-5"), ("n_penalties", "1000")];
    let run = |more: &[(&str, &str)]| {
        score(&selector("lasso", &[&thesis[..], more].concat()), &rows(&case.x), &labels)
    };
    let found = run(&[]);
    // A thousand penalties from the largest down to a thousandth of it, and six resamples; once chosen is enough.
    let largest = naive::lasso_largest_penalty(&case.x, &column(&case.y));
    let penalty = found.penalty.expect("a penalty");
    let step = -(penalty / largest).log(1_000.0) * 999.0;
    assert!((step - step.round()).abs() < 1e-6 && (0.0..1_000.0).contains(&step), "{step}");
    assert!(found.scores.iter().all(|share| (share * 6.0 - (share * 6.0).round()).abs() < 1e-9));
    assert_eq!(found.chosen, Some(found.scores.iter().map(|share| *share > 0.0).collect::<Vec<_>>()));
    // More rows and no scales: what is chosen there is chosen more often on average.
    let sum = |found: &Scores| found.scores.iter().sum::<f64>();
    let many = [("n_resamples", "200")];
    let all = |fraction: &str, scaling: &str| {
        let settings = [("randomized", "true"), many[0], ("sample_fraction", fraction), ("scaling", scaling)];
        score(&selector("lasso", &settings), &rows(&case.x), &labels)
    };
    let (usual, default) = (
        all("0.5", "0.5"),
        score(&selector("lasso", &[("randomized", "true"), many[0]]), &rows(&case.x), &labels),
    );
    assert_eq!(usual, default, "the defaults");
    assert_ne!(all("0.75", "0.5").scores, usual.scores);
    assert!(sum(&all("0.5", "0.9")) < sum(&all("0.5", "0")), "shrunk columns are chosen less often");
}

#[test]
fn the_lasso_does_not_mind_a_target_or_columns_without_signal() {
    let mut x = naive::random_rows(30, 3, 105);
    for row in &mut x {
        row[1] = 0.1;
    }
    let y = Labels::Numbers(naive::random_rows(30, 1, 106).concat());
    let found = score(&selector("lasso", &[]), &rows(&x), &y);
    assert_eq!(found.scores[1], 0.0, "a constant column");
    let constant = Rows::dense(vec![2.0; 60], 30, 2).expect("rows");
    let found = score(&selector("lasso", &[]), &constant, &y);
    assert_eq!(found.scores, [0.0, 0.0]);
    assert_eq!(found.chosen, Some(vec![false, false]));
}

#[test]
fn the_unit_of_all_columns_changes_no_laplacian_score() {
    let x = naive::random_rows(40, 3, 98);
    let labels = classes(&[0, 1].repeat(20));
    let found = |power: i32| {
        let scaled: Matrix = x.iter().map(|row| row.iter().map(|v| v * 2f64.powi(power)).collect()).collect();
        score(&selector("laplacian", &[]), &rows(&scaled), &labels).scores
    };
    let usual = found(0);
    for power in [-1000, -520, -300, 300, 520, 1000] {
        assert_near(&found(power), &usual, 1e-12, &format!("rows of 2^{power}"));
    }
}
