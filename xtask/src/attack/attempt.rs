// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an attack is.

/// An attack: one file here, and one of the same name in the guest.
pub struct Attack {
    /// As the list of attacks has it, such as `D1`.
    pub id: &'static str,
    /// What it tries.
    pub title: &'static str,
    /// The ways in which it does, by the names that the guest knows.
    pub attempts: &'static [Attempt],
    /// Where it has to succeed.
    pub controls: &'static [Control],
    /// CPU model, where not any will do.
    pub cpu: Option<&'static str>,
}

impl Attack {
    /// Whether this is the attack that a user means.
    pub const fn is(&self, id: &str) -> bool {
        self.id.eq_ignore_ascii_case(id)
    }
}

/// One way to carry an attack out.
pub struct Attempt {
    /// Its name in the guest.
    pub name: &'static str,
    /// How it ends with all protections on.
    pub end: End,
}

impl Attempt {
    /// One that is refused or faults: `mark` is in what the guest says.
    pub const fn stopped(name: &'static str, mark: &'static str) -> Self {
        Self {
            name,
            end: End::Stopped(mark),
        }
    }

    /// Whether the machine does not survive it, with all protections on.
    pub const fn is_fatal(&self) -> bool {
        matches!(self.end, End::Machine(_))
    }
}

/// How an attempt ends that does not succeed.
#[derive(Clone, Copy)]
pub enum End {
    /// It is refused or faults, and the guest says so with these words.
    Stopped(&'static str),
    /// The inner domain stops the machine; these words are on the console.
    #[expect(dead_code, reason = "for jumps into the gate")]
    Machine(&'static str),
}

/// A build in which some attempts succeed.
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
}

impl Without {
    /// Everything is on.
    pub const NOTHING: Self = Self::inner(&[]);

    /// Without protections of the inner domain's.
    pub const fn inner(features: &'static [&'static str]) -> Self {
        Self {
            inner: features,
            linux: None,
        }
    }

    /// In words.
    pub fn name(&self) -> String {
        let all: Vec<_> = self.inner.iter().chain(&self.linux).copied().collect();
        all.join("+")
    }
}
