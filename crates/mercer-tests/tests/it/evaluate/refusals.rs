//! What is refused, in words.

use mercer::evaluate::{Evaluator, knn};
use mercer::{Error, Kernel, Labels, Monitor, Rows};

use super::{classes, every_evaluator};
use crate::kernel::rows;
use crate::naive;

fn refused(evaluator: &Evaluator, train: &Rows, labels: &Labels, test: &Rows) -> String {
    let result = evaluator.predict(train, labels, test, 0, &Monitor::default());
    result.expect_err(evaluator.name()).to_string()
}

#[test]
fn every_evaluator_refuses_what_it_cannot_use_and_says_where_it_is() {
    let x = rows(&naive::random_rows(6, 2, 1));
    let labels = classes(&[0, 1, 0, 1, 0, 1]);
    let broken = |value: f64| {
        let mut values = naive::random_rows(6, 2, 1);
        values[3][1] = value;
        rows(&values)
    };
    for evaluator in every_evaluator() {
        let none = Rows::dense(vec![], 0, 2).expect("rows");
        assert_eq!(
            refused(&evaluator, &x, &labels, &none),
            "6 training rows and 0 test rows; at least one of each is needed"
        );
        assert!(refused(&evaluator, &none, &classes(&[]), &x).contains("0 training rows"));
        assert!(refused(&evaluator, &x, &classes(&[0, 1]), &x).contains("6 rows of 2 columns, 2 labels"));
        let narrow = Rows::dense(vec![1.0], 1, 1).expect("rows");
        assert!(refused(&evaluator, &x, &labels, &narrow).contains("test rows of 1"));
        for (value, word) in [(f64::NAN, "NaN"), (f64::INFINITY, "infinity")] {
            let at = format!("{word} at row 4, column 2");
            assert!(refused(&evaluator, &broken(value), &labels, &x).contains(&at));
            assert!(refused(&evaluator, &x, &labels, &broken(value)).contains(&at));
        }
        let bad = Labels::Numbers(vec![0.0, 1.0, f64::NAN, 0.0, 1.0, 0.0]);
        if evaluator.check(&bad).is_ok() {
            assert_eq!(refused(&evaluator, &x, &bad, &x), "the target is not a finite number at row 3");
        }
        let hollow = Rows::dense(vec![], 6, 0).expect("rows");
        assert!(refused(&evaluator, &hollow, &labels, &hollow).contains("no columns"));
    }
}

#[test]
fn senseless_settings_are_refused() {
    let x = rows(&naive::random_rows(4, 2, 1));
    let labels = classes(&[0, 1, 0, 1]);
    assert_eq!(
        refused(&Evaluator::Knn { n_neighbors: 0 }, &x, &labels, &x),
        "n_neighbors = 0, but at least 1 is needed"
    );
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(
            refused(&Evaluator::LinearSvm { c: Some(c) }, &x, &labels, &x)
                .contains("must be a number above 0")
        );
        assert!(refused(&Evaluator::RbfSvm { c: Some(c), gamma: None }, &x, &labels, &x).contains("c = "));
        assert!(
            refused(&Evaluator::RbfSvm { c: None, gamma: Some(c) }, &x, &labels, &x).contains("gamma = ")
        );
    }
    let numbers = Labels::Numbers(vec![0.5, 1.5, 2.5, 3.5]);
    let text = refused(&Evaluator::LinearSvm { c: None }, &x, &numbers, &x);
    assert!(text.contains("`linear-svm` needs classes"), "{text}");
    let text = Evaluator::named("svm").expect_err("no name").to_string();
    assert_eq!(text, "evaluator = `svm` is not known; use one of knn, ridge, linear, linear-svm, rbf-svm");
    let monitor = Monitor::default();
    let flat = knn::predict_in_kernel(Kernel::precomputed(), &x, &labels, &x, 1, &monitor).expect_err("flat");
    assert!(flat.to_string().contains("it is 4 × 2"), "{flat}");
    assert!(knn::predict_in_kernel(Kernel::rbf(-1.0), &x, &labels, &x, 1, &monitor).is_err());
    assert!(knn::predict(&x, &labels, &x, 0, &monitor).is_err());
}

#[test]
fn every_evaluator_can_be_stopped() {
    let x = rows(&naive::random_rows(60, 3, 1));
    let labels = classes(&(0..60).map(|i| i % 2).collect::<Vec<_>>());
    for evaluator in every_evaluator() {
        let monitor = Monitor::default();
        monitor.stop();
        let stopped = evaluator.predict(&x, &labels, &x, 0, &monitor);
        assert!(matches!(stopped, Err(Error::Interrupted)), "{evaluator:?}");
    }
}
