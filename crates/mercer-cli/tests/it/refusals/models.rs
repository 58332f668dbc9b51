//! Files that are no models, or no longer.

use std::fs;

use serde_json::{Value, json};

use super::{check, refusal, refusals, write};
use crate::program::{fit, folder};

/// A model with its header changed: the list of tensors, and what the program says about itself.
fn forged(model: &[u8], change: impl FnOnce(&mut Value, &mut Value)) -> Vec<u8> {
    let length = u64::from_le_bytes(model[..8].try_into().expect("eight bytes")) as usize;
    let mut tensors: Value = serde_json::from_slice(&model[8..8 + length]).expect("a header");
    let own = tensors["__metadata__"]["mercer"].as_str().expect("mercer's part").to_string();
    let mut own: Value = serde_json::from_str(&own).expect("JSON");
    change(&mut tensors, &mut own);
    if own.is_null() {
        tensors["__metadata__"] = json!({});
    } else {
        tensors["__metadata__"]["mercer"] = own.to_string().into();
    }
    let mut header = tensors.to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes()[..], &header, &model[8 + length..]].concat()
}

#[test]
fn files_that_are_no_models() {
    let folder = folder();
    fit(folder.path(), &["--n-components", "2", "-q"]);
    let whole = fs::read(folder.path().join("model.mercer")).expect("a model");
    let file = |name: &str, bytes: &[u8]| write(folder.path(), name, bytes);
    file("empty", b"");
    file("cut", &whole[..whole.len() - 8]);
    file("head", &whole[..40]);
    let forge = |name: &str, change: &dyn Fn(&mut Value, &mut Value)| {
        file(name, &forged(&whole, |tensors, own| change(tensors, own)));
    };
    forge("newer", &|_, own| own["format"] = 9.into());
    forge("timeless", &|_, own| own["format"] = Value::Null);
    forge("foreign", &|_, own| *own = Value::Null);
    forge("no-kernel", &|_, own| own["kernel"] = Value::Null);
    forge("odd-kernel", &|_, own| own["kernel"]["name"] = "gauss".into());
    forge("no-gamma", &|_, own| own["kernel"]["gamma"] = Value::Null);
    forge("bad-gamma", &|_, own| own["kernel"]["gamma"] = json!(-1.0));
    forge("no-method", &|_, own| own["method"] = Value::Null);
    forge("no-names", &|_, own| own["feature_names"] = Value::Null);
    forge("few-names", &|_, own| own["feature_names"] = json!(["one"]));
    forge("odd-names", &|_, own| own["feature_names"] = json!([1, 2]));
    forge("few-inputs", &|_, own| own["input_names"] = json!(["a"]));
    forge("no-matrix", &|tensors, _| {
        tensors.as_object_mut().expect("tensors").remove("matrix");
    });
    forge("flat-matrix", &|tensors, _| {
        let count: u64 = tensors["matrix"]["shape"]
            .as_array()
            .expect("a shape")
            .iter()
            .filter_map(Value::as_u64)
            .product();
        tensors["matrix"]["shape"] = json!([count]);
    });
    forge("whole-matrix", &|tensors, _| tensors["matrix"]["dtype"] = "I64".into());
    let mut nan = whole.clone();
    nan.splice(whole.len() - 8.., f64::NAN.to_le_bytes());
    file("nan", &nan);
    let names = [
        "empty",
        "cut",
        "head",
        "train.csv",
        "newer",
        "timeless",
        "foreign",
        "no-kernel",
        "odd-kernel",
        "no-gamma",
        "bad-gamma",
        "no-method",
        "no-names",
        "few-names",
        "odd-names",
        "few-inputs",
        "no-matrix",
        "flat-matrix",
        "whole-matrix",
        "nan",
    ];
    let commands: Vec<String> = names.iter().map(|name| format!("inspect {name}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let others = ["inspect nothing.mercer", "inspect .", "transform empty train.csv"];
    let piped = refusal(folder.path(), "inspect -", "a,b\n1,2\n3,4\n5,6\n");
    let table = refusals(folder.path(), &[&commands[..], &others].concat());
    check("files_that_are_no_models", &format!("{table}\n{piped}"));
}
