//! A sparse basis that grows batch by batch: the batches do not matter.

use mercer::basis::{Basis, FittedBasis, Landmarks, Method, Precision, Stop};
use mercer::options::DEFAULT_MEMORY;
use mercer::{Gamma, Kernel, Options, Result, Rows, Shape};

use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix};

fn settings(kernel: Kernel, nu: f64) -> Basis {
    Basis { nu: Some(nu), ..Basis::new(Method::Sparse, kernel) }
}

/// A basis with one more batch of rows.
fn grow(settings: &Basis, so_far: Option<&FittedBasis>, batch: &Rows) -> Result<FittedBasis> {
    settings.grow(so_far, batch, &Options::default())
}

/// The basis after batches of these sizes, the last size again and again.
fn grown(settings: &Basis, data: &Rows, sizes: &[usize]) -> FittedBasis {
    let (mut basis, mut start, mut at) = (None, 0, 0);
    while start < data.n() {
        let end = data.n().min(start + sizes[at.min(sizes.len() - 1)]);
        basis = Some(grow(settings, basis.as_ref(), &data.slice(start..end)).expect("grows"));
        (start, at) = (end, at + 1);
    }
    basis.expect("at least one batch")
}

fn gram(kernel: Kernel, x: &Matrix) -> Matrix {
    let k = kernel.matrix(&rows(x), &rows(x)).expect("values");
    (0..x.len()).map(|i| (0..x.len()).map(|j| k[(i, j)]).collect()).collect()
}

/// The largest share of k(x,x) that is left of a row.
fn most_left(basis: &FittedBasis, data: &Rows) -> f64 {
    let z = basis.expansion.transform(data).expect("features");
    let k =
        |i: usize| basis.expansion.kernel.matrix(&data.slice(i..i + 1), &data.slice(i..i + 1)).expect("k");
    (0..data.n()).map(|i| 1.0 - z.row(i).squared_norm_l2() / k(i)[(0, 0)]).fold(0.0, f64::max)
}

#[test]
fn rows_are_kept_as_the_one_pass_reference_keeps_them_in_the_order_of_arrival() {
    for (n, p, nu, cap) in
        [(80, 2, 0.1, None), (250, 6, 0.3, None), (200, 4, 0.01, None), (200, 4, 0.01, Some(9))]
    {
        let x = naive::random_rows(n, p, 6);
        let order: Vec<usize> = (0..n).collect();
        for kernel in [Kernel::rbf(0.4), Kernel { shape: Shape::Laplacian, gamma: 0.2 }, Kernel::linear()] {
            let slow = naive::sparse(&gram(kernel, &x), &order, nu, cap);
            for data in [rows(&x), sparse(&x)] {
                let capped = Basis { n_components: cap, ..settings(kernel, nu) };
                let fast = grow(&capped, None, &data).expect("grows");
                assert_eq!(fast.pivots, slow.pivots, "{}", kernel.shape.name());
                let z = fast.expansion.transform(&rows(&x)).expect("features");
                let apart = |i: usize| (0..z.ncols()).map(move |j| (i, j));
                let worst = (0..n).flat_map(apart).map(|(i, j)| (z[(i, j)] - slow.features[i][j]).abs());
                assert!(worst.fold(0.0, f64::max) < 1e-8);
                assert_eq!(fast.stop == Stop::Cap, cap == Some(fast.n_components()));
            }
        }
    }
}

