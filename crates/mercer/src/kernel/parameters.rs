//! The parameters of a kernel, which every basis has.

use super::gamma::Gamma;
use super::kernel::Shape;
use crate::error::Result;
use crate::spec::{Kind, Parameter, Values};

const KERNEL: [Parameter; 6] = [
    Parameter::new(
        "kernel",
        Kind::ChoiceOr {
            words: &Shape::NAMES,
            other: "a sum of products such as 0.5*rbf(gamma=0.1)+poly(columns=0:5)",
            check: |text| text.parse::<Shape>().map(|_| ()),
        },
        "the kernel",
    )
    .default("rbf"),
    Parameter::new(
        "gamma",
        Kind::NumberOr(&Gamma::RULES),
        "its width γ, or the rule that finds it; `align` and `loo` look at the labels",
    )
    .none("`loo` where there are labels, else `median` where columns outnumber rows, else `scale`"),
    Parameter::whole("degree", 1, "degree of the kernel `poly`").default("3"),
    Parameter::new(
        "coef0",
        Kind::Number { from: f64::NEG_INFINITY, to: f64::INFINITY, open: true, below: true },
        "constant of the kernels `poly` (at least 0) and `sigmoid`",
    )
    .default("1"),
    Parameter::positive("alpha", "exponent of the kernel `rq`").default("1"),
    Parameter::new(
        "input_weights",
        Kind::Flag,
        "learn a weight for every input column from the labels, so that the kernel sees what matters",
    )
    .default("false"),
];

/// The kernel's parameters followed by a method's own.
pub(crate) const fn with_kernel<const N: usize, const M: usize>(own: [Parameter; N]) -> [Parameter; M] {
    let mut all = [KERNEL[0]; M];
    let mut i = 1;
    while i < M {
        all[i] = if i < KERNEL.len() { KERNEL[i] } else { own[i - KERNEL.len()] };
        i += 1;
    }
    all
}

impl Shape {
    /// The kernel's formula from settings that were checked.
    pub(crate) fn from_values(values: &Values) -> Result<Self> {
        let number = |name: &str| values.number(name).unwrap_or(1.0);
        let degree = u32::try_from(values.count("degree").unwrap_or(1)).unwrap_or(u32::MAX);
        Self::named(values.text("kernel").unwrap_or("rbf"), degree, number("coef0"), number("alpha"))
    }
}
