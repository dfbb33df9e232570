// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run: single steps until its end is known.

use std::fmt;

use anyhow::Result;
use donjon_abi::call::REASON_MISMATCH;
use donjon_abi::layout::{GATE, GATE_REPAIR};
use donjon_abi::tcr::{OUTER, STRICT_MIDDLE};
use serde::Serialize;

use super::map::{FetchPlace, Map, SLOT, SLOTS};
use super::oracle::{self, Breach, Seen};
use super::session::Session;
use super::states::{Class, Start};

/// Instructions that a run may take, those of inner text that runs by itself not counted. A call
/// takes about 70, a stop about 50; in mode `tlbi` each page of the inner domain adds 4.
const LIMIT: u32 = 300;
const LIMIT_TLBI: u32 = 1500;
/// Instructions of inner text that a thorough run steps through.
const THOROUGH: u32 = 1500;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// Back in the outer domain, with the outer value; the call was made.
    Returned,
    /// Back in the outer domain, with the outer value; the call was refused.
    Refused,
    /// In the outer domain without having been in the inner one.
    Outside,
    /// An exception under the outer value, which is Linux's.
    Exception,
    /// The inner domain stopped the machine.
    Stopped,
    /// The inner domain panicked: a stop, but not the one that the gate asks for.
    Panicked,
    /// The inner domain switched the machine off because it was asked to.
    Off,
    /// An endless fault at a vector.
    Hang,
    /// The caller's own registers lead back to the gate, under the outer value.
    OwnLoop,
    /// Inner text that had not ended.
    InnerLoop,
    /// None of these.
    TooLong,
    /// The run got out.
    Escape,
}

impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Returned => "returned with the outer value",
            Self::Refused => "refused, returned with the outer value",
            Self::Outside => "left the gate with the outer value",
            Self::Exception => "exception under the outer value",
            Self::Stopped => "stopped by the inner domain",
            Self::Panicked => "the inner domain panicked",
            Self::Off => "switched off on request",
            Self::Hang => "endless fault at the vectors",
            Self::OwnLoop => {
                "took too long: the caller's registers lead around under the outer value"
            }
            Self::InnerLoop => "took too long: inner text had not ended",
            Self::TooLong => "took too long",
            Self::Escape => "ESCAPED",
        })
    }
}

/// What was seen in a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub end: RunEnd,
    /// What was broken, and the CPU before the instruction that broke it.
    pub breach: Option<(Breach, Box<Seen>)>,
    /// A value that is neither domain's stood in `TCR_EL1`.
    pub forged: Option<u64>,
    /// An asynchronous exception, or one for debugging, came while `TCR_EL1` was not the outer
    /// value.
    pub disturbed: bool,
    /// Instructions.
    pub steps: u32,
    /// The last of them.
    pub last: u64,
    /// A call as any caller makes it was not answered.
    pub unanswered: bool,
}

/// Makes a run. The machine is put back first.
pub fn run(session: &mut Session, start: &Start, tlbi: bool) -> Result<Run> {
    session.launch(start)?;
    let mut progress = Progress {
        session,
        start,
        run: Run {
            end: RunEnd::TooLong,
            breach: None,
            forged: None,
            disturbed: false,
            steps: 0,
            last: 0,
            unanswered: false,
        },
        before: None,
        left: false,
        interrupts: false,
        limit: if tlbi { LIMIT_TLBI } else { LIMIT },
    };
    progress.go()?;
    // What an answered call returns to is the caller's choice, words of the gate that stop the
    // machine among it. Whether an interrupt comes before that differs from run to run.
    let answered = progress.left && leads_back(start);
    let mut run = progress.run;
    let asked_for = start.general[0] == REASON_MISMATCH;
    run.unanswered = start.class == Class::Call
        && !asked_for
        && !answered
        && matches!(
            run.end,
            RunEnd::Stopped | RunEnd::Panicked | RunEnd::Hang | RunEnd::TooLong | RunEnd::InnerLoop
        );
    Ok(run)
}

struct Progress<'a> {
    session: &'a mut Session,
    start: &'a Start,
    run: Run,
    /// State with which the inner domain was entered.
    before: Option<Seen>,
    /// The inner domain has been left by its own way.
    left: bool,
    interrupts: bool,
    limit: u32,
}

