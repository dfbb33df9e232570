// SPDX-License-Identifier: MIT OR Apache-2.0
//! Progress on stderr: bars on a terminal, elsewhere a line at the beginning, at the end, and now
//! and then in a step that takes long.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Seconds between two lines of a step, where there is no terminal.
const PAUSE: u64 = 30;

/// One step that takes a while.
pub struct Step {
    bar: ProgressBar,
    title: String,
    start: Instant,
    plain: bool,
    /// When the last line of it was printed, in seconds from its start.
    said: AtomicU64,
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
            said: AtomicU64::new(0),
            done: false,
        }
    }

    /// `units` more are done.
    pub fn advance(&self, units: u64) {
        self.bar.inc(units);
        if let Some(line) = self.line(self.start.elapsed().as_secs()) {
            eprintln!("{line}");
        }
    }

    /// How far it is, in words, if that is to be said at this moment.
    fn line(&self, seconds: u64) -> Option<String> {
        let (position, length) = (self.bar.position(), self.bar.length()?);
        let is_due = self.plain && seconds >= self.said.load(Ordering::Relaxed) + PAUSE;
        is_due.then(|| {
            self.said.store(seconds, Ordering::Relaxed);
            format!("{}: {} of {length}", self.title, position.min(length))
        })
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

    #[test]
    fn without_a_terminal_a_long_step_is_heard_of_now_and_then() {
        let mut step = Step::counted("install", 40);
        step.plain = true;
        step.bar.set_position(12);
        assert_eq!(step.line(PAUSE - 1), None);
        assert_eq!(step.line(PAUSE).as_deref(), Some("install: 12 of 40"));
        step.bar.set_position(50);
        assert_eq!(step.line(PAUSE + 1), None);
        assert_eq!(step.line(2 * PAUSE).as_deref(), Some("install: 40 of 40"));
        step.vanish();
    }
}
