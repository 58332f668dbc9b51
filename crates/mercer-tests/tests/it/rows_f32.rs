//! Float32 rows at every public entry: what comes back is what float64 rows of the same numbers give.

use faer::{Mat, MatMut};
use mercer::basis::{Method, Precision};
use mercer::data::{Labels, Scale, Scaling};
use mercer::evaluate::diagnostics::{FitDiagnostics, residuals};
use mercer::evaluate::{Adviser, Comparison, Evaluator, knn, svm};
use mercer::evidence::differences::Differences;
use mercer::evidence::neighbours::{Groups, Metric, Neighbours, Space};
use mercer::kernel::{Gram, Panel};
use mercer::methods::{Stage, names};
use mercer::pipeline::Head;
use mercer::select::Columns;
use mercer::{Basis, FeatureMap, Gamma, Kernel, Monitor, Options, Pipeline, Rows, Shape};

use crate::evaluate::compare::timeless;
use crate::naive;

/// Numbers as float32 and as float64 rows.
struct Both {
    narrow: Rows<'static>,
    wide: Rows<'static>,
}

impl Both {
    fn new(values: Vec<f32>, p: usize) -> Self {
        let n = values.len() / p;
        let wide: Vec<f64> = values.iter().copied().map(f64::from).collect();
        Self {
            narrow: Rows::dense_f32(values, n, p).expect("rows"),
            wide: Rows::dense(wide, n, p).expect("rows"),
        }
    }

    /// Positive numbers, for kernels that need them, in two classes that overlap.
    fn positive(n: usize, p: usize, seed: u64) -> Self {
        let shifted = |(at, v): (usize, &f64)| (v.abs() + ((at / p) % 2) as f64 * 0.7) as f32;
        let values = naive::random_rows(n, p, seed).iter().flatten().enumerate().map(shifted).collect();
        Self::new(values, p)
    }

    fn n(&self) -> usize {
        self.wide.n()
    }
}

fn labels(n: usize) -> Labels {
    Labels::classes(&(0..n).map(|i| ["a", "b"][i % 2]).collect::<Vec<_>>())
}

/// The largest difference, relative to the largest number.
fn apart(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    assert_eq!((a.nrows(), a.ncols()), (b.nrows(), b.ncols()));
    (a - b).norm_max() / b.norm_max().max(f64::MIN_POSITIVE)
}

fn slices_apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size
}

/// Every kernel of rows.
fn shapes() -> impl Iterator<Item = Shape> {
    let names = Shape::NAMES.into_iter().filter(|name| *name != "precomputed");
    names.map(|name| Shape::named(name, 2, 1.0, 1.5).expect("known"))
}

#[test]
fn kernel_values_are_those_of_float64_rows() {
    let (x, other) = (Both::positive(60, 5, 1), Both::positive(17, 5, 2));
    for shape in shapes() {
        let kernel = Kernel { shape, gamma: 0.2 };
        let right = kernel.matrix(&x.wide, &other.wide).expect("values");
        for (a, b) in [(&x.narrow, &other.narrow), (&x.narrow, &other.wide), (&x.wide, &other.narrow)] {
            let off = apart(&kernel.matrix(a, b).expect("values"), &right);
            assert!(off <= 1e-14, "{}: {off:e}", shape.name());
        }
        let panel = Panel::new(kernel, &other.narrow);
        assert_eq!((panel.n_landmarks(), panel.p()), (17, 5));
        let (mut part, mut all) = (vec![0.0; 60 * 17], vec![0.0; 60 * 17]);
        panel.fill(&x.narrow, &mut part);
        panel.fill_all(&x.narrow, &mut all);
        let flat: Vec<f64> = (0..60 * 17).map(|at| right[(at / 17, at % 17)]).collect();
        assert!(slices_apart(&part, &flat) <= 1e-14 && slices_apart(&all, &flat) <= 1e-14);
        let [a, b] = [&x.narrow, &x.wide].map(|x| {
            let gram = Gram::new(kernel, x).expect("a kernel matrix");
            let panel = gram.panel(&[3, 8, 59]);
            let mut values = vec![0.0; 60 * 3];
            gram.fill(&panel, 0..60, &mut values);
            [gram.diagonal(), gram.block(&[0, 7], &[5, 9, 11]), values].concat()
        });
        assert!(slices_apart(&a, &b) <= 1e-14, "{}", shape.name());
    }
}

