//! Dates: ISO 8601 text to days since 1970-01-01, and the numbers that a date becomes.
//!
//! source  days from a civil date and back: Hinnant, "chrono-compatible low-level date algorithms", 2013

/// A number that a date becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatePart {
    /// The year.
    Year,
    /// The month, 1 to 12.
    Month,
    /// The day of the week, 0 (Monday) to 6 (Sunday).
    Weekday,
    /// The hour of the day, with its fraction.
    Hour,
    /// Days since 1970-01-01, with the fraction of the day.
    Days,
}

impl DatePart {
    /// All parts, in the order of their columns.
    pub const ALL: [Self; 5] = [Self::Year, Self::Month, Self::Weekday, Self::Hour, Self::Days];

    /// What its column is called after the date's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Month => "month",
            Self::Weekday => "weekday",
            Self::Hour => "hour",
            Self::Days => "days",
        }
    }

    /// The part of a date, given in days since 1970-01-01.
    ///
    /// ```
    /// use mercer::data::encode::DatePart;
    ///
    /// let parts = DatePart::ALL.map(|part| part.of(19_782.5)); // noon of 2024-02-29, a Thursday
    /// assert_eq!(parts, [2024.0, 2.0, 3.0, 12.0, 19_782.5]);
    /// ```
    pub fn of(self, days: f64) -> f64 {
        let day = days.floor();
        let whole = day.clamp(-MOST_DAYS, MOST_DAYS) as i64;
        match self {
            Self::Year => civil(whole).0 as f64,
            Self::Month => civil(whole).1 as f64,
            // 1970-01-01 was a Thursday.
            Self::Weekday => (whole + 3).rem_euclid(7) as f64,
            Self::Hour => (days - day) * 24.0,
            Self::Days => days,
        }
    }
}

/// The first and the last year that are read as one.
const YEARS: std::ops::RangeInclusive<i64> = 1..=9999;

/// Dates farther away have the year, the month and the weekday of this one: integers would overflow.
const MOST_DAYS: f64 = 1e15;

const SECONDS_OF_A_DAY: f64 = 86_400.0;

/// Days since 1970-01-01 of `2024-02-29`, `2024-02-29T12:30`, `2024-02-29 12:30:05.5Z` or `…+01:00`; a time zone shifts the time
/// to UTC.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    if bytes.len() < 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (whole(text.get(0..4)?)?, whole(text.get(5..7)?)?, whole(text.get(8..10)?)?);
    if !YEARS.contains(&year) || !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) {
        return None;
    }
    let days = days_from_civil(year, month, day) as f64;
    match text.get(10..)? {
        "" => Some(days),
        time => Some(days + seconds(time.strip_prefix(['T', 't', ' '])?)? / SECONDS_OF_A_DAY),
    }
}

/// Days since 1970-01-01 as ISO 8601 text, to the second.
pub(crate) fn text(days: f64) -> String {
    // Rounded first, so that a second before midnight does not become the sixtieth.
    let total = (days * SECONDS_OF_A_DAY).round() as i64;
    let (day, seconds) = (total.div_euclid(86_400), total.rem_euclid(86_400));
    let (year, month, day) = civil(day);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if seconds == 0 {
        return date;
    }
    format!("{date}T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Seconds of `hh:mm`, `hh:mm:ss`, `hh:mm:ss.f`, each perhaps with a zone.
fn seconds(time: &str) -> Option<f64> {
    let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone_at);
    let mut parts = clock.trim_end().split(':');
    let (hours, minutes) = (whole(parts.next()?)?, whole(parts.next()?)?);
    let seconds = match parts.next() {
        None => 0.0,
        Some(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') => text.parse::<f64>().ok()?,
        Some(_) => return None,
    };
    if parts.next().is_some() || hours > 23 || minutes > 59 || !(0.0..61.0).contains(&seconds) {
        return None;
    }
    let local = (hours * 3600 + minutes * 60) as f64 + seconds;
    let sign = match zone.as_bytes() {
        [] | b"Z" | b"z" => return Some(local),
        [b'+', ..] => 1.0,
        [b'-', ..] => -1.0,
        _ => return None,
    };
    let digits: String = zone[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (whole(&digits)?, 0),
        4 => (whole(digits.get(..2)?)?, whole(digits.get(2..)?)?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(local - sign * (hours * 3600 + minutes * 60) as f64)
}

fn whole(digits: &str) -> Option<i64> {
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

fn days_of(year: i64, month: i64) -> i64 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that the leap day is the last.
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_a_thousand_years_comes_back() {
        for day in -300_000..300_000 {
            let text = text(f64::from(day));
            assert_eq!(parse(&text), Some(f64::from(day)), "{text}");
        }
    }

    #[test]
    fn times_and_zones_are_read() {
        assert_eq!(parse("1970-01-02T06:00"), Some(1.25));
        assert_eq!(parse("1970-01-02 06:00:00.000"), Some(1.25));
        assert_eq!(parse("1970-01-02T06:00:00Z"), Some(1.25));
        assert_eq!(parse("1970-01-02T06:00:00+06:00"), Some(1.0));
        assert_eq!(parse("1970-01-02T06:00:00-0600"), Some(1.5));
        assert_eq!(text(1.25), "1970-01-02T06:00:00");
    }

    #[test]
    fn other_text_is_no_date() {
        for text in [
            "",
            "1",
            "2023-02-29",
            "2024-13-01",
            "2024-1-1",
            "2024-01-01x",
            "2024-01-01T25:00",
            "2024-01-01T10",
            "20240101",
            "2024-01-01T10:00:aa",
            "2024-01-01T10:00+9",
            "2024-01-01T10:00+1Ü1",
            "é024-01-01",
            "2024-01-é1",
            "0000-01-01",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
