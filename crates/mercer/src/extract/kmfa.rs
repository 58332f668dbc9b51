//! KMFA: kernel marginal Fisher analysis, near rows of one class together and near rows of different classes apart.
//!
//!   S_b v = λ (S_w + reg·tr(S_w)/m·I) v,  vᵀ(S_w + …)v = 1;   S_w = Σ_i Σ_{k_within nearest hits} ΔΔᵀ,
//!   S_b = Σ_classes Σ_{k_between nearest pairs of a row in the class and one that is not} ΔΔᵀ;   features vᵀz
//!
//! cost    neighbours, then n·m² flops, m³/3 and the singular values of a matrix with a column a pair; the
//!         features of all rows are kept, n·m numbers, where they fit into memory, and else made again
//! source  Yan et al. 2007
//! differs neighbours are those of the kernel's space. Pairs at equal distances: the lower row in the class, then the lower
//!         other row; a pair may count for both of its classes. Hits count from both of their rows if each is near the other.
//!         Neighbours of rows in float32 are sought in a copy of the rows in float64, n·p numbers

use super::ratio::REG;
use super::{BASIS, BASIS_COMPONENTS, Extractor, N_COMPONENTS, at_least_one};
use super::{Coordinates, Directions, Extract, as_rows, count, fit_methods, ratio, shares};
use crate::error::{Error, Result};
use crate::evidence::neighbours::{Found, Groups, Space};
use crate::monitor::Monitor;
use crate::spec::{FromValues, MethodSpec, Parameter, Stage, Values};

/// Features that there are unless told otherwise.
const USUAL: usize = 10;

/// Kernel marginal Fisher analysis.
///
/// ```
/// use mercer::{Basis, Kernel, Labels, Rows, extract::Kmfa};
///
/// let rows = Rows::dense(vec![0.0, 1.0, 4.0, 5.0], 4, 1)?;
/// let labels = Labels::classes(&["a", "a", "b", "b"]);
/// let basis = Basis::kobl(Kernel::linear()).fit(&rows)?;
/// let kmfa = Kmfa { k_within: 1, k_between: 2, reg: 0.0, n_components: None };
/// let map = kmfa.fit(&rows, &labels, basis)?;
/// // Hits: 1 for each row. Pairs of each class: 3² and 4².
/// assert!((map.eigenvalues[0] - 50.0 / 4.0).abs() < 1e-12);
/// assert!((map.transform(&rows)?[(3, 0)] - 2.5).abs() < 1e-12); // 5/√4
/// # Ok::<(), mercer::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Kmfa {
    /// Number of features; None: at most 10.
    pub n_components: Option<usize>,
    /// Nearest hits of a row that are kept together.
    pub k_within: usize,
    /// Nearest pairs between a class and the rest that are kept apart.
    pub k_between: usize,
    /// Share of the mean scatter that is added to the diagonal.
    pub reg: f64,
}

pub(crate) const SPEC: MethodSpec = MethodSpec {
    name: "kmfa",
    stage: Stage::Extract,
    file: "extract/kmfa.rs",
    source: "Yan et al. 2007",
    cost: "n² distances, n·m² flops, m³/3",
    parameters: &[
        BASIS.none("kfa, sized by the leave-one-out error; beyond 5000 rows rpcholesky"),
        N_COMPONENTS.none("at most 10"),
        BASIS_COMPONENTS,
        Parameter::whole("k_within", 1, "nearest rows of its own class that a row is kept together with")
            .default("5"),
        Parameter::whole("k_between", 1, "nearest pairs of a class and the rest that are kept apart")
            .default("100"),
        REG.default("0.1"),
    ],
    help: "kernel marginal Fisher analysis: near rows of one class together, near rows of different classes apart",
};

impl FromValues for Kmfa {
    fn from_values(values: &Values) -> Self {
        Self {
            n_components: values.count("n_components"),
            k_within: values.count("k_within").unwrap_or(1),
            k_between: values.count("k_between").unwrap_or(1),
            reg: values.number("reg").unwrap_or_default(),
        }
    }
}

impl Default for Kmfa {
    fn default() -> Self {
        Self::from_values(&Values::defaults(&SPEC))
    }
}

impl Extract for Kmfa {
    fn spec(&self) -> &'static MethodSpec {
        &SPEC
    }

    fn check(&self) -> Result<()> {
        at_least_one(&[
            ("n_components", self.n_components),
            ("k_within", Some(self.k_within)),
            ("k_between", Some(self.k_between)),
        ])
        .and(ratio::check(self.reg))
    }

    fn keeps_coordinates(&self) -> bool {
        true
    }

    fn takes_weights(&self) -> bool {
        false
    }

    fn wanted(&self) -> usize {
        self.n_components.unwrap_or(0)
    }

    fn sized(&self, q: usize) -> Option<Extractor> {
        Some(Self { n_components: Some(q), ..self.clone() }.into())
    }

    fn find(&self, coordinates: &Coordinates) -> Result<Directions> {
        let (rows, labels, codes, c) = coordinates.held_classes("kmfa")?;
        let monitor = coordinates.monitor;
        let (hits, pairs) = {
            let rows = rows.to_f64();
            let space = Space::of_kernel(coordinates.basis.expansion.kernel, &rows)?;
            self.neighbours(&space, codes, c, monitor)?
        };
        let within = coordinates.scatter(&[(&hits, &|_| 1.0)])?;
        let m = within.ncols();
        let apart = coordinates.differences(&pairs)?;
        if (0..m).any(|i| !within[(i, i)].is_finite()) {
            return Err(Error::Numerical(
                "`kmfa`: squares of the features are too large to be added up\nhint: scale the columns first"
                    .into(),
            ));
        }
        let precision = coordinates.precision();
        let Some(found) = ratio::solve(within, self.reg, apart.as_ref(), precision, monitor)? else {
            return Err(Error::data(
                "`kmfa`: no row has a hit that differs from it, so there is nothing to keep together\n\
                 hint: classes need at least two rows; `gda` does without",
            ));
        };
        let most = found.values.len();
        if most == 0 {
            return Err(Error::data(
                "`kmfa`: the nearest rows of different classes are equal, so there is nothing to keep apart\n\
                 hint: raise k_between",
            ));
        }
        let why = format!(
            "the {} pairs of near rows of different classes span {most} dimensions of the basis",
            pairs.len()
        );
        let q = count(self.n_components, USUAL, most, &why)?;
        Ok(Directions {
            explained: shares(&found.values, q),
            eigenvalues: found.values[..q].to_vec(),
            warnings: labels.lonely_warning(),
            ..coordinates.oriented(as_rows(found.vectors.as_ref(), q), Vec::new())?
        })
    }
}

