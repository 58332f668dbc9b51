//! `mercer fit`: rows in, a model out.

use std::fs;

use crate::program::{FIT, csv, done, fit, folder, refused, run, text, to_model};

#[test]
fn rows_become_a_model_and_the_model_makes_features() {
    let folder = folder();
    let (out, stderr) = fit(folder.path(), &["--n-components", "4", "--gamma", "0.5"]);
    assert_eq!(out, "");
    for part in [
        "40 rows of 3 inputs",
        "2 classes (no, yes)",
        "besides the data",
        "4 components",
        "wrote model.mercer",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let (out, _) = done(folder.path(), &["transform", "model.mercer", "train.csv"]);
    let (head, rows) = csv(&out);
    assert_eq!(head, ["kobl0", "kobl1", "kobl2", "kobl3"]);
    assert_eq!(rows.len(), 40);
    let dashed = done(folder.path(), &["transform", "model.mercer", "train.csv", "-o", "-"]).0;
    assert_eq!(dashed, out);

    for ending in ["parquet", "arrow", "csv", "tsv.gz", "npz"] {
        let file = format!("features.{ending}");
        let (out, _) = done(folder.path(), &["transform", "model.mercer", "train.csv", "-o", &file]);
        assert_eq!(out, "");
        let again = ["fit", &file, "--method", "nystrom", "--n-components", "2", "-o", "again.mercer"];
        assert!(done(folder.path(), &again).1.contains("40 rows of 4 inputs"), "{ending}");
    }
}

#[test]
fn extractors_and_systems_report_a_basis_in_float32() {
    let folder = folder();
    for method in
        ["takes", "k-relief", "sk-relief", "eks", "klfe", "gda", "kpls", "koc", "skfe", "kmfa", "kanmm"]
    {
        let system = matches!(method, "takes" | "k-relief" | "sk-relief" | "eks");
        let size = if system { "--n-components" } else { "--basis-components" };
        let basis = if method == "sk-relief" { "sparse" } else { "kobl" };
        let source = "synth:ringnorm?n=300&seed=1";
        let args = ["fit", source, "--method", method, "--basis", basis, size, "12", "-o", "m.mercer"];
        let (_, stderr) = done(folder.path(), &[&args[..], &["--precision", "single"]].concat());
        assert!(stderr.contains(" in float32, "), "{method}: {stderr}");
        let (out, _) = done(folder.path(), &["inspect", "m.mercer"]);
        let line = |name: &str| out.lines().find(|l| l.starts_with(name)).map(str::to_string);
        assert_eq!(line("precision").map(|l| l.ends_with("single")), Some(true), "{method}: {out}");
        assert!(line("rounding error").is_some(), "{method}: {out}");
        let (_, stderr) = done(folder.path(), &args);
        assert!(!stderr.contains("in float32"), "{method}: {stderr}");
    }
}

#[test]
fn a_fit_in_float32_reports_its_precision_and_rounding_error() {
    let folder = folder();
    let (_, stderr) = fit(folder.path(), &["--precision", "single", "--n-components", "4"]);
    assert!(stderr.contains(" in float32, "), "{stderr}");
    let (out, _) = done(folder.path(), &["inspect", "model.mercer"]);
    let line = |name: &str| out.lines().find(|line| line.starts_with(name)).map(str::to_string);
    assert_eq!(line("precision").map(|l| l.ends_with("single")), Some(true), "{out}");
    assert!(line("rounding error").is_some(), "{out}");
    fit(folder.path(), &["--precision", "double", "--n-components", "4"]);
    let (out, _) = done(folder.path(), &["inspect", "model.mercer"]);
    assert!(!out.contains("rounding error"), "{out}");
    let single = ["train.csv", "--target", "kind", "--method", "kpca", "--precision", "single"];
    let error = refused(folder.path(), 2, &to_model(&single));
    assert!(error.contains("`precision` is not a parameter of `kpca`"), "{error}");
}

#[test]
fn a_model_does_not_contain_the_path_of_its_data() {
    let folder = folder();
    let data = folder.path().join("train.csv").display().to_string();
    done(folder.path(), &["fit", &data, "--target", "kind", "--method", "kobl", "-o", "model.mercer"]);
    let bytes = fs::read(folder.path().join("model.mercer")).expect("a model");
    let parent = folder.path().display().to_string();
    assert!(!bytes.windows(parent.len()).any(|w| w == parent.as_bytes()));
}

#[test]
fn the_same_seed_makes_the_same_file_on_any_number_of_threads() {
    let folder = folder();
    let model = |threads: &str, file: &str| {
        let data = "synth:ringnorm?n=600";
        let args =
            ["fit", data, "--method", "rpcholesky", "--n-components", "50", "-o", file, "--threads", threads];
        done(folder.path(), &args);
        fs::read(folder.path().join(file)).expect("a model")
    };
    assert!(model("1", "one.mercer") == model("3", "three.mercer"));
}

#[test]
fn data_that_cannot_be_used_is_refused_with_its_position() {
    let folder = folder();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    file("hole.csv", "a,b\n1,2\n3,nan\n");
    file("words.csv", "a,city\n1,Oslo\n2,Rome\n");
    file("numbers.csv", "a,y\n1,0.5\n2,1.25\n3,7.5\n");
    let error =
        refused(folder.path(), 1, &to_model(&["hole.csv", "--method", "kobl", "--missing", "refuse"]));
    assert!(error.contains("row 2, column `b`") && error.contains("\nhint: "), "{error}");
    let error = refused(folder.path(), 1, &to_model(&["train.csv", "--target", "kinds", "--method", "kobl"]));
    assert!(error.contains("there is no column `kinds`; the columns are `a`, `b`, `c`, `kind`"), "{error}");
    let error = refused(folder.path(), 2, &to_model(&["hole.csv", "--drop", "b", "--method", "csi"]));
    assert!(error.contains("`csi` looks at the labels") && error.contains("--target"), "{error}");
    let text_as_numbers = ["train.csv", "--target", "kind", "--task", "numbers", "--method", "csi"];
    let error = refused(folder.path(), 1, &to_model(&text_as_numbers));
    assert!(error.contains("the target holds the text"), "{error}");
    let without_target = ["hole.csv", "--drop", "b", "--task", "classes", "--method", "kobl"];
    let error = refused(folder.path(), 2, &to_model(&without_target));
    assert!(error.contains("there is no target\nhint: "), "{error}");
    let error = refused(folder.path(), 1, &to_model(&["missing.csv", "--method", "kobl"]));
    assert!(error.contains("missing.csv"), "{error}");
    let drop = ["words.csv", "--drop", "city", "--method", "kobl"];
    done(folder.path(), &to_model(&drop));
    done(folder.path(), &to_model(&["numbers.csv", "--target", "y", "--method", "csi"]));
}

#[test]
fn bad_usage_and_failure_have_different_exit_codes() {
    let folder = folder();
    let fit = |more: &[&str]| refused(folder.path(), 2, &[&FIT[..], more].concat());
    let error = refused(folder.path(), 2, &["fit", "train.csv", "--method", "kobI", "-o", "model.mercer"]);
    for spec in mercer::methods::all().filter(|spec| spec.stage != mercer::methods::Stage::Select) {
        assert!(error.contains(spec.name), "{error}");
    }
    let error = fit(&["--nu", "0.2"]);
    assert!(error.contains("`nu` is not a parameter of `kobl`; it has kernel, gamma"), "{error}");
    assert!(fit(&["--threshold", "2"]).contains("threshold = 2, but it must be"));
    assert!(fit(&["--coef0=-inf"]).contains("coef0 = -inf, but it must be a finite number"));
    assert!(fit(&["--n-components", "0"]).contains("at least 1"));
    assert!(fit(&["--n-components", "ten"]).contains("n_components = ten"));
    assert!(fit(&["--kernel", "gauss"]).contains("rbf, laplacian"));
    assert!(fit(&["--kernel", "precomputed", "--scale", "standard"]).contains("cannot be scaled"));
    assert!(fit(&["--memory", "much"]).contains("500MB"));
    assert!(fit(&["--threads", "0"]).contains("--threads"));
    assert!(fit(&["--colour"]).contains("--colour"));
    refused(folder.path(), 2, &["methods", "nope"]);
    let error = refused(folder.path(), 1, &[&FIT[..], &["--memory", "1kB"]].concat());
    assert!(error.contains("but the budget is 1 kB") && error.contains("\nhint: "), "{error}");
}

#[test]
fn a_damaged_file_gets_one_error_and_no_trace_of_a_panic() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2"]);
    for ending in ["parquet", "arrow", "npy", "npz"] {
        let file = format!("features.{ending}");
        done(folder.path(), &["transform", "model.mercer", "train.csv", "-o", &file]);
        let whole = fs::read(folder.path().join(&file)).expect("features");
        for at in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            fs::write(folder.path().join(&file), &bytes).expect("written");
            let output = run(folder.path(), &["fit", &file, "--method", "nystrom", "-q", "-o", "out.mercer"]);
            let stderr = text(&output.stderr);
            match output.status.code() {
                Some(0) => assert!(!stderr.contains("error"), "{stderr}"),
                Some(1) => {
                    assert!(stderr.starts_with("error: ") && !stderr.contains("bug in mercer"), "{stderr}");
                }
                code => panic!("{ending}, byte {at}: {code:?}: {stderr}"),
            }
        }
    }
}

