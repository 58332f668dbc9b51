//! How a text table is written, from its first lines: what separates its fields, and its decimal comma or point.

use crate::error::{Error, Result};

/// The separators that are looked for.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The most lines that are looked at.
const LINES: usize = 100;

/// Bytes of a file that are looked at.
pub const SAMPLE_BYTES: u64 = 1 << 16;

/// How a text table is written.
///
/// ```
/// use mercer::data::sniff::Style;
///
/// let style = Style::of(b"size;kind\n3,5;red\n", b',', None, None);
/// assert_eq!(style, Style { separator: b';', decimal: b',' });
/// assert_eq!(style.number("3,5"), Some(3.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// What separates the fields.
    pub separator: u8,
    /// `.` or `,`.
    pub decimal: u8,
}

impl Style {
    /// Of the first bytes of a file. What is given counts; else the `usual` separator, that of the file's extension, does,
    /// unless the lines have as many fields by another one only.
    pub fn of(sample: &[u8], usual: u8, separator: Option<u8>, decimal: Option<u8>) -> Self {
        let lines = Lines::of(sample);
        let separator = separator.unwrap_or_else(|| lines.separator(usual));
        let decimal = decimal.unwrap_or_else(|| lines.decimal(separator));
        Self { separator, decimal }
    }

    /// The separator that a user names: one character, or `tab`.
    ///
    /// ```
    /// use mercer::data::sniff::Style;
    ///
    /// assert_eq!(Style::separator("tab")?, b'\t');
    /// assert!(Style::separator("ab").is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn separator(text: &str) -> Result<u8> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(b'\t'),
            [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n.-+".contains(byte) => {
                Ok(*byte)
            }
            _ => Err(Error::argument(format!(
                "sep = `{text}`, but it must be one character, such as , ; | or a space, or the word tab"
            ))),
        }
    }

    /// The decimal sign that a user names.
    ///
    /// ```
    /// use mercer::data::sniff::Style;
    ///
    /// assert_eq!(Style::decimal(",")?, b',');
    /// assert!(Style::decimal(";").is_err());
    /// # Ok::<(), mercer::Error>(())
    /// ```
    pub fn decimal(text: &str) -> Result<u8> {
        match text {
            "." => Ok(b'.'),
            "," => Ok(b','),
            _ => Err(Error::argument(format!("decimal = `{text}`, but it must be . or ,"))),
        }
    }

    /// The number that a text holds.
    pub fn number(self, text: &str) -> Option<f64> {
        if self.decimal == b'.' {
            return text.parse().ok();
        }
        if text.contains('.') {
            return None;
        }
        text.replace(',', ".").parse().ok()
    }
}

/// The first lines of a file.
struct Lines<'a> {
    text: Vec<&'a [u8]>,
    /// How often each of [`SEPARATORS`] is outside quotes in each line.
    counts: Vec<[usize; 4]>,
    quotes: bool,
}

