// SPDX-License-Identifier: MIT OR Apache-2.0
//! The self-test over a gate that is broken on purpose. A self-test that still passes proves
//! nothing, so here its failure is the success.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::kernel::Variant;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::{Said, whatever_became};

use super::boots::{CHECK, guest_over_says, is_not_taken_over};
use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(120);

/// A gate that forgets to narrow is noticed twice: by the vectors at the first exception from
/// EL1, and, where those do not look, by the self-test. Vectors that do not look are refused by the
/// hand-over of a sound inner domain. One that leaves registers is noticed by
/// the self-test.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let vectors = host.clone();
    let self_test = host.clone();
    let registers = host.clone();
    let refused = host.clone();
    vec![
        Test::beside("weakened:no-narrow:vectors", move || {
            let said = said_over(&vectors, &["weaken-no-narrow"], Variant::Donjon);
            let text = whatever_became(&said);
            ensure!(
                text.contains("donjon: PANIC") && text.contains("0x00000032b5103510"),
                "the vectors let it pass:\n{text}"
            );
            Ok(())
        }),
        Test::beside("weakened:vectors:refused", move || {
            let said = said_over(&refused, &[], Variant::Weakened("vectors"));
            let text = whatever_became(&said);
            is_not_taken_over(&text)?;
            let reason = "hand-over refused: no comparison in the vector slot 0x0";
            ensure!(text.contains(reason), "nothing said `{reason}`:\n{text}");
            Ok(())
        })
        .holds(&["I7"]),
        Test::beside("weakened:no-narrow:self-test", move || {
            let linux = Variant::Weakened("vectors");
            let said = said_over(&self_test, &["weaken-no-narrow", "weaken-vectors"], linux)?;
            fails_with(&said.text, "FAILED on CPU 0: read of 0xffff9fffffe00000")
        })
        .holds(&["P1"]),
        Test::beside("weakened:no-clear", move || {
            let said = said_over(&registers, &["weaken-no-clear"], Variant::Donjon)?;
            fails_with(&said.text, "FAILED on CPU 0: registers left with")
        })
        .holds(&["P1"]),
    ]
}

fn fails_with(text: &str, failure: &str) -> Result<()> {
    ensure!(
        text.contains(failure) && !text.contains(" passed, 0 failed"),
        "the self-test did not notice:\n{text}"
    );
    Ok(())
}

/// What the guest's check says over a gate with `features`.
fn said_over(host: &HostArguments, features: &[&str], linux: Variant) -> Result<Said> {
    let machine = Machine::new(&MachineArguments {
        cpus: Some(1),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let inner = InnerVariant::without(Switch::Asid, features);
    let check = format!("{CHECK}; dmesg | grep selftest:");
    guest_over_says(host, machine, &inner, linux, &check, TIMEOUT)
}
