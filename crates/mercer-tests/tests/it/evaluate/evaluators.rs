//! Every evaluator against its reference.

use mercer::data::{Task, synth};
use mercer::evaluate::knn::{self, nearest_neighbour_error};
use mercer::evaluate::{Evaluator, Measure, svm};
use mercer::{Kernel, Labels, Monitor, Rows, Shape};

use super::{classes, codes_of, evaluation, numbers_of};
use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix, evaluators as slow};

/// Rows on a coarse grid, so that distances are often equal.
fn gridded(n: usize, p: usize, seed: u64) -> Matrix {
    let coarse = |v: f64| (2.0 * v).round() / 2.0;
    naive::random_rows(n, p, seed).into_iter().map(|row| row.into_iter().map(coarse).collect()).collect()
}

fn distances(test: &Matrix, train: &Matrix, of: impl Fn(&[f64], &[f64]) -> f64) -> Matrix {
    test.iter().map(|x| train.iter().map(|y| of(x, y)).collect()).collect()
}

/// Classes that bend: which of three rings a row lies in, some of them wrong.
fn rings(x: &Matrix) -> Vec<usize> {
    let class = |(i, row): (usize, &Vec<f64>)| {
        let ring = (naive::dot(row, row) / row.len() as f64 * 1.5).min(2.9) as usize;
        if i % 11 == 0 { (ring + 1) % 3 } else { ring }
    };
    x.iter().enumerate().map(class).collect()
}

