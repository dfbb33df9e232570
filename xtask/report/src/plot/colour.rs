// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colours by what they stand for.

use plotters::style::RGBColor;

/// What a colour stands for. The style sheet has a variable of each name, for light and for dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Letters and axes.
    Ink,
    /// Lines of the grid.
    Grid,
    /// The native kernel.
    Native,
    /// Mode `asid`.
    Asid,
    /// Mode `tlbi`.
    Tlbi,
    /// Mode `strict`.
    Strict,
    /// Colour of the first of others' figures.
    First,
    /// Colour of the second of others' figures.
    Second,
    /// Colour of the third of others' figures.
    Third,
    /// Colour of the fourth of others' figures.
    Fourth,
}

impl Colour {
    /// All.
    pub const ALL: [Self; 10] = [
        Self::Ink,
        Self::Grid,
        Self::Native,
        Self::Asid,
        Self::Tlbi,
        Self::Strict,
        Self::First,
        Self::Second,
        Self::Third,
        Self::Fourth,
    ];
    /// Colours for lines of which each is something else.
    pub const LINES: [Self; 8] = [
        Self::Asid,
        Self::Tlbi,
        Self::Strict,
        Self::First,
        Self::Second,
        Self::Third,
        Self::Fourth,
        Self::Native,
    ];

    /// The colour of this name; that of the native kernel if there is none.
    pub fn named(name: &str) -> Self {
        let is_it = |it: &Self| it.variable().strip_prefix("--") == Some(name);
        Self::ALL.into_iter().find(is_it).unwrap_or(Self::Native)
    }

    /// The variable of the style sheet.
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Ink => "--ink",
            Self::Grid => "--grid",
            Self::Native => "--native",
            Self::Asid => "--asid",
            Self::Tlbi => "--tlbi",
            Self::Strict => "--strict",
            Self::First => "--first",
            Self::Second => "--second",
            Self::Third => "--third",
            Self::Fourth => "--fourth",
        }
    }

    /// A colour that stands in the library's SVG until [`to_variables`].
    pub const fn marker(self) -> RGBColor {
        RGBColor(0x0d, 0x0e, self as u8)
    }
}

/// Replaces each marker by its variable.
pub fn to_variables(svg: &str) -> String {
    Colour::ALL.iter().fold(svg.to_owned(), |svg, colour| {
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
}
