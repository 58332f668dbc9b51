//! Rows and targets that a kernel or a task has no use for.

use super::{check, refusals, write};
use crate::program::{done, fit, folder, wave};

#[test]
fn targets_that_are_not_what_is_needed() {
    let folder = folder();
    let file = |name: &str, text: &str| write(folder.path(), name, text);
    file("one.csv", "a,y\n1,x\n2,x\n3,x\n");
    file("numbers.csv", "a,y\n1,0.5\n2,1.25\n3,7.5\n");
    file("constant.csv", "a,y\n1,0.5\n2,0.5\n3,0.5\n");
    check(
        "targets_that_are_not_what_is_needed",
        &refusals(
            folder.path(),
            &[
                "fit train.csv --drop kind --method csi -o m.mercer",
                "fit train.csv --drop kind --method takes -o m.mercer",
                "fit train.csv --drop kind --method gda -o m.mercer",
                "fit train.csv --drop kind --method eks --selector mi -o m.mercer",
                "fit train.csv --drop kind --method kobl --gamma align -o m.mercer",
                "fit train.csv --drop kind --method kobl --gamma loo -o m.mercer",
                "fit train.csv --drop kind --task classification --method kobl -o m.mercer",
                "fit train.csv --target kind --task regression --method csi -o m.mercer",
                "fit one.csv --target y --method gda -o m.mercer",
                "fit one.csv --target y --method csi -o m.mercer",
                "fit one.csv --target y --method kobl --gamma loo -o m.mercer",
                "fit one.csv --target y --method kobl --gamma align -o m.mercer",
                "fit one.csv --target y --method kpls -o m.mercer",
                "fit numbers.csv --target y --method gda -o m.mercer",
                "fit numbers.csv --target y --method k-relief -o m.mercer",
                "fit numbers.csv --target y --method eks --selector relieff -o m.mercer",
                "fit constant.csv --target y --task regression --method kpls -o m.mercer",
                "fit constant.csv --target y --task regression --method csi -o m.mercer",
                "fit constant.csv --target y --task regression --method kobl --gamma loo -o m.mercer",
            ],
        ),
    );
}

#[test]
fn rows_that_a_kernel_has_no_use_for() {
    let folder = folder();
    let file = |name: &str, text: &str| write(folder.path(), name, text);
    file("wide.csv", "2,1,0\n1,2,0\n");
    file("skew.csv", "2,1,0\n0,2,0\n0,0,2\n");
    file("indefinite.csv", "1,2,0\n2,1,0\n0,0,1\n");
    file("labelled.csv", "2,1,0,a\n1,2,0,a\n0,0,2,b\n");
    file("zeros.csv", "a,b\n0,0\n0,0\n");
    file("negative.csv", "a,b\n1,2\n-3,4\n5,6\n");
    file("huge.csv", "a,b\n1e200,2\n3,4\n5,6\n");
    file("one.csv", "a,b\n1,2\n");
    check(
        "rows_that_a_kernel_has_no_use_for",
        &refusals(
            folder.path(),
            &[
                "fit wide.csv --no-header --method kobl --kernel precomputed -o m.mercer",
                "fit skew.csv --no-header --method kobl --kernel precomputed -o m.mercer",
                "fit indefinite.csv --no-header --method kobl --kernel precomputed -o m.mercer",
                "fit labelled.csv --no-header --target -1 --kernel precomputed --method akda-qr -o m.mercer",
                "fit zeros.csv --method kobl --kernel linear --scale none -o m.mercer",
                "fit negative.csv --method kobl --kernel chi2 --scale none -o m.mercer",
                "fit huge.csv --method kobl --kernel poly --scale none -o m.mercer",
                "fit train.csv --drop kind --method kobl --kernel sigmoid --gamma 5 --coef0 -3 -o m.mercer",
                "fit one.csv --method kpca --center -o m.mercer",
            ],
        ),
    );
}

