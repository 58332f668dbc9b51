//! Generators of synthetic data, by a short text such as `ringnorm?n=2000&seed=1`.
//!
//! cost    n·p random numbers
//! source  ringnorm, twonorm, waveform: Breiman 1984, 1996; friedman: Friedman 1991 (#1); twin-sine and swiss-roll:
//!         the simulated data of KLFE, sec. 5.2
//! differs the paper does not give the distance of the sines (here D = 1), the entries of the random matrix R (here N(0,1)) and
//!         its number of rows (here p = 10); swiss-roll stays in three dimensions unless `p` is set. Classes are drawn at
//!         random, so their sizes vary a little. The same seed gives the same bits: rows are drawn in order from one stream.

use std::f64::consts::{PI, TAU};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::labels::Column;
use super::rows::Rows;
use super::table::{Table, plain_names};
use crate::allocator::fallible;
use crate::error::{Error, Result};

/// A kind of data that [`generate`] can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generator {
    /// Its name.
    pub name: &'static str,
    /// A description, in one line.
    pub about: &'static str,
    /// Its parameters, besides [`COMMON`].
    pub parameters: &'static [Parameter],
}

/// A number that a generator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its default.
    pub default: &'static str,
    /// A description, in one line.
    pub about: &'static str,
}

/// The parameters that every generator takes.
pub const COMMON: &[Parameter] =
    &[parameter("n", "1000", "number of rows"), parameter("seed", "0", "same seed, same numbers")];

/// Every generator.
pub const GENERATORS: &[Generator] = &[
    Generator {
        name: "ringnorm",
        about: "2 classes in 20 columns: a wide normal around a narrow one (Breiman)",
        parameters: &[],
    },
    Generator {
        name: "twonorm",
        about: "2 classes in 20 columns: two normals side by side (Breiman)",
        parameters: &[],
    },
    Generator {
        name: "waveform",
        about: "3 classes in 21 columns: mixtures of two of three waves, with noise (Breiman)",
        parameters: &[],
    },
    Generator {
        name: "twin-sine",
        about: "2 classes, -1 and 1: two sine surfaces at distance 1, seen through a random matrix (KLFE)",
        parameters: &[
            parameter("snr", "0", "20·log10(distance / noise), in dB"),
            parameter("p", "10", "columns: rows of the random matrix; 0 = the 3 coordinates themselves"),
        ],
    },
    Generator {
        name: "swiss-roll",
        about: "a rolled-up sheet whose target is the angle t in [0, 4π] (KLFE)",
        parameters: &[
            parameter("classes", "0", "cut t into that many equal pieces; 0 = t itself is the target"),
            parameter("noise", "0", "standard deviation of the noise on each coordinate"),
            parameter("p", "0", "columns: rows of a random matrix; 0 = the 3 coordinates themselves"),
        ],
    },
    Generator {
        name: "moons",
        about: "2 classes in 2 columns: two half circles that reach into each other",
        parameters: &[parameter("noise", "0.1", "standard deviation of the noise on each coordinate")],
    },
    Generator {
        name: "blobs",
        about: "normals around centres drawn from [-10, 10]",
        parameters: &[
            parameter("classes", "3", "number of normals"),
            parameter("p", "2", "number of columns"),
            parameter("noise", "1", "standard deviation of each normal"),
        ],
    },
    Generator {
        name: "friedman",
        about: "a number that depends on 5 of p columns: 10·sin(πx1x2) + 20(x3 − ½)² + 10x4 + 5x5 + noise",
        parameters: &[
            parameter("p", "10", "number of columns, at least 5"),
            parameter("noise", "1", "standard deviation of the noise on the target"),
        ],
    },
];

const fn parameter(name: &'static str, default: &'static str, about: &'static str) -> Parameter {
    Parameter { name, default, about }
}

