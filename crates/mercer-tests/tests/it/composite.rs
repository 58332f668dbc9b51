//! Sums and products of kernels, kernels on columns, and functions of one's own, against plain loops.

use faer::Mat;
use mercer::basis::Method;
use mercer::kernel::{Gamma, Gram, OwnKernel, Panel};
use mercer::{Basis, Error, FeatureMap, Kernel, Labels, Monitor, Options, Pipeline, Rows, Shape};

use crate::kernel::{rows, sparse};
use crate::naive::{self, Matrix};

/// A factor of the slow reference: kernel, γ, columns.
type Slow<'a> = (&'a str, f64, &'a [usize]);

/// Σ_t w_t Π_f k_f(x_G, y_G), term by term.
fn slow(terms: &[(f64, &[Slow])], x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (weight, factors) in terms {
        let mut product = *weight;
        for (name, gamma, columns) in *factors {
            let pick = |row: &[f64]| columns.iter().map(|&j| row[j]).collect::<Vec<f64>>();
            product *= naive::kernel(name, *gamma, 2, 0.5, 1.3, &pick(x), &pick(y));
        }
        sum += product;
    }
    sum
}

fn positive(x: &Matrix) -> Matrix {
    x.iter().map(|row| row.iter().map(|v| v.abs()).collect()).collect()
}

fn assert_matrix(k: &Mat<f64>, x: &Matrix, z: &Matrix, value: impl Fn(&[f64], &[f64]) -> f64, what: &str) {
    for i in 0..x.len() {
        for j in 0..z.len() {
            let expected = value(&x[i], &z[j]);
            let size = value(&x[i], &x[i]).abs().max(value(&z[j], &z[j]).abs()).max(1.0);
            let error = (k[(i, j)] - expected).abs();
            assert!(error <= 1e-12 * size, "{what} ({i}, {j}): {} for {expected}", k[(i, j)]);
        }
    }
}

/// Categories, numbers, a constant column, rows that are there twice.
fn mixed(n: usize, seed: u64) -> Matrix {
    let mut x: Matrix = naive::random_rows(n, 5, seed)
        .iter()
        .map(|r| vec![r[0], r[1], 3.0, (r[2] * 1.5).round().abs(), (r[3] * 1.5).round().abs(), r[4].abs()])
        .collect();
    let first = x[0].clone();
    x[n - 1].clone_from(&first);
    x
}

const TEXT: &str = "0.5*rbf(gamma=0.3, columns=0:2)*match(columns=3:5)+2*poly(gamma=0.2, degree=2, coef0=0.5)\
                    +additive_chi2(columns=2,5)+0.25";

fn reference(x: &[f64], y: &[f64]) -> f64 {
    let all: Vec<usize> = (0..x.len()).collect();
    let terms: [(f64, &[Slow]); 4] = [
        (0.5, &[("rbf", 0.3, &[0, 1]), ("match", 1.0, &[3, 4])]),
        (2.0, &[("poly", 0.2, &all)]),
        (1.0, &[("additive_chi2", 1.0, &[2, 5])]),
        (0.25, &[]),
    ];
    slow(&terms, x, y)
}

#[test]
fn a_sum_of_products_equals_plain_loops_dense_sparse_and_in_float32() {
    let (x, z) = (mixed(70, 1), mixed(31, 2));
    let kernel: Kernel = TEXT.parse().expect("a kernel");
    assert_eq!(kernel.to_string(), TEXT);
    for (a, b) in
        [(rows(&x), rows(&z)), (sparse(&x), sparse(&z)), (rows(&x), sparse(&z)), (sparse(&x), rows(&z))]
    {
        assert_matrix(&kernel.matrix(&a, &b).expect("values"), &x, &z, reference, "matrix");
    }
    let narrow = |x: &Matrix| -> (Rows<'static>, Matrix) {
        let values: Vec<f32> = x.iter().flatten().map(|v| *v as f32).collect();
        let wide = x.iter().map(|r| r.iter().map(|v| f64::from(*v as f32)).collect()).collect();
        (Rows::dense_f32(values, x.len(), x[0].len()).expect("rows"), wide)
    };
    let ((a, x32), (b, z32)) = (narrow(&x), narrow(&z));
    assert_matrix(&kernel.matrix(&a, &b).expect("values"), &x32, &z32, reference, "float32");
    for data in [rows(&x), sparse(&x)] {
        let gram = Gram::new(kernel, &data).expect("a matrix");
        for (i, v) in gram.diagonal().iter().enumerate() {
            let expected = reference(&x[i], &x[i]);
            assert!((v - expected).abs() <= 1e-12 * expected, "k(x,x) of {i}: {v} for {expected}");
        }
        let block = gram.block(&[0, 5, 69], &[3, 0]);
        let expected = reference(&x[69], &x[0]);
        assert!((block[5] - expected).abs() <= 1e-12 * expected);
    }
    let panel = Panel::new(kernel, &rows(&z));
    assert_eq!((panel.n_landmarks(), panel.p()), (31, 6));
}