#[test]
fn rows_that_a_model_has_no_use_for() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "4", "-q"]);
    let file = |name: &str, text: &str| write(folder.path(), name, text);
    file("few.csv", "a,c\n1,4\n");
    file("words.csv", "a,b,c\n1,x,4\n");
    file("hole.csv", "a,b,c\n1,,4\n");
    file("bare.csv", "1,2\n3,4\n");
    file("sparse.svm", "1 1:2 3:4\n2 2:1\n");
    file("bare3.csv", "1,2,0\n3,4,1\n5,7,0\n");
    file("gram.csv", "2,1,0\n1,2,0\n0,0,2\n");
    file("negative.csv", "a,b,c\n1,-2,4\n");
    file("semicolons.csv", "a;b;c\n1;2;3\n");
    file("same.csv", "a,b,c,kobl0\n1,2,3,4\n");
    let bare = ["fit", "bare3.csv", "--method", "nystrom", "-q", "-o", "bare.mercer"];
    done(folder.path(), &bare);
    let gram = [
        "fit",
        "gram.csv",
        "--no-header",
        "--method",
        "kobl",
        "--kernel",
        "precomputed",
        "-q",
        "-o",
        "gram.mercer",
    ];
    done(folder.path(), &gram);
    let chi2 = [
        "fit",
        "train.csv",
        "--drop",
        "kind",
        "--method",
        "kobl",
        "--kernel",
        "chi2",
        "--scale",
        "none",
        "-q",
    ];
    done(folder.path(), &[&chi2[..], &["-o", "chi2.mercer"]].concat());
    check(
        "rows_that_a_model_has_no_use_for",
        &refusals(
            folder.path(),
            &[
                "transform model.mercer nothing.csv",
                "transform model.mercer few.csv",
                "transform model.mercer words.csv",
                "transform model.mercer hole.csv",
                "transform model.mercer bare.csv",
                "transform model.mercer semicolons.csv --sep ,",
                "transform model.mercer train.csv --keep id",
                "transform model.mercer same.csv --keep kobl0",
                "transform bare.mercer sparse.svm",
                "transform bare.mercer train.csv --no-header",
                "transform gram.mercer bare.csv",
                "transform chi2.mercer negative.csv",
                "inspect model.mercer --importance nothing.csv",
                "inspect model.mercer --importance few.csv",
                "inspect gram.mercer --importance",
                "inspect gram.mercer --importance gram.csv",
            ],
        ),
    );
}

#[test]
fn rows_that_a_method_can_make_nothing_of() {
    let folder = folder();
    wave(folder.path());
    let file = |name: &str, text: &str| write(folder.path(), name, text);
    file("same.csv", "a,b,y\n1,2,u\n1,2,v\n1,2,u\n1,2,v\n");
    file("lone.csv", "a,b,y\n1,2,u\n3,1,v\n2,2,w\n5,0,x\n");
    file("mirror.csv", "a,y\n-1,u\n1,u\n-1,v\n1,v\n");
    file("numbers.csv", "a,b,y\n1,0,0.5\n2,4,1.25\n3,1,7.5\n5,2,3.5\n");
    file("two.csv", "a,b,y\n1,0,0.5\n2,4,1.25\n");
    let commands: Vec<String> = [
        "wave.csv --target kind --method gda --n-components 5",
        "wave.csv --target kind --method skfe --n-components 500",
        "wave.csv --target kind --method klfe --basis kobl --n-components 500",
        "wave.csv --target kind --method kpls --basis-components 5 --n-components 9",
        "wave.csv --target kind --method kmfa --n-components 500",
        "wave.csv --target kind --method eks --selector fwe --level 1e-200",
        "same.csv --target y --method gda",
        "same.csv --target y --method klfe",
        "same.csv --target y --method kanmm",
        "same.csv --target y --method kmfa",
        "same.csv --target y --method kpls",
        "same.csv --target y --method akda-qr",
        "same.csv --target y --method kpca --center",
        "mirror.csv --target y --method gda --kernel linear --scale none",
        "mirror.csv --target y --method koc --kernel linear --scale none",
        "mirror.csv --target y --method skfe --kernel linear --scale none",
        "lone.csv --target y --method kmfa",
        "lone.csv --target y --method eks --selector mi",
        "lone.csv --target y --method eks --selector f",
        "lone.csv --target y --method eks --selector lasso --cv 9",
        "numbers.csv --target y --method eks --selector mi --n-neighbors 9",
        "numbers.csv --target y --method eks --selector lasso --cv 9",
        "two.csv --target y --method eks --selector f",
    ]
    .iter()
    .map(|more| format!("fit {more} -o m.mercer"))
    .collect();
    check(
        "rows_that_a_method_can_make_nothing_of",
        &refusals(folder.path(), &commands.iter().map(String::as_str).collect::<Vec<_>>()),
    );
}
