//! What [`advise`](super::advise) found out about a data set, and what it recommends.

use serde_json::{Value, json};

use super::held_out::Score;

/// Whether kernel features suit the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// They do.
    Helps,
    /// They make no clear difference: the plain columns do as well.
    #[default]
    MakesNoDifference,
    /// The plain columns do better.
    Hurts,
}

/// One cheap look at the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// What was looked at.
    pub name: String,
    /// What was seen, as text with its unit.
    pub value: String,
    /// What it means here.
    pub meaning: String,
}

/// A guideline for one data set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    /// Whether a kernel helps.
    pub verdict: Verdict,
    /// The method to use: a name of the catalogue.
    pub method: String,
    /// Its settings, those that differ from the defaults.
    pub settings: Vec<(String, String)>,
    /// Why, one sentence each.
    pub reasons: Vec<String>,
    /// What was looked at.
    pub findings: Vec<Finding>,
    /// (γ, centred alignment with the labels) over the grid.
    pub alignments: Vec<(f64, f64)>,
    /// (γ, leave-one-out error of ridge) over the grid.
    pub loo_by_gamma: Vec<(f64, f64)>,
    /// (basis size, leave-one-out error of ridge) at the chosen width.
    pub loo_by_size: Vec<(usize, f64)>,
    /// (candidate, mean score, standard error) of the inner folds, best first.
    pub inner: Vec<(String, f64, f64)>,
    /// How well ridge on the recommended features predicts rows that were held out, beside shuffled labels; None where too
    /// few rows are there.
    pub score: Option<Score>,
    /// Whether leave-one-out predictions are no better than the mean of the labels, so that no features will help much.
    pub no_signal: bool,
    /// Number of classes; None: the labels are numbers.
    pub classes: Option<usize>,
    /// Rows looked at.
    pub rows: usize,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Verdict {
    /// `helps`, `makes no difference`, `hurts`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Helps => "helps",
            Self::MakesNoDifference => "makes no difference",
            Self::Hurts => "hurts",
        }
    }
}

impl Advice {
    /// Whether rows held out are predicted no better than with shuffled labels.
    pub fn is_chance(&self) -> bool {
        self.score.is_some_and(|score| !score.is_above_chance())
    }

    /// The answer in a sentence.
    pub fn headline(&self) -> &'static str {
        match self.verdict {
            _ if self.is_chance() => "Nothing here predicts the labels better than chance.",
            Verdict::Helps if self.score.is_none() => {
                "By leave-one-out errors a kernel helps here; no rows were held out to confirm it."
            }
            Verdict::Helps => "A kernel helps here.",
            Verdict::MakesNoDifference => {
                "A kernel makes no clear difference here: the plain columns do as well."
            }
            Verdict::Hurts => "A kernel hurts here: the plain columns do better.",
        }
    }

    /// Classification or regression.
    pub fn task(&self) -> String {
        match self.classes {
            Some(c) => format!("classification, {c} classes"),
            None => "regression".into(),
        }
    }

    /// The arguments of `mercer fit` that follow it, beside data, target and output.
    ///
    /// ```
    /// use mercer::evaluate::advice::Advice;
    ///
    /// let settings = vec![("basis_components".to_string(), "300".to_string())];
    /// let advice = Advice { method: "gda".into(), settings, ..Advice::default() };
    /// assert_eq!(advice.arguments(), "--method gda --basis-components 300");
    /// ```
    pub fn arguments(&self) -> String {
        let flag = |(name, value): &(String, String)| format!(" --{} {value}", name.replace('_', "-"));
        format!("--method {}{}", self.method, self.settings.iter().map(flag).collect::<String>())
    }

    /// Everything, for other programs.
    pub fn to_json(&self) -> Value {
        let findings: Vec<Value> = self
            .findings
            .iter()
            .map(|f| json!({ "name": f.name, "value": f.value, "meaning": f.meaning }))
            .collect();
        let settings: serde_json::Map<String, Value> =
            self.settings.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "verdict": self.verdict.name(), "method": self.method, "settings": settings, "reasons": self.reasons,
            "findings": findings, "alignments": self.alignments, "loo_by_gamma": self.loo_by_gamma,
            "loo_by_size": self.loo_by_size, "inner": self.inner, "rows": self.rows, "warnings": self.warnings,
            "headline": self.headline(), "task": self.task(),
            "score": self.score.map(|score| json!({
                "measure": score.measure.name().replace('-', "_"), "value": score.value, "chance": score.chance,
                "p_value": score.p_value,
            })),
        })
    }
}