#[test]
fn how_rows_are_cut_into_batches_does_not_matter() {
    let x = naive::random_rows(2_300, 3, 4);
    for (kernel, nu) in [
        (Kernel::rbf(0.5), 0.05),
        (Kernel { shape: Shape::Poly { degree: 3, coef0: 1.0 }, gamma: 0.2 }, 1e-4),
    ] {
        for data in [rows(&x), sparse(&x)] {
            let settings = settings(kernel, nu);
            let one = grow(&settings, None, &data).expect("grows");
            assert!(one.n_components() > 15);
            for sizes in [&[1, 1, 7, 1_500, 1][..], &[300], &[1_024], &[2_299]] {
                let many = grown(&settings, &data, sizes);
                assert_eq!(many.pivots, one.pivots);
                let size = one.expansion.matrix.norm_max();
                assert!((&many.expansion.matrix - &one.expansion.matrix).norm_max() < 1e-9 * size);
                assert_eq!(many.expansion.landmarks, one.expansion.landmarks);
                // What is left is a difference of numbers of the size of k(x,x).
                assert!((many.residual - one.residual).abs() < 1e-10);
                assert!((many.trace - one.trace).abs() < 1e-12 * one.trace);
                assert_eq!((many.n_rows, many.stop), (2_300, one.stop));
            }
            assert!(most_left(&one, &data) <= nu * (1.0 + 1e-9));
            // Of all rows with the whole basis no more is left than of each as it came.
            let left = one.reconstruction_cost(&data).expect("cost");
            assert!(left * left <= one.residual * one.trace / 2_300.0);
        }
    }
}

#[test]
fn cost_is_a_kernel_value_a_row_and_landmark() {
    let x = naive::random_rows(3_000, 4, 2);
    let fitted = grown(&settings(Kernel::rbf(0.3), 0.1), &rows(&x), &[500]);
    let (n, m) = (3_000, fitted.n_components());
    assert!(fitted.n_kernel_evaluations <= (n * (m + 1) + 500 * m) as u64);
    assert!(fitted.expansion.orthogonality_loss(None).expect("loss") < 1e-8);
}

#[test]
fn dependent_rows_are_left_out_and_orthogonality_is_kept() {
    // Every row comes again, a little moved, and nothing may be lost: rounding has to end it.
    let mut x = naive::random_rows(150, 2, 3);
    let twice = x.clone();
    x.extend(twice.into_iter().map(|row| row.iter().map(|v| v + 1e-9).collect()));
    let data = rows(&x);
    let one = grow(&settings(Kernel::rbf(0.1), 0.0), None, &data).expect("grows");
    let many = grown(&settings(Kernel::rbf(0.1), 0.0), &data, &[13]);
    assert_eq!(one.stop, Stop::Rank);
    for basis in [one, many] {
        assert!(basis.expansion.orthogonality_loss(None).expect("loss") < 1e-4);
        assert!(basis.pivots.iter().all(|&i| i < 150));
    }
}

#[test]
fn a_basis_grows_on_from_a_fit() {
    let x = naive::random_rows(400, 3, 9);
    let data = rows(&x);
    let settings = settings(Kernel::rbf(0.5), 0.1).gamma(Gamma::Median);
    let first = settings.fit(&data.slice(0..150)).expect("fits");
    let all = grow(&settings, Some(&first), &data.slice(150..400)).expect("grows");
    assert_eq!(all.pivots[..first.pivots.len()], first.pivots);
    assert!(all.pivots[first.pivots.len()..].iter().all(|i| (150..400).contains(i)));
    assert!(most_left(&all, &data) <= 0.1 + 1e-12);
    assert_eq!((all.n_rows, all.trace), (400, 400.0));
}

#[test]
fn float32_sparse_and_dense_rows_may_come_after_one_another() {
    let x = naive::random_rows(90, 3, 5);
    let round: Matrix = x.iter().map(|row| row.iter().map(|v| f64::from(*v as f32)).collect()).collect();
    let settings = settings(Kernel::rbf(0.8), 0.1);
    let whole = grow(&settings, None, &rows(&round)).expect("grows");
    let short: Vec<f32> = round[..30].iter().flatten().map(|v| *v as f32).collect();
    let part = |range: std::ops::Range<usize>| round[range].to_vec();
    let first = grow(&settings, None, &Rows::dense_f32(short, 30, 3).expect("rows")).expect("grows");
    let second = grow(&settings, Some(&first), &sparse(&part(30..60))).expect("grows");
    let third = grow(&settings, Some(&second), &rows(&part(60..90))).expect("grows");
    assert_eq!(third.pivots, whole.pivots);
    assert_eq!(third.expansion.landmarks, whole.expansion.landmarks);
    assert_eq!(third.precision, Precision::Double);
    // Landmarks stay as the first batch was.
    let first = grow(&settings, None, &sparse(&part(0..30))).expect("grows");
    let second = grow(&settings, Some(&first), &rows(&part(30..90))).expect("grows");
    assert!(matches!(&second.expansion.landmarks, Landmarks::Rows(rows) if rows.is_sparse()));
    assert_eq!(second.pivots, whole.pivots);
}

