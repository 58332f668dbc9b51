//! Results to make pages from: like real ones, and worse than any real ones.

use mercer::data::{Labels, Task, synth};
use mercer::evaluate::advice::{Advice, Finding, Verdict};
use mercer::evaluate::diagnostics::FitDiagnostics;
use mercer::evaluate::outcome::{Entry, Outcome};
use mercer::report::{About, advice, comparison, model};
use mercer::{Basis, Kernel, Klfe, Monitor};

/// What may stand in a file's header, its classes or its name.
pub(super) const ATTACKS: [&str; 9] = [
    "<script>document.title = 'caught'</script>",
    "\"><img src=x onerror=alert(1)>",
    "a & b < c > d 'e' \"f\"",
    "</style></title></svg><h1>out</h1>",
    "",
    "   ",
    "🧪🔬 κλάση 類 צבע",
    "\u{202e}backwards\u{0}\u{1b}[31m",
    "an_endless_name_without_a_single_space_in_it_that_no_table_was_made_for_and_that_goes_on_and_on_and_on",
];

/// Every sample page and what its file is called.
pub(super) fn pages() -> Vec<(&'static str, String)> {
    let (outcome, diagnostics) = (classes(), ringnorm());
    let about = about();
    vec![
        ("comparison", comparison(&outcome, Some(&diagnostics), &about)),
        ("numbers", comparison(&numbers(), Some(&friedman()), &about)),
        ("model", model(&diagnostics, &about)),
        ("advice", advice(&advised(), Some(&diagnostics), &about)),
        ("one-feature", model(&one_feature(&diagnostics), &about)),
        ("many-classes", comparison(&many_classes(), Some(&many_points()), &about)),
        ("nasty-comparison", comparison(&nasty_outcome(), Some(&nasty_diagnostics()), &nasty_about())),
        ("nasty-advice", advice(&nasty_advice(), Some(&nasty_diagnostics()), &nasty_about())),
        ("empty-comparison", comparison(&Outcome::default(), None, &About::default())),
        ("empty-model", model(&FitDiagnostics::default(), &About::default())),
        ("empty-advice", advice(&Advice::default(), None, &About::default())),
    ]
}

pub(super) fn about() -> About {
    About {
        source: "synth:ringnorm?n=600&seed=1".into(),
        command:
            "mercer compare 'synth:ringnorm?n=600&seed=1' --target class --folds 10 --report ringnorm.html"
                .into(),
        seed: 1,
        settings: vec![
            ("kernel".into(), "rbf".into()),
            ("folds".into(), "10".into()),
            ("scale".into(), "standard".into()),
        ],
        target: "class".into(),
        version: "0.1.0".into(),
    }
}

/// Numbers in 0..1 that look like chance and are always the same.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Ten splits about a mean.
fn entry(method: &str, basis: Option<&str>, evaluator: &str, mean: f64, chance: &mut Chance) -> Entry {
    let scores: Vec<f64> = (0..10).map(|_| mean + 0.03 * (chance.next() - 0.5)).collect();
    let right = (300.0 * mean) as usize;
    Entry {
        method: method.into(),
        basis: basis.map(str::to_string),
        gamma_rule: basis.map(|_| "scale".to_string()),
        evaluator: evaluator.into(),
        asked: None,
        second: scores.iter().map(|s| s - 0.004).collect(),
        gammas: if basis.is_some() { vec![0.05; 10] } else { Vec::new() },
        n_features: vec![(20.0 * (1.0 + chance.next())) as usize; 10],
        kernel_values: vec![if basis.is_some() { 87 } else { 0 }; 10],
        seconds: vec![0.02 + 0.3 * chance.next(); 10],
        confusion: vec![vec![right, 300 - right], vec![(300 - right) / 3, 300 - (300 - right) / 3]],
        failed: None,
        scores,
        ..Entry::default()
    }
}

