//! Sample weights: a whole weight is as many copies of the row, and the weight 0 is no row.

use mercer::basis::Threshold;
use mercer::data::{Task, Weights, synth};
use mercer::evaluate::advise::Adviser;
use mercer::evaluate::{Evaluator, Predictions};
use mercer::extract::{Extractor, Gda, Koc, Kpca, Kpls, Skfe};
use mercer::select::{Columns, FTest, Kffs, Lasso, MutualInfo, ReliefF, Scores, Selector};
use mercer::{Basis, Kernel, Labels, Monitor, Options, Pipeline, Rows};

use crate::naive::{self, Matrix};

/// Rows, labels and whole weights, some of them 0.
fn data(spec: &str) -> (Rows<'static>, Labels, Vec<usize>) {
    let table = synth::generate(spec).expect("rows");
    let labels = Labels::decide(table.target.expect("a target"), Task::Auto).expect("labels");
    let counts = (0..labels.len()).map(|i| [1, 2, 0, 3, 1][i * i % 5]).collect();
    (table.rows, labels, counts)
}

/// Every row as often as it counts.
fn repeated(counts: &[usize]) -> Vec<usize> {
    counts.iter().enumerate().flat_map(|(i, &count)| std::iter::repeat_n(i, count)).collect()
}

fn weights(counts: &[usize]) -> Weights {
    Weights::new(counts.iter().map(|&count| count as f64).collect()).expect("weights")
}

/// Largest difference of two maps' features on rows that neither has seen, over the largest feature.
fn apart(pipeline: &Pipeline, spec: &str, fresh: &Rows) -> f64 {
    let (rows, labels, counts) = data(spec);
    let places = repeated(&counts);
    let options = Options::default().weights(weights(&counts));
    let weighted = pipeline.fit(&rows, Some(&labels), &options).expect("weighted").map;
    let (copies, their) = (rows.select(&places), labels.select(&places));
    let copied = pipeline.fit(&copies, Some(&their), &Options::default()).expect("copied").map;
    let [a, b] = [weighted, copied].map(|map| map.transform(fresh).expect("features"));
    assert_eq!(a.ncols(), b.ncols());
    let size = b.norm_max();
    // Signs follow the training row with the largest feature, which is the same in both.
    (0..a.ncols()).map(|j| (a.col(j) - b.col(j)).norm_max()).fold(0.0, f64::max) / size
}

#[test]
fn extractors_by_sums_take_a_whole_weight_for_copies() {
    let fresh = synth::generate("waveform?n=50&seed=9").expect("rows").rows;
    for extractor in [
        Extractor::from(Gda::default()),
        Kpls { n_components: Some(3) }.into(),
        Koc::default().into(),
        Kpca { n_components: Some(3), ..Kpca::default() }.into(),
        Skfe::default().into(),
    ] {
        let method = extractor.name();
        let basis = Basis::kobl(Kernel::rbf(0.02)).threshold(Threshold::Constant(0.0)).n_components(30);
        let pipeline = Pipeline::extract(extractor).on(basis);
        // Copies never become pivots, so that both bases are of the same rows.
        let off = apart(&pipeline, "waveform?n=80&seed=4", &fresh);
        assert!(off < 1e-7, "{method}: {off}");
    }
}

#[test]
fn class_means_and_all_components_take_a_whole_weight_for_copies() {
    let fresh = synth::generate("waveform?n=50&seed=9").expect("rows").rows;
    let means = Pipeline::new("akda-qr", &[("gamma", "0.02")]).expect("akda-qr");
    assert!(apart(&means, "waveform?n=80&seed=4", &fresh) < 1e-8);
    // A `kpca` basis spans all rows; its own components are not weighted, those that are made of it are.
    let components = Pipeline::extract(Kpca { n_components: Some(2), ..Kpca::default() })
        .on(Basis::kpca(Kernel::rbf(0.02)));
    assert!(apart(&components, "waveform?n=60&seed=4", &fresh) < 1e-6);
}

