//! The fitted model: transform, pre-image, and a file that is doubted before it is trusted.

use faer::Mat;
use mercer::basis::{Method, Threshold};
use mercer::data::{Labels, Scale, Scaling, synth};
use mercer::map::{FORMAT_VERSION, UNIT_FORMAT_VERSION};
use mercer::{Basis, FeatureMap, Kernel, Monitor, Rows, Shape};
use proptest::prelude::*;

use crate::kernel::{FORMULAS, rows, sparse};
use crate::naive;

fn small_map() -> FeatureMap {
    let x = rows(&naive::random_rows(30, 3, 60));
    let scaling = Scaling::fit(Scale::Standard, &x).0;
    let scaled = scaling.as_ref().expect("scaled").apply(&x).expect("scaled");
    let mut map = FeatureMap::from(Basis::kobl(Kernel::rbf(0.3)).n_components(6).fit(&scaled).expect("fits"));
    map.scaling = scaling;
    map.input_names = Some(["a", "b", "c"].map(String::from).to_vec());
    map.scores = vec![6.0, 5.0, 4.0, 3.0, 2.0, 1.0];
    map
}

fn saved(map: &FeatureMap) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("model.mercer");
    map.save(&path).expect("saved");
    std::fs::read(&path).expect("bytes")
}

fn load(bytes: &[u8]) -> Result<FeatureMap, String> {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("model.mercer");
    std::fs::write(&path, bytes).expect("written");
    FeatureMap::load(&path).map_err(|e| e.to_string())
}

#[test]
fn a_model_comes_back_as_it_was_for_every_kernel_and_kind_of_rows() {
    let x = naive::random_rows(40, 4, 61);
    let x: naive::Matrix = x.iter().map(|r| r.iter().map(|v| v.abs()).collect()).collect();
    let labels = Labels::Numbers(x.iter().map(|r| r[0] + 0.5).collect());
    for &name in FORMULAS {
        let kernel = Kernel { shape: Shape::named(name, 2, 0.5, 1.3).expect("known"), gamma: 0.123_456_789 };
        for data in [rows(&x), sparse(&x)] {
            let Ok(basis) = Basis::kobl(kernel).n_components(5).fit(&data) else {
                assert_eq!(name, "sigmoid", "only the sigmoid kernel may be refused");
                continue;
            };
            let map = FeatureMap::from(basis);
            let again = load(&saved(&map)).expect("loads");
            assert_eq!(again, map, "{name}");
        }
    }
    for method in Method::ALL.into_iter().filter(|m| *m != Method::Kmeans) {
        let k = rows(&naive::gram("rbf", 0.4, 3, 1.0, 1.0, &x));
        let given = Basis::new(method, Kernel::precomputed())
            .n_components(5)
            .fit_supervised(&k, &labels)
            .expect("fits");
        let map = FeatureMap::from(given);
        assert_eq!(load(&saved(&map)).expect("loads"), map, "{}", method.name());
    }
    let map = small_map();
    assert_eq!(load(&saved(&map)).expect("loads"), map);
}

#[test]
fn damaged_files_say_what_is_wrong() {
    let bytes = saved(&small_map());
    let text = |bytes: &[u8]| load(bytes).expect_err("refused");
    for length in [0, 5] {
        assert!(text(&bytes[..length]).contains("truncated or empty"), "{}", text(&bytes[..length]));
    }
    assert!(text(&bytes[..60]).contains("ends inside its header"), "{}", text(&bytes[..60]));
    let cut = text(&bytes[..bytes.len() - 9]);
    assert!(cut.contains("truncated or damaged"), "{cut}");
    let foreign = text(b"PAR1 this is some other file, long enough to be one");
    assert!(foreign.contains("not a mercer model") && foreign.contains("hint:"), "{foreign}");
    let other =
        safetensors::serialize(Vec::<(String, safetensors::tensor::TensorView)>::new(), None).expect("bytes");
    assert!(text(&other).contains("without mercer's header"), "{}", text(&other));
    let missing = FeatureMap::load("no-such-model.mercer").expect_err("missing").to_string();
    assert!(missing.contains("no-such-model.mercer"), "{missing}");
}

/// Replaces text of the same length in the header.
fn edited(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).expect("there");
    [&bytes[..at], to.as_bytes(), &bytes[at + to.len()..]].concat()
}

