//! The diagnostics of a fit against their definitions.

use mercer::evaluate::diagnostics::FitDiagnostics;
use mercer::evaluate::folds::splits;
use mercer::methods::{Stage, names};
use mercer::{Error, FittedPipeline, Kernel, Labels, Options, Pipeline, Rows};

use super::compare::table;

fn diagnostics(
    method: &str,
    settings: &[(&str, &str)],
    rows: &Rows,
    labels: Option<&Labels>,
) -> (FitDiagnostics, FittedPipeline) {
    let pipeline = Pipeline::new(method, settings).expect("a pipeline");
    let found = FitDiagnostics::of(&pipeline, rows, labels, &[], 1, &Options::default());
    found.unwrap_or_else(|error| panic!("{method}: {error}"))
}

#[test]
fn what_is_left_is_what_the_coordinates_do_not_hold() {
    let (rows, labels) = table("ringnorm?n=120&seed=1");
    for basis in names(Stage::Basis) {
        let (seen, fitted) =
            diagnostics(basis, &[("gamma", "0.05"), ("n_components", "15")], &rows, Some(&labels));
        let z = fitted.map.transform(&rows).expect("coordinates");
        assert_eq!(seen.residuals.len(), z.ncols() + 1, "{basis}");
        for (m, left) in seen.residuals.iter().enumerate() {
            // k(x,x) = 1.
            let held: f64 = (0..m).map(|j| z.col(j).iter().map(|v| v * v).sum::<f64>()).sum();
            assert!((left - (1.0 - held / 120.0)).abs() < 1e-10, "{basis}");
        }
        assert!(seen.residuals.is_sorted_by(|a, b| a >= b), "{basis}");
        assert_eq!(seen.pivot_norms.is_empty(), basis == "kpca");
        assert_eq!(seen.spectrum.is_empty(), basis != "kpca");
        assert_eq!((seen.method.as_str(), seen.basis.as_str(), seen.gamma), (basis, basis, Some(0.05)));
    }
    let (seen, _) = diagnostics("kpca", &[("center", "true"), ("n_components", "5")], &rows, None);
    let share: f64 = 1.0 - seen.residuals[5];
    assert!(share > 0.0 && share < 1.0 && seen.residuals[0] == 1.0);
    let (whole, _) = diagnostics("kpca", &[("center", "true")], &rows, None);
    assert!((seen.residuals[3] - whole.residuals[3]).abs() < 1e-8, "the same share, however many follow");
    assert!(whole.residuals.last().expect("residuals").abs() < 1e-8);
}

#[test]
fn every_method_has_diagnostics() {
    let (rows, labels) = table("waveform?n=90&seed=1");
    for method in mercer::evaluate::Comparison::all(&labels) {
        let (seen, fitted) = diagnostics(&method, &[], &rows, Some(&labels));
        let map = &fitted.map;
        let q = map.n_features();
        assert_eq!((seen.n_features, seen.kernel_values), (q, map.expansion.landmarks.len()), "{method}");
        assert_eq!(seen.point_names.len(), q.min(3), "{method}");
        // Points are of the third that is held out, by the method fitted on the others.
        let split = splits(&labels, 1.0 / 3.0, 1, 1).expect("splits").0.remove(0);
        let (train, test) = (rows.select(&split.train), rows.select(&split.test));
        let pipeline = Pipeline::new::<&str>(&method, &[]).expect("a pipeline");
        let part =
            pipeline.fit(&train, Some(&labels.select(&split.train)), &Options::default()).expect("fitted");
        let z = part.map.transform(&test).expect("features");
        assert_eq!(seen.points.len(), test.n(), "{method}");
        for (at, name) in seen.point_names.iter().enumerate() {
            let j = part.best()[at];
            assert_eq!(&part.map.feature_names[j], name, "{method}: best first");
            for (i, point) in seen.points.iter().enumerate() {
                assert!((point[at] - z[(i, j)]).abs() <= 1e-12 * z.norm_max(), "{method}");
            }
        }
        let held_out = seen.held_out.as_ref().expect("held out");
        assert_eq!((held_out.n_train, &held_out.rows), (split.train.len(), &split.test), "{method}");
        assert_eq!(seen.point_labels.as_ref(), Some(&labels.select(&split.test)), "{method}");
        assert_eq!(seen.importance.len(), rows.p(), "{method}");
        let all: f64 = seen.importance.iter().map(|(_, share)| share).sum();
        assert!((all - 1.0).abs() < 1e-12 && seen.importance[4].0 == "x5", "{method}");
        assert!(seen.spectrum.is_sorted_by(|a, b| a >= b), "{method}");
        assert_eq!(seen.scores, map.scores, "{method}");
    }
}

#[test]
fn points_are_a_seeded_sample_of_many_rows() {
    let (rows, labels) = table("moons?n=4000&seed=1");
    let pipeline =
        Pipeline::new("gda", &[("basis", "kobl"), ("basis_components", "20")]).expect("a pipeline");
    let names = ["left".to_string(), "right".to_string()];
    let of = |seed: u64| {
        FitDiagnostics::of(&pipeline, &rows, Some(&labels), &names, seed, &Options::default())
            .expect("diagnostics")
            .0
    };
    let (one, again, other) = (of(1), of(1), of(2));
    assert_eq!((one.points.len(), one.point_labels.as_ref().map(Labels::len)), (1333, Some(1333)));
    assert!(one == again && one.points != other.points);
    assert_eq!(one.importance[1].0, "right");
}

#[test]
fn a_kernel_without_inputs_has_no_importance_and_other_troubles_are_said() {
    let (rows, labels) = table("blobs?n=50&seed=1");
    let k = Kernel::rbf(0.5).matrix(&rows, &rows).expect("values");
    let given = Rows::from_mat(k.as_ref());
    let (seen, _) = diagnostics("gda", &[("kernel", "precomputed")], &given, Some(&labels));
    assert!(seen.importance.is_empty() && seen.gamma.is_none());
    let pipeline = Pipeline::new::<&str>("gda", &[]).expect("a pipeline");
    let of = |labels: Option<&Labels>, names: &[String], options: &Options| {
        FitDiagnostics::of(&pipeline, &rows, labels, names, 0, options)
    };
    let plain = Options::default();
    let none = of(None, &[], &plain).expect_err("refused").to_string();
    assert!(none.contains("`gda` looks at the labels"), "{none}");
    let names = of(Some(&labels), &["a".into()], &plain).expect_err("refused").to_string();
    assert!(names.contains("1 names were given for 2 inputs"), "{names}");
    assert!(matches!(of(Some(&labels), &[], &plain.memory(10)), Err(Error::Memory(_))));
    let stopped = Options::default();
    stopped.monitor.stop();
    assert!(matches!(of(Some(&labels), &[], &stopped), Err(Error::Interrupted)));
}