#[test]
fn sums_and_products_of_nasty_rows_equal_plain_loops() {
    for (set, x) in naive::nasty_sets() {
        let x = positive(&x);
        let p = x[0].len();
        let (all, last): (Vec<usize>, usize) = ((0..p).collect(), p - 1);
        let gamma = naive::gamma_scale(&x, false);
        let text = format!(
            "0.5*rbf(gamma={gamma})*cosine(columns=0)+match+3*rq(gamma={gamma}, alpha=1.3, columns={last})*linear"
        );
        let value = |x: &[f64], y: &[f64]| {
            let terms: [(f64, &[Slow]); 3] = [
                (0.5, &[("rbf", gamma, &all), ("cosine", 1.0, &[0])]),
                (1.0, &[("match", 1.0, &all)]),
                (3.0, &[("rq", gamma, &[last]), ("linear", 1.0, &all)]),
            ];
            slow(&terms, x, y)
        };
        let kernel: Kernel = text.parse().expect("a kernel");
        for data in [rows(&x), sparse(&x)] {
            assert_matrix(&kernel.matrix(&data, &data).expect("values"), &x, &x, value, set);
        }
    }
}

fn close(a: &Mat<f64>, b: &Mat<f64>, tolerance: f64) -> bool {
    (a - b).norm_max() <= tolerance * b.norm_max()
}

#[test]
fn laws_of_sums_products_and_groups_of_columns() {
    let x = mixed(40, 3);
    let one_hot: Matrix =
        (0..20usize).map(|i| (0..4).map(|j| f64::from(u8::from(i % 4 == j))).collect()).collect();
    for (data, hot) in [(rows(&x), rows(&one_hot)), (sparse(&x), sparse(&one_hot))] {
        let of = |kernel: Kernel| kernel.matrix(&data, &data).expect("values");
        let (rbf, linear) = (Kernel::rbf(0.2), Kernel::linear());
        // ½k + ½k = k.
        assert!(close(&of(0.5 * rbf + rbf * 0.5), &of(rbf), 1e-15));
        // A product of rbf on parts is rbf on all.
        let parts =
            rbf.on_columns(&[0, 3]).expect("columns") * rbf.on_columns(&[1, 2, 4, 5]).expect("columns");
        assert!(close(&of(parts), &of(rbf), 1e-14));
        // A sum of linear on parts is linear on all, and so is one of additive χ².
        let parts =
            linear.on_columns(&[0, 1]).expect("columns") + linear.on_columns(&[2, 3, 4, 5]).expect("columns");
        assert!(close(&of(parts), &of(linear), 1e-14));
        // Products are over sums, and orders do not matter.
        let matching = Kernel::matching();
        assert!(close(&of((rbf + matching) * linear), &of(linear * rbf + matching * linear), 1e-14));
        // Columns in any order, all of them.
        assert!(close(&of(rbf.on_columns(&[5, 4, 3, 2, 1, 0]).expect("columns")), &of(rbf), 1e-15));
        // On codes of one column, match is the linear kernel of the one-hot columns.
        let codes: Matrix = (0..20usize).map(|i| vec![(i % 4) as f64]).collect();
        let by_codes = matching.matrix(&rows(&codes), &rows(&codes)).expect("values");
        assert!(close(&by_codes, &linear.matrix(&hot, &hot).expect("values"), 1e-15));
        // On one-hot columns of c categories it is 1 − 2/c·1[different].
        let by_hot = matching.matrix(&hot, &hot).expect("values");
        assert!((0..20).all(|i| (0..20).all(|j| by_hot[(i, j)] == if i % 4 == j % 4 { 1.0 } else { 0.5 })));
        // additive χ² on ones and zeros is the linear kernel.
        let additive: Kernel = "additive_chi2".parse().expect("a kernel");
        assert!(close(
            &additive.matrix(&hot, &hot).expect("values"),
            &linear.matrix(&hot, &hot).expect("values"),
            1e-15
        ));
    }
    assert_eq!(1.0 * Kernel::rbf(0.3), Kernel::rbf(0.3));
    assert_eq!("rbf(gamma=0.3)".parse::<Kernel>().expect("a kernel"), Kernel::rbf(0.3));
}

