//! Advice holds on data whose answer is known, does not depend on what it must not, and refuses what it cannot use.

use mercer::data::{Scale, Task, synth};
use mercer::evaluate::Adviser;
use mercer::evaluate::advice::Verdict;
use mercer::{Error, Labels, Options, Pipeline, Rows};

use crate::naive::{self, Matrix};

fn table(spec: &str) -> (Rows<'static>, Labels) {
    let table = synth::generate(spec).expect("rows");
    (table.rows, Labels::decide(table.target.expect("labels"), Task::Auto).expect("labels"))
}

fn small() -> Adviser {
    Adviser { max_components: 60, ..Adviser::default() }
}

#[test]
fn a_ball_in_a_ball_needs_a_kernel_and_two_balls_side_by_side_do_not() {
    let (rows, labels) = table("ringnorm?n=300&seed=3");
    let advice = small().advise(&rows, &labels).expect("advice");
    assert_eq!(advice.verdict, Verdict::Helps);
    assert!(advice.settings.iter().any(|(name, _)| name == "gamma"));
    let (rows, labels) = table("twonorm?n=300&seed=3");
    let advice = small().advise(&rows, &labels).expect("advice");
    assert_ne!(advice.verdict, Verdict::Helps);
    assert!(advice.settings.contains(&("kernel".into(), "linear".into())));
}

#[test]
fn a_linear_model_without_skill_misses_as_many_rows_as_guessing() {
    // Two rings of 40 rows: what is left of a class without one row is the smaller one, and leave-one-out misses them all.
    let angle = |i: usize| i as f64 * std::f64::consts::TAU / 40.0;
    let at = |i: usize| if i < 40 { 1.0 } else { 3.0 };
    let values: Vec<f64> = (0..80).flat_map(|i| [at(i) * angle(i).cos(), at(i) * angle(i).sin()]).collect();
    let rows = Rows::dense(values, 80, 2).expect("rows");
    let labels =
        Labels::classes(&(0..80).map(|i| if i < 40 { "inner" } else { "outer" }).collect::<Vec<_>>());
    let advice = small().advise(&rows, &labels).expect("advice");
    assert_eq!(advice.verdict, Verdict::Helps);
    let found = &advice.findings[0].value;
    assert!(found.starts_with("50.0 % (as by guessing) against 0.0 %"), "{found}");
}

#[test]
fn the_settings_are_those_of_a_pipeline_and_the_arguments_of_a_fit() {
    for spec in ["ringnorm?n=200&seed=1", "friedman?n=150&seed=1", "twonorm?n=150&seed=2"] {
        let (rows, labels) = table(spec);
        let advice = small().advise(&rows, &labels).expect("advice");
        let pipeline = Pipeline::new(&advice.method, &advice.settings).expect("a pipeline");
        pipeline.fit(&rows, Some(&labels), &Options::default()).expect("fits");
        assert!(advice.arguments().starts_with(&format!("--method {}", advice.method)));
        assert!(!advice.reasons.is_empty() && advice.findings.len() >= 4, "{spec}");
        assert!(advice.inner.iter().any(|(name, ..)| name == "raw"));
        assert!(advice.loo_by_size.windows(2).all(|w| w[0].0 < w[1].0));
    }
}

#[test]
fn numbers_get_advice_too() {
    let (rows, labels) = table("friedman?n=200&seed=5");
    let advice = small().advise(&rows, &labels).expect("advice");
    assert_eq!(advice.verdict, Verdict::Helps);
    assert!(["kobl", "kpls"].contains(&advice.method.as_str()));
}

#[test]
fn units_and_threads_do_not_matter() {
    let (rows, labels) = table("ringnorm?n=150&seed=4");
    let advice = small().advise(&rows, &labels).expect("advice");
    let p = rows.p();
    // A power of two changes no digit.
    let other: Vec<f64> = rows
        .to_dense()
        .iter()
        .enumerate()
        .map(|(at, v)| v * [1.0, 4.0, 16.0, 0.25, 2.0][at % p % 5])
        .collect();
    let other = Rows::dense(other, rows.n(), p).expect("rows");
    assert_eq!(small().advise(&other, &labels).expect("advice"), advice);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        assert_eq!(pool.install(|| small().advise(&rows, &labels)).expect("advice"), advice);
    }
}

