//! Settings as text: checked against the catalogue, and read with the defaults behind them.

use super::{Card, PARAMETERS, Stage, parameter};
use crate::error::{Error, Result};
use crate::evidence::approximate::Search;
use crate::evidence::neighbours::Metric;
use crate::extract::{AkdaQr, Extractor, Gda, Kanmm, Klfe, Kmfa, Koc, Kpca, Kpls, Skfe, Start};
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

/// Parameters of a method and of its parts. What an extractor and its basis both have is the extractor's; the size of its
/// basis is `basis_components`, never `n_components`.
pub(super) fn known(cards: &[&'static Card]) -> Vec<&'static str> {
    let mut known: Vec<&str> = Vec::new();
    for (at, card) in cards.iter().enumerate() {
        for name in card.parameters {
            let size = at > 0 && cards[0].stage == Stage::Extract && *name == "n_components";
            if !known.contains(name) && !size {
                known.push(name);
            }
        }
    }
    known
}

/// What of the settings is for the basis of this method.
pub(super) fn for_basis<'a, S: AsRef<str>>(
    method: &Card,
    basis: &Card,
    settings: &'a [(S, S)],
) -> Vec<(&'a str, &'a str)> {
    let extracts = method.stage == Stage::Extract;
    texts(settings)
        .filter_map(|(name, value)| match name {
            "basis_components" => Some(("n_components", value)),
            _ if !basis.parameters.contains(&name) => None,
            // A seed is everyone's.
            "n_components" if extracts => None,
            _ if extracts && name != "seed" && method.parameters.contains(&name) => None,
            _ => Some((name, value)),
        })
        .collect()
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
        let known = known(cards);
        for &(name, text) in &given {
            let parameter = parameter(name)?;
            if !known.contains(&name) {
                let names: Vec<String> = cards.iter().map(|card| format!("`{}`", card.name)).collect();
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

    pub(super) fn extractor(&self, card: &Card) -> Result<Extractor> {
        let n_components = self.count("n_components");
        let n_neighbors = self.count("n_neighbors").unwrap_or(1);
        let (reg, center) = (self.number("reg").unwrap_or(1e-3), self.flag("center"));
        Ok(match card.name {
            "klfe" => Extractor::Klfe(Klfe { n_components, n_neighbors }),
            "skfe" => Extractor::Skfe(Skfe {
                n_components,
                init: Start::named(self.text("init").unwrap_or("koc"))?,
                max_iter: self.count("max_iter").unwrap_or(200),
                tol: self.number("tol").unwrap_or(1e-6),
                center,
                seed: self.whole("seed").unwrap_or(0),
            }),
            "gda" => Extractor::Gda(Gda { n_components, reg }),
            "koc" => Extractor::Koc(Koc),
            "akda-qr" => Extractor::AkdaQr(AkdaQr { reg }),
            "kpls" => Extractor::Kpls(Kpls { n_components: n_components.unwrap_or(2) }),
            "kmfa" => Extractor::Kmfa(Kmfa {
                n_components,
                k_within: self.count("k_within").unwrap_or(5),
                k_between: self.count("k_between").unwrap_or(20),
                reg,
            }),
            "kanmm" => Extractor::Kanmm(Kanmm { n_components, n_neighbors }),
            "kpca" => Extractor::Kpca(Kpca { n_components, center }),
            name => return Err(Error::argument(format!("`{name}` is not an extractor"))),
        })
    }

    pub(super) fn selector(&self, card: &Card) -> Result<Selector> {
        let n_neighbors = self.count("n_neighbors").unwrap_or(1);
        let metric = self.text("metric").map(Metric::named).transpose()?;
        let (n_queries, seed) = (self.count("n_queries"), self.whole("seed").unwrap_or(0));
        let neighbors = self.text("neighbors").map(Search::named).transpose()?.unwrap_or_default();
        let level = self.number("level").unwrap_or(0.05);
        Ok(match card.name {
            "relief" => {
                let power = if self.text("power") == Some("2") { 2 } else { 1 };
                Selector::Relief(Relief { n_neighbors, power, metric, neighbors, n_queries, seed })
            }
            "relieff" => Selector::ReliefF(ReliefF { n_neighbors, metric, neighbors, n_queries, seed }),
            "rrelieff" => {
                let sigma = self.number("sigma").unwrap_or(20.0);
                Selector::RReliefF(RReliefF { n_neighbors, sigma, metric, neighbors, n_queries, seed })
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
