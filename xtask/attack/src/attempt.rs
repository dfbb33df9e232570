// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types of the table of attacks.

use donjon_machine::arguments::Switch;
use donjon_verify::Check;

/// An attack: one row in `list`, and functions of the same name in the guest.
#[derive(Debug)]
pub struct Attack {
    /// What it does, in words. The guest, the documentation and `--only` know it by this.
    pub name: &'static str,
    /// Former name of the attack; `--only` takes this as well, and results have it.
    pub alias: Option<&'static str>,
    /// What it tries.
    pub title: &'static str,
    /// The protection that stops it.
    pub stopped_by: &'static str,
    /// The ways in which it does, by the names that the guest knows; none for what is done
    /// from outside of the guest.
    pub attempts: &'static [Attempt],
    /// Where it has to succeed.
    pub controls: &'static [Control],
    /// CPU model, where not any will do.
    pub cpu: Option<&'static str>,
    /// Modes in which it means anything.
    pub modes: &'static [Switch],
    /// Invariants and promises that the attack is about, beside those in `seen_as` of its controls.
    pub holds: &'static [&'static str],
    /// Whether a disk carries it out, so that the machine has one, behind an SMMU.
    pub by_device: bool,
    /// Whether a disk behind a USB controller does, so that the machine is a Raspberry Pi 3.
    pub by_usb: bool,
    /// Whether the verifier of a run's report has to stop it, and not the inner domain.
    pub is_for_verifier: bool,
}

/// All ways to enter the inner domain.
pub const MODES: &[Switch] = &[Switch::Asid, Switch::Tlbi, Switch::Strict];

impl Attack {
    /// What a row leaves out: no control, any CPU, all modes.
    pub const ROW: Self = Self {
        name: "",
        alias: None,
        title: "",
        stopped_by: "",
        attempts: &[],
        controls: &[],
        cpu: None,
        modes: MODES,
        holds: &[],
        by_device: false,
        by_usb: false,
        is_for_verifier: false,
    };

    /// What results and names of tests have.
    pub const fn id(&self) -> &'static str {
        match self.alias {
            Some(alias) => alias,
            None => self.name,
        }
    }

    /// Whether this is the attack that a user means.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.id().eq_ignore_ascii_case(name)
    }

    /// Both names of the attack, for readers who look for one.
    pub fn both_names(&self) -> String {
        match self.alias {
            Some(alias) => format!("{} ({alias})", self.name),
            None => self.name.to_owned(),
        }
    }

    /// Name and title.
    pub fn describe(&self) -> String {
        if self.id() == self.name {
            self.title.to_owned()
        } else {
            format!("{}: {}", self.name, self.title)
        }
    }

    /// Invariants and promises that the attack is about, and those that the auditor names where it
    /// succeeds.
    pub fn all_held(&self) -> Vec<&'static str> {
        let seen = self.controls.iter().flat_map(|it| it.seen_as);
        let mut all: Vec<_> = self.holds.iter().chain(seen).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Attempts that are made with all protections on.
    pub fn attempts_of_sound(&self) -> impl Iterator<Item = &'static Attempt> {
        self.attempts.iter().filter(|it| it.is_for_sound())
    }

    /// Whether the hostile module carries it out.
    pub fn is_of_module(&self) -> bool {
        !self.is_from_outside() && !self.is_for_verifier
    }

    /// Whether the runs from outside carry it out.
    pub const fn is_from_outside(&self) -> bool {
        self.attempts.is_empty()
    }

    /// Whether no machine survives it, so that it has one of its own.
    pub fn is_alone(&self) -> bool {
        self.attempts.iter().any(Attempt::is_fatal)
    }
}

/// One way to carry an attack out.
#[derive(Debug)]
pub struct Attempt {
    /// Name of the attempt in the guest.
    pub name: &'static str,
    /// How it ends with all protections on.
    pub end: AttemptEnd,
    /// A number that it is about, such as a value of `TCR_EL1`.
    pub value: Option<u64>,
}