#[test]
fn without_a_number_of_components_it_ends_at_a_thousand_and_says_so_once() {
    let x: Matrix = (0..1_100).map(|i| vec![f64::from(i) * 10.0]).collect();
    let settings = settings(Kernel::rbf(1.0), 0.1);
    let first = grow(&settings, None, &rows(&x[..900].to_vec())).expect("grows");
    assert!(first.warnings.is_empty() && first.stop == Stop::Rule);
    let second = grow(&settings, Some(&first), &rows(&x[900..1_050].to_vec())).expect("grows");
    assert_eq!((second.n_components(), second.stop), (1_000, Stop::Cap));
    assert!(second.warnings[0].contains("set n_components"), "{:?}", second.warnings);
    let third = grow(&settings, Some(&second), &rows(&x[1_050..].to_vec())).expect("grows");
    assert!(third.warnings.is_empty());
    assert!((third.residual - 100.0 / 1_100.0).abs() < 1e-12);
}

#[test]
fn what_cannot_grow_is_refused_in_words() {
    let data = rows(&naive::random_rows(20, 3, 1));
    let sparse = settings(Kernel::rbf(1.0), 0.1);
    let first = grow(&sparse, None, &data).expect("grows");
    let refused_within =
        |memory: u64, settings: &Basis, so_far: Option<&FittedBasis>, data: &Rows, words: &str| {
            let options = Options::default().memory(memory);
            let error = settings.grow(so_far, data, &options).expect_err("refused").to_string();
            assert!(error.contains(words), "{error}");
        };
    let refused = |settings: &Basis, so_far: Option<&FittedBasis>, data: &Rows, words: &str| {
        refused_within(DEFAULT_MEMORY, settings, so_far, data, words);
    };
    refused(&Basis::kobl(Kernel::rbf(1.0)), None, &data, "only the basis `sparse` grows");
    refused(&sparse.clone().gamma(Gamma::Scale), None, &data, "give gamma as a number");
    refused(&Basis { landmarks: Some(data.clone()), ..sparse.clone() }, None, &data, "leave landmarks out");
    refused(&sparse.clone().precision(Precision::Single), None, &data, "leave precision out");
    refused(&settings(Kernel::precomputed(), 0.1), None, &data, "precomputed");
    refused(&settings(Kernel::rbf(2.0), 0.1), Some(&first), &data, "not that of the batches before");
    refused(&sparse, Some(&first), &rows(&naive::random_rows(4, 2, 1)), "2 columns, but those before had 3");
    refused(&sparse, Some(&first), &rows(&vec![vec![f64::NAN, 0.0, 0.0]]), "row 1");
    refused(&sparse, Some(&first), &data.slice(0..0), "0 rows");
    refused_within(100, &sparse, Some(&first), &data, "the budget is 100 bytes");
    let zeros = Rows::dense(vec![0.0; 6], 2, 3).expect("rows");
    refused(&settings(Kernel::linear(), 0.1), None, &zeros, "k(x,x) = 0 for every row");
    // Once there is something, nothing may come.
    let linear = settings(Kernel::linear(), 0.1);
    let first = grow(&linear, None, &data).expect("grows");
    assert_eq!(grow(&linear, Some(&first), &zeros).expect("grows").n_rows, 22);
    // tanh(−1) < 0 for a row of zeros.
    let sigmoid = Kernel { shape: Shape::Sigmoid { coef0: -1.0 }, gamma: 1.0 };
    refused(&settings(sigmoid, 0.1), None, &zeros, "not positive semi-definite");
}
