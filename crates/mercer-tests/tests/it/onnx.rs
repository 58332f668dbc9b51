//! Models as ONNX files: well-formed graphs, and what is refused. Python's tests run them.

use std::collections::BTreeSet;

use mercer::basis::Precision;
use mercer::data::encode::{EncodeSettings, RawTable, RawValues};
use mercer::data::{Encoder, Scaling, synth};
use mercer::map::{Predictor, SelectedColumns};
use mercer::onnx::{Class, Export, OPSETS};
use mercer::{Basis, FeatureMap, Kernel, Rows, Shape};

/// The fields of a message: numbers, and bytes for the rest.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for at in 0.. {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 127) << (7 * at);
            if byte < 128 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (number, length) = match key & 7 {
            0 => (varint(&mut bytes), 0),
            2 => (0, varint(&mut bytes) as usize),
            5 => (0, 4),
            other => panic!("wire type {other}"),
        };
        let (own, rest) = bytes.split_at(length);
        found.push((key >> 3, number, own));
        bytes = rest;
    }
    found
}

fn messages(bytes: &[u8], field: u64) -> Vec<&[u8]> {
    fields(bytes).into_iter().filter(|(number, ..)| *number == field).map(|(.., own)| own).collect()
}

fn texts(bytes: &[u8], field: u64) -> Vec<String> {
    messages(bytes, field).into_iter().map(|text| String::from_utf8(text.to_vec()).expect("UTF-8")).collect()
}

fn number(bytes: &[u8], field: u64) -> u64 {
    fields(bytes).into_iter().find(|(number, ..)| *number == field).expect("a number").1
}

/// An error unless every value is made once and before it is used, inside loops too. Returns the names of the operators.
fn operators(graph: &[u8], outside: &BTreeSet<String>) -> BTreeSet<String> {
    let mut known = outside.clone();
    let mut add = |name: String| assert!(known.insert(name.clone()), "{name} is made twice");
    messages(graph, 5).into_iter().for_each(|tensor| add(texts(tensor, 8).remove(0)));
    messages(graph, 11).into_iter().for_each(|input| add(texts(input, 1).remove(0)));
    let mut found = BTreeSet::new();
    for node in messages(graph, 1) {
        for input in texts(node, 1) {
            assert!(known.contains(&input), "{input} is used before it is made");
        }
        for attribute in messages(node, 5) {
            for body in messages(attribute, 6) {
                found.extend(operators(body, &known));
            }
        }
        texts(node, 2)
            .into_iter()
            .for_each(|name| assert!(known.insert(name.clone()), "{name} is made twice"));
        found.extend(texts(node, 4));
    }
    for output in messages(graph, 12) {
        let name = texts(output, 1).remove(0);
        assert!(known.contains(&name), "{name} is not made");
    }
    found
}

/// The operators of a model, and its outputs with their types.
fn read(model: &[u8]) -> (BTreeSet<String>, Vec<(String, u64)>) {
    let graphs = messages(model, 7);
    assert_eq!(graphs.len(), 1);
    let outputs = messages(graphs[0], 12).into_iter().map(|output| {
        let tensor = messages(messages(output, 2)[0], 1)[0];
        (texts(output, 1).remove(0), number(tensor, 1))
    });
    (operators(graphs[0], &BTreeSet::new()), outputs.collect())
}

fn map(shape: Shape) -> FeatureMap {
    let rows = synth::generate("ringnorm?n=40&seed=1").expect("rows").rows;
    let rows =
        Rows::dense(rows.to_dense().iter().map(|v| v.abs()).collect::<Vec<_>>(), 40, rows.p()).expect("rows");
    FeatureMap::from(Basis::kobl(Kernel { shape, gamma: 0.05 }).n_components(5).fit(&rows).expect("a basis"))
}