#[test]
fn rows_are_scaled_to_unit_length_if_asked_for() {
    let folder = folder();
    let rows = [
        [3.0, 4.0],
        [0.0, -2.0],
        [0.0, 0.0],
        [5.0, 12.0],
        [-8.0, 6.0],
        [1.0, 0.0],
        [20.0, 21.0],
        [-7.0, -24.0],
    ];
    let text = |rows: &[[f64; 2]]| {
        rows.iter().fold("a,b\n".to_string(), |text, [a, b]| text + &format!("{a},{b}\n"))
    };
    let divided = rows.map(|[a, b]: [f64; 2]| {
        let length = a.hypot(b);
        if length > 0.0 { [a / length, b / length] } else { [0.0, 0.0] }
    });
    fs::write(folder.path().join("rows.csv"), text(&rows)).expect("written");
    fs::write(folder.path().join("divided.csv"), text(&divided)).expect("written");
    let fit = |data: &'static str, scale: &'static str| {
        let args = [data, "--method", "kobl", "--gamma", "1", "--n-components", "4", "--scale", scale];
        done(folder.path(), &to_model(&args));
        done(folder.path(), &["transform", "model.mercer", data]).0
    };
    let (unit, by_hand) = (fit("rows.csv", "unit"), fit("divided.csv", "none"));
    let numbers = |text: &str| -> Vec<f64> {
        text.lines().skip(1).flat_map(|line| line.split(',')).map(|v| v.parse().expect("a number")).collect()
    };
    assert_eq!(numbers(&unit).len(), 8 * 4);
    assert!(
        numbers(&unit).iter().zip(numbers(&by_hand)).all(|(a, b)| (a - b).abs() < 1e-12),
        "{unit}{by_hand}"
    );
    fit("rows.csv", "unit");
    let (out, _) = done(folder.path(), &["inspect", "model.mercer"]);
    assert!(out.contains("scaling") && out.contains("unit") && out.contains("format 3"), "{out}");
}

