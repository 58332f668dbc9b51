//! Which method: a few candidates on inner folds, evaluated with ridge and with the nearest neighbour; the simplest of those that
//! are about as good as the best.

use serde_json::{Value, json};

use super::{Adviser, Choice, VISIBLE, measure, short};
use crate::basis::loo::Tried;
use crate::checkpoint::Journal;
use crate::data::encode::Medians;
use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::data::scale::Scaling;
use crate::data::weights::Weights;
use crate::error::{Error, Result};
use crate::evaluate::advice::{Advice, Finding};
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::folds::{folds, with_every_class_or_all};
use crate::evaluate::measures::Measure;
use crate::evaluate::outcome;
use crate::options::Options;
use crate::pipeline::{FittedPipeline, Pipeline};
use crate::random;
use crate::select::input_weights::{FoundWeights, InputWeights};

/// Rows of the inner folds.
const FOLD_ROWS: usize = 3_000;

const FOLDS: usize = 3;

/// The most components of the inner folds: with more, methods differ by less than folds do, and take most of the time.
const FOLD_SIZE: usize = 1_000;

/// Features that klfe and kpls make at most.
const FEATURES: usize = 10;

/// The scores of a candidate, one a fold: by ridge, by the nearest neighbour.
#[derive(Clone, Debug, Default)]
struct Scores {
    ridge: Vec<f64>,
    nearest: Vec<f64>,
    n_features: usize,
}

/// Those of one fold, from a checkpoint.
struct FoldScores {
    ridge: f64,
    nearest: f64,
    n_features: usize,
}

/// The rows of a side of a fold, their labels, and what each counts.
struct Part {
    rows: Rows<'static>,
    labels: Labels,
    weights: Option<Weights>,
}

impl Part {
    /// The features of the rows, in their place.
    fn features(&self, fitted: &FittedPipeline) -> Result<Self> {
        let rows = Rows::from_mat(fitted.map.transform(&self.rows)?.as_ref());
        Ok(Self { rows, labels: self.labels.clone(), weights: self.weights.clone() })
    }
}

