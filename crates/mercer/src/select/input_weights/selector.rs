//! Input weights as scores of columns: how steep kernel ridge predictions are along each of them.
//!
//! The weights are those of [`InputWeights::find`], whose file says what they cost and where they come from. They are not
//! among the selectors by which a system chooses coordinates: they weigh what a kernel sees, and coordinates are what comes
//! out of it.

use super::InputWeights;
use crate::data::needs::Needs;
use crate::error::Result;
use crate::kernel::Shape;
use crate::select::{Accepts, Columns, N_FEATURES, Scores, Select};
use crate::spec::{FromValues, Kind, MethodSpec, Parameter, SEED, Stage, Values};

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "input-weights",
    stage: Stage::Select,
    file: "select/input_weights.rs",
    source: "Radhakrishnan et al. 2024; SKFE, sec. 3",
    cost: "4·(rounds + 1) searches of γ on at most 2 000 rows",
    parameters: &[
        N_FEATURES,
        Parameter::new(
            "kernel",
            Kind::Choice(&["rbf", "laplacian", "matern12", "matern32", "matern52", "rq"]),
            "kernel of the predictions whose slopes make the weights",
        )
        .default("rbf"),
        Parameter::whole("rounds", 0, "the most rounds of weighting and refitting").default("3"),
        SEED,
    ],
    help: "how steep kernel ridge predictions are along a column; for `mercer select` alone",
};

impl FromValues for InputWeights {
    fn from_values(values: &Values) -> Self {
        let default = Self::default();
        let shape = values.text("kernel").and_then(|name| Shape::named(name, 3, 1.0, 1.0).ok());
        Self {
            shape: shape.unwrap_or(default.shape),
            rounds: values.count("rounds").unwrap_or(default.rounds),
            seed: values.seed(),
        }
    }
}

impl Select for InputWeights {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn needs(&self) -> Needs {
        Needs::Labels
    }

    fn score(&self, columns: &Columns) -> Result<Scores> {
        columns.check(SPEC.name, Accepts::Numbers)?;
        let found = self.find(columns.rows, columns.labels(SPEC.name)?, columns.monitor)?;
        let mut warnings = Vec::new();
        if found.rounds == 0 && found.weights.len() > 1 {
            warnings.push(
                "weights of the columns do not help to predict left-out rows, so all are 1 and no column ranks above another"
                    .into(),
            );
        }
        Ok(Scores { scores: found.weights, warnings, ..Scores::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::labels::Labels;
    use crate::data::synth;
    use crate::monitor::Monitor;
    use crate::select::Keep;

    #[test]
    fn weights_are_scores_and_settings_arrive() {
        let table = synth::generate("friedman?n=300&seed=1").expect("rows");
        let labels = Labels::Numbers(table.rows.to_dense().chunks(10).map(|x| (6.0 * x[0]).sin()).collect());
        let values = Values::new(&[&SPEC], &[("rounds", "2"), ("kernel", "laplacian")]).expect("settings");
        let weights = InputWeights::from_values(&values);
        assert_eq!((weights.shape, weights.rounds), (Shape::Laplacian, 2));
        let monitor = Monitor::default();
        let scores = weights.score(&Columns::new(&table.rows, &labels, &monitor)).expect("scores");
        assert_eq!(scores.scores, weights.find(&table.rows, &labels, &monitor).expect("weights").weights);
        assert_eq!(scores.keep(Keep::Count(1)).columns, [0]);
        let defaults = InputWeights::from_values(&Values::defaults(&SPEC));
        assert_eq!(format!("{defaults:?}"), format!("{:?}", InputWeights::default()));
    }
}