#[test]
fn every_basis_serves_sums_and_transforms_new_rows() {
    let (x, new) = (mixed(60, 4), mixed(25, 5));
    let labels = Labels::Numbers(x.iter().map(|r| r[0] + r[3]).collect());
    let kernel: Kernel = TEXT.parse().expect("a kernel");
    for (data, others) in [(rows(&x), rows(&new)), (sparse(&x), sparse(&new))] {
        for method in Method::ALL {
            let mut basis = Basis::new(method, kernel);
            if method != Method::Kpca {
                basis = basis.n_components(20);
            }
            let fitted =
                basis.fit_supervised(&data, &labels).unwrap_or_else(|e| panic!("{}: {e}", method.name()));
            assert!(fitted.expansion.orthogonality_loss(None).expect("loss") < 1e-6, "{}", method.name());
            if method == Method::Kpca {
                // Every component: inner products of features are the kernel.
                let z = fitted.expansion.transform(&data).expect("features");
                let k = &z * z.transpose();
                let expected = Mat::from_fn(60, 60, |i, j| reference(&x[i], &x[j]));
                assert!(close(&k, &expected, 1e-8));
            }
            // z = A k(x, landmarks), with the slow kernel.
            let map = FeatureMap::from(fitted);
            let z = map.transform(&others).expect("features");
            let mercer::basis::Landmarks::Rows(landmarks) = &map.expansion.landmarks else { panic!("rows") };
            let landmarks: Matrix = landmarks.to_dense().chunks(6).map(<[f64]>::to_vec).collect();
            let size = map.expansion.matrix.norm_max() * 1e3;
            for i in 0..new.len() {
                for q in 0..z.ncols() {
                    let mut sum = -map.expansion.offset[q];
                    for (l, landmark) in landmarks.iter().enumerate() {
                        sum += map.expansion.matrix[(q, l)] * reference(&new[i], landmark);
                    }
                    assert!(
                        (z[(i, q)] - sum).abs() <= 1e-10 * size,
                        "{}: {} for {sum}",
                        method.name(),
                        z[(i, q)]
                    );
                }
            }
        }
    }
}

#[test]
fn a_model_with_a_sum_is_saved_and_read_as_it_was() {
    let x = mixed(40, 6);
    let names = ["a", "b", "c", "city", "street", "f"].map(String::from);
    let texts = [
        "rbf(columns=a,b)*match(columns=city,street)+0.5*linear",
        TEXT,
        "poly(columns=0)+rq*sigmoid(coef0=0)",
    ];
    for text in texts {
        let shape: Shape = text.parse().expect("a kernel");
        let shape = shape.with_names(&names).expect("names");
        let mut basis = Basis::kobl(Kernel { shape, gamma: 1.0 }).n_components(8).gamma(Gamma::Median);
        basis.threshold = None;
        let Ok(basis) = basis.fit(&rows(&x)) else {
            assert!(text.contains("sigmoid"), "only the sigmoid kernel may be refused");
            continue;
        };
        let map = FeatureMap::from(basis);
        let mut bytes = Vec::new();
        map.write_to(&mut bytes, "memory").expect("written");
        let again = FeatureMap::read_from(&bytes[..], "memory").expect("read");
        assert_eq!(again, map);
        assert!(!again.expansion.kernel.shape.uses_gamma(), "every width is a number");
    }
}

