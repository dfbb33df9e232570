// SPDX-License-Identifier: MIT OR Apache-2.0
//! A chart as a template writes it: settings, an empty line, and a row for each group or line.
//!
//! The settings are `caption`, `says` (for those who cannot see it), `unit` (below the axis),
//! `up` (beside it), `places` of figures at the axis, `series`, `colours` if they are not those of
//! modes, `mark` (what marks are) and `legend: no`. In `says`, `$all` stands for each group with
//! its figures, `$first` for each with its first one, and `$ends`, with a unit behind it, for each
//! line with its ends.
//!
//! A row of `bars` is a name and a figure for each series, some with a deviation behind ±, or with
//! `mark` before it; one of `curves` is a name and points.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use donjon_figures::format::number;

use crate::markdown::{cells, plain};
use crate::plot::{Bar, Bars, Chart, Colour, Curve, Curves, Group};

/// A chart with its words.
#[derive(Debug)]
pub struct Figure {
    /// What it shows and how to read it, as Markdown.
    pub caption: String,
    /// Text for a reader who cannot see the chart: with the figures that matter.
    pub alternative: String,
    /// What is drawn.
    pub chart: Chart,
}

impl Figure {
    /// Reads the block of a kind; nothing if it has no figures.
    ///
    /// # Errors
    ///
    /// If the kind is none of charts.
    pub fn read(kind: &str, block: &str) -> Result<Option<Self>> {
        let (settings, rows) = block.split_once("\n\n").unwrap_or((block, ""));
        let settings = settings.lines().filter_map(|it| it.split_once(": "));
        let settings: BTreeMap<&str, &str> = settings.collect();
        let text = |name: &str| settings.get(name).map_or("", |it| it.trim()).to_owned();
        let rows = rows.lines().filter(|it| !it.is_empty());
        let rows = rows.map(|it| cells(it).iter().map(|it| plain(it)).collect());
        let mut says = plain(&text("says"));
        let chart = match kind {
            "bars" => {
                let groups: Vec<Group> = rows.map(group).collect();
                let figures = |it: &Group, count: usize| {
                    let bars = it.bars.iter().take(count).map(|it| it.text.as_str());
                    format!("{} {}", it.name, bars.collect::<Vec<_>>().join(", "))
                };
                let drawn = groups.iter().filter(|it| !it.bars.is_empty());
                let all = |count| joined(drawn.clone().map(|it| figures(it, count)));
                says = says.replace("$all", &all(usize::MAX));
                says = says.replace("$first", &all(1));
                let names = series(&text("series"), &text("colours"));
                Chart::Bars(Bars {
                    unit: plain(&text("unit")),
                    places: text("places").parse().unwrap_or_default(),
                    series: names,
                    has_legend: text("legend") != "no",
                    mark: settings.get("mark").map(|it| plain(it)),
                    groups,
                })
            }
            "curves" => {
                let colours = cells(settings.get("colours").map_or("", |it| it));
                let curves = rows.enumerate().map(|(place, row)| {
                    let colour = colours.get(place).filter(|it| !it.is_empty());
                    let other = Colour::of_line(place);
                    curve(&row, colour.map_or(other, |it| Colour::named(it)))
                });
                let curves: Vec<Curve> = curves.filter(|it| !it.points.is_empty()).collect();
                let unit = says.split_once("$ends").map_or("", |it| it.1);
                let unit = unit.trim_end_matches('.').to_owned();
                let all: Vec<String> = curves.iter().filter_map(ends).collect();
                says = says.replace("$ends", &all.join(&format!("{unit}; ")));
                Chart::Curves(Curves {
                    across: plain(&text("unit")),
                    up: plain(&text("up")),
                    curves,
                })
            }
            other => bail!("a template has a block `{other}`, which is no chart"),
        };
        Ok((!chart.is_empty()).then(|| Self {
            caption: text("caption"),
            alternative: says,
            chart,
        }))
    }
}

fn joined(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join("; ")
}

fn series(names: &str, colours: &str) -> Vec<(Colour, String)> {
    let names = cells(names);
    let colours = if colours.is_empty() {
        names.clone()
    } else {
        cells(colours)
    };
    let colours = colours.iter().map(|it| Colour::named(it));
    colours.zip(names.iter().map(|it| plain(it))).collect()
}

fn group(row: Vec<String>) -> Group {
    let mut group = Group::default();
    for (column, cell) in row.iter().enumerate() {
        let (text, deviation) = cell.split_once(" ± ").unwrap_or((cell, ""));
        if column == 0 {
            group.name.clone_from(cell);
        } else if let Some(mark) = cell.strip_prefix("mark ") {
            group.mark = figure(mark);
        } else if let Some(value) = figure(text) {
            group.bars.push(Bar {
                series: column - 1,
                value,
                deviation: figure(deviation).unwrap_or_default(),
                text: text.to_owned(),
            });
        }
    }
    group
}

fn curve(row: &[String], colour: Colour) -> Curve {
    let point = |it: &String| {
        let (x, y) = it.split_once(' ')?;
        Some((figure(x)?, figure(y)?)).filter(|it| it.0 > 0.0 && it.1 > 0.0)
    };
    let mut points: Vec<(f64, f64)> = row.iter().skip(1).filter_map(point).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    Curve {
        name: row.first().cloned().unwrap_or_default(),
        colour,
        points,
    }
}

/// The first point of a line and its last one.
fn ends(curve: &Curve) -> Option<String> {
    let point = |(x, y): &(f64, f64)| {
        let places = if *y < 10.0 && y.fract() != 0.0 { 2 } else { 0 };
        format!("{} at {}", number(*y, places), number(*x, 0))
    };
    let (first, last) = (point(curve.points.first()?), point(curve.points.last()?));
    Some(format!("{} from {first} to {last}", curve.name))
}

/// Reads a figure as tables have it.
fn figure(text: &str) -> Option<f64> {
    let digits = text.replace([',', '%', '+', ' '], "");
    digits.parse().ok().filter(|it: &f64| it.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_the_figures_of_their_cells() {
        let block = "caption: C `c`.\nsays: Bars: $all. First: $first.\nseries: asid | x\\|y\n\n\
                     fork\\_ | +5.0 % ± 1.5 | 1,000 | mark 4\nnull |  | -\n";
        let figure = Figure::read("bars", block)
            .expect("a block")
            .expect("a chart");
        assert_eq!(
            figure.alternative,
            "Bars: fork_ +5.0 %, 1,000. First: fork_ +5.0 %."
        );
        let Chart::Bars(bars) = figure.chart else {
            panic!("no bars");
        };
        assert_eq!(
            bars.series,
            [
                (Colour::named("asid"), "asid".into()),
                (Colour::NATIVE, "x|y".into())
            ]
        );
        let group = &bars.groups[0];
        let read: Vec<_> = group
            .bars
            .iter()
            .map(|it| (it.series, it.value, it.deviation))
            .collect();
        assert_eq!(
            (read, group.mark),
            (vec![(0, 5.0, 1.5), (1, 1000.0, 0.0)], Some(4.0))
        );
        assert!(
            Figure::read("bars", "caption: C\n\na |\n")
                .expect("a block")
                .is_none()
        );
        assert!(Figure::read("pie", block).is_err());
    }

    #[test]
    fn lines_go_from_left_to_right_above_zero() {
        let block = "says: Lines: $ends.\n\na | 16 2.5 | 1 1000 | 2 0\nb |\n";
        let figure = Figure::read("curves", block)
            .expect("a block")
            .expect("a chart");
        assert_eq!(
            figure.alternative,
            "Lines: a from 1,000 at 1 to 2.50 at 16."
        );
    }
}