/// A comparison on two classes, with sizes and a method that failed.
pub(super) fn classes() -> Outcome {
    let mut chance = Chance(7);
    let mut entries = Vec::new();
    let methods = [
        ("klfe", "kpca", 0.979),
        ("gda", "kpca", 0.976),
        ("skfe", "kobl", 0.971),
        ("kpls", "kobl", 0.968),
        ("koc", "kobl", 0.955),
        ("kmfa", "kpca", 0.943),
        ("kanmm", "kpca", 0.941),
        ("k-relief", "gram-schmidt", 0.902),
        ("sk-relief", "sparse", 0.894),
        ("takes", "kobl", 0.921),
        ("kobl", "kobl", 0.874),
        ("nystrom", "nystrom", 0.859),
    ];
    for (method, basis, mean) in methods {
        for (evaluator, less) in [("knn", 0.0), ("ridge", 0.008)] {
            entries.push(entry(method, Some(basis), evaluator, mean - less, &mut chance));
        }
        for size in [1, 2, 3, 5, 8, 13, 21, 34, 55] {
            let reached = mean - 0.35 / (1.0 + size as f64 * (mean - 0.8) * 4.0);
            let mut sized = entry(method, Some(basis), "knn", reached, &mut chance);
            (sized.asked, sized.n_features) = (Some(size), vec![size; 10]);
            entries.push(sized);
        }
    }
    entries.push(entry("raw", None, "knn", 0.712, &mut chance));
    entries.push(entry("raw", None, "ridge", 0.765, &mut chance));
    entries.push(entry("kknn", None, "kknn", 0.712, &mut chance));
    entries.push(entry("rbf-svm", None, "rbf-svm", 0.977, &mut chance));
    let reason =
        "TAKES keeps no feature: every weight of kffs is 0; use another selector or give `n_features`";
    entries.push(Entry {
        method: "takes".into(),
        evaluator: "ridge".into(),
        failed: Some(reason.into()),
        ..Entry::default()
    });
    let mut outcome = Outcome {
        measure: "accuracy".into(),
        second: "balanced_accuracy".into(),
        entries,
        rows: 600,
        inputs: 20,
        classes: vec!["inner ring".into(), "outer ring".into()],
        n_splits: 10,
        interrupted: false,
        warnings: vec!["class `inner ring` has 290 rows, `outer ring` 310".into()],
        ..Outcome::default()
    };
    outcome.sort();
    outcome
}

fn numbers() -> Outcome {
    let mut outcome = classes();
    (outcome.measure, outcome.second) = ("r2".into(), "mse".into());
    outcome.classes.clear();
    for entry in &mut outcome.entries {
        entry.confusion.clear();
        entry.second = entry.scores.iter().map(|r2| 24.0 * (1.0 - r2)).collect();
    }
    outcome
}

/// What the library makes of a generator's rows.
fn diagnostics(generator: &str, named: &str) -> FitDiagnostics {
    let table = synth::generate(generator).expect("rows");
    let labels = Labels::decide(table.target.clone().expect("a target"), Task::Auto).expect("labels");
    let basis = Basis::kobl(Kernel::rbf(0.05)).n_components(60).fit(&table.rows).expect("a basis");
    let (norms, n) = (basis.pivot_norms.clone(), table.rows.n());
    let map = match &labels {
        Labels::Classes { .. } => Klfe { n_components: Some(3), n_neighbors: 5, ..Klfe::default() }
            .fit(&table.rows, &labels, basis)
            .expect("a map"),
        Labels::Numbers(_) | Labels::Several { .. } => mercer::FeatureMap::from(basis),
    };
    let z = map.transform(&table.rows).expect("features");
    let slopes = map.input_importance(&table.rows, &Monitor::default()).expect("slopes");
    let sums: Vec<f64> =
        (0..slopes.ncols()).map(|j| (0..slopes.nrows()).map(|i| slopes[(i, j)]).sum()).collect();
    let total: f64 = sums.iter().sum();
    let mut left = 1.0;
    FitDiagnostics {
        method: named.into(),
        basis: "kobl".into(),
        gamma: Some(0.05),
        residuals: std::iter::once(1.0)
            .chain(norms.iter().map(|norm| {
                left *= 1.0 - 0.06 * norm;
                left
            }))
            .collect(),
        pivot_norms: norms,
        spectrum: (0..60).map(|k| 900.0 * 0.8f64.powi(k)).collect(),
        scores: (0..10).map(|k| 1.0 / f64::from(1 + (k * 7) % 10)).collect(),
        point_names: map.feature_names.iter().take(3).cloned().collect(),
        points: (0..n).map(|i| (0..3).map(|j| z[(i, j)]).collect()).collect(),
        point_labels: Some(labels),
        importance: sums.iter().enumerate().map(|(j, sum)| (format!("x{}", j + 1), sum / total)).collect(),
        n_features: 3,
        kernel_values: 60,
        important: map.important_points().expect("training rows"),
        n_support: map.n_support(),
        ..FitDiagnostics::default()
    }
}

