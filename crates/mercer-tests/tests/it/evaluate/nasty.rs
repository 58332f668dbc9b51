//! Data that breaks careless code: every evaluator must answer, the same for dense and sparse rows.

use mercer::{Labels, Rows};

use super::{classes, codes_of, evaluation, every_evaluator, numbers_of};
use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix};

fn sets() -> Vec<(&'static str, Matrix)> {
    let mut all = naive::nasty_sets();
    let scaled = |by: f64| -> Matrix {
        naive::random_rows(30, 4, 8)
            .into_iter()
            .map(|row| row.into_iter().map(|v| v * by).collect())
            .collect()
    };
    all.push(("squares that overflow", scaled(1e200)));
    all.push(("squares that vanish", scaled(1e-200)));
    all.push(("all rows equal", vec![vec![2.0, 3.0]; 12]));
    all.push(("all zeros", naive::zeros(12, 3)));
    let mixed = naive::random_rows(30, 4, 8);
    let sizes = [1e-9, 1.0, 1e6, 1e9];
    all.push((
        "columns of very different sizes",
        mixed.iter().map(|row| row.iter().zip(sizes).map(|(v, s)| v * s).collect()).collect(),
    ));
    all
}

#[test]
fn every_evaluator_answers_and_sparse_rows_say_what_dense_rows_say() {
    for (name, x) in sets() {
        let n = x.len();
        let half = n / 2;
        let (train, test) = (x[..half].to_vec(), x[half..].to_vec());
        // Class 3 has no row to learn from, and class 2 one alone.
        let codes: Vec<usize> = (0..half).map(|i| if i == 1 { 2 } else { i % 2 }).collect();
        let four =
            Labels::Classes { codes: codes.clone(), names: (0..4).map(|c: usize| c.to_string()).collect() };
        let values: Vec<f64> = (0..half).map(|i| (i as f64).sin() * 1e3).collect();
        for evaluator in every_evaluator() {
            for labels in [four.clone(), Labels::Numbers(values.clone())] {
                if evaluator.check(&labels).is_err() {
                    continue;
                }
                let dense = evaluation(&evaluator, &rows(&train), &labels, &rows(&test));
                let thin = evaluation(&evaluator, &sparse(&train), &labels, &sparse(&test));
                assert_eq!(dense.predictions.len(), n - half);
                match labels {
                    Labels::Classes { .. } => {
                        assert!(
                            codes_of(&dense.predictions).iter().all(|&code| code < 3),
                            "{name}, {evaluator:?}"
                        );
                        assert_eq!(dense.predictions, thin.predictions, "{name}, {evaluator:?}");
                    }
                    Labels::Several { .. } => unreachable!("one target"),
                    Labels::Numbers(_) => {
                        let (dense, thin) = (numbers_of(&dense.predictions), numbers_of(&thin.predictions));
                        assert!(dense.iter().all(|v| v.is_finite()), "{name}, {evaluator:?}: {dense:?}");
                        let size = dense.iter().fold(1e3f64, |m, v| m.max(v.abs()));
                        let apart = dense.iter().zip(thin).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                        assert!(apart <= 1e-4 * size, "{name}, {evaluator:?}: {apart}");
                    }
                }
            }
        }
    }
}

#[test]
fn one_row_or_one_class_is_predicted_everywhere() {
    let test = rows(&naive::random_rows(5, 2, 2));
    for evaluator in every_evaluator() {
        for n in [1, 4] {
            let train = rows(&naive::random_rows(n, 2, 1));
            let labels = Labels::Classes { codes: vec![1; n], names: vec!["a".into(), "b".into()] };
            let found = evaluation(&evaluator, &train, &labels, &test);
            assert_eq!(codes_of(&found.predictions), [1; 5]);
            assert_eq!(
                found.warnings,
                ["the training rows have one class only, `b`, which is predicted for every row"]
            );
            let labels = Labels::Numbers(vec![2.5; n]);
            if evaluator.check(&labels).is_ok() {
                let found = evaluation(&evaluator, &train, &labels, &test);
                assert!(
                    numbers_of(&found.predictions).iter().all(|v| (v - 2.5).abs() < 1e-12),
                    "{evaluator:?}"
                );
            }
        }
    }
}

#[test]
fn two_rows_of_two_classes_are_enough() {
    let train = rows(&vec![vec![0.0, 1.0], vec![4.0, 1.0]]);
    let test = rows(&vec![vec![0.5, 1.0], vec![3.0, 1.0]]);
    for evaluator in every_evaluator() {
        if evaluator == (mercer::evaluate::Evaluator::Knn { n_neighbors: 3 }) {
            continue;
        }
        assert_eq!(
            codes_of(&evaluation(&evaluator, &train, &classes(&[0, 1]), &test).predictions),
            [0, 1],
            "{evaluator:?}"
        );
    }
}

#[test]
fn targets_of_any_size_and_offset_are_predicted_in_their_unit() {
    let (train, test) = (naive::random_rows(40, 3, 11), naive::random_rows(10, 3, 12));
    let plain: Vec<f64> = train.iter().map(|r| r[0] + 0.5 * r[1]).collect();
    for evaluator in every_evaluator() {
        if evaluator.check(&Labels::Numbers(plain.clone())).is_err() {
            continue;
        }
        let predicted = |values: Vec<f64>| {
            let found = evaluation(&evaluator, &rows(&train), &Labels::Numbers(values), &rows(&test));
            numbers_of(&found.predictions).to_vec()
        };
        let reference = predicted(plain.clone());
        for (unit, offset) in [(1e-150, 0.0), (1e150, 0.0), (1.0, 1e6)] {
            let found = predicted(plain.iter().map(|v| v * unit + offset).collect());
            for (found, reference) in found.iter().zip(&reference) {
                let back = (found - offset) / unit;
                assert!((back - reference).abs() < 1e-3, "{evaluator:?}: {back} for {reference}");
            }
        }
    }
}

#[test]
fn words_are_predicted_without_a_dense_copy() {
    // 400 rows of 20 words among 40 000: 128 MB if they were dense, and p×p would be 12.8 GB.
    let (n, p) = (400usize, 40_000usize);
    let mut state = 3;
    let mut parts = (vec![0], Vec::new(), Vec::new());
    let mut codes = Vec::new();
    for i in 0..n {
        let class = i % 2;
        let mut words: Vec<u32> = (0..20)
            .map(|w| {
                let at = naive::random_bits(&mut state) as usize;
                // A quarter of the words are those of the class.
                let word = if w % 4 == 0 { class * 200 + at % 200 } else { at % p };
                u32::try_from(word).expect("small")
            })
            .collect();
        words.sort_unstable();
        words.dedup();
        parts.2.extend(words.iter().map(|_| 1.0));
        parts.1.extend(words);
        parts.0.push(parts.1.len());
        codes.push(class);
    }
    let all = Rows::sparse(parts.0, parts.1, parts.2, p).expect("rows");
    let (train, test) = (all.slice(0..300), all.slice(300..400));
    for evaluator in every_evaluator() {
        if matches!(evaluator, mercer::evaluate::Evaluator::Knn { .. }) {
            continue;
        }
        let found = evaluation(&evaluator, &train, &classes(&codes[..300]), &test);
        let right = codes_of(&found.predictions).iter().zip(&codes[300..]).filter(|(a, b)| a == b).count();
        assert!(right >= 75, "{evaluator:?}: {right} of 100");
    }
}