#[test]
fn odd_rows_get_advice_and_no_panic() {
    let (rows, labels) = table("ringnorm?n=60&seed=6");
    let p = rows.p();
    let values = rows.to_dense();
    let with = |change: &dyn Fn(usize, usize, f64) -> f64| {
        let values: Vec<f64> = values.iter().enumerate().map(|(at, v)| change(at / p, at % p, *v)).collect();
        Rows::dense(values, 60, p).expect("rows")
    };
    let cases = [
        ("constant columns", with(&|_, j, v| if j < 18 { 7.0 } else { v })),
        ("duplicate rows", with(&|i, j, _| values[i / 4 * p + j])),
        ("all rows equal", with(&|_, _, _| 1.0)),
        ("huge", with(&|_, _, v| v * 1e150)),
        ("tiny", with(&|_, _, v| v * 1e-150)),
    ];
    for (what, rows) in cases {
        // Equal rows may be refused, but with words.
        if let Err(error) = small().advise(&rows, &labels) {
            assert!(what == "all rows equal" && !error.to_string().is_empty(), "{what}: {error}");
        }
    }
    let narrow = Rows::dense(values.iter().step_by(p).copied().collect::<Vec<_>>(), 60, 1).expect("rows");
    small().advise(&narrow, &labels).expect("one column");
    let few = rows.select(&(0..8).collect::<Vec<_>>());
    small().advise(&few, &labels.select(&(0..8).collect::<Vec<_>>())).expect("fewer rows than columns");
    let mut names: Vec<&str> = vec!["a"; 30];
    names.extend(vec!["b"; 29]);
    names.push("c");
    small().advise(&rows, &Labels::classes(&names)).expect("a class of one row");
}

#[test]
fn sparse_rows_get_the_advice_of_dense_ones_among_the_same_kernels() {
    let (rows, labels) = table("ringnorm?n=80&seed=8");
    let p = rows.p();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows.to_dense().chunks_exact(p) {
        for (j, v) in row.iter().enumerate().filter(|(j, _)| j % 3 > 0) {
            columns.push(j as u32);
            values.push(*v);
        }
        starts.push(values.len());
    }
    let sparse = Rows::sparse(starts, columns, values, p).expect("rows");
    let adviser = Adviser { scale: Scale::None, ..small() };
    let advice = adviser.advise(&sparse, &labels).expect("advice");
    assert!(advice.settings.iter().all(|(_, value)| value != "laplacian"));
}

#[test]
fn what_cannot_be_advised_on_is_refused_with_words() {
    let (rows, labels) = table("ringnorm?n=30&seed=1");
    let text = |rows: &Rows, labels: &Labels| small().advise(rows, labels).expect_err("refused").to_string();
    assert_eq!(text(&rows, &labels.select(&[0, 1, 2])), "30 rows, but 3 labels");
    let first = |n: usize| (0..n).collect::<Vec<_>>();
    assert_eq!(
        text(&rows.select(&first(5)), &labels.select(&first(5))),
        "the data has 5 rows and 20 columns; advice needs at least 6 rows and 1 column"
    );
    assert!(text(&rows, &Labels::classes(&["a"; 30])).contains("advise"));
    let mut values = rows.to_dense();
    values[25] = f64::NAN;
    assert!(text(&Rows::dense(values, 30, 20).expect("rows"), &labels).contains("row 2"));
}

#[test]
fn a_target_without_noise_gets_advice_that_can_be_followed() {
    // Two circles, one inside the other: few partial least squares explain which is which to the last digit.
    let turn = |i: usize| (i / 2) as f64 / 50.0 * std::f64::consts::TAU;
    let radius = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 0.8 };
    let values: Vec<f64> =
        (0..100).flat_map(|i| [radius(i) * turn(i).cos(), radius(i) * turn(i).sin()]).collect();
    let rows = Rows::dense(values, 100, 2).expect("rows");
    let labels = Labels::Numbers((0..100).map(|i| f64::from(i % 2)).collect());
    Adviser::default().fit(&rows, &labels).expect("features");
}

