//! Selection of input columns: scores, what is kept, how stable that is, and the model that keeps it.
//!
//!   rows → [`Selector::score`] → [`Scores::keep`](crate::select::Scores::keep) → [`SelectedColumns`]
//!                │
//!                └→ again on halves of the rows ([`Selector::stability`]), or with permuted labels (p-values)

use crate::data::labels::Labels;
use crate::data::rows::Rows;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::map::SelectedColumns;
use crate::methods;
use crate::options::{Options, bytes};
use crate::select::stability::check_resamples;
use crate::select::{Columns, Keep, Overlap, Selector};

/// A selector of input columns with its settings, checked, and how far its choice is looked into.
///
/// ```
/// use mercer::{Options, data::{Labels, Task, synth}, pipeline::ColumnSelection};
///
/// let table = synth::generate("ringnorm?n=300&seed=1")?;
/// let labels = Labels::decide(table.target.clone().unwrap(), Task::Auto)?;
/// let selection = ColumnSelection::new("f", &[("n_features", "5")])?;
/// let fitted = selection.fit(&table.rows, Some(&labels), &Options::default())?;
/// assert_eq!(fitted.model.n_features(), 5);
/// assert_eq!(fitted.model.stability.unwrap().len(), 20);
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ColumnSelection {
    /// What scores the columns.
    pub selector: Selector,
    /// How many are kept.
    pub keep: Keep,
    /// Columns whose values are names of categories, by place: for `mi` and the Relief family.
    pub categorical: Vec<usize>,
    /// Halves of the rows on which the selection is made again; 0: none.
    pub resamples: usize,
    /// Permutations of the labels for p-values; 0: the selector's own p-values, where it has them.
    pub permutations: usize,
    /// Seed of halves and permutations.
    pub seed: u64,
    /// The settings that were given as text, for the record.
    pub settings: Vec<(String, String)>,
}

/// What a selection of columns found.
#[derive(Clone, Debug)]
pub struct FittedColumns {
    /// The columns kept, and the scores of all.
    pub model: SelectedColumns,
    /// How far halves of the rows agree on the columns, where there were resamples and a choice.
    pub overlap: Option<Overlap>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Selectors whose neighbours a GPU finds.
const ON_GPUS: [&str; 3] = ["relief", "relieff", "rrelieff"];

impl ColumnSelection {
    /// Number of halves unless another is set.
    pub const RESAMPLES: usize = 10;

    /// A selector by its name, `input-weights` among them, with its settings as text. Halves are drawn with its seed.
    pub fn new<S: AsRef<str>>(method: &str, settings: &[(S, S)]) -> Result<Self> {
        let (selector, keep) = methods::column_selector(method, settings)?;
        let text = |(name, value): &(S, S)| (name.as_ref().to_string(), value.as_ref().to_string());
        let settings: Vec<(String, String)> = settings.iter().map(text).collect();
        let seed = settings.iter().find(|(name, _)| name == "seed").and_then(|(_, seed)| seed.parse().ok());
        let seed = seed.unwrap_or_default();
        let (categorical, resamples, permutations) = (Vec::new(), Self::RESAMPLES, 0);
        Ok(Self { selector, keep, categorical, resamples, permutations, seed, settings })
    }

    /// An error unless the settings go together and such labels will do.
    pub fn check(&self, labels: Option<&Labels>) -> Result<()> {
        if self.resamples > 0 {
            check_resamples(self.resamples)?;
        }
        self.selector.check_permutations(self.permutations)?;
        self.selector.needs().check(self.selector.name(), labels)
    }

    /// An error if a GPU was asked for that has no part in this selector.
    fn check_device(&self, rows: &Rows, options: &Options) -> Result<()> {
        let asked = matches!(options.device, Device::Cuda(_)) || rows.device() != Device::Cpu;
        if !asked || options.device == Device::Auto || ON_GPUS.contains(&self.selector.name()) {
            return Ok(());
        }
        Err(Error::argument(format!(
            "the selector `{}` is not computed on a GPU; {} are, by their neighbours\n\
             hint: compute on the CPU (device = cpu), or let mercer choose (device = auto)",
            self.selector.name(),
            ON_GPUS.map(|name| format!("`{name}`")).join(", ")
        )))
    }

    /// Scores the columns and keeps the best; then looks at halves of the rows and at permuted labels, as the settings ask.
    pub fn fit(&self, rows: &Rows, labels: Option<&Labels>, options: &Options) -> Result<FittedColumns> {
        if let Some(weights) = &options.weights {
            weights.check(rows.n())?;
            if let Some(present) = weights.present() {
                let labels = labels.map(|labels| labels.select(&present));
                let options = Options { weights: Some(weights.select(&present)), ..options.clone() };
                return self.fit(&rows.select(&present), labels.as_ref(), &options);
            }
        }
        options.run(|| {
            self.check(labels)?;
            self.check_device(rows, options)?;
            let (name, monitor) = (self.selector.name(), &options.monitor);
            let weights = options.weights.as_ref();
            let categorical = &self.categorical;
            let columns = Columns { rows, labels, space: None, categorical, weights, monitor };
            let scores = self.selector.score(&columns)?;
            let selection = scores.keep(self.keep);
            let mut warnings = [&scores.warnings[..], &selection.warnings].concat();
            let mut model = SelectedColumns::new(name, &scores, &selection);
            // STIR's rank columns and are no probabilities: on noise they are tiny where classes differ in size.
            model.pvalues = model.pvalues.filter(|_| name != "relieff");
            if self.permutations > 0 {
                let labels = labels.ok_or_else(|| {
                    Error::argument(
                        "permutations are of labels, but none were given\nhint: leave `permutations` out",
                    )
                })?;
                let draw = (self.permutations, self.seed);
                let found = self.selector.permutation_pvalues_by(&columns, labels, draw)?;
                model.pvalues = Some(found);
            }
            // Where every column is kept whatever its score, halves of the rows have no choice either.
            let has_choice =
                model.n_features() < rows.p() || scores.chosen.is_some() || self.keep == Keep::Positive;
            let mut overlap = None;
            let half = (rows.n_stored() * size_of::<f64>() / 2) as u64;
            if self.resamples > 0 && has_choice && half > options.memory {
                warnings.push(format!(
                    "stability is left out: half of the rows takes {}, more than the memory budget of {}",
                    bytes(half),
                    bytes(options.memory)
                ));
            } else if self.resamples > 0 && has_choice {
                let draw = (self.resamples, self.seed);
                match self.selector.stability_by(&columns, self.keep, draw) {
                    Ok(found) => (model.stability, overlap) = (Some(found.shares), Some(found.overlap)),
                    Err(error @ (Error::Interrupted | Error::Argument(_))) => return Err(error),
                    Err(error) => warnings.push(format!(
                        "stability is left out, because half of the rows are too few: {error}"
                    )),
                }
            }
            model.facts.rows = Some(rows.n());
            model.facts.seed = Some(self.seed);
            model.facts.settings = self.settings.iter().cloned().collect();
            Ok(FittedColumns { model, overlap, warnings })
        })
    }
}
