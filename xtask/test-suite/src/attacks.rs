// SPDX-License-Identifier: MIT OR Apache-2.0
//! The attacks of `cargo xtask attack`: stopped in every mode, and each control. An attack that
//! cannot succeed without the protection proves nothing about it.

use donjon_attack::{Attack, Bench};
use donjon_builder::arguments::HostArguments;
use donjon_machine::arguments::{Switch, VIRT};

use super::test::Test;

/// One test for each mode, one for each build without a protection.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests = Vec::new();
    let of_module = held_by_module();
    for switch in [Switch::Asid, Switch::Tlbi, Switch::Strict] {
        let host = host.clone();
        let name = format!("attack:module:{}", switch.name());
        let test = Test::beside(&name, move || {
            donjon_attack::all_are_stopped(bench(&host, switch))
        });
        let test = test.holds(&of_module);
        // QEMU's TLB has no ASIDs, so `tlbi` shows there what `asid` shows.
        let is_shown_by_asid = switch == Switch::Tlbi;
        tests.push(if is_shown_by_asid { test.long() } else { test });
    }
    for without in donjon_attack::protections() {
        let host = host.clone();
        let name = format!("attack:control:{}", without.name());
        tests.push(Test::beside(&name, move || {
            donjon_attack::controls_succeed(bench(&host, Switch::Asid), without)
        }));
    }
    for attack in donjon_attack::alone() {
        for switch in attack.modes {
            let host = host.clone();
            let name = format!("attack:{}:{}", switch.name(), attack.id());
            let test = Test::beside(&name, move || bench(&host, *switch).is_stopped(attack));
            tests.push(test.holds(&attack.all_held()));
        }
        if !attack.controls.is_empty() {
            let host = host.clone();
            let name = format!("attack:asid:{}:control", attack.id());
            tests.push(Test::beside(&name, move || {
                bench(&host, Switch::Asid).succeeds(attack)
            }));
        }
    }
    tests
}

/// What the attacks that the module makes in one guest are about.
fn held_by_module() -> Vec<&'static str> {
    let of_module = donjon_attack::all().filter(|it| it.is_of_module() && !it.is_alone());
    let mut held: Vec<_> = of_module.flat_map(Attack::all_held).collect();
    held.sort_unstable();
    held.dedup();
    held
}

const fn bench(host: &HostArguments, switch: Switch) -> Bench<'_> {
    Bench {
        host,
        switch,
        machine: VIRT,
    }
}
