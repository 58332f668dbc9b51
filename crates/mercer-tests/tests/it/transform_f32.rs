//! Float32 rows: features beside those of float64 rows, on data that is kind and data that is not.

use faer::MatMut;
use mercer::basis::{Basis, Method, Precision};
use mercer::data::{Scale, Scaling};
use mercer::{FeatureMap, Gamma, Kernel, Monitor, Rows, Shape};

use crate::naive;

/// n×p normal numbers that float32 holds exactly.
fn normal(n: usize, p: usize, seed: u64) -> Vec<f32> {
    naive::random_rows(n, p, seed).iter().flatten().map(|v| *v as f32).collect()
}

fn rows_f64(values: &[f32], p: usize) -> Rows<'static> {
    let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    Rows::dense(values.clone(), values.len() / p, p).expect("rows")
}

fn features(map: &FeatureMap, values: &[f32], p: usize) -> (Vec<f32>, Precision) {
    let (n, q) = (values.len() / p, map.n_features());
    let mut out = vec![f32::NAN; n * q];
    let rows = Rows::dense_f32(values, n, p).expect("rows");
    let memory = MatMut::from_row_major_slice_mut(&mut out, n, q);
    let precision = map.transform_f32_into(&rows, memory, &Monitor::default()).expect("features");
    (out, precision)
}

/// The largest difference to float64 in units of √k(x,x), and what was computed in.
fn error(map: &FeatureMap, values: &[f32], p: usize) -> (f64, Precision) {
    let rows = rows_f64(values, p);
    let right = map.transform(&rows).expect("features");
    let (z, precision) = features(map, values, p);
    let q = map.n_features();
    let mut worst = 0.0f64;
    for (i, z) in z.chunks_exact(q).enumerate() {
        let own = rows.select(&[i]);
        let unit = map.expansion.kernel.matrix(&own, &own).expect("value")[(0, 0)].sqrt();
        for (j, z) in z.iter().enumerate() {
            worst = worst.max((f64::from(*z) - right[(i, j)]).abs() / unit.max(f64::MIN_POSITIVE));
        }
    }
    (worst, precision)
}

fn fitted(shape: Shape, gamma: Gamma, values: &[f32], p: usize, m: usize) -> FeatureMap {
    let basis = Basis { shape, gamma, ..Basis::new(Method::Rpcholesky, Kernel::rbf(1.0)) };
    FeatureMap::from(basis.n_components(m).fit(&rows_f64(values, p)).expect("fits"))
}

const SHAPES: [Shape; 10] = [
    Shape::Rbf,
    Shape::Matern12,
    Shape::Matern32,
    Shape::Matern52,
    Shape::Rq { alpha: 1.5 },
    Shape::Linear,
    Shape::Poly { degree: 3, coef0: 1.0 },
    Shape::Cosine,
    Shape::Laplacian,
    Shape::Rbf,
];

#[test]
fn float32_differs_from_float64_by_less_than_a_hundred_thousandth() {
    for (shape, p) in SHAPES.into_iter().zip([20, 20, 20, 20, 20, 60, 20, 60, 20, 10]) {
        let (train, new) = (normal(300, p, 1), normal(700, p, 2));
        let map = fitted(shape, Gamma::Value(1.0 / p as f64), &train, p, 25);
        let (error, precision) = error(&map, &new, p);
        assert!(error <= 1e-5, "{}: {error:e}", shape.name());
        let narrow = shape.name() != "laplacian";
        assert_eq!(precision == Precision::Single, narrow, "{}", shape.name());
    }
}

#[test]
fn nasty_rows_keep_their_digits_whatever_they_are_computed_in() {
    let p = 6;
    let plain = normal(400, p, 3);
    let clusters: Vec<f32> = (0..400 * p).map(|i| plain[i] * 1e-3 + 50.0 * ((i / p) % 7) as f32).collect();
    let mut constant = plain.clone();
    constant.chunks_exact_mut(p).for_each(|row| row[2] = 1e4);
    let cases: [(&str, Vec<f32>, usize); 8] = [
        ("huge", plain.iter().map(|v| v * 1e15).collect(), p),
        ("tiny", plain.iter().map(|v| v * 1e-15).collect(), p),
        ("offset", plain.iter().map(|v| v + 3e3).collect(), p),
        ("constant", constant, p),
        ("clusters", clusters, p),
        ("duplicates", [&plain[..60], &plain[..60], &plain[..60], &plain[60..120]].concat(), p),
        ("one column", plain.clone(), 1),
        ("few rows", plain[..600].to_vec(), 60),
    ];
    for (name, values, p) in &cases {
        for shape in SHAPES {
            for gamma in [Gamma::Scale, Gamma::Median] {
                let map = fitted(shape, gamma, values, *p, 30);
                let (error, _) = error(&map, values, *p);
                assert!(error <= 1e-5, "{name} {}: {error:e}", shape.name());
            }
        }
    }
}

