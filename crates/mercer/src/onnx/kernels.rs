//! Kernel values against landmarks as ONNX operators.
//!
//!   γ‖x−y‖² = ‖u‖² + ‖v‖² − 2⟨u,v⟩,   u = √γ(x−μ), v = √γ(y−μ), μ the landmarks' mean
//!
//! cost    as `kernel/products.rs`: 2p flops a value and n·l numbers; L1, χ² and `match` go row by row, with l·p numbers at a
//!         time; a sum has every different factor once, of its columns
//! differs distances that cancel, as `kernel/products.rs` has it, are computed again from the differences u−v, in pieces of 4096
//!         pairs: the memory is bounded, and without such pairs the loop does not run

use super::graph::{Graph, Value};
use crate::basis::Landmarks;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::kernel::composite::Parts;
use crate::kernel::kernel::Statistic;
use crate::kernel::{Kernel, Shape};
use crate::real::{Precision, Real};
use crate::size::{bytes, matrix_bytes};

/// Pairs whose distances are computed from differences at a time.
const PAIRS: u16 = 4096;

/// Beyond this Matérn values are 0, and short of it their factor does not overflow; as in `kernel/kernel.rs`.
const FAR: f64 = 1e6;

/// Below this share of its terms a squared distance is computed again.
fn cancelled(precision: Precision) -> f64 {
    match precision {
        Precision::Double => f64::CANCELLED,
        Precision::Single => f32::CANCELLED.double(),
    }
}

/// The most bytes of landmarks: a graph of ONNX holds less than 2 GiB.
const LANDMARK_BYTES: u64 = 1 << 31;

/// An error, naming the kernel, unless a graph can compute it and has room for the landmarks; `unit`: of rows that were divided by their length.
pub(super) fn check(kernel: Kernel, landmarks: &Landmarks, unit: bool) -> Result<()> {
    if let Landmarks::Rows(rows) = landmarks
        && matrix_bytes(rows.n(), rows.p()) >= LANDMARK_BYTES
    {
        return Err(Error::Memory(format!(
            "an ONNX graph holds {} landmarks of {} columns densely, in {}, but it has room for less than {}\n\
             hint: fit fewer landmarks or columns, or use the model file",
            rows.n(),
            rows.p(),
            bytes(matrix_bytes(rows.n(), rows.p())),
            bytes(LANDMARK_BYTES)
        )));
    }
    let name = kernel.shape.name();
    let functions = kernel.shape.functions();
    if !functions.is_empty() {
        let [a, is] = if functions.len() == 1 { ["a function", "is"] } else { ["functions", "are"] };
        return Err(Error::argument(format!(
            "the kernel `{name}` has a part that is not written as an ONNX graph: `{}` {is} {a} of your own\n\
             hint: fit with named kernels, or with sums and products of them",
            functions.join("`, `")
        )));
    }
    if unit && kernel.shape.compares_equal() {
        return Err(Error::argument(format!(
            "the kernel `{name}` of rows that are divided by their length is not written as an ONNX graph: `match` looks for \
             numbers that are equal bit by bit, and lengths differ in their last bits\n\
             hint: fit without scaling of rows (`scale=\"unit\"`, `Normalizer`)"
        )));
    }
    Ok(())
}

/// Kernel values of scaled rows x against landmarks, n×l.
pub(super) fn kernel_values(graph: &mut Graph, kernel: Kernel, landmarks: &Landmarks, x: &str) -> Value {
    match landmarks {
        Landmarks::Rows(rows) => values(graph, kernel, rows, x),
        Landmarks::Columns { indices, .. } => {
            let columns = graph.places("landmarks", indices);
            graph.gather(x, &columns, 1)
        }
    }
}

fn values(graph: &mut Graph, kernel: Kernel, rows: &Rows, x: &str) -> Value {
    let statistics = match kernel.shape.statistic() {
        Statistic::Product => products(graph, rows, &rows.to_dense(), x),
        Statistic::Cosine => {
            let x = unit_rows(graph, x);
            products(graph, rows, &unit_values(rows), &x)
        }
        Statistic::SquaredDistance => squared_distances(graph, kernel.gamma, rows, x),
        Statistic::Manhattan | Statistic::ChiSquared | Statistic::Additive | Statistic::Equal => {
            row_by_row(graph, kernel, rows, x)
        }
        Statistic::Value => match kernel.shape {
            Shape::Composite(composite) => return sum(graph, &Parts::new(composite, kernel.gamma), rows, x),
            _ => unreachable!("refused by `check`"),
        },
        Statistic::Given => unreachable!("its landmarks are columns"),
    };
    finish(graph, kernel, statistics)
}

