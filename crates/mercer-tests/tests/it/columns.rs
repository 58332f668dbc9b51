//! Selected input columns: every selector, what is copied, what a file holds, and how stable the choice is.

use mercer::data::{Task, synth};
use mercer::map::{Model, SelectedColumns};
use mercer::pipeline::ColumnSelection;
use mercer::{Error, FeatureMap, Labels, Options, Rows, methods};

/// 120 rows of six columns of which the second decides the class, or is the number.
fn rows_and_labels(numbers: bool) -> (Rows<'static>, Labels) {
    let noise = synth::generate("friedman?n=120&seed=3").expect("rows").rows.to_dense();
    let mut values = Vec::new();
    for (i, row) in noise.chunks(10).enumerate() {
        let mut row = row[..6].to_vec();
        row[1] = if i % 2 == 0 { row[1] } else { row[1] + 3.0 };
        values.extend(row);
    }
    let labels = if numbers {
        Labels::Numbers(values.chunks(6).map(|row| row[1]).collect())
    } else {
        Labels::classes(&(0..120).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect::<Vec<_>>())
    };
    (Rows::dense(values, 120, 6).expect("rows"), labels)
}

fn written(selected: &SelectedColumns) -> Vec<u8> {
    let mut bytes = Vec::new();
    selected.write_to(&mut bytes, "memory").expect("written");
    bytes
}