impl Adviser {
    /// Of the candidates whose scores are within a standard error of the best, the one with the fewest features. A
    /// candidate must serve both evaluators: nobody knows yet which model will see its features. Where columns are weighted,
    /// each fold learns weights of its own, because those of all rows have seen the rows that are tested.
    pub(super) fn best_method(
        &self,
        choice: Choice,
        (rows, unfilled): (&Rows, Option<&Rows>),
        labels: &Labels,
        weighted: Option<&FoundWeights>,
        advice: &mut Advice,
        journal: &mut Journal,
    ) -> Result<Option<FittedPipeline>> {
        let mut chosen = random::sample(rows.n(), FOLD_ROWS, self.seed);
        chosen.sort_unstable();
        let is_part = chosen.len() < rows.n();
        let unfilled = unfilled.map(|rows| rows.select(&chosen));
        let (rows, labels) = (rows.select(&chosen), labels.select(&chosen));
        let weights = self.weights_of(&chosen);
        let measure = measure(&labels, weights.as_ref());
        let few =
            Choice { tried: Tried { size: choice.tried.size.min(FOLD_SIZE), ..choice.tried }, ..choice };
        let candidates = candidates_for(choice, &labels)?;
        let (mut splits, _) = folds(&labels, FOLDS, 1, self.seed)?;
        if measure.is_mean_over_classes() {
            splits = with_every_class_or_all(splits, &labels);
        }
        let mut raw = Scores::default();
        let mut scores = vec![Scores::default(); candidates.len()];
        let mut failed: Vec<Option<Error>> = candidates.iter().map(|_| None).collect();
        for (fold, split) in splits.iter().enumerate() {
            let name = format!("fold {fold}");
            let known = journal.recall(&name).and_then(Value::as_array);
            let known: Option<Vec<FoldScores>> =
                known.and_then(|known| known.iter().map(FoldScores::from_json).collect());
            if let Some([of_raw, of_candidates @ ..]) = known.as_deref()
                && of_candidates.len() == candidates.len()
            {
                raw.push(of_raw);
                scores.iter_mut().zip(of_candidates).for_each(|(scores, one)| scores.push(one));
                continue;
            }
            let from = unfilled.as_ref().unwrap_or(&rows);
            let [mut train, mut test] = [&split.train, &split.test].map(|part| Part {
                rows: from.select(part),
                labels: labels.select(part),
                weights: weights.as_ref().map(|weights| weights.select(part)),
            });
            if unfilled.is_some() {
                let medians = Medians::fit(&train.rows);
                (train.rows, test.rows) = (medians.apply(&train.rows)?, medians.apply(&test.rows)?);
            }
            if let Some(found) = weighted {
                let plain = Scaling::of_factors(found.weights.iter().map(|weight| 1.0 / weight).collect());
                (train.rows, test.rows) = (plain.apply(&train.rows)?, plain.apply(&test.rows)?);
            }
            self.score(&train, &test, measure, &mut raw)?;
            if let Some(found) = weighted {
                let own = self.weights_after(found.rounds, &train)?;
                (train.rows, test.rows) = (own.apply(&train.rows)?, own.apply(&test.rows)?);
            }
            let (basis, z) = self.coordinates(few, &train.rows, &train.labels, train.weights.as_ref())?;
            let options = Options { weights: train.weights.clone(), ..self.inner_options() };
            for (at, pipeline) in candidates.iter().enumerate() {
                let (basis, z) = (basis.clone(), Some(z.clone()));
                let fitted = pipeline.finish(&train.rows, Some(&train.labels), basis, z, &options);
                let evaluated = fitted.and_then(|fitted| {
                    let [from, to] = [&train, &test].map(|part| part.features(&fitted));
                    self.score(&from?, &to?, measure, &mut scores[at])
                });
                match evaluated {
                    Ok(()) => {}
                    Err(Error::Interrupted) => return Err(Error::Interrupted),
                    // A method that these rows are too few or too odd for is no candidate.
                    Err(error) => failed[at] = Some(error),
                }
            }
            // Why one failed is found again.
            if failed.iter().all(Option::is_none) {
                journal.record(&name, || std::iter::once(&raw).chain(&scores).map(Scores::last).collect())?;
            }
        }
        let fit: Vec<usize> = (0..candidates.len()).filter(|&at| failed[at].is_none()).collect();
        let top = fit.iter().copied().reduce(|a, b| if scores[b].mean() > scores[a].mean() { b } else { a });
        let enough = top.map_or(f64::INFINITY, |top| scores[top].mean() - scores[top].standard_error());
        let near = fit.iter().copied().filter(|&at| scores[at].mean() >= enough);
        let Some(best) = near.min_by_key(|&at| scores[at].n_features) else {
            let error = failed.into_iter().flatten().next();
            return Err(error.unwrap_or_else(|| Error::data("no method could be tried on these rows")));
        };
        let (pipeline, mut advised) = (&candidates[best], best);
        advice.method = pipeline.spec.name.into();
        advice.settings.clone_from(&pipeline.settings);
        let options = Options { weights, ..self.inner_options() };
        // On a part of the rows a smaller basis tells as well whether it can be fitted.
        let smaller = if is_part { candidates_for(few, &labels)? } else { Vec::new() };
        let fitted = match smaller.get(best).unwrap_or(pipeline).fit(&rows, Some(&labels), &options) {
            // Folds may differ where all rows together do not, as class means do; a target without noise has few partial
            // least squares. The coordinates are always there.
            Err(Error::Data(why) | Error::Numerical(why) | Error::Argument(why)) => {
                let why = first_line(&why);
                advice.reasons.push(format!(
                    "`{}` is best on inner folds, but cannot be fitted on all rows ({why}); the coordinates of `{}` \
                     are advised instead",
                    advice.method,
                    choice.method.name()
                ));
                advice.fall_back();
                advised = 0;
                None
            }
            fitted => Some(fitted?),
        };
        let of_fit = fit.iter().map(|&at| (candidates[at].spec.name, &scores[at]));
        advice.inner = best_first(of_fit.chain([("raw", &raw)]));
        explain(advice, &raw, &scores[advised], measure);
        Ok(fitted)
    }

    /// Weights of the columns that are learned from these rows.
    fn weights_after(&self, rounds: usize, part: &Part) -> Result<Scaling> {
        let settings = InputWeights { seed: self.seed, ..InputWeights::default() };
        let (counts, monitor) = (part.weights.as_ref(), &self.options.monitor);
        settings.after(rounds, &part.rows, &part.labels, counts, monitor).map(Scaling::of_factors)
    }

    fn score(&self, train: &Part, test: &Part, measure: Measure, scores: &mut Scores) -> Result<()> {
        let (weights, monitor) = (train.weights.as_ref(), &self.options.monitor);
        let score = |evaluator: Evaluator| {
            let found =
                evaluator.predict_by(&train.rows, &train.labels, weights, &test.rows, self.seed, monitor)?;
            measure.of_by(&test.labels, &found.predictions, test.weights.as_ref())
        };
        scores.ridge.push(score(Evaluator::Ridge)?);
        scores.nearest.push(score(Evaluator::Knn { n_neighbors: 1 })?);
        scores.n_features = train.rows.p();
        Ok(())
    }
}

