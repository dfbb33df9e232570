// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colours by what they stand for.

use plotters::style::RGBColor;

/// What a colour stands for, as its place among the [`NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(u8);

/// The variables of the style sheet, for light and for dark: letters and axes, lines of the grid,
/// kernels, and figures of others.
const NAMES: [&str; 10] = [
    "ink", "grid", "native", "asid", "tlbi", "strict", "first", "second", "third", "fourth",
];

impl Colour {
    /// Colour of letters and axes.
    pub const INK: Self = Self(0);
    /// Colour of the lines of a grid.
    pub const GRID: Self = Self(1);
    /// Colour of the native kernel.
    pub const NATIVE: Self = Self(2);

    /// Finds the colour of a name; that of the native kernel if there is none.
    pub fn named(name: &str) -> Self {
        let place = NAMES.iter().position(|it| *it == name);
        place.map_or(Self::NATIVE, |it| Self(it as u8))
    }

    /// Chooses a colour for the line of this number in a chart.
    pub const fn of_line(number: usize) -> Self {
        const LINES: [u8; 8] = [3, 4, 5, 6, 7, 8, 9, 2];
        Self(LINES[number % LINES.len()])
    }

    /// Names the variable of the style sheet.
    pub fn variable(self) -> String {
        format!("--{}", NAMES[usize::from(self.0)])
    }

    /// Gives what stands in the library's SVG until [`to_variables`].
    pub const fn marker(self) -> RGBColor {
        RGBColor(0x0d, 0x0e, self.0)
    }
}

/// Replaces each marker by its variable.
pub fn to_variables(svg: &str) -> String {
    (0..NAMES.len() as u8)
        .map(Colour)
        .fold(svg.to_owned(), |svg, colour| {
            let RGBColor(red, green, blue) = colour.marker();
            let marker = format!("\"#{red:02X}{green:02X}{blue:02X}\"");
            svg.replace(&marker, &format!("\"var({})\"", colour.variable()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_become_variables() {
        let svg = r##"<rect fill="#0D0E03" stroke="none"/><text fill="#0D0E00">#0D0E03</text>"##;
        let expected =
            r##"<rect fill="var(--asid)" stroke="none"/><text fill="var(--ink)">#0D0E03</text>"##;
        assert_eq!(to_variables(svg), expected);
    }

    #[test]
    fn every_colour_is_in_the_style_sheet() {
        for name in NAMES {
            assert_eq!(Colour::named(name).variable(), format!("--{name}"));
            let count = include_str!("../style.css")
                .matches(&format!("--{name}:"))
                .count();
            assert_eq!(count, 2, "{name}: for light and for dark");
        }
        assert_eq!(Colour::named("<other>"), Colour::NATIVE);
    }
}
