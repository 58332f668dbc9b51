//! Numbers of bytes, for people and from them.

use crate::error::{Error, Result};

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
