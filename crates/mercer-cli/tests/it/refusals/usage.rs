//! Words that make no command.

use super::{check, refusals, write};
use crate::program::{fit, folder};

#[test]
fn words_that_make_no_command() {
    let folder = folder();
    check(
        "words_that_make_no_command",
        &refusals(
            folder.path(),
            &[
                "fitt train.csv",
                "fit",
                "fit train.csv",
                "fit train.csv --method kobl",
                "fit train.csv --method kobl -o",
                "fit train.csv more.csv --method kobl -o m.mercer",
                "fit train.csv --method kobl -o m.mercer --colour",
                "fit train.csv --method kobl -o m.mercer --n-component 3",
                "fit train.csv --method kobl -o m.mercer --gamma 1 --gamma 2",
                "fit train.csv --method kobl -o m.mercer --scale log",
                "fit train.csv --method kobl -o m.mercer --task guess",
                "fit train.csv --method kobl -o m.mercer --memory much",
                "fit train.csv --method kobl -o m.mercer --memory=-1GB",
                "fit train.csv --method kobl -o m.mercer --device gpu",
                "transform model.mercer train.csv --device cuda:x",
                "fit train.csv --method kobl -o m.mercer --threads 0",
                "fit train.csv --method kobl -o m.mercer --threads many",
                "fit train.csv --method takes -o m.mercer --weighted=maybe",
                "transform",
                "transform model.mercer",
                "transform model.mercer train.csv --keep",
                "inspect",
                "inspect model.mercer --format xml",
                "methods nope",
                "methods kobl --format markdown",
                "methods --format csv",
                "compare train.csv --target kind --folds 1",
                "compare train.csv --target kind --folds many",
                "compare train.csv --target kind --repeats 0",
                "compare train.csv --target kind --knn 0",
                "compare train.csv --target kind --test-share 1",
                "compare train.csv --target kind --test-share 0.3 --folds 4",
                "compare train.csv --target kind --format xml",
                "compare train.csv --target kind --seed -1",
                "advise train.csv --target kind --format markdown",
                "advise train.csv --target kind --seed one",
                "demo --seed -1",
                "demo --seed one",
                "completions",
                "completions nushell",
                "man nope",
                "man fit --dir .",
                "man --dir /dev/null/man1",
            ],
        ),
    );
}

#[test]
fn values_that_a_parameter_may_not_have() {
    let folder = folder();
    let commands: Vec<String> = [
        ("kobl", "kernel gauss"),
        ("kobl", "gamma 0"),
        ("kobl", "gamma best"),
        ("kobl", "gamma nan"),
        ("kobl", "degree 0 --kernel poly"),
        ("kobl", "degree 1001 --kernel poly"),
        ("kobl", "degree 5000000000 --kernel poly"),
        ("kobl", "coef0 inf --kernel poly"),
        ("kobl", "coef0 -1 --kernel poly"),
        ("kobl", "alpha 0 --kernel rq"),
        ("kobl", "n-components 0"),
        ("kobl", "n-components 2.5"),
        ("kobl", "n-components 99999999999999999999"),
        ("kfa", "candidates 0"),
        ("kfa", "candidates some"),
        ("kobl", "threshold 2"),
        ("kobl", "threshold power:0"),
        ("kobl", "threshold steep"),
        ("kobl", "seed -1"),
        ("csi", "tol 2"),
        ("sparse", "nu 1"),
        ("sparse", "precision half"),
        ("kpca", "center=perhaps"),
        ("gda", "basis raw"),
        ("gda", "basis-components 0"),
        ("gda", "reg -1"),
        ("gda", "reg inf"),
        ("eks", "selector best"),
        ("eks", "n-features 0"),
        ("eks", "n-features 1.5"),
        ("eks", "n-features some"),
        ("klfe", "n-neighbors 0"),
        ("kmfa", "k-within 0"),
        ("kmfa", "k-between 0"),
        ("skfe", "init middle"),
        ("skfe", "max-iter 0"),
        ("skfe", "criterion height"),
        ("skfe", "points 0"),
        ("koc", "n-clusters 0"),
        ("kobl", "n-components some"),
        ("kobl", "threshold values:1,0"),
        ("takes", "theta 0"),
        ("eks --selector relief", "power 3"),
        ("eks --selector relief", "n-queries 0"),
        ("eks --selector relief", "metric taxi"),
        ("eks --selector relief", "neighbors some"),
        ("eks --selector rrelieff", "sigma 0"),
        ("eks --selector irelief", "width 0"),
        ("klfe", "metric manhattan"),
        ("takes", "weighted=1"),
        ("gda", "input-weights=some"),
        ("takes", "reweight=yes"),
        ("eks --selector fdr", "level 1"),
        ("eks --selector lasso", "cv 1"),
        ("eks --selector lasso", "randomized=often"),
        ("eks --selector lasso", "n-resamples 0"),
        ("eks --selector lasso", "stability 0"),
        ("eks --selector lasso", "sample-fraction 0"),
        ("eks --selector lasso", "scaling 1"),
        ("eks --selector lasso", "penalty 0"),
        ("eks --selector lasso", "n-penalties 1"),
    ]
    .iter()
    // The file is not there: a value is looked at before any file.
    .map(|(method, flag)| format!("fit nothing.csv -o m.mercer --method {method} --{flag}"))
    .collect();
    for parameter in mercer::methods::parameters() {
        let flag = format!("--{}", parameter.name.replace('_', "-"));
        let tried = |c: &String| c.split(' ').any(|word| word.split('=').next() == Some(&flag));
        assert!(commands.iter().any(tried), "{flag} is not tried");
    }
    check(
        "values_that_a_parameter_may_not_have",
        &refusals(folder.path(), &commands.iter().map(String::as_str).collect::<Vec<_>>()),
    );
}

