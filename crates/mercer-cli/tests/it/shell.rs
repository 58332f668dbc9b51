//! Behaviour that every command shares: help, standard input and output, quiet, Ctrl-C, outputs that cannot be written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::program::{FIT, csv, done, fit, folder, listing, refused, run, run_with_input, text, wave, words};

#[test]
fn standard_input_is_csv() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2"]);
    let output = run_with_input(folder.path(), &["transform", "model.mercer", "-"], "a,b,c\n1,2,3\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(csv(&text(&output.stdout)).1.len(), 1);
    let args = ["fit", "-", "--method", "kobl", "-o", "piped.mercer"];
    let output = run_with_input(folder.path(), &args, "a,b\n1,2\n3,4\n5,9\n");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(folder.path().join("piped.mercer").exists());
}

#[test]
fn the_commands_in_the_readme_and_on_the_page_about_the_shell_work() {
    let folder = folder();
    wave(folder.path());
    let rows = fs::read_to_string(folder.path().join("wave.csv")).expect("rows").replace("kind", "class");
    fs::write(folder.path().join("train.csv"), &rows).expect("written");
    fs::write(folder.path().join("new.csv"), &rows).expect("written");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = ["README.md", "docs/shell.md"].map(|name| fs::read_to_string(root.join(name)).expect(name));
    let mut tried = 0;
    for block in pages.concat().split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        // The demo has a test of its own, and takes long.
        let commands =
            block.lines().filter(|line| line.starts_with("mercer ") && !line.starts_with("mercer demo"));
        for line in commands {
            let command = line.split(" #").next().and_then(|line| line.split(" > ").next()).unwrap_or(line);
            let command = command.replace("~/.local/share/man/man1", ".");
            let args = words(command.trim_start_matches("mercer ").trim());
            done(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>());
            tried += 1;
        }
    }
    assert!(tried >= 16, "{tried}");
}

#[test]
fn a_model_goes_through_pipes() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2", "-q"]);
    let kept = fs::read(folder.path().join("model.mercer")).expect("a model");
    let piped = run(folder.path(), &[&FIT[..7], &["-", "--n-components", "2", "-q"]].concat());
    assert_eq!(piped.status.code(), Some(0), "{}", text(&piped.stderr));
    assert!(piped.stdout == kept, "the same model");
    let features = done(folder.path(), &["transform", "model.mercer", "train.csv"]).0;
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("mercer");
    command.current_dir(folder.path()).args(["transform", "-", "train.csv"]).write_stdin(kept.clone());
    assert_eq!(text(&command.output().expect("started").stdout), features);
    let about = done(folder.path(), &["inspect", "model.mercer"]).0;
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("mercer");
    command.current_dir(folder.path()).args(["inspect", "-"]).write_stdin(kept);
    assert_eq!(text(&command.output().expect("started").stdout), about);
}

#[test]
fn the_value_of_a_flag_may_stand_apart() {
    let folder = folder();
    let takes =
        ["fit", "--weighted", "false", "train.csv", "--target", "kind", "--method", "takes", "-q", "-o"];
    done(folder.path(), &[&takes[..], &["apart.mercer"]].concat());
    let takes = ["fit", "--weighted=false", "train.csv", "--target", "kind", "--method", "takes", "-q", "-o"];
    done(folder.path(), &[&takes[..], &["tied.mercer"]].concat());
    let model = |name: &str| fs::read(folder.path().join(name)).expect("a model");
    assert!(model("apart.mercer") == model("tied.mercer"));
}

#[test]
fn a_page_shows_what_was_fitted() {
    let folder = folder();
    for method in ["kobl", "takes", "klfe", "kpca"] {
        let args = ["fit", "train.csv", "--target", "kind", "--method", method, "-o", "model.mercer"];
        let (_, plain) = done(folder.path(), &args);
        let before = fs::read(folder.path().join("model.mercer")).expect("a model");
        let (out, stderr) = done(folder.path(), &[&args[..], &["--report", "model.html"]].concat());
        assert_eq!(out, "");
        assert!(fs::read(folder.path().join("model.mercer")).expect("a model") == before, "the same model");
        let lines = |stderr: &str| -> Vec<String> {
            stderr.lines().filter(|line| !line.starts_with("wrote ")).map(String::from).collect()
        };
        assert_eq!(lines(&stderr), lines(&plain));
        let page = fs::read_to_string(folder.path().join("model.html")).expect("a page");
        assert!(page.contains("<svg") && page.contains("mercer fit train.csv"), "{method}: {page}");
    }
    let args = [
        "fit",
        "train.csv",
        "--drop",
        "kind",
        "--method",
        "kobl",
        "-q",
        "-o",
        "model.mercer",
        "--report",
        "-",
    ];
    let (page, stderr) = done(folder.path(), &args);
    assert!(page.starts_with("<!") && stderr.is_empty(), "without a target: {stderr}");
}

