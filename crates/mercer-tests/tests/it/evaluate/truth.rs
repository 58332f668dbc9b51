//! What is said about data must be so: noise is called noise, and features are evaluated on rows that they have not seen.

use mercer::data::synth;
use mercer::evaluate::diagnostics::FitDiagnostics;
use mercer::evaluate::folds::{group_folds, ordered_folds};
use mercer::evaluate::held_out::Score;
use mercer::evaluate::measures::{Measure, Predictions};
use mercer::evaluate::outcome::{Chance, Entry, Outcome};
use mercer::evaluate::{Adviser, Comparison, Evaluator, Learner, Split};
use mercer::{Checkpoint, Labels, Options, Pipeline, Rows, report};

use super::compare::table;

/// Rows whose labels were drawn by chance.
fn noise(n: usize) -> (Rows<'static>, Labels) {
    let made = synth::generate(&format!("friedman?n={n}&seed=3")).expect("rows");
    let mut state = 7u64;
    let mut coin = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 63 == 1 { "a" } else { "b" }
    };
    let labels: Vec<&str> = (0..n).map(|_| coin()).collect();
    (made.rows, Labels::classes(&labels))
}

#[test]
fn features_of_noise_look_like_noise() {
    let (rows, labels) = noise(300);
    let pipeline = Pipeline::new("gda", &[("basis", "gram-schmidt"), ("gamma", "5"), ("reg", "0.001")])
        .expect("a pipeline");
    let (seen, fitted) = FitDiagnostics::of(&pipeline, &rows, Some(&labels), &[], 0, &Options::default())
        .expect("diagnostics");
    // The two classes lie apart among the rows that the feature was learned from.
    let gap = |z: &dyn Fn(usize) -> f64, labels: &Labels| {
        let Labels::Classes { codes, .. } = labels else { panic!("classes") };
        let mean = |class: usize| {
            let own: Vec<f64> = (0..codes.len()).filter(|&i| codes[i] == class).map(z).collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        let all: Vec<f64> = (0..codes.len()).map(z).collect();
        let center = all.iter().sum::<f64>() / all.len() as f64;
        let spread = (all.iter().map(|v| (v - center).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
        (mean(1) - mean(0)).abs() / spread
    };
    let z = fitted.map.transform(&rows).expect("features");
    assert!(gap(&|i| z[(i, 0)], &labels) > 0.8, "learned by heart");
    let points = seen.point_labels.clone().expect("labels");
    assert!(gap(&|i| seen.points[i][0], &points) < 0.4, "but not what is drawn");
    let held_out = seen.held_out.as_ref().expect("held out");
    assert!(!held_out.score.is_above_chance(), "{held_out:?}");
    let page = report::model(&seen, &report::About::default());
    assert!(page.contains("No better than chance") && page.contains("of rows held out"));
}

#[test]
fn noise_is_called_noise_by_every_command() {
    let (rows, labels) = noise(300);
    let advice = Adviser::default().advise(&rows, &labels).expect("advice");
    assert_eq!(advice.headline(), "Nothing here predicts the labels better than chance.");
    let page = report::advice(&advice, None, &report::About::default());
    assert!(page.contains("better than chance"));
    let methods = ["gda", "klfe", "kobl", "kpls"].map(String::from).to_vec();
    let outcome = Comparison { methods, ..Comparison::default() }.run(&rows, &labels).expect("an outcome");
    let chance = outcome.chance.expect("chance");
    assert!(chance.p_value > 0.05, "{chance:?}");
    assert!(report::comparison(&outcome, None, &report::About::default()).contains("better than chance"));
    let learned = Learner::default().fit(&rows, &labels).expect("learned");
    assert!(!learned.left_out.score.is_above_chance());
    let page = report::learned(&learned, &[], &report::About::default());
    assert!(page.contains("No better than chance"));
}

#[test]
fn what_is_no_noise_is_above_chance() {
    let (rows, labels) = table("ringnorm?n=200&seed=1");
    let advice = Adviser::default().advise(&rows, &labels).expect("advice");
    assert!(advice.score.expect("a score").is_above_chance());
    let methods = vec!["gda".to_string()];
    let outcome = Comparison { methods, ..Comparison::default() }.run(&rows, &labels).expect("an outcome");
    assert!(outcome.chance.expect("chance").p_value <= 0.05);
}

#[test]
fn splits_without_a_rare_class_do_not_count_as_right() {
    let (rows, _) = noise(100);
    let labels: Vec<&str> = (0..100).map(|i| if i < 2 { "rare" } else { "common" }).collect();
    let labels = Labels::classes(&labels);
    let comparison = Comparison { methods: vec!["gda".into()], ..Comparison::default() };
    let outcome = comparison.run(&rows, &labels).expect("an outcome");
    assert_eq!((outcome.measure.as_str(), outcome.n_splits), ("balanced_accuracy", 2));
    let dummy = outcome.entries.iter().find(|entry| entry.method == "dummy").expect("dummy");
    assert_eq!(dummy.mean(), Some(0.5));
    assert!(outcome.warnings.iter().any(|text| text.contains("3 of 5 splits lack a class")));
    let apart: Vec<String> =
        (0..5).map(|at| comparison.run_split(&rows, &labels, at).expect("a split, or none")).collect();
    let joined = comparison.join(&rows, &labels, &apart).expect("joined");
    assert_eq!((joined.finished_splits, joined.interrupted), (outcome.finished_splits, false));
    assert!(
        comparison.run_split(&rows, &labels, 5).expect_err("too many").to_string().contains("there are 5")
    );
}

/// Labels of which the rows at these places are rare.
fn rare_at(n: usize, places: &[usize]) -> Labels {
    Labels::classes(&(0..n).map(|i| if places.contains(&i) { "rare" } else { "common" }).collect::<Vec<_>>())
}

#[test]
fn every_split_has_the_measure_of_all_labels() {
    // All rows are uneven by a hair, and some training parts are not.
    let (rows, _) = noise(133);
    let labels: Vec<&str> = (0..133).map(|i| if i % 4 == 1 { "b" } else { "a" }).collect();
    let labels = Labels::classes(&labels);
    assert_eq!(Measure::usual(&labels), Measure::BalancedAccuracy);
    let folder = tempfile::tempdir().expect("folder");
    let options = || Options::default().checkpoint(&Checkpoint::new(folder.path()));
    for _ in ["first", "resumed"] {
        let comparison =
            Comparison { methods: vec!["raw".into()], options: options(), ..Comparison::default() };
        let outcome = comparison.run(&rows, &labels).expect("an outcome");
        assert_eq!((outcome.measure.as_str(), outcome.second.as_str()), ("balanced_accuracy", "accuracy"));
        let dummy = outcome.entries.iter().find(|entry| entry.method == "dummy").expect("dummy");
        assert_eq!(dummy.scores, [0.5; 5]);
    }
}

#[test]
fn splits_of_groups_and_of_time_need_every_class_as_well() {
    let (rows, _) = noise(500);
    let groups: Vec<usize> = (0..500).map(|i| i / 10).collect();
    let plain = Comparison { methods: vec!["raw".into()], ..Comparison::default() };
    let of_groups = Comparison { groups: Some(groups.clone()), ..plain.clone() };
    let given = Comparison { splits: Some(group_folds(&groups, 5, 1, 0).expect("folds")), ..plain.clone() };
    for comparison in [of_groups, given] {
        let outcome = comparison.run(&rows, &rare_at(500, &[0, 255])).expect("an outcome");
        assert_eq!((outcome.measure.as_str(), outcome.n_splits), ("balanced_accuracy", 2));
        let dummy = outcome.entries.iter().find(|entry| entry.method == "dummy").expect("dummy");
        assert_eq!((dummy.mean(), outcome.finished_splits.len()), (Some(0.5), 2));
        assert!(outcome.warnings.iter().any(|text| text.contains("3 of 5 splits lack a class")));
    }
    // No test part in time has a rare row: what is left is accuracy, unless another measure is asked for.
    let ordered = Comparison { splits: Some(ordered_folds(500, 4).expect("splits")), ..plain };
    let outcome = ordered.run(&rows, &rare_at(500, &[0, 1])).expect("an outcome");
    assert_eq!((outcome.measure.as_str(), outcome.n_splits), ("accuracy", 4));
    assert!(outcome.warnings.iter().any(|text| text.contains("every split lacks a class on one side")));
    let asked = Comparison { score: Some(Measure::BalancedAccuracy), ..ordered };
    let outcome = asked.run(&rows, &rare_at(500, &[0, 1])).expect("an outcome");
    assert_eq!((outcome.measure.as_str(), outcome.n_splits), ("balanced_accuracy", 4));
    assert!(outcome.warnings.iter().any(|text| text.contains("every split lacks a class on one side")));
}

#[test]
fn labels_of_patients_drawn_by_chance_are_no_finding() {
    // 20 patients, 8 near-copies of each; as many patients of either class.
    let groups: Vec<usize> = (0..160).map(|i| i / 8).collect();
    let found = |seed: u64, of_rows: bool| {
        let patients =
            synth::generate(&format!("friedman?n=20&p=5&seed={seed}")).expect("rows").rows.to_dense();
        let noise = synth::generate(&format!("friedman?n=160&p=5&seed={}", 100 + seed)).expect("rows").rows;
        let noise = noise.to_dense();
        let values = noise.iter().enumerate().map(|(at, v)| patients[at / 40 * 5 + at % 5] + 0.05 * v);
        let rows = Rows::dense(values.collect::<Vec<_>>(), 160, 5).expect("rows");
        // The patients' columns are drawn by chance, so that any labels are.
        let labels: Vec<&str> = groups.iter().map(|g| if g % 2 == 0 { "a" } else { "b" }).collect();
        let comparison = Comparison {
            methods: vec!["kobl".into()],
            settings: vec![("n_components".into(), "10".into())],
            evaluators: vec![Evaluator::Knn { n_neighbors: 1 }],
            splits: of_rows.then(|| group_folds(&groups, 5, 1, 0).expect("folds")),
            groups: (!of_rows).then(|| groups.clone()),
            ..Comparison::default()
        };
        comparison.run(&rows, &Labels::classes(&labels)).expect("an outcome").chance.expect("chance").p_value
            <= 0.05
    };
    let count = |of_rows| (0..8).filter(|&seed| found(seed, of_rows)).count();
    let (by_groups, by_rows) = (count(false), count(true));
    assert!(by_groups <= 1 && by_rows >= 2, "{by_groups} and {by_rows} of 8");
}

#[test]
fn groups_with_several_labels_are_told() {
    let (rows, labels) = table("ringnorm?n=60&seed=1");
    let groups: Vec<usize> = (0..60).map(|i| i / 5).collect();
    let comparison =
        Comparison { methods: vec!["kobl".into()], groups: Some(groups), ..Comparison::default() };
    let outcome = comparison.run(&rows, &labels).expect("an outcome");
    assert!(outcome.warnings.iter().any(|text| text.contains("labels differ within groups")));
    let few = Comparison { groups: Some(vec![0; 9]), ..comparison.clone() };
    assert!(
        few.check(&rows, &labels)
            .expect_err("refused")
            .to_string()
            .contains("9 groups were given for 60 rows")
    );
    let random = Comparison { test_share: Some(0.5), ..comparison };
    assert!(
        random.check(&rows, &labels).expect_err("refused").to_string().contains("test_share splits groups")
    );
}

#[test]
fn only_features_that_are_above_chance_themselves_are_recommended() {
    let entry = |method: &str, scores: [f64; 3], q: usize| Entry {
        method: method.into(),
        scores: scores.to_vec(),
        n_features: vec![q; 3],
        ..Entry::default()
    };
    let outcome = |entries: Vec<Entry>, level: f64| {
        let chance = Some(Chance { score: level, p_value: 0.01 });
        Outcome {
            measure: "accuracy".into(),
            entries,
            chance,
            shuffled: vec![level; 99],
            ..Outcome::default()
        }
    };
    // A baseline is above chance, and no features are.
    let svm = entry("rbf-svm", [0.9, 0.91, 0.92], 0);
    let below = outcome(vec![svm, entry("kpls", [0.6, 0.7, 0.65], 2)], 0.7);
    assert!(!below.is_above_chance() && below.recommended().is_none());
    assert_eq!(below.p_value(&below.entries[1]), Some(1.0));
    let page = report::comparison(&below, None, &report::About::default());
    assert!(
        page.contains("No features are recommended") && page.contains("No features are better than chance")
    );
    // The fewest features near the best are not.
    let near = outcome(vec![entry("kpls", [0.7, 0.8, 0.9], 9), entry("gda", [0.72, 0.74, 0.76], 1)], 0.75);
    assert_eq!(near.recommended().map(|entry| entry.method.as_str()), Some("kpls"));
    let (rows, labels) = noise(80);
    let methods = ["gda", "kpls"].map(String::from).to_vec();
    let outcome = Comparison { methods, ..Comparison::default() }.run(&rows, &labels).expect("an outcome");
    assert!(outcome.recommended().is_none() && outcome.to_json()["recommended"].is_null());
}

#[test]
fn numbers_that_their_mean_predicts_better_are_not_said_to_be_predicted() {
    let truth: Vec<f64> = (0..40).map(f64::from).collect();
    let too_far = Predictions::Numbers(truth.iter().map(|v| 10.0 * v).collect());
    let score = Score::of(Measure::R2, &Labels::Numbers(truth), &too_far, 0).expect("a score");
    assert!(score.value < 0.0 && score.p_value <= 0.05 && !score.is_above_chance(), "{score:?}");
}

#[test]
fn probabilities_are_not_certain_because_few_rows_are_all_right() {
    let values: Vec<f64> = (0..30).map(|i| f64::from(i % 2) * 4.0 + f64::from(i * 7 % 30) / 30.0).collect();
    let labels: Vec<&str> = (0..30).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
    let (rows, labels) = (Rows::dense(values, 30, 1).expect("rows"), Labels::classes(&labels));
    let learned = Learner::default().fit(&rows, &labels).expect("learned");
    assert_eq!(learned.missed, Some(0.0));
    // 15 rows of a class give 1/17 to the other one.
    let loss = learned.log_loss.expect("classes");
    assert!(loss > 0.02 && loss < 0.1, "{loss}");
}

#[test]
fn rows_that_are_there_twice_are_told() {
    let (rows, labels) = noise(150);
    let twice: Vec<usize> = (0..300).map(|i| i % 150).collect();
    let (rows, labels) = (rows.select(&twice), labels.select(&twice));
    let is_told =
        |warnings: &[String]| warnings.iter().any(|text| text.contains("150 of 300 rows are copies"));
    assert!(is_told(&Learner::default().fit(&rows, &labels).expect("learned").warnings));
    assert!(is_told(&Adviser::default().advise(&rows, &labels).expect("advice").warnings));
}

#[test]
fn a_linear_target_is_not_said_to_need_a_kernel() {
    // Two classes on either side of a plane, a little noise: least squares on 0/1 misses more than the best plane does.
    let made = synth::generate("friedman?n=400&seed=1").expect("rows");
    let x = made.rows.to_dense();
    let side = |row: &[f64]| (row[0] + 0.3 * row[1]).powi(3) - 0.28 > 0.0;
    let labels: Vec<&str> = x.chunks(10).map(|row| if side(row) { "up" } else { "down" }).collect();
    let advice = Adviser::default().advise(&made.rows, &Labels::classes(&labels)).expect("advice");
    assert_ne!(advice.verdict.name(), "helps", "{:?}", advice.reasons);
}

#[test]
fn inputs_that_matter_are_those_of_the_target() {
    let made = synth::generate("friedman?n=400&seed=1").expect("rows");
    // Only the fourth input matters; an unsupervised basis depends on all of them alike.
    let labels = Labels::Numbers(made.rows.to_dense().chunks(10).map(|row| row[3].powi(2)).collect());
    let pipeline = Pipeline::new("kobl", &[("n_components", "100")]).expect("a pipeline");
    let (seen, _) = FitDiagnostics::of(&pipeline, &made.rows, Some(&labels), &[], 0, &Options::default())
        .expect("diagnostics");
    let best = seen.importance.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("inputs");
    assert!(best.0 == "x4" && best.1 > 0.5, "{:?}", seen.importance);
    let held_out = seen.held_out.expect("held out");
    let inputs = held_out.inputs.expect("inputs");
    assert!(inputs.count == 5 && inputs.alone > 0.9 && inputs.without < 0.1, "{inputs:?}");
}

#[test]
fn few_rows_are_drawn_as_what_they_are() {
    let (rows, labels) = table("blobs?n=10&seed=1");
    let pipeline = Pipeline::new("kobl", &[("gamma", "1")]).expect("a pipeline");
    let (seen, _) = FitDiagnostics::of(&pipeline, &rows, Some(&labels), &[], 0, &Options::default())
        .expect("diagnostics");
    assert!(seen.held_out.is_none() && seen.points.len() == 10);
    let page = report::model(&seen, &report::About::default());
    assert!(page.contains("of the rows that they were learned from"));
}

#[test]
fn a_rare_class_is_not_left_to_the_majority() {
    let made = synth::generate("friedman?n=300&seed=1").expect("rows");
    let labels: Vec<&str> = (0..300).map(|i| if i % 30 == 0 { "rare" } else { "usual" }).collect();
    let labels = Labels::classes(&labels);
    let comparison = Comparison { methods: vec!["kobl".into()], ..Comparison::default() };
    let outcome = comparison.run(&made.rows, &labels).expect("an outcome");
    assert_eq!((outcome.measure.as_str(), outcome.second.as_str()), ("balanced_accuracy", "accuracy"));
    let dummy = outcome.entries.iter().find(|e| e.method == "dummy").expect("the baseline");
    assert!((dummy.mean().expect("a mean") - 0.5).abs() < 1e-12, "the largest class is worth nothing");
}

#[test]
fn every_score_can_be_asked_for() {
    let (rows, labels) = table("waveform?n=120&seed=1");
    let (numbers_rows, numbers) = table("friedman?n=120&seed=1");
    for measure in Measure::ALL {
        let (rows, labels) =
            if measure.is_of_classes() { (&rows, &labels) } else { (&numbers_rows, &numbers) };
        let comparison = Comparison {
            methods: vec!["kobl".into()],
            score: Some(measure),
            folds: 3,
            ..Comparison::default()
        };
        let outcome = comparison.run(rows, labels).expect("an outcome");
        assert_eq!(outcome.measure, measure.name().replace('-', "_"));
        let mean = |at: usize| outcome.entries[at].mean().expect("a mean");
        let (first, last) = (mean(0), mean(outcome.entries.len() - 1));
        assert!(
            if measure.higher_is_better() { first > last } else { first < last },
            "{measure:?}: best first"
        );
        assert_eq!(outcome.entries.last().expect("entries").method, "dummy", "{measure:?}");
        assert!(outcome.chance.expect("chance").p_value <= 0.05, "{measure:?}");
    }
    let wrong = Comparison { score: Some(Measure::R2), ..Comparison::default() };
    let text = wrong.run(&rows, &labels).expect_err("refused").to_string();
    assert!(text.contains("`r2` is for numbers") && text.contains("roc-auc"), "{text}");
    let evaluators = vec![Evaluator::LinearSvm { c: None }];
    let wrong = Comparison { score: Some(Measure::LogLoss), evaluators, ..Comparison::default() };
    let text = wrong.run(&rows, &labels).expect_err("refused").to_string();
    assert!(text.contains("log-loss needs probabilities, which `linear-svm` has not"), "{text}");
}

#[test]
fn measures_have_their_textbook_values() {
    let truth = Labels::classes(&["a", "a", "b", "b", "b", "c"]);
    let said = Predictions::Classes(vec![0, 1, 1, 1, 0, 1]);
    // Precision and recall: a 1/2 and 1/2, b 2/4 and 2/3, c nothing.
    let f1 = (0.5 + 4.0 / 7.0 + 0.0) / 3.0;
    assert!((Measure::F1.of(&truth, &said).expect("f1") - f1).abs() < 1e-15);
    let two = Labels::classes(&["a", "b", "a", "b"]);
    let scores = faer::Mat::from_fn(4, 2, |i, j| if j == 1 { [0.1, 0.4, 0.4, 0.9][i] } else { 0.0 });
    // Of four pairs three are in order, one is tied.
    assert_eq!(Measure::RocAuc.of_scores(&two, scores.as_ref()).expect("auc"), 3.5 / 4.0);
    let numbers = Labels::Numbers(vec![1.0, 2.0, 4.0]);
    let off = Predictions::Numbers(vec![1.0, 4.0, 3.0]);
    assert_eq!(Measure::Mae.of(&numbers, &off).expect("mae"), 1.0);
    assert!((Measure::Rmse.of(&numbers, &off).expect("rmse") - (5.0f64 / 3.0).sqrt()).abs() < 1e-15);
    let one = Labels::Classes { codes: vec![0, 0], names: vec!["a".into(), "b".into()] };
    assert!(Measure::RocAuc.of(&one, &Predictions::Classes(vec![0, 1])).is_err());
}

#[test]
fn a_difference_of_three_points_on_many_rows_is_clear() {
    // 94.7 % and 98.1 % of 570 rows, as a linear machine and a basis had them on one data set.
    let entry = |wrong: std::ops::Range<usize>| {
        let losses: Vec<f32> = (0..570).map(|i| f32::from(u8::from(wrong.contains(&i)))).collect();
        let scores =
            losses.chunks(114).map(|part| 1.0 - f64::from(part.iter().sum::<f32>()) / 114.0).collect();
        mercer::evaluate::outcome::Entry { losses, scores, rows: 570, ..Default::default() }
    };
    let (better, worse) = (entry(0..11), entry(5..35));
    assert_eq!(better.clearly_better(&worse), Some(true));
    assert_eq!(entry(0..11).clearly_better(&entry(2..14)), None);
}

#[test]
fn groups_stay_together_and_time_goes_forward() {
    let groups: Vec<usize> = (0..60).map(|i| i / 5).collect();
    for split in group_folds(&groups, 4, 2, 3).expect("folds") {
        assert_eq!(split.train.len() + split.test.len(), 60);
        assert!(split.test.len() == 15, "groups of one size are dealt out evenly");
        assert!(split.test.iter().all(|&i| split.train.iter().all(|&j| groups[i] != groups[j])));
    }
    assert!(
        group_folds(&groups, 13, 1, 0).expect_err("refused").to_string().contains("13 folds of 12 groups")
    );
    for (at, split) in ordered_folds(23, 4).expect("splits").iter().enumerate() {
        assert_eq!(split.test.len(), 4, "{at}");
        assert!(split.train.iter().max() < split.test.iter().min());
    }
    assert!(ordered_folds(4, 4).is_err());
    let (rows, labels) = table("ringnorm?n=60&seed=1");
    let splits = group_folds(&groups, 4, 1, 0).expect("folds");
    let comparison =
        Comparison { methods: vec!["kobl".into()], splits: Some(splits.clone()), ..Comparison::default() };
    assert_eq!(comparison.run(&rows, &labels).expect("an outcome").n_splits, 4);
    for wrong in
        [vec![], vec![Split { train: vec![0], test: vec![] }], vec![Split { train: vec![0], test: vec![60] }]]
    {
        let comparison = Comparison { splits: Some(wrong), ..comparison.clone() };
        assert!(comparison.run(&rows, &labels).is_err());
    }
}

#[test]
fn scores_by_chance_are_of_shuffled_labels() {
    let truth = Labels::classes(&["a", "b", "b", "b"].repeat(50));
    let right = Predictions::Classes([0, 1, 1, 1].repeat(50));
    let score = Score::of(Measure::Accuracy, &truth, &right, 0).expect("a score");
    // Two independent labels agree with probability 1/16 + 9/16.
    assert!(
        score.value == 1.0 && (score.chance - 0.625).abs() < 0.01 && (score.p_value - 0.005).abs() < 1e-12
    );
}