/// Σ_t w_t Π_f k_f, every different factor computed once, of its own columns.
fn sum(graph: &mut Graph, parts: &Parts, rows: &Rows, x: &str) -> Value {
    let mut factors = Vec::new();
    for (part, &kernel) in parts.kernels.iter().enumerate() {
        let own = match parts.places(part) {
            Some(places) => {
                let places = graph.places("columns", places);
                graph.gather(x, &places, 1)
            }
            None => x.to_string(),
        };
        factors.push(values(graph, kernel, &parts.columns(part, rows), &own));
    }
    let mut total: Option<Value> = None;
    let mut constant = 0.0;
    for (weight, places) in &parts.terms {
        let Some((&first, others)) = places.split_first() else {
            constant += weight;
            continue;
        };
        let mut term = factors[first].clone();
        for &other in others {
            term = graph.node("Mul", &[&term, &factors[other]]);
        }
        if *weight != 1.0 {
            let weight = graph.number(*weight);
            term = graph.node("Mul", &[&term, &weight]);
        }
        total = Some(match total {
            Some(before) => graph.node("Add", &[&before, &term]),
            None => term,
        });
    }
    // A sum of numbers alone has the shape that products with zeros have.
    let total = total.unwrap_or_else(|| products(graph, rows, &vec![0.0; rows.n() * rows.p()], x));
    if constant == 0.0 {
        return total;
    }
    let constant = graph.number(constant);
    graph.node("Add", &[&total, &constant])
}

/// x − c for every row. In float32 the part of c that its digits cannot hold is subtracted after the rest.
pub(super) fn minus(graph: &mut Graph, x: &str, c: &[f64]) -> Value {
    let mut x = x.to_string();
    let held = |v: &f64| match graph.precision {
        Precision::Double => *v,
        Precision::Single => f64::from(*v as f32),
    };
    let high: Vec<f64> = c.iter().map(held).collect();
    let low: Vec<f64> = c.iter().zip(&high).map(|(c, high)| c - high).collect();
    for part in [high, low].iter().filter(|part| part.iter().any(|v| *v != 0.0)) {
        let part = graph.numbers("center", &[1, c.len()], part);
        x = graph.node("Sub", &[&x, &part]);
    }
    x
}

/// Rows divided by their length; rows of zeros stay zeros.
pub(super) fn unit_rows(graph: &mut Graph, x: &str) -> Value {
    // Divided by the largest before they are squared, so that nothing overflows.
    let magnitudes = graph.node("Abs", &[x]);
    let largest = graph.row_maxima(&magnitudes);
    let smallest = match graph.precision {
        Precision::Double => f64::MIN_POSITIVE,
        Precision::Single => f64::from(f32::MIN_POSITIVE),
    };
    let smallest = graph.number(smallest);
    let largest = graph.node("Max", &[&largest, &smallest]);
    let x = graph.node("Div", &[x, &largest]);
    let squares = graph.node("Mul", &[&x, &x]);
    let sums = graph.row_sums(&squares, true);
    // At least 1, except for a row of zeros.
    let length = graph.node("Sqrt", &[&sums]);
    let one = graph.number(1.0);
    let length = graph.node("Max", &[&length, &one]);
    graph.node("Div", &[&x, &length])
}

/// Landmarks of length 1.
fn unit_values(rows: &Rows) -> Vec<f64> {
    let values = rows.to_dense();
    values.chunks_exact(rows.p().max(1)).flat_map(crate::kernel::pairs::unit_row).collect()
}

/// ⟨x,y⟩ for points y, l×p.
fn products(graph: &mut Graph, rows: &Rows, points: &[f64], x: &str) -> Value {
    let points = graph.numbers("landmarks", &[rows.n(), rows.p()], points);
    graph.product(x, &points, None, 1.0)
}

