//! One chart as an SVG element, drawn by `plotters` on axes from 0 to 1.
//!
//! differs plotters has integer pixels and no themes: ten of its pixels are one of the picture's, and its SVG is trimmed and
//!         given a title for screen readers. Values are placed on axes here (`axis.rs`), because the axes of plotters loop
//!         forever on ranges like 1e−300..1e300.

use std::fmt::Write;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::{
    Cartesian2d, ChartBuilder, ChartContext, Circle, Color, DashedLineSeries, DrawingArea,
    DrawingAreaErrorKind, EmptyElement, IntoDrawingArea, IntoFont, PathElement, Polygon, SVGBackend,
    ShapeStyle, TRANSPARENT,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{RGBAColor, TextStyle};

use super::axis::Axis;
use super::ink::Ink;
use super::text::{clipped, escaped};

/// Width of every chart, about that of a phone, so that the font size is right there.
const WIDTH: u32 = 340;
const FONT_SIZE: f64 = 11.0;
/// Pixels of plotters per pixel of the picture.
const SUBPIXELS: u32 = 10;
/// Characters of a title that fit into the width.
const MAX_TITLE_LENGTH: usize = 48;

/// What is drawn over the axes, in this order.
pub(super) enum Layer {
    /// A line through points; it breaks where one is not finite.
    Line { ink: Ink, width: f64, points: Vec<(f64, f64)> },
    /// A dashed horizontal line.
    Level { ink: Ink, dash: u32, value: f64 },
    /// A dashed vertical line.
    Position { ink: Ink, value: f64 },
    /// Points; `shape` as in [`shape`].
    Marks { ink: Ink, shape: usize, size: f64, opacity: f64, points: Vec<(f64, f64)> },
    /// Error bars: x, low end, high end.
    Whiskers { ink: Ink, bars: Vec<(f64, f64, f64)> },
}

/// A chart.
pub(super) struct Chart {
    /// Title for screen readers.
    pub(super) name: String,
    /// Description for screen readers.
    pub(super) description: String,
    /// The horizontal axis and its title, clipped by [`title`].
    pub(super) x: (String, Axis),
    /// The vertical axis and its title.
    pub(super) y: (String, Axis),
    /// Height, where the width is 340.
    pub(super) height: u32,
    /// The data.
    pub(super) layers: Vec<Layer>,
}

type Drawn<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Places, Places>>;
type Failure = DrawingAreaErrorKind<std::io::Error>;

impl Chart {
    /// The SVG element; `id` must be unique on a page. None if nothing can be drawn.
    pub(super) fn svg(&self, id: usize) -> Option<String> {
        let mut drawn = String::new();
        self.draw(&mut drawn).ok()?;
        let inside = &drawn[drawn.find('>')? + 1..];
        // What plotters spells out is the default of SVG.
        let inside = inside
            .replace(" opacity=\"1\"", "")
            .replace(" stroke=\"none\" stroke-width=\"1\"", "")
            .replace(" stroke=\"none\"", "")
            .replace(" font-family=\"sans-serif\"", "")
            .replace(" \"/>", "\"/>");
        let mut svg = String::with_capacity(inside.len() + 400);
        let (width, height) = (WIDTH * SUBPIXELS, self.height * SUBPIXELS);
        let _ = write!(
            svg,
            "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"name-{id} about-{id}\"><title id=\"name-{id}\">{}</title>\
             <desc id=\"about-{id}\">{}</desc>",
            escaped(&self.name),
            escaped(&self.description),
        );
        svg.push_str(&inside);
        Some(svg)
    }

    fn draw(&self, target: &mut String) -> Result<(), Failure> {
        let root =
            SVGBackend::with_string(target, (WIDTH * SUBPIXELS, self.height * SUBPIXELS)).into_drawing_area();
        let letters = self.y.1.ticks.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(1);
        let left = 14 + 7 * u32::try_from(letters).unwrap_or(1);
        let mut chart = ChartBuilder::on(&root)
            .margin_top(22 * SUBPIXELS)
            .margin_right(14 * SUBPIXELS)
            .margin_bottom(18 * SUBPIXELS)
            .x_label_area_size(20 * SUBPIXELS)
            .y_label_area_size(left * SUBPIXELS)
            .build_cartesian_2d(Places::of(&self.x.1), Places::of(&self.y.1))?;
        self.titles(&root)?;
        self.mesh(&mut chart)?;
        for layer in &self.layers {
            self.layer(&mut chart, layer)?;
        }
        drop(chart);
        root.present()
    }

    fn titles(&self, root: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Failure> {
        let at = |x: u32, y: u32| ((x * SUBPIXELS).cast_signed(), (y * SUBPIXELS).cast_signed());
        let y_title = letters(Ink::Text).pos(Pos::new(HPos::Left, VPos::Top));
        root.draw_text(&self.y.0, &y_title, at(2, 3))?;
        let x_title = letters(Ink::Text).pos(Pos::new(HPos::Right, VPos::Bottom));
        root.draw_text(&self.x.0, &x_title, at(WIDTH - 14, self.height - 6))
    }

    fn mesh(&self, chart: &mut Drawn<'_, '_>) -> Result<(), Failure> {
        let label = |axis: &Axis, at: f64| -> String {
            let found = axis.ticks.iter().find(|(place, _)| (place - at).abs() < 1e-12);
            found.map_or_else(String::new, |(_, label)| label.clone())
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(stroke(Ink::Grid, 1.0))
            .axis_style(stroke(Ink::Faint, 1.0))
            .label_style(letters(Ink::Muted))
            .set_all_tick_mark_size(4 * SUBPIXELS)
            .x_label_formatter(&|at| label(&self.x.1, *at))
            .y_label_formatter(&|at| label(&self.y.1, *at))
            .draw()
    }

    fn layer(&self, chart: &mut Drawn<'_, '_>, layer: &Layer) -> Result<(), Failure> {
        match layer {
            Layer::Line { ink, width, points } => {
                for run in points.split(|point| self.place(*point).is_none()).filter(|run| run.len() > 1) {
                    let path: Vec<_> = run.iter().filter_map(|point| self.place(*point)).collect();
                    chart.plotting_area().draw(&PathElement::new(path, stroke(*ink, *width)))?;
                }
            }
            Layer::Level { ink, dash, value } => {
                if let Some(y) = self.y.1.place(*value) {
                    dashed(chart, [(0.0, y), (1.0, y)], *ink, *dash)?;
                }
            }
            Layer::Position { ink, value } => {
                if let Some(x) = self.x.1.place(*value) {
                    dashed(chart, [(x, 0.0), (x, 1.0)], *ink, 3)?;
                }
            }
            Layer::Marks { ink, shape, size, opacity, points } => {
                let style: ShapeStyle = ink.colour().mix(*opacity).filled();
                for at in points.iter().filter_map(|point| self.place(*point)) {
                    mark(chart, at, *shape, *size, style)?;
                }
            }
            Layer::Whiskers { ink, bars } => {
                for &(x, low, high) in bars {
                    let (Some(bottom), Some(top)) = (self.place((x, low)), self.place((x, high))) else {
                        continue;
                    };
                    let path = PathElement::new(vec![bottom, top], stroke(*ink, 1.2));
                    chart.plotting_area().draw(&path)?;
                }
            }
        }
        Ok(())
    }

    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.x.1.place(x)?, self.y.1.place(y)?))
    }
}

