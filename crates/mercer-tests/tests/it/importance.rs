//! How much features depend on inputs: against differences of the features themselves, and against plain loops.

use faer::Mat;
use mercer::basis::Landmarks;
use mercer::data::{Scale, Scaling, synth};
use mercer::{Basis, Error, FeatureMap, Kernel, Monitor, Rows, Shape};

use crate::kernel::{FORMULAS, rows, sparse};
use crate::naive::{self, Matrix};

const DEGREE: u32 = 3;
const COEF0: f64 = 0.7;
const ALPHA: f64 = 1.7;

fn kernel(name: &str, gamma: f64) -> Kernel {
    Kernel { shape: Shape::named(name, DEGREE, COEF0, ALPHA).expect("known"), gamma }
}

/// A map onto these landmarks with a matrix of random numbers: any kernel will do, also one that has no basis.
fn random_map(kernel: Kernel, landmarks: &Matrix, q: usize, seed: u64) -> FeatureMap {
    let mut map =
        FeatureMap::from(Basis::kobl(Kernel::rbf(1.0)).n_components(1).fit(&rows(landmarks)).expect("fits"));
    let a = naive::random_rows(q, landmarks.len(), seed);
    map.expansion.kernel = kernel;
    map.expansion.landmarks = Landmarks::Rows(rows(landmarks));
    map.expansion.matrix = Mat::from_fn(q, landmarks.len(), |i, j| a[i][j]);
    map.expansion.offset = vec![0.25; q];
    map
}

fn positive(x: Matrix) -> Matrix {
    x.into_iter().map(|row| row.into_iter().map(|v| v.abs() + 0.1).collect()).collect()
}

fn importance(map: &FeatureMap, x: &Rows) -> Mat<f64> {
    map.input_importance(x, &Monitor::default()).expect("slopes")
}

/// Mean squared central differences of the features, in steps of h as the kernel sees the inputs.
fn by_differences(map: &FeatureMap, x: &Matrix, h: f64) -> Matrix {
    let p = x[0].len();
    let mut sum = naive::zeros(map.n_features(), p);
    for j in 0..p {
        let step = h / map.scaling.as_ref().map_or(1.0, |s| s.factor[j]);
        let moved = |by: f64| {
            let moved: Matrix = x
                .iter()
                .map(|row| {
                    let mut row = row.clone();
                    row[j] += by;
                    row
                })
                .collect();
            map.transform(&rows(&moved)).expect("features")
        };
        let (up, down) = (moved(step), moved(-step));
        for q in 0..map.n_features() {
            let slopes = (0..x.len()).map(|i| ((up[(i, q)] - down[(i, q)]) / (2.0 * h)).powi(2));
            sum[q][j] = slopes.sum::<f64>() / x.len() as f64;
        }
    }
    sum
}

fn assert_close(fast: &Mat<f64>, slow: &Matrix, tolerance: f64, what: &str) {
    assert_eq!((fast.nrows(), fast.ncols()), (slow.len(), slow[0].len()), "{what}");
    for (q, line) in slow.iter().enumerate() {
        let size = line.iter().fold(0.0f64, |m, v| m.max(*v)).max(f64::MIN_POSITIVE);
        for (j, expected) in line.iter().enumerate() {
            let error = (fast[(q, j)] - expected).abs() / size;
            assert!(error <= tolerance, "{what} ({q}, {j}): {} for {expected}", fast[(q, j)]);
        }
    }
}

#[test]
fn slopes_are_the_differences_of_the_features_for_every_kernel() {
    let (landmarks, x) = (positive(naive::random_rows(20, 4, 70)), positive(naive::random_rows(150, 4, 71)));
    for &name in FORMULAS {
        let map = random_map(kernel(name, 0.3), &landmarks, 5, 72);
        let slow = by_differences(&map, &x, 1e-5);
        for data in [rows(&x), sparse(&x)] {
            assert_close(&importance(&map, &data), &slow, 1e-6, name);
        }
    }
}

#[test]
fn slopes_are_taken_after_the_scaling_so_units_do_not_matter() {
    let x = positive(naive::random_rows(60, 3, 73));
    let units = [1.0, 1e-4, 1e6];
    let other: Matrix = x.iter().map(|r| r.iter().zip(units).map(|(v, u)| v * u + u).collect()).collect();
    let fit = |x: &Matrix| {
        let scaling = Scaling::fit(Scale::Standard, &rows(x)).0;
        let scaled = scaling.as_ref().expect("scaled").apply(&rows(x)).expect("scaled");
        let basis = Basis::kobl(Kernel::rbf(0.3)).n_components(6).fit(&scaled).expect("fits");
        FeatureMap { scaling, ..FeatureMap::from(basis) }
    };
    let (map, same) = (fit(&x), fit(&other));
    let slow = by_differences(&map, &x, 1e-5);
    assert_close(&importance(&map, &rows(&x)), &slow, 1e-6, "scaled");
    assert_close(&importance(&same, &rows(&other)), &slow, 1e-6, "other units");
}