#[test]
fn sums_and_products_of_kernels_on_named_columns() {
    let folder = folder();
    let mut table = String::from("age,city,job,class\n");
    for i in 0..40 {
        let city = ["Oslo", "Rome", "Bern"][i % 3];
        let kind = if i % 3 == 1 { "yes" } else { "no" };
        table +=
            &[(i as f64 / 7.0).to_string(), city.to_string(), (i % 5).to_string(), kind.into()].join(",");
        table.push('\n');
    }
    fs::write(folder.path().join("people.csv"), table).expect("written");
    let kernel = "0.5*rbf(columns=age)*match(columns=city) + poly(gamma=0.1, columns=job)";
    let args =
        ["fit", "people.csv", "--target", "class", "--method", "gda", "--degree", "2", "--gamma", "loo"];
    done(folder.path(), &[&args[..], &["--kernel", kernel, "-o", "m.mercer"]].concat());
    let (out, _) = done(folder.path(), &["inspect", "m.mercer"]);
    let line = out.lines().find(|line| line.starts_with("kernel")).expect("the kernel").to_string();
    for part in
        ["0.5*rbf(gamma=", "columns=0)*match(columns=1:4)", "poly(gamma=0.1, degree=2, coef0=1, columns=4)"]
    {
        assert!(line.contains(part), "{part}: {line}");
    }
    let (out, _) = done(folder.path(), &["transform", "m.mercer", "people.csv"]);
    assert_eq!(csv(&out).1.len(), 40);
    // As places.
    let placed = "0.5*rbf(columns=0)*match(columns=1:4)+poly(gamma=0.1,columns=4)";
    done(folder.path(), &[&args[..], &["--kernel", placed, "-o", "n.mercer"]].concat());
    assert_eq!(done(folder.path(), &["transform", "n.mercer", "people.csv"]).0, out);
    let compare = [
        "compare",
        "people.csv",
        "--target",
        "class",
        "--methods",
        "gda",
        "--gamma",
        "scale",
        "--folds",
        "3",
    ];
    let (out, _) = done(folder.path(), &[&compare[..], &["--kernel", kernel, "--degree", "2"]].concat());
    assert!(out.contains("gda"), "{out}");
    let (out, _) = done(folder.path(), &["inspect", "m.mercer", "--importance", "people.csv"]);
    assert!(out.contains("age"), "{out}");
    for (kernel, part) in [
        ("0.5*rbff", "`rbff` is not known"),
        ("rbf-linear", "weights must be at least 0"),
        ("match(columns=town)+poly", "`town`, which is not there; columns are `age`"),
        ("rbf(columns=7)+poly", "on column 7, but the rows have 5 columns"),
        ("rbf+linear", "degree = 2 is for the kernel `poly`"),
    ] {
        let stderr =
            refused(folder.path(), 2, &[&args[..], &["--kernel", kernel, "-o", "o.mercer"]].concat());
        assert!(stderr.contains(part), "{kernel}: {stderr}");
    }
}

#[test]
fn a_method_that_is_misspelt_is_suggested_among_those_that_fit_takes() {
    let folder = folder();
    let refusal = |method: &str| {
        refused(folder.path(), 2, &["fit", "train.csv", "--target", "kind", "--method", method, "-o", "m"])
    };
    let error = refusal("dga");
    assert!(error.contains("method = `dga` is not known; use one of auto, gram-schmidt, kobl,"), "{error}");
    assert!(error.ends_with("\nhint: did you mean `gda`?\n") && !error.contains("relieff"), "{error}");
    assert!(refusal("aut").ends_with("hint: did you mean `auto`?\n"));
    assert!(!refusal("perceptron").contains("hint"));
}