#[test]
fn columns_that_say_nothing_are_said_to_help_nobody() {
    let constant = Rows::dense(vec![1.0; 60 * 3], 60, 3).expect("rows");
    let names: Vec<&str> = (0..60).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
    let advice = small().advise(&constant, &Labels::classes(&names)).expect("advice");
    assert_eq!(advice.verdict, Verdict::MakesNoDifference);
    assert!(advice.reasons[0].contains("no features will help much"), "{}", advice.reasons[0]);
    assert!(advice.no_signal);
    let automatic = small().fit(&constant, &Labels::classes(&names)).expect("features");
    let told = |text: &str| automatic.fitted.warnings.iter().any(|warning| warning.contains(text));
    assert!(told("features will hardly help: all columns are constant"), "{:?}", automatic.fitted.warnings);
    let (rows, labels) = table("ringnorm?n=60&seed=1");
    let automatic = small().fit(&rows, &labels).expect("features");
    assert!(!automatic.advice.no_signal && automatic.fitted.warnings.is_empty());
}

/// Five columns of noise, and a target of noise that a kernel seems to predict by leave-one-out errors.
fn noise_that_helps() -> (Rows<'static>, Labels) {
    (1..400)
        .map(|seed| {
            let (rows, _) = table(&format!("twonorm?n=40&seed={seed}"));
            let values = rows.to_dense();
            let target = values.chunks_exact(20).map(|row| row[19]).collect();
            let inputs = values.chunks_exact(20).flat_map(|row| row[..3].to_vec()).collect::<Vec<_>>();
            (Rows::dense(inputs, 40, 3).expect("rows"), Labels::Numbers(target))
        })
        .find(|(rows, labels)| {
            let advice = small().advise(rows, labels).expect("advice");
            advice.is_chance() && !advice.no_signal
        })
        .expect("some noise seems to be predicted")
}

#[test]
fn what_is_chance_on_rows_held_out_makes_no_difference() {
    let (rows, labels) = noise_that_helps();
    let advice = small().advise(&rows, &labels).expect("advice");
    assert_eq!(advice.headline(), "Nothing here predicts the labels better than chance.");
    assert_eq!(advice.verdict, Verdict::MakesNoDifference);
    let found = advice.findings.iter().find(|finding| finding.name == "relevant dimension");
    assert!(found.is_none_or(|found| found.meaning.starts_with("nothing predicts the labels")), "{found:?}");
}

#[test]
fn differences_that_nobody_sees_do_not_hurt_and_are_no_gains() {
    // Nearly no noise: the kernel's error is a multiple of the linear one's, but both predict everything.
    let (rows, _) = table("friedman?n=200&seed=3");
    let p = rows.p();
    let values = rows.to_dense();
    let target = values.chunks_exact(p).enumerate().map(|(i, row)| {
        row.iter().zip(1..).map(|(v, weight)| v * f64::from(weight)).sum::<f64>() + 0.01 * (i % 7) as f64
    });
    let advice = Adviser::default().advise(&rows, &Labels::Numbers(target.collect())).expect("advice");
    assert_eq!(advice.verdict, Verdict::MakesNoDifference, "{:?}", advice.reasons);
    let ridge = advice.findings.iter().find(|finding| finding.name == "ridge").expect("a finding");
    assert_eq!(ridge.meaning, "a linear model gains nothing from the features", "{}", ridge.value);
}

