//! Settings as text: checked against the catalogue, and read with the defaults behind them.

use super::{Card, PARAMETERS, parameter};
use crate::error::{Error, Result};
use crate::evidence::neighbours::Metric;
use crate::select::{
    FTest, IRelief, Keep, Kffs, Laplacian, Lasso, Level, MultiSurf, MutualInfo, RReliefF, Relief, ReliefF,
    Selector,
};

pub(super) fn texts<S: AsRef<str>>(settings: &[(S, S)]) -> impl Iterator<Item = (&str, &str)> {
    settings.iter().map(|(name, value)| (name.as_ref(), value.as_ref()))
}

/// A setting, if it was given.
pub(super) fn given<'a, S: AsRef<str>>(settings: &'a [(S, S)], name: &str) -> Option<&'a str> {
    texts(settings).find(|(n, _)| *n == name).map(|(_, value)| value)
}

/// Settings that were checked, with the defaults behind them.
pub(super) struct Values<'a> {
    cards: Vec<&'static Card>,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Values<'a> {
    /// An error unless every setting is a parameter of one of these methods and has a value it may have.
    pub(super) fn new<S: AsRef<str>>(cards: &[&'static Card], settings: &'a [(S, S)]) -> Result<Self> {
        let given: Vec<(&str, &str)> = texts(settings).collect();
        for &(name, text) in &given {
            let parameter = parameter(name)?;
            if !cards.iter().any(|card| card.parameters.contains(&name)) {
                let names: Vec<String> = cards.iter().map(|card| format!("`{}`", card.name)).collect();
                let mut known: Vec<&str> = Vec::new();
                for name in cards.iter().flat_map(|card| card.parameters) {
                    if !known.contains(name) {
                        known.push(name);
                    }
                }
                return Err(Error::argument(format!(
                    "`{name}` is not a parameter of {}; it has {}",
                    // The first is the method that was asked for, the rest are its parts.
                    names.join(", ").replacen(", ", " with ", 1),
                    known.join(", ")
                )));
            }
            parameter.check(text)?;
        }
        Ok(Self { cards: cards.to_vec(), given })
    }

    /// What was given, else the default of the first method that has one of its own, else the parameter's.
    /// Every text was checked or is a default, so nothing that reads it falls back in silence.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        let given = self.given.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
        let own = || self.cards.iter().find_map(|card| card.defaults.iter().find(|(n, _)| *n == name));
        let general = || PARAMETERS.iter().find(|p| p.name == name).and_then(|p| p.default);
        given.or_else(|| own().map(|(_, v)| *v)).or_else(general)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.text(name).and_then(|v| v.parse().ok())
    }

    pub(super) fn whole(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(|v| v.parse().ok())
    }

    fn count(&self, name: &str) -> Option<usize> {
        self.whole(name).map(|v| v as usize)
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    pub(super) fn keep(&self) -> Result<Keep> {
        self.text("n_features").map_or(Ok(Keep::All), str::parse)
    }

    pub(super) fn selector(&self, card: &Card) -> Result<Selector> {
        let n_neighbors = self.count("n_neighbors").unwrap_or(1);
        let metric = self.text("metric").map(Metric::named).transpose()?;
        let (n_queries, seed) = (self.count("n_queries"), self.whole("seed").unwrap_or(0));
        let level = self.number("level").unwrap_or(0.05);
        Ok(match card.name {
            "relief" => {
                let power = if self.text("power") == Some("2") { 2 } else { 1 };
                Selector::Relief(Relief { n_neighbors, power, metric, n_queries, seed })
            }
            "relieff" => Selector::ReliefF(ReliefF { n_neighbors, metric, n_queries, seed }),
            "rrelieff" => {
                let sigma = self.number("sigma").unwrap_or(20.0);
                Selector::RReliefF(RReliefF { n_neighbors, sigma, metric, n_queries, seed })
            }
            "irelief" => Selector::IRelief(IRelief { width: self.number("width"), n_queries, seed }),
            "multisurf" => Selector::MultiSurf(MultiSurf { metric, n_queries, seed }),
            "kffs" => Selector::Kffs(Kffs { reweight: self.flag("reweight") }),
            "f" => Selector::FTest(FTest { level: Level::None }),
            "fpr" => Selector::FTest(FTest { level: Level::Fpr(level) }),
            "fdr" => Selector::FTest(FTest { level: Level::Fdr(level) }),
            "fwe" => Selector::FTest(FTest { level: Level::Fwe(level) }),
            "mi" => Selector::MutualInfo(MutualInfo { n_neighbors }),
            "laplacian" => Selector::Laplacian(Laplacian { n_neighbors }),
            "lasso" => Selector::Lasso(Lasso {
                cv: self.count("cv").unwrap_or(5),
                randomized: self.flag("randomized"),
                n_resamples: self.count("n_resamples").unwrap_or(100),
                threshold: self.number("stability").unwrap_or(0.6),
                seed,
            }),
            name => return Err(Error::argument(format!("`{name}` is not a selector"))),
        })
    }
}