#[test]
fn slopes_equal_plain_loops_on_nasty_rows_and_are_numbers_at_the_landmarks_themselves() {
    for (set, x) in naive::nasty_sets() {
        for &name in FORMULAS {
            let x: Matrix = if name.ends_with("chi2") {
                x.iter().map(|r| r.iter().map(|v| v.abs()).collect()).collect()
            } else {
                x.clone()
            };
            let gamma = naive::gamma_scale(&x, name == "laplacian");
            let landmarks = x[..x.len() / 2].to_vec();
            let map = random_map(kernel(name, gamma), &landmarks, 3, 74);
            let a = naive::random_rows(3, landmarks.len(), 74);
            let slope = |x: &[f64], y: &[f64], j: usize| {
                naive::kernel_slope(name, gamma, DEGREE, COEF0, ALPHA, x, y, j)
            };
            let slow = naive::squared_slopes(&a, &x, &landmarks, slope);
            for data in [rows(&x), sparse(&x)] {
                assert_close(&importance(&map, &data), &slow, 1e-8, &format!("{name} on {set}"));
            }
        }
    }
}

#[test]
fn no_scale_of_the_rows_makes_a_slope_that_is_no_number() {
    let mut x = naive::random_rows(25, 3, 75);
    x[3] = vec![0.0; 3];
    for scale in [1e-140, 1e-60, 1e60, 1e140] {
        let x: Matrix = x.iter().map(|r| r.iter().map(|v| v.abs() * scale).collect()).collect();
        for name in ["rbf", "matern12", "matern32", "matern52", "rq", "laplacian", "chi2", "cosine"] {
            let squares = !matches!(name, "laplacian" | "chi2");
            let gamma = if squares { scale.powi(-2) } else { 1.0 / scale };
            let map = random_map(kernel(name, gamma), &x[..10].to_vec(), 2, 76);
            let found = importance(&map, &rows(&x));
            let largest =
                found.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).fold(0.0, f64::max);
            let unit = largest * scale * scale;
            assert!(unit > 1e-4 && unit < 1e6, "{name} at {scale}: {largest}");
        }
    }
    // Rows so far off that differences overflow are where every slope is 0.
    let far = rows(&vec![vec![f64::MAX; 3], vec![-f64::MAX; 3]]);
    for name in ["rbf", "matern12", "matern32", "matern52", "rq", "laplacian"] {
        let map = random_map(kernel(name, 1.0), &vec![vec![-f64::MAX; 3], vec![1.0; 3]], 2, 77);
        let found = importance(&map, &far);
        assert!(found.col_iter().all(|c| c.iter().all(|v| v.is_finite() && *v < 1e-6)), "{name}: {found:?}");
    }
}

#[test]
fn importance_finds_the_inputs_that_a_feature_is_made_from() {
    // The third column is constant where the kernel looks, the first two make the feature.
    let x: Matrix =
        naive::random_rows(80, 3, 78).into_iter().map(|r| vec![r[0], 0.5 * r[1], 1e-3 * r[2]]).collect();
    let map = FeatureMap::from(Basis::kobl(Kernel::linear()).n_components(2).fit(&rows(&x)).expect("fits"));
    let found = importance(&map, &rows(&x));
    // Orthonormal coordinates of a linear kernel: the squared slopes of each sum to 1.
    for q in 0..2 {
        assert!((found.row(q).sum() - 1.0).abs() < 1e-9);
    }
    assert!(found.col(2).sum() < 1e-4 * found.col(0).sum());
}

#[test]
fn one_and_two_threads_give_the_same_importance() {
    let table = synth::generate("ringnorm?n=3000&seed=6").expect("rows");
    let basis = Basis::kobl(Kernel::rbf(0.05)).n_components(30).fit(&table.rows).expect("fits");
    let map = FeatureMap::from(basis);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| importance(&map, &table.rows))
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn importance_that_cannot_be_had_is_refused_in_words() {
    let x = naive::random_rows(20, 3, 79);
    let given = rows(&naive::gram("rbf", 0.4, 3, 1.0, 1.0, &x));
    let map = FeatureMap::from(Basis::kobl(Kernel::precomputed()).fit(&given).expect("fits"));
    let text = |map: &FeatureMap, x: &Rows| {
        map.input_importance(x, &Monitor::default()).expect_err("refused").to_string()
    };
    assert!(text(&map, &given).contains("the inputs behind it are not known"));
    let map = FeatureMap::from(Basis::kobl(Kernel::rbf(0.4)).fit(&rows(&x)).expect("fits"));
    assert!(text(&map, &rows(&naive::random_rows(2, 5, 1))).contains("X has 5 features"));
    let none = Rows::dense(Vec::new(), 0, 3).expect("rows");
    assert!(text(&map, &none).contains("no rows were given"));
    let hole = Rows::dense(vec![0.0, f64::NAN, 0.0], 1, 3).expect("rows");
    assert!(text(&map, &hole).contains("NaN at row 1, column 2"));
    let mut scaled = map.clone();
    scaled.scaling = Some(Scaling::of_factors(vec![1.0; 3]));
    assert!(text(&scaled, &rows(&naive::random_rows(2, 5, 1))).contains("X has 5 features"));

    let (starts, columns) = ((0..=40).collect::<Vec<_>>(), (0..40).map(|i| i * 100_000).collect::<Vec<_>>());
    let wide = Rows::sparse(starts, columns, vec![1.0; 40], 4_000_000).expect("rows");
    let map = FeatureMap::from(Basis::kobl(Kernel::rbf(0.4)).fit(&wide).expect("fits"));
    let error = map.expansion.check_importance(wide.n(), 2 << 30).expect_err("large");
    assert!(
        matches!(&error, Error::Memory(text) if text.contains("4000000 inputs") && text.contains("\nhint: "))
    );

    let monitor = Monitor::default();
    monitor.stop();
    let map = FeatureMap::from(Basis::kobl(Kernel::rbf(0.4)).fit(&rows(&x)).expect("fits"));
    assert!(matches!(map.input_importance(&rows(&x), &monitor), Err(Error::Interrupted)));
}