/// The outline of a mark around 0, of about radius 1; None: a circle. There are five shapes and seven colours, so classes
/// repeat only after 35.
pub(super) fn shape(k: usize) -> Option<&'static [(f64, f64)]> {
    const UP: [(f64, f64); 3] = [(0.0, -1.25), (1.1, 0.75), (-1.1, 0.75)];
    const SQUARE: [(f64, f64); 4] = [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)];
    const DOWN: [(f64, f64); 3] = [(0.0, 1.25), (-1.1, -0.75), (1.1, -0.75)];
    const DIAMOND: [(f64, f64); 4] = [(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)];
    match k % 5 {
        0 => None,
        1 => Some(&UP),
        2 => Some(&SQUARE),
        3 => Some(&DOWN),
        _ => Some(&DIAMOND),
    }
}

/// The mark of a series for a legend, as SVG.
pub(super) fn key(ink: Ink, shape_number: usize) -> String {
    let fill = ink.hex();
    let inside = match shape(shape_number) {
        None => format!("<circle r=\"4\" fill=\"{fill}\"/>"),
        Some(outline) => {
            let points: Vec<String> =
                outline.iter().map(|(x, y)| format!("{:.1},{:.1}", 4.0 * x, 4.0 * y)).collect();
            format!("<polygon points=\"{}\" fill=\"{fill}\"/>", points.join(" "))
        }
    };
    format!("<svg class=\"key\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">{inside}</svg>")
}

/// A line for a legend; `dash` as in [`Layer::Level`], 0: none.
pub(super) fn line_key(ink: Ink, dash: u32) -> String {
    let dashes = if dash == 0 { String::new() } else { format!(" stroke-dasharray=\"{dash} {dash}\"") };
    format!(
        "<svg class=\"key line\" viewBox=\"-12 -6 24 12\" aria-hidden=\"true\">\
         <path d=\"M-12 0H12\" stroke=\"{}\" stroke-width=\"2\"{dashes}/></svg>",
        ink.hex()
    )
}

/// An axis for plotters: from 0 to 1, with labels at these positions.
struct Places(Vec<f64>);

impl Places {
    fn of(axis: &Axis) -> Self {
        Self(axis.ticks.iter().map(|(place, _)| *place).collect())
    }
}

impl Ranged for Places {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (first, last): (i32, i32)) -> i32 {
        (f64::from(first) + place * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.0.clone() }
    }

    fn range(&self) -> std::ops::Range<f64> {
        0.0..1.0
    }
}

