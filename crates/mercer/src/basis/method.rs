//! The ways to choose a basis.

use super::{UNCAPPED_ROWS, csi, gram_schmidt, kfa, kmeans, kobl, kpca, nystrom, rpcholesky, sparse};
use crate::error::{Error, Result};
use crate::spec::MethodSpec;

/// How the landmarks of a basis are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Rows in their order, orthogonalised twice.
    GramSchmidt,
    /// The row farthest from the span so far.
    Kobl,
    /// Rows in random order that the ones before do not nearly span.
    Sparse,
    /// Principal components.
    Kpca,
    /// Rows drawn uniformly.
    Nystrom,
    /// Rows drawn in proportion to their squared distance from the span so far.
    Rpcholesky,
    /// Of a few rows drawn so, the one that explains most of the kernel.
    Kfa,
    /// Centres of k-means clusters, which are no rows.
    Kmeans,
    /// Rows that explain the kernel and the labels.
    Csi,
}

/// How large a basis is without `n_components`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultSize {
    /// As many components as there are.
    All,
    /// As many as the method's own rule keeps; beyond [`UNCAPPED_ROWS`] a cap, with a warning.
    Rule,
    /// [`DEFAULT_COMPONENTS`](super::DEFAULT_COMPONENTS), or one a row if those are fewer.
    Fixed,
}

impl Method {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 9] = [
        Self::GramSchmidt,
        Self::Kobl,
        Self::Sparse,
        Self::Kpca,
        Self::Nystrom,
        Self::Rpcholesky,
        Self::Kfa,
        Self::Kmeans,
        Self::Csi,
    ];

    /// Their names, in the same order.
    pub(crate) const NAMES: [&'static str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut i = 0;
        while i < names.len() {
            names[i] = Self::ALL[i].name();
            i += 1;
        }
        names
    };

    /// Whether GPUs choose its landmarks.
    pub(super) fn is_on_gpus(self) -> bool {
        matches!(self, Self::Kobl | Self::Sparse | Self::Nystrom | Self::Rpcholesky | Self::Kfa)
    }

    /// Whether rows may count differently: in the draws of `rpcholesky`, `nystrom` and `kfa`. Which rows the others choose does
    /// not depend on how often each is there.
    pub(crate) fn takes_weights(self) -> bool {
        !matches!(self, Self::Kmeans | Self::Csi)
    }

    /// What a user should know about it.
    pub const fn spec(self) -> &'static MethodSpec {
        match self {
            Self::GramSchmidt => &gram_schmidt::SPEC,
            Self::Kobl => &kobl::SPEC,
            Self::Sparse => &sparse::SPEC,
            Self::Kpca => &kpca::SPEC,
            Self::Nystrom => &nystrom::SPEC,
            Self::Rpcholesky => &rpcholesky::SPEC,
            Self::Kfa => &kfa::SPEC,
            Self::Kmeans => &kmeans::SPEC,
            Self::Csi => &csi::SPEC,
        }
    }

    /// The method's name.
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// The method with this name.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| {
            Error::argument(format!(
                "method = `{name}` is not a basis; use one of {}",
                Self::NAMES.join(", ")
            ))
        })
    }

    /// How large it is without `n_components`.
    pub(crate) fn default_size(self) -> DefaultSize {
        match self {
            Self::GramSchmidt | Self::Kpca => DefaultSize::All,
            Self::Kobl | Self::Sparse | Self::Csi => DefaultSize::Rule,
            Self::Nystrom | Self::Rpcholesky | Self::Kfa | Self::Kmeans => DefaultSize::Fixed,
        }
    }

    /// Whether its pivots come from passes over all rows, for which a factor need not be kept.
    pub(crate) fn is_pivoted(self) -> bool {
        matches!(self, Self::Kobl | Self::Sparse | Self::Nystrom | Self::Rpcholesky | Self::Kfa)
    }

    /// Whether a checkpoint keeps every pass. It then recomputes the factor in every pass, of which `kfa` has too many.
    pub(crate) fn is_resumed(self) -> bool {
        self.is_pivoted() && self != Self::Kfa
    }

    /// Whether the first components are the smaller basis.
    pub(crate) fn is_nested(self) -> bool {
        // Landmarks are found anew for every size.
        !matches!(self, Self::Nystrom | Self::Kmeans)
    }

    /// The basis of a given size, or of one that the labels ask for, of n rows: `kfa` leaves least of the kernel in few
    /// components, and with many rows `rpcholesky` takes a third of its time.
    ///
    /// ```
    /// use mercer::basis::Method;
    ///
    /// assert_eq!(Method::of_rows(1_000), Method::Kfa);
    /// assert_eq!(Method::of_rows(100_000), Method::Rpcholesky);
    /// ```
    pub fn of_rows(n: usize) -> Self {
        if n <= UNCAPPED_ROWS { Self::Kfa } else { Self::Rpcholesky }
    }

    /// This basis, which may span all rows, up to [`UNCAPPED_ROWS`] of them; beyond the usual one, with a warning.
    pub(crate) fn up_to_many_rows(self, n: usize, user: &str, warnings: &mut Vec<String>) -> Self {
        if n <= UNCAPPED_ROWS {
            return self;
        }
        let usual = Self::of_rows(n);
        warnings.push(format!(
            "{n} rows are more than {UNCAPPED_ROWS}: `{user}` uses the basis `{}` in place of `{}`; set basis to choose",
            usual.name(),
            self.name()
        ));
        usual
    }
}
