// SPDX-License-Identifier: MIT OR Apache-2.0
//! Explores every interleaving of three CPUs that write, wait, stop and start.

use std::collections::HashSet;
use std::vec;
use std::vec::Vec;

use super::*;

const CPUS: usize = 3;

/// What a CPU is about to do next. Each is one step that others may come between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    /// Executes instructions of the outer domain; may call.
    Outside,
    /// Has called to wait and has no lock yet.
    WaitBegins,
    /// Spins inside, without the lock.
    Spins,
    /// Has called to write and has no lock yet.
    WriteBegins,
    /// Has the lock, was allowed to write and has not written yet.
    Allowed,
    /// Has written; the caches still have the old words.
    Written,
    /// Has the lock; the change is complete.
    Published,
    /// Has called to be switched off and has no lock yet.
    OffBegins,
    /// No longer counted, and the firmware is called.
    InFirmware,
    /// The firmware did not stop it; has no lock yet.
    OffFailed,
    /// Switched off.
    Off,
    /// Switched on, inside, and has no lock yet.
    Arrives,
}

/// What is wrong on purpose.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// A CPU stops waiting without the lock.
    LeavesUnlocked,
    /// The writer gives the lock back before the caches are cleaned.
    PublishesUnlocked,
    /// A CPU that arrives goes on without being counted.
    ArrivesUncounted,
    /// A CPU that the firmware did not stop goes on without being counted.
    StaysUncounted,
    /// A CPU is no longer counted while it still executes.
    GoesEarly,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    rendezvous: Rendezvous,
    cpus: [At; CPUS],
    lock: Option<usize>,
}

impl State {
    fn first() -> Self {
        let mut cpus = [At::Off; CPUS];
        cpus[0] = At::Outside;
        Self {
            rendezvous: Rendezvous::new(0),
            cpus,
            lock: None,
        }
    }

    fn moved(&self, cpu: usize, to: At) -> Self {
        let mut next = self.clone();
        next.cpus[cpu] = to;
        next
    }

    /// Every state that a step of CPU `cpu` leads to.
    fn steps(&self, cpu: usize, fault: Fault) -> Vec<Self> {
        let free = self.lock.is_none();
        let change = |to, change: fn(&mut Rendezvous, usize)| {
            let mut next = self.moved(cpu, to);
            change(&mut next.rendezvous, cpu);
            next
        };
        match self.cpus[cpu] {
            At::Outside => {
                let mut next = vec![
                    self.moved(cpu, At::WaitBegins),
                    self.moved(cpu, At::WriteBegins),
                    self.moved(cpu, At::OffBegins),
                ];
                if fault == Fault::GoesEarly {
                    next.push(change(At::Outside, Rendezvous::goes));
                }
                next
            }
            At::WaitBegins if free => vec![change(At::Spins, Rendezvous::waits)],
            At::Spins if free || fault == Fault::LeavesUnlocked => {
                vec![change(At::Outside, Rendezvous::leaves)]
            }
            At::WriteBegins if free && self.rendezvous.others_wait(cpu) => {
                let mut next = self.moved(cpu, At::Allowed);
                next.lock = Some(cpu);
                vec![next]
            }
            // Refused.
            At::WriteBegins if free => vec![self.moved(cpu, At::Outside)],
            At::Allowed => {
                let mut next = self.moved(cpu, At::Written);
                if fault == Fault::PublishesUnlocked {
                    next.lock = None;
                }
                vec![next]
            }
            At::Written => vec![self.moved(cpu, At::Published)],
            At::Published => {
                let mut next = self.moved(cpu, At::Outside);
                next.lock = None;
                vec![next]
            }
            At::OffBegins if free => vec![change(At::InFirmware, Rendezvous::goes)],
            At::InFirmware => vec![self.moved(cpu, At::Off), self.moved(cpu, At::OffFailed)],
            At::OffFailed if fault == Fault::StaysUncounted => {
                vec![self.moved(cpu, At::Outside)]
            }
            At::OffFailed if free => vec![change(At::Outside, Rendezvous::arrives)],
            At::Off => vec![self.moved(cpu, At::Arrives)],
            At::Arrives if fault == Fault::ArrivesUncounted => {
                vec![self.moved(cpu, At::Outside)]
            }
            At::Arrives if free => vec![change(At::Outside, Rendezvous::arrives)],
            // It waits for the lock.
            _ => Vec::new(),
        }
    }

    /// While one CPU is between its permission and the end of its change, no other one executes
    /// instructions of the outer domain.
    fn is_good(&self) -> bool {
        let writes = |at: &At| matches!(at, At::Allowed | At::Written);
        let writers = self.cpus.iter().filter(|at| writes(at)).count();
        writers == 0 || (writers == 1 && !self.cpus.contains(&At::Outside))
    }
}

/// Number of states that can be reached, how many of them write while others wait, and whether
/// all are good.
fn explore(fault: Fault) -> (usize, usize, bool) {
    let mut seen = HashSet::from([State::first()]);
    let mut todo = vec![State::first()];
    let mut good = true;
    while let Some(state) = todo.pop() {
        good &= state.is_good();
        for cpu in 0..CPUS {
            for next in state.steps(cpu, fault) {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
    }
    let together = |it: &&State| it.cpus.contains(&At::Written) && it.cpus.contains(&At::Spins);
    let together = seen.iter().filter(together).count();
    (seen.len(), together, good)
}

#[test]
#[cfg_attr(miri, ignore = "too many states")]
fn a_change_meets_no_cpu_that_executes() {
    let (states, together, good) = explore(Fault::None);
    assert!(good);
    assert!(states > 500 && together > 10, "{states} {together}");
}

#[test]
#[cfg_attr(miri, ignore = "too many states")]
fn each_part_of_the_argument_is_needed() {
    for (fault, name) in [
        (Fault::LeavesUnlocked, "leaves without the lock"),
        (Fault::PublishesUnlocked, "publishes without the lock"),
        (Fault::ArrivesUncounted, "arrives uncounted"),
        (Fault::StaysUncounted, "stays uncounted"),
        (Fault::GoesEarly, "goes early"),
    ] {
        assert!(!explore(fault).2, "{name}");
    }
}

#[test]
fn a_cpu_alone_waits_for_no_other() {
    let mut rendezvous = Rendezvous::new(3);
    assert!(rendezvous.others_wait(3));
    assert!(!rendezvous.others_wait(0), "another one would be two");
    rendezvous.arrives(15);
    assert!(!rendezvous.others_wait(3));
    rendezvous.waits(15);
    assert!(rendezvous.others_wait(3));
    assert!(!rendezvous.others_wait(15), "3 does not wait");
    rendezvous.leaves(15);
    assert!(!rendezvous.others_wait(3));
    rendezvous.goes(15);
    assert!(rendezvous.others_wait(3));
}

#[test]
fn a_cpu_that_ran_at_the_hand_over_is_checked_or_named() {
    let mut cpus = Rendezvous::new(0);
    cpus.arrives(1);
    cpus.arrives(2);
    cpus.arrives(3);
    assert_eq!(cpus.unchecked(), 0, "there is nothing to compare with");
    cpus.check_all();
    assert_eq!(cpus.unchecked(), 0b1111);
    cpus.checked(0);
    cpus.checked(2);
    // Off, and back with the recorded registers.
    cpus.goes(3);
    cpus.arrives(3);
    cpus.arrives(4);
    assert_eq!(cpus.unchecked(), 0b10);
    cpus.checked(1);
    assert_eq!(cpus.unchecked(), 0);
}