#[test]
fn a_row_of_weight_0_is_no_row_and_keeps_its_number() {
    let (rows, labels, _) = data("ringnorm?n=60&seed=2");
    let present: Vec<usize> = (0..60).filter(|i| i % 3 != 0).collect();
    let zeros = Weights::new((0..60).map(|i| f64::from(u8::from(i % 3 != 0))).collect()).expect("weights");
    for method in ["takes", "gda", "kobl", "rpcholesky", "nystrom"] {
        let basis: &[(&str, &str)] = &[("gamma", "0.05"), ("seed", "3")];
        let Ok(pipeline) = Pipeline::new(method, basis).or_else(|_| Pipeline::new(method, &basis[..1]))
        else {
            panic!("{method}")
        };
        let options = Options::default().weights(zeros.clone());
        let weighted = pipeline.fit(&rows, Some(&labels), &options).expect(method);
        let ones = Options::default().weights(Weights::new(vec![1.0; 40]).expect("weights"));
        let (part, their) = (rows.select(&present), labels.select(&present));
        let without = pipeline.fit(&part, Some(&their), &ones).expect(method);
        let [a, b] = [&weighted, &without].map(|fitted| fitted.map.transform(&rows).expect("features"));
        assert_eq!(a, b, "{method}");
        let numbered: Vec<usize> = without.basis.pivots.iter().map(|&i| present[i]).collect();
        assert_eq!(weighted.basis.pivots, numbered, "{method}");
        assert!(weighted.map.landmark_rows().expect("rows").iter().all(|i| i % 3 != 0), "{method}");
    }
}

fn score(selector: &Selector, rows: &Rows, labels: &Labels, weights: Option<&Weights>) -> Scores {
    let monitor = Monitor::default();
    let columns = Columns { weights, ..Columns::new(rows, labels, &monitor) };
    selector.score(&columns).expect("scores")
}

#[test]
fn selectors_by_sums_take_a_whole_weight_for_copies() {
    let at_penalty = |penalty| Lasso { penalty: Some(penalty), ..Lasso::default() };
    for (spec, penalty) in [("waveform?n=90&seed=1", 0.05), ("friedman?n=90&seed=1", 0.3)] {
        let (rows, labels, counts) = data(spec);
        let places = repeated(&counts);
        let mut selectors: Vec<Selector> = vec![FTest::default().into(), at_penalty(penalty).into()];
        if labels.n_classes().is_some() {
            selectors.push(Kffs::default().into());
            selectors.push(Kffs { reweight: true, ..Kffs::default() }.into());
        }
        for selector in selectors {
            let weighted = score(&selector, &rows, &labels, Some(&weights(&counts)));
            let copied = score(&selector, &rows.select(&places), &labels.select(&places), None);
            let size = copied.scores.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let near = |a: &[f64], b: &[f64], size: f64| {
                a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * size) && a.len() == b.len()
            };
            assert!(near(&weighted.scores, &copied.scores, size), "{selector:?}");
            assert_eq!(weighted.order, copied.order, "{selector:?}");
            assert_eq!(weighted.chosen, copied.chosen, "{selector:?}");
            assert!(near(&weighted.error_path, &copied.error_path, 1.0), "{selector:?}");
            if let (Some(a), Some(b)) = (&weighted.pvalues, &copied.pvalues) {
                assert!(near(a, b, 1.0), "{selector:?}");
            }
        }
    }
    // Sparse columns, whose zeros are not stored.
    let (rows, labels, counts) = data("waveform?n=90&seed=1");
    let thin: Vec<f64> = rows.to_dense().iter().map(|v| if v.abs() < 2.0 { 0.0 } else { *v }).collect();
    let dense = Rows::dense(thin, rows.n(), rows.p()).expect("rows");
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in dense.to_dense().chunks(rows.p()) {
        for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            indices.push(j as u32);
            values.push(*v);
        }
        indptr.push(indices.len());
    }
    let sparse = Rows::sparse(indptr, indices, values, rows.p()).expect("rows");
    let numbers = Labels::Numbers((0..90).map(|i| (f64::from(i) * 0.7).sin()).collect());
    for labels in [labels, numbers] {
        let f = Selector::from(FTest::default());
        let [a, b] = [&dense, &sparse].map(|rows| score(&f, rows, &labels, Some(&weights(&counts))).scores);
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(1.0)), "{a:?} {b:?}");
    }
}

