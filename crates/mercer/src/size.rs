//! Numbers of bytes: for people, from them, and whether the system has them.

use crate::allocator::fallible;
use crate::error::{Error, Result};
use crate::limits;

/// A number of bytes for people.
///
/// ```
/// assert_eq!(mercer::options::bytes(2_500_000_000), "2.5 GB");
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
/// use mercer::options::size_in_bytes;
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

/// Less than this is not asked for beforehand: asking takes a call of the system.
const ASKED_FOR: u64 = 8 << 20;

/// An error with the estimate unless the system gives so many bytes in one piece. They are given back at once: who needs them
/// then allocates them where an allocation that fails would end the process.
///
/// ```
/// use mercer::options::check_available;
///
/// assert!(check_available(1 << 20, || "a million numbers".into()).is_ok());
/// let refused = check_available(1 << 60, || "features of all rows".into()).unwrap_err();
/// assert!(refused.to_string().starts_with("features of all rows need 1152921504.6 GB"));
/// ```
pub fn check_available(needed: u64, what: impl FnOnce() -> String) -> Result<()> {
    if needed < ASKED_FOR {
        return Ok(());
    }
    let mut memory: Vec<u8> = Vec::new();
    let given =
        usize::try_from(needed).is_ok_and(|needed| fallible(|| memory.try_reserve_exact(needed).is_ok()));
    // An allocation that nobody looks at would be optimised away.
    std::hint::black_box(&memory);
    // A container gives every address and ends the process when too many of them are used.
    if given && limits::memory_left().is_none_or(|left| needed <= left) {
        return Ok(());
    }
    Err(Error::Memory(format!(
        "{} need {}, which the system does not give\nhint: free some memory, or use fewer rows, columns or components",
        what(),
        bytes(needed)
    )))
}

/// What to do about a budget that is too small: a limit of the system may leave no room for a larger one.
pub(crate) fn raise_budget(budget: u64) -> &'static str {
    match limits::memory_left() {
        Some(left) if half_of(left) / 2 < budget => {
            "raise the system's limit on memory (`ulimit`, the container's)"
        }
        _ => "raise the memory budget (`memory`, MERCER_MEMORY)",
    }
}

/// Half of what limits leave, of which the first four binary digits are kept: a job that runs again, perhaps from a
/// checkpoint, shall find the same budget, though what is left differs by a little.
pub(crate) fn half_of(left: u64) -> u64 {
    let half = left / 2;
    let digits = u64::BITS - half.leading_zeros();
    let cut = digits.saturating_sub(4);
    half >> cut << cut
}

/// Bytes of a matrix of float64 numbers; as many as can be counted where that is more.
pub(crate) fn matrix_bytes(rows: usize, columns: usize) -> u64 {
    (rows as u64).saturating_mul(columns as u64).saturating_mul(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_below_a_limit_are_round() {
        assert_eq!([0, 2, 31, 35, 0b10_1111_1110].map(half_of), [0, 1, 15, 16, 0b1_0110_0000]);
        assert_eq!(half_of(u64::MAX), 0b1111 << 59);
    }
}
