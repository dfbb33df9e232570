// SPDX-License-Identifier: MIT OR Apache-2.0
//! What should be so, and whether it is.

use donjon_figures::records::compartments::Goal;

/// Makes a goal about a figure.
pub fn at_most(name: impl Into<String>, figure: f64, most: f64) -> Goal {
    Goal {
        name: name.into(),
        figure: figure.is_finite().then_some(figure),
        most,
        is_met: figure <= most,
    }
}

/// Makes a goal about the ratio of two figures.
pub fn ratio(name: impl Into<String>, figure: f64, other: f64, most: f64) -> Goal {
    at_most(name, figure / other, most)
}

/// Says whether a goal is met.
pub fn line(goal: &Goal) -> String {
    let word = if goal.is_met { "met" } else { "MISSED" };
    let figure = goal.figure.unwrap_or(f64::NAN);
    format!("{word}: {}: {figure:.3}, at most {}", goal.name, goal.most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_that_is_missed_says_so() {
        let met = line(&ratio("one", 2.0, 2.0, 1.0));
        assert_eq!(met, "met: one: 1.000, at most 1");
        assert!(!at_most("other", 1.1, 1.0).is_met);
        assert!(!ratio("nothing measured", 0.0, 0.0, 1.0).is_met);
    }
}
