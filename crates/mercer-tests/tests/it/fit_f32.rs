//! Fits in float32: beside those in float64, on data that is kind and data that is not.

use faer::{Mat, MatRef};
use mercer::basis::{Basis, FittedBasis, Method, Precision, Stop, Threshold};
use mercer::{Gamma, Kernel, Labels, Options, Result, Rows, Shape};

use crate::naive;

const PIVOTED: [Method; 5] = [Method::Kobl, Method::Sparse, Method::Nystrom, Method::Rpcholesky, Method::Kfa];

/// n×p normal numbers that float32 holds exactly.
fn normal(n: usize, p: usize, seed: u64) -> Vec<f32> {
    naive::random_rows(n, p, seed).iter().flatten().map(|v| *v as f32).collect()
}

fn rows_f32(values: &[f32], p: usize) -> Rows<'_> {
    Rows::dense_f32(values, values.len() / p, p).expect("rows")
}

fn rows_f64(values: &[f32], p: usize) -> Rows<'static> {
    rows_f32(values, p).select(&(0..values.len() / p).collect::<Vec<_>>())
}

fn settings(method: Method, shape: Shape, gamma: Gamma) -> Basis {
    Basis { shape, gamma, ..Basis::new(method, Kernel::rbf(1.0)) }
}

/// A basis of float32 rows.
fn fit(basis: &Basis, values: &[f32], p: usize, labels: Option<&Labels>) -> Result<FittedBasis> {
    Ok(basis.fit_with(&rows_f32(values, p), labels, &Options::default())?.0)
}

/// A basis of float32 rows, and their coordinates in it.
fn fit_with_coordinates(
    basis: &Basis,
    values: &[f32],
    p: usize,
    labels: Option<&Labels>,
) -> (FittedBasis, Vec<f64>) {
    let options = Options::default().with_coordinates();
    let (fitted, z) = basis.fit_with(&rows_f32(values, p), labels, &options).expect("fits");
    let z = z.expect("wanted");
    assert_eq!(z.precision(), fitted.precision);
    (fitted, z.to_dense())
}

/// A basis of float32 rows without labels, and their coordinates in it.
fn fitted(basis: &Basis, values: &[f32], p: usize) -> (FittedBasis, Vec<f64>) {
    fit_with_coordinates(basis, values, p, None)
}

/// The largest difference of features from those that the basis gives in float64, in units of the largest √k(x,x).
fn error(fitted: &FittedBasis, z: &[f64], rows: &Rows) -> f64 {
    let right = fitted.expansion.transform(rows).expect("features");
    let unit = (0..right.nrows()).map(|i| right.row(i).norm_l2()).fold(f64::MIN_POSITIVE, f64::max);
    let m = fitted.n_components();
    let difference = |at: usize| (z[at] - right[(at / m, at % m)]).abs();
    (0..z.len()).map(difference).fold(0.0, f64::max) / unit
}

#[test]
fn it_finds_the_basis_that_float64_finds() {
    let p = 12;
    let values = normal(700, p, 1);
    for method in PIVOTED {
        for shape in [Shape::Rbf, Shape::Matern32, Shape::Laplacian, Shape::Poly { degree: 2, coef0: 1.0 }] {
            let basis = settings(method, shape, Gamma::Scale).n_components(60);
            let (ours, z) = fitted(&basis, &values, p);
            let right = basis.fit(&rows_f64(&values, p)).expect("fits");
            let name = format!("{} {}", method.name(), shape.name());
            assert_eq!((ours.precision, right.precision), (Precision::Single, Precision::Double));
            assert_eq!(right.rounding_error, None);
            assert_eq!(ours.pivots, right.pivots, "{name}");
            assert!((ours.residual - right.residual).abs() <= 1e-5 * right.residual, "{name}");
            let reported = ours.rounding_error.expect("reported");
            assert!(reported <= 1e-5, "{name}: {reported:e}");
            let seen = error(&ours, &z, &rows_f64(&values, p));
            assert!(seen <= 1e-5, "{name}: {seen:e}");
            // A was found in float64.
            assert!(ours.orthogonality_loss(None).expect("loss") <= 1e-10, "{name}");
            assert!(ours.warnings.is_empty(), "{name}: {:?}", ours.warnings);
        }
    }
}

