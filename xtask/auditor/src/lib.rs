// SPDX-License-Identifier: MIT OR Apache-2.0
//! The auditor: looks at a machine from outside and says which invariants do not hold.
//!
//! It trusts nothing that Linux says and shares no code with the inner domain's rules; of
//! `donjon-abi` it takes numbers. Where things are it takes from sources that a hostile kernel
//! cannot forge, one from the other:
//!
//! 1. QEMU says what the machine has (the device tree that it makes) and at which address it put
//!    the boot image.
//! 2. The files on the host say what is where in the boot image and in Linux: the kernel's text,
//!    its root table, the page that stays, and the bytes of the inner domain's text and constants.
//! 3. The inner half of that root table and the page that stays lead to the inner domain's memory;
//!    the description that the boot stage left there has its limits and the table of all frames.
//!    Linux can write none of these; if it can, I1 to I4 and I16 name it.
//! 4. That table says which blocks are pools. What it says is checked: `metadata` says how.
//!
//! Neither the console nor a variable of Linux's is a source. Registers are compared with what
//! follows from the above, and never decide where something is.
//!
//! * [`mod@snapshot`] stops a machine and copies registers and memory;
//! * [`of`] walks the tables and checks every invariant, but for what [`UNSEEN`] names;
//! * [`live`] does both.
//!
//! User tables are walked from each CPU's TTBR0_EL1, and from every root that lies in a pool of
//! tables while its process does not run.
#![forbid(unsafe_code)]

mod capture;
mod checks;
mod code;
mod denied;
pub mod descriptor;
mod devices;
mod frames;
mod image;
mod inner;
pub mod linux;
pub mod memory;
mod metadata;
mod report;
pub mod snapshot;
pub mod target;
#[cfg(test)]
mod tests;
pub mod walk;

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;

use checks::World;
use checks::registers::is_in_compartment;
use frames::Frames;
use walk::Walks;

pub use capture::{Sources, Subject, of_stopped, snapshot};
pub use checks::registers::is_inside;
pub use report::{Report, UNSEEN, Violation};
use snapshot::Snapshot;
use target::Target;

/// How often a moment is looked at again that only shows a call of the inner domain half done.
const RETRIES: u32 = 20;

/// Audits a machine at one moment.
pub fn of(snapshot: &Snapshot) -> Report {
    audit(snapshot, None).0
}

/// The leaf sizes of the linear map at some moment.
pub struct Sizes(HashMap<u64, u8>);

/// Audits a snapshot, and compares the sizes of kernel mappings with those of an earlier moment.
pub fn since(snapshot: &Snapshot, before: Option<&Sizes>) -> (Report, Sizes) {
    audit(snapshot, before)
}

/// Stops a running machine, audits it, lets it go on. No time passes in the guest meanwhile, so a
/// slow host does not miss what the guest does next.
///
/// A root entry of the kernel is two words, and the inner domain writes one after the other; a
/// table and its type are two words as well. A moment between them, with a CPU inside, is looked
/// at again; nothing else is.
///
/// # Errors
///
/// If the machine does not answer, or the inner domain is not found.
pub fn live(
    subject: &Subject,
    target: &impl Target,
    before: Option<&Sizes>,
) -> Result<(Report, Sizes)> {
    let mut tries = 0;
    loop {
        target.stop()?;
        let looked = of_stopped(subject, target).map(|it| since(&it, before));
        target.resume()?;
        let (report, sizes) = looked?;
        let halves = |it: &Violation| {
            let marks = [checks::root::HALVES, checks::tables::TYPE_TABLE];
            marks.iter().any(|mark| it.text.contains(mark))
        };
        let half_done = report.cpus_inside > 0 && report.violations.iter().any(halves);
        if !half_done || tries == RETRIES {
            return Ok((report, sizes));
        }
        tries += 1;
    }
}

fn audit(snapshot: &Snapshot, before: Option<&Sizes>) -> (Report, Sizes) {
    let root = kernel_root(snapshot);
    let mut walks = Walks::new(&*snapshot.memory);
    walks.kernel(root);
    let outside = snapshot
        .running()
        .filter(|it| !is_in_compartment(&snapshot.facts, it));
    let mut roots: BTreeSet<u64> = outside.map(|it| it.user_root()).collect();
    for user in &roots {
        walks.user(*user);
    }
    for user in snapshot.facts.user_trees.values().copied() {
        if !walks.tables.contains_key(&user) {
            walks.user(user);
            roots.insert(user);
        }
    }
    let mut frames = Frames::of(snapshot, root);
    let mut violations = walks.violations.clone();
    violations.extend(checks::tables::check(snapshot, &walks, &frames));
    frames.add_tables(&walks);
    let world = World {
        snapshot,
        walks: &walks,
        frames: &frames,
        root,
    };
    violations.extend(checks::mappings::check(&world));
    violations.extend(checks::groups::check(&world));
    violations.extend(checks::registers::check(&world));
    violations.extend(checks::compartments::check(&world));
    violations.extend(checks::parked::check(&world));
    violations.extend(checks::dma::check(&world));
    violations.extend(checks::usb::check(&world));
    violations.extend(checks::el2::check(&world));
    violations.extend(checks::constants::check(&world));
    violations.extend(checks::vectors::check(&world));
    violations.extend(checks::root::halves(&world));
    violations.extend(checks::root::block(&world));
    if let Some(before) = before {
        violations.extend(checks::groups::resized(&world, &before.0));
    }
    let scan = checks::text::check(&world);
    violations.extend(scan.violations);
    let (escapes, geometries) = checks::geometry::check(&world);
    violations.extend(escapes);
    let inside = snapshot
        .running()
        .filter(|it| checks::registers::is_inside(it));
    let in_compartments = snapshot
        .running()
        .filter(|it| is_in_compartment(&snapshot.facts, it));
    let report = Report {
        violations,
        cpus: snapshot.running().count(),
        cpus_inside: inside.count(),
        cpus_in_compartments: in_compartments.count(),
        user_roots: roots.len(),
        tables: walks.tables.len(),
        leaves: walks.leaves.len(),
        frames: frames.count(),
        private_in_use: snapshot
            .facts
            .private
            .values()
            .filter(|it| **it != 0)
            .count(),
        exec_pages: scan.pages,
        code_bytes: scan.bytes,
        geometries,
    };
    let sizes = Sizes(checks::groups::linear_sizes(&walks.leaves));
    (report, sizes)
}

/// The root that the CPUs have; where they differ, I6 says so.
fn kernel_root(snapshot: &Snapshot) -> u64 {
    snapshot.running().next().map_or(0, |it| it.kernel_root())
}