#[test]
fn equal_weights_are_no_weights() {
    let (rows, labels, _) = data("waveform?n=60&seed=6");
    let twos = Weights::new(vec![2.0; 60]).expect("weights");
    let selectors = [
        "relief",
        "relieff",
        "rrelieff",
        "surf",
        "surf-star",
        "multisurf",
        "multisurf-star",
        "irelief",
        "mi",
    ];
    for name in selectors {
        let (selector, _) = mercer::methods::selector::<&str>(name, &[]).expect(name);
        let plain = score(&selector, &rows, &labels, None).scores;
        let ones =
            score(&selector, &rows, &labels, Some(&Weights::new(vec![1.0; 60]).expect("weights"))).scores;
        let doubled = score(&selector, &rows, &labels, Some(&twos)).scores;
        let same =
            |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-8 * (1.0 + a.abs()));
        assert!(same(&plain, &ones), "{name}: {plain:?} {ones:?}");
        assert!(same(&plain, &doubled), "{name}");
    }
}

#[test]
fn a_row_counts_as_a_query_in_proportion_to_its_weight() {
    let (rows, labels, counts) = data("ringnorm?n=40&seed=3");
    // Weights above 0, so that all rows are neighbours.
    let counts: Vec<f64> = counts.iter().map(|&count| 1.0 + count as f64).collect();
    let numbers = Labels::Numbers((0..40).map(|i| f64::from(i).sin()).collect());
    let of = |i: usize, name: &str, labels: &Labels| {
        let one: Vec<f64> = (0..40).map(|k| if k == i { 1.0 } else { 1e-12 }).collect();
        let (selector, _) = mercer::methods::selector::<&str>(name, &[]).expect(name);
        score(&selector, &rows, labels, Some(&Weights::new(one).expect("weights"))).scores
    };
    let all: f64 = counts.iter().sum();
    let relief = Selector::from(mercer::select::Relief::default());
    let found = score(&relief, &rows, &labels, Some(&Weights::new(counts.clone()).expect("weights"))).scores;
    for (j, found) in found.iter().enumerate() {
        let mean: f64 = (0..40).map(|i| counts[i] / all * of(i, "relief", &labels)[j]).sum();
        assert!((found - mean).abs() < 1e-9, "{found} for {mean}");
    }
    let rrelieff = score(
        &mercer::methods::selector::<&str>("rrelieff", &[]).expect("rrelieff").0,
        &rows,
        &numbers,
        Some(&Weights::new(counts).expect("weights")),
    );
    assert!(rrelieff.scores.iter().all(|v| v.is_finite()));
}

#[test]
fn heavy_rows_are_drawn_more_often() {
    let rows = synth::generate("ringnorm?n=200&seed=1").expect("rows").rows;
    let heavy =
        Weights::new((0..200).map(|i| if i % 2 == 0 { 9.0 } else { 1.0 }).collect()).expect("weights");
    for method in ["rpcholesky", "nystrom", "kfa"] {
        let drawn = |seed: u64, weights: Option<&Weights>| {
            let seed = seed.to_string();
            let settings = [("gamma", "1.0"), ("n_components", "20"), ("seed", seed.as_str())];
            let options = Options { weights: weights.cloned(), ..Options::default() };
            let pipeline = Pipeline::new(method, &settings).expect(method);
            let fitted = pipeline.fit(&rows, None, &options).expect(method);
            fitted.basis.pivots.iter().filter(|&&i| i % 2 == 0).count()
        };
        let plain: usize = (0..10).map(|seed| drawn(seed, None)).sum();
        let weighted: usize = (0..10).map(|seed| drawn(seed, Some(&heavy))).sum();
        // About half, and about nine tenths, of 200.
        assert!((60..140).contains(&plain), "{method}: {plain}");
        assert!(weighted > 165, "{method}: {weighted}");
    }
}

#[test]
fn methods_without_a_use_for_weights_say_so_by_name() {
    let (rows, labels, _) = data("ringnorm?n=30&seed=1");
    let ones = Options::default().weights(Weights::new(vec![1.0; 30]).expect("weights"));
    for (method, settings) in [
        ("kmfa", &[][..]),
        ("csi", &[]),
        ("kmeans", &[]),
        ("koc", &[("n_clusters", "2")]),
        ("eks", &[("selector", "laplacian")]),
    ] {
        let pipeline = Pipeline::new(method, settings).expect(method);
        let refused = pipeline.fit(&rows, Some(&labels), &ones).expect_err(method).to_string();
        let name = if method == "eks" { "laplacian" } else { method };
        assert!(refused.contains(&format!("`{name}` takes no sample weights")), "{refused}");
    }
    let short = Options::default().weights(Weights::new(vec![1.0; 29]).expect("weights"));
    let pipeline = Pipeline::new::<&str>("gda", &[]).expect("gda");
    let refused = pipeline.fit(&rows, Some(&labels), &short).expect_err("refused").to_string();
    assert!(refused.contains("30 rows, but 29 weights"), "{refused}");
    assert!(Weights::new(vec![0.0; 3]).is_err() && Weights::new(vec![f64::NAN]).is_err());
}