#[test]
fn every_graph_is_well_formed() {
    let sums = ["0.5*rbf(gamma=0.1)+linear", "match(columns=0:5)*additive_chi2(columns=7)+chi2", "2.5"];
    let names = Shape::NAMES.into_iter().filter(|name| !["sigmoid", "precomputed"].contains(name));
    for name in names.chain(sums) {
        let mut map = map(Shape::named(name, 3, 1.0, 1.5).expect("known"));
        for scaling in [None, Some(Scaling::unit(20)), Some(Scaling::of_factors(vec![2.0; 20]))] {
            if name.contains("match") && scaling.as_ref().is_some_and(|scaling| scaling.unit) {
                continue;
            }
            map.scaling = scaling;
            for (precision, element) in [(Precision::Double, 11), (Precision::Single, 1)] {
                for opset in OPSETS {
                    let bytes = Export { precision, opset, ..Export::default() }.map(&map).expect(name);
                    assert_eq!(number(messages(&bytes, 8)[0], 2), u64::from(opset));
                    let (operators, outputs) = read(&bytes);
                    assert!(operators.contains("Gemm") && !operators.contains("MatMul"), "{operators:?}");
                    assert_eq!(outputs, [("variable".to_string(), element)]);
                }
            }
        }
    }
}

#[test]
fn an_equal_factor_is_computed_once() {
    let count = |shape: &str| {
        let bytes = Export::default().map(&map(shape.parse().expect("a kernel"))).expect("exported");
        let graph = messages(&bytes, 7)[0];
        messages(graph, 1).into_iter().filter(|node| texts(node, 4) == ["Exp"]).count()
    };
    assert_eq!(count("rbf"), 1);
    assert_eq!(count("rbf+0.5*rbf*linear+rbf*rbf"), 1);
    assert_eq!(count("rbf+rbf(columns=0:5)"), 2);
}

#[test]
fn functions_and_equal_numbers_of_normalized_rows_are_refused() {
    let own = Kernel::own("product", |x, z| x.iter().zip(z).map(|(x, z)| x * z).sum());
    for kernel in [own, own * Kernel::rbf(0.1) + Kernel::linear()] {
        let refused = Export::default().map(&map(kernel.shape)).expect_err("a function").to_string();
        assert!(refused.contains("`product#") && refused.contains("of your own"), "{refused}");
    }
    // One that only a member of a predictor has.
    let mut predicts = predicts(None);
    predicts.predictor.as_mut().expect("a predictor").members[1].expansion.kernel = own;
    assert!(Export::default().map(&predicts).is_err());
    for kernel in [Kernel::matching(), Kernel::matching() + Kernel::linear()] {
        let map = FeatureMap { scaling: Some(Scaling::unit(20)), ..map(kernel.shape) };
        let refused = Export::default().map(&map).expect_err("lengths").to_string();
        assert!(refused.contains("divided by their length"), "{refused}");
    }
}

#[test]
fn what_float32_is_too_coarse_for_is_computed_in_float64() {
    let single = Export { precision: Precision::Single, ..Export::default() };
    let precise = FeatureMap::from(
        Basis::kobl(Kernel::rbf(1.0))
            .fit(&Rows::dense(vec![0.0, 1.0, 5.0], 3, 1).expect("rows"))
            .expect("fit"),
    );
    assert!(!read(&single.map(&precise).expect("exported")).0.contains("Cast"));
    // L1 has no panels in float32.
    assert!(read(&single.map(&map(Shape::Laplacian)).expect("exported")).0.contains("Cast"));
    // Centres that float32 cannot hold.
    let center = vec![1e35];
    let scaled = FeatureMap { scaling: Some(Scaling { unit: false, center, factor: vec![1.0] }), ..precise };
    assert!(read(&single.map(&scaled).expect("exported")).0.contains("Cast"));
}

fn predicts(classes: Option<Vec<String>>) -> FeatureMap {
    let member = map(Shape::Rbf);
    let outputs: Vec<usize> = (0..classes.as_ref().map_or(1, Vec::len)).collect();
    let member = FeatureMap::from_columns("eks", member, &outputs, None, Vec::new()).expect("columns");
    let predictor = Predictor { members: vec![member.clone(), member.clone()], classes, sharpness: 3.0 };
    FeatureMap { predictor: Some(predictor), ..member }
}