#[test]
fn quiet_still_shows_warnings() {
    let folder = folder();
    assert_eq!(fit(folder.path(), &["--quiet"]), (String::new(), String::new()));
    fs::write(folder.path().join("flat.csv"), "a,same,label\n1,5,0\n2,5,1\n3,5,0\n").expect("written");
    let args = ["fit", "flat.csv", "--method", "kobl", "-o", "flat.mercer", "--quiet"];
    let stderr = done(folder.path(), &args).1;
    assert!(stderr.contains("warning: 1 column is constant"), "{stderr}");
    assert!(stderr.contains("`same`"), "{stderr}");
    assert!(stderr.contains("warning: column `label` is used as an input\nhint: "), "{stderr}");
    assert!(!stderr.contains('\u{1b}'), "colours without a terminal: {stderr}");
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_work() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2"]);
    // The data is not there either: the place is looked at first.
    let transform =
        |place: &str| refused(folder.path(), 2, &["transform", "model.mercer", "nothing.csv", "-o", place]);
    assert!(transform("features.xlsx").contains(".parquet"));
    assert!(transform("nowhere/features.csv").contains("the folder `nowhere` does not exist"));
    let args = ["fit", "nothing.csv", "--method", "kobl", "-o", "nowhere/model.mercer"];
    assert!(refused(folder.path(), 2, &args).contains("does not exist"));
    assert!(
        refused(folder.path(), 2, &["fit", "nothing.csv", "--method", "kobl", "-o", "."]).contains("folder")
    );
    let args = ["fit", "train.csv", "--method", "kobl", "--drop", "kind", "-o", "./train.csv"];
    assert!(refused(folder.path(), 2, &args).contains("would overwrite"));
}

#[test]
fn every_parameter_is_a_flag_and_every_command_has_an_example() {
    let folder = folder();
    let (help, _) = done(folder.path(), &["fit", "--help"]);
    let (of_compare, _) = done(folder.path(), &["compare", "--help"]);
    for parameter in mercer::methods::parameters() {
        assert!(of_compare.contains(&format!("--{}", parameter.name.replace('_', "-"))), "{of_compare}");
        assert!(help.contains(&format!("--{}", parameter.name.replace('_', "-"))), "{help}");
    }
    let commands =
        ["fit", "transform", "inspect", "compare", "advise", "methods", "demo", "completions", "man"];
    for command in commands {
        let (help, _) = done(folder.path(), &[command, "--help"]);
        assert!(help.contains(&format!("\n  mercer {command}")), "{help}");
    }
    assert!(done(folder.path(), &["--version"]).0.starts_with("mercer "));
}

#[test]
fn the_help_fits_on_a_screen() {
    let folder = folder();
    insta::assert_snapshot!(done(folder.path(), &["--help"]).0, @r"
    Feature selection and feature extraction in kernel space

    Usage: mercer [OPTIONS] <COMMAND>

    Commands:
      fit          Learn a map from rows to features, and store it
      select       Score the columns of a file, and keep the best
      transform    Turn rows into features with a stored model
      predict      Predict classes or numbers with a stored model
      export       Write a stored model as an ONNX file, which runs without mercer
      inspect      Show what a model contains, and which inputs its features use
      compare      Compare the features of many methods by cross-validation
      advise       Recommend whether to use a kernel, and which method, kernel width and basis size
      methods      List the methods, or describe one
      demo         Compare every method on synthetic data, in less than a minute
      completions  Print the completion script of a shell
      man          Print or write the manual pages
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Options of every command:
          --threads <N>  Threads; the results do not depend on it [env: MERCER_NUM_THREADS=]
      -q, --quiet        Only warnings and errors on standard error

    Examples:
      mercer demo
      mercer advise train.csv --target class
      mercer compare train.csv --target class --report report.html
      mercer fit train.csv --target class --method takes -o model.mercer
      mercer transform model.mercer new.csv -o features.parquet
      mercer select train.csv --target class --method relieff --n-features 10 -o chosen.csv
      mercer fit train.csv --target class --method auto -o model.mercer
      mercer predict model.mercer new.csv -o predictions.csv
      mercer export model.mercer -o model.onnx
      mercer inspect model.mercer --importance train.csv

    Results go to stdout, messages to stderr; the file name - stands for stdin or stdout.
    Exit: 0 done, 1 failed, 2 bad usage, 130 interrupted.
    ");
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let folder = folder();
    let program = assert_cmd::cargo::cargo_bin!("mercer");
    done(folder.path(), &["fit", "synth:ringnorm?n=300", "--method", "kobl", "-q", "-o", "model.mercer"]);
    let mut child = Command::new(program)
        .args(["transform", "model.mercer", "synth:ringnorm?n=3000"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ended");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

/// Starts a fit of minutes, waits until it works, and interrupts it.
#[cfg(unix)]
fn interrupted(folder: &Path) -> Output {
    use std::io::{BufRead, BufReader, Read};
    let program = assert_cmd::cargo::cargo_bin!("mercer");
    let data = "synth:ringnorm?n=60000";
    let mut child = Command::new(program)
        .args([
            "fit",
            data,
            "--method",
            "kobl",
            "--n-components",
            "8000",
            "--threshold",
            "0",
            "-o",
            "m.mercer",
        ])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut pipe = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut stderr = String::new();
    while !stderr.contains("fitting") {
        assert!(pipe.read_line(&mut stderr).expect("a line") > 0, "ended early: {stderr}");
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("sent");
    assert!(sent.success());
    let mut rest = Vec::new();
    pipe.read_to_end(&mut rest).expect("read");
    Output { status: child.wait().expect("ended"), stdout: Vec::new(), stderr: rest }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_fit_and_leaves_nothing_behind() {
    let folder = folder();
    let before = listing(folder.path());
    let output = interrupted(folder.path());
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stderr).ends_with("interrupted\n"), "{}", text(&output.stderr));
    assert_eq!(listing(folder.path()), before);
}
