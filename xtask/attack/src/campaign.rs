// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs attacks with their controls, two machines at a time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, anyhow};
use donjon_builder::progress::Step;
use donjon_machine::arguments::Switch;

use super::attempt::{Attack, Without};
use super::guest::Tried;
use super::judge::Judgement;
use super::record::Record;
use super::{Bench, by_protection, gate, paths, together};

/// Machines at a time. The guests of the attacks have two CPUs, which are idle for the most part.
const PARALLEL: usize = 2;

/// What is to be carried out.
pub struct Campaign {
    /// Rows of the table.
    pub attacks: Vec<&'static Attack>,
    /// Modes of which the gate is run from outside, if that is among them.
    pub outside: &'static [Switch],
}

/// One or a few boots.
#[derive(Clone, Copy)]
enum Job {
    Protected,
    Control(Without),
    Alone(&'static Attack),
    Outside(&'static Attack, Switch),
    Verifier,
}

/// What came of it.
enum Done {
    Protected(Vec<Judgement>),
    Control(BTreeMap<&'static str, Tried>),
    Record(Record),
    Records(Vec<Record>),
}

impl Campaign {
    /// Carries everything out.
    pub fn carry_out(&self, bench: &Bench<'_>) -> Result<Vec<Record>> {
        let together: Vec<_> = together(self.attacks.iter().copied()).collect();
        let controls = by_protection(&together);
        let mut jobs = Vec::new();
        if !together.is_empty() {
            jobs.push(Job::Protected);
        }
        jobs.extend(controls.keys().map(|it| Job::Control(*it)));
        let attacks = self.attacks.iter().copied();
        let paths: Vec<_> = attacks.filter(|it| it.is_for_verifier).collect();
        if !paths.is_empty() {
            jobs.push(Job::Verifier);
        }
        for attack in &self.attacks {
            if attack.is_alone() {
                jobs.push(Job::Alone(attack));
            } else if attack.is_from_outside() {
                jobs.extend(self.outside.iter().map(|it| Job::Outside(attack, *it)));
            }
        }

        let step = Step::counted("attack", jobs.len() as u64);
        let done = parallel(&jobs, |job| {
            let done = match *job {
                Job::Protected => bench.protected(&together).map(Done::Protected),
                Job::Control(without) => {
                    let attacks = controls.get(&without).map_or(&[][..], Vec::as_slice);
                    bench.without(without, attacks).map(Done::Control)
                }
                Job::Alone(attack) => Ok(Done::Record(bench.alone(attack).record())),
                Job::Outside(attack, mode) => {
                    Ok(Done::Record(gate::record(attack, bench.host, mode)))
                }
                Job::Verifier => paths::records(&paths, bench).map(Done::Records),
            };
            step.advance(1);
            done
        })?;
        step.finish();

        let mut judgements = Vec::new();
        let mut records = Vec::new();
        for (job, done) in jobs.iter().zip(done) {
            match (job, done) {
                (_, Done::Protected(all)) => judgements = all,
                (Job::Control(without), Done::Control(tried)) => {
                    for judgement in &mut judgements {
                        judgement.add_controls(*without, &tried);
                    }
                }
                (_, Done::Record(record)) => records.push(record),
                (_, Done::Records(all)) => records.extend(all),
                (_, Done::Control(_)) => {}
            }
        }
        let mut all: Vec<_> = judgements.into_iter().map(Judgement::record).collect();
        all.extend(records);
        Ok(all)
    }
}

/// Does all jobs, [`PARALLEL`] at a time; their results in the order of the jobs, or the first
/// failure.
fn parallel<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> Result<R> + Sync) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results: Vec<_> = jobs.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(job), Some(place)) = (jobs.get(index), results.get(index)) else {
                        break;
                    };
                    let result = work(job);
                    if let Ok(mut place) = place.lock() {
                        *place = Some(result);
                    }
                }
            });
        }
    });
    let taken = results.into_iter().map(|it| {
        let result = it.into_inner().ok().flatten();
        result.unwrap_or_else(|| Err(anyhow!("an attack ended without a result")))
    });
    taken.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u32> = (0..50).collect();
        let doubled = parallel(&jobs, |it| Ok(it * 2)).expect("no failure");
        assert_eq!(doubled, jobs.iter().map(|it| it * 2).collect::<Vec<_>>());
        let failed = parallel(&jobs, |it| {
            anyhow::ensure!(*it != 7, "seven");
            Ok(())
        });
        assert_eq!(failed.expect_err("a failure").to_string(), "seven");
    }
}
