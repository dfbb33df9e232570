// SPDX-License-Identifier: MIT OR Apache-2.0
//! What others published of library compartments: `compartments.csv`, which names its source.

use anyhow::Result;
use serde::Deserialize;

/// All figures of library compartments on a Morello board.
pub struct Morello(Vec<Row>);

/// A figure, or a word where something was granted or not.
#[derive(Debug, Deserialize)]
pub struct Row {
    experiment: String,
    source: String,
    /// How many compartments, MB of a block, or the number of a message.
    pub size: Option<u64>,
    test: String,
    variant: String,
    unit: String,
    /// The figure without a compartment.
    pub outside: String,
    /// The figure in a compartment.
    pub inside: String,
}

impl Row {
    /// Gives the figure outside; nothing if it is none.
    pub fn outside(&self) -> Option<f64> {
        self.outside.parse().ok()
    }

    /// Gives the figure inside; nothing if it is a word.
    pub fn inside(&self) -> Option<f64> {
        self.inside.parse().ok()
    }

    /// Computes how many times what it is outside it is inside.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.inside()? / self.outside()?)
    }
}

/// The form that all experiments have; one has a second form besides.
pub const PURECAP: &str = "purecap";
/// The form that one experiment has besides.
pub const BENCHMARK: &str = "benchmark ABI";

impl Morello {
    /// Reads the table of published figures.
    ///
    /// # Errors
    ///
    /// If the file is not a table of them.
    pub fn read() -> Result<Self> {
        super::read("compartments.csv", include_str!("compartments.csv")).map(Self)
    }

    /// Says where the figures of an experiment stand.
    pub fn source(&self, experiment: &str) -> String {
        let mut sources: Vec<&str> = Vec::new();
        for it in self.0.iter().filter(|it| it.experiment == experiment) {
            if !sources.contains(&it.source.as_str()) {
                sources.push(&it.source);
            }
        }
        sources.join(" and ")
    }

    /// Lists the rows of a test of an experiment.
    pub fn rows<'a, 'b>(
        &'a self,
        experiment: &'b str,
        test: &'b str,
    ) -> impl Iterator<Item = &'a Row> + use<'a, 'b> {
        let these =
            move |it: &&Row| (it.experiment.as_str(), it.test.as_str()) == (experiment, test);
        self.0.iter().filter(these)
    }

    /// Finds the row of a number of compartments, of a block or of a message.
    pub fn sized(&self, experiment: &str, test: &str, size: u64) -> Option<&Row> {
        self.rows(experiment, test).find(|it| it.size == Some(size))
    }

    /// Finds the row of a loop, built for one of the two forms.
    pub fn of_loop(&self, name: &str, variant: &str) -> Option<&Row> {
        self.rows("cpu", name).find(|it| it.variant == variant)
    }

    /// Finds what someone could do: `access`, or `data visible`.
    pub fn trust(&self, who: &str, what: &str) -> Option<&Row> {
        self.rows("trust", who).find(|it| it.unit == what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_a_source_and_a_value() {
        let all = Morello::read().expect("the file");
        for it in &all.0 {
            assert!(!it.source.is_empty() && !it.inside.is_empty(), "{it:?}");
            let is_word = it.experiment == "trust";
            assert!(is_word || it.inside().is_some(), "{it:?}");
        }
        let count = |it: &str| all.0.iter().filter(|row| row.experiment == it).count();
        let counts = ["number", "memory", "cpu", "pipe", "trust"].map(count);
        assert_eq!(counts, [34, 40, 8, 15, 4]);
    }

    #[test]
    fn figures_are_found_by_what_they_are() {
        let all = Morello::read().expect("the file");
        assert_eq!(all.source("cpu"), "Table 5 and Table 6 (section 4.2)");
        assert_eq!(all.source("number"), "Table 2 and its file and section 2.1");
        let last = all.sized("number", "memory", 8991).and_then(Row::inside);
        assert_eq!(last, Some(13_066.42));
        let ratio = |row: Option<&Row>| row.and_then(Row::ratio).map(|it| format!("{it:.3}"));
        assert_eq!(
            ratio(all.of_loop("math", PURECAP)).as_deref(),
            Some("1.514")
        );
        assert_eq!(
            ratio(all.of_loop("array", BENCHMARK)).as_deref(),
            Some("0.072")
        );
        assert_eq!(
            ratio(all.sized("memory", "free", 100)).as_deref(),
            Some("14.833")
        );
        let root = all.trust("Root", "access").map(|it| it.inside.as_str());
        assert_eq!(root, Some("Granted"));
        assert!(all.sized("memory", "free", 1).is_none());
    }
}