#[test]
fn predictions_have_the_outputs_of_their_kind() {
    let (float, int, text) = (11, 7, 8);
    let outputs = |export: &Export, map: &FeatureMap| read(&export.map(map).expect("exported")).1;
    let named = |outputs: &[(&str, u64)]| -> Vec<(String, u64)> {
        outputs.iter().map(|(name, element)| ((*name).to_string(), *element)).collect()
    };
    let plain = Export::default();
    let classes = predicts(Some(vec!["9".into(), "10".into()]));
    assert_eq!(outputs(&plain, &classes), named(&[("label", text), ("probabilities", float)]));
    assert_eq!(outputs(&plain, &predicts(None)), named(&[("variable", float)]));
    let features = Export { features: true, ..Export::default() };
    assert_eq!(outputs(&features, &classes), named(&[("variable", float)]));
    let class = |name: &str, integer| Class { name: name.into(), integer };
    let of = |classes: Vec<Class>| Export { classes: Some(classes), ..Export::default() };
    let integers = of(vec![class("10", Some(10)), class("9", Some(9))]);
    assert_eq!(outputs(&integers, &classes), named(&[("label", int), ("probabilities", float)]));
    let some = of(vec![class("10", Some(10)), class("9", None)]);
    assert_eq!(outputs(&some, &classes), named(&[("label", text), ("probabilities", float)]));

    for wrong in [vec![class("9", None)], vec![class("9", None); 2], vec![class("9", None), class("8", None)]]
    {
        let error = of(wrong).map(&classes).expect_err("other classes").to_string();
        assert!(error.contains("each once: 9, 10"), "{error}");
    }
    let error = integers.map(&predicts(None)).expect_err("numbers").to_string();
    assert!(error.contains("predicts numbers"), "{error}");
    let error = integers.map(&map(Shape::Rbf)).expect_err("features").to_string();
    assert!(error.contains("predicts none"), "{error}");
}

#[test]
fn selected_columns_are_gathered() {
    let selected = SelectedColumns { n_inputs: 3, columns: vec![0, 2], ..SelectedColumns::default() };
    let operators =
        |selected: &SelectedColumns| read(&Export::default().columns(selected).expect("exported")).0;
    assert_eq!(operators(&selected).into_iter().collect::<Vec<_>>(), ["Gather"]);
    let weighted = SelectedColumns { weights: Some(vec![0.5, 2.0]), ..selected };
    assert_eq!(operators(&weighted).into_iter().collect::<Vec<_>>(), ["Gather", "Mul"]);
}

#[test]
fn tables_of_numbers_are_encoded_and_others_refused() {
    let learn = |kind: RawValues| {
        let mut table = RawTable::new(&["size", "kind"], None);
        table.push(vec![RawValues::Numbers(vec![1.0, f64::NAN, 5.0, 2.0]), kind]).expect("a table");
        Encoder::learn(&table.finish().expect("rows"), &EncodeSettings::default()).expect("an encoder")
    };
    let fit = |(encoder, encoded): (Encoder, mercer::data::encode::Encoded)| {
        let basis = Basis::kobl(Kernel::rbf(0.5)).fit(&encoded.rows).expect("a basis");
        FeatureMap { encoder: Some(encoder), ..basis.into() }
    };
    let numbers = fit(learn(RawValues::Numbers(vec![1.5, 2.0, 7.0, 4.0])));
    assert!(read(&Export::default().map(&numbers).expect("numbers")).0.contains("IsNaN"));
    let texts = ["red", "blue", "red", "blue"].map(|text| Some(text.to_string()));
    let texts = fit(learn(RawValues::Texts(texts.to_vec())));
    let error = Export::default().map(&texts).expect_err("text").to_string();
    assert!(
        error.contains("`kind`") && error.contains("a category") && error.contains("\nhint: "),
        "{error}"
    );
    let encoded = Export { encoded: true, ..Export::default() };
    assert!(!read(&encoded.map(&texts).expect("encoded")).0.contains("IsNaN"));
}

#[test]
fn versions_that_are_not_written_are_refused() {
    for opset in [12, 23] {
        let error =
            Export { opset, ..Export::default() }.map(&map(Shape::Rbf)).expect_err("refused").to_string();
        assert!(error.contains(&format!("target_opset = {opset}")) && error.contains("13 to 22"), "{error}");
    }
}
