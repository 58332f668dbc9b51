//! Columns that cannot be selected.

use super::{check, refusals, write};
use crate::program::{folder, wave};

#[test]
fn columns_that_cannot_be_selected() {
    let folder = folder();
    wave(folder.path());
    write(folder.path(), "text.csv", "a,b,kind\n1,x,p\n2,x,q\n3,y,p\n4,x,q\n1,y,p\n5,x,q\n");
    write(folder.path(), "numbers.csv", "a,b,y\n1,2,0.5\n2,1,0.25\n3,3,0.125\n");
    check(
        "columns_that_cannot_be_selected",
        &refusals(
            folder.path(),
            &[
                "select",
                "select wave.csv",
                "select wave.csv --method best",
                "select wave.csv --method multisurff",
                "select wave.csv --method gda --target kind",
                "select wave.csv --method f --n-features 0 --target kind",
                "select wave.csv --method f --n-neighbors 3 --target kind",
                "select wave.csv --method input-weights --kernel linear --target kind",
                "select wave.csv --method f --n-features 1 --resamples 1 --target kind",
                "select wave.csv --method f --n-features 1 --resamples few --target kind",
                "select wave.csv --method laplacian --permutations 10 --target kind",
                "select wave.csv --method relieff --drop kind",
                "select numbers.csv --method relieff --target y",
                "select text.csv --method f --target kind --n-features 2 --resamples 0 -m m.mercer",
                "select wave.csv --method f --target kind -o table.xlsx",
                "select wave.csv --method f --target kind -m -",
                "select wave.csv --method f --target kind -o a.csv -m a.csv",
                "select wave.csv --method f --target kind -o wave.csv",
                "select wave.csv --method fwe --level 1e-200 --target kind -m m.mercer",
            ],
        ),
    );
}
