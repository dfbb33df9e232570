// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an interrupted run has measured, for the next run.
//!
//! A unit is one boot. What its guest printed is kept below `target/bench/` until the whole run has
//! ended, under the digest of everything that it depends on. The end removes it, so that a second
//! run measures everything again.

mod folder;
mod inputs;
mod kept;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Error, Result};
use donjon_builder::paths;

use folder::Folder;
pub use inputs::Inputs;
use kept::Kept;

/// Where partial results are, in a folder for each measurement.
const FOLDERS: &str = "target/bench";

/// A run that the next one goes on with, if it is interrupted.
pub struct Run {
    /// Where its units are, and what measures them; none of a run that keeps nothing.
    place: Option<(Folder, Inputs)>,
    /// When it began, UTC.
    start: String,
    /// Units of earlier runs that it has not told of yet, and when those runs began.
    taken: Vec<(String, String)>,
    /// Files of its units.
    files: Vec<PathBuf>,
}

impl Run {
    /// A run of the measurement `name`. If it is `fresh`, it removes what interrupted runs left.
    ///
    /// # Errors
    ///
    /// If there is no QEMU, or what has to go cannot be removed.
    pub fn begin(name: &str, fresh: bool) -> Result<Self> {
        let folder = paths::in_root(FOLDERS).join(name);
        Self::begin_in(&folder, fresh, Inputs::of_host()?)
    }

    /// A run that takes nothing from others and keeps nothing.
    pub fn alone() -> Self {
        let now = jiff::Timestamp::now();
        Self {
            place: None,
            start: now.strftime("%Y-%m-%d %H:%M").to_string(),
            taken: Vec::new(),
            files: Vec::new(),
        }
    }

    fn begin_in(folder: &Path, fresh: bool, host: Inputs) -> Result<Self> {
        let mut run = Self::alone();
        match Folder::open(folder) {
            Ok(Some(folder)) => {
                folder.sweep(fresh)?;
                run.place = Some((folder, host));
            }
            Ok(None) => eprintln!(
                "another run of this measurement is not at its end: this one takes nothing from an \
                 earlier run, and begins anew if it is interrupted"
            ),
            Err(error) => warn(&error, "this run begins anew if it is interrupted"),
        }
        Ok(run)
    }

    /// What `read` finds in what the guest of `unit` printed: in an earlier run with the same
    /// `inputs`, or now. It is kept if `read` finds everything, unless it has times: those of
    /// kernels that are compared are taken close to each other.
    ///
    /// # Errors
    ///
    /// Those of `measure` and `read`.
    pub fn unit<T>(
        &mut self,
        unit: &str,
        inputs: Inputs,
        measure: impl FnOnce() -> Result<String>,
        mut read: impl FnMut(&str) -> Result<T>,
    ) -> Result<T> {
        let place = self.place.as_ref().filter(|_| !inputs.is_timed());
        let Some((folder, host)) = place else {
            self.tell();
            return read(&measure()?);
        };
        let key = host.clone().with("unit", inputs.key()).key();
        let path = folder.file(unit, &key);
        let kept = Kept::load(&path, &key);
        match kept.and_then(|it| it.map(|it| Ok((read(&it.text)?, it.run))).transpose()) {
            Ok(Some((result, run))) => {
                self.taken.push((unit.to_owned(), run));
                self.files.push(path);
                return Ok(result);
            }
            Ok(None) => {}
            Err(error) => {
                let error = error.context(format!("{} is damaged", path.display()));
                warn(&error, &format!("{unit} is measured again"));
            }
        }
        self.tell();
        let text = measure()?;
        let result = read(&text)?;
        match Kept::new(unit, &self.start, &key, &text).save(&path) {
            Ok(()) => self.files.push(path),
            Err(error) => {
                let so = format!("the run goes on; the next one measures {unit} again");
                warn(&error, &so);
            }
        }
        Ok(result)
    }

    /// Ends the whole run: the next one measures everything again.
    ///
    /// # Errors
    ///
    /// Those of [`forget`](Self::forget).
    pub fn end(mut self) -> Result<()> {
        self.tell();
        self.forget()
    }

    /// Removes what this run has taken and kept so far.
    ///
    /// # Errors
    ///
    /// If a file cannot be removed; the message says what to do.
    pub fn forget(&mut self) -> Result<()> {
        let removed: Vec<_> = self.files.drain(..).map(|it| folder::remove(&it)).collect();
        removed.into_iter().collect()
    }

    /// Says in one line what comes from which run.
    fn tell(&mut self) {
        if let Some(line) = told(&self.taken) {
            eprintln!("{line}");
        }
        self.taken.clear();
    }
}

/// `UNIT, UNIT: from the run of TIME, interrupted; …`
fn told(taken: &[(String, String)]) -> Option<String> {
    let of_a_run = taken.chunk_by(|one, next| one.1 == next.1).map(|part| {
        let units: Vec<&str> = part.iter().map(|it| it.0.as_str()).collect();
        let run = part.first().map_or("", |it| &it.1);
        format!(
            "{}: from the run of {run} UTC, interrupted",
            units.join(", ")
        )
    });
    (!taken.is_empty()).then(|| of_a_run.collect::<Vec<_>>().join("; "))
}

fn warn(error: &Error, so: &str) {
    eprintln!("warning: {error:#}; {so}");
}
