//! Which training rows a map uses.

use faer::Mat;
use mercer::basis::Landmarks;
use mercer::data::{Labels, Task, synth};
use mercer::evaluate::learn::Learner;
use mercer::{Basis, FeatureMap, Kernel, Options, Pipeline, Rows};

use crate::kernel::rows;
use crate::naive;

fn ringnorm(n: usize) -> (Rows<'static>, Labels) {
    let table = synth::generate(&format!("ringnorm?n={n}&seed=1")).expect("rows");
    (table.rows, Labels::decide(table.target.expect("classes"), Task::Auto).expect("labels"))
}

fn fitted(method: &str, settings: &[(&str, &str)], x: &Rows, labels: &Labels) -> FeatureMap {
    let settings = [settings, &[("gamma", "0.05")]].concat(); // the first counts
    let pipeline = Pipeline::new(method, &settings).expect("settings");
    pipeline.fit(x, Some(labels), &Options::default()).expect("fits").map
}

/// Maps on all kinds of bases, with features that need all landmarks, the first few or none of some.
fn maps(x: &Rows, labels: &Labels) -> Vec<(&'static str, FeatureMap)> {
    [
        ("kobl", &[("n_components", "9")][..]),
        ("gram-schmidt", &[("n_components", "9")]),
        ("kpca", &[("n_components", "4"), ("center", "true")]),
        ("takes", &[]),
        ("takes", &[("weighted", "false"), ("n_features", "2")]),
        ("k-relief", &[("basis", "gram-schmidt"), ("n_features", "3")]),
        ("sk-relief", &[("nu", "0.3"), ("n_features", "3"), ("weighted", "sqrt")]),
        ("eks", &[("selector", "lasso"), ("basis", "rpcholesky"), ("n_components", "12")]),
        ("gda", &[("basis", "kobl"), ("basis_components", "8")]),
        ("klfe", &[("n_components", "2")]),
        ("koc", &[("basis", "kmeans"), ("basis_components", "6")]),
        ("akda-qr", &[]),
    ]
    .into_iter()
    .map(|(method, settings)| (method, fitted(method, settings, x, labels)))
    .collect()
}

/// The map without one landmark's coefficients.
fn without(map: &FeatureMap, landmark: usize) -> FeatureMap {
    let mut other = map.clone();
    other.expansion.matrix.col_mut(landmark).fill(0.0);
    other
}

#[test]
fn a_prediction_needs_the_landmarks_without_which_features_change() {
    let (x, labels) = ringnorm(60);
    for (method, map) in maps(&x, &labels) {
        let all = map.transform(&x).expect("features");
        let l = map.expansion.landmarks.len();
        let needed = (0..l).filter(|&at| without(&map, at).transform(&x).expect("features") != all).count();
        assert_eq!(map.n_support(), needed, "{method}");
        assert!(needed > 0, "{method}");
    }
    // A landmark that no feature uses does not count, wherever it stands.
    let basis = Basis::kobl(Kernel::rbf(0.05)).n_components(7).fit(&x).expect("fits");
    let map = without(&FeatureMap::from(basis), 2);
    assert_eq!((map.expansion.landmarks.len(), map.n_support()), (7, 6));
}

#[test]
fn a_predictor_needs_the_landmarks_of_all_its_members_once() {
    let (x, labels) = ringnorm(120);
    let map = Learner::default().fit(&x, &labels).expect("learns").map;
    let predictor = map.predictor.as_ref().expect("it predicts");
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for member in &predictor.members {
        let Landmarks::Rows(landmarks) = &member.expansion.landmarks else { unreachable!("rows") };
        let pivots = member.landmark_rows().expect("training rows");
        assert_eq!(pivots.len(), landmarks.n());
        let p = x.p();
        rows.extend(pivots.iter().map(|&i| x.to_dense()[i * p..(i + 1) * p].to_vec()));
    }
    rows.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    rows.dedup();
    assert_eq!(predictor.n_support(), rows.len());
}

#[test]
fn landmarks_are_found_among_the_training_rows() {
    let (x, labels) = ringnorm(60);
    for (method, map) in maps(&x, &labels) {
        let Landmarks::Rows(landmarks) = &map.expansion.landmarks else { unreachable!("rows") };
        match map.landmark_rows() {
            Ok(indices) => assert_eq!(x.select(&indices).to_dense(), landmarks.to_dense(), "{method}"),
            Err(e) if method == "akda-qr" => assert!(e.to_string().contains("are class means"), "{e}"),
            Err(e) if method == "koc" => assert!(e.to_string().contains("are centres of k-means"), "{e}"),
            Err(e) => panic!("{method}: {e}"),
        }
    }
    let few = Rows::dense(x.slice(0..9).to_dense(), 9, x.p()).expect("rows");
    let given = Basis::kobl(Kernel::rbf(0.05)).landmarks(few).fit(&x).expect("fits");
    let given = FeatureMap::from(given);
    assert!(given.landmark_rows().expect_err("given").to_string().contains("given as landmarks"));
    let mut bytes = Vec::new();
    given.write_to(&mut bytes, "memory").expect("written");
    assert_eq!(FeatureMap::read_from(&bytes[..], "memory").expect("read").facts.landmarks_given, Some(true));
    let dense: naive::Matrix = x.to_dense().chunks_exact(x.p()).map(<[f64]>::to_vec).collect();
    let k = rows(&naive::gram("rbf", 0.05, 3, 1.0, 1.0, &dense));
    let own = Basis::kobl(Kernel::rbf(0.05)).n_components(9).fit(&x).expect("fits");
    let precomputed = Basis::kobl(Kernel::precomputed()).n_components(9).fit(&k).expect("fits");
    assert_eq!(FeatureMap::from(precomputed).landmark_rows().expect("columns"), own.pivots);
}

