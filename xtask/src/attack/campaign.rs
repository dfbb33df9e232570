// SPDX-License-Identifier: MIT OR Apache-2.0
//! All attacks with their controls, two machines at a time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Result, anyhow};

use super::attempt::{Attack, Without};
use super::guest::Tried;
use super::judge::Verdict;
use super::jumps::Jump;
use super::record::Record;
use super::{Bench, by_protection, gate};
use crate::cli::Switch;
use crate::progress::Step;

/// Machines at a time. The guests of the attacks have two CPUs, which are idle for the most part.
const PARALLEL: usize = 2;

/// What is to be carried out.
pub struct Campaign {
    /// Attacks of the hostile module.
    pub attacks: Vec<&'static Attack>,
    /// Jumps into the gate.
    pub jumps: Vec<Jump>,
    /// Modes of which the gate is run from outside.
    pub gate: Vec<Switch>,
}

/// One or a few boots.
#[derive(Clone, Copy)]
enum Job<'a> {
    Protected,
    Control(Without),
    Jump(&'a Jump),
    Gate(Switch),
}

/// What came of it.
enum Done {
    Protected(Vec<Verdict>),
    Control(BTreeMap<&'static str, Tried>),
    Alone(Record),
}

impl Campaign {
    /// Carries everything out.
    pub fn carry_out(&self, bench: &Bench<'_>) -> Result<Vec<Record>> {
        let controls = by_protection(&self.attacks);
        let mut jobs = Vec::new();
        if !self.attacks.is_empty() {
            jobs.push(Job::Protected);
        }
        jobs.extend(controls.keys().map(|it| Job::Control(*it)));
        jobs.extend(self.jumps.iter().map(Job::Jump));
        jobs.extend(self.gate.iter().map(|it| Job::Gate(*it)));

        let step = Step::counted("attack", jobs.len() as u64);
        let done = parallel(&jobs, |job| {
            let done = self.carry_out_one(bench, &controls, *job);
            step.advance(1);
            done
        })?;
        step.finish();

        let mut verdicts = Vec::new();
        let mut alone = Vec::new();
        for (job, done) in jobs.iter().zip(done) {
            match (job, done) {
                (_, Done::Protected(all)) => verdicts = all,
                (Job::Control(without), Done::Control(tried)) => {
                    for verdict in &mut verdicts {
                        verdict.add_controls(*without, &tried);
                    }
                }
                (_, Done::Alone(record)) => alone.push(record),
                (_, Done::Control(_)) => {}
            }
        }
        let mut records: Vec<_> = verdicts.into_iter().map(Verdict::record).collect();
        records.extend(alone);
        Ok(records)
    }

    fn carry_out_one(
        &self,
        bench: &Bench<'_>,
        controls: &BTreeMap<Without, Vec<&'static Attack>>,
        job: Job<'_>,
    ) -> Result<Done> {
        match job {
            Job::Protected => bench.protected(&self.attacks).map(Done::Protected),
            Job::Control(without) => {
                let attacks = controls.get(&without).map_or(&[][..], Vec::as_slice);
                bench.without(without, attacks).map(Done::Control)
            }
            Job::Jump(jump) => Ok(Done::Alone(jump.record(bench.host, bench.switch))),
            Job::Gate(mode) => Ok(Done::Alone(gate::record(bench.host, mode))),
        }
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