impl<'a> Lines<'a> {
    fn of(sample: &'a [u8]) -> Self {
        let sample = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample);
        let mut lines = Self { text: Vec::new(), counts: Vec::new(), quotes: false };
        let (mut here, mut quoted, mut start) = ([0; 4], false, 0);
        for (at, &byte) in sample.iter().enumerate() {
            match byte {
                b'"' => {
                    quoted = !quoted;
                    lines.quotes = true;
                }
                b'\n' if !quoted => {
                    lines.push(&sample[start..at], here);
                    (here, start) = ([0; 4], at + 1);
                    if lines.text.len() == LINES {
                        return lines;
                    }
                }
                b',' | b';' | b'\t' | b'|' if !quoted => {
                    here[SEPARATORS.iter().position(|s| *s == byte).unwrap_or(0)] += 1;
                }
                _ => {}
            }
        }
        // A last line without its end counts if the file ends there.
        if (sample.len() as u64) < SAMPLE_BYTES {
            lines.push(&sample[start..], here);
        }
        lines
    }

    fn push(&mut self, line: &'a [u8], counts: [usize; 4]) {
        if !line.trim_ascii().is_empty() {
            self.text.push(line);
            self.counts.push(counts);
        }
    }

    /// The fields of the lines that are text, without their quotes.
    fn fields(&self, separator: u8, first_line: usize) -> impl Iterator<Item = &'a str> {
        let fields = self.text[first_line.min(self.text.len())..].iter().flat_map(move |line| {
            let mut quoted = false;
            line.split(move |byte| {
                quoted ^= *byte == b'"';
                *byte == separator && !quoted
            })
        });
        fields
            .filter_map(|field| std::str::from_utf8(field).ok())
            .map(|text| text.trim().trim_matches('"').trim())
    }

    fn separator(&self, usual: u8) -> u8 {
        let Some(first) = self.counts.first() else { return usual };
        let steady = |at: &usize| first[*at] > 0 && self.counts.iter().all(|line| line[*at] == first[*at]);
        let usual_at = SEPARATORS.iter().position(|s| *s == usual).unwrap_or(0);
        let steady: Vec<usize> = (0..SEPARATORS.len()).filter(steady).collect();
        match steady[..] {
            [] if first[usual_at] == 0 => {
                // Lines of different lengths: the error for them should count their fields.
                let most =
                    (0..SEPARATORS.len()).max_by_key(|at| (first[*at], usize::MAX - at)).unwrap_or(usual_at);
                if first[most] > 0 { SEPARATORS[most] } else { usual }
            }
            [] => usual,
            [only] => SEPARATORS[only],
            _ => {
                // `1,5;2,5` has as many commas in every line, too; by the right one, more fields are numbers.
                let order = steady.iter().map(|at| (SEPARATORS[*at], self.share_of_numbers(SEPARATORS[*at])));
                let usual_first = |s: u8| u8::from(s == usual);
                let best =
                    order.max_by(|a, b| a.1.total_cmp(&b.1).then(usual_first(a.0).cmp(&usual_first(b.0))));
                best.map_or(usual, |(separator, _)| separator)
            }
        }
    }

    /// Share of fields that are numbers, below the first line.
    fn share_of_numbers(&self, separator: u8) -> f64 {
        let decimals: &[u8] = if separator == b',' { b"." } else { b".," };
        let (mut numbers, mut all) = (0, 0);
        for text in self.fields(separator, 1) {
            all += 1;
            let is_number = |decimal: &u8| Style { separator, decimal: *decimal }.number(text).is_some();
            numbers += usize::from(decimals.iter().any(is_number));
        }
        numbers as f64 / f64::from(all.max(1))
    }

    /// A comma is decimal if fields such as `3,5` are there and none such as `3.5`. Three digits after it may be thousands,
    /// unless fields are separated by semicolons, as where commas are decimal.
    fn decimal(&self, separator: u8) -> u8 {
        if separator == b',' && !self.quotes {
            return b'.';
        }
        let (mut comma, mut point) = (false, false);
        for text in self.fields(separator, 0) {
            let Some((whole, fraction)) = text.split_once(['.', ',']) else { continue };
            let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
            let whole = whole.trim_start_matches(['-', '+']);
            let mantissa = fraction.split(['e', 'E']).next().unwrap_or_default();
            if !digits(whole) || !digits(mantissa) || mantissa.is_empty() {
                continue;
            }
            if text.contains('.') {
                point = true;
            } else {
                comma |= separator == b';' || mantissa.len() != 3 || whole == "0";
            }
        }
        if comma && !point { b',' } else { b'.' }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(text: &str) -> (char, char) {
        let style = Style::of(text.as_bytes(), b',', None, None);
        (style.separator.into(), style.decimal.into())
    }

    #[test]
    fn separators_and_decimal_commas_are_found() {
        assert_eq!(style("a,b\n1.5,2\n"), (',', '.'));
        assert_eq!(style("a;b\n1,5;2\n3;4,25\n"), (';', ','));
        assert_eq!(style("1,5;2,5\n3,5;4,5\n"), (';', ','));
        assert_eq!(style("a;b\n1.5;2\n"), (';', '.'));
        assert_eq!(style("a\tb\n1,5\t2\n"), ('\t', ','));
        assert_eq!(style("a\tb\n1,500\t2\n"), ('\t', '.'));
        assert_eq!(style("a|b|c\n1|2|x, y\n"), ('|', '.'));
        assert_eq!(style("a,b\n\"3,5\",\"4,5\"\n"), (',', ','));
        assert_eq!(style("\"a;1\",b\n1,2\n"), (',', '.'));
        assert_eq!(style("a\n1\n2\n"), (',', '.'));
        assert_eq!(style("a;b\n1;2\n3\n"), (';', '.'));
        assert_eq!(style(""), (',', '.'));
        assert_eq!(style("text,tags\nx,a;b\ny,c;d\n"), (',', '.'));
    }

    #[test]
    fn the_extension_decides_where_both_would_do() {
        assert_eq!(Style::of(b"a,b\tc\n1,2\t3\n", b'\t', None, None).separator, b'\t');
        assert_eq!(Style::of(b"a;b\n1;2\n", b',', Some(b','), None).separator, b',');
    }
}