#[test]
fn parameters_that_do_not_go_together() {
    let folder = folder();
    let commands: Vec<String> = [
        "kobI",
        "relief",
        "kobl --nu 0.2",
        "kobl --basis csi",
        "takes --nu 0.2",
        "takes --basis-components 4",
        "k-relief --threshold 0.1",
        "sk-relief --basis kobl --nu 0.2",
        "eks --cv 3",
        "eks --selector relief --metric manhattan",
        "eks --weighted",
        "eks --weighted sqrt",
        "klfe --k-within 3",
        "koc --n-components 2",
        "akda-qr --basis kobl",
        "gda --basis kobl --nu 0.1",
        "kobl --alpha 2",
        "kobl --degree 2",
        "kobl --coef0 2",
        "kobl --kernel precomputed --scale standard",
        "eks --selector fdr --alpha 0.01",
    ]
    .iter()
    .map(|more| format!("fit nothing.csv -o m.mercer --method {more}"))
    .collect();
    check(
        "parameters_that_do_not_go_together",
        &refusals(folder.path(), &commands.iter().map(String::as_str).collect::<Vec<_>>()),
    );
}

#[test]
fn comparisons_that_cannot_be_made() {
    let folder = folder();
    write(folder.path(), "numbers.csv", "a,y\n1,0.5\n2,1.25\n3,7.5\n4,2.5\n5,1.5\n6,3.5\n");
    write(folder.path(), "one.csv", "a,y\n1,x\n2,x\n3,x\n");
    write(folder.path(), "few.csv", "a,y\n1,x\n2,z\n3,x\n");
    check(
        "comparisons_that_cannot_be_made",
        &refusals(
            folder.path(),
            &[
                // The file is not there: what can be known without it is looked at first.
                "compare nothing.csv",
                "compare nothing.csv --target y --methods kobI",
                "compare nothing.csv --target y --methods relief",
                "compare nothing.csv --target y --methods all,gda",
                "compare nothing.csv --target y --evaluators svm",
                "compare nothing.csv --target y --gamma scale,wide",
                "compare nothing.csv --target y --n-features own,0",
                "compare nothing.csv --target y --n-features many",
                "compare nothing.csv --target y --kernel gauss",
                "compare nothing.csv --target y --degree 2",
                "compare nothing.csv --target y --report nowhere/page.html",
                "compare nothing.csv --target y -o nowhere/table.csv",
                "compare nothing.csv --target y -o table.xlsx",
                "compare nothing.csv --target y --report - -o -",
                "compare nothing.csv --target y --report page -o page --format csv",
                "compare train.csv --target kind --report train.csv",
                "compare nothing.csv --target y",
                "compare train.csv --target kinds",
                "compare train.csv --target kind --kernel precomputed",
                "compare train.csv --target kind --methods gda --nu 0.2",
                "compare train.csv --target kind --folds 1000",
                "compare train.csv --target kind --memory 1kB",
                "compare numbers.csv --target y --methods gda",
                "compare numbers.csv --target y --evaluators linear-svm",
                "compare one.csv --target y",
                "advise nothing.csv",
                "advise nothing.csv --target y --report nowhere/page.html",
                "advise train.csv --target kind --report ./train.csv",
                "advise one.csv --target y",
                "advise few.csv --target y",
                "fit nothing.csv --method kobl -o m.mercer --report nowhere/page.html",
                "fit nothing.csv --method kobl -o - --report -",
                "fit nothing.csv --method kobl -o same --report same",
                "fit train.csv --drop kind --method kobl -o m.mercer --report train.csv",
                "demo --report nowhere/page.html",
            ],
        ),
    );
}

#[test]
fn budgets_that_are_too_small() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "4", "-q"]);
    check(
        "budgets_that_are_too_small",
        &refusals(
            folder.path(),
            &[
                "fit train.csv --target kind --method kobl -o m.mercer --memory 1kB",
                "fit train.csv --target kind --method gram-schmidt -o m.mercer --memory 1kB",
                "fit train.csv --target kind --method kpca -o m.mercer --memory 1kB",
                "fit train.csv --target kind --method csi -o m.mercer --memory 1kB",
                "fit train.csv --target kind --method takes -o m.mercer --memory 20kB",
                "fit train.csv --target kind --method klfe --basis kobl -o m.mercer --memory 20kB",
                "fit train.csv --target kind --method gda --basis kobl -o m.mercer --memory 20kB",
                "fit 'synth:friedman?n=1000000000000&p=1000000' --method kobl -o m.mercer",
                "fit 'synth:ringnorm?n=20000' --method gram-schmidt -o m.mercer",
                "inspect model.mercer --importance --memory 100B",
                "inspect model.mercer --importance train.csv --memory 100B",
            ],
        ),
    );
}