impl Progress<'_> {
    fn go(&mut self) -> Result<()> {
        let mut seen = self.session.look()?;
        let mut thorough = 0;
        let mut again = 0;
        loop {
            self.run.last = seen.pc;
            let before = self.before.get_or_insert_with(|| seen.clone()).clone();
            if self.run.steps >= self.limit {
                self.run.end = slow(&self.session.map, self.start, &seen);
                return Ok(());
            }
            if let Some(end) = self.ended(&before, &seen) {
                self.run.end = end;
                return Ok(());
            }
            self.disturb(&mut seen)?;
            let map = &self.session.map;
            let breach = oracle::judge(map, &seen)
                .or_else(|| oracle::unnoticed(map, self.run.forged, &seen));
            let (place, ..) = self.session.map.expected(seen.pc);
            let next = if place == FetchPlace::Inner && breach.is_none() {
                if !self.start.thorough || thorough >= THOROUGH {
                    match self.let_run()? {
                        Some(next) => next,
                        None => return Ok(()),
                    }
                } else {
                    thorough += 1;
                    self.session.step()?;
                    self.session.look()?
                }
            } else {
                self.run.steps += 1;
                self.step(&seen)?;
                self.session.look()?
            };
            let vector = next.pc.wrapping_sub(self.session.map.vectors);
            let entered = vector < SLOT * SLOTS && vector.is_multiple_of(SLOT);
            let mut executed = true;
            if entered {
                let (esr, elr) = self.session.syndrome()?;
                let instead = oracle::instead(&self.session.map, next.pc, esr);
                executed = !(instead && elr == seen.pc);
                let debug = matches!(esr >> 26 & 0x3f, 0x31 | 0x33);
                let other = vector % (4 * SLOT) != 0 || debug;
                self.run.disturbed |= other && next.tcr != OUTER;
            }
            // A caller whose registers lead to the write has not left by it: it cannot be fetched.
            self.left |= executed && seen.pc == self.session.map.symbol("exit");
            if let Some(breach) = breach
                && executed
            {
                self.run.end = RunEnd::Escape;
                self.run.breach = Some((breach, Box::new(seen)));
                return Ok(());
            }
            // The same fault at the same place: nothing will change any more.
            again = if !executed && next == seen {
                again + 1
            } else {
                0
            };
            if again == 2 {
                self.run.end = RunEnd::Hang;
                return Ok(());
            }
            seen = next;
        }
    }

    /// Notes a forged value, and lets happen what the start has in store for it.
    fn disturb(&mut self, seen: &mut Seen) -> Result<()> {
        let own = [OUTER, self.session.map.inner, STRICT_MIDDLE];
        if !own.contains(&seen.tcr) && self.run.forged.is_none() {
            self.run.forged = Some(seen.tcr);
        }
        if let Some(after) = self.start.interrupt_after
            && !self.interrupts
            && self.run.steps >= after
        {
            self.session.hold_interrupts(false)?;
            self.interrupts = true;
        }
        if let Some(vector) = self.start.exception
            && self.run.steps == 1
            && seen.tcr != OUTER
        {
            self.session.go(vector)?;
            *seen = self.session.look()?;
            self.run.disturbed = true;
        }
        Ok(())
    }

    /// How a run has ended that has come to `seen`.
    fn ended(&mut self, before: &Seen, seen: &Seen) -> Option<RunEnd> {
        let map = &self.session.map;
        let stop = seen.pc == map.symbol("other") && seen.general.first() == Some(&REASON_MISMATCH);
        if seen.tcr == map.inner && stop {
            return Some(RunEnd::Stopped);
        }
        if seen.tcr == map.inner && seen.pc == map.symbol("panic") {
            return Some(RunEnd::Panicked);
        }
        let in_gate = (GATE..GATE + 4096).contains(&seen.pc);
        let (place, ..) = map.expected(seen.pc);
        if seen.tcr != OUTER || in_gate || place == FetchPlace::Vectors {
            return None;
        }
        // The first instruction in the outer domain's own text. If this is inner text it is
        // unmapped now; the fault is next.
        if self.left {
            if let Some(breach) = oracle::left(before, seen) {
                self.run.breach = Some((breach, Box::new(seen.clone())));
                return Some(RunEnd::Escape);
            }
            let refused = seen.general.first().is_some_and(|it| it.cast_signed() < 0);
            return Some(if refused {
                RunEnd::Refused
            } else {
                RunEnd::Returned
            });
        }
        if matches!(place, FetchPlace::Inner | FetchPlace::InnerGate) {
            return None;
        }
        let slot = seen.pc.wrapping_sub(map.vectors) < SLOT * SLOTS;
        Some(if slot {
            RunEnd::Exception
        } else {
            RunEnd::Outside
        })
    }

    /// One instruction. While a debugger steps, QEMU takes a breakpoint of the guest's whether or
    /// not it is masked, so the CPU goes on by itself over the instruction before one, and over the
    /// one that it is on, which is the gate's.
    fn step(&mut self, seen: &Seen) -> Result<()> {
        let [place, control] = self.start.breakpoint;
        if control == 0 || place != seen.pc + 4 {
            return self.session.step();
        }
        let vectors = self.session.map.vectors;
        let mut places: Vec<u64> = (0..SLOTS).map(|slot| vectors + slot * SLOT).collect();
        // Where the gate's instructions lead from there: the next one, or the repair entry.
        places.extend([place + 4, GATE_REPAIR]);
        self.session.run_to(&places).map(|_| ())
    }

    /// Lets inner text run by itself to where it comes back, takes an exception or panics. None
    /// if the run is over.
    fn let_run(&mut self) -> Result<Option<Seen>> {
        let map = &self.session.map;
        let mut places = vec![map.symbol("return"), map.symbol("panic")];
        places.extend((0..SLOTS).map(|slot| map.vectors + slot * SLOT));
        if self.session.run_to(&places)? {
            let seen = self.session.look()?;
            return Ok(Some(seen));
        }
        self.run.end = if self.session.is_off()? {
            RunEnd::Off
        } else {
            let seen = self.session.look()?;
            self.run.last = seen.pc;
            slow(&self.session.map, self.start, &seen)
        };
        Ok(None)
    }
}

/// Whether the caller returns into the gate page.
fn leads_back(start: &Start) -> bool {
    start.general.get(30).is_some_and(|it| it & !0xfff == GATE)
}

/// What a run is about that does not end.
fn slow(map: &Map, start: &Start, seen: &Seen) -> RunEnd {
    match map.expected(seen.pc).0 {
        _ if seen.tcr == OUTER => RunEnd::OwnLoop,
        FetchPlace::Gate | FetchPlace::Inner | FetchPlace::InnerGate if leads_back(start) => {
            RunEnd::OwnLoop
        }
        FetchPlace::Inner | FetchPlace::InnerGate if seen.tcr == map.inner => RunEnd::InnerLoop,
        _ => RunEnd::TooLong,
    }
}
