//! Every parameter once.

use super::{BASES, Kind, Parameter, SELECTORS};
use crate::evidence::approximate::Search;
use crate::evidence::neighbours::Metric;
use crate::extract::Start;
use crate::kernel::{Gamma, Precision, Shape};

const ANY: f64 = f64::INFINITY;

/// Every parameter.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "kernel",
        kind: Kind::Choice(&Shape::NAMES),
        default: Some("rbf"),
        none: None,
        help: "the kernel",
    },
    Parameter {
        name: "gamma",
        kind: Kind::NumberOr(&Gamma::RULES),
        default: Some("scale"),
        none: None,
        help: "its width γ, or the rule that finds it; `align` and `loo` look at the labels",
    },
    Parameter {
        name: "degree",
        kind: Kind::Whole { least: 1 },
        default: Some("3"),
        none: None,
        help: "degree of the kernel `poly`",
    },
    Parameter {
        name: "coef0",
        kind: Kind::Number { from: -ANY, to: ANY, open: true, below: true },
        default: Some("1"),
        none: None,
        help: "constant of the kernels `poly` (at least 0) and `sigmoid`",
    },
    Parameter {
        name: "alpha",
        kind: Kind::Number { from: 0.0, to: ANY, open: true, below: true },
        default: Some("1"),
        none: None,
        help: "exponent of the kernel `rq`",
    },
    Parameter {
        name: "n_components",
        kind: Kind::Whole { least: 1 },
        default: None,
        none: Some(
            "kobl, sparse, csi: as many as the rule keeps, at most 1000 beyond 5000 rows; nystrom, rpcholesky: \
             min(n, 1000); gram-schmidt, kpca: all there are; klfe, kanmm: all with a positive eigenvalue; gda: one \
             less than there are classes; skfe: one a class; kmfa: 10; kpls: 2",
        ),
        help: "a basis, a system's basis: the most components; an extractor: the number of features",
    },
    Parameter {
        name: "basis_components",
        kind: Kind::Whole { least: 1 },
        default: None,
        none: Some("what the basis has without n_components"),
        help: "an extractor's basis: the most components",
    },
    Parameter {
        name: "threshold",
        kind: Kind::Threshold,
        default: Some("linear"),
        none: None,
        help: "f in kobl's stop rule r/r1 < f(j/n): `linear`, a constant in [0, 1] (0: only n_components stops it), \
               or `power:A` for t^A",
    },
    Parameter {
        name: "tol",
        kind: Kind::Number { from: 0.0, to: 1.0, open: false, below: false },
        default: None,
        none: Some(
            "gram-schmidt: 1e-6; kpca: every eigenvalue above 1e-10 of the largest; csi: 1e-4; skfe: 1e-6",
        ),
        help: "gram-schmidt: residual norm, relative to sqrt k(x,x), at which a row is skipped; kpca: share of the trace \
               to keep; csi: relative residual at which it stops; skfe: gradient, relative to the first, at which it \
               stops",
    },
    Parameter {
        name: "nu",
        kind: Kind::Number { from: 0.0, to: 1.0, open: false, below: true },
        default: Some("0.1"),
        none: None,
        help: "sparse: share of k(x,x) that must be new for a row to be kept",
    },
    Parameter {
        name: "precision",
        kind: Kind::Choice(&Precision::NAMES),
        default: None,
        none: Some("that of the rows: single for float32, else double"),
        help: "kobl, sparse, nystrom, rpcholesky: what the coordinates of all rows, and sums over them, are computed in; \
               single takes half the memory and less time",
    },
    Parameter {
        name: "center",
        kind: Kind::Flag,
        default: Some("false"),
        none: None,
        help: "kpca: centre in the kernel's space (classical kernel PCA); skfe: alignment of centred kernels",
    },
    Parameter {
        name: "basis",
        kind: Kind::Choice(&BASES),
        default: None,
        none: Some(
            "takes, skfe: kobl; sk-relief: sparse; klfe: kpca, others: gram-schmidt, these two kobl beyond 5000 rows",
        ),
        help: "the basis in whose coordinates features are chosen or made",
    },
    Parameter {
        name: "selector",
        kind: Kind::Choice(&SELECTORS),
        default: Some("f"),
        none: None,
        help: "eks: what scores the coordinates",
    },
    Parameter {
        name: "n_features",
        kind: Kind::Keep,
        default: None,
        none: Some("all; takes: positive; k-relief, sk-relief: 10; eks: two thirds"),
        help: "how many of the best to keep: a number, a share with a decimal point (0.5), `positive` for those with a \
               score above 0, or `all`",
    },
    Parameter {
        name: "n_neighbors",
        kind: Kind::Whole { least: 1 },
        default: None,
        none: Some(
            "relief, k-relief, sk-relief, klfe: 1; relieff: 10; rrelieff: 70; mi: 3; laplacian, kanmm: 5",
        ),
        help: "neighbours that a row is compared with",
    },
    Parameter {
        name: "k_within",
        kind: Kind::Whole { least: 1 },
        default: Some("5"),
        none: None,
        help: "kmfa: nearest rows of its own class that a row is kept together with",
    },
    Parameter {
        name: "k_between",
        kind: Kind::Whole { least: 1 },
        default: Some("20"),
        none: None,
        help: "kmfa: nearest pairs of a class and the rest that are kept apart",
    },
    Parameter {
        name: "reg",
        kind: Kind::Number { from: 0.0, to: ANY, open: false, below: true },
        default: Some("1e-3"),
        none: None,
        help: "gda, akda-qr, kmfa: share of the mean scatter that is added to the diagonal",
    },
    Parameter {
        name: "init",
        kind: Kind::Choice(&Start::NAMES),
        default: Some("koc"),
        none: None,
        help: "skfe: where the search starts",
    },
    Parameter {
        name: "max_iter",
        kind: Kind::Whole { least: 1 },
        default: Some("200"),
        none: None,
        help: "skfe: the most steps",
    },
    Parameter {
        name: "power",
        kind: Kind::Choice(&["1", "2"]),
        default: Some("1"),
        none: None,
        help: "relief: differences (1) or their squares (2)",
    },
    Parameter {
        name: "metric",
        kind: Kind::Choice(&Metric::NAMES),
        default: None,
        none: Some(
            "in a kernel's space its own distance; else relief: euclidean, relieff, rrelieff, multisurf: manhattan",
        ),
        help: "distance between rows of a plain matrix; relieff, rrelieff and multisurf divide columns by their range first",
    },
    Parameter {
        name: "neighbors",
        kind: Kind::Choice(&Search::NAMES),
        default: Some("exact"),
        none: None,
        help: "how neighbours are found: all that are nearest, or most of them, by an index; what share is then said",
    },
    Parameter {
        name: "n_queries",
        kind: Kind::Whole { least: 1 },
        default: None,
        none: Some("all rows"),
        help: "rows, drawn at random, that are compared with their neighbours",
    },
    Parameter {
        name: "sigma",
        kind: Kind::Number { from: 0.0, to: ANY, open: true, below: true },
        default: Some("20"),
        none: None,
        help: "rrelieff: a neighbour of rank r weighs exp(-(r/sigma)^2)",
    },
    Parameter {
        name: "width",
        kind: Kind::Number { from: 0.0, to: ANY, open: true, below: true },
        default: None,
        none: Some("the median distance"),
        help: "irelief: a row at distance d weighs exp(-d/width)",
    },
    Parameter {
        name: "weighted",
        kind: Kind::Flag,
        default: None,
        none: Some("takes: true; k-relief, sk-relief: false"),
        help: "whether features are multiplied by their weights",
    },
    Parameter {
        name: "reweight",
        kind: Kind::Flag,
        default: Some("false"),
        none: None,
        help: "takes, kffs: rows that the ensemble gets right lose weight",
    },
    Parameter {
        name: "level",
        kind: Kind::Number { from: 0.0, to: 1.0, open: true, below: true },
        default: Some("0.05"),
        none: None,
        help: "fpr, fdr, fwe: how much error is allowed",
    },
    Parameter {
        name: "cv",
        kind: Kind::Whole { least: 2 },
        default: Some("5"),
        none: None,
        help: "lasso: folds that choose the penalty",
    },
    Parameter {
        name: "randomized",
        kind: Kind::Flag,
        default: Some("false"),
        none: None,
        help: "lasso: score columns by how often random halves of the rows choose them (stability selection)",
    },
    Parameter {
        name: "n_resamples",
        kind: Kind::Whole { least: 1 },
        default: Some("100"),
        none: None,
        help: "lasso: number of random halves",
    },
    Parameter {
        name: "stability",
        kind: Kind::Number { from: 0.0, to: 1.0, open: true, below: false },
        default: Some("0.6"),
        none: None,
        help: "lasso: share of the random halves that must choose a column for it to be kept",
    },
    Parameter {
        name: "seed",
        kind: Kind::Whole { least: 0 },
        default: Some("0"),
        none: None,
        help: "seed of every random choice",
    },
];