#[test]
fn equal_rows_have_equal_features_and_a_landmark_is_at_distance_zero() {
    let values = normal(50, 4, 5);
    let map = fitted(Shape::Rbf, Gamma::Value(0.5), &values, 4, 10);
    let first = map.pivots[0];
    let row = &values[first * 4..first * 4 + 4];
    let (z, precision) = features(&map, &row.repeat(100), 4);
    assert_eq!(precision, Precision::Single);
    assert!(z.chunks_exact(10).all(|other| *other == z[..10]));
    assert_eq!(features(&map, row, 4).1, Precision::Double); // one row is not worth the decision
    assert!((z[0] - 1.0).abs() <= f32::EPSILON, "{}", z[0]);
}

#[test]
fn a_map_of_large_coefficients_is_applied_in_float64() {
    let values = normal(200, 2, 7);
    let basis = Basis::kobl(Kernel::rbf(0.01)).fit(&rows_f64(&values, 2)).expect("fits");
    let map = FeatureMap::from(basis);
    let (z, precision) = features(&map, &values, 2);
    assert_eq!(precision, Precision::Double);
    let right = map.transform(&rows_f64(&values, 2)).expect("features");
    for (i, z) in z.chunks_exact(map.n_features()).enumerate() {
        assert!(z.iter().enumerate().all(|(j, z)| *z == right[(i, j)] as f32));
    }
}

#[test]
fn the_decision_does_not_depend_on_the_scale_of_features() {
    let values = normal(200, 8, 9);
    let map = fitted(Shape::Rbf, Gamma::Value(0.1), &values, 8, 20);
    let wild = FeatureMap::from(Basis::kobl(Kernel::rbf(1e-3)).fit(&rows_f64(&values, 8)).expect("fits"));
    for factor in [1e-9, 1.0, 1e9] {
        let scaled = |map: &FeatureMap| {
            let q = map.n_features();
            let columns: Vec<usize> = (0..q).collect();
            FeatureMap::from_columns("eks", map.clone(), &columns, Some(&vec![factor; q]), Vec::new())
                .expect("columns")
        };
        assert_eq!(scaled(&map).expansion.precision(), Precision::Single, "{factor:e}");
        assert_eq!(scaled(&wild).expansion.precision(), Precision::Double, "{factor:e}");
    }
}

#[test]
fn scaling_is_part_of_it() {
    let p = 5;
    let values: Vec<f32> =
        normal(300, p, 11).iter().enumerate().map(|(i, v)| v * 10f32.powf((i % p) as f32)).collect();
    let rows = rows_f64(&values, p);
    let scaling = Scaling::fit(Scale::Standard, &rows).0.expect("scaling");
    let scaled = scaling.apply(&rows).expect("scaled");
    let mut map =
        FeatureMap::from(Basis::kobl(Kernel::rbf(0.2)).n_components(20).fit(&scaled).expect("fits"));
    map.scaling = Some(scaling);
    let (z, precision) = features(&map, &values, p);
    let right = map.transform(&rows).expect("features");
    assert_eq!(precision, Precision::Single);
    for (i, z) in z.chunks_exact(20).enumerate() {
        assert!(z.iter().enumerate().all(|(j, z)| (f64::from(*z) - right[(i, j)]).abs() <= 1e-5));
    }
}

#[test]
fn products_too_large_for_float32_are_computed_in_float64() {
    let mut values = normal(300, 4, 13);
    let map = fitted(Shape::Poly { degree: 3, coef0: 1.0 }, Gamma::Value(0.25), &values, 4, 15);
    values[40] = 1e12; // k(x,x) = 1e71, √k = 1e35
    let (error, _) = error(&map, &values, 4);
    assert!(error <= 1e-5, "{error:e}");
}

#[test]
fn the_bits_are_the_same_for_any_number_of_threads() {
    let values = normal(1500, 10, 15);
    for shape in [Shape::Rbf, Shape::Linear, Shape::Laplacian] {
        let map = fitted(shape, Gamma::Value(0.1), &values, 10, 9);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
            pool.install(|| features(&map, &values, 10).0)
        };
        let one = run(1);
        assert!(one == run(2) && one == run(8), "{}", shape.name());
    }
}

#[test]
fn rows_that_cannot_be_used_are_refused_as_in_float64() {
    let values = normal(30, 3, 17);
    let map = fitted(Shape::Rbf, Gamma::Value(0.3), &values, 3, 5);
    let refused = |values: &[f32], p: usize| {
        let rows = Rows::dense_f32(values, values.len() / p, p).expect("rows");
        let mut out = vec![0.0; rows.n() * 5];
        let memory = MatMut::from_row_major_slice_mut(&mut out, rows.n(), 5);
        map.transform_f32_into(&rows, memory, &Monitor::default()).expect_err("refused").to_string()
    };
    for (bad, p) in [(f32::NAN, 3), (f32::INFINITY, 3), (0.0, 2)] {
        let mut values = values.clone();
        values[7] = bad;
        let right = map.transform(&rows_f64(&values, p)).expect_err("refused").to_string();
        assert_eq!(refused(&values, p), right);
    }
    assert!(Rows::dense_f32(vec![0.0f32; 5], 2, 3).is_err());
}
