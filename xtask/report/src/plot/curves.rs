// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines over two logarithmic axes, each with its name at its end.

use anyhow::Result;
use plotters::chart::ChartBuilder;
use plotters::coord::combinators::IntoLogRange;
use plotters::element::{Circle, EmptyElement, Text};
use plotters::prelude::{IntoDrawingArea, LineSeries, SVGBackend};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, ShapeStyle};

use super::{Colour, NARROW, failed, letters, plain, width_of};

const HEIGHT: u32 = 420;
const BELOW: u32 = 46;
const BESIDE: u32 = 74;
/// Least distance of names at the ends of lines.
const APART: f64 = 15.0;

/// A chart of lines.
#[derive(Debug)]
pub struct Curves {
    /// Below the axis.
    pub across: String,
    /// Text beside the axis.
    pub up: String,
    /// Lines.
    pub curves: Vec<Curve>,
}

/// A line.
#[derive(Debug)]
pub struct Curve {
    /// Name of the curve.
    pub name: String,
    /// Colour of the curve.
    pub colour: Colour,
    /// Points, all above zero.
    pub points: Vec<(f64, f64)>,
}

impl Curves {
    pub(super) fn legend(&self) -> Vec<(Colour, String)> {
        let name = |it: &Curve| (it.colour, it.name.clone());
        self.curves.iter().map(name).collect()
    }

    fn ends(&self, of: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let all = || self.curves.iter().flat_map(|it| &it.points).map(&of);
        let least = all().fold(f64::INFINITY, f64::min);
        let most = all().fold(0.0, f64::max);
        if least.is_finite() && most > 0.0 {
            (least / 1.3, most * 1.5)
        } else {
            (1.0, 10.0)
        }
    }

    pub(super) fn draw(&self, width: u32) -> Result<String> {
        let narrow = width < NARROW;
        let names = self.curves.iter().map(|it| width_of(&it.name));
        // On a telephone the legend has to do.
        let behind = if narrow {
            14.0
        } else {
            names.fold(0.0, f64::max) + 16.0
        };
        let (left, right) = self.ends(|it| it.0);
        let (bottom, top) = self.ends(|it| it.1);
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, (width, HEIGHT)).into_drawing_area();
            let mut chart = ChartBuilder::on(&root)
                .margin_top(8)
                .margin_right(behind as u32)
                .x_label_area_size(BELOW)
                .y_label_area_size(BESIDE)
                .build_cartesian_2d((left..right).log_scale(), (bottom..top).log_scale())
                .map_err(failed)?;
            let figure = |it: &f64| short(*it);
            chart
                .configure_mesh()
                .x_labels(if narrow { 4 } else { 8 })
                .y_labels(8)
                .x_label_formatter(&figure)
                .y_label_formatter(&figure)
                .x_desc(self.across.as_str())
                .y_desc(self.up.as_str())
                .axis_style(Colour::GRID.marker())
                .bold_line_style(Colour::GRID.marker())
                .light_line_style(plotters::style::TRANSPARENT)
                .label_style(plain(Colour::INK))
                .axis_desc_style(plain(Colour::INK))
                .draw()
                .map_err(failed)?;
            for curve in &self.curves {
                let style = ShapeStyle::from(curve.colour.marker()).stroke_width(2);
                chart
                    .draw_series(LineSeries::new(curve.points.iter().copied(), style))
                    .map_err(failed)?;
                let dots = curve.points.iter();
                let dot = |at: &(f64, f64)| Circle::new(*at, 3, curve.colour.marker().filled());
                chart.draw_series(dots.map(dot)).map_err(failed)?;
            }
            if !narrow {
                for (curve, at, lower) in self.places(bottom, top) {
                    let name = letters(Colour::INK, HPos::Left);
                    let name = Text::new(curve.name.clone(), (9, lower), name);
                    chart
                        .draw_series([EmptyElement::at(at) + name])
                        .map_err(failed)?;
                }
            }
            root.present().map_err(failed)?;
        }
        Ok(svg)
    }

    /// For each line its last point, and how far below it its name stands so that no two names
    /// lie over each other.
    fn places(&self, bottom: f64, top: f64) -> Vec<(&Curve, (f64, f64), i32)> {
        let pixels = f64::from(HEIGHT - BELOW - 8) / (top / bottom).ln();
        let mut last: Vec<(&Curve, (f64, f64))> = self
            .curves
            .iter()
            .filter_map(|it| Some((it, *it.points.last()?)))
            .collect();
        last.sort_by(|one, other| other.1.1.total_cmp(&one.1.1));
        let mut free = f64::NEG_INFINITY;
        let mut places = Vec::new();
        for (curve, at) in last {
            let wanted = (top / at.1).ln() * pixels;
            let place = wanted.max(free);
            free = place + APART;
            places.push((curve, at, (place - wanted).round() as i32));
        }
        places
    }
}

/// A figure at an axis.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        it if it >= 1e9 => (it / 1e9, " G"),
        it if it >= 1e6 => (it / 1e6, " M"),
        it if it >= 1e3 => (it / 1e3, " k"),
        it => (it, ""),
    };
    let places = if value < 1.0 {
        2
    } else if value < 10.0 && value.fract() > 0.04 {
        1
    } else {
        0
    };
    format!("{value:.places$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, last: f64) -> Curve {
        Curve {
            name: name.into(),
            colour: Colour::named("asid"),
            points: vec![(1.0, 100.0), (1024.0, last)],
        }
    }

    #[test]
    fn names_do_not_lie_over_each_other() {
        let curves = Curves {
            across: "pages".into(),
            up: "instructions".into(),
            curves: vec![curve("a", 1000.0), curve("b", 1001.0), curve("c", 1e6)],
        };
        let places = curves.places(50.0, 2e6);
        let names: Vec<&str> = places.iter().map(|it| it.0.name.as_str()).collect();
        assert_eq!(names, ["c", "b", "a"]);
        assert_eq!(places[1].2, 0);
        assert!(places[2].2 >= 14, "{}", places[2].2);
        for width in super::super::WIDTHS {
            let svg = curves.draw(width).expect("a chart");
            assert!(svg.contains("instructions"), "{svg}");
        }
    }

    #[test]
    fn figures_at_axes_are_short() {
        assert_eq!(short(1000.0), "1 k");
        assert_eq!(short(2_500_000.0), "2.5 M");
        assert_eq!(short(0.5), "0.50");
        assert_eq!(short(64.0), "64");
    }
}
