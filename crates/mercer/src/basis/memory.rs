//! What a fit may take of memory, what it will take, and what is done where that is more.

use super::pivoted::Hold;
use super::{Basis, DEFAULT_COMPONENTS, Method, csi};
use crate::error::{Error, Result};
use crate::random;
use crate::real::Precision;

/// Bytes that a fit may take unless told otherwise.
pub const DEFAULT_MEMORY: u64 = 8 << 30;

/// What a fit keeps of every coordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) precision: Precision,
    pub(super) want_features: bool,
    /// Features in single precision are handed over in double.
    pub(super) widen: bool,
}

impl Room {
    /// Bytes a coordinate.
    pub(super) fn bytes(self) -> u64 {
        match self.precision {
            Precision::Double => 8,
            Precision::Single if self.want_features && self.widen => 12,
            Precision::Single => 4,
        }
    }
}

/// Bytes that pivots need without the factor: three numbers a row, and A as it grows and in the end.
pub(super) fn without_factor(n: usize, cap: usize) -> u64 {
    24 * (n + cap * cap) as u64
}

/// Bytes a row that `csi` needs.
fn csi_bytes(cap: usize) -> u64 {
    8 * (2 * cap + 4 * csi::DELTA) as u64
}

impl Basis {
    /// What becomes of the factor of n rows.
    pub(super) fn hold(&self, n: usize, cap: usize, room: Room) -> Hold {
        let kept = room.bytes() * (n * cap) as u64;
        match room.want_features {
            // What is kept of a fit shall be small.
            _ if self.checkpoint.is_some() && self.is_pivoted() => Hold::Never,
            true => Hold::ForGood,
            false if kept <= self.memory.max(without_factor(n, cap)) => Hold::Meanwhile,
            false => Hold::Never,
        }
    }

    /// The rows that `csi` chooses among, where all would not fit into memory.
    pub(super) fn sample(&self, n: usize, cap: usize, warnings: &mut Vec<String>) -> Option<Vec<usize>> {
        let most = usize::try_from(self.memory / csi_bytes(cap)).unwrap_or(usize::MAX);
        if self.method != Method::Csi || n <= most {
            return None;
        }
        warnings.push(format!(
            "the basis `csi` of {n} rows needs {}, but the budget is {}: it is chosen among {most} of them, drawn with the seed {}",
            bytes(n as u64 * csi_bytes(cap)),
            bytes(self.memory),
            self.seed
        ));
        Some(random::sample(n, most, self.seed))
    }

    /// Bytes that the fit will need beside the rows.
    pub fn estimated_memory(&self, n: usize) -> u64 {
        self.memory_for(n, self.most_components(n), self.room(false))
    }

    /// What a fit on rows in double precision keeps.
    fn room(&self, want_features: bool) -> Room {
        Room { precision: self.wanted(), want_features, widen: true }
    }

    fn memory_for(&self, n: usize, cap: usize, room: Room) -> u64 {
        let hold = self.hold(n, cap, room);
        let (n, cap) = (n as u64, cap as u64);
        match self.method {
            Method::GramSchmidt => 3 * 8 * cap * cap,
            // Exact when it fits; from a factor when not.
            Method::Kpca if Self::exact_kpca(n) <= self.memory || self.n_components.is_none() => {
                Self::exact_kpca(n)
            }
            Method::Kpca => 8 * n * self.factor_columns(n as usize) as u64,
            Method::Csi => {
                (n * csi_bytes(cap as usize)).min(self.memory.max(2 * cap * csi_bytes(cap as usize)))
            }
            _ if hold == Hold::Never && !room.want_features => without_factor(n as usize, cap as usize),
            _ => room.bytes() * n * cap,
        }
    }

    /// The kernel matrix, the solver's copy and work space, the eigenvectors and the coefficients.
    pub(super) fn exact_kpca(n: u64) -> u64 {
        5 * 8 * n * n
    }

    /// Columns of the factor that stands in for a kernel matrix that does not fit.
    pub(super) fn factor_columns(&self, n: usize) -> usize {
        self.n_components.map_or(DEFAULT_COMPONENTS, |m| DEFAULT_COMPONENTS.max(2 * m.min(n))).min(n)
    }

    /// An error with the estimate unless a fit on n rows keeps to the limit on memory.
    pub(crate) fn check_memory(&self, n: usize, want_features: bool) -> Result<()> {
        self.check_room(n, self.room(want_features))
    }

    pub(super) fn check_room(&self, n: usize, room: Room) -> Result<()> {
        let cap = self.most_components(n);
        let needed = self.memory_for(n, cap, room);
        if needed <= self.memory {
            return Ok(());
        }
        let hint = match self.method {
            Method::GramSchmidt => {
                "use method = `kobl`, whose memory is n × n_components, or set n_components"
            }
            Method::Kpca => {
                "set n_components, for which an `rpcholesky` factor will do, or use method = `kobl`"
            }
            _ => "lower n_components, or raise the budget (`memory`)",
        };
        Err(Error::Memory(format!(
            "the basis `{}` of {n} rows with up to {cap} components needs {}, but the budget is {}\nhint: {hint}",
            self.method.name(),
            bytes(needed),
            bytes(self.memory)
        )))
    }
}

/// A number of bytes for people.
///
/// ```
/// assert_eq!(mercer::basis::bytes(2_500_000_000), "2.5 GB");
/// ```
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        1_000..1_000_000 => format!("{:.0} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.0} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

/// The number of bytes that a text such as `500MB` or `4GiB` means.
///
/// ```
/// use mercer::basis::size_in_bytes;
///
/// assert_eq!(size_in_bytes("1.5 kB")?, 1_500);
/// assert_eq!(size_in_bytes("2GiB")?, 2 << 30);
/// assert!(size_in_bytes("-1GB").is_err());
/// # Ok::<(), mercer::Error>(())
/// ```
pub fn size_in_bytes(text: &str) -> Result<u64> {
    const UNITS: [(&str, u64); 14] = [
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("k", 1_000),
        ("m", 1_000_000),
        ("g", 1_000_000_000),
        ("t", 1_000_000_000_000),
        ("b", 1),
        ("", 1),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let split = |(unit, size): &(&str, u64)| Some((lower.strip_suffix(unit)?, *size));
    let (number, unit) = UNITS.iter().find_map(split).unwrap_or((&lower, 1));
    match number.trim().parse::<f64>() {
        Ok(count) if count > 0.0 && count.is_finite() => Ok((count * unit as f64) as u64),
        _ => Err(Error::argument("it must be a number above 0 with a unit, such as 500MB or 4GB")),
    }
}