/// Generates the table that a text such as `ringnorm?n=2000&seed=1` describes: a name of [`GENERATORS`], and parameters that
/// differ from their defaults.
///
/// ```
/// use mercer::data::synth;
///
/// let table = synth::generate("twonorm?n=50&seed=7")?;
/// assert_eq!((table.rows.n(), table.rows.p()), (50, 20));
/// assert_eq!(table, synth::generate("twonorm?seed=7&n=50")?);
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn generate(spec: &str) -> Result<Table> {
    let spec = Spec::parse(spec)?;
    let n = spec.whole("n", 1)?;
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(spec.whole("seed", 0)? as u64));
    match spec.generator.name {
        "ringnorm" => classes(n, 20, 2, &mut draw, |class, row, draw| {
            let (mean, deviation) = if class == 0 { (0.0, 2.0) } else { (2.0 / 20f64.sqrt(), 1.0) };
            row.fill_with(|| mean + deviation * draw.normal());
        }),
        "twonorm" => classes(n, 20, 2, &mut draw, |class, row, draw| {
            let mean = if class == 0 { 2.0 } else { -2.0 } / 20f64.sqrt();
            row.fill_with(|| mean + draw.normal());
        }),
        "waveform" => classes(n, 21, 3, &mut draw, waveform),
        "twin-sine" => twin_sine(n, spec.number("snr", f64::NEG_INFINITY)?, spec.whole("p", 0)?, &mut draw),
        "swiss-roll" => swiss_roll(&spec, n, &mut draw),
        "moons" => {
            let noise = spec.number("noise", 0.0)?;
            classes(n, 2, 2, &mut draw, |class, row, draw| {
                let (sin, cos) = (PI * draw.uniform()).sin_cos();
                let point = if class == 0 { [cos, sin] } else { [1.0 - cos, 0.5 - sin] };
                row.copy_from_slice(&point.map(|v| v + noise * draw.normal()));
            })
        }
        "blobs" => {
            let (c, p, noise) = (spec.whole("classes", 1)?, spec.whole("p", 1)?, spec.number("noise", 0.0)?);
            let mut centres = storage(c, p)?;
            centres.extend((0..c * p).map(|_| 20.0 * draw.uniform() - 10.0));
            classes(n, p, c, &mut draw, |class, row, draw| {
                for (v, centre) in row.iter_mut().zip(&centres[class * p..]) {
                    *v = centre + noise * draw.normal();
                }
            })
        }
        _ => friedman(n, spec.whole("p", 5)?, spec.number("noise", 0.0)?, &mut draw),
    }
}

/// Class k of 0, 1, 2 mixes two of three triangles, which peak at columns 11, 15 and 7.
fn waveform(class: usize, row: &mut [f64], draw: &mut Draw) {
    let wave = |i: f64, peak: f64| (6.0 - (i - peak).abs()).max(0.0);
    let (a, b) = [(11.0, 15.0), (11.0, 7.0), (15.0, 7.0)][class];
    let u = draw.uniform();
    for (i, v) in row.iter_mut().enumerate() {
        let i = (i + 1) as f64;
        *v = u * wave(i, a) + (1.0 - u) * wave(i, b) + draw.normal();
    }
}

fn twin_sine(n: usize, snr: f64, p: usize, draw: &mut Draw) -> Result<Table> {
    let view = View::draw(p, draw)?;
    let noise = 10f64.powf(-snr / 20.0);
    let mut target = Vec::new();
    let values = fill(n, view.p, |row| {
        let y = draw.class(2);
        let x = TAU * draw.uniform();
        view.show([x, x.sin() + y as f64 + noise * draw.normal(), draw.uniform()], row);
        target.push(if y == 0 { -1 } else { 1 });
    })?;
    table(values, n, view.p, Column::Integers(target))
}

fn swiss_roll(spec: &Spec, n: usize, draw: &mut Draw) -> Result<Table> {
    let (c, noise) = (spec.whole("classes", 0)?, spec.number("noise", 0.0)?);
    let view = View::draw(spec.whole("p", 0)?, draw)?;
    let mut turns = Vec::new();
    let values = fill(n, view.p, |row| {
        let u = draw.uniform();
        let t = 2.0 * TAU * u;
        let point = [t * t.cos(), t * t.sin(), 2.0 * draw.uniform()];
        view.show(point.map(|v| v + noise * draw.normal()), row);
        turns.push(u);
    })?;
    let target = if c == 0 {
        Column::Numbers(turns.iter().map(|u| 2.0 * TAU * u).collect())
    } else {
        Column::Integers(turns.iter().map(|u| (u * c as f64) as i64).collect())
    };
    table(values, n, view.p, target)
}

fn friedman(n: usize, p: usize, noise: f64, draw: &mut Draw) -> Result<Table> {
    let mut target = Vec::new();
    let values = fill(n, p, |row| {
        row.fill_with(|| draw.uniform());
        let clean = 10.0 * (PI * row[0] * row[1]).sin()
            + 20.0 * (row[2] - 0.5).powi(2)
            + 10.0 * row[3]
            + 5.0 * row[4];
        target.push(clean + noise * draw.normal());
    })?;
    table(values, n, p, Column::Numbers(target))
}

/// A table of n rows whose class is drawn first, then the row.
fn classes(
    n: usize,
    p: usize,
    c: usize,
    draw: &mut Draw,
    sample: impl Fn(usize, &mut [f64], &mut Draw),
) -> Result<Table> {
    let mut target = Vec::new();
    let values = fill(n, p, |row| {
        let class = draw.class(c);
        sample(class, row, draw);
        target.push(class.cast_signed() as i64);
    })?;
    table(values, n, p, Column::Integers(target))
}

