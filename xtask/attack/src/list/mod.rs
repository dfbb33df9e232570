// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of attacks: a file of rows for each subject.
//!
//! A new attack is a row here and a function of the guest's, registered with `DONJON_ATTACK()`
//! under the names of the row. `docs/attacks.md` tells how, and has this table.

mod calls;
mod compartments;
mod devices;
mod firmware;
mod flow;
mod forged_tcr;
mod gate;
mod page_tables;
#[cfg(test)]
mod registered;
mod registers;
mod text;
mod tlb;
mod user_tables;

pub use devices::{AROUND, WITH_BALLOON};
pub use flow::OTHER_WORDS;

use super::attempt::{Attack, Attempt, AttemptEnd, Control, Without};

/// What attacks have in common that stand together.
pub struct Subject {
    /// Heading in the documentation.
    pub title: &'static str,
    /// The rows.
    pub attacks: &'static [Attack],
}

/// The table.
pub const SUBJECTS: &[Subject] = &[
    Subject {
        title: "Page tables of the kernel",
        attacks: page_tables::ATTACKS,
    },
    Subject {
        title: "Page tables of users",
        attacks: user_tables::ATTACKS,
    },
    Subject {
        title: "TLB and ASIDs",
        attacks: tlb::ATTACKS,
    },
    Subject {
        title: "Text and vectors",
        attacks: text::ATTACKS,
    },
    Subject {
        title: "System registers",
        attacks: registers::ATTACKS,
    },
    Subject {
        title: "Arguments and results of calls",
        attacks: calls::ATTACKS,
    },
    Subject {
        title: "Compartments",
        attacks: compartments::ATTACKS,
    },
    Subject {
        title: "Flow attestation",
        attacks: flow::ATTACKS,
    },
    Subject {
        title: "Devices",
        attacks: devices::ATTACKS,
    },
    Subject {
        title: "Firmware and CPUs",
        attacks: firmware::ATTACKS,
    },
    Subject {
        title: "The gate",
        attacks: gate::ATTACKS,
    },
    Subject {
        title: "Forged values of TCR_EL1",
        attacks: forged_tcr::ATTACKS,
    },
];

/// Attacks of all subjects.
pub fn all() -> impl Iterator<Item = &'static Attack> {
    SUBJECTS.iter().flat_map(|it| it.attacks)
}