pub(super) fn ringnorm() -> FitDiagnostics {
    diagnostics("ringnorm?n=600&seed=1", "klfe")
}

fn friedman() -> FitDiagnostics {
    diagnostics("friedman?n=600&seed=1", "kobl")
}

pub(super) fn one_feature(from: &FitDiagnostics) -> FitDiagnostics {
    let mut one = from.clone();
    one.point_names.truncate(1);
    one.points.iter_mut().for_each(|row| row.truncate(1));
    one
}

/// Sixty classes, one of them with a single row.
fn many_classes() -> Outcome {
    let classes: Vec<String> = (0..60).map(|k| format!("species {k}")).collect();
    let mut outcome = self::classes();
    let mut chance = Chance(3);
    for entry in &mut outcome.entries {
        entry.confusion = (0..60)
            .map(|i| (0..60).map(|k| if i == k { 20 } else { (1.2 * chance.next()) as usize }).collect())
            .collect();
    }
    outcome.classes = classes;
    outcome
}

pub(super) fn many_points() -> FitDiagnostics {
    let mut chance = Chance(5);
    let codes: Vec<usize> = (0..1500).map(|i| if i == 0 { 59 } else { i % 59 }).collect();
    let points = codes
        .iter()
        .map(|&code| {
            let angle = code as f64 / 60.0 * std::f64::consts::TAU;
            vec![angle.cos() + 0.1 * chance.next(), angle.sin() + 0.1 * chance.next()]
        })
        .collect();
    FitDiagnostics {
        method: "gda".into(),
        point_names: vec!["gda1".into(), "gda2".into()],
        points,
        point_labels: Some(Labels::Classes {
            codes,
            names: (0..60).map(|k| format!("species {k}")).collect(),
        }),
        importance: (0..300).map(|j| (format!("gene {j}"), (1.0 + f64::from(j % 7)) / 1199.0)).collect(),
        ..FitDiagnostics::default()
    }
}

fn attacks() -> Vec<String> {
    ATTACKS.iter().map(ToString::to_string).collect()
}

pub(super) fn nasty_outcome() -> Outcome {
    let wild = [f64::NAN, f64::INFINITY, 1e300, -1e300, 1e-300, 0.5];
    let mut entries: Vec<Entry> = ATTACKS
        .iter()
        .enumerate()
        .map(|(k, text)| Entry {
            method: (*text).into(),
            basis: Some((*text).into()),
            gamma_rule: Some((*text).into()),
            evaluator: (*text).into(),
            asked: if k < 3 { None } else { Some(k) },
            scores: vec![wild[k % 6], 0.25, 0.75],
            second: wild.to_vec(),
            gammas: wild.to_vec(),
            n_features: vec![0, usize::MAX],
            kernel_values: vec![usize::MAX],
            seconds: wild.to_vec(),
            confusion: vec![vec![1, 2], Vec::new(), vec![0, 0, 0, 7]],
            failed: (k % 2 == 0).then(|| (*text).into()),
            ..Entry::default()
        })
        .collect();
    for size in 1..4 {
        let scores = vec![-1e300 * size as f64, 0.9];
        entries.push(Entry { method: ATTACKS[1].into(), asked: Some(size), scores, ..Entry::default() });
    }
    Outcome {
        measure: ATTACKS[0].into(),
        second: ATTACKS[2].into(),
        entries,
        classes: attacks(),
        interrupted: true,
        warnings: attacks(),
        ..Outcome::default()
    }
}

