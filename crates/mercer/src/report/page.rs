//! The frame of every page, and the elements that pages consist of.

use std::fmt::Write;

use super::About;
use super::chart::Chart;
use super::ink::style_sheet;
use super::text::{escaped, joined, name, prose};

const STYLE: &str = include_str!("page.css");

/// A page under construction. Foreign texts must be escaped before they are added (`text.rs`).
#[derive(Default)]
pub(super) struct Page {
    body: String,
    charts: usize,
    below: bool,
}

impl Page {
    /// Adds HTML unchanged.
    pub(super) fn add(&mut self, html: &str) {
        self.body.push_str(html);
        self.body.push('\n');
    }

    /// A heading.
    pub(super) fn section(&mut self, title: &str) {
        let level = if self.below { 3 } else { 2 };
        self.add(&format!("<h{level}>{title}</h{level}>"));
    }

    /// Adds elements whose headings are one level below the last one.
    pub(super) fn below(&mut self, pieces: impl FnOnce(&mut Self)) {
        self.below = true;
        pieces(self);
        self.below = false;
    }

    /// A chart with its caption, as HTML; nothing if there is nothing to draw.
    pub(super) fn figure(&mut self, chart: &Chart, caption: &str) {
        self.charts += 1;
        if let Some(svg) = chart.svg(self.charts) {
            self.add(&format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>"));
        }
    }

    /// Adds elements side by side where there is room.
    pub(super) fn panels(&mut self, pieces: impl FnOnce(&mut Self)) {
        self.add("<div class=\"panels\">");
        pieces(self);
        self.add("</div>");
    }

    /// Adds warnings.
    pub(super) fn warnings(&mut self, texts: &[String]) {
        if texts.iter().all(|text| text.trim().is_empty()) {
            return;
        }
        let items = joined(
            texts
                .iter()
                .filter(|text| !text.trim().is_empty())
                .map(|text| format!("<li>{}</li>", prose(text))),
        );
        self.add(&format!("<div class=\"note\" role=\"note\"><ul>{items}</ul></div>"));
    }

    /// Adds short facts, name and value.
    pub(super) fn facts(&mut self, facts: &[(&str, String)]) {
        let items = joined(facts.iter().map(|(what, value)| format!("<li>{what} <b>{value}</b></li>")));
        self.add(&format!("<ul class=\"facts\">{items}</ul>"));
    }

    /// Adds settings, seed and command, so that the page can be reproduced.
    pub(super) fn repeat(&mut self, about: &About) {
        self.section("Settings and command");
        let mut list = String::from("<dl>");
        let mut row = |what: &str, value: &str| {
            let _ = write!(list, "<dt>{what}</dt><dd>{value}</dd>");
        };
        row("data", &name(&about.source));
        // Some methods need no target.
        if !about.target.is_empty() {
            row("target", &name(&about.target));
        }
        for (setting, value) in &about.settings {
            row(&escaped(setting), &name(value));
        }
        row("seed", &about.seed.to_string());
        row("version", escaped(&format!("mercer {}", about.version)).trim());
        list.push_str("</dl>");
        self.add(&list);
        if !about.command.is_empty() {
            self.add(&format!("<pre><code>{}</code></pre>", escaped(&about.command)));
            self.add("<p class=\"soft\">File names are shown without their folders.</p>");
        }
    }

    /// The complete page. `kind` is the kind of report, `answer` (HTML) its first sentence; the title is the data's name.
    pub(super) fn finish(self, kind: &str, answer: &str, about: &About) -> String {
        let source = if about.source.trim().is_empty() { "data" } else { about.source.trim() };
        let colours = style_sheet();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <meta name=\"generator\" content=\"{version}\"/>\n\
             <title>{kind}: {plain}</title>\n<style>\n{colours}{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<p class=\"kind\">mercer · {kind}</p>\n<h1>{title}</h1>\n\
             <p class=\"answer\">{answer}</p>\n</header>\n<main>\n{body}</main>\n\
             <footer>Made by {version}. The page is self-contained; nothing is loaded from elsewhere.</footer>\n\
             </body>\n</html>\n",
            version = escaped(format!("mercer {}", about.version).trim()),
            plain = escaped(source),
            title = name(source),
            body = self.body,
        )
    }
}

/// A table that scrolls horizontally if it is too wide; `head` has each column's name and whether it holds numbers.
pub(super) fn table(class: &str, head: &[(&str, bool)], rows: &str) -> String {
    let cells = joined(head.iter().map(|(title, number)| {
        format!("<th scope=\"col\"{}>{title}</th>", if *number { " class=\"n\"" } else { "" })
    }));
    format!(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"{class}\"><thead><tr>{cells}</tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    )
}

/// A foldable section.
pub(super) fn folded(summary: &str, inside: &str) -> String {
    format!("<details><summary>{summary}</summary>{inside}</details>")
}