#[test]
fn a_predictor_follows_the_rows_that_count() {
    // Two groups with opposite slopes at the same places: the one that counts is predicted.
    let x: Vec<f64> = (0..80).map(|i| f64::from(i / 2) / 10.0).collect();
    let rows = Rows::dense(x.clone(), 80, 1).expect("rows");
    let y = Labels::Numbers((0..80).map(|i| if i % 2 == 0 { x[i] } else { -x[i] }).collect());
    for side in [0, 1] {
        let counts =
            Weights::new((0..80).map(|i| if i % 2 == side { 1.0 } else { 1e-3 }).collect()).expect("w");
        let learner = mercer::evaluate::learn::Learner {
            options: Options::default().weights(counts),
            ..Default::default()
        };
        let learned = learner.fit(&rows, &y).expect("learned");
        let Labels::Numbers(found) =
            learned.map.predictor.expect("predicts").predict(&rows).expect("numbers")
        else {
            panic!("numbers")
        };
        let sign = if side == 0 { 1.0 } else { -1.0 };
        assert!((found[60] - sign * x[60]).abs() < 0.1 * x[60], "{} for {}", found[60], sign * x[60]);
    }
}

#[test]
fn relieff_weighs_the_priors_of_classes() {
    let (rows, labels, _) = data("waveform?n=60&seed=2");
    let relieff = Selector::from(ReliefF::default());
    let balanced = Weights::balanced(&labels).expect("weights");
    let found = score(&relieff, &rows, &labels, Some(&balanced)).scores;
    assert!(found.iter().all(|v| v.is_finite()));
    let mi = Selector::from(MutualInfo::default());
    assert!(score(&mi, &rows, &labels, Some(&balanced)).scores.iter().all(|v| *v >= 0.0 && v.is_finite()));
}

#[test]
fn advice_counts_rows_by_their_weights() {
    // A ring inside a ring, and as many rows by chance whose labels are shuffled.
    let (rows, labels, _) = data("ringnorm?n=300&seed=2");
    let shuffled: Vec<usize> = (0..300).map(|i| (i * 7 + 3) % 300).collect();
    let both: Vec<usize> = (0..300).chain(0..300).collect();
    let their: Vec<usize> = (0..300).chain(shuffled).collect();
    let (rows, labels) = (rows.select(&both), labels.select(&their));
    let error = |light: f64| {
        let weights = (0..600).map(|i| if i < 300 { 1.0 } else { light }).collect();
        let options = Options::default().weights(Weights::new(weights).expect("weights"));
        let advice = Adviser { options, ..Adviser::default() }.advise(&rows, &labels).expect("advice");
        advice.loo_by_size.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min)
    };
    let (clean, noisy) = (error(1e-6), error(1.0));
    assert!(clean < 0.5 * noisy, "{clean} {noisy}");
    let plain = {
        let first: Vec<usize> = (0..300).collect();
        let advice = Adviser::default().advise(&rows.select(&first), &labels.select(&first)).expect("advice");
        advice.loo_by_size.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min)
    };
    assert!((error(0.0) - plain).abs() < 1e-6, "a weight of 0 is no row: {} {plain}", error(0.0));
}

#[test]
fn rows_without_weight_are_no_landmarks_of_automatic_features() {
    let (rows, labels, counts) = data("ringnorm?n=120&seed=3");
    let options = Options::default().weights(weights(&counts));
    let found = Adviser { options, ..Adviser::default() }.fit(&rows, &labels).expect("features").fitted;
    let pivots = &found.basis.pivots;
    assert!(!pivots.is_empty() && pivots.iter().all(|&i| counts[i] > 0), "{pivots:?}");
    let places: Vec<usize> = (0..120).filter(|&i| counts[i] > 0).collect();
    let options = Options::default().weights(weights(&counts).select(&places));
    let (rows, labels) = (rows.select(&places), labels.select(&places));
    let alone = Adviser { options, ..Adviser::default() }.fit(&rows, &labels).expect("features").fitted;
    let [a, b] = [&found, &alone].map(|fitted| fitted.map.transform(&rows).expect("features"));
    assert_eq!(a, b);
}

