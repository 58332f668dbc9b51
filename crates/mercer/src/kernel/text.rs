//! Kernels as text, and back.
//!
//! ```text
//!   sum     = product { "+" product }
//!   product = part { "*" part }
//!   part    = number | name [ "(" setting { "," setting } ")" ] | "(" sum ")"
//!   setting = ("gamma" | "degree" | "coef0" | "alpha") "=" number | "columns" "=" column { "," column }
//!   column  = place | first ":" end | name | '"' any name '"'
//! ```
//!
//! Numbers are at least 0: with a negative weight the sum would not be positive semi-definite. Parentheses are multiplied out.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::composite::{Columns, Factor, MOST_TERMS, Term, Width, multiplied};
use super::kernel::{Kernel, Shape};
use super::own;
use crate::error::{Error, Result};

/// The most parentheses within each other.
const MOST_NESTED: usize = 50;

/// The most columns of all factors together, once parentheses are multiplied out.
const MOST_COLUMNS: usize = 1 << 20;

/// What a factor's settings are where the text does not give them.
#[derive(Clone, Copy)]
pub(super) struct Defaults {
    pub(super) degree: u32,
    pub(super) coef0: f64,
    pub(super) alpha: f64,
}

/// The formula of a text.
pub(super) fn read(text: &str, defaults: Defaults) -> Result<Shape> {
    let mut reader = Reader { text, rest: text.trim_start(), defaults, nested: 0 };
    let terms = reader.sum()?;
    if !reader.rest.is_empty() {
        return Err(reader.error("`+` or `*` between kernels, or the end"));
    }
    let shape = Shape::of_terms(terms);
    shape.check()?;
    Ok(shape)
}

impl FromStr for Shape {
    type Err = Error;

    /// A name, or a sum of products of kernels: `0.5*rbf(gamma=0.1)+linear`.
    fn from_str(text: &str) -> Result<Self> {
        Self::named(text, 3, 1.0, 1.0)
    }
}

impl FromStr for Kernel {
    type Err = Error;

    /// As [`Shape`], but every width must be given.
    fn from_str(text: &str) -> Result<Self> {
        let shape: Shape = text.parse()?;
        let kernel = shape.single().unwrap_or(Self { shape, gamma: 1.0 });
        if shape.uses_gamma() {
            return Err(Error::argument(format!(
                "the kernel `{text}` has a part without gamma\n\
                 hint: write it down, `rbf(gamma=0.1)`, or give the kernel to a basis, which has rules for it"
            )));
        }
        Ok(kernel)
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written())
    }
}

struct Reader<'t> {
    text: &'t str,
    rest: &'t str,
    defaults: Defaults,
    /// Parentheses that are open.
    nested: usize,
}

impl<'t> Reader<'t> {
    fn error(&self, wanted: &str) -> Error {
        let at = self.text.len() - self.rest.len();
        let found = match self.rest.chars().next() {
            None => "it ends there".into(),
            Some('-') => {
                "there is `-`: weights must be at least 0, because a difference is not positive semi-definite"
                    .into()
            }
            Some(c) => format!("there is `{c}`"),
        };
        let before = self.text[..at].trim();
        let place = if before.is_empty() { "at its start".into() } else { format!("after `{before}`") };
        Error::argument(format!(
            "kernel = `{}`: {wanted} is needed {place}, but {found}\n\
             hint: write sums and products such as 0.5*rbf(gamma=0.1, columns=0:5)+linear",
            self.text
        ))
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest[length..].trim_start();
    }

    /// Whether this sign came next; it is behind then.
    fn took(&mut self, sign: char) -> bool {
        let is = self.rest.starts_with(sign);
        if is {
            self.skip(sign.len_utf8());
        }
        is
    }