/// A foreign name as the title of an axis.
pub(super) fn title(name: &str) -> String {
    clipped(name, MAX_TITLE_LENGTH)
}

fn stroke(ink: Ink, width: f64) -> ShapeStyle {
    let color: RGBAColor = ink.colour().to_rgba();
    ShapeStyle { color, filled: false, stroke_width: (width * f64::from(SUBPIXELS)) as u32 }
}

fn letters(ink: Ink) -> TextStyle<'static> {
    // plotters writes sizes divided by 1.24.
    ("sans-serif", FONT_SIZE * 1.24 * f64::from(SUBPIXELS)).into_font().color(&ink.colour())
}

fn dashed(chart: &mut Drawn<'_, '_>, ends: [(f64, f64); 2], ink: Ink, dash: u32) -> Result<(), Failure> {
    let line = DashedLineSeries::new(ends, dash * SUBPIXELS, dash * SUBPIXELS, stroke(ink, 1.2));
    chart.draw_series(line).map(|_| ())
}

fn mark(
    chart: &mut Drawn<'_, '_>,
    at: (f64, f64),
    shape_number: usize,
    size: f64,
    style: ShapeStyle,
) -> Result<(), Failure> {
    let area = chart.plotting_area();
    let size = size * f64::from(SUBPIXELS);
    match shape(shape_number) {
        None => area.draw(&Circle::new(at, size as u32, style)),
        Some(outline) => {
            let pixel = |&(x, y): &(f64, f64)| ((x * size).round() as i32, (y * size).round() as i32);
            let outline: Vec<(i32, i32)> = outline.iter().map(pixel).collect();
            area.draw(&(EmptyElement::at(at) + Polygon::new(outline, style)))
        }
    }
}