/// What `important_points` says, from its definition.
fn shares(map: &FeatureMap, features: &Mat<f64>) -> Vec<f64> {
    let matrix = &map.expansion.matrix;
    let (q, l, n) = (matrix.nrows(), matrix.ncols(), features.nrows());
    let mut shares = vec![0.0; l];
    for j in 0..q {
        let mean = (0..n).map(|i| features[(i, j)]).sum::<f64>() / n as f64;
        let variance = (0..n).map(|i| (features[(i, j)] - mean).powi(2)).sum::<f64>() / n as f64;
        let squares: f64 = (0..l).map(|at| matrix[(j, at)].powi(2)).sum();
        for (at, share) in shares.iter_mut().enumerate() {
            if squares > 0.0 {
                *share += variance * matrix[(j, at)].powi(2) / squares;
            }
        }
    }
    let all: f64 = shares.iter().sum();
    shares.iter().map(|share| share / all).collect()
}

#[test]
fn important_points_have_the_largest_shares_in_the_squared_coefficients() {
    let (x, labels) = ringnorm(60);
    for (method, map) in maps(&x, &labels) {
        let Ok(important) = map.important_points() else {
            assert!(method == "akda-qr" || method == "koc", "{method}");
            continue;
        };
        let pivots = map.landmark_rows().expect("rows");
        let features = map.transform(&x.select(&pivots)).expect("features");
        let shares = shares(&map, &features);
        assert_eq!(important.rows.len(), map.n_support(), "{method}");
        assert!((important.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{method}");
        assert!(important.shares.is_sorted_by(|a, b| a >= b), "{method}");
        for (row, share) in important.rows.iter().zip(&important.shares) {
            let at = pivots.iter().position(|pivot| pivot == row).expect("a landmark");
            assert!((share - shares[at]).abs() < 1e-10, "{method}: {share} {}", shares[at]);
        }
    }
}

#[test]
fn the_row_that_a_feature_is_made_of_is_the_important_one() {
    // One class is near row 0, the others are far away: K_ll is the identity and the direction that tells them apart is row 0.
    let x = Rows::dense(vec![0.0, 0.1, 50.0, 100.0, 150.0], 5, 1).expect("rows");
    let labels = Labels::classes(&["a", "a", "b", "b", "b"]);
    let gda = fitted("gda", &[("basis", "gram-schmidt"), ("gamma", "1")], &x, &labels);
    let important = gda.important_points().expect("rows");
    assert_eq!(important.rows[..2].iter().copied().max(), Some(1), "{important:?}");
    // Multiplying a feature by a number changes how much of the variance it has.
    let map = fitted("eks", &[("basis", "gram-schmidt"), ("n_features", "all"), ("gamma", "1")], &x, &labels);
    let mut louder = map.clone();
    louder.expansion.matrix.row_mut(3).iter_mut().for_each(|v| *v *= 100.0);
    assert_eq!(louder.important_points().expect("rows").rows[0], 3);
}

#[test]
fn important_points_of_a_precomputed_kernel_weigh_features_alike() {
    let (x, _) = ringnorm(40);
    let dense: naive::Matrix = x.to_dense().chunks_exact(x.p()).map(<[f64]>::to_vec).collect();
    let k = rows(&naive::gram("rbf", 0.05, 3, 1.0, 1.0, &dense));
    let map = FeatureMap::from(Basis::kobl(Kernel::precomputed()).n_components(5).fit(&k).expect("fits"));
    let important = map.important_points().expect("rows");
    let matrix = &map.expansion.matrix;
    for (row, share) in important.rows.iter().zip(&important.shares) {
        let at =
            map.landmark_rows().expect("rows").iter().position(|pivot| pivot == row).expect("a landmark");
        let of = |j: usize| matrix[(j, at)].powi(2) / (0..5).map(|l| matrix[(j, l)].powi(2)).sum::<f64>();
        assert!((share - (0..5).map(of).sum::<f64>() / 5.0).abs() < 1e-12);
    }
}