#[test]
fn rules_find_the_width_of_every_part_on_its_own_columns() {
    let x = mixed(50, 7);
    let pick =
        |columns: &[usize]| -> Matrix { x.iter().map(|r| columns.iter().map(|&j| r[j]).collect()).collect() };
    let (few, others) = (pick(&[0, 1]), pick(&[3, 4, 5]));
    let shape: Shape =
        "rbf(columns=0:2)*laplacian(columns=3:6)+linear+rbf(gamma=7)".parse().expect("a kernel");
    for data in [rows(&x), sparse(&x)] {
        let text = |gamma: Gamma| {
            let basis = Basis::kobl(Kernel { shape, gamma: 1.0 }).gamma(gamma);
            basis.resolve_kernel(&data, None, &Monitor::default()).expect("a kernel").to_string()
        };
        let written = |a: f64, b: f64| {
            format!("rbf(gamma={a}, columns=0:2)*laplacian(gamma={b}, columns=3:6)+linear+rbf(gamma=7)")
        };
        let numbers = |text: &str| -> Vec<f64> {
            let parts = text.split("gamma=").skip(1);
            parts.map(|p| p.split([',', ')']).next().unwrap_or("").parse().expect("a number")).collect()
        };
        let near = |text: &str, a: f64, b: f64| {
            let found = numbers(text);
            assert!(
                (found[0] / a - 1.0).abs() < 1e-12 && (found[1] / b - 1.0).abs() < 1e-12,
                "{text}: {a} {b}"
            );
        };
        assert_eq!(text(Gamma::Value(0.3)), written(0.3, 0.3));
        assert_eq!(text(Gamma::Auto), written(0.5, 1.0 / 3.0));
        let scales = (naive::gamma_scale(&few, false), naive::gamma_scale(&others, true));
        near(&text(Gamma::Scale), scales.0, scales.1);
        // The rule of one kernel on these columns alone.
        let alone = |x: &Matrix, name: &str| {
            let shape = Shape::named(name, 3, 1.0, 1.0).expect("known");
            let basis = Basis::kobl(Kernel { shape, gamma: 1.0 }).gamma(Gamma::Median);
            basis.resolve_kernel(&rows(x), None, &Monitor::default()).expect("a kernel").gamma
        };
        near(&text(Gamma::Median), alone(&few, "rbf"), alone(&others, "laplacian"));
        // One number times the scales, from the grid.
        let labels =
            Labels::classes(&x.iter().map(|r| r[0] > 0.0).map(|b| b.to_string()).collect::<Vec<_>>());
        for rule in [Gamma::Loo, Gamma::Align] {
            let basis = Basis::kobl(Kernel { shape, gamma: 1.0 }).gamma(rule);
            let found = basis.resolve_kernel(&data, Some(&labels), &Monitor::default()).expect("a kernel");
            let found = numbers(&found.to_string());
            let factor = found[0] / scales.0;
            assert!((found[1] / scales.1 / factor - 1.0).abs() < 1e-12);
            let half = 2.0 * factor.log10();
            assert!((half - half.round()).abs() < 1e-9 && (-4.0..=3.0).contains(&half.round()), "{factor}");
        }
    }
    // One part with all columns has the width that it has alone.
    let plain = Basis::kobl(Kernel::rbf(1.0)).gamma(Gamma::Loo);
    let summed = Basis::kobl(Kernel { shape: "1*rbf+0*linear".parse().expect("a kernel"), gamma: 1.0 })
        .gamma(Gamma::Loo);
    let labels = Labels::classes(&x.iter().map(|r| r[0] > 0.0).map(|b| b.to_string()).collect::<Vec<_>>());
    let of =
        |basis: Basis| basis.resolve_kernel(&rows(&x), Some(&labels), &Monitor::default()).expect("a kernel");
    let (plain, summed) = (of(plain), of(summed).to_string());
    let found: f64 =
        summed.split("gamma=").nth(1).and_then(|t| t.split(')').next()).expect("γ").parse().expect("γ");
    assert!((found / plain.gamma - 1.0).abs() < 1e-12, "{summed}: {}", plain.gamma);
}

