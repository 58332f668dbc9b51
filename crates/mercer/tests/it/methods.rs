//! The catalogue: every method in it works, and every parameter's range is what it says.

use mercer::basis::Method;
use mercer::data::{Labels, Task, synth};
use mercer::methods::{METHODS, PARAMETERS, basis, method, parameter, to_json};

#[test]
fn every_method_of_the_catalogue_fits_with_its_defaults() {
    let table = synth::generate("ringnorm?n=120&seed=1").expect("rows");
    let labels = Labels::decide(table.target.clone().expect("classes"), Task::Auto).expect("labels");
    for card in METHODS {
        let settings: [(&str, &str); 0] = [];
        let fitted = basis(card.name, &settings).expect("settings").fit_supervised(&table.rows, &labels);
        assert!(fitted.expect(card.name).n_components() > 0);
    }
    assert_eq!(METHODS.len(), Method::ALL.len());
}

#[test]
fn defaults_are_values_that_the_parameters_allow() {
    for p in PARAMETERS {
        assert!(p.default.is_some() || p.none.is_some(), "{} says what it is when not given", p.name);
        if let Some(default) = p.default {
            p.check(default).expect(p.name);
        }
        assert!(p.check("nonsense!").is_err(), "{}", p.name);
    }
    for card in METHODS {
        for name in card.parameters {
            parameter(name).expect("known");
        }
    }
}

#[test]
fn refusals_name_what_is_allowed() {
    let text =
        |name: &str, settings: &[(&str, &str)]| basis(name, settings).expect_err("refused").to_string();
    assert!(text("kobbl", &[]).contains("use one of gram-schmidt, kobl"));
    assert!(
        text("kobl", &[("nu", "0.5")]).starts_with("`nu` is not a parameter of `kobl`; it has kernel, gamma")
    );
    assert!(
        text("sparse", &[("nu", "1")]).contains("nu = 1, but it must be a number of at least 0 and below 1")
    );
    assert!(
        text("kobl", &[("kernel", "rbff")]).contains("kernel = rbff, but it must be one of rbf, laplacian")
    );
    assert!(text("kobl", &[("gamma", "-1")]).contains("a number above 0 or one of scale, auto"));
    assert!(text("kobl", &[("gamma", "inf")]).contains("gamma = inf"));
    assert!(text("kobl", &[("n_components", "2.5")]).contains("a whole number of at least 1"));
    assert!(text("kobl", &[("threshold", "power:-1")]).contains("`power:A` with A above 0"));
    assert!(text("kpca", &[("center", "yes")]).contains("true or false"));
    assert!(text("kobl", &[("widht", "1")]).contains("`widht` is not a parameter"));
    assert!(method("kobl").expect("known").help.contains("farthest"));
}

#[test]
fn the_json_holds_every_card() {
    let json = to_json();
    assert_eq!(json["methods"].as_array().expect("list").len(), METHODS.len());
    assert_eq!(json["parameters"].as_array().expect("list").len(), PARAMETERS.len());
}
