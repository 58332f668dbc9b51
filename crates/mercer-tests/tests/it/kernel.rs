//! Kernels and γ rules against the slow references, on random and on nasty rows.

use mercer::basis::{Method, Threshold};
use mercer::data::Labels;
use mercer::kernel::Gram;
use mercer::{Basis, Gamma, Kernel, Rows, Shape};

use crate::naive::{self, Matrix};

/// Rows as the library's type.
pub(crate) fn rows(x: &Matrix) -> Rows<'static> {
    Rows::dense(x.concat(), x.len(), x[0].len()).expect("rows")
}

/// Sparse rows as the library's type.
pub(crate) fn sparse(x: &Matrix) -> Rows<'static> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(u32::try_from(j).expect("small"));
            values.push(v);
        }
        indptr.push(values.len());
    }
    Rows::sparse(indptr, indices, values, x[0].len()).expect("sparse rows")
}

fn shape(name: &str) -> Shape {
    Shape::named(name, 3, 1.0, 1.7).expect("known")
}

/// Names of the kernels that have a formula.
pub(crate) const FORMULAS: &[&str] = (&Shape::NAMES as &[&str]).split_at(13).0;

/// χ² takes non-negative numbers only.
fn fit_for(name: &str, x: &Matrix) -> Matrix {
    let sign = |v: f64| if name.ends_with("chi2") { v.abs() } else { v };
    x.iter().map(|row| row.iter().map(|&v| sign(v)).collect()).collect()
}