    /// An error if a kernel would have more terms, or more columns in its factors, than are allowed.
    fn few(&self, terms: usize, columns: usize) -> Result<()> {
        if terms > MOST_TERMS {
            return Err(Error::argument(format!(
                "kernel = `{}` has {terms} terms once its parentheses are multiplied out; at most {MOST_TERMS} are allowed",
                self.text
            )));
        }
        if columns > MOST_COLUMNS {
            return Err(Error::argument(format!(
                "kernel = `{}` has {columns} columns in its parts; at most {MOST_COLUMNS} are allowed\n\
                 hint: leave `columns` out where a part is on all of them",
                self.text
            )));
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<Vec<Term>> {
        let mut terms = self.product()?;
        while self.took('+') {
            let more = self.product()?;
            self.few(terms.len() + more.len(), n_columns(&terms) + n_columns(&more))?;
            terms.extend(more);
        }
        Ok(terms)
    }

    fn product(&mut self) -> Result<Vec<Term>> {
        let mut terms = self.part()?;
        while self.took('*') {
            let more = self.part()?;
            let columns = n_columns(&terms) * more.len() + n_columns(&more) * terms.len();
            self.few(terms.len() * more.len(), columns)?;
            terms = multiplied(&terms, &more);
        }
        Ok(terms)
    }

    fn part(&mut self) -> Result<Vec<Term>> {
        if self.took('(') {
            self.nested += 1;
            if self.nested > MOST_NESTED {
                return Err(Error::argument(format!(
                    "a kernel has more than {MOST_NESTED} parentheses within each other\nhint: multiply some of them out"
                )));
            }
            let terms = self.sum()?;
            self.nested -= 1;
            return if self.took(')') { Ok(terms) } else { Err(self.error("`)`")) };
        }
        match self.rest.chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => {
                Ok(vec![Term { weight: self.number()?, factors: Vec::new() }])
            }
            Some(c) if c.is_alphabetic() || c == '_' || c == '<' => {
                Ok(vec![Term { weight: 1.0, factors: vec![self.factor()?] }])
            }
            _ => Err(self.error("a kernel or a number of at least 0")),
        }
    }

    /// A number without a sign.
    fn number(&mut self) -> Result<f64> {
        let mut end = 0;
        let bytes = self.rest.as_bytes();
        while end < bytes.len() {
            let after_e = end > 0 && matches!(bytes[end - 1], b'e' | b'E');
            match bytes[end] {
                b'0'..=b'9' | b'.' | b'e' | b'E' => end += 1,
                b'+' | b'-' if after_e => end += 1,
                _ => break,
            }
        }
        match self.rest[..end].parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.skip(end);
                Ok(number)
            }
            _ => Err(self.error("a finite number of at least 0")),
        }
    }

    fn word(&mut self) -> &'t str {
        let part = |c: char| c.is_alphanumeric() || "_.<>#".contains(c);
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.skip(end);
        word
    }

    fn factor(&mut self) -> Result<Factor> {
        let name = self.word();
        let Defaults { degree, coef0, alpha } = self.defaults;
        let mut factor = Factor::new(match own::known(name) {
            Some(kernel) => kernel.shape,
            None => Shape::plain(name, degree, coef0, alpha)?,
        });
        if self.took('(') && !self.took(')') {
            loop {
                self.setting(name, &mut factor)?;
                if self.took(')') {
                    break;
                }
                if !self.took(',') {
                    return Err(self.error("`,` or `)`"));
                }
            }
        }
        factor.shape.check()?;
        Ok(factor)
    }

    fn setting(&mut self, name: &str, factor: &mut Factor) -> Result<()> {
        let setting = self.word();
        if !matches!(setting, "gamma" | "degree" | "coef0" | "alpha" | "columns") {
            return Err(Error::argument(format!(
                "kernel = `{}`: `{setting}` is no setting of a kernel; use gamma, degree, coef0, alpha or columns",
                self.text
            )));
        }
        if !self.took('=') {
            return Err(self.error(&format!("`=` and the value of {setting}")));
        }
        if setting == "columns" {
            factor.columns = self.columns()?;
            return Ok(());
        }
        let sign = if setting == "coef0" && self.took('-') { -1.0 } else { 1.0 };
        let value = sign * self.number()?;
        let has_it = match (setting, &mut factor.shape) {
            ("gamma", shape) if shape.uses_gamma() => {
                if value <= 0.0 {
                    return Err(Error::argument(format!(
                        "gamma = {value} in the kernel `{}`, but it must be a number above 0",
                        self.text
                    )));
                }
                factor.width = Width::Fixed(value);
                true
            }
            ("degree", Shape::Poly { degree, .. }) => {
                let whole = value.fract() == 0.0 && value <= f64::from(u32::MAX);
                *degree = if whole { value as u32 } else { 0 };
                whole
            }
            ("coef0", Shape::Poly { coef0, .. } | Shape::Sigmoid { coef0 }) => {
                *coef0 = value;
                true
            }
            ("alpha", Shape::Rq { alpha }) => {
                *alpha = value;
                true
            }
            _ => false,
        };
        if has_it {
            return Ok(());
        }
        Err(Error::argument(format!(
            "kernel = `{}`: {setting} = {value}, but the kernel `{name}` has no such {setting}",
            self.text
        )))
    }

    fn columns(&mut self) -> Result<Columns> {
        let (mut places, mut names) = (Vec::new(), Vec::new());
        loop {
            if self.took('"') {
                names.push(self.quoted()?);
            } else {
                let end = self.rest.find([',', ')', '=', '"', '(']).unwrap_or(self.rest.len());
                let piece = self.rest[..end].trim();
                match range(piece) {
                    Some(range) => {
                        self.few(1, range.len().saturating_add(places.len()))?;
                        places.extend(range);
                    }
                    None if piece.is_empty() || piece.contains(':') || piece.starts_with('-') => {
                        return Err(Error::argument(format!(
                            "kernel = `{}`: columns = `{piece}`, but columns are places (3), places from one up to and \
                             without another (0:5) or names (age)",
                            self.text
                        )));
                    }
                    None => names.push(piece.into()),
                }
                self.skip(end);
            }
            // A comma may begin another setting.
            let more = self.rest.strip_prefix(',').map(str::trim_start);
            let is_setting = |rest: &str| {
                let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
                rest[word.len()..].trim_start().starts_with('=')
            };
            match more {
                Some(rest) if !is_setting(rest) => self.rest = rest,
                _ => break,
            }
        }
        match (names.is_empty(), places.is_empty()) {
            (true, _) => Columns::at(places),
            (false, true) => Ok(Columns::Names(names)),
            _ => Err(Error::argument(format!(
                "kernel = `{}`: columns are given by place and by name\nhint: use one of the two",
                self.text
            ))),
        }
    }

    /// A name after its first quote.
    fn quoted(&mut self) -> Result<String> {
        let mut name = String::new();
        let mut signs = self.rest.char_indices();
        while let Some((at, c)) = signs.next() {
            match c {
                '"' => {
                    self.skip(at + 1);
                    return Ok(name);
                }
                '\\' => name.extend(signs.next().map(|(_, c)| c)),
                c => name.push(c),
            }
        }
        self.rest = "";
        Err(self.error("`\"` at the end of a column's name"))
    }
}

/// Columns that the factors of these terms name by their places.
fn n_columns(terms: &[Term]) -> usize {
    let factors = terms.iter().flat_map(|term| &term.factors);
    factors.filter_map(|factor| Some(factor.columns.places()?.len())).sum()
}

/// The places of `3` or `0:5`.
fn range(piece: &str) -> Option<std::ops::Range<usize>> {
    if let Ok(place) = piece.parse::<usize>() {
        return Some(place..place.checked_add(1)?);
    }
    let (first, end) = piece.split_once(':')?;
    let (first, end) = (first.trim().parse::<usize>().ok()?, end.trim().parse::<usize>().ok()?);
    (first < end).then_some(first..end)
}