#[test]
fn texts_are_read_and_written() {
    let same = |text: &str, written: &str| {
        let shape: Shape = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(shape.name(), written, "{text}");
        assert_eq!(written.parse::<Shape>().expect("again"), shape);
    };
    same("rbf", "rbf");
    same(" 0.5 * rbf ( gamma = 0.1 ) + linear ", "0.5*rbf(gamma=0.1)+linear");
    same("2*3*rbf*linear", "6*rbf*linear");
    same("(rbf+linear)*(match+1)", "rbf*match+rbf+linear*match+linear");
    same("1e-3*rbf(gamma=1E2)", "0.001*rbf(gamma=100)");
    same("rbf(columns=5,0:3,4)", "rbf(columns=0:3,4:6)");
    same("rbf(columns=a, b, gamma=2)", "rbf(gamma=2, columns=a,b)");
    same("match(columns=\"a,b\", \"3\", c d)", "match(columns=\"a,b\",\"3\",\"c d\")");
    same("poly+rq+sigmoid(coef0=-1)", "poly(degree=3, coef0=1)+rq(alpha=1)+sigmoid(coef0=-1)");
    assert_eq!("rbf(gamma=0.1)".parse::<Kernel>().expect("a kernel"), Kernel::rbf(0.1));
    let named = Shape::named("poly(columns=0)+rq(alpha=2)+rq", 5, 0.0, 7.0).expect("a kernel");
    assert_eq!(named.name(), "poly(degree=5, coef0=0, columns=0)+rq(alpha=2)+rq(alpha=7)");
}

