//! Formatting of numbers and escaping of foreign texts for a page.

/// Placeholder for a missing number.
pub(super) const MISSING: &str = "–";

/// Text escaped for HTML; control characters become visible replacements.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            other => safe.push(visible(other)),
        }
    }
    safe
}

/// A sentence, escaped; what stands between backticks is set as code.
pub(super) fn prose(text: &str) -> String {
    let pieces: Vec<String> = text.split('`').map(escaped).collect();
    if pieces.len().is_multiple_of(2) {
        return pieces.join("`");
    }
    let code = |(k, piece): (usize, &String)| {
        if k % 2 == 1 { format!("<code>{piece}</code>") } else { piece.clone() }
    };
    joined(pieces.iter().enumerate().map(code))
}

/// The name of a class or a column, which may be empty and may be written from right to left.
pub(super) fn name(text: &str) -> String {
    if text.trim().is_empty() {
        return "<i>(empty)</i>".to_string();
    }
    format!("<bdi>{}</bdi>", escaped(text))
}

/// For a chart: one line of about `width` letters, wide ones counted twice. Not escaped; the drawing does that.
pub(super) fn clipped(text: &str, width: usize) -> String {
    let text = text.trim();
    let mut short = String::new();
    let mut used = 0;
    for letter in text.chars() {
        used += cells(letter);
        if used > width {
            short.push('…');
            return short;
        }
        short.push(if letter.is_whitespace() { ' ' } else { visible(letter) });
    }
    if short.is_empty() { "(empty)".to_string() } else { short }
}

/// About how many letters wide a text is.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(cells).sum()
}

// Without fonts: beyond the alphabets of Europe a letter may be twice as wide.
fn cells(letter: char) -> usize {
    if letter < '\u{530}' { 1 } else { 2 }
}

// Control characters break the page, and those that turn the direction of writing would turn what follows.
fn visible(letter: char) -> char {
    let turns = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let broken = matches!(letter, '\u{fffe}' | '\u{ffff}');
    if letter.is_control() || turns || broken { '\u{fffd}' } else { letter }
}

/// A number with three significant digits.
pub(super) fn short(value: f64) -> String {
    if value.is_nan() {
        return MISSING.to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".to_string() } else { "−∞".to_string() };
    }
    if value == 0.0 {
        return "0".to_string();
    }
    let size = value.abs().log10().floor() as i32;
    if !(-4..6).contains(&size) {
        return minus(&trimmed(&format!("{value:.2e}")));
    }
    let decimals = usize::try_from(2 - size).unwrap_or(0);
    minus(&trimmed(&format!("{value:.decimals$}")))
}

/// A mean of counts, without decimals if it is whole.
pub(super) fn count(value: Option<f64>) -> String {
    match value {
        Some(mean) if mean.is_finite() && (mean - mean.round()).abs() < 0.05 => format!("{mean:.0}"),
        Some(mean) if mean.is_finite() => format!("{mean:.1}"),
        _ => MISSING.to_string(),
    }
}

/// A duration in readable units.
pub(super) fn seconds(value: Option<f64>) -> String {
    match value {
        Some(s) if !s.is_finite() || s < 0.0 => MISSING.to_string(),
        Some(s) if s < 0.9995 => format!("{}\u{a0}ms", short(s * 1000.0)),
        Some(s) if s < 120.0 => format!("{s:.1}\u{a0}s"),
        Some(s) if s < 7200.0 => format!("{:.0}\u{a0}min", s / 60.0),
        Some(s) => format!("{:.1}\u{a0}h", s / 3600.0),
        None => MISSING.to_string(),
    }
}

/// `1 row`, `2 rows`.
pub(super) fn counted(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1\u{a0}{one}") } else { format!("{number}\u{a0}{many}") }
}

/// A word of a command, quoted where a shell would split or read it otherwise.
pub(super) fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Pieces of a page one after the other.
pub(super) fn joined(pieces: impl IntoIterator<Item = String>) -> String {
    pieces.into_iter().collect::<Vec<_>>().concat()
}

/// A true minus sign, so that `−1` is as wide as `+1`.
pub(super) fn minus(number: &str) -> String {
    number.replace('-', "−")
}

// Zeros at the end of decimals say nothing.
fn trimmed(number: &str) -> String {
    let (digits, power) = number.split_at(number.find('e').unwrap_or(number.len()));
    let digits =
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    format!("{digits}{power}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_whatever_their_size() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.012_345, "0.0123"),
            (-12.345, "−12.3"),
            (123_456.0, "123456"),
            (1.0e-300, "1e−300"),
            (2.5e300, "2.5e300"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "−∞"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn marks_and_controls_do_not_survive() {
        assert_eq!(escaped("<b a='1'>&\u{0}\u{202e}"), "&lt;b a=&#39;1&#39;&gt;&amp;\u{fffd}\u{fffd}");
        assert_eq!(name(" "), "<i>(empty)</i>");
    }

    #[test]
    fn code_stands_between_pairs_of_backticks() {
        assert_eq!(prose("use `gda` & `kpls`"), "use <code>gda</code> &amp; <code>kpls</code>");
        assert_eq!(prose("a ` alone"), "a ` alone");
    }

    #[test]
    fn long_texts_are_cut_by_their_width() {
        assert_eq!(clipped("abcdef", 4), "abcd…");
        assert_eq!(clipped("語語語", 4), "語語…");
        assert_eq!(clipped("a\nb", 4), "a b");
    }

    #[test]
    fn a_shell_reads_back_one_word() {
        assert_eq!(shell_word("data/a-1.csv"), "data/a-1.csv");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