fn read(bytes: &[u8]) -> Result<SelectedColumns, String> {
    match Model::read_from(bytes, "memory") {
        Ok(Model::Columns(selected)) => Ok(selected),
        Ok(Model::Features(_)) => Err("features".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn fitted(method: &str, settings: &[(&str, &str)]) -> (Rows<'static>, mercer::pipeline::FittedColumns) {
    let (rows, labels) = rows_and_labels(method == "rrelieff");
    let selection = ColumnSelection::new(method, settings).expect("settings");
    let fitted = selection.fit(&rows, Some(&labels), &Options::default()).expect("columns");
    (rows, fitted)
}

#[test]
fn every_selector_finds_the_column_and_comes_back_from_a_file() {
    for spec in methods::column_selector_specs() {
        let (rows, found) = fitted(spec.name, &[("n_features", "1")]);
        let model = found.model;
        if spec.name.ends_with("star") {
            continue; // Far rows of the other class count against a column that matters alone.
        }
        // The Laplacian score does not look at the labels, but the column with two clusters has the clearest structure.
        assert_eq!(model.columns, [1], "{}", spec.name);
        assert_eq!(model.ranking[1], 1, "{}", spec.name);
        let overlap = found.overlap.expect("resamples");
        assert_eq!(model.stability.as_ref().expect("resamples")[1], 1.0, "{}", spec.name);
        assert!(overlap.mean == 1.0 && !overlap.may_be_chance, "{}: {overlap:?}", spec.name);
        let again = read(&written(&model)).expect("loads");
        assert_eq!(again, model, "{}", spec.name);
        let kept = again.transform(&rows).expect("columns").to_dense();
        let column: Vec<f64> = rows.to_dense().chunks(6).map(|row| row[1]).collect();
        assert_eq!(kept, column, "{}", spec.name);
    }
}

#[test]
fn values_are_copied_bit_by_bit_whatever_holds_them() {
    let odd = [f64::NAN, -0.0, f64::INFINITY, f64::MIN_POSITIVE / 2.0, 1.0 + f64::EPSILON, f64::MAX];
    let selected = SelectedColumns {
        method: "f".into(),
        n_inputs: 3,
        columns: vec![0, 2],
        scores: vec![1.0, 0.0, 2.0],
        ranking: vec![2, 3, 1],
        ..SelectedColumns::default()
    };
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let rows = Rows::dense(odd.to_vec(), 2, 3).expect("rows");
    let wanted = bits(&[odd[0], odd[2], odd[3], odd[5]]);
    let Rows::Dense(dense) = selected.transform(&rows).expect("kept") else {
        panic!("dense rows stay dense")
    };
    assert_eq!(bits(dense.values()), wanted);
    let stored = selected.transform_within(&rows, 8).expect("kept");
    let all: Vec<f64> = (0..2).flat_map(|i| [stored.view()[(i, 0)], stored.view()[(i, 1)]]).collect();
    assert_eq!(bits(&all), wanted);

    let narrow: Vec<f32> = odd.iter().map(|v| *v as f32).collect();
    let rows = Rows::dense_f32(narrow.clone(), 2, 3).expect("rows");
    let Rows::DenseF32(dense) = selected.transform(&rows).expect("kept") else {
        panic!("float32 stays float32")
    };
    let kept: Vec<u32> = dense.values().iter().map(|v| v.to_bits()).collect();
    assert_eq!(kept, [narrow[0], narrow[2], narrow[3], narrow[5]].map(f32::to_bits));

    let rows = Rows::sparse(vec![0, 2, 3], vec![0, 1, 2], vec![0.1, 7.0, 0.3], 3).expect("rows");
    let kept = selected.transform(&rows).expect("kept");
    assert!(kept.is_sparse());
    assert_eq!(bits(&kept.to_dense()), bits(&[0.1, 0.0, 0.0, 0.3]));
    let stored = selected.transform_within(&rows, 1 << 20).expect("kept");
    assert_eq!((stored.view()[(0, 0)], stored.view()[(1, 1)]), (0.1, 0.3));

    let weighted = SelectedColumns { weights: Some(vec![2.0, 0.5]), ..selected.clone() };
    assert_eq!(weighted.transform(&rows).expect("kept").to_dense(), [0.2, 0.0, 0.0, 0.15]);
    let wide = Rows::dense(vec![1.0; 8], 2, 4).expect("rows");
    let error = selected.transform(&wide).expect_err("refused").to_string();
    assert!(error.contains("X has 4 features, but the columns were selected among 3"), "{error}");
}

#[test]
fn noise_is_called_noise_and_all_columns_leave_no_choice() {
    let rows = synth::generate("friedman?n=100&seed=5").expect("rows").rows;
    let labels = Labels::classes(&(0..100).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect::<Vec<_>>());
    let fit = |settings: &[(&str, &str)], resamples| {
        let selection =
            ColumnSelection { resamples, ..ColumnSelection::new("relieff", settings).expect("settings") };
        selection.fit(&rows, Some(&labels), &Options::default()).expect("columns")
    };
    let found = fit(&[("n_features", "2")], 10);
    let overlap = found.overlap.expect("resamples");
    assert!(overlap.may_be_chance && (overlap.by_chance - 0.2).abs() < 1e-12, "{overlap:?}");
    assert_eq!(fit(&[("n_features", "2")], 10).model, found.model, "the same seed, the same columns");
    assert!(fit(&[], 10).overlap.is_none() && fit(&[], 10).model.stability.is_none());
    assert!(fit(&[("n_features", "2")], 0).model.stability.is_none());
    let selection = ColumnSelection::new("f", &[("n_features", "2")]).expect("settings");
    let small = selection.fit(&rows, Some(&labels), &Options::default().memory(3_999)).expect("columns");
    assert!(
        small.overlap.is_none() && small.warnings[0].contains("more than the memory budget"),
        "{:?}",
        small.warnings
    );
}

#[test]
fn permutations_give_p_values_to_any_selector_that_looks_at_labels() {
    let (rows, labels) = rows_and_labels(false);
    let with = |method: &str| ColumnSelection {
        permutations: 19,
        resamples: 0,
        ..ColumnSelection::new(method, &[("n_features", "1")]).expect("settings")
    };
    let found = with("mi").fit(&rows, Some(&labels), &Options::default()).expect("columns");
    let p = found.model.pvalues.expect("permutations");
    assert_eq!(p[1], 0.05);
    assert!(
        p.iter().all(|p| (0.05..=1.0).contains(p)) && p.iter().filter(|p| **p > 0.1).count() >= 3,
        "{p:?}"
    );
    let error =
        with("laplacian").fit(&rows, Some(&labels), &Options::default()).expect_err("refused").to_string();
    assert!(error.contains("does not look at the labels"), "{error}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let new = |method: &str, settings: &[(&str, &str)]| {
        ColumnSelection::new(method, settings).expect_err("refused")
    };
    assert!(new("gda", &[]).to_string().contains("hint: `gda` makes features in kernel space"));
    assert!(new("best", &[]).to_string().contains("lasso, input-weights"));
    assert!(new("f", &[("n_neighbors", "3")]).to_string().contains("is not a parameter of `f`"));
    let (rows, labels) = rows_and_labels(true);
    let selection = |method, resamples| ColumnSelection {
        resamples,
        ..ColumnSelection::new(method, &[("n_features", "1")]).expect("settings")
    };
    let fit = |selection: &ColumnSelection, labels| selection.fit(&rows, labels, &Options::default());
    let one = fit(&selection("f", 1), Some(&labels)).expect_err("refused").to_string();
    assert!(one.contains("resamples = 1"), "{one}");
    assert!(matches!(fit(&selection("relieff", 0), Some(&labels)), Err(Error::Argument(_) | Error::Data(_))));
    assert!(fit(&selection("f", 0), None).is_err());
    assert!(fit(&selection("laplacian", 2), None).is_ok());
    // Two rows of a class are enough for the scores, but a half of them is not.
    let table = synth::generate("moons?n=4&seed=1").expect("rows");
    let few = Labels::decide(table.target.clone().expect("labels"), Task::Auto).expect("labels");
    let found = selection("f", 4).fit(&table.rows, Some(&few), &Options::default()).expect("columns");
    assert!(found.model.stability.is_none());
    assert!(
        found.warnings.iter().any(|text| text.contains("half of the rows are too few")),
        "{:?}",
        found.warnings
    );
}

#[test]
fn files_of_columns_are_doubted_too() {
    let (_, found) = fitted("f", &[("n_features", "2")]);
    let model =
        SelectedColumns { input_names: Some("abcdef".chars().map(String::from).collect()), ..found.model };
    let bytes = written(&model);
    let map = FeatureMap::read_from(&bytes[..], "memory").expect_err("refused").to_string();
    assert!(map.contains("keeps columns by `f`") && map.contains("hint:"), "{map}");
    assert!(read(&bytes[..bytes.len() - 8]).expect_err("refused").contains("truncated or damaged"));
    let text = |change: &dyn Fn(&mut SelectedColumns)| {
        let mut other = model.clone();
        change(&mut other);
        other.write_to(&mut Vec::new(), "memory").expect_err("refused").to_string()
    };
    assert!(text(&|m| m.columns = vec![3, 1]).contains("must ascend"));
    assert!(text(&|m| m.columns = vec![9]).contains("below 6"));
    assert!(text(&|m| m.ranking[0] = 7).contains("every place from 1 to 6"));
    assert!(text(&|m| m.scores.truncate(2)).contains("scores must be 6 finite numbers"));
    assert!(text(&|m| m.weights = Some(vec![1.0])).contains("weights must be 2 finite numbers"));
    assert!(text(&|m| m.input_names = Some(vec!["a".into()])).contains("1 names for 6 input columns"));
    let from = br#"\"kind\":\"columns\""#;
    let at = bytes.windows(from.len()).position(|w| w == from).expect("a kind");
    let other = [&bytes[..at], &br#"\"kind\":\"colours\""#[..], &bytes[at + from.len()..]].concat();
    assert!(read(&other).expect_err("refused").contains("the kind `colours`"));
}

#[test]
fn columns_alone_are_enough_for_a_model_with_names() {
    let selected = SelectedColumns {
        method: "f".into(),
        n_inputs: 4,
        columns: vec![1, 3],
        scores: vec![0.0, 1.0, 2.0, 3.0],
        ranking: vec![4, 3, 2, 1],
        pvalues: Some(vec![0.9, 0.2, 0.1, 0.05]),
        input_names: Some("abcd".chars().map(String::from).collect()),
        ..SelectedColumns::default()
    };
    let narrow = selected.of_kept_inputs();
    assert_eq!((narrow.columns.clone(), narrow.ranking.clone()), (vec![0, 1], vec![2, 1]));
    assert_eq!(narrow.feature_names(), ["b", "d"]);
    assert_eq!((narrow.scores.clone(), narrow.pvalues.clone()), (vec![1.0, 3.0], Some(vec![0.2, 0.05])));
    assert_eq!(read(&written(&narrow)).expect("loads"), narrow);
}