fn fill(n: usize, p: usize, sample: impl FnMut(&mut [f64])) -> Result<Vec<f64>> {
    let mut values = storage(n, p)?;
    values.resize(n * p, 0.0);
    values.chunks_exact_mut(p).for_each(sample);
    Ok(values)
}

/// Storage for n·p numbers, or an error where the allocation fails.
fn storage(n: usize, p: usize) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    let room = n.checked_mul(p).is_some_and(|size| fallible(|| values.try_reserve_exact(size).is_ok()));
    if room {
        Ok(values)
    } else {
        Err(Error::Memory(format!("{n} rows of {p} columns do not fit into memory; lower n or p")))
    }
}

fn table(values: Vec<f64>, n: usize, p: usize, target: Column) -> Result<Table> {
    let rows = Rows::dense(values, n, p)?;
    Ok(Table { target: Some(target), ..Table::of_rows(rows, plain_names(p)) })
}

struct Draw(ChaCha8Rng);

impl Draw {
    fn normal(&mut self) -> f64 {
        self.0.sample(StandardNormal)
    }

    /// Uniform in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    fn class(&mut self, c: usize) -> usize {
        self.0.random_range(0..c as u64) as usize
    }
}

/// Three coordinates as they are, or p mixtures of them: x = R·(x₁, x₂, x₃) with R p×3.
struct View {
    mixture: Vec<[f64; 3]>,
    p: usize,
}

impl View {
    fn draw(p: usize, draw: &mut Draw) -> Result<Self> {
        storage(p, 3)?;
        let mixture = (0..p).map(|_| std::array::from_fn(|_| draw.normal())).collect();
        Ok(Self { mixture, p: if p == 0 { 3 } else { p } })
    }

    fn show(&self, point: [f64; 3], row: &mut [f64]) {
        if self.mixture.is_empty() {
            row.copy_from_slice(&point);
        }
        for (v, r) in row.iter_mut().zip(&self.mixture) {
            *v = r.iter().zip(&point).map(|(r, x)| r * x).sum();
        }
    }
}

/// A generator with the parameters that were set.
struct Spec<'a> {
    generator: &'static Generator,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Spec<'a> {
    fn parse(spec: &'a str) -> Result<Self> {
        let (name, settings) = spec.split_once('?').unwrap_or((spec, ""));
        let generator = GENERATORS.iter().find(|g| g.name == name).ok_or_else(|| {
            let names: Vec<_> = GENERATORS.iter().map(|g| g.name).collect();
            Error::argument(format!("there is no generator `{name}`; use one of {}", names.join(", ")))
        })?;
        let mut parsed = Self { generator, given: Vec::new() };
        for setting in settings.split('&').filter(|s| !s.is_empty()) {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            if parsed.parameter(key).is_none() {
                let names: Vec<_> = COMMON.iter().chain(generator.parameters).map(|p| p.name).collect();
                return Err(Error::argument(format!(
                    "{name} has no parameter `{key}`; it takes {}",
                    names.join(", ")
                )));
            }
            if parsed.given.iter().any(|(k, _)| *k == key) {
                return Err(Error::argument(format!("{name}: `{key}` is set twice; set it once")));
            }
            parsed.given.push((key, value));
        }
        Ok(parsed)
    }

    fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        COMMON.iter().chain(self.generator.parameters).find(|p| p.name == name)
    }

    fn text(&self, name: &str) -> &str {
        let given = self.given.iter().find(|(k, _)| *k == name).map(|(_, value)| *value);
        given.or(self.parameter(name).map(|p| p.default)).unwrap_or_default()
    }

    fn whole(&self, name: &str, least: usize) -> Result<usize> {
        let text = self.text(name);
        text.parse()
            .ok()
            .filter(|v| *v >= least)
            .ok_or_else(|| self.refuse(name, text, &format!("a whole number of at least {least}")))
    }

    fn number(&self, name: &str, least: f64) -> Result<f64> {
        let text = self.text(name);
        let allowed =
            if least.is_finite() { format!("a number of at least {least}") } else { "a number".into() };
        text.parse::<f64>()
            .ok()
            .filter(|v| v.is_finite() && *v >= least)
            .ok_or_else(|| self.refuse(name, text, &allowed))
    }

    fn refuse(&self, name: &str, text: &str, allowed: &str) -> Error {
        let example = self.parameter(name).map_or("1", |p| p.default);
        Error::argument(format!(
            "{}: {name} = `{text}`, but it must be {allowed}, as in `{name}={example}`",
            self.generator.name
        ))
    }
}
