//! Measures of a kernel against the slow references.

use mercer::data::Labels;
use mercer::evaluate::metrics::{kernel_alignment, relevant_dimension};
use mercer::{Kernel, Monitor};

use super::classes;
use crate::kernel::rows;
use crate::naive::{self, Matrix};

#[test]
fn alignment_equals_its_definition() {
    let x = naive::random_rows(40, 3, 70);
    let codes: Vec<usize> = (0..40).map(|i| i % 3).collect();
    let k = Kernel::rbf(0.3).matrix(&rows(&x), &rows(&x)).expect("values");
    let slow = naive::gram("rbf", 0.3, 3, 1.0, 1.0, &x);
    let y = naive::one_hot(&codes, 3);
    let target = naive::matmul(&y, &naive::transpose(&y));
    for center in [false, true] {
        let fast = kernel_alignment(k.as_ref(), &classes(&codes), center).expect("alignment");
        assert!((fast - naive::alignment(&slow, &target, center)).abs() < 1e-12);
    }
    let text = kernel_alignment(k.as_ref(), &classes(&codes[..5]), false).expect_err("labels").to_string();
    assert!(text.contains("40 × 40, and there are 5 labels"), "{text}");
}

#[test]
fn relevant_dimension_equals_its_definition_below_the_rank() {
    for seed in 71..75 {
        let x = naive::random_rows(60, 2, seed);
        let y: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(i, r)| (2.0 * r[0]).sin() + 0.3 * ((i * 37 % 11) as f64 - 5.0) / 5.0)
            .collect();
        let target: Matrix = y.iter().map(|v| vec![*v]).collect();
        let slow = naive::gram("rbf", 1.0, 3, 1.0, 1.0, &x);
        let (values, _) = naive::jacobi_eigen(&naive::center_gram(&slow));
        let rank = values.iter().filter(|v| **v > 1e-10 * values[0]).count();
        let (d, noise) = naive::relevant_dimension_up_to(&naive::label_energies(&slow, &target), rank - 1);
        let k = Kernel::rbf(1.0).matrix(&rows(&x), &rows(&x)).expect("values");
        let fast =
            relevant_dimension(k.as_ref(), &Labels::Numbers(y), &Monitor::default()).expect("dimension");
        assert_eq!(fast.0, d);
        assert!((fast.1 - noise).abs() < 1e-9 * noise);
    }
}

#[test]
fn relevant_dimension_finds_a_planted_one() {
    // Labels made of the three leading components, with a little noise.
    let x = naive::random_rows(80, 2, 76);
    let slow = naive::gram("rbf", 0.5, 3, 1.0, 1.0, &x);
    let (_, vectors) = naive::jacobi_eigen(&naive::center_gram(&slow));
    let mut state = 5;
    let y: Vec<f64> =
        vectors.iter().map(|r| r[0] - r[1] + r[2] + 0.002 * naive::random_normal(&mut state)).collect();
    let k = Kernel::rbf(0.5).matrix(&rows(&x), &rows(&x)).expect("values");
    assert_eq!(
        relevant_dimension(k.as_ref(), &Labels::Numbers(y), &Monitor::default()).expect("dimension").0,
        3
    );
}
