//! Places that cannot be written, or read twice.

use std::fs;

use super::{check, refusals};
use crate::program::{fit, folder};

#[test]
fn places_that_cannot_be_written() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2", "-q"]);
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    // The rows are not there either: the place is looked at first.
    check(
        "places_that_cannot_be_written",
        &refusals(
            folder.path(),
            &[
                "fit nothing.csv --method kobl -o nowhere/model.mercer",
                "fit nothing.csv --method kobl -o sub",
                "fit nothing.csv --method kobl -o ''",
                "fit train.csv --drop kind --method kobl -o ./train.csv",
                "transform model.mercer nothing.csv -o features.xlsx",
                "transform model.mercer nothing.csv -o features",
                "transform model.mercer nothing.csv -o nowhere/features.csv",
                "transform model.mercer nothing.csv --keep kind -o features.npy",
                "transform model.mercer nothing.csv --keep kind,a -o features.svm",
                "transform model.mercer train.csv -o train.csv",
                "transform - - -o features.csv",
                "inspect - --importance -",
            ],
        ),
    );
    #[cfg(unix)]
    check("devices", &refusals(folder.path(), &["fit train.csv --method kobl --drop kind -o /dev/null"]));
}
