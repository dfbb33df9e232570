// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long random runs, and runs without each kind of step.

use std::panic::catch_unwind;

use donjon_core::checks::{Check, Checks, Configured};
use donjon_core::translation::Step;
use donjon_models::space::random::Random;
use donjon_models::user_tables::outer::{self, Counters, Lost};

fn run(seed: u64, lost: Option<Lost>) -> Result<Counters, (u64, String)> {
    let greedy = seed % 2 == 1;
    outer::run::<Configured>(Random::new(seed), 4_000, greedy, lost)
}

#[test]
#[cfg_attr(miri, ignore = "needs long sequences")]
fn whatever_linux_asks_for_shadows_and_tlbs_agree() {
    for seed in 0..6 {
        let counters = run(seed, None);
        println!("{seed}: {counters:?}");
        assert!(counters.is_ok(), "{counters:?}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs long sequences")]
fn each_kind_of_step_is_needed() {
    let kinds: [(&str, Lost); 5] = [
        ("page", |it| matches!(it, Step::InvalidatePage { .. })),
        ("ASID", |it| matches!(it, Step::InvalidateAsid(_))),
        ("DSB ISHST", |it| matches!(it, Step::BarrierStore)),
        ("DSB ISH", |it| matches!(it, Step::Barrier)),
        ("zeros", |it| {
            matches!(it, Step::ZeroFrame(_) | Step::ZeroGroups { .. })
        }),
    ];
    for (name, lost) in kinds {
        // Tables that are not zero may lead the rules out of the arena, which ends them.
        let noticed = |seed| {
            let ran = catch_unwind(|| run(seed, Some(lost)));
            ran.unwrap_or_else(|_| Err((0, "an index past the end".into())))
                .err()
        };
        let found = (0..20).find_map(noticed);
        let (call, wrong) = found.unwrap_or_else(|| panic!("{name} is missed by nothing"));
        println!("without {name}: call {call}, {wrong}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "needs long sequences")]
fn a_refresh_that_adds_rights_is_noticed() {
    struct Weakened;
    impl Checks for Weakened {
        const REFRESH: Check = Check::LeftOut;
    }
    let noticed = |seed| outer::run::<Weakened>(Random::new(seed), 4_000, false, None).err();
    let (call, wrong) = (0..20).find_map(noticed).expect("a run that notices");
    println!("without the check: call {call}, {wrong}");
    assert!(wrong.contains("by refresh"), "{wrong}");
}