fn squared_distances(graph: &mut Graph, gamma: f64, rows: &Rows, x: &str) -> Value {
    let (l, p, root) = (rows.n(), rows.p(), gamma.sqrt());
    let landmarks = rows.to_dense();
    let mut mean = vec![0.0; p];
    for row in landmarks.chunks_exact(p) {
        mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / l as f64);
    }
    let shifted = landmarks.iter().enumerate().map(|(at, v)| root * (v - mean[at % p]));
    // Norms are those of the points as the graph holds them.
    let v: Vec<f64> = match graph.precision {
        Precision::Double => shifted.collect(),
        Precision::Single => shifted.map(|v| f64::from(v as f32)).collect(),
    };
    let norms: Vec<f64> = v.chunks_exact(p).map(|row| row.iter().map(|v| v * v).sum()).collect();
    let points = graph.numbers("landmarks", &[l, p], &v);
    let norms = graph.numbers("norms", &[1, l], &norms);

    let u = minus(graph, x, &mean);
    let root = graph.number(root);
    let u = graph.node("Mul", &[&u, &root]);
    let squares = graph.node("Mul", &[&u, &u]);
    let own_norms = graph.row_sums(&squares, true);
    let terms = graph.node("Add", &[&own_norms, &norms]);
    let products = graph.product(&u, &points, None, -2.0);
    let distances = graph.node("Add", &[&products, &terms]);
    look_again(graph, &u, &points, &terms, &distances)
}

/// Distances, those that have cancelled computed again from the differences of u and the points.
fn look_again(graph: &mut Graph, u: &str, points: &str, terms: &str, distances: &str) -> Value {
    let share = graph.number(cancelled(graph.precision));
    let limit = graph.node("Mul", &[terms, &share]);
    // Not `Less`: a distance that is not a number is looked at again, too.
    let right = graph.node("GreaterOrEqual", &[distances, &limit]);
    let wrong = graph.node("Not", &[&right]);
    let pairs = graph.node("NonZero", &[&wrong]); // 2×m
    let (zero, one) = (graph.integers("zero", &[], &[0]), graph.integers("one", &[], &[1]));
    let [i, j] = [&zero, &one].map(|side| graph.gather(&pairs, side, 0));
    let count = graph.node("Size", &[&i]);
    let last = graph.node("Sub", &[&count, &one]);
    let size = graph.integers("pairs", &[], &[i64::from(PAIRS)]);
    let most = graph.node("Add", &[&last, &size]);
    let pieces = graph.node("Div", &[&most, &size]);
    let places = graph.places("places", &(0..usize::from(PAIRS)).collect::<Vec<_>>());
    let again = graph.each(&pieces, PAIRS.into(), |graph, piece| {
        let first = graph.node("Mul", &[piece, &size]);
        let all = graph.node("Add", &[&first, &places]);
        // The last piece ends with its last pair several times.
        let here = graph.node("Min", &[&all, &last]);
        let [u, v] = [(u, &i), (points, &j)].map(|(side, indices)| {
            let rows = graph.gather(indices, &here, 0);
            graph.gather(side, &rows, 0)
        });
        let differences = graph.node("Sub", &[&u, &v]);
        let squares = graph.node("Mul", &[&differences, &differences]);
        graph.row_sums(&squares, false)
    });
    let (flat, column) = (graph.integers("flat", &[1], &[-1]), graph.integers("start", &[1], &[0]));
    let again = graph.node("Reshape", &[&again, &flat]);
    let count = graph.node("Reshape", &[&count, &flat]);
    let again = graph.node("Slice", &[&again, &column, &count]);
    let places = graph.node("Transpose", &[&pairs]);
    graph.node("ScatterND", &[distances, &places, &again])
}

/// Σ_j term(x_j, y_j) times γ or what stands for it, one row x after the other, against all landmarks.
fn row_by_row(graph: &mut Graph, kernel: Kernel, rows: &Rows, x: &str) -> Value {
    let landmarks = graph.numbers("landmarks", &[rows.n(), rows.p()], &rows.to_dense());
    let zero = graph.integers("zero", &[], &[0]);
    let shape = graph.node("Shape", &[x]);
    let n = graph.gather(&shape, &zero, 0);
    let statistic = kernel.shape.statistic();
    let sums = graph.each(&n, rows.n(), |graph, at| {
        let row = graph.gather(x, at, 0);
        let terms = terms(graph, statistic, &landmarks, &row);
        graph.row_sums(&terms, false)
    });
    let factor = match statistic {
        Statistic::Additive => return sums,
        Statistic::Equal => 1.0 / rows.p() as f64,
        _ => kernel.gamma,
    };
    let factor = graph.number(factor);
    graph.node("Mul", &[&sums, &factor])
}

