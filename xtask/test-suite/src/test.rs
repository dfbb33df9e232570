// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a test says about itself: when it runs, what it needs of the host, and what it holds.

use anyhow::Result;
use clap::ValueEnum;
use donjon_builder::environment::Needs;

use crate::runner::{as_failure, is_not_checked};

/// Says which command runs a test without being asked for it by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tier {
    /// `cargo xtask check` alone: the test needs a program that takes minutes to build.
    Check,
    /// `cargo xtask check` and `cargo xtask test`: no guest, and minutes at most from a warm cache.
    Quick,
    /// `cargo xtask test`.
    Full,
    /// No command: the test takes long, or needs the native kernel, which takes a quarter of an
    /// hour to build, and other tests meet most of the same code.
    Long,
}

impl Tier {
    /// Whether `cargo xtask check` runs the test.
    pub const fn is_checked(self) -> bool {
        matches!(self, Self::Check | Self::Quick)
    }

    /// Whether `cargo xtask test` runs the test only where its whole name is given.
    pub const fn runs_by_name(self) -> bool {
        matches!(self, Self::Check | Self::Long)
    }
}

/// One test.
pub struct Test {
    /// Name of the test; parts are separated by colons.
    pub name: String,
    /// When it runs.
    pub tier: Tier,
    /// What the host must have for it, beyond what every build needs.
    pub needs: Needs,
    /// Invariants and promises that it holds, such as `I4` and `P1`: `docs/testing.md` lists it
    /// there.
    pub holds: Vec<&'static str>,
    /// Whether it may run beside others like it.
    pub parallel: bool,
    /// Whether it needs no guest, so that chance has no part in it.
    pub on_host: bool,
    /// What it does.
    pub body: Box<dyn Fn() -> Result<()> + Send + Sync>,
}

impl Test {
    /// A test that wants the host for itself.
    pub fn alone(name: &str, body: impl Fn() -> Result<()> + Send + Sync + 'static) -> Self {
        Self {
            name: name.to_owned(),
            tier: Tier::Full,
            needs: Needs::default(),
            holds: Vec::new(),
            parallel: false,
            on_host: false,
            body: Box::new(body),
        }
    }

    /// A test that may run beside others.
    pub fn beside(name: &str, body: impl Fn() -> Result<()> + Send + Sync + 'static) -> Self {
        Self {
            parallel: true,
            ..Self::alone(name, body)
        }
    }

    /// Says that the test needs no guest.
    pub fn on_host(self) -> Self {
        Self {
            on_host: true,
            ..self
        }
    }

    /// Makes a failure of what the test cannot look at.
    pub fn strictly(self) -> Self {
        let body = self.body;
        Self {
            body: Box::new(move || {
                body().map_err(|error| match is_not_checked(&error) {
                    true => as_failure(&error),
                    false => error,
                })
            }),
            ..self
        }
    }

    /// Puts the test into [`Tier::Check`].
    pub fn in_check_alone(self) -> Self {
        Self {
            tier: Tier::Check,
            ..self.on_host()
        }
    }

    /// Puts the test into [`Tier::Quick`].
    pub fn quick(self) -> Self {
        Self {
            tier: Tier::Quick,
            ..self.on_host()
        }
    }

    /// Puts the test into [`Tier::Long`].
    pub fn long(self) -> Self {
        self.long_if(true)
    }

    /// Puts the test into [`Tier::Long`] where a case of several is one that takes long.
    pub fn long_if(self, is_long: bool) -> Self {
        let tier = if is_long { Tier::Long } else { self.tier };
        Self { tier, ..self }
    }

    /// Says what the host must have.
    pub fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// Says what the test holds, in addition to what was said before.
    pub fn holds(mut self, ids: &[&'static str]) -> Self {
        self.holds.extend(ids);
        self
    }
}