fit_methods!(Kmfa);

impl Kmfa {
    /// The nearest hits of every row, and the nearest pairs of every class.
    #[expect(clippy::type_complexity, reason = "two lists of indices")]
    fn neighbours(
        &self,
        space: &Space,
        codes: &[usize],
        c: usize,
        monitor: &Monitor,
    ) -> Result<(Vec<Vec<usize>>, Vec<(usize, usize)>)> {
        let every: Vec<usize> = (0..space.n()).collect();
        let most = self.k_within.max(self.k_between);
        let found =
            space.nearest(Groups::HitsMisses(codes), most, &every, monitor, |found: &[Found]| {
                let first = |group: &[usize], k: usize| group[..k.min(group.len())].to_vec();
                let hits: Vec<Vec<usize>> =
                    found.iter().map(|f| first(&f.groups[0], self.k_within)).collect();
                let mut pairs: Vec<Pair> = Vec::new();
                for Found { query, groups } in found {
                    let misses = first(&groups[1], self.k_between).into_iter();
                    pairs.extend(misses.map(|other| Pair {
                        class: codes[*query],
                        distance: space.distance(*query, other),
                        row: *query,
                        other,
                    }));
                }
                (hits, nearest_of_each_class(pairs, c, self.k_between))
            })?;
        let (hits, pairs): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let pairs = nearest_of_each_class(pairs.concat(), c, self.k_between);
        Ok((hits.concat(), pairs.iter().map(|pair| (pair.row, pair.other)).collect()))
    }
}

/// A row and one of another class.
#[derive(Clone)]
struct Pair {
    class: usize,
    distance: f64,
    row: usize,
    other: usize,
}

/// Up to k pairs of each class.
fn nearest_of_each_class(mut pairs: Vec<Pair>, c: usize, k: usize) -> Vec<Pair> {
    pairs.sort_by(|a, b| {
        let places = (a.row, a.other).cmp(&(b.row, b.other));
        a.class.cmp(&b.class).then(a.distance.total_cmp(&b.distance)).then(places)
    });
    let mut taken = vec![0; c];
    pairs.retain(|pair| {
        taken[pair.class] += 1;
        taken[pair.class] <= k
    });
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::Rows;
    use crate::kernel::{Kernel, Shape};

    /// Pairs by looking at all of them.
    fn plainly(
        distance: impl Fn(usize, usize) -> f64,
        codes: &[usize],
        c: usize,
        k: usize,
    ) -> Vec<(usize, usize)> {
        let n = codes.len();
        let of = |class: usize| {
            let mut pairs: Vec<(usize, usize)> = (0..n)
                .filter(|&i| codes[i] == class)
                .flat_map(|i| (0..n).filter(|&j| codes[j] != class).map(move |j| (i, j)))
                .collect();
            pairs.sort_by(|a, b| distance(a.0, a.1).total_cmp(&distance(b.0, b.1)).then(a.cmp(b)));
            pairs.truncate(k);
            pairs
        };
        (0..c).flat_map(of).collect()
    }

    #[test]
    fn pairs_are_the_nearest_of_all_and_ties_go_to_the_lower_rows() {
        // A grid: most distances are tied.
        let n = 150;
        let values: Vec<f64> = (0..n).flat_map(|i| [f64::from(i % 12), f64::from(i / 12)]).collect();
        let rows = Rows::dense(values, n as usize, 2).expect("rows");
        let codes: Vec<usize> = (0..n as usize).map(|i| (i * 7 % 5) % 3).collect();
        for kernel in [
            Kernel::rbf(0.1),
            Kernel::linear(),
            Kernel { shape: Shape::Poly { degree: 2, coef0: 1.0 }, gamma: 1.0 },
        ] {
            let space = Space::of_kernel(kernel, &rows).expect("space");
            for (k_within, k_between) in [(2, 7), (4, 1), (1, 500)] {
                let kmfa = Kmfa { k_within, k_between, ..Kmfa::default() };
                let (hits, pairs) = kmfa.neighbours(&space, &codes, 3, &Monitor::default()).expect("found");
                assert_eq!(pairs, plainly(|i, j| space.distance(i, j), &codes, 3, k_between));
                assert!(hits.len() == n as usize && hits.iter().all(|h| h.len() == k_within));
            }
        }
    }
}