#[test]
fn where_the_method_fails_on_all_rows_the_coordinates_are_the_features_and_a_reason_says_so() {
    // Every row once as a and once as b: folds have class means that differ, all rows together do not.
    let (rows, _) = table("ringnorm?n=30&seed=5");
    let twice: Vec<usize> = (0..60).map(|i| i % 30).collect();
    let names: Vec<&str> = (0..60).map(|i| if i < 30 { "a" } else { "b" }).collect();
    let (rows, labels) = (rows.select(&twice), Labels::classes(&names));
    let automatic = small().fit(&rows, &labels).expect("features");
    assert_eq!((automatic.advice.method.as_str(), automatic.fitted.map.method.as_str()), ("kfa", "kfa"));
    let said = |reason: &String| reason.contains("cannot be fitted on all rows");
    assert!(automatic.advice.reasons.iter().any(said), "{:?}", automatic.advice.reasons);
}

#[test]
fn a_basis_that_ends_by_itself_is_advised_with_no_more_than_it_has() {
    let (rows, labels) = table("twonorm?n=100&seed=3");
    let advice = small().advise(&rows, &labels).expect("advice");
    // Twenty columns, so the linear kernel has twenty coordinates whatever is asked for.
    assert!(advice.settings.contains(&("kernel".into(), "linear".into())));
    let sized = |(name, _): &(String, String)| {
        name == "basis_components" || (name == "n_components" && advice.method == "kobl")
    };
    let (all, _) = advice.loo_by_size.last().expect("sizes");
    assert_eq!(*all, 20);
    let chosen = advice.settings.iter().find(|setting| sized(setting));
    assert!(chosen.is_none_or(|(_, size)| size.parse::<usize>().expect("a number") <= 20));
}

#[test]
fn advice_can_be_stopped() {
    let (rows, labels) = table("ringnorm?n=100&seed=1");
    let adviser = small();
    adviser.options.monitor.stop();
    assert!(matches!(adviser.advise(&rows, &labels), Err(Error::Interrupted)));
}

/// Squared leave-one-out error of ridge by n refits with normal equations.
fn refitted_error(z: &Matrix, y: &Matrix, penalty: f64) -> f64 {
    let (n, m) = (z.len(), z[0].len());
    let mut sum = 0.0;
    for out in 0..n {
        let without = |a: &Matrix| -> (Matrix, Vec<f64>) {
            let kept: Matrix = (0..n).filter(|i| *i != out).map(|i| a[i].clone()).collect();
            let mean = |j: usize| kept.iter().map(|row| row[j]).sum::<f64>() / (n - 1) as f64;
            let means: Vec<f64> = (0..a[0].len()).map(mean).collect();
            let centered = kept.iter().map(|row| row.iter().zip(&means).map(|(v, m)| v - m).collect());
            (centered.collect(), means)
        };
        let ((a, z_means), (b, y_means)) = (without(z), without(y));
        let mut normal = naive::matmul(&naive::transpose(&a), &a);
        (0..m).for_each(|j| normal[j][j] += penalty);
        let weights = naive::solve(&normal, &naive::matmul(&naive::transpose(&a), &b));
        for (j, mean) in y_means.iter().enumerate() {
            let fit: f64 = (0..m).map(|d| (z[out][d] - z_means[d]) * weights[d][j]).sum::<f64>() + mean;
            sum += (fit - y[out][j]).powi(2);
        }
    }
    sum
}

#[test]
fn a_ridge_penalty_of_one_is_right_for_automatic_features() {
    let (rows, labels) = table("ringnorm?n=70&seed=2");
    let automatic = Adviser { max_components: 12, ..small() }.fit(&rows, &labels).expect("fit");
    let z = automatic.fitted.map.transform(&rows).expect("features");
    let (codes, c) = labels.require_classes("test").expect("classes");
    let z: Matrix = (0..70).map(|i| z.row(i).iter().copied().collect()).collect();
    let y = naive::one_hot(codes, c);
    let error = |penalty: f64| refitted_error(&z, &y, penalty);
    // Penalties were tried in steps of ten.
    assert!(error(1.0) <= error(10.0) * (1.0 + 1e-9) && error(1.0) <= error(0.1) * (1.0 + 1e-9));
    assert_eq!(automatic.fitted.map.method, automatic.advice.method);
}
