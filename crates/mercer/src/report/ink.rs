//! The colours of the charts in both themes.
//!
//! A chart is drawn in the light colours; the style sheet made here swaps them for variables, which the dark theme sets.
//! Blue, vermilion, green, purple and amber follow Okabe & Ito, whose set is safe for the colour-blind, shifted until
//! each has a contrast of 3 on its background. Classes differ in shape too.

use std::fmt::Write;

use plotters::style::RGBColor;

use super::text::joined;

/// Light and dark.
type Pair = ([u8; 3], [u8; 3]);

/// Backgrounds of the page.
pub(super) const PAPER: Pair = ([255, 255, 255], [21, 24, 28]);

const TEXT: Pair = ([31, 35, 40], [228, 231, 235]);
const MUTED: Pair = ([89, 96, 105], [160, 168, 178]);
const GRID: Pair = ([226, 229, 233], [48, 54, 61]);
const FAINT: Pair = ([184, 190, 198], [86, 94, 104]);

/// Colours of classes and lines.
pub(super) const SERIES_COLOURS: usize = 10;

const SERIES: [Pair; SERIES_COLOURS] = [
    ([0, 114, 178], [86, 180, 233]),
    ([203, 85, 0], [255, 140, 80]),
    ([0, 133, 96], [43, 199, 154]),
    ([166, 68, 127], [224, 143, 191]),
    ([150, 105, 0], [230, 179, 53]),
    ([74, 80, 88], [205, 210, 216]),
    ([91, 84, 214], [158, 154, 255]),
    ([178, 24, 43], [255, 105, 115]),
    ([96, 130, 0], [178, 214, 70]),
    ([0, 128, 150], [70, 210, 225]),
];

const STEPS: [Pair; 9] = [
    ([217, 115, 13], [105, 112, 214]),
    ([206, 90, 43], [134, 116, 222]),
    ([189, 71, 71], [165, 119, 220]),
    ([166, 61, 97], [194, 123, 206]),
    ([139, 55, 117], [217, 131, 182]),
    ([111, 51, 129], [232, 145, 151]),
    ([82, 48, 131], [240, 164, 124]),
    ([55, 43, 122], [244, 188, 106]),
    ([30, 32, 102], [247, 216, 112]),
];

/// The colour of a mark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// Class or line k; colours repeat after [`SERIES_COLOURS`].
    Series(usize),
    /// Step k of [`STEPS_OF_SCALE`], from low to high.
    Step(usize),
    /// Titles.
    Text,
    /// Labels.
    Muted,
    /// Lines behind the data.
    Grid,
    /// Lines that are there for comparison.
    Faint,
}

/// Steps of the scale for numbers.
pub(super) const STEPS_OF_SCALE: usize = STEPS.len();

impl Ink {
    fn pair(self) -> Pair {
        match self {
            Self::Series(k) => SERIES[k % SERIES.len()],
            Self::Step(k) => STEPS[k.min(STEPS.len() - 1)],
            Self::Text => TEXT,
            Self::Muted => MUTED,
            Self::Grid => GRID,
            Self::Faint => FAINT,
        }
    }

    /// The drawing colour, that of the light theme.
    pub(super) fn colour(self) -> RGBColor {
        let [r, g, b] = self.pair().0;
        RGBColor(r, g, b)
    }

    /// The drawing colour as `#RRGGBB`, for SVG attributes.
    pub(super) fn hex(self) -> String {
        hex(self.pair().0)
    }
}

/// CSS variables of both themes, and the rules that replace the drawing colours by them.
pub(super) fn style_sheet() -> String {
    let mut named: Vec<(String, Pair)> = vec![
        ("paper".into(), PAPER),
        ("text".into(), TEXT),
        ("muted".into(), MUTED),
        ("grid".into(), GRID),
        ("faint".into(), FAINT),
    ];
    named.extend(SERIES.iter().enumerate().map(|(k, pair)| (format!("series-{k}"), *pair)));
    named.extend(STEPS.iter().enumerate().map(|(k, pair)| (format!("step-{k}"), *pair)));
    let variables = |of: fn(&Pair) -> [u8; 3]| -> String {
        joined(named.iter().map(|(name, pair)| format!("--{name}:{};", hex(of(pair)))))
    };
    let mut css = String::new();
    let (light, dark) = (variables(|pair| pair.0), variables(|pair| pair.1));
    let _ = writeln!(css, ":root{{color-scheme:light dark;{light}}}");
    let _ = writeln!(css, "@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}");
    for (name, (light, _)) in &named {
        let hex = hex(*light);
        let _ = writeln!(
            css,
            "svg [fill=\"{hex}\"]{{fill:var(--{name})}}svg [stroke=\"{hex}\"]{{stroke:var(--{name})}}"
        );
    }
    css
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Relative luminance and contrast as WCAG 2 defines them.
    fn luminance(colour: [u8; 3]) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let [r, g, b] = colour.map(linear);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn marks_and_texts_have_enough_contrast_in_both_themes() {
        for (light, dark) in SERIES.iter().chain(&STEPS) {
            assert!(contrast(*light, PAPER.0) >= 3.0, "{light:?}: {}", contrast(*light, PAPER.0));
            assert!(contrast(*dark, PAPER.1) >= 3.0, "{dark:?}: {}", contrast(*dark, PAPER.1));
        }
        for (light, dark) in [TEXT, MUTED] {
            assert!(contrast(light, PAPER.0) >= 4.5 && contrast(dark, PAPER.1) >= 4.5);
        }
    }

    #[test]
    fn the_scale_goes_one_way_from_the_background() {
        for pair in STEPS.windows(2) {
            assert!(luminance(pair[0].0) > luminance(pair[1].0), "{pair:?}");
            assert!(luminance(pair[0].1) < luminance(pair[1].1), "{pair:?}");
        }
    }

    #[test]
    fn every_drawn_colour_is_swapped_for_its_own_variable() {
        let mut drawn: Vec<String> = SERIES.iter().chain(&STEPS).map(|pair| hex(pair.0)).collect();
        drawn.extend([TEXT, MUTED, GRID, FAINT, PAPER].map(|pair| hex(pair.0)));
        let n = drawn.len();
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn.len(), n);
    }
}