#[test]
fn every_basis_of_every_kernel_serves_float32_rows() {
    let x = Both::positive(90, 4, 3);
    let y = labels(90);
    let monitor = Monitor::default();
    for shape in shapes().filter(|shape| shape.name() != "sigmoid") {
        for method in Method::ALL {
            let what = format!("{} {}", method.name(), shape.name());
            let basis = Basis { shape, ..Basis::new(method, Kernel::rbf(0.2)).n_components(6) };
            let [narrow, wide] = [&x.narrow, &x.wide].map(|x| basis.fit_supervised(x, &y).expect(&what));
            let expansion = &narrow.expansion;
            // Scores of `kfa` are those of float32 columns: of rows that are about as good another may be taken.
            if method != Method::Kfa {
                assert_eq!(narrow.pivots, wide.pivots, "{what}");
                let right = wide.expansion.transform(&x.wide).expect("features");
                let off = apart(&expansion.transform(&x.narrow).expect("features"), &right);
                assert!(off <= 1e-5, "{what}: {off:e}");
            }
            // One map, both kinds of rows.
            let right = expansion.transform(&x.wide).expect("features");
            assert!(apart(&expansion.transform(&x.narrow).expect("features"), &right) <= 1e-12, "{what}");
            let [a, b] = [&x.narrow, &x.wide].map(|x| narrow.reconstruction_cost(x).expect("cost"));
            assert!((a - b).abs() <= 1e-12, "{what}: {a} {b}");
            let [a, b] = [&x.narrow, &x.wide].map(|x| narrow.orthogonality_loss(Some(x)).expect("loss"));
            assert_eq!(a, b, "{what}");
            let [a, b] = [&x.narrow, &x.wide]
                .map(|x| residuals(expansion, narrow.residual, x, &monitor).expect("residuals"));
            assert!(slices_apart(&a, &b) <= 1e-12, "{what}");
            let [a, b] = [&x.narrow, &x.wide].map(|x| expansion.input_importance(x, &monitor));
            match (a, b) {
                (Ok(a), Ok(b)) => assert!(apart(&a, &b) <= 1e-12, "{what}"),
                (a, b) => assert_eq!(a.map_err(|e| e.to_string()), b.map_err(|e| e.to_string()), "{what}"),
            }
        }
    }
}

#[test]
fn rules_for_gamma_landmarks_and_growth_serve_float32_rows() {
    let x = Both::positive(120, 4, 4);
    let y = labels(120);
    for rule in Gamma::RULES {
        let gamma: Gamma = rule.parse().expect("a rule");
        for method in Method::ALL {
            let basis = Basis::new(method, Kernel::rbf(1.0)).gamma(gamma).n_components(5);
            let [a, b] = [&x.narrow, &x.wide].map(|x| basis.fit_supervised(x, &y).expect(rule));
            assert_eq!(a.expansion.kernel, b.expansion.kernel, "{rule} {}", method.name());
        }
    }
    let chosen_from = Both::positive(30, 4, 5);
    for method in Method::ALL.into_iter().filter(|method| *method != Method::Csi) {
        let basis = Basis::new(method, Kernel::rbf(0.3)).n_components(8);
        let [a, b, c] =
            [(&x.narrow, &chosen_from.narrow), (&x.wide, &chosen_from.narrow), (&x.wide, &chosen_from.wide)]
                .map(|(x, from)| basis.clone().landmarks(from.clone()).fit(x).expect("fits"));
        assert_eq!((&a.pivots, &b.pivots), (&c.pivots, &c.pivots), "{}", method.name());
        assert_eq!((&b.expansion.matrix, b.residual), (&c.expansion.matrix, c.residual), "{}", method.name());
        assert!((a.residual - c.residual).abs() <= 1e-6, "{}", method.name());
        let [a, c] = [&a, &c].map(|basis| basis.expansion.transform(&x.narrow).expect("features"));
        assert!(apart(&a, &c) <= 1e-5, "{}", method.name());
    }
    let sparse = Basis::sparse(Kernel::rbf(0.3));
    let [a, b] = [&x.narrow, &x.wide].map(|x| {
        let first = sparse.grow(None, &x.slice(0..70), &Options::default()).expect("grows");
        sparse.grow(Some(&first), &x.slice(70..120), &Options::default()).expect("grows")
    });
    assert_eq!((&a.pivots, &a.expansion), (&b.pivots, &b.expansion));
}