/// Fits of new rows by ridge on copies, with the penalty whose error is smallest where all copies of a row are left out
/// together.
fn ridge_on_copies(x: &Matrix, y: &Matrix, counts: &[usize], test: &Matrix) -> Matrix {
    let copies = |of: &Matrix, left_out: Option<usize>| -> Matrix {
        repeated(counts).into_iter().filter(|i| Some(*i) != left_out).map(|i| of[i].clone()).collect()
    };
    let all = naive::center_columns(&copies(x, None));
    let squares: f64 = all.iter().map(|row| naive::dot(row, row)).sum();
    let mean = squares / x.len().min(x[0].len()) as f64;
    let fit = |left_out: Option<usize>, penalty: f64, row: &[f64]| -> Vec<f64> {
        let (weights, intercept) = naive::ridge(&copies(x, left_out), &copies(y, left_out), penalty);
        (0..intercept.len())
            .map(|c| intercept[c] + row.iter().zip(&weights).map(|(v, w)| v * w[c]).sum::<f64>())
            .collect()
    };
    let error = |penalty: f64| -> f64 {
        let of_row = |i: usize| -> f64 {
            let off = fit(Some(i), penalty, &x[i]).into_iter().zip(&y[i]).map(|(a, b)| (a - b) * (a - b));
            counts[i] as f64 * off.sum::<f64>()
        };
        (0..x.len()).map(of_row).sum()
    };
    let penalties = (-16..=8).map(|step| mean * 10f64.powf(f64::from(step) / 2.0));
    let best = penalties.min_by(|a, b| error(*a).total_cmp(&error(*b))).expect("a penalty");
    test.iter().map(|row| fit(None, best, row)).collect()
}

#[test]
fn ridge_that_evaluates_takes_a_whole_weight_for_copies() {
    // With more columns than rows, too: from products of rows in place of columns.
    for columns in [3, 20] {
        let x = naive::random_rows(14, columns, 5);
        let counts: Vec<usize> = (0..14).map(|i| 1 + i % 3).collect();
        // Noise enough that the best penalty is none of the smallest, whose errors are alike.
        let noise = naive::random_rows(14, 1, 9);
        let y: Matrix = x.iter().zip(&noise).map(|(row, e)| vec![row[0] - row[1] + e[0]]).collect();
        let test = naive::random_rows(6, columns, 6);
        let slow = ridge_on_copies(&x, &y, &counts, &test).concat();
        for sparse in [false, true] {
            let (train, test) = if sparse {
                (crate::kernel::sparse(&x), crate::kernel::sparse(&test))
            } else {
                (crate::kernel::rows(&x), crate::kernel::rows(&test))
            };
            let labels = Labels::Numbers(y.concat());
            let counted = weights(&counts);
            let found = Evaluator::Ridge
                .predict_by(&train, &labels, Some(&counted), &test, 0, &Monitor::default())
                .expect("predictions");
            let Predictions::Numbers(fast) = found.predictions else { panic!("numbers were predicted") };
            let off = fast.iter().zip(&slow).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-8, "{columns} columns: {fast:?} {slow:?}");
        }
    }
}

#[test]
fn evaluators_without_a_use_for_weights_say_so_by_name() {
    let rows = crate::kernel::rows(&naive::random_rows(12, 2, 5));
    let labels = Labels::classes(&["a", "b"].repeat(6));
    let ones = Weights::new(vec![1.0; 12]).expect("weights");
    for name in ["linear", "linear-svm", "rbf-svm"] {
        let evaluator = Evaluator::named(name).expect(name);
        let found = evaluator.predict_by(&rows, &labels, Some(&ones), &rows, 0, &Monitor::default());
        let text = found.expect_err(name).to_string();
        assert!(text.starts_with(&format!("`{name}` takes no sample weights")), "{text}");
    }
}