#[test]
fn inner_products_of_features_are_kernel_values_as_far_as_the_span_reaches() {
    let p = 3;
    let values = normal(300, p, 2);
    for method in PIVOTED {
        let basis = settings(method, Shape::Rbf, Gamma::Value(0.1)).n_components(60);
        let (ours, z) = fitted(&basis, &values, p);
        let z = MatRef::from_row_major_slice(&z, 300, ours.n_components());
        let rows = rows_f64(&values, p);
        let left: Mat<f64> = Kernel::rbf(0.1).matrix(&rows, &rows).expect("kernel") - z * z.transpose();
        // The diagonal of what is left is the residuals, and nothing off it is larger.
        let mean = (0..300).map(|i| left[(i, i)]).sum::<f64>() / 300.0;
        assert!((mean - ours.residual).abs() <= 1e-5, "{}: {mean:e} {:e}", method.name(), ours.residual);
        let most = (0..300).map(|i| left[(i, i)]).fold(0.0, f64::max) + 1e-4;
        assert!(left.norm_max() <= most, "{}", method.name());
    }
}

#[test]
fn nasty_rows_are_fitted_within_the_error_that_is_reported() {
    let p = 6;
    let plain = normal(400, p, 3);
    let clusters: Vec<f32> = (0..400 * p).map(|i| plain[i] * 1e-3 + 50.0 * ((i / p) % 7) as f32).collect();
    let mut constant = plain.clone();
    constant.chunks_exact_mut(p).for_each(|row| row[2] = 1e4);
    let cases: [(&str, Vec<f32>, usize); 10] = [
        ("huge", plain.iter().map(|v| v * 1e15).collect(), p),
        ("tiny", plain.iter().map(|v| v * 1e-15).collect(), p),
        ("offset", plain.iter().map(|v| v + 3e3).collect(), p),
        ("constant column", constant, p),
        ("clusters", clusters, p),
        ("duplicates", [&plain[..60], &plain[..60], &plain[..60], &plain[60..120]].concat(), p),
        ("one column", plain[..500].to_vec(), 1),
        ("fewer rows than columns", plain[..600].to_vec(), 60),
        ("one row", plain[..6].to_vec(), p),
        ("equal rows", plain[..6].repeat(100), p),
    ];
    for (name, values, p) in &cases {
        for shape in [Shape::Rbf, Shape::Linear, Shape::Cosine, Shape::Laplacian, Shape::Matern12] {
            for method in PIVOTED {
                let basis = settings(method, shape, Gamma::Scale).threshold(Threshold::Constant(0.0));
                let (ours, z) = fitted(&basis, values, *p);
                let name = format!("{name} {} {}", shape.name(), method.name());
                let seen = error(&ours, &z, &rows_f64(values, *p));
                assert!(seen <= 1e-3, "{name}: {seen:e}");
                if let Some(reported) = ours.rounding_error {
                    assert!(seen <= 10.0 * reported.max(1e-6), "{name}: {seen:e} for {reported:e}");
                    assert!(reported <= 1e-4 || ours.warnings[0].contains("left an error"), "{name}");
                } else {
                    assert!(ours.warnings.iter().any(|w| w.contains("leave the range")), "{name}");
                }
                assert!(ours.orthogonality_loss(None).expect("loss") <= 1e-6, "{name}");
                let right = basis.fit(&rows_f64(values, *p)).expect("fits");
                assert!(ours.n_components() <= right.n_components(), "{name}");
            }
        }
    }
}

#[test]
fn it_ends_where_float32_tells_no_rows_apart_and_says_so() {
    let values = normal(500, 2, 4);
    for method in PIVOTED {
        let mut basis = settings(method, Shape::Rbf, Gamma::Value(0.01)).threshold(Threshold::Constant(0.0));
        basis.nu = Some(0.0);
        let (ours, _) = fitted(&basis, &values, 2);
        let right = basis.fit(&rows_f64(&values, 2)).expect("fits");
        assert!(ours.n_components() < right.n_components(), "{}", method.name());
        assert_eq!(ours.stop, Stop::Rank, "{}", method.name());
        assert!(ours.warnings[0].starts_with("float32 cannot distinguish more than"), "{:?}", ours.warnings);
        assert!(ours.warnings[0].ends_with("hint: use precision = `double`"), "{:?}", ours.warnings);
        assert!(ours.residual <= 1e-3);
    }
    // A kernel of five dimensions has no more in float64 either.
    let basis = settings(Method::Kobl, Shape::Linear, Gamma::Auto).threshold(Threshold::Constant(0.0));
    let (ours, _) = fitted(&basis, &normal(500, 5, 4), 5);
    assert_eq!((ours.n_components(), ours.stop), (5, Stop::Rank));
    assert!(ours.warnings.is_empty(), "{:?}", ours.warnings);
}