impl FoldScores {
    /// None: that is not what was written.
    fn from_json(value: &Value) -> Option<Self> {
        let number = |at: usize| value[at].as_u64().map(f64::from_bits).filter(|score| score.is_finite());
        Some(Self { ridge: number(0)?, nearest: number(1)?, n_features: value[2].as_u64()? as usize })
    }
}

impl Scores {
    /// The last fold's, bit by bit.
    fn last(&self) -> Value {
        let [ridge, nearest] = [&self.ridge, &self.nearest].map(|all| all.last().map(|v| v.to_bits()));
        json!([ridge, nearest, self.n_features])
    }

    fn push(&mut self, fold: &FoldScores) {
        self.ridge.push(fold.ridge);
        self.nearest.push(fold.nearest);
        self.n_features = fold.n_features;
    }

    /// The mean of both evaluators, one a fold.
    fn each(&self) -> Vec<f64> {
        self.ridge.iter().zip(&self.nearest).map(|(a, b)| f64::midpoint(*a, *b)).collect()
    }

    fn mean(&self) -> f64 {
        average(&self.each())
    }

    fn standard_error(&self) -> f64 {
        outcome::standard_error(&self.each()).unwrap_or(0.0)
    }
}

/// An error without its hint, which is for someone who chose the settings.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or(text)
}

fn average(values: &[f64]) -> f64 {
    outcome::average(values).unwrap_or(0.0)
}

/// Methods worth trying on such labels, all on one basis.
fn candidates_for(choice: Choice, labels: &Labels) -> Result<Vec<Pipeline>> {
    let basis = choice.method.name();
    let with = |method: &str, own: &[(&str, String)]| {
        let size = if method == basis { "n_components" } else { "basis_components" };
        let mut settings = Adviser::settings(choice, size);
        if method != basis {
            settings.push(("basis".into(), basis.into()));
        }
        settings.extend(own.iter().map(|(name, value)| ((*name).to_string(), value.clone())));
        Pipeline::new(method, &settings)
    };
    let features = FEATURES.min(choice.tried.size).to_string();
    let mut all = vec![with(basis, &[])?];
    match labels {
        Labels::Classes { .. } => {
            all.push(with("gda", &[("reg", short(choice.tried.penalty).to_string())])?);
            all.push(with("klfe", &[("n_components", features), ("n_neighbors", "5".into())])?);
        }
        Labels::Numbers(_) | Labels::Several { .. } => all.push(with("kpls", &[("n_components", features)])?),
    }
    Ok(all)
}

/// Names with mean scores and their standard errors, best first.
fn best_first<'a>(all: impl Iterator<Item = (&'a str, &'a Scores)>) -> Vec<(String, f64, f64)> {
    let mut all: Vec<(String, f64, f64)> =
        all.map(|(name, scores)| (name.to_string(), scores.mean(), scores.standard_error())).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

fn explain(advice: &mut Advice, raw: &Scores, best: &Scores, measure: Measure) {
    let text = |score: f64| {
        if measure.is_share() { format!("{:.1} %", 100.0 * score) } else { format!("{score:.3}") }
    };
    let measure = measure.words();
    let (near_raw, near) = (average(&raw.nearest), average(&best.nearest));
    advice.findings.push(Finding {
        name: "nearest neighbour".into(),
        value: format!("{measure} {} on the columns, {} on the features", text(near_raw), text(near)),
        meaning: if near >= near_raw + VISIBLE {
            "a nearest neighbour does better on the features".into()
        } else if near_raw >= near + VISIBLE {
            "a nearest neighbour does better on the columns".into()
        } else {
            "a nearest neighbour does as well on the columns".into()
        },
    });
    let (ridge_raw, ridge) = (average(&raw.ridge), average(&best.ridge));
    advice.findings.push(Finding {
        name: "ridge".into(),
        value: format!("{measure} {} on the columns, {} on the features", text(ridge_raw), text(ridge)),
        meaning: if ridge >= ridge_raw + VISIBLE {
            "the labels are closer to linear in the features".into()
        } else {
            "a linear model gains nothing from the features".into()
        },
    });
    advice.reasons.push(format!(
        "on {FOLDS} inner folds `{}` has {measure} {} with {} (the mean of ridge and the nearest neighbour), \
         against {} for the columns; no method with fewer features comes within a standard error of the \
         best",
        advice.method,
        text(best.mean()),
        if best.n_features == 1 { "one feature".into() } else { format!("{} features", best.n_features) },
        text(raw.mean())
    ));
}