#[test]
fn a_float32_kernel_matrix_serves_every_basis_and_head() {
    let x = Both::positive(60, 3, 6);
    let y = labels(60);
    let k = Kernel::rbf(0.3).matrix(&x.wide, &x.wide).expect("values");
    let values: Vec<f32> = (0..3600).map(|at| k[(at / 60, at % 60)] as f32).collect();
    let given = Both::new(values, 60);
    for name in [Stage::Basis, Stage::System, Stage::Extract].into_iter().flat_map(names) {
        if name == "akda-qr" || name == "kmeans" {
            continue; // they need the rows
        }
        let size = if Method::named(name).is_ok() { "n_components" } else { "basis" };
        let value = if size == "basis" { "kobl" } else { "6" };
        let pipeline = Pipeline::new(name, &[("kernel", "precomputed"), (size, value)]).expect(name);
        let fitted = pipeline.fit(&given.narrow, Some(&y), &Options::default()).expect(name);
        let [a, b] = [&given.narrow, &given.wide].map(|k| fitted.map.transform(k).expect("features"));
        assert!(apart(&a, &b) <= 1e-12, "{name}");
        fitted.basis.orthogonality_loss(Some(&given.narrow)).expect("loss");
        fitted.basis.reconstruction_cost(&given.narrow).expect("cost");
    }
}

#[test]
fn every_pipeline_serves_float32_rows() {
    let x = Both::positive(150, 5, 7);
    let y = labels(150);
    let monitor = Monitor::default();
    for name in [Stage::Basis, Stage::System, Stage::Extract].into_iter().flat_map(names) {
        let pipeline = Pipeline::new::<&str>(name, &[]).expect(name);
        let options = Options::default().with_coordinates();
        let [narrow, wide] = [&x.narrow, &x.wide].map(|x| pipeline.fit(x, Some(&y), &options).expect(name));
        let z = narrow.coordinates.as_ref().expect("asked for");
        assert_eq!(z.precision(), narrow.basis.precision, "{name}");
        // Scores of float32 coordinates may change places, those of `kfa` among them.
        let same = narrow.basis.precision == Precision::Double
            || !(matches!(pipeline.head, Head::Select(_)) || narrow.basis.method == Method::Kfa);
        if same {
            assert_eq!(narrow.map.n_features(), wide.map.n_features(), "{name}");
            let [a, b] = [&narrow, &wide].map(|f| f.map.transform(&x.wide).expect("features"));
            let off = apart(&a, &b);
            assert!(off <= if name == "skfe" { 1e-2 } else { 1e-3 }, "{name}: {off:e}");
        }
        assert_map_serves(name, &narrow.map, &x);
        let (seen, _) = FitDiagnostics::of(&pipeline, &x.narrow, Some(&y), &[], 0, &options).expect(name);
        assert_eq!((seen.n_features, seen.points.len()), (narrow.map.n_features(), 50), "{name}");
        assert!(narrow.map.input_importance(&x.narrow, &monitor).is_ok(), "{name}");
    }
}

/// Every way to apply a map gives float32 rows the features of float64 rows.
fn assert_map_serves(what: &str, map: &FeatureMap, x: &Both) {
    let (n, q, monitor) = (x.n(), map.n_features(), Monitor::default());
    let right = map.transform(&x.wide).expect("features");
    let off = apart(&map.transform(&x.narrow).expect("features"), &right);
    assert!(off <= 1e-12, "{what}: {off:e}");
    let stored = map.transform_within(&x.narrow, 10, &monitor).expect("features");
    assert_eq!(stored.view(), map.transform(&x.narrow).expect("features"), "{what}");
    for rows in [&x.narrow, &x.wide] {
        let mut out = vec![0.0f32; n * q];
        let memory = MatMut::from_row_major_slice_mut(&mut out, n, q);
        map.transform_f32_into(rows, memory, &monitor).expect("features");
        let out = Mat::from_fn(n, q, |i, j| f64::from(out[i * q + j]));
        assert!(apart(&out, &right) <= 1e-4, "{what}: {:e}", apart(&out, &right));
    }
    let mut scaled = map.clone();
    scaled.scaling = Scaling::fit(Scale::Standard, &x.wide).0;
    let [a, b] = [&x.narrow, &x.wide].map(|x| scaled.transform(x).expect("features"));
    assert!(apart(&a, &b) <= 1e-12, "{what}");
    let [a, b] = [&x.narrow, &x.wide].map(|x| scaled.input_importance(x, &monitor).expect("slopes"));
    assert!(apart(&a, &b) <= 1e-12, "{what}");
}

