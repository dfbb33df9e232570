// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts as SVG without colours and sizes of its own: the page's style sheet has the colours, so
//! that a chart is readable on light and on dark, and the page has the width.

mod bars;
mod colour;
mod curves;

use anyhow::{Result, anyhow};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontFamily, IntoFont, TextStyle};

pub use bars::{Bar, Bars, Group};
pub use colour::Colour;
pub use curves::{Curve, Curves};

/// Widths in which each chart is drawn: for a screen and for a telephone.
pub const WIDTHS: [u32; 2] = [880, 350];
/// Below this width, names stand above and not beside.
const NARROW: u32 = 500;
/// Height of letters. The SVG library divides by [`SCALE`].
const LETTERS: f64 = 12.0;
/// Between what the SVG library is told and the size that it writes.
const SCALE: f64 = 1.24;
/// Width of a letter of that height, on the average.
const LETTER: f64 = 6.8;

/// Something to draw.
#[derive(Debug)]
pub enum Chart {
    /// Horizontal bars in groups.
    Bars(Bars),
    /// Lines over logarithmic axes.
    Curves(Curves),
}

impl Chart {
    /// Lists what each colour means.
    pub fn legend(&self) -> Vec<(Colour, String)> {
        match self {
            Self::Bars(bars) => bars.legend(),
            Self::Curves(curves) => curves.legend(),
        }
    }

    /// Says whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Bars(bars) => bars.groups.iter().all(|it| it.bars.is_empty()),
            Self::Curves(curves) => curves.curves.is_empty(),
        }
    }

    /// Draws the SVG element, of which the page decides the size.
    ///
    /// # Errors
    ///
    /// If the library fails.
    pub fn svg(&self, width: u32) -> Result<String> {
        let svg = match self {
            Self::Bars(bars) => bars.draw(width)?,
            Self::Curves(curves) => curves.draw(width)?,
        };
        Ok(without_size(&colour::to_variables(&svg)))
    }
}

fn without_size(svg: &str) -> String {
    let start = svg.find("<svg").unwrap_or_default();
    let mut svg = svg[start..].to_owned();
    for attribute in [" width=\"", " height=\""] {
        let end = svg.find('>').unwrap_or_default();
        if let Some(begin) = svg[..end].find(attribute) {
            let value = begin + attribute.len();
            let length = svg[value..end].find('"').unwrap_or_default();
            svg.replace_range(begin..=value + length, "");
        }
    }
    svg
}

/// Text of the usual size that is placed by this point of it.
fn letters(colour: Colour, horizontal: HPos) -> TextStyle<'static> {
    TextStyle {
        font: (FontFamily::SansSerif, LETTERS * SCALE).into_font(),
        color: colour.marker().to_backend_color(),
        pos: Pos::new(horizontal, VPos::Center),
    }
}

/// Style of letters, for a text whose place in the drawing does not matter.
fn plain(colour: Colour) -> TextStyle<'static> {
    letters(colour, HPos::Left)
}

/// How wide `text` is, roughly.
fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// The library's errors borrow what they are about.
fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("drawing a chart: {error}")
}
