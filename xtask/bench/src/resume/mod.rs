// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an interrupted run has measured, for the next run.
//!
//! A unit is one boot. What its guest printed is kept below `target/bench/` until the whole run has
//! ended, under the digest of everything that it depends on. The end removes it, so that a second
//! run measures everything again.

mod inputs;
#[cfg(test)]
mod tests;

use std::fs::Metadata;
use std::mem;
use std::path::Path;
use std::time::Duration;

use anyhow::{Error, Result, ensure};
use donjon_builder::paths;
use donjon_figures::store::Store;
use serde::{Deserialize, Serialize};

pub use inputs::Inputs;

/// Where partial results are, in a folder for each measurement.
const FOLDERS: &str = "target/bench";
/// Older ones are removed.
const LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

/// What the guest of one unit printed.
#[derive(Serialize, Deserialize)]
struct Printed {
    /// When the run began that measured it, UTC.
    run: String,
    text: String,
}

/// The digest of what that depends on.
#[derive(PartialEq, Serialize, Deserialize)]
struct DependsOn {
    key: String,
}

/// A run that the next one goes on with, if it is interrupted.
pub struct Run {
    /// Where its units are, and what measures them; none of a run that keeps nothing.
    place: Option<(Store, Inputs)>,
    /// When it began, UTC.
    start: String,
    /// Units of earlier runs that it has not told of yet, and when those runs began.
    taken: Vec<(String, String)>,
    /// Names of the files of its units.
    files: Vec<String>,
}

impl Run {
    /// Begins a run of the measurement `name`. If it is `fresh`, it removes what interrupted runs
    /// left.
    ///
    /// # Errors
    ///
    /// If there is no QEMU, or what has to go cannot be removed.
    pub fn begin(name: &str, fresh: bool) -> Result<Self> {
        let folder = paths::in_root(FOLDERS).join(name);
        Self::begin_in(&folder, fresh, Inputs::of_host()?)
    }

    /// Begins a run that takes nothing from others and keeps nothing.
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
        match Store::lock(folder) {
            Ok(Some(store)) => {
                store.sweep(|it| fresh || is_old(it))?;
                run.place = Some((store, host));
            }
            Ok(None) => eprintln!(
                "another run of this measurement is not at its end: this one takes nothing from an \
                 earlier run, and begins anew if it is interrupted"
            ),
            Err(error) => warn(&error, "this run begins anew if it is interrupted"),
        }
        Ok(run)
    }

    /// Gives what `read` finds in what the guest of `unit` printed: in an earlier run with the same
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
        let Some((store, host)) = place else {
            tell(&mut self.taken);
            return read(&measure()?);
        };
        let key = host.clone().with("unit", inputs.key()).key();
        let name = file_name(unit, &key);
        let key = DependsOn { key };
        let mut taken = || -> Result<Option<(T, String)>> {
            let Some((kept, of)) = store.load(&name)? else {
                return Ok(None);
            };
            let fits = of.is_some_and(|it: DependsOn| it == key);
            ensure!(fits, "its digest or its name does not fit its content");
            let printed: Printed = serde_json::from_slice(&kept)?;
            Ok(Some((read(&printed.text)?, printed.run)))
        };
        match taken() {
            Ok(Some((result, run))) => {
                self.taken.push((unit.to_owned(), run));
                self.files.push(name);
                return Ok(result);
            }
            Ok(None) => {}
            Err(error) => {
                let error = error.context(format!("{} is damaged", store.path(&name).display()));
                warn(&error, &format!("{unit} is measured again"));
            }
        }
        tell(&mut self.taken);
        let text = measure()?;
        let result = read(&text)?;
        let run = self.start.clone();
        let kept = serde_json::to_vec_pretty(&Printed { run, text })?;
        match store.keep(&name, &kept, Some(&key)) {
            Ok(()) => self.files.push(name),
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
        tell(&mut self.taken);
        self.forget()
    }

    /// Removes what this run has taken and kept so far.
    ///
    /// # Errors
    ///
    /// If a file cannot be removed; the message says what to do.
    pub fn forget(&mut self) -> Result<()> {
        let Some((store, _)) = &self.place else {
            return Ok(());
        };
        let removed: Vec<_> = self.files.drain(..).map(|it| store.remove(&it)).collect();
        removed.into_iter().collect()
    }
}

/// Whether a file is not worth keeping any more.
fn is_old(file: &Metadata) -> bool {
    let age = file.modified().ok().and_then(|it| it.elapsed().ok());
    age.is_some_and(|it| it > LIFE)
}

/// The name of a unit's file: one that people recognize, and enough of the digest.
fn file_name(unit: &str, key: &str) -> String {
    let unit = unit.replace(|it: char| !it.is_ascii_alphanumeric(), "-");
    format!("{unit}-{}", key.get(..16).unwrap_or(key))
}

/// Says in one line what comes from which run, once.
fn tell(taken: &mut Vec<(String, String)>) {
    if !taken.is_empty() {
        eprintln!("{}", told(&mem::take(taken)));
    }
}

/// `UNIT, UNIT: from the run of TIME, interrupted; …`
fn told(taken: &[(String, String)]) -> String {
    let of_a_run = taken.chunk_by(|one, next| one.1 == next.1).map(|part| {
        let units: Vec<&str> = part.iter().map(|it| it.0.as_str()).collect();
        let units = units.join(", ");
        format!("{units}: from the run of {} UTC, interrupted", part[0].1)
    });
    of_a_run.collect::<Vec<_>>().join("; ")
}

fn warn(error: &Error, so: &str) {
    eprintln!("warning: {error:#}; {so}");
}