/// What every column of a row adds to its statistic with every landmark, as in `kernel/pairs.rs`.
fn terms(graph: &mut Graph, statistic: Statistic, landmarks: &str, row: &str) -> Value {
    match statistic {
        Statistic::Equal => {
            let equal = graph.node("Equal", &[landmarks, row]);
            return graph.cast(&equal, graph.precision.into());
        }
        Statistic::Manhattan => {
            let differences = graph.node("Sub", &[landmarks, row]);
            return graph.node("Abs", &[&differences]);
        }
        _ => {}
    }
    // (x−y)·((x−y)/(x+y)), or 2x·(y/(x+y)); and 0 where both are 0.
    let sums = graph.node("Add", &[landmarks, row]);
    let zero = graph.number(0.0);
    let there = graph.node("Greater", &[&sums, &zero]);
    let (left, right) = if statistic == Statistic::ChiSquared {
        let differences = graph.node("Sub", &[landmarks, row]);
        (differences.clone(), differences)
    } else {
        (graph.node("Add", &[row, row]), landmarks.to_string())
    };
    let shares = graph.node("Div", &[&right, &sums]);
    let terms = graph.node("Mul", &[&left, &shares]);
    graph.node("Where", &[&there, &terms, &zero])
}

/// Statistics (distances already multiplied by γ) to kernel values, as `Kernel::finish`.
fn finish(graph: &mut Graph, kernel: Kernel, statistics: Value) -> Value {
    let affine = |graph: &mut Graph, s: &str, factor: f64, plus: f64| {
        let (factor, plus) = (graph.number(factor), graph.number(plus));
        let product = graph.node("Mul", &[s, &factor]);
        graph.node("Add", &[&product, &plus])
    };
    match kernel.shape {
        Shape::Linear
        | Shape::Cosine
        | Shape::AdditiveChi2
        | Shape::Match
        | Shape::Composite(_)
        | Shape::Own(_)
        | Shape::Precomputed => statistics,
        Shape::Poly { degree, coef0 } => {
            let base = affine(graph, &statistics, kernel.gamma, coef0);
            let degree = graph.number(f64::from(degree));
            graph.node("Pow", &[&base, &degree])
        }
        Shape::Sigmoid { coef0 } => {
            let sum = affine(graph, &statistics, kernel.gamma, coef0);
            graph.node("Tanh", &[&sum])
        }
        Shape::Rbf | Shape::Laplacian | Shape::Chi2 => exp_minus(graph, &statistics),
        Shape::Matern12 => matern(graph, &statistics, 1),
        Shape::Matern32 => matern(graph, &statistics, 3),
        Shape::Matern52 => matern(graph, &statistics, 5),
        Shape::Rq { alpha } => {
            let base = affine(graph, &statistics, 1.0 / alpha, 1.0);
            let power = graph.number(-alpha);
            graph.node("Pow", &[&base, &power])
        }
    }
}

fn exp_minus(graph: &mut Graph, value: &str) -> Value {
    let negative = graph.node("Neg", &[value]);
    graph.node("Exp", &[&negative])
}

/// Matérn of order twice_nu/2 as a function of s = γ‖x−y‖²: with t = √(2·twice_nu·s), 1, 1+t or 1+t+t²/3 times e^{−t}.
fn matern(graph: &mut Graph, s: &str, twice_nu: u32) -> Value {
    let far = graph.number(FAR);
    let near = graph.node("Min", &[s, &far]);
    let factor = graph.number(2.0 * f64::from(twice_nu));
    let squared = graph.node("Mul", &[&near, &factor]);
    let t = graph.node("Sqrt", &[&squared]);
    let decay = exp_minus(graph, &t);
    if twice_nu == 1 {
        return decay;
    }
    let one = graph.number(1.0);
    let mut polynomial = graph.node("Add", &[&t, &one]);
    if twice_nu == 5 {
        let three = graph.number(3.0);
        let third = graph.node("Div", &[&squared, &three]);
        polynomial = graph.node("Add", &[&polynomial, &third]);
    }
    graph.node("Mul", &[&polynomial, &decay])
}