#[test]
fn newer_and_tampered_files_are_refused() {
    let bytes = saved(&small_map());
    let text = |bytes: &[u8]| load(bytes).expect_err("refused");
    let newer = text(&edited(&bytes, r#"\"format\":1"#, r#"\"format\":9"#));
    assert!(
        newer.contains("format 9, newer than this program's 3") && newer.contains("hint: update"),
        "{newer}"
    );
    let kernel = text(&edited(&bytes, r#"\"name\":\"rbf\""#, r#"\"name\":\"rbg\""#));
    assert!(kernel.contains("kernel = `rbg` is not known"), "{kernel}");
    let inputs = text(&edited(&bytes, r#"\"n_inputs\":3"#, r#"\"n_inputs\":4"#));
    assert!(inputs.contains("3 columns, but the header says 4"), "{inputs}");

    // A NaN in the last tensor of floats, wherever the format put it.
    let mut nan = bytes.clone();
    let one = 6.0f64.to_le_bytes();
    let at = nan.windows(8).position(|w| w == one).expect("the first score");
    nan[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(text(&nan).contains("holds NaN at position 0: the file is damaged"), "{}", text(&nan));

    // Sizes in the wrong order: the same number of values, another shape.
    let turned = text(&edited(&bytes, "\"shape\":[6,3]", "\"shape\":[3,6]"));
    assert!(turned.contains("`landmarks` has 6 columns"), "{turned}");
    let mut fewer = small_map();
    fewer.feature_names.pop();
    assert!(text(&saved(&fewer)).contains("`feature_names` has 5 names, but 6 are needed"));
    let mut offset = small_map();
    offset.expansion.offset.push(0.0);
    assert!(text(&saved(&offset)).contains("`offset` has 7 numbers, but 6 are needed"));
}

/// A file of this header and these tensors.
fn written(header: &str, floats: &[(&str, &[usize], &[f64])], whole: &[(&str, &[u64])]) -> Vec<u8> {
    use safetensors::{Dtype, tensor::TensorView};
    let floats = floats.iter().map(|(name, shape, values)| {
        (*name, Dtype::F64, shape.to_vec(), values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
    });
    let whole = whole.iter().map(|(name, values)| {
        (*name, Dtype::U64, vec![values.len()], values.iter().flat_map(|v| v.to_le_bytes()).collect())
    });
    let parts: Vec<_> = floats.chain(whole).collect();
    let tensors = parts.iter().map(|(name, dtype, shape, bytes)| {
        (*name, TensorView::new(*dtype, shape.clone(), bytes).expect("a tensor"))
    });
    let metadata = std::collections::HashMap::from([("mercer".to_string(), header.to_string())]);
    safetensors::serialize(tensors, Some(metadata)).expect("bytes")
}

/// A model as the first program that wrote such files wrote it: z(x) = 2·exp(−‖x − 1‖²/2) − 0.5, facts without a value as null,
/// and one that is no longer known.
#[test]
fn a_file_of_the_first_program_loads() {
    let header = r#"{"format":1,"written_by":"mercer 0.1.0","method":"gda",
        "kernel":{"name":"rbf","gamma":0.5,"degree":3,"coef0":1.0,"alpha":1.0},"n_inputs":1,"input_names":["width"],
        "feature_names":["gda0"],"facts":{"basis":"kobl","coordinates":1,"rows":7,"residual":0.25,"kernel_evaluations":14,
        "stopped_by":"cap","explained":[1.0],"source":"train.csv","scale":"none","seed":3,"settings":{"gamma":"0.5"},
        "target":null,"task":null,"once_known":[1,2]}}"#;
    let floats: [(&str, &[usize], &[f64]); 6] = [
        ("matrix", &[1, 1], &[2.0]),
        ("offset", &[1], &[0.5]),
        ("landmarks", &[1, 1], &[1.0]),
        ("scores", &[0], &[]),
        ("pivot_norms", &[1], &[2.0]),
        ("eigenvalues", &[1], &[0.5]),
    ];
    let map = load(&written(header, &floats, &[("pivots", &[4])])).expect("loads");
    assert_eq!((map.method.as_str(), map.pivots.as_slice()), ("gda", [4].as_slice()));
    assert_eq!((map.facts.rows, map.facts.seed, map.facts.target.as_deref()), (Some(7), Some(3), None));
    assert_eq!(map.facts.stopped_by, Some(mercer::basis::Stop::Cap));
    assert_eq!(map.facts.settings.get("gamma").map(String::as_str), Some("0.5"));
    let z = map.transform(&Rows::dense(vec![1.0, 2.0], 2, 1).expect("rows")).expect("features");
    assert!((z[(0, 0)] - 1.5).abs() < 1e-15 && (z[(1, 0)] - (2.0 * (-0.5f64).exp() - 0.5)).abs() < 1e-15);
}

/// Two features of two sparse landmarks, (0, 3, 0) and (1, 0, 2), with a linear kernel: z(x) = (3·x₂, x₁ + 2·x₃ − 1).
#[test]
fn a_sparse_file_of_the_first_program_loads() {
    let header = r#"{"format":1,"written_by":"mercer 0.1.0","method":"sparse",
        "kernel":{"name":"linear","gamma":1.0,"degree":3,"coef0":1.0,"alpha":1.0},"n_inputs":3,"input_names":null,
        "feature_names":["sparse0","sparse1"],"facts":{"rows":5,"kernel_evaluations":10,"stopped_by":"rank"}}"#;
    let floats: [(&str, &[usize], &[f64]); 6] = [
        ("matrix", &[2, 2], &[1.0, 0.0, 0.0, 1.0]),
        ("offset", &[2], &[0.0, 1.0]),
        ("scores", &[0], &[]),
        ("pivot_norms", &[2], &[3.0, 2.2]),
        ("eigenvalues", &[0], &[]),
        ("landmarks.values", &[3], &[3.0, 1.0, 2.0]),
    ];
    let whole: [(&str, &[u64]); 3] =
        [("landmarks.indptr", &[0, 1, 3]), ("landmarks.indices", &[1, 0, 2]), ("pivots", &[4, 0])];
    let map = load(&written(header, &floats, &whole)).expect("loads");
    assert_eq!(map.pivots, [4, 0]);
    let x = vec![vec![0.0, 2.0, 0.5], vec![4.0, 0.0, 0.0]];
    for x in [rows(&x), sparse(&x)] {
        let z = map.transform(&x).expect("features");
        assert_eq!([z[(0, 0)], z[(0, 1)], z[(1, 0)], z[(1, 1)]], [6.0, 0.0, 0.0, 3.0]);
    }
}

/// The columns' centers are subtracted and the rest is multiplied by their factors: z(x) = 2·(x₁ − 1) + 0.5·(x₂ + 2).
#[test]
fn a_scaled_file_of_the_first_program_loads() {
    let header = r#"{"format":1,"written_by":"mercer 0.1.0","method":"kobl",
        "kernel":{"name":"linear","gamma":1.0,"degree":3,"coef0":1.0,"alpha":1.0},"n_inputs":2,"input_names":["a","b"],
        "feature_names":["kobl0"],"facts":{"rows":5,"scale":"standard","stopped_by":"cap"}}"#;
    let floats: [(&str, &[usize], &[f64]); 8] = [
        ("matrix", &[1, 1], &[1.0]),
        ("offset", &[1], &[0.0]),
        ("landmarks", &[1, 2], &[1.0, 1.0]),
        ("scores", &[0], &[]),
        ("pivot_norms", &[1], &[1.5]),
        ("eigenvalues", &[0], &[]),
        ("scaling.center", &[2], &[1.0, -2.0]),
        ("scaling.factor", &[2], &[2.0, 0.5]),
    ];
    let map = load(&written(header, &floats, &[("pivots", &[2])])).expect("loads");
    assert_eq!(map.input_names.as_deref(), Some(["a".to_string(), "b".to_string()].as_slice()));
    let z = map.transform(&rows(&vec![vec![1.0, -2.0], vec![3.0, 2.0]])).expect("features");
    assert_eq!([z[(0, 0)], z[(1, 0)]], [0.0, 6.0]);
}

#[test]
fn a_failed_save_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("missing").join("model.mercer");
    assert!(small_map().save(&path).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_makes_loading_panic(at in 0usize..4_000, byte in 0u8..=255, cut in 0usize..4_000) {
        let mut bytes = saved(&small_map());
        let at = at % bytes.len();
        bytes[at] = byte;
        if cut < bytes.len() && cut % 3 == 0 {
            bytes.truncate(cut);
        }
        if let Ok(map) = load(&bytes)
            && let Ok(z) = map.transform(&rows(&naive::random_rows(3, 3, 1)))
        {
            let _ = map.inverse_transform(z.as_ref(), &Monitor::default());
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_by_what_is_wrong_with_them() {
    let map = small_map();
    let wide = map.transform(&rows(&naive::random_rows(2, 5, 1))).expect_err("columns").to_string();
    assert!(wide.contains("X has 5 features, but the map was fitted on 3"), "{wide}");
    let nan = Rows::dense(vec![0.0, f64::INFINITY, 0.0], 1, 3).expect("rows");
    let nan = map.transform(&nan).expect_err("infinity").to_string();
    assert!(nan.contains("infinity at row 1, column 2 (`b`)"), "{nan}");
    let linear = FeatureMap::from(
        Basis::kobl(Kernel::linear()).fit(&rows(&naive::random_rows(9, 3, 1))).expect("fits"),
    );
    let huge = Rows::dense(vec![1e200, 0.0, 0.0], 1, 3).expect("rows");
    let huge = linear.transform(&huge).expect_err("overflow").to_string();
    assert!(huge.contains("the kernel `linear` overflows"), "{huge}");
    // Rows are counted from the first of all, not of a panel.
    let mut positive = small_map();
    positive.expansion.kernel.shape = Shape::Chi2;
    positive.scaling = Some(Scaling::of_factors(vec![1.0; 3]));
    let mut many = vec![1.0; 900 * 3];
    many[600 * 3 + 1] = -1.0;
    let many =
        positive.transform(&Rows::dense(many, 900, 3).expect("rows")).expect_err("negative").to_string();
    assert!(many.contains("at row 601, column 2"), "{many}");
    let mut short = faer::Mat::zeros(1, 6);
    let short = map.transform_into(&rows(&naive::random_rows(2, 3, 1)), short.as_mut(), &Monitor::default());
    assert!(short.expect_err("shape").to_string().contains("1 × 6 features was given, but 2 × 6"));
    let shifted = map.transform(&sparse(&naive::random_rows(2, 3, 1))).expect_err("sparse").to_string();
    assert!(shifted.contains("which is not possible for sparse rows"), "{shifted}");
}

#[test]
fn dense_and_sparse_rows_may_meet_a_model_of_the_other_kind() {
    let x = naive::random_rows(50, 4, 62);
    let fit =
        |x: &Rows| FeatureMap::from(Basis::kobl(Kernel::rbf(0.2)).n_components(8).fit(x).expect("fits"));
    let (dense, thin) = (fit(&rows(&x)), fit(&sparse(&x)));
    let z = dense.transform(&rows(&x)).expect("features");
    for map in [&dense, &thin] {
        for data in [rows(&x), sparse(&x)] {
            assert!((map.transform(&data).expect("features") - &z).norm_max() < 1e-12);
        }
    }
}

#[test]
fn at_full_rank_the_pre_image_is_the_row_itself() {
    let x = naive::random_rows(40, 2, 63);
    let fresh = naive::random_rows(10, 2, 64);
    for name in ["linear", "poly", "rbf", "matern12", "matern32", "matern52", "rq"] {
        let kernel = Kernel { shape: Shape::named(name, 3, 1.0, 1.0).expect("known"), gamma: 0.3 };
        let map = FeatureMap::from(
            Basis::kobl(kernel).threshold(Threshold::Constant(0.0)).fit(&rows(&x)).expect("fits"),
        );
        let back =
            map.inverse_transform(map.transform(&rows(&x)).expect("features").as_ref(), &Monitor::default());
        let back = back.expect("pre-images");
        for (a, b) in back.iter().zip(x.concat()) {
            assert!((a - b).abs() < 1e-5, "{name}: {a} for {b}");
        }
        // Rows that are no landmarks are met where the span holds them: smooth kernels in the plane.
        if matches!(name, "linear" | "poly" | "rbf" | "rq") {
            let z = map.transform(&rows(&fresh)).expect("features");
            let back = map.inverse_transform(z.as_ref(), &Monitor::default()).expect("pre-images");
            let inside: Vec<bool> = fresh.iter().map(|r| naive::dot(r, r) < 2.0).collect();
            for ((a, b), inside) in back.chunks(2).zip(&fresh).zip(inside) {
                assert!(!inside || naive::squared_distance(a, b) < 1e-4, "{name}: {a:?} for {b:?}");
            }
        }
    }
}

#[test]
fn no_point_of_a_grid_is_nearer_in_feature_space_than_the_pre_image() {
    let x = naive::random_rows(40, 2, 67);
    let grid: naive::Matrix = (-60..=60)
        .flat_map(|a| (-60..=60).map(move |b| vec![f64::from(a) / 20.0, f64::from(b) / 20.0]))
        .collect();
    for (degree, coef0) in [(1, 0.0), (2, 1.0), (3, 1.0), (3, 0.0), (5, 0.5)] {
        let kernel = Kernel { shape: Shape::Poly { degree, coef0 }, gamma: 0.3 };
        for components in [2, 4, 100] {
            let basis = Basis::kobl(kernel).threshold(Threshold::Constant(0.0)).n_components(components);
            let map = FeatureMap::from(basis.fit(&rows(&x)).expect("fits"));
            // Means of two rows' features: for most of them there is no row that has them.
            let z = map.transform(&rows(&x)).expect("features");
            let z = Mat::from_fn(20, z.ncols(), |i, j| f64::midpoint(z[(2 * i, j)], z[(2 * i + 1, j)]));
            let back = map.inverse_transform(z.as_ref(), &Monitor::default()).expect("pre-images");
            // Coordinates are orthonormal: ‖φ(x) − Φ‖² = k(x,x) − 2⟨z(x), z⟩ + ‖z‖².
            let squared = |points: &naive::Matrix| {
                let there = map.transform(&rows(points)).expect("features");
                let own: Vec<f64> =
                    points.iter().map(|x| naive::kernel("poly", 0.3, degree, coef0, 1.0, x, x)).collect();
                Mat::from_fn(points.len(), 20, |at, i| {
                    let z = z.row(i);
                    own[at] - 2.0 * (there.row(at) * z.transpose()) + z * z.transpose()
                })
            };
            let (of_grid, found) = (squared(&grid), squared(&back.chunks(2).map(<[f64]>::to_vec).collect()));
            for i in 0..20 {
                let nearest = of_grid.col(i).iter().copied().fold(f64::INFINITY, f64::min);
                let ours = found[(i, i)];
                assert!(
                    ours <= nearest + 1e-9,
                    "{kernel}, {components}, row {i}: {ours}, but the grid has {nearest}"
                );
            }
        }
    }
}

#[test]
fn the_pre_image_of_cosines_is_a_direction_as_long_as_landmarks_are_on_average() {
    let x = naive::random_rows(40, 3, 68);
    let cosine = Kernel { shape: Shape::Cosine, gamma: 1.0 };
    let basis = Basis::kobl(cosine).threshold(Threshold::Constant(0.0)).fit(&rows(&x)).expect("fits");
    let lengths: Vec<f64> = basis.pivots.iter().map(|&i| naive::dot(&x[i], &x[i]).sqrt()).collect();
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let map = FeatureMap::from(basis);
    let z = map.transform(&rows(&x)).expect("features");
    let back = map.inverse_transform(z.as_ref(), &Monitor::default()).expect("pre-images");
    for (found, x) in back.chunks(3).zip(&x) {
        let scale = mean / naive::dot(x, x).sqrt();
        assert!(found.iter().zip(x).all(|(f, x)| (f - scale * x).abs() < 1e-10), "{found:?} for {x:?}");
    }
    // Features between those of two rows have the direction between them.
    let half = Mat::from_fn(1, z.ncols(), |_, j| f64::midpoint(z[(0, j)], z[(1, j)]));
    let back = map.inverse_transform(half.as_ref(), &Monitor::default()).expect("a pre-image");
    let unit = |x: &[f64]| x.iter().map(|v| v / naive::dot(x, x).sqrt()).collect::<Vec<f64>>();
    let between: Vec<f64> = unit(&x[0]).iter().zip(unit(&x[1])).map(|(a, b)| a + b).collect();
    let between = unit(&between);
    assert!(back.iter().zip(&between).all(|(f, b)| (f - mean * b).abs() < 1e-10), "{back:?}");
    let nothing = Mat::zeros(1, z.ncols());
    let back = map.inverse_transform(nothing.as_ref(), &Monitor::default()).expect("a pre-image");
    assert_eq!(back, [0.0; 3]);
}

#[test]
fn an_even_degree_without_coef0_cannot_tell_a_row_from_its_negative() {
    let x = rows(&naive::random_rows(10, 2, 66));
    let even = |coef0| Kernel { shape: Shape::Poly { degree: 2, coef0 }, gamma: 0.3 };
    let map = |kernel| FeatureMap::from(Basis::kobl(kernel).fit(&x).expect("fits"));
    let z = map(even(0.0)).transform(&x).expect("features");
    let refused = map(even(0.0)).inverse_transform(z.as_ref(), &Monitor::default()).expect_err("refused");
    assert!(refused.to_string().contains("degree 2 with coef0 = 0"), "{refused}");
    let z = map(even(0.1)).transform(&x).expect("features");
    assert!(map(even(0.1)).inverse_transform(z.as_ref(), &Monitor::default()).is_ok());
}

#[test]
fn the_pre_image_of_centred_components_is_classical_pca_for_the_linear_kernel() {
    let x = naive::random_rows(60, 4, 65);
    let x: naive::Matrix = x.iter().map(|r| r.iter().map(|v| v + 5.0).collect()).collect();
    let mut basis = Basis::new(Method::Kpca, Kernel::linear()).n_components(2);
    basis.center = true;
    let map = FeatureMap::from(basis.fit(&rows(&x)).expect("fits"));
    let z = map.transform(&rows(&x)).expect("features");
    let back = map.inverse_transform(z.as_ref(), &Monitor::default()).expect("pre-images");
    // mean + the projection onto the two leading eigenvectors of the covariance
    let centered = naive::center_columns(&x);
    let (_, vectors) = naive::jacobi_eigen(&naive::matmul(&naive::transpose(&centered), &centered));
    let top = naive::columns(&vectors, &[0, 1]);
    let projected = naive::matmul(&naive::matmul(&centered, &top), &naive::transpose(&top));
    for i in 0..60 {
        for j in 0..4 {
            let expected = x[i][j] - centered[i][j] + projected[i][j];
            assert!((back[i * 4 + j] - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn scaling_is_undone_in_pre_images() {
    let x = naive::random_rows(30, 3, 60);
    let mut map = small_map();
    let scaled = map.scaling.as_ref().expect("scaled").apply(&rows(&x)).expect("scaled");
    let basis = Basis::kobl(Kernel::rbf(0.3)).threshold(Threshold::Constant(0.0)).fit(&scaled).expect("fits");
    map = FeatureMap { scaling: map.scaling, ..FeatureMap::from(basis) };
    let z = map.transform(&rows(&x)).expect("features");
    let back = map.inverse_transform(z.as_ref(), &Monitor::default()).expect("pre-images");
    assert!(back.iter().zip(x.concat()).all(|(a, b)| (a - b).abs() < 1e-5));
}

#[test]
fn kernels_without_a_pre_image_say_so() {
    for name in ["laplacian", "chi2", "additive_chi2", "match"] {
        let x = rows(
            &naive::random_rows(10, 2, 66).iter().map(|r| r.iter().map(|v| v.abs()).collect()).collect(),
        );
        let kernel = Kernel { shape: Shape::named(name, 2, 1.0, 1.0).expect("known"), gamma: 0.3 };
        let map = FeatureMap::from(Basis::kobl(kernel).fit(&x).expect("fits"));
        let z = map.transform(&x).expect("features");
        let text = map.inverse_transform(z.as_ref(), &Monitor::default()).expect_err("none").to_string();
        assert!(text.contains(&format!("`{name}` has no pre-image here")) && text.contains("rbf"), "{text}");
    }
}

/// A basis' own map, rows to try it on, and their features.
fn with_features(basis: &Basis, x: &Rows) -> (FeatureMap, faer::Mat<f64>) {
    let labels = Labels::Numbers((0..x.n()).map(|i| (i % 3) as f64 + 0.5).collect());
    let map = FeatureMap::from(basis.fit_supervised(x, &labels).expect("fits"));
    let z = map.transform(x).expect("features");
    (map, z)
}

#[test]
fn columns_of_a_basis_are_the_columns_of_its_features() {
    let x = naive::random_rows(60, 3, 67);
    let k = rows(&naive::gram("rbf", 0.4, 3, 1.0, 1.0, &x));
    for method in Method::ALL {
        for center in [false, true] {
            if center && method != Method::Kpca {
                continue;
            }
            for (kernel, data) in [
                (Kernel::rbf(0.4), rows(&x)),
                (Kernel::rbf(0.4), sparse(&x)),
                (Kernel::precomputed(), k.clone()),
            ] {
                if method == Method::Kmeans && kernel == Kernel::precomputed() {
                    continue;
                }
                let mut basis = Basis::new(method, kernel).n_components(12);
                basis.center = center;
                let (all, z) = with_features(&basis, &data);
                let what = format!("{} of {kernel:?}, centred {center}", method.name());
                let every: Vec<usize> = (0..z.ncols()).collect();
                let same =
                    FeatureMap::from_columns("eks", all.clone(), &every, None, Vec::new()).expect(&what);
                assert_eq!(same.transform(&data).expect("features"), z, "{what}");
                assert_eq!(same.expansion, all.expansion, "{what}");

                let (columns, weights) = ([1, 4, 7], [0.5, 1.0, 3.0]);
                let some = FeatureMap::from_columns(
                    "takes",
                    all.clone(),
                    &columns,
                    Some(&weights),
                    vec![3.0, 2.0, 1.0],
                );
                let some = some.expect(&what);
                let part = some.transform(&data).expect("features");
                for (at, (&j, w)) in columns.iter().zip(weights).enumerate() {
                    for i in 0..60 {
                        assert!((part[(i, at)] - w * z[(i, j)]).abs() < 1e-11 * w, "{what}");
                    }
                    assert_eq!(some.feature_names[at], all.feature_names[j]);
                }
                assert_eq!((some.method.as_str(), &some.scores[..]), ("takes", &[3.0, 2.0, 1.0][..]));
                assert_eq!(some.facts.basis.as_deref(), Some(method.name()));
                assert_eq!(load(&saved(&some)).expect("loads"), some, "{what}");
                // Pivoted bases are triangular: the eighth coordinate needs the first eight landmarks.
                if method == Method::Kpca {
                    assert_eq!(some.eigenvalues, [1, 4, 7].map(|j| all.eigenvalues[j]));
                    assert_eq!(some.expansion.landmarks.len(), 60);
                } else {
                    assert_eq!(some.expansion.landmarks.len(), 8, "{what}");
                    // Centres of clusters are no rows.
                    let pivots = if method == Method::Kmeans { &[] } else { &all.pivots[..8] };
                    assert_eq!(some.pivots, pivots);
                    assert_eq!(some.pivot_norms, all.pivot_norms[..8]);
                }
            }
        }
    }
}

#[test]
fn a_landmark_that_holds_the_origin_stays() {
    let x = rows(&naive::random_rows(30, 2, 68));
    let mut basis = Basis::new(Method::Kpca, Kernel::rbf(0.4)).n_components(3);
    basis.center = true;
    let (mut all, _) = with_features(&basis, &x);
    for l in [4, 9] {
        (0..3).for_each(|q| all.expansion.matrix[(q, l)] = 0.0);
    }
    all.expansion.origin.as_mut().expect("centred")[9] = 0.0;
    let map = FeatureMap::from_columns("eks", all, &[0, 2], None, Vec::new()).expect("columns");
    assert_eq!(map.pivots, (0..30).filter(|i| *i != 9).collect::<Vec<_>>());
    assert_eq!(map.expansion.origin.as_ref().map(Vec::len), Some(29));
    let z = map.transform(&x).expect("features");
    assert!(map.inverse_transform(z.as_ref(), &Monitor::default()).is_ok());
}

#[test]
fn columns_that_are_not_there_are_refused() {
    let (all, _) =
        with_features(&Basis::kobl(Kernel::rbf(0.4)).n_components(6), &rows(&naive::random_rows(30, 2, 69)));
    let text = |columns: &[usize], weights: Option<&[f64]>, scores: &[f64]| {
        let refused = FeatureMap::from_columns("eks", all.clone(), columns, weights, scores.to_vec());
        refused.expect_err("refused").to_string()
    };
    let none = text(&[], None, &[]);
    assert!(none.contains("none of the 6 coordinates was kept") && none.contains("\nhint: "), "{none}");
    assert!(text(&[2, 6], None, &[]).contains("column 6 was chosen, but there are only 6"));
    assert!(text(&[2, 2], None, &[]).contains("must ascend"));
    assert!(text(&[3, 2], None, &[]).contains("must ascend"));
    assert!(text(&[2, 3], Some(&[1.0]), &[]).contains("1 weights for 2 columns"));
    assert!(text(&[2, 3], Some(&[1.0, f64::NAN]), &[]).contains("one finite number for each"));
    assert!(text(&[2, 3], None, &[1.0]).contains("1 scores for 2 columns"));
}

#[test]
fn a_stopped_transform_ends_with_interrupted() {
    let table = synth::generate("ringnorm?n=3000&seed=1").expect("rows");
    let map =
        FeatureMap::from(Basis::kobl(Kernel::rbf(0.05)).n_components(20).fit(&table.rows).expect("fits"));
    let monitor = Monitor::default();
    monitor.stop();
    let mut out = faer::Mat::zeros(3_000, 20);
    let stopped = map.transform_into(&table.rows, out.as_mut(), &monitor);
    assert!(matches!(stopped, Err(mercer::Error::Interrupted)));
}

/// Rows divided by their length; rows of zeros stay.
fn of_unit_length(x: &naive::Matrix) -> naive::Matrix {
    let divided = |row: &Vec<f64>| {
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        row.iter().map(|v| if length > 0.0 { v / length } else { 0.0 }).collect()
    };
    x.iter().map(divided).collect()
}

#[test]
fn a_map_divides_rows_by_their_length_where_its_scaling_says_so() {
    let table = synth::generate("ringnorm?n=90&seed=3").expect("rows");
    let mut x: naive::Matrix =
        table.rows.to_dense().chunks_exact(table.rows.p()).map(<[f64]>::to_vec).collect();
    x[7].fill(0.0);
    x[8].iter_mut().skip(1).for_each(|v| *v = 0.0);
    let (p, given, divided) = (x[0].len(), rows(&x), rows(&of_unit_length(&x)));
    let basis = Basis::kobl(Kernel::rbf(0.5)).n_components(12).fit(&divided).expect("fits");
    let right = FeatureMap::from(basis.clone()).transform(&divided).expect("features");
    let map = FeatureMap::from(basis).after(Some(&Scaling::unit(p))).expect("one scaling");
    let close = |z: &Mat<f64>, tolerance: f64| {
        (0..90).all(|i| (0..12).all(|j| (z[(i, j)] - right[(i, j)]).abs() <= tolerance))
    };
    assert!(close(&map.transform(&given).expect("features"), 1e-13));
    assert!(close(&map.transform(&sparse(&x)).expect("features"), 1e-13));
    // In float32, too.
    let narrow: Vec<f32> = given.to_dense().iter().map(|v| *v as f32).collect();
    let narrow = Rows::dense_f32(narrow, 90, p).expect("rows");
    let mut out = vec![0.0f32; 90 * 12];
    let memory = faer::MatMut::from_row_major_slice_mut(&mut out, 90, 12);
    map.transform_f32_into(&narrow, memory, &Monitor::default()).expect("features");
    let narrow = Mat::from_fn(90, 12, |i, j| f64::from(out[i * 12 + j]));
    assert!(close(&narrow, 1e-5));
    // Its file is of a newer format, because an older program would not divide; others stay readable by it.
    let mut bytes = Vec::new();
    map.write_to(&mut bytes, "memory").expect("written");
    let again = FeatureMap::read_from(&bytes[..], "memory").expect("read");
    assert_eq!(again.scaling, map.scaling);
    assert_eq!(again.transform(&given).expect("features"), map.transform(&given).expect("features"));
    assert_eq!((map.format_version(), again.format_version()), (UNIT_FORMAT_VERSION, UNIT_FORMAT_VERSION));
    let plain = FeatureMap { scaling: Some(Scaling::of_factors(vec![2.0; p])), ..map.clone() };
    assert_eq!(plain.format_version(), FORMAT_VERSION);
    let mut bytes = Vec::new();
    plain.write_to(&mut bytes, "memory").expect("written");
    assert!(!String::from_utf8_lossy(&bytes).contains("unit_length"));
    assert_eq!(FeatureMap::read_from(&bytes[..], "memory").expect("read").scaling, plain.scaling);
}