#[test]
fn every_selector_scores_float32_columns() {
    let x = Both::positive(80, 6, 8);
    let y = labels(80);
    let numbers = Labels::Numbers((0..80).map(|i| f64::from(i * i % 17)).collect());
    let monitor = Monitor::default();
    let reliefs =
        ["relief", "relieff", "rrelieff", "irelief", "surf", "surf-star", "multisurf", "multisurf-star"];
    for name in names(Stage::Select) {
        for setting in [None, Some(("metric", "euclidean")), Some(("metric", "manhattan"))] {
            let settings: Vec<(&str, &str)> = setting.into_iter().collect();
            let Ok((selector, _)) = mercer::methods::selector(name, &settings) else {
                assert!(setting.is_some() && !["relief", "relieff"].contains(&name), "{name}");
                continue;
            };
            for labels in [&y, &numbers] {
                if selector.needs() == mercer::data::Needs::Classes && matches!(labels, Labels::Numbers(_)) {
                    continue;
                }
                let kernel = (setting.is_none()).then_some(Kernel::rbf(0.3));
                for kernel in [None, kernel] {
                    let categories: &[&[usize]] = if reliefs.contains(&name) { &[&[], &[2]] } else { &[&[]] };
                    for categorical in categories {
                        let score = |rows: &Rows, space: &Rows| {
                            let space = kernel.map(|kernel| (kernel, space));
                            let labels = Some(labels);
                            let columns = Columns {
                                rows,
                                labels,
                                space,
                                categorical,
                                weights: None,
                                monitor: &monitor,
                            };
                            selector.score(&columns).expect(name).scores
                        };
                        let right = score(&x.wide, &x.wide);
                        for (rows, space) in
                            [(&x.narrow, &x.narrow), (&x.narrow, &x.wide), (&x.wide, &x.narrow)]
                        {
                            let off = slices_apart(&score(rows, space), &right);
                            assert!(off <= 1e-9, "{name} {setting:?} {kernel:?} {categorical:?}: {off:e}");
                        }
                    }
                }
            }
        }
    }
    // Missing values, which the Relief family knows.
    let mut holes: Vec<f32> = x.narrow.to_dense().iter().map(|v| *v as f32).collect();
    holes.iter_mut().step_by(7).for_each(|v| *v = f32::NAN);
    let holes = Both::new(holes, 6);
    for name in reliefs {
        let (selector, _) = mercer::methods::selector::<&str>(name, &[]).expect(name);
        let [a, b] = [&holes.narrow, &holes.wide]
            .map(|rows| selector.score(&Columns::new(rows, &y, &monitor)).expect(name).scores);
        assert!(slices_apart(&a, &b) <= 1e-12, "{name}");
    }
}

#[test]
fn every_evaluator_learns_from_and_predicts_float32_rows() {
    let (train, test) = (Both::positive(70, 3, 9), Both::positive(25, 3, 10));
    let y = labels(70);
    let numbers = Labels::Numbers((0..70).map(|i| f64::from(i % 11)).collect());
    let monitor = Monitor::default();
    let pairs = [(&train.narrow, &test.narrow), (&train.narrow, &test.wide), (&train.wide, &test.narrow)];
    for name in Evaluator::NAMES {
        let evaluator = Evaluator::named(name).expect("known");
        for labels in [&y, &numbers].into_iter().filter(|labels| evaluator.check(labels).is_ok()) {
            let right = evaluator.predict(&train.wide, labels, &test.wide, 0, &monitor).expect(name);
            for (train, test) in pairs {
                let found = evaluator.predict(train, labels, test, 0, &monitor).expect(name);
                assert_eq!(found, right, "{name}");
            }
        }
    }
    let Labels::Classes { codes, .. } = &y else { unreachable!("classes") };
    let kernel = Kernel { shape: Shape::Poly { degree: 2, coef0: 1.0 }, gamma: 0.3 };
    for (from, to) in pairs {
        for kernel in [Kernel::rbf(0.3), kernel] {
            let found = knn::predict_in_kernel(kernel, from, &y, to, 3, &monitor).expect("predicted");
            let right = knn::predict_in_kernel(kernel, &train.wide, &y, &test.wide, 3, &monitor);
            assert_eq!(found, right.expect("predicted"));
        }
        let found = knn::predict(from, &y, to, 3, &monitor).expect("predicted");
        assert_eq!(found, knn::predict(&train.wide, &y, &test.wide, 3, &monitor).expect("predicted"));
        let right = &codes[..25];
        let [a, b] = [(from, to), (&train.wide, &test.wide)]
            .map(|(from, to)| knn::nearest_neighbour_error(from, codes, to, right).expect("error"));
        assert_eq!(a, b);
    }
    let [a, b] = [&train.narrow, &train.wide].map(|x| svm::dual(x, &y, 1.0, 0.3, &monitor).expect("solved"));
    assert_eq!(a, b);
}

