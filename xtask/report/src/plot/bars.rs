// SPDX-License-Identifier: MIT OR Apache-2.0
//! Horizontal bars in groups, each with its figure beside it.

use anyhow::Result;
use plotters::chart::ChartBuilder;
use plotters::element::{EmptyElement, PathElement, Rectangle, Text};
use plotters::prelude::{IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, ShapeStyle};

use super::{Colour, NARROW, failed, letters, plain, width_of};

/// Height of a bar, and of what is between groups.
const BAR: f64 = 15.0;
const BETWEEN: f64 = 10.0;
/// Height of a name above a group.
const NAME: f64 = 17.0;
/// Below the axis: figures and unit.
const BELOW: u32 = 46;
/// Room for half of the last figure at the axis.
const MARGIN: u32 = 18;
/// Gap between a bar and its figure.
const GAP: i32 = 5;

/// A chart of bars.
#[derive(Debug, Default)]
pub struct Bars {
    /// Unit, below the axis.
    pub unit: String,
    /// Places of figures at the axis behind the point.
    pub places: usize,
    /// What the bars of a group are.
    pub series: Vec<(Colour, String)>,
    /// Whether the series are named above it.
    pub has_legend: bool,
    /// What a group's mark is, if it has one.
    pub mark: Option<String>,
    /// Groups, from the top.
    pub groups: Vec<Group>,
}

/// Bars that belong together.
#[derive(Debug, Default)]
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// Bars.
    pub bars: Vec<Bar>,
    /// A value that is marked across them.
    pub mark: Option<f64>,
}

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Which of the series.
    pub series: usize,
    /// Length of the bar.
    pub value: f64,
    /// How far whiskers reach to both sides.
    pub deviation: f64,
    /// The figure beside it.
    pub text: String,
}

impl Bar {
    fn left(&self) -> f64 {
        (self.value - self.deviation).min(0.0)
    }

    fn right(&self) -> f64 {
        (self.value + self.deviation).max(0.0)
    }
}

impl Bars {
    pub(super) fn legend(&self) -> Vec<(Colour, String)> {
        let named = self.series.iter().filter(|_| self.has_legend);
        let mut legend: Vec<_> = named.cloned().collect();
        legend.extend(self.mark.iter().map(|it| (Colour::INK, it.clone())));
        legend
    }

    fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|it| &it.bars)
    }

    /// The ends of the axis: all bars, and room for their figures.
    fn range(&self, pixels: f64) -> (f64, f64) {
        let marks = self.groups.iter().filter_map(|it| it.mark);
        let least = self.bars().map(Bar::left).fold(0.0, f64::min);
        let most = self.bars().map(Bar::right).chain(marks).fold(0.0, f64::max);
        let room = |is_left: bool| {
            let these = self.bars().filter(|it| (it.value < 0.0) == is_left);
            these
                .map(|it| width_of(&it.text) + 2.0 * f64::from(GAP))
                .fold(0.0, f64::max)
        };
        let (left, right) = (room(true), room(false).max(12.0));
        let span = if most > least { most - least } else { 1.0 };
        let unit = span / (pixels - left - right).max(pixels / 4.0);
        (least - left * unit, most + right * unit)
    }

    pub(super) fn draw(&self, width: u32) -> Result<String> {
        let narrow = width < NARROW;
        let names = self.groups.iter().map(|it| width_of(&it.name));
        let beside = if narrow {
            f64::from(MARGIN)
        } else {
            names.fold(0.0, f64::max) + 12.0
        };
        let above = if narrow { NAME } else { 0.0 };
        let heights = self.groups.iter().map(|it| it.bars.len() as f64 * BAR);
        let height = heights.sum::<f64>() + self.groups.len() as f64 * (BETWEEN + above);
        let (left, right) = self.range(f64::from(width - MARGIN) - beside);
        let mut svg = String::new();
        {
            let size = (width, height as u32 + BELOW);
            let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            let mut chart = ChartBuilder::on(&root)
                .margin_right(MARGIN)
                .x_label_area_size(BELOW)
                .y_label_area_size(beside as u32)
                .build_cartesian_2d(left..right, height..0.0)
                .map_err(failed)?;
            let ticks = if narrow { 4 } else { 8 };
            let is_percent = self.bars().any(|it| it.text.ends_with('%'));
            let suffix = if is_percent { " %" } else { "" };
            let places = self.places;
            chart
                .configure_mesh()
                .disable_y_mesh()
                .disable_y_axis()
                .x_labels(ticks)
                .x_label_formatter(&|it| {
                    format!("{}{suffix}", donjon_figures::format::number(*it, places))
                })
                .x_desc(self.unit.as_str())
                .axis_style(Colour::GRID.marker())
                .bold_line_style(Colour::GRID.marker())
                .light_line_style(plotters::style::TRANSPARENT)
                .label_style(plain(Colour::INK))
                .axis_desc_style(plain(Colour::INK))
                .draw()
                .map_err(failed)?;
            let ink = ShapeStyle::from(Colour::INK.marker()).stroke_width(1);
            let mut top = BETWEEN / 2.0;
            for group in &self.groups {
                let bottom = top + above + group.bars.len() as f64 * BAR;
                let (at, place, anchor) = if narrow {
                    ((left, top + NAME / 2.0), (GAP, 0), HPos::Left)
                } else {
                    ((left, (top + bottom) / 2.0), (-8, 0), HPos::Right)
                };
                let name = Text::new(group.name.clone(), place, letters(Colour::INK, anchor));
                chart
                    .draw_series([EmptyElement::at(at) + name])
                    .map_err(failed)?;
                // Last, so that no line goes through a figure.
                let mut texts = Vec::new();
                for (number, bar) in group.bars.iter().enumerate() {
                    let upper = top + above + number as f64 * BAR;
                    let middle = upper + BAR / 2.0;
                    let colour = self
                        .series
                        .get(bar.series)
                        .map_or(Colour::NATIVE, |it| it.0);
                    let ends = [(0.0, upper + 1.5), (bar.value, upper + BAR - 1.5)];
                    chart
                        .draw_series([Rectangle::new(ends, colour.marker().filled())])
                        .map_err(failed)?;
                    if bar.deviation > 0.0 {
                        let (from, to) = (bar.value - bar.deviation, bar.value + bar.deviation);
                        let lines = [
                            [(from, middle), (to, middle)],
                            [(from, middle - 3.0), (from, middle + 3.0)],
                            [(to, middle - 3.0), (to, middle + 3.0)],
                        ];
                        chart
                            .draw_series(lines.map(|it| PathElement::new(it.to_vec(), ink)))
                            .map_err(failed)?;
                    }
                    let (end, place, anchor) = if bar.value < 0.0 {
                        (bar.left(), -GAP, HPos::Right)
                    } else {
                        (bar.right(), GAP, HPos::Left)
                    };
                    let text =
                        Text::new(bar.text.clone(), (place, 0), letters(Colour::INK, anchor));
                    texts.push(EmptyElement::at((end, middle)) + text);
                }
                // Not through names.
                let line = [
                    (0.0, top + above - BETWEEN / 2.0),
                    (0.0, bottom + BETWEEN / 2.0),
                ];
                chart
                    .draw_series([PathElement::new(line.to_vec(), ink)])
                    .map_err(failed)?;
                if let Some(mark) = group.mark {
                    let line = vec![(mark, top + above - 2.0), (mark, bottom + 2.0)];
                    chart
                        .draw_series([PathElement::new(line, ink.stroke_width(2))])
                        .map_err(failed)?;
                }
                chart.draw_series(texts).map_err(failed)?;
                top = bottom + BETWEEN;
            }
            root.present().map_err(failed)?;
        }
        Ok(svg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Bars {
        let bar = |value: f64| Bar {
            series: 0,
            value,
            deviation: 1.0,
            text: format!("<{value}>"),
        };
        Bars {
            unit: "percent".into(),
            places: 0,
            series: vec![(Colour::named("asid"), "asid".into())],
            has_legend: true,
            mark: None,
            groups: vec![Group {
                name: "fork & exit".into(),
                bars: vec![bar(5.0), bar(-3.0)],
                mark: Some(7.5),
            }],
        }
    }

    #[test]
    fn bars_whiskers_and_marks_are_in_the_range() {
        let (left, right) = chart().range(400.0);
        assert!(left < -4.0, "{left}");
        assert!(right > 7.5, "{right}");
        // Room for a figure beside the longest bar.
        assert!((right - 7.5) / (right - left) * 400.0 >= 20.0);
    }

    #[test]
    fn a_legend_has_the_series_and_the_mark() {
        let mut chart = chart();
        chart.mark = Some("goal".into());
        let goal = (Colour::INK, "goal".to_owned());
        assert_eq!(
            chart.legend(),
            [(Colour::named("asid"), "asid".to_owned()), goal.clone()]
        );
        chart.has_legend = false;
        assert_eq!(chart.legend(), [goal]);
    }

    #[test]
    fn text_is_escaped_and_colours_are_markers() {
        for width in super::super::WIDTHS {
            let svg = chart().draw(width).expect("a chart");
            assert!(svg.contains("&lt;5&gt;"), "{svg}");
            assert!(svg.contains("fork &amp; exit"), "{svg}");
            assert!(svg.contains("#0D0E03"), "{svg}");
        }
    }
}