#[test]
fn texts_that_are_no_kernels_say_what_is_wrong() {
    let cases: [(&str, &str); 20] = [
        ("rbff", "`rbff` is not known; use one of rbf"),
        ("0.5*rbff+linear", "`rbff` is not known"),
        ("-0.5*rbf", "weights must be at least 0"),
        ("rbf-linear", "weights must be at least 0"),
        ("rbf+", "it ends there"),
        ("", "it ends there"),
        ("rbf linear", "`+` or `*`"),
        ("(rbf", "`)`"),
        ("rbf(gamma=0)", "above 0"),
        ("rbf(gamma=x)", "a finite number"),
        ("rbf(gama=1)", "`gama` is no setting"),
        ("linear(gamma=1)", "has no such gamma"),
        ("rbf(degree=2)", "has no such degree"),
        ("poly(degree=1.5)", "no such degree"),
        ("poly(coef0=-1)+rbf", "coef0 = -1"),
        ("rbf(columns=3:1)", "places from one up to"),
        ("rbf(columns=1,1)", "hold 1 twice"),
        ("rbf(columns=1,a)", "by place and by name"),
        ("rbf(columns=\"a)", "at the end of a column's name"),
        ("precomputed+rbf", "cannot be a part"),
    ];
    for (text, part) in cases {
        let error = text.parse::<Shape>().expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let many = format!("({0})*({0})*({0})", ["rbf"; 5].join("+"));
    assert!(many.parse::<Shape>().expect_err("many").to_string().contains("at most 100"));
    let error = "rbf+linear".parse::<Kernel>().expect_err("no width").to_string();
    assert!(error.contains("a part without gamma"), "{error}");
    let x = rows(&mixed(20, 8));
    let refused = |kernel: Kernel| Basis::kobl(kernel).fit(&x).expect_err("refused").to_string();
    assert!(refused(-1.0 * Kernel::rbf(1.0)).contains("weight -1"));
    assert!(refused(f64::NAN * Kernel::rbf(1.0)).contains("weight NaN"));
    assert!(
        refused(Kernel::rbf(1.0).on_columns(&[6]).expect("columns"))
            .contains("on column 6, but the rows have 6")
    );
    assert!(refused("rbf(gamma=1, columns=a)".parse().expect("a kernel")).contains("no names of columns"));
    assert!(Kernel::rbf(1.0).on_columns(&[]).is_err());
    let error = "match(columns=town)".parse::<Shape>().expect("a kernel");
    let error = error.with_names(&["city".to_string()]).expect_err("unknown").to_string();
    assert!(error.contains("`town`") && error.contains("`city`"), "{error}");
    let negative = refused("chi2(gamma=1, columns=1)+linear".parse().expect("a kernel"));
    assert!(
        negative.contains("`chi2` needs numbers of at least 0") && negative.contains("column 2"),
        "{negative}"
    );
    let shape: Shape = "rbf(columns=9)".parse().expect("a kernel");
    let error = Basis::kobl(Kernel { shape, gamma: 1.0 }).gamma(Gamma::Scale).fit(&x).expect_err("refused");
    assert!(error.to_string().contains("on column 9"), "{error}");
    assert!(
        Basis::kobl(1e300 * Kernel::linear() * (1e300 * Kernel::linear())).fit(&x).is_err(),
        "it overflows"
    );
}

#[test]
fn names_stand_for_columns_and_for_those_that_an_encoder_made() {
    let names = ["age", "city=Oslo", "city=Rome", "cityhall"].map(String::from);
    let shape: Shape = "rbf(columns=age)*match(columns=city)".parse().expect("a kernel");
    assert_eq!(shape.with_names(&names).expect("names").name(), "rbf(columns=0)*match(columns=1:3)");
}

#[test]
fn slopes_follow_the_rules_for_sums_and_products() {
    let (landmarks, x) = (positive(&naive::random_rows(12, 6, 9)), positive(&naive::random_rows(30, 6, 10)));
    let text = "0.5*rbf(gamma=0.3, columns=0:2)*rbf(gamma=0.1)*match(columns=3:5)+2*poly(gamma=0.2, degree=2, coef0=0.5)\
                *cosine(columns=1:6)+additive_chi2(columns=2,5)*laplacian(gamma=0.2, columns=0)+rbf(gamma=0.3, columns=0:2)";
    let kernel: Kernel = text.parse().expect("a kernel");
    let basis = Basis::kobl(kernel).n_components(5).fit(&rows(&landmarks)).expect("a basis");
    let map = FeatureMap::from(basis);
    for data in [rows(&x), sparse(&x)] {
        let found = map.input_importance(&data, &Monitor::default()).expect("slopes");
        let h = 1e-5;
        for j in 0..6 {
            let moved = |step: f64| {
                let mut y = x.clone();
                y.iter_mut().for_each(|row| row[j] += step);
                map.transform(&rows(&y)).expect("features")
            };
            let (up, down) = (moved(h), moved(-h));
            for q in 0..5 {
                let slow: f64 =
                    (0..30).map(|i| ((up[(i, q)] - down[(i, q)]) / (2.0 * h)).powi(2)).sum::<f64>() / 30.0;
                assert!(
                    (found[(q, j)] - slow).abs() <= 1e-5 * slow.max(1e-6),
                    "({q}, {j}): {} for {slow}",
                    found[(q, j)]
                );
            }
        }
    }
    let refused = map.inverse_transform(Mat::zeros(1, 5).as_ref(), &Monitor::default()).expect_err("refused");
    assert!(refused.to_string().contains("has no pre-image here"), "{refused}");
}

#[test]
fn methods_that_look_at_one_kernel_refuse_sums_by_name() {
    let x = rows(&mixed(40, 11));
    let labels = Labels::classes(&(0..40).map(|i| (i % 2).to_string()).collect::<Vec<_>>());
    let settings = [("kernel", "rbf+linear"), ("input_weights", "true")];
    let pipeline = Pipeline::new("kobl", &settings).expect("settings");
    let error = pipeline.fit(&x, Some(&labels), &Options::default()).expect_err("refused").to_string();
    assert!(error.contains("not of `rbf+linear`"), "{error}");
    for method in ["gda", "klfe", "kpls", "takes", "kanmm", "k-relief", "akda-qr", "koc", "kmfa", "skfe"] {
        let pipeline = Pipeline::new(method, &[("kernel", "rbf(columns=0:3)*match(columns=3:5)+0.1*linear")]);
        let fitted = pipeline.expect("settings").fit(&x, Some(&labels), &Options::default());
        let map = fitted.unwrap_or_else(|e| panic!("{method}: {e}")).map;
        assert_eq!(map.transform(&x).expect("features").nrows(), 40);
    }
}

fn overlap() -> Kernel {
    Kernel::own("overlap", |x, z| x.iter().zip(z).map(|(x, z)| x.min(*z)).sum())
}

#[test]
fn a_function_of_ones_own_is_a_kernel() {
    let (x, new) = (positive(&naive::random_rows(300, 3, 12)), positive(&naive::random_rows(20, 3, 13)));
    let value = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x.min(*y)).sum::<f64>();
    let kernel = overlap();
    let both = 0.5 * kernel.on_columns(&[0, 2]).expect("columns") + Kernel::rbf(0.4);
    let of_both = |x: &[f64], y: &[f64]| {
        0.5 * (x[0].min(y[0]) + x[2].min(y[2])) + naive::kernel("rbf", 0.4, 1, 0.0, 1.0, x, y)
    };
    assert_matrix(&kernel.matrix(&rows(&x), &rows(&new)).expect("values"), &x, &new, value, "own");
    assert_matrix(&both.matrix(&rows(&x), &rows(&new)).expect("values"), &x, &new, of_both, "a sum with it");
    let labels = Labels::Numbers(x.iter().map(|r| r[0]).collect());
    for kernel in [kernel, both] {
        for method in Method::ALL {
            let basis = Basis::new(method, kernel).n_components(10).fit_supervised(&rows(&x), &labels);
            let basis = basis.unwrap_or_else(|e| panic!("{}: {e}", method.name()));
            assert!(basis.expansion.orthogonality_loss(None).expect("loss") < 1e-6);
            let map = FeatureMap::from(basis);
            map.transform(&rows(&new)).expect("features");
            let error = map.write_to(&mut Vec::new(), "memory").expect_err("refused").to_string();
            assert!(error.contains("cannot be saved") && error.contains("overlap#"), "{error}");
            assert!(map.input_importance(&rows(&new), &Monitor::default()).is_err());
        }
        assert!(Basis::kobl(kernel).fit(&sparse(&x)).expect_err("sparse").to_string().contains("are sparse"));
    }
}