#[test]
fn neighbours_and_differences_of_float32_rows_are_those_of_float64_rows() {
    let x = Both::positive(90, 3, 11);
    let y = labels(90);
    let Labels::Classes { codes, .. } = &y else { unreachable!("classes") };
    let monitor = Monitor::default();
    for shape in shapes() {
        let kernel = Kernel { shape, gamma: 0.3 };
        let [a, b] = [&x.narrow, &x.wide]
            .map(|x| Neighbours::find(kernel, x, codes, 4, &monitor).map_err(|e| e.to_string()));
        match (a, b) {
            (Ok(a), Ok(b)) => assert_eq!((a.hits, a.misses), (b.hits, b.misses), "{}", shape.name()),
            (a, b) => assert_eq!(a.map(drop), b.map(drop), "{}", shape.name()),
        }
        let [a, b] = [&x.narrow, &x.wide].map(|x| {
            let space = Space::of_kernel(kernel, x).expect("a space");
            let every: Vec<usize> = (0..90).collect();
            let found = space.nearest(Groups::All, 3, &every, &monitor, |found| {
                found.iter().map(|found| found.groups.clone()).collect::<Vec<_>>()
            });
            (space.distance(3, 40), found.expect("found").concat())
        });
        assert_eq!(a, b, "{}", shape.name());
    }
    for (categorical, by_range) in [(&[][..], false), (&[1][..], true)] {
        let [a, b] =
            [&x.narrow, &x.wide].map(|x| Differences::new(x, categorical, by_range).expect("differences"));
        assert_eq!((a.n(), a.p(), a.any_missing()), (b.n(), b.p(), b.any_missing()));
        for metric in [Metric::Euclidean, Metric::Manhattan] {
            assert_eq!(a.distance(metric, 5, 77), b.distance(metric, 5, 77));
        }
    }
}

#[test]
fn scalings_are_learned_from_and_applied_to_float32_rows() {
    let x = Both::positive(50, 4, 12);
    for (name, scale) in Scale::NAMES {
        let [a, b] = [&x.narrow, &x.wide].map(|x| Scaling::fit(scale, x));
        assert_eq!(a, b, "{name}");
        if let Some(scaling) = a.0 {
            let [a, b] = [&x.narrow, &x.wide].map(|x| scaling.apply(x).expect("scaled"));
            assert_eq!(a, b, "{name}");
        }
    }
}

#[test]
fn comparisons_and_advice_of_float32_rows_are_those_of_float64_rows() {
    let x = Both::positive(90, 4, 13);
    let y = labels(90);
    let comparison = Comparison { folds: 3, sizes: vec![None, Some(2)], ..Comparison::default() };
    comparison.check(&x.narrow, &y).expect("it can be compared");
    let [a, b] = [&x.narrow, &x.wide].map(|x| timeless(comparison.run(x, &y).expect("compared")));
    assert_eq!(a, b);
    // Bases that are asked for in float32.
    let settings = vec![("precision".into(), "single".into())];
    let methods = ["gda", "takes", "kobl", "eks", "skfe"].map(String::from).to_vec();
    let basis = ("basis".into(), "kobl".into());
    let single = Comparison { methods, settings: [settings, vec![basis]].concat(), ..comparison };
    for x in [&x.narrow, &x.wide] {
        let outcome = single.run(x, &y).expect("compared");
        assert!(outcome.entries.iter().all(|entry| entry.failed.is_none() || entry.asked.is_some()));
    }
    let adviser = Adviser { max_components: 30, ..Adviser::default() };
    for scale in [Scale::Standard, Scale::None] {
        let adviser = Adviser { scale, ..adviser.clone() };
        let [a, b] = [&x.narrow, &x.wide].map(|x| adviser.advise(x, &y).expect("advice"));
        assert_eq!(a, b);
        let [a, b] = [&x.narrow, &x.wide].map(|x| adviser.fit(x, &y).expect("features"));
        assert_eq!(a.advice, b.advice);
        let [a, b] = [a, b].map(|found| found.fitted.map.transform(&x.narrow).expect("features"));
        assert!(apart(&a, &b) <= 1e-6, "{:e}", apart(&a, &b));
        // More rows than are looked at: the fit is made after the advice.
        let few = Adviser { rows: 60, ..adviser };
        let automatic = few.fit(&x.narrow, &y).expect("features");
        assert_eq!(automatic.fitted.map.transform(&x.narrow).expect("features").nrows(), 90);
    }
}
