// SPDX-License-Identifier: MIT OR Apache-2.0
//! What should be so, and whether it is.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

/// A goal: a figure and the most that it may be.
#[derive(Debug, Serialize)]
pub struct Goal {
    /// What it is about.
    pub name: String,
    /// What was measured.
    pub figure: f64,
    /// The most that it may be.
    pub most: f64,
    /// Whether it is not more.
    pub is_met: bool,
}

impl Goal {
    /// A goal about a figure.
    pub fn at_most(name: impl Into<String>, figure: f64, most: f64) -> Self {
        Self {
            name: name.into(),
            figure,
            most,
            is_met: figure <= most,
        }
    }

    /// A goal about the ratio of two figures.
    pub fn ratio(name: impl Into<String>, figure: f64, other: f64, most: f64) -> Self {
        Self::at_most(name, figure / other, most)
    }
}

impl Display for Goal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = if self.is_met { "met" } else { "MISSED" };
        let Self {
            name, figure, most, ..
        } = self;
        write!(f, "{word}: {name}: {figure:.3}, at most {most}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_that_is_missed_says_so() {
        let met = Goal::ratio("one", 2.0, 2.0, 1.0).to_string();
        assert_eq!(met, "met: one: 1.000, at most 1");
        assert!(!Goal::at_most("other", 1.1, 1.0).is_met);
        assert!(!Goal::ratio("nothing measured", 0.0, 0.0, 1.0).is_met);
    }
}
