// SPDX-License-Identifier: MIT OR Apache-2.0
//! Samples and their moments.

use anyhow::{Context, Result, ensure};

/// Samples of one operation, sorted.
#[derive(Clone, Debug)]
pub struct Samples(Vec<f64>);

/// How many samples every operation has.
pub const COUNT: usize = 100;

impl Samples {
    /// The samples of the line `NAME: v1 v2 …` in what a guest printed.
    pub fn named(name: &str, text: &str) -> Result<Self> {
        let mut lines = text
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let line = lines
            .next()
            .with_context(|| format!("the guest printed no line `{name}:`"))?;
        let samples: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let mut samples = samples.with_context(|| format!("the guest's line `{name}:`"))?;
        ensure!(
            samples.len() == COUNT,
            "the guest printed {} samples of {name}, not {COUNT}",
            samples.len()
        );
        samples.sort_by(f64::total_cmp);
        Ok(Self(samples))
    }

    /// Arithmetic mean.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// Mean of the two middle samples.
    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        (self.0[middle - 1] + self.0[middle]) / 2.0
    }

    /// Standard deviation of a sample.
    pub fn standard_deviation(&self) -> f64 {
        let mean = self.mean();
        let squares: f64 = self.0.iter().map(|it| (it - mean).powi(2)).sum();
        (squares / (self.0.len() - 1) as f64).sqrt()
    }
}

/// The middle one, or the mean of the two in the middle; none of nothing.
pub fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    let upper = figures.get(figures.len() / 2)?;
    let lower = figures.get((figures.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_known_series() {
        let words: Vec<String> = (1..=100).map(|it| it.to_string()).collect();
        let text = format!("other: 1\nnull_idc: {}\n", words.join(" "));
        let samples = Samples::named("null_idc", &text).expect("samples");
        assert!((samples.mean() - 50.5).abs() < 1e-9);
        assert!((samples.median() - 50.5).abs() < 1e-9);
        assert!((samples.standard_deviation() - 29.011_491_975_882_016).abs() < 1e-9);
    }

    #[test]
    fn a_short_or_missing_line_is_refused() {
        assert!(Samples::named("a", "a: 1 2 3\n").is_err());
        assert!(Samples::named("a", "ab: 1 2 3\n").is_err());
    }
}