#[test]
fn every_kernel_equals_its_formula_on_nasty_rows_dense_and_sparse() {
    for (set, x) in naive::nasty_sets() {
        for &name in FORMULAS {
            let x = fit_for(name, &x);
            let gamma = naive::gamma_scale(&x, name == "laplacian");
            let expected = naive::gram(name, gamma, 3, 1.0, 1.7, &x);
            let kernel = Kernel { shape: shape(name), gamma };
            // Products are right relative to the lengths of the rows; bounded kernels are right absolutely.
            let size = naive::max_abs(&expected).max(1.0);
            let tolerance = 4e-15 * size * (x[0].len() as f64 + 8.0);
            for x in [rows(&x), sparse(&x)] {
                let k = kernel.matrix(&x, &x).expect("values");
                for i in 0..x.n() {
                    for j in 0..x.n() {
                        let error = (k[(i, j)] - expected[i][j]).abs();
                        assert!(
                            error <= tolerance,
                            "{name} on {set} ({i}, {j}): {} for {}",
                            k[(i, j)],
                            expected[i][j]
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn near_duplicates_far_from_the_origin_keep_their_distance() {
    // ‖x−y‖ = 1e−6 at 1e6 from the origin: norms and products alone would lose it all.
    let x: Matrix = vec![vec![1e6, 1e6, 3.0], vec![1e6 + 1e-6, 1e6, 3.0], vec![-4e6, 2e6, 0.0]];
    let r = x[1][0] - x[0][0];
    for x in [rows(&x), sparse(&x)] {
        let k = Kernel { shape: Shape::Matern12, gamma: 0.5 }.matrix(&x, &x).expect("values");
        let expected = -(-r).exp_m1();
        assert!((1.0 - k[(0, 1)] - expected).abs() < 1e-9 * r, "{} for {expected}", 1.0 - k[(0, 1)]);
        for i in 0..3 {
            assert_eq!(k[(i, i)].to_bits(), 1.0f64.to_bits(), "k(x,x) of a stationary kernel is exactly 1");
        }
    }
}

#[test]
fn rows_of_any_scale_neither_overflow_nor_vanish() {
    for unit in [1e-140, 1.0, 1e140] {
        let x: Matrix =
            naive::random_rows(20, 3, 5).iter().map(|r| r.iter().map(|v| v * unit).collect()).collect();
        let plain = naive::random_rows(20, 3, 5);
        let basis = |x: &Matrix| {
            let mut basis = Basis::kobl(Kernel::rbf(1.0)).n_components(6);
            basis.gamma = Gamma::Scale;
            basis.fit(&rows(x)).expect("fits")
        };
        assert_eq!(basis(&x).pivots, basis(&plain).pivots, "unit {unit}");
    }
}

#[test]
fn no_finite_row_has_a_kernel_value_that_is_none() {
    let x: Matrix = vec![vec![1e200, 0.0], vec![0.0, 1e-200], vec![1.0, 2.0]];
    for &name in FORMULAS.iter().filter(|n| !matches!(**n, "linear" | "poly" | "sigmoid" | "additive_chi2")) {
        for gamma in [1e-200, 1.0] {
            for data in [rows(&x), sparse(&x)] {
                let k = Kernel { shape: shape(name), gamma }.matrix(&data, &data).expect("values");
                for i in 0..3 {
                    assert!((k[(i, i)] - 1.0).abs() < 1e-12, "{name}: k(x,x) = {}", k[(i, i)]);
                    assert!((0..3).all(|j| k[(i, j)].is_finite()), "{name}");
                }
            }
        }
    }
}

#[test]
fn gamma_rules_equal_their_definitions() {
    for (set, x) in naive::nasty_sets() {
        let codes: Vec<usize> = (0..x.len()).map(|i| (i + usize::from(x[i][0] > 0.0)) % 3).collect();
        let labels = Labels::classes(&codes.iter().map(usize::to_string).collect::<Vec<_>>());
        let gamma = |rule: Gamma, kernel: &str| {
            let mut basis = Basis::kobl(Kernel { shape: shape(kernel), gamma: 1.0 }).n_components(1);
            basis.gamma = rule;
            basis.fit_supervised(&rows(&x), &labels).expect("fits").expansion.kernel.gamma
        };
        let close =
            |a: f64, b: f64, what: &str| assert!((a - b).abs() <= 1e-9 * b, "{set}, {what}: {a} for {b}");
        close(gamma(Gamma::Scale, "rbf"), naive::gamma_scale(&x, false), "scale");
        close(gamma(Gamma::Scale, "laplacian"), naive::gamma_scale(&x, true), "scale of laplacian");
        close(gamma(Gamma::Auto, "rbf"), naive::gamma_auto(&x), "auto");
        let median = naive::gamma_median(&x);
        if median.is_finite() {
            close(gamma(Gamma::Median, "rbf"), median, "median");
        }
        let classes = codes.iter().max().expect("rows") + 1;
        close(gamma(Gamma::Align, "rbf"), naive::gamma_align(&x, &naive::one_hot(&codes, classes)), "align");
    }
}

/// The width of the grid whose coordinates, by this basis of a kernel matrix, have the smallest error of n refits of ridge.
fn width_of_n_refits(x: &Matrix, target: &Matrix, coordinates: &dyn Fn(&Matrix) -> Matrix) -> f64 {
    let mut best = (f64::INFINITY, 0.0);
    for gamma in naive::grid(naive::gamma_scale(x, false)) {
        let z = coordinates(&naive::gram("rbf", gamma, 3, 1.0, 1.0, x));
        let centered = naive::center_columns(&z);
        let mean = centered.iter().flatten().map(|v| v * v).sum::<f64>() / z[0].len() as f64;
        for step in -16..=8 {
            let error = naive::ridge_loo_error(&z, target, mean * 10f64.powf(f64::from(step) / 2.0));
            if error < best.0 {
                best = (error, gamma);
            }
        }
    }
    best.1
}

#[test]
fn loo_takes_the_width_with_the_smallest_error_of_n_refits() {
    let x = naive::random_rows(40, 2, 9);
    let y: Vec<f64> = x.iter().map(|r| (3.0 * r[0]).sin() + 0.1 * r[1]).collect();
    let basis = Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Loo).n_components(5);
    let found =
        basis.fit_supervised(&rows(&x), &Labels::Numbers(y.clone())).expect("fits").expansion.kernel.gamma;
    let target: Matrix = y.iter().map(|v| vec![*v]).collect();
    let expected = width_of_n_refits(&x, &target, &|k| naive::kobl(k, &|_| 0.0, Some(300)).features);
    assert!((found - expected).abs() < 1e-12 * expected, "{found} for {expected}");
}

#[test]
fn loo_looks_at_the_basis_that_a_rule_on_the_diagonal_leaves() {
    // A line: the widest kernel predicts best if its basis may have all rows, of which these rules would leave one or two.
    let x = naive::random_rows(40, 30, 9);
    let y: Vec<f64> = x.iter().map(|r| r[..10].iter().sum()).collect();
    let target: Matrix = y.iter().map(|v| vec![*v]).collect();
    let labels = Labels::Numbers(y);
    let found = |basis: Basis| {
        let fitted = basis.gamma(Gamma::Loo).fit_supervised(&rows(&x), &labels).expect("fits");
        (fitted.expansion.kernel.gamma, fitted.pivots)
    };
    let kobl = Basis::kobl(Kernel::rbf(1.0));
    let mut sparse = Basis::new(Method::Sparse, Kernel::rbf(1.0));
    sparse.nu = Some(0.0);
    let order = found(sparse.clone()).1;
    assert_eq!(order.len(), 40);
    sparse.nu = Some(0.2);

    let widest = width_of_n_refits(&x, &target, &|k| naive::kobl(k, &|_| 0.0, None).features);
    for (basis, expected) in [
        (kobl.clone(), widest),
        (
            kobl.threshold(Threshold::Linear),
            width_of_n_refits(&x, &target, &|k| naive::kobl(k, &|t| t, None).features),
        ),
        (sparse, width_of_n_refits(&x, &target, &|k| naive::sparse(k, &order, 0.2, None).features)),
    ] {
        let is_stopped = basis.threshold.is_some() || basis.nu.is_some();
        let (gamma, pivots) = found(basis);
        assert!((gamma - expected).abs() < 1e-12 * expected, "{gamma} for {expected}");
        if is_stopped {
            assert!(gamma > 2.0 * widest && pivots.len() > 10, "{} at {gamma}, not {widest}", pivots.len());
        }
    }
}

#[test]
fn neither_the_unit_nor_the_offset_of_numbers_matters() {
    let x = naive::random_rows(60, 3, 10);
    let y: Vec<f64> = x.iter().map(|r| (2.0 * r[0]).sin()).collect();
    let fit = |method: Method, rule: Gamma, change: &dyn Fn(f64) -> f64| {
        let labels = Labels::Numbers(y.iter().map(|v| change(*v)).collect());
        let basis = Basis::new(method, Kernel::rbf(0.2)).gamma(rule).n_components(9);
        let fitted = basis.fit_supervised(&rows(&x), &labels).expect("fits");
        (fitted.expansion.kernel.gamma, fitted.pivots)
    };
    for (method, rule) in
        [(Method::Kobl, Gamma::Align), (Method::Kobl, Gamma::Loo), (Method::Csi, Gamma::Value(0.2))]
    {
        let plain = fit(method, rule, &|v| v);
        assert_eq!(fit(method, rule, &|v| v + 1e6), plain, "{rule:?}");
        assert_eq!(fit(method, rule, &|v| v * 1e200), plain, "{rule:?}");
        assert_eq!(fit(method, rule, &|v| v * 1e-200), plain, "{rule:?}");
    }
}

#[test]
fn a_target_that_never_changes_is_refused_where_it_is_looked_at() {
    let x = rows(&naive::random_rows(10, 2, 1));
    let settings = [
        ("loo", Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Loo)),
        ("align", Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Align)),
        ("csi", Basis::new(Method::Csi, Kernel::rbf(1.0))),
    ];
    for (name, basis) in settings {
        let one = basis.fit_supervised(&x, &Labels::classes(&["a"; 10])).expect_err("one class").to_string();
        assert!(one.contains(&format!("`{name}` needs at least 2 classes")), "{one}");
        let same =
            basis.fit_supervised(&x, &Labels::Numbers(vec![0.5; 10])).expect_err("one number").to_string();
        assert!(same.contains("the same number in every row"), "{same}");
    }
}

#[test]
fn data_too_small_for_a_width_is_refused_not_given_another() {
    let x: Matrix =
        naive::random_rows(10, 2, 1).iter().map(|r| r.iter().map(|v| v * 1e-200).collect()).collect();
    let text =
        Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Scale).fit(&rows(&x)).expect_err("tiny").to_string();
    assert!(text.contains("no gamma can be written") && text.contains("hint: scale"), "{text}");
}

#[test]
fn labels_are_asked_for_where_a_rule_needs_them() {
    let x = rows(&naive::random_rows(10, 2, 1));
    for rule in [Gamma::Align, Gamma::Loo] {
        let text = Basis::kobl(Kernel::rbf(1.0)).gamma(rule).fit(&x).expect_err("no labels").to_string();
        assert!(text.contains("looks at the labels") && text.contains("hint: give them"), "{text}");
    }
}

#[test]
fn bad_kernel_input_is_refused_in_words() {
    let x = rows(&naive::random_rows(10, 2, 1));
    let text = |kernel: Kernel| Basis::kobl(kernel).fit(&x).expect_err("refused").to_string();
    assert!(text(Kernel::rbf(0.0)).contains("gamma = 0, but it must be a finite number above 0"));
    assert!(text(Kernel::rbf(f64::NAN)).contains("gamma = NaN"));
    let chi2 = text(Kernel { shape: Shape::Chi2, gamma: 1.0 });
    assert!(chi2.contains("`chi2` needs numbers of at least 0") && chi2.contains("at row"), "{chi2}");
    assert!(text(Kernel { shape: Shape::Poly { degree: 0, coef0: 1.0 }, gamma: 1.0 }).contains("degree = 0"));
    let not_square = text(Kernel::precomputed());
    assert!(not_square.contains("dense square matrix, but it is 10 × 2"), "{not_square}");
    let skew = Rows::dense(vec![1.0, 0.5, 0.2, 1.0], 2, 2).expect("rows");
    let skew = Basis::kobl(Kernel::precomputed()).fit(&skew).expect_err("refused").to_string();
    assert!(skew.contains("must be symmetric"), "{skew}");
}

#[test]
fn every_value_is_counted() {
    let x = rows(&naive::random_rows(30, 2, 1));
    let gram = Gram::new(Kernel::rbf(1.0), &x).expect("gram");
    gram.diagonal();
    gram.block(&[0, 1, 2], &[3, 4]);
    assert_eq!(gram.evaluations(), 30 + 6);
}
