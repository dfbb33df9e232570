// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs areas, each in a process of its own.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::areas::{self, Area};
use crate::child::{Child, ChildEnd};
use crate::{filters, stress, work};

/// What one area may take.
const LIMIT: Duration = Duration::from_secs(900);

/// Does what the words say.
pub fn run(words: &[String]) -> ExitCode {
    match words.first().map(String::as_str) {
        // What the areas that test exec start.
        Some(areas::REEXECUTED) => ExitCode::SUCCESS,
        Some("list") => {
            areas::ALL.iter().for_each(|it| println!("{}", it.name));
            ExitCode::SUCCESS
        }
        Some("stress") => match stress_arguments(&words[1..]) {
            Ok((seconds, cpus)) => report("stress", Duration::from_secs(seconds + 120), || {
                stress::run(Duration::from_secs(seconds), cpus)
            }),
            Err(error) => wrong(&error),
        },
        Some(kind @ ("work" | "huge")) => {
            let [mut times, mut cpus] = [10, 2];
            let timed = numbers(
                &words[1..],
                &mut [("--times", &mut times), ("--cpus", &mut cpus)],
            )
            .and_then(|()| match kind {
                "huge" => work::huge(times),
                _ => work::run(cpus as usize, times),
            });
            match timed {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => wrong(&error),
            }
        }
        Some("filters") => {
            let [mut times, mut processes] = [100, 1];
            let held = numbers(
                &words[1..],
                &mut [("--times", &mut times), ("--processes", &mut processes)],
            )
            .and_then(|()| filters::run(processes, times));
            match held {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => wrong(&error),
            }
        }
        _ => match selected(words) {
            Ok(selected) => {
                let mut status = ExitCode::SUCCESS;
                for area in selected {
                    if report(area.name, LIMIT, area.body) != ExitCode::SUCCESS {
                        status = ExitCode::FAILURE;
                    }
                }
                status
            }
            Err(error) => wrong(&error),
        },
    }
}

fn wrong(error: &anyhow::Error) -> ExitCode {
    eprintln!("donjon-load: {error:#}");
    ExitCode::from(2)
}

fn selected(words: &[String]) -> Result<Vec<&'static Area>> {
    if words.is_empty() {
        return Ok(areas::ALL.iter().collect());
    }
    let find = |word: &String| areas::ALL.iter().find(|it| it.name == word);
    words
        .iter()
        .map(|word| find(word).with_context(|| format!("no area {word}; see `donjon-load list`")))
        .collect()
}

fn stress_arguments(words: &[String]) -> Result<(u64, usize)> {
    let [mut seconds, mut cpus] = [30, 4];
    numbers(
        words,
        &mut [("--seconds", &mut seconds), ("--cpus", &mut cpus)],
    )?;
    Ok((seconds, cpus as usize))
}

/// Reads pairs of an option and a number that is not 0.
fn numbers(words: &[String], options: &mut [(&str, &mut u64)]) -> Result<()> {
    for pair in words.chunks(2) {
        let option = options.iter_mut().find(|it| it.0 == pair[0]);
        match (option, pair) {
            (Some((_, number)), [_, value]) => {
                **number = value.parse()?;
                ensure!(**number > 0, "{} is 0", pair[0]);
            }
            _ => bail!("`{}` is no option, or has no number", pair.join(" ")),
        }
    }
    Ok(())
}

fn report(name: &str, limit: Duration, body: impl FnOnce() -> Result<()>) -> ExitCode {
    let end = Child::start_group(body).and_then(|child| child.end_within(limit));
    let (result, status) = match end {
        Ok(ChildEnd::Done) => ("ok".to_owned(), ExitCode::SUCCESS),
        Ok(ChildEnd::Skipped(why)) => (format!("skipped: {why}"), ExitCode::SUCCESS),
        Ok(ChildEnd::Failed(why)) => (format!("failed: {why}"), ExitCode::FAILURE),
        Err(error) => (format!("failed: {error:#}"), ExitCode::FAILURE),
    };
    println!("load: {name}: {}", result.replace('\n', " / "));
    status
}
