//! The table of targets that Rust, Python and the command line must read alike: `tests/targets.csv`.
//!
//! A value's column has parts such as `700..900*1`, every whole number from 700 to 900 once, and `0.5*3`.

const TABLE: &str = include_str!("../../targets.csv");

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// `whole`, `fraction`, `bool` or `text`.
    pub(crate) kind: &'static str,
    pub(crate) values: Vec<String>,
    pub(crate) task: &'static str,
    /// `numbers`, `26 classes` or `error`.
    pub(crate) read_as: &'static str,
    pub(crate) warns: bool,
}

impl Case {
    /// Whether all values are written as numbers, as which a text file has them.
    pub(crate) fn is_numeric(&self) -> bool {
        self.values.iter().all(|text| text.parse::<f64>().is_ok())
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let mut lines = TABLE.lines();
    assert_eq!(lines.next(), Some("name,type,values,task,read as,warns"));
    lines.map(case).collect()
}

fn case(line: &'static str) -> Case {
    let [name, kind, values, task, read_as, warns] =
        line.split(',').collect::<Vec<_>>().try_into().expect("six columns");
    let values = values.split(' ').flat_map(part).collect();
    Case { name, kind, values, task, read_as, warns: warns == "yes" }
}

fn part(text: &str) -> Vec<String> {
    let (values, times) = text.split_once('*').expect("times");
    let values: Vec<String> = match values.split_once("..") {
        None => vec![values.to_string()],
        Some((first, last)) => {
            let whole = |text: &str| text.parse::<i64>().expect("a whole number");
            (whole(first)..=whole(last)).map(|v| v.to_string()).collect()
        }
    };
    std::iter::repeat_n(values, times.parse().expect("times")).flatten().collect()
}