#[test]
fn the_option_goes_before_the_rows() {
    let values = normal(200, 4, 5);
    let rows = rows_f64(&values, 4);
    let options = Options::default().with_coordinates();
    let basis = Basis::kobl(Kernel::rbf(0.2)).n_components(30);
    let (narrow, z) =
        basis.clone().precision(Precision::Single).fit_with(&rows, None, &options).expect("fits");
    let (same, _) = fitted(&basis, &values, 4);
    assert_eq!((narrow.precision, &narrow.pivots), (Precision::Single, &same.pivots));
    assert_eq!(narrow.rounding_error, same.rounding_error);
    let z = z.expect("wanted");
    assert_eq!(z.precision(), Precision::Single);
    assert!(error(&narrow, &z.to_dense(), &rows) <= 1e-5);
    let wide = basis.precision(Precision::Double);
    let (ours, z) = fitted(&wide, &values, 4);
    let (right, theirs) = wide.fit_with(&rows, None, &options).expect("fits");
    assert_eq!((ours.precision, ours.rounding_error), (Precision::Double, None));
    assert_eq!(ours.expansion, right.expansion);
    assert_eq!(z, theirs.expect("wanted").to_dense());
}

#[test]
fn rows_in_float64_and_sparse_rows_keep_their_distances() {
    // Rows that float32 cannot tell apart, and which their differences can.
    let values: Vec<f64> = naive::random_rows(150, 3, 6).iter().flatten().map(|v| 1e9 + v).collect();
    let rows = Rows::dense(values, 150, 3).expect("rows");
    let basis = Basis::kobl(Kernel::rbf(0.3)).n_components(20);
    let right = basis.fit(&rows).expect("fits");
    let ours = basis.clone().precision(Precision::Single).fit(&rows).expect("fits");
    assert_eq!(ours.pivots, right.pivots);
    let small = normal(150, 3, 6);
    let dense = rows_f64(&small, 3);
    let indptr: Vec<usize> = (0..=150).map(|i| 3 * i).collect();
    let sparse = Rows::sparse(indptr, [0, 1, 2].repeat(150), dense.to_dense(), 3).expect("rows");
    let ours = basis.precision(Precision::Single).fit(&sparse).expect("fits");
    assert_eq!(
        (ours.precision, ours.pivots),
        (
            Precision::Single,
            fitted(&settings(Method::Kobl, Shape::Rbf, Gamma::Value(0.3)).n_components(20), &small, 3)
                .0
                .pivots
        )
    );
}

#[test]
fn other_bases_are_in_float64_and_refuse_to_be_asked_for_less() {
    let values = normal(80, 3, 7);
    let labels = Labels::Numbers((0..80).map(f64::from).collect());
    for method in [Method::GramSchmidt, Method::Kpca, Method::Kmeans, Method::Csi] {
        let basis = settings(method, Shape::Rbf, Gamma::Scale).n_components(10);
        let (ours, z) = fit_with_coordinates(&basis, &values, 3, Some(&labels));
        let right = basis.fit_supervised(&rows_f64(&values, 3), &labels).expect("fits");
        assert_eq!((ours.precision, &ours.expansion), (Precision::Double, &right.expansion));
        assert!(error(&ours, &z, &rows_f64(&values, 3)) <= 1e-6);
        let asked = basis.precision(Precision::Single).fit_supervised(&rows_f64(&values, 3), &labels);
        let text = asked.expect_err("refused").to_string();
        assert!(text.starts_with("precision = `single` is for the bases"), "{text}");
    }
}

#[test]
fn a_precomputed_kernel_may_be_in_float32() {
    let rows = rows_f64(&normal(120, 3, 8), 3);
    let k = Kernel::rbf(0.1).matrix(&rows, &rows).expect("kernel");
    let values: Vec<f32> = (0..120 * 120).map(|at| k[(at / 120, at % 120)] as f32).collect();
    for method in Method::ALL.into_iter().filter(|m| *m != Method::Kmeans) {
        let basis = settings(method, Shape::Precomputed, Gamma::Auto);
        let labels = Labels::Numbers((0..120).map(f64::from).collect());
        let (ours, z) = fit_with_coordinates(&basis, &values, 120, Some(&labels));
        let m = ours.n_components();
        assert_eq!(z.len(), 120 * m);
        let given = rows_f64(&values, 120);
        assert!(ours.orthogonality_loss(Some(&given)).expect("loss") <= 1e-2, "{}", method.name());
        assert!(error(&ours, &z, &given) <= 1e-3, "{}", method.name());
    }
}