/// Fails once it was asked so often.
struct Fails(std::sync::atomic::AtomicUsize);

impl OwnKernel for Fails {
    fn values(&self, rows: &[f64], others: &[f64], p: usize, out: &mut [f64]) -> Result<(), Error> {
        if self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 30 {
            return Err(Error::Data("the function has failed".into()));
        }
        let pairs = rows.chunks(p).flat_map(|x| others.chunks(p).map(move |z| (x, z)));
        out.iter_mut().zip(pairs).for_each(|(o, (x, z))| *o = naive::kernel("rbf", 1.0, 1, 0.0, 1.0, x, z));
        Ok(())
    }
}

#[test]
fn functions_that_fail_end_the_job_with_their_error() {
    let x = rows(&naive::random_rows(900, 2, 14));
    for method in Method::ALL {
        let kernel = Kernel::own_of_blocks("fails", Fails(0.into()));
        let labels = Labels::Numbers((0..900).map(f64::from).collect());
        let basis = Basis::new(method, kernel).n_components(200);
        let error = basis.fit_supervised(&x, &labels).expect_err("failed").to_string();
        assert!(error.contains("the function has failed"), "{}: {error}", method.name());
    }
    let of = |f: fn(&[f64], &[f64]) -> f64| {
        Basis::kobl(Kernel::own("own", f)).fit(&x).expect_err("refused").to_string()
    };
    assert!(of(|x, _| x[0] / 0.0 * 0.0).contains("must be finite"));
    assert!(of(|x, z| 1.0 + x[0].abs() * 2.0 + z[0].abs()).contains("is not symmetric"));
    assert!(of(|_, _| 0.0).contains("k(x,x) = 0"));
    // Here a function fails that a model has.
    let kernel = Kernel::own("late", |x: &[f64], z: &[f64]| if x[0] > 1e6 { f64::NAN } else { x[0] * z[0] });
    let map = FeatureMap::from(Basis::kobl(kernel).fit(&x).expect("a basis"));
    let far = Rows::dense(vec![1e7, 0.0], 1, 2).expect("rows");
    assert!(map.transform(&far).expect_err("failed").to_string().contains("must be finite"));
    assert!(map.expansion.transform(&far).is_err() && kernel.matrix(&far, &far).is_err());
}