pub(super) fn nasty_diagnostics() -> FitDiagnostics {
    let wild = vec![f64::NAN, f64::INFINITY, 1e300, 1e-300, 0.0, -1e300, f64::MAX, f64::MIN, 5e-324];
    FitDiagnostics {
        method: ATTACKS[0].into(),
        basis: ATTACKS[3].into(),
        gamma: Some(f64::NAN),
        residuals: vec![1.0, 1e-300, 0.0, f64::NAN],
        pivot_norms: wild.clone(),
        spectrum: vec![1e300, 1e-300],
        scores: wild.clone(),
        point_names: vec![ATTACKS[1].into(), ATTACKS[8].into(), ATTACKS[4].into()],
        points: (0..9)
            .map(|i| (0..3).map(|j| wild[(i + j) % 9]).chain([0.0]).collect())
            .chain([vec![1.0]])
            .collect(),
        point_labels: Some(Labels::Classes { codes: (0..10).collect(), names: attacks() }),
        importance: ATTACKS.iter().zip(&wild).map(|(text, share)| ((*text).into(), *share)).collect(),
        n_features: 0,
        kernel_values: usize::MAX,
        ..FitDiagnostics::default()
    }
}

pub(super) fn nasty_advice() -> Advice {
    let text = |k: usize| ATTACKS[k % ATTACKS.len()].to_string();
    Advice {
        verdict: Verdict::Hurts,
        method: text(0),
        settings: (0..9).map(|k| (text(k), text(k + 1))).collect(),
        reasons: attacks(),
        findings: (0..9)
            .map(|k| Finding { name: text(k), value: text(k + 1), meaning: text(k + 2) })
            .collect(),
        alignments: vec![(1e-300, f64::NAN), (1.0, 0.5), (1e300, 1e300), (f64::INFINITY, 0.0)],
        loo_by_gamma: vec![(0.0, 1.0), (-1.0, 2.0)],
        loo_by_size: vec![(0, f64::INFINITY), (7, 1.0), (usize::MAX, 1e-300)],
        inner: (0..9).map(|k| (text(k), f64::NAN, f64::INFINITY)).collect(),
        rows: 0,
        warnings: attacks(),
        ..Advice::default()
    }
}

pub(super) fn nasty_about() -> About {
    About {
        source: ATTACKS[1].into(),
        command: ATTACKS[0].into(),
        seed: u64::MAX,
        settings: ATTACKS.iter().map(|text| ((*text).into(), (*text).into())).collect(),
        target: ATTACKS[3].into(),
        version: ATTACKS[2].into(),
    }
}

pub(super) fn advised() -> Advice {
    let finding = |name: &str, value: &str, meaning: &str| Finding {
        name: name.into(),
        value: value.into(),
        meaning: meaning.into(),
    };
    let gammas = || (0..13).map(|k| 10f64.powf(-4.0 + 0.5 * f64::from(k)));
    Advice {
        verdict: Verdict::Helps,
        method: "gda".into(),
        settings: vec![
            ("basis".into(), "kobl".into()),
            ("gamma".into(), "0.05".into()),
            ("basis_components".into(), "120".into()),
        ],
        reasons: vec![
            "Ridge on kernel coordinates makes 2.1 % leave-one-out errors, on the plain columns 23.4 %."
                .into(),
            "Two classes and a smooth kernel: one discriminant direction is enough.".into(),
        ],
        findings: vec![
            finding("rows × inputs", "600 × 20", "few enough for any method"),
            finding("relevant dimension", "14", "the labels live in few kernel components"),
            finding("noise", "1.9 %", "what no kernel of this kind explains"),
            finding("leave-one-out error, plain", "23.4 %", "the classes are not linearly separable"),
        ],
        alignments: gammas().map(|g| (g, 0.45 * (-(g / 0.05).ln().powi(2) / 8.0).exp())).collect(),
        loo_by_gamma: gammas().map(|g| (g, 0.02 + 0.02 * (g / 0.05).ln().powi(2).min(20.0))).collect(),
        loo_by_size: [10, 20, 40, 80, 120, 240, 480].map(|m| (m, 0.02 + 1.5 / f64::from(m as u32))).to_vec(),
        inner: vec![
            ("gda on kobl".into(), 0.978, 0.004),
            ("klfe on kpca".into(), 0.974, 0.005),
            ("raw".into(), 0.766, 0.011),
        ],
        rows: 600,
        warnings: Vec::new(),
        ..Advice::default()
    }
}
