//! `mercer transform`: a model and rows in, features out.

use std::fs;

use crate::program::{csv, done, fit, folder, refused};

#[test]
fn columns_are_matched_by_name_and_others_are_ignored() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "4"]);
    fs::write(folder.path().join("plain.csv"), "a,b,c\n1,2,4\n6,0,8\n").expect("written");
    fs::write(folder.path().join("mixed.csv"), "c,id,a,kind,b\n4,u,1,yes,2\n8,v,6,?,0\n").expect("written");
    let plain = done(folder.path(), &["transform", "model.mercer", "plain.csv"]).0;
    let mixed = done(folder.path(), &["transform", "model.mercer", "mixed.csv"]).0;
    assert_eq!(plain, mixed);
    let kept = done(folder.path(), &["transform", "model.mercer", "mixed.csv", "--keep", "id,kind"]).0;
    let (head, rows) = csv(&kept);
    assert_eq!((&head[..3], &rows[1][..2]), (&["id", "kind", "kobl0"][..], &["v", "?"][..]));

    fs::write(folder.path().join("few.csv"), "a,c\n1,4\n").expect("written");
    let error = refused(folder.path(), 1, &["transform", "model.mercer", "few.csv"]);
    assert!(error.contains("column `b` is missing"), "{error}");
}

#[test]
fn columns_without_names_are_matched_by_place() {
    let folder = folder();
    fs::write(folder.path().join("bare.csv"), "1,2,0\n3,4,1\n5,7,0\n").expect("written");
    done(folder.path(), &["fit", "bare.csv", "--target", "-1", "--method", "nystrom", "-o", "model.mercer"]);
    let bare = done(folder.path(), &["transform", "model.mercer", "bare.csv"]).0;
    fs::write(folder.path().join("named.csv"), "u,v\n1,2\n3,4\n5,7\n").expect("written");
    assert_eq!(done(folder.path(), &["transform", "model.mercer", "named.csv"]).0, bare);
    fs::write(folder.path().join("wide.csv"), "1,2,0,9\n").expect("written");
    let error = refused(folder.path(), 1, &["transform", "model.mercer", "wide.csv"]);
    assert!(error.contains("2 input columns are needed"), "{error}");
}
