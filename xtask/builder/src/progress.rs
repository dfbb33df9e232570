// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress on stderr: bars on a terminal, one line at the beginning and end elsewhere.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// One step that takes a while.
pub struct Step {
    bar: ProgressBar,
    title: String,
    start: Instant,
    plain: bool,
    done: bool,
}

impl Step {
    /// A step whose length is known (roughly): `total` units.
    pub fn counted(title: impl Into<String>, total: u64) -> Self {
        Self::new(
            title.into(),
            ProgressBar::new(total),
            "{msg:32} {bar:30} {percent:>3}% {elapsed}",
        )
    }

    /// One of `total` steps, of which `done` are done: the bar is that of all of them.
    pub fn one_of(title: impl Into<String>, done: u64, total: u64) -> Self {
        let step = Self::counted(title, total);
        step.advance(done);
        step.bar.enable_steady_tick(Duration::from_secs(1));
        step
    }

    /// A step of unknown length.
    pub fn spinner(title: impl Into<String>) -> Self {
        let step = Self::new(
            title.into(),
            ProgressBar::new_spinner(),
            "{spinner} {msg} {elapsed}",
        );
        step.bar.enable_steady_tick(Duration::from_millis(120));
        step
    }

    fn new(title: String, bar: ProgressBar, template: &str) -> Self {
        let plain = !stderr().is_terminal();
        if plain {
            bar.set_draw_target(indicatif::ProgressDrawTarget::hidden());
            eprintln!("{title} …");
        } else if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(title.clone());
        Self {
            bar,
            title,
            start: Instant::now(),
            plain,
            done: false,
        }
    }

    /// `units` more are done.
    pub fn advance(&self, units: u64) {
        self.bar.inc(units);
    }

    /// What it is at now, on a terminal.
    pub fn say(&self, what: &str) {
        let line: String = what.chars().take(60).collect();
        self.bar.set_message(format!("{}: {line}", self.title));
    }

    /// The step succeeded.
    pub fn finish(mut self) {
        self.done = true;
        self.bar.finish_and_clear();
        let seconds = self.start.elapsed().as_secs_f32();
        if self.plain || seconds >= 1.0 {
            eprintln!("{}: done in {seconds:.1} s", self.title);
        }
    }

    /// The step ends without a word, so that something else can use the terminal.
    pub fn vanish(mut self) {
        self.done = true;
        self.bar.finish_and_clear();
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if !self.done {
            self.bar.abandon();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_of_one_step_is_that_of_all() {
        let step = Step::one_of("third", 2, 5);
        assert_eq!((step.bar.position(), step.bar.length()), (2, Some(5)));
        step.advance(1);
        assert_eq!(step.bar.position(), 3);
        step.vanish();
    }
}