#[test]
fn a_rule_for_gamma_and_landmarks_do_not_depend_on_the_precision_of_the_rows() {
    let values = normal(200, 4, 9);
    let labels = Labels::Numbers((0..200).map(|i| f64::from(i % 7)).collect());
    for gamma in [Gamma::Scale, Gamma::Median, Gamma::Align, Gamma::Loo] {
        let basis = Basis::kobl(Kernel::rbf(1.0)).gamma(gamma).n_components(20);
        let ours = fit(&basis, &values, 4, Some(&labels)).expect("fits");
        let right = basis.fit_supervised(&rows_f64(&values, 4), &labels).expect("fits");
        assert_eq!(ours.expansion.kernel, right.expansion.kernel);
    }
    let landmarks = Some(rows_f64(&normal(40, 4, 10), 4));
    let basis = Basis { landmarks, ..Basis::kobl(Kernel::rbf(0.2)) };
    let (ours, z) = fitted(&basis, &values, 4);
    let right = basis.fit(&rows_f64(&values, 4)).expect("fits");
    assert_eq!(ours.pivots, right.pivots);
    assert!((ours.residual - right.residual).abs() <= 1e-10);
    assert!(error(&ours, &z, &rows_f64(&values, 4)) <= 1e-5);
}

#[test]
fn memory_is_counted_at_four_bytes_and_without_it_the_fit_is_in_float64() {
    let values = normal(6_000, 2, 11);
    let mut basis = Basis::kobl(Kernel::rbf(5.0)).n_components(50);
    let options = Options::default();
    let wide = basis.estimated_memory(6_000, &options);
    basis.precision = Some(Precision::Single);
    assert_eq!((wide, basis.estimated_memory(6_000, &options)), (8 * 6_000 * 50, 4 * 6_000 * 50));
    let rows = rows_f32(&values, 2);
    let enough = options.memory(4 * 6_000 * 50);
    let kept = basis.fit_with(&rows, None, &enough.clone().with_coordinates()).expect("fits").0;
    assert_eq!(kept.precision, Precision::Single);
    let too_little = enough.memory(4 * 6_000 * 50 - 1);
    let again = basis.fit_with(&rows, None, &too_little).expect("fits").0;
    assert_eq!(again.precision, Precision::Double);
    assert!(again.warnings[0].ends_with("recomputed instead, in float64"), "{:?}", again.warnings);
    assert_eq!(again.pivots, kept.pivots);
    let refused = basis.fit_with(&rows, None, &too_little.with_coordinates());
    let text = refused.expect_err("refused").to_string();
    assert!(text.contains("needs 1 MB, but the budget is 1 MB"), "{text}");
}

#[test]
fn one_two_and_three_threads_give_the_same_bits() {
    let values = normal(1_500, 5, 12);
    for method in PIVOTED {
        for shape in [Shape::Rbf, Shape::Laplacian] {
            let basis = settings(method, shape, Gamma::Scale).n_components(150);
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
                let (fitted, z) = pool.install(|| fitted(&basis, &values, 5));
                (fitted.pivots, fitted.expansion, fitted.residual, fitted.rounding_error, z)
            };
            let one = run(1);
            assert!(one == run(2) && one == run(3), "{} {}", method.name(), shape.name());
        }
    }
}

#[test]
fn rows_that_cannot_be_used_are_refused_as_in_float64() {
    let mut values = normal(30, 3, 13);
    values[7] = f32::NAN;
    for method in [Method::Kobl, Method::Kpca] {
        let basis = settings(method, Shape::Rbf, Gamma::Scale);
        let text = fit(&basis, &values, 3, None).expect_err("refused").to_string();
        assert!(text.starts_with("Input contains NaN at row 3, column 2"), "{text}");
    }
    values[7] = -1.0;
    let basis = settings(Method::Kobl, Shape::Chi2, Gamma::Scale);
    let text = fit(&basis, &values, 3, None).expect_err("refused").to_string();
    assert!(text.contains("needs numbers of at least 0"), "{text}");
    let linear = settings(Method::Kobl, Shape::Linear, Gamma::Auto);
    let text = fit(&linear, &[0.0; 12], 3, None).expect_err("refused").to_string();
    assert!(text.starts_with("k(x,x) = 0 for every row"), "{text}");
    assert!(fit(&Basis::kobl(Kernel::rbf(1.0)), &[], 3, None).is_err());
}

#[test]
fn values_beyond_the_range_of_float32_are_fitted_in_float64() {
    let values: Vec<f32> = normal(100, 3, 14).iter().map(|v| v * 1e14).collect();
    let (ours, _) = fitted(&settings(Method::Kobl, Shape::Linear, Gamma::Auto), &values, 3);
    assert_eq!((ours.precision, ours.n_components()), (Precision::Double, 3));
    assert!(ours.warnings[0].contains("leave the range of float32: fitted in float64"));
}