#[test]
fn neighbours_vote_as_in_plain_loops_ties_and_all() {
    for (p, n) in [(1, 40), (2, 2_100), (5, 60)] {
        let (train, test) = (gridded(n, p, 77), gridded(150, p, 78));
        let codes: Vec<usize> = (0..n).map(|i| i * i % 4).collect();
        let values: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let line = distances(&test, &train, naive::squared_distance);
        for k in [1, 2, 5, n + 3] {
            let near = slow::nearest(&line, k);
            for [x, t] in [
                [rows(&train), rows(&test)],
                [sparse(&train), sparse(&test)],
                [rows(&train), sparse(&test)],
                [sparse(&train), rows(&test)],
            ] {
                let evaluator = Evaluator::Knn { n_neighbors: k };
                let found = evaluation(&evaluator, &x, &classes(&codes), &t);
                let expected: Vec<usize> = near.iter().map(|near| slow::majority(near, &codes)).collect();
                assert_eq!(codes_of(&found.predictions), expected, "p = {p}, k = {k}");
                assert_eq!(found.warnings.len(), usize::from(k > n));
                let found = evaluation(&evaluator, &x, &Labels::Numbers(values.clone()), &t);
                for (found, near) in numbers_of(&found.predictions).iter().zip(&near) {
                    let mean = near.iter().map(|&j| values[j]).sum::<f64>() / near.len() as f64;
                    assert!((found - mean).abs() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn neighbours_in_a_kernel_are_those_of_its_distance() {
    let (train, test) = (naive::random_rows(60, 3, 5), naive::random_rows(40, 3, 6));
    let positive = |x: &Matrix| -> Matrix { x.iter().map(|r| r.iter().map(|v| v.abs()).collect()).collect() };
    let (train, test) = (positive(&train), positive(&test));
    let codes: Vec<usize> = (0..60).map(|i| i % 3).collect();
    let labels = classes(&codes);
    for name in Shape::NAMES.into_iter().filter(|name| *name != "precomputed") {
        let value = |x: &[f64], y: &[f64]| naive::kernel(name, 0.7, 2, 0.5, 1.0, x, y);
        let line = distances(&test, &train, |x, y| value(x, x) + value(y, y) - 2.0 * value(x, y));
        let expected: Vec<usize> =
            slow::nearest(&line, 3).iter().map(|near| slow::majority(near, &codes)).collect();
        let kernel = Kernel { shape: Shape::named(name, 2, 0.5, 1.0).expect("a name"), gamma: 0.7 };
        for [x, t] in [[rows(&train), rows(&test)], [sparse(&train), sparse(&test)]] {
            let found = knn::predict_in_kernel(kernel, &x, &labels, &t, 3, &Monitor::default());
            assert_eq!(codes_of(&found.expect("found")), expected, "{name}");
        }
        let own = rows(&distances(&train, &train, value));
        let given = rows(&distances(&test, &train, value));
        let found =
            knn::predict_in_kernel(Kernel::precomputed(), &own, &labels, &given, 3, &Monitor::default());
        assert_eq!(codes_of(&found.expect("found")), expected, "{name}, precomputed");
    }
    // Far away rbf values are all 0, and the input distance still tells near from far.
    let far = Kernel::rbf(1e6);
    let found = knn::predict_in_kernel(far, &rows(&train), &labels, &rows(&test), 1, &Monitor::default());
    let plain = knn::predict(&rows(&train), &labels, &rows(&test), 1, &Monitor::default());
    assert_eq!(found.expect("found"), plain.expect("found"));
}

#[test]
fn the_error_of_the_nearest_neighbour_is_a_share() {
    let (train, test) = (gridded(50, 3, 77), gridded(700, 3, 78));
    let codes: Vec<usize> = (0..50).map(|i| i % 4).collect();
    let right: Vec<usize> = (0..700).map(|i| i % 4).collect();
    let near = slow::nearest(&distances(&test, &train, naive::squared_distance), 1);
    let wrong = near.iter().zip(&right).filter(|(near, right)| codes[near[0]] != **right).count();
    let fast = nearest_neighbour_error(&rows(&train), &codes, &rows(&test), &right).expect("error");
    assert!((fast - wrong as f64 / 700.0).abs() < 1e-12);
    let empty = Rows::dense(vec![], 0, 3).expect("rows");
    assert!(nearest_neighbour_error(&empty, &[], &rows(&test), &right).is_err());
}

#[test]
fn ridge_is_that_of_refits_and_least_squares_that_of_the_pseudo_inverse() {
    for (n, p) in [(40, 4), (30, 1), (12, 30), (300, 5)] {
        let (train, test) = (naive::random_rows(n, p, 31), naive::random_rows(25, p, 32));
        let y: Vec<f64> =
            train.iter().enumerate().map(|(i, r)| 3.0 + 2.0 * r[0] + (i as f64).sin()).collect();
        let target: Matrix = y.iter().map(|v| vec![*v]).collect();
        let codes: Vec<usize> = y.iter().map(|v| usize::from(*v > 2.0) + usize::from(*v > 4.0)).collect();
        let slow_ridge = n < 100;
        for (x, t) in [(rows(&train), rows(&test)), (sparse(&train), sparse(&test))] {
            let mut tried = vec![(Evaluator::Linear, slow::least_squares_fits(&train, &target, &test))];
            if slow_ridge {
                tried.push((Evaluator::Ridge, slow::ridge_fits(&train, &target, &test)));
            }
            for (evaluator, expected) in tried {
                let found = evaluation(&evaluator, &x, &Labels::Numbers(y.clone()), &t);
                for (found, expected) in numbers_of(&found.predictions).iter().zip(expected) {
                    assert!(
                        (found - expected[0]).abs() < 1e-8,
                        "{evaluator:?}, {n}×{p}: {found} for {expected:?}"
                    );
                }
            }
            let hot = slow::one_hot_all(&codes);
            let found = evaluation(&Evaluator::Linear, &x, &classes(&codes), &t);
            let expected = slow::largest(&slow::least_squares_fits(&train, &hot, &test));
            assert_eq!(codes_of(&found.predictions), expected);
            if slow_ridge {
                let found = evaluation(&Evaluator::Ridge, &x, &classes(&codes), &t);
                assert_eq!(
                    codes_of(&found.predictions),
                    slow::largest(&slow::ridge_fits(&train, &hot, &test))
                );
            }
        }
    }
}

#[test]
fn least_squares_of_dependent_columns_has_the_smallest_norm_and_many_rows_one_answer() {
    let mut train = naive::random_rows(900, 4, 33);
    train.iter_mut().for_each(|row| {
        let (sum, constant) = (row[0] + row[1], 7.0);
        row.extend([sum, constant]);
    });
    // New rows need not obey the dependence, so the norm shows.
    let test = naive::random_rows(20, 6, 34);
    let y: Vec<f64> = train.iter().enumerate().map(|(i, r)| r[0] - r[2] + (i as f64).cos()).collect();
    let target: Matrix = y.iter().map(|v| vec![*v]).collect();
    let expected = slow::least_squares_fits(&train, &target, &test);
    let found = evaluation(&Evaluator::Linear, &rows(&train), &Labels::Numbers(y), &rows(&test));
    for (found, expected) in numbers_of(&found.predictions).iter().zip(expected) {
        assert!((found - expected[0]).abs() < 1e-9, "{found} for {expected:?}");
    }
}

#[test]
fn the_linear_machine_is_the_minimum_of_its_objective() {
    let (train, test) = (naive::random_rows(60, 3, 41), naive::random_rows(80, 3, 42));
    let codes: Vec<usize> = train
        .iter()
        .enumerate()
        .map(|(i, r)| if i % 9 == 0 { i % 3 } else { usize::from(r[0] > 0.0) + usize::from(r[1] > 0.5) })
        .collect();
    for c in [0.01, 1.0, 100.0] {
        let fits: Vec<Vec<f64>> = (0..3)
            .map(|class| {
                let y: Vec<f64> = codes.iter().map(|&code| if code == class { 1.0 } else { -1.0 }).collect();
                slow::linear_machine(&train, &y, c)
            })
            .collect();
        let scores: Matrix =
            test.iter().map(|row| fits.iter().map(|w| naive::dot(row, &w[..3]) + w[3]).collect()).collect();
        for [x, t] in [[rows(&train), rows(&test)], [sparse(&train), sparse(&test)]] {
            let found = evaluation(&Evaluator::LinearSvm { c: Some(c) }, &x, &classes(&codes), &t);
            for ((found, expected), scores) in
                codes_of(&found.predictions).iter().zip(slow::largest(&scores)).zip(&scores)
            {
                // Scores that are all but equal may fall either way.
                let close = (scores[*found] - scores[expected]).abs() < 1e-5;
                assert!(*found == expected || close, "c = {c}: {found} for {expected}, {scores:?}");
            }
        }
    }
}

/// The optimality conditions of the dual, with kernel values from plain loops.
fn assert_optimal(k: &Matrix, a: &[f64], bias: f64, c: f64, target: &[f64], epsilon: Option<f64>) {
    let slack = 2e-3;
    assert!(a.iter().sum::<f64>().abs() < 1e-8 * c * a.len() as f64, "Σa = 0");
    for (i, line) in k.iter().enumerate() {
        let missed = target[i] - naive::dot(line, a) - bias;
        match epsilon {
            // Classes: a·y in [0, c]; within the margin only at c, beyond it only at 0.
            None => {
                let (own, margin) = (a[i] * target[i], 1.0 - missed * target[i]);
                assert!((-1e-12..=c + 1e-12).contains(&own), "{own}");
                assert!(own >= c || margin > 1.0 - slack, "row {i}: a = {own}, margin {margin}");
                assert!(own <= 0.0 || margin < 1.0 + slack, "row {i}: a = {own}, margin {margin}");
            }
            // Numbers: a in [−c, c]; outside the tube only at ±c, inside only 0.
            Some(epsilon) => {
                assert!(a[i].abs() <= c + 1e-12);
                assert!(a[i] >= c || missed < epsilon + slack, "row {i}: a = {}, missed {missed}", a[i]);
                assert!(a[i] <= -c || missed > -epsilon - slack, "row {i}: a = {}, missed {missed}", a[i]);
                assert!(a[i] == 0.0 || missed * a[i].signum() > epsilon - slack, "row {i}: {missed}");
            }
        }
    }
}

#[test]
fn support_vectors_obey_the_optimality_conditions() {
    for p in [1, 3, 70] {
        let mut train = naive::random_rows(90, p, 51);
        train[7] = train[3].clone();
        let gamma = 0.5 / p as f64;
        let k = naive::gram("rbf", gamma, 3, 1.0, 1.0, &train);
        let codes: Vec<usize> = rings(&train).iter().map(|&ring| usize::from(ring > 0)).collect();
        let signs: Vec<f64> = codes.iter().map(|&code| if code == 0 { 1.0 } else { -1.0 }).collect();
        let values: Vec<f64> =
            train.iter().enumerate().map(|(i, r)| 5.0 + r[0].sin() + 0.3 * (i as f64).cos()).collect();
        let mean = values.iter().sum::<f64>() / 90.0;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 90.0).sqrt();
        let standard: Vec<f64> = values.iter().map(|v| (v - mean) / deviation).collect();
        for c in [0.1, 1.0, 100.0] {
            for x in [rows(&train), sparse(&train)] {
                let monitor = Monitor::default();
                let (a, bias) = svm::dual(&x, &classes(&codes), c, gamma, &monitor).expect("solved");
                assert_optimal(&k, &a, bias, c, &signs, None);
                let numbers = Labels::Numbers(values.clone());
                let (a, bias) = svm::dual(&x, &numbers, c, gamma, &monitor).expect("solved");
                assert_optimal(&k, &a, bias, c, &standard, Some(0.1));
            }
        }
    }
}

#[test]
fn pairs_of_classes_vote_and_support_vectors_are_counted_once() {
    let (train, test) = (naive::random_rows(120, 2, 61), naive::random_rows(60, 2, 62));
    let codes = rings(&train);
    let (c, gamma) = (10.0, 0.8);
    let mut votes = vec![[0usize; 3]; 60];
    let mut support = [false; 120];
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
        let own: Vec<usize> = (0..120).filter(|&i| codes[i] == first || codes[i] == second).collect();
        let part: Matrix = own.iter().map(|&i| train[i].clone()).collect();
        let two: Vec<usize> = own.iter().map(|&i| usize::from(codes[i] == second)).collect();
        let (a, bias) =
            svm::dual(&rows(&part), &classes(&two), c, gamma, &Monitor::default()).expect("solved");
        own.iter().zip(&a).filter(|(_, a)| **a != 0.0).for_each(|(&i, _)| support[i] = true);
        for (x, votes) in test.iter().zip(&mut votes) {
            let value = |i: usize| a[i] * naive::kernel("rbf", gamma, 3, 1.0, 1.0, x, &part[i]);
            let says = (0..own.len()).map(value).sum::<f64>() + bias;
            votes[if says > 0.0 { first } else { second }] += 1;
        }
    }
    let expected: Vec<usize> =
        votes.iter().map(|v| (0..3).rev().max_by_key(|&j| v[j]).expect("a class")).collect();
    let evaluator = Evaluator::RbfSvm { c: Some(c), gamma: Some(gamma) };
    let found = evaluation(&evaluator, &rows(&train), &classes(&codes), &rows(&test));
    assert_eq!(codes_of(&found.predictions), expected);
    assert_eq!(found.support, support.iter().filter(|s| **s).count());
    let none = evaluation(&Evaluator::Ridge, &rows(&train), &classes(&codes), &rows(&test));
    assert_eq!(none.support, 0);
}

#[test]
fn a_weight_is_chosen_that_serves_rows_not_seen() {
    let table = synth::generate("ringnorm?n=900&seed=4").expect("rows");
    let labels = Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels");
    let (train, test): (Vec<usize>, Vec<usize>) = ((0..400).collect(), (400..900).collect());
    let score = |evaluator: &Evaluator| {
        let found = evaluation(
            evaluator,
            &table.rows.select(&train),
            &labels.select(&train),
            &table.rows.select(&test),
        );
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        Measure::Accuracy.of(&labels.select(&test), &found.predictions).expect("accuracy")
    };
    let rbf = score(&Evaluator::named("rbf-svm").expect("a name"));
    let linear = score(&Evaluator::named("linear-svm").expect("a name"));
    assert!(rbf > 0.96 && linear < 0.85, "rbf {rbf}, linear {linear}");
    let numbers = synth::generate("friedman?n=500&seed=1").expect("rows");
    let y = Labels::decide(numbers.target.expect("numbers"), Task::Auto).expect("labels");
    let (train, test): (Vec<usize>, Vec<usize>) = ((0..300).collect(), (300..500).collect());
    let r2 = |evaluator: &Evaluator| {
        let found = evaluation(
            evaluator,
            &numbers.rows.select(&train),
            &y.select(&train),
            &numbers.rows.select(&test),
        );
        Measure::R2.of(&y.select(&test), &found.predictions).expect("r2")
    };
    let (rbf, ridge) = (r2(&Evaluator::named("rbf-svm").expect("a name")), r2(&Evaluator::Ridge));
    assert!(rbf > ridge + 0.05 && ridge > 0.6, "rbf {rbf}, ridge {ridge}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let train = naive::random_rows(700, 6, 71);
    let test = rows(&naive::random_rows(300, 6, 72));
    let codes = rings(&train);
    let values: Vec<f64> = train.iter().map(|r| r[0] * r[1] + r[2]).collect();
    for evaluator in super::every_evaluator() {
        for labels in [classes(&codes), Labels::Numbers(values.clone())] {
            if evaluator.check(&labels).is_err() {
                continue;
            }
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
                pool.install(|| evaluation(&evaluator, &rows(&train), &labels, &test))
            };
            assert_eq!(with(1), with(8), "{evaluator:?}");
        }
    }
}
