// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequences of calls encoded as bytes: what a fuzzer chooses, and the cases that are kept.

use core::marker::PhantomData;
use donjon_core::checks::{Check, Checks, Configured};

use crate::space::{self, random::Random};
use crate::user_tables;

/// No case has more calls than this.
const CALLS: u64 = 4096;

/// What the calls are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// Tables of the kernel: [`space::run`].
    KernelTables,
    /// Tables of users: [`user_tables::outer`].
    UserTables,
}

impl World {
    /// Every world.
    pub const ALL: [Self; 2] = [Self::KernelTables, Self::UserTables];

    /// Name of the world, also of the directory of its cases.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KernelTables => "kernel-tables",
            Self::UserTables => "user-tables",
        }
    }

    /// Makes the calls that `case` stands for, with all checks of rules and shadows, or with all
    /// but the one of this name.
    ///
    /// # Errors
    ///
    /// The first call after which something was wrong, and what.
    ///
    /// # Panics
    ///
    /// If there is no such check.
    pub fn judge(self, case: &[u8], without: Option<&str>) -> Result<(), String> {
        let Some(name) = without else {
            return self.run::<Configured>(case, true);
        };
        let run = WEAKENED.iter().find(|(it, _)| *it == name);
        let (_, run) = run.unwrap_or_else(|| panic!("there is no check {name}"));
        run(self, case)
    }

    /// The answers are not compared with the contract's where a check is left out: memory and TLBs
    /// must tell.
    fn run<C: Checks>(self, case: &[u8], compare: bool) -> Result<(), String> {
        match self {
            Self::KernelTables => {
                let conditions = space::run::Conditions {
                    compare,
                    ..Default::default()
                };
                let ran = space::run::run::<C>(Random::of_bytes(case), CALLS, conditions);
                ran.map(drop)
                    .map_err(|(call, violations)| format!("call {call}: {violations:#?}"))
            }
            Self::UserTables => {
                let mut random = Random::of_bytes(case);
                let greedy = random.once_in(2);
                let ran = user_tables::outer::run::<C>(random, CALLS, greedy, None);
                ran.map(drop)
                    .map_err(|(call, wrong)| format!("call {call}: {wrong}"))
            }
        }
    }
}

/// A run of a case without one of the checks.
type Run = fn(World, &[u8]) -> Result<(), String>;

macro_rules! weakened {
    ($($name:literal $check:ident,)*) => {
        /// The checks that can be left out, by name.
        const WEAKENED: &[(&str, Run)] = &[$(($name, {
            struct Weakened;
            impl Checks for Weakened {
                const $check: Check = Check::LeftOut;
            }
            without(PhantomData::<Weakened>)
        }),)*];
    };
}

const fn without<C: Checks>(_: PhantomData<C>) -> Run {
    |world, case| world.run::<C>(case, false)
}

weakened! {
    "target" TARGET,
    "transition" TRANSITION,
    "contiguous" CONTIGUOUS,
    "dbm" DIRTY_BIT_MODIFIER,
    "parent" PARENT,
    "asid" ASID,
    "flush" FLUSH,
    "execute" EXECUTE,
    "pool" POOL,
    "devices" DEVICES,
    "source" SOURCE,
    "refresh" REFRESH,
}