impl Attempt {
    /// An attempt that is refused or faults: `mark` is in what the guest says.
    pub const fn stopped(name: &'static str, mark: &'static str) -> Self {
        Self {
            name,
            end: AttemptEnd::Stopped(mark),
            value: None,
        }
    }

    /// An attempt by a device behind which a sound build withholds the bridge, and with it the
    /// disk and the output of the guest: it is made in controls alone.
    pub const fn withheld(name: &'static str) -> Self {
        Self {
            name,
            end: AttemptEnd::Withheld,
            value: None,
        }
    }

    /// Whether it is made with all protections on.
    pub const fn is_for_sound(&self) -> bool {
        !matches!(self.end, AttemptEnd::Withheld)
    }

    /// Whether the machine does not survive it, with all protections on.
    pub const fn is_fatal(&self) -> bool {
        matches!(self.end, AttemptEnd::Panic | AttemptEnd::Hang)
    }
}

/// How an attempt ends that does not succeed.
#[derive(Clone, Copy, Debug)]
pub enum AttemptEnd {
    /// The attempt is refused or faults, and the guest says so with these words.
    Stopped(&'static str),
    /// The inner domain stops the machine.
    Panic,
    /// The CPU hangs at the vector for synchronous exceptions, in an endless prefetch abort.
    Hang,
    /// A sound build has no such attempt: the boot stage withholds the bridge of the device.
    Withheld,
}

impl AttemptEnd {
    /// What is in the result.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Stopped(mark) => mark,
            Self::Panic => "the inner domain stopped the machine",
            Self::Hang => "an endless prefetch abort at the vector",
            Self::Withheld => "the bridge is withheld",
        }
    }
}

/// A build in which some attempts succeed.
#[derive(Debug)]
pub struct Control {
    /// What it is built without.
    pub without: Without,
    /// Names of those attempts.
    pub attempts: &'static [&'static str],
    /// Invariants that the auditor has to name afterwards; none where the attempt leaves nothing
    /// that can be seen from outside.
    pub seen_as: &'static [&'static str],
}

/// Protections that a build leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Without {
    /// Features of the inner domain, `weaken-` and so on.
    pub inner: &'static [&'static str],
    /// A fragment in `kernel-patch/config/weaken`.
    pub linux: Option<&'static str>,
    /// A part of flow attestation outside of the guest.
    pub part: Option<Part>,
}

/// A part of flow attestation that a control leaves out or exchanges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A check of the verifier's.
    Check(Check),
    /// The policy that the verifier judges by.
    Policy,
    /// The record; in its place stands the one that was planned first.
    Record,
}

impl Part {
    /// What is left out, in words.
    const fn name(self) -> &'static str {
        match self {
            Self::Check(Check::Nonce) => "no-nonce",
            Self::Check(Check::Program) => "no-program",
            Self::Check(Check::Words) => "no-words",
            Self::Check(Check::Path) => "no-path",
            Self::Policy => "no-policy",
            Self::Record => "old-record",
        }
    }
}

impl Without {
    /// Everything is on.
    pub const NOTHING: Self = Self::inner(&[]);

    /// A build without protections of the inner domain's.
    pub const fn inner(features: &'static [&'static str]) -> Self {
        Self {
            inner: features,
            linux: None,
            part: None,
        }
    }

    /// A verifier, or a program, without a part of flow attestation.
    pub const fn part(part: Part) -> Self {
        Self {
            part: Some(part),
            ..Self::NOTHING
        }
    }

    /// What is left out, in words.
    pub fn name(&self) -> String {
        let part = self.part.map(Part::name);
        let all: Vec<_> = self
            .inner
            .iter()
            .chain(&self.linux)
            .chain(&part)
            .copied()
            .collect();
        all.join("+")
    }
}
