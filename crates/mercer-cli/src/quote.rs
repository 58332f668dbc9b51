//! Quoting of commands for a shell.

use std::ffi::OsString;

/// A word, quoted for a POSIX shell where needed.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A flag and its value, joined by `=` if the value looks like a flag.
pub(crate) fn flag(name: &str, value: &str) -> String {
    let number = value.parse::<f64>().is_ok();
    let separator = if value.starts_with('-') && !number { '=' } else { ' ' };
    format!("--{name}{separator}{}", quoted(value))
}

/// A file as an argument, with `./` before a name that looks like a flag.
pub(crate) fn file(name: &str) -> String {
    if name.starts_with('-') && name != "-" { quoted(&format!("./{name}")) } else { quoted(name) }
}

/// The command that was typed, with file names without folders: a report should not show the user's paths.
pub(crate) fn typed(words: impl Iterator<Item = OsString>, files: &[&str]) -> String {
    let short = |word: &str| {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (format!("{flag}="), value),
            _ => (String::new(), word),
        };
        let value = if files.contains(&value) { name(value) } else { value };
        quoted(&format!("{flag}{value}"))
    };
    let words: Vec<String> = words.skip(1).map(|word| short(&word.to_string_lossy())).collect();
    format!("mercer {}", words.join(" "))
}

/// The name without its folder.
pub(crate) fn name(path: &str) -> &str {
    if path == "-" || path.starts_with("synth:") {
        return path;
    }
    std::path::Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_split_or_expand_them() {
        let words = ["a.csv", "", "two words", "it's", "$HOME", "synth:moons?n=9&p=2", "é"].map(quoted);
        let expected =
            ["a.csv", "''", "'two words'", r"'it'\''s'", "'$HOME'", "'synth:moons?n=9&p=2'", "'é'"];
        assert_eq!(words, expected);
    }

    #[test]
    fn values_that_look_like_flags_are_joined_with_an_equals_sign() {
        assert_eq!(flag("target", "-1"), "--target -1");
        assert_eq!(flag("target", "-x y"), "--target='-x y'");
        assert_eq!(file("-rows.csv"), "./-rows.csv");
        assert_eq!(file("-"), "-");
    }

    #[test]
    fn a_typed_command_does_not_show_folders() {
        let words = ["/bin/mercer", "fit", "/home/me/a b.csv", "--report=/tmp/r.html", "-o", "m/m.mercer"];
        let files = ["/home/me/a b.csv", "/tmp/r.html", "m/m.mercer"];
        let typed = typed(words.into_iter().map(OsString::from), &files);
        assert_eq!(typed, "mercer fit 'a b.csv' --report=r.html -o m.mercer");
    }
}
