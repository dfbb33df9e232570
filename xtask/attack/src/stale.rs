// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask attack stale`: what rests on the TLB, shown in gem5.
//!
//! QEMU drops its TLB at each write of TCR_EL1, so there an entry that should not be used is gone
//! anyway. gem5 keeps entries with their ASIDs. Each protection is left out once: the hostile
//! module then uses an entry that the normal build does not leave behind.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use comfy_table::{Table, presets};
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::kernel::Variant;
use donjon_builder::progress::Step;
use donjon_builder::run;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::gem5::{self, Gem5};
use donjon_machine::machine::Machine;
use serde::Serialize;

use crate::arguments::StaleArguments;
use crate::guest;

/// For boot and one attempt. The fast core boots in some minutes.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// A protection, the mode that rests on it, and the attempt that succeeds without it.
struct Control {
    name: &'static str,
    switch: Switch,
    without: &'static str,
    attempt: &'static str,
}

const CONTROLS: [Control; 6] = [
    Control {
        name: "another ASID inside",
        switch: Switch::Asid,
        without: "weaken-same-asid",
        attempt: "use-stale-entry/inner",
    },
    Control {
        name: "inner pages are not global",
        switch: Switch::Asid,
        without: "weaken-global",
        attempt: "use-stale-entry/inner",
    },
    Control {
        name: "inner pages are not global",
        switch: Switch::Strict,
        without: "weaken-global",
        attempt: "use-stale-entry/inner",
    },
    Control {
        name: "narrow, then invalidate",
        switch: Switch::Tlbi,
        without: "weaken-early-tlbi",
        attempt: "use-stale-entry/inner",
    },
    Control {
        name: "invalidate when a frame changes its class",
        switch: Switch::Asid,
        without: "weaken-flush",
        attempt: "use-stale-entry/frame",
    },
    Control {
        name: "invalidate when a frame becomes private",
        switch: Switch::Asid,
        without: "weaken-flush",
        attempt: "use-stale-entry/private",
    },
];

impl Control {
    /// Whether one of `words` names it, or none is given.
    fn is_named(&self, words: &[String]) -> bool {
        let places = [self.switch.name(), self.without, self.attempt];
        let named = |word: &String| places.iter().any(|it| it.contains(word.as_str()));
        words.is_empty() || words.iter().any(named)
    }
}

/// The rows that `words` name; at least one.
fn chosen(words: &[String]) -> Result<Vec<&'static Control>> {
    let chosen: Vec<_> = CONTROLS.iter().filter(|it| it.is_named(words)).collect();
    ensure!(
        !chosen.is_empty(),
        "no row has {}; there are: {}",
        words.join(" or "),
        CONTROLS
            .iter()
            .map(|it| format!("{} {} {}", it.switch.name(), it.attempt, it.without))
            .collect::<Vec<_>>()
            .join(", ")
    );
    Ok(chosen)
}

/// What was seen.
#[derive(Serialize)]
struct Seen {
    protection: &'static str,
    mode: &'static str,
    attempt: &'static str,
    /// What the module says of the normal build.
    normal: String,
    without: &'static str,
    /// What the module says of the build without the protection.
    control: String,
}

impl Seen {
    fn is_good(&self) -> bool {
        self.normal.starts_with("stopped") && self.control.starts_with("SUCCEEDED")
    }
}

/// Runs; returns the exit status.
pub fn run(arguments: &StaleArguments) -> Result<u8> {
    json::can_write(arguments.json.as_deref())?;
    let chosen = chosen(&arguments.only)?;
    let machine = MachineArguments {
        machine: gem5::NAME.into(),
        cpu: Some(arguments.cpu.clone()),
        memory: arguments.memory.clone(),
        ..MachineArguments::virt(Switch::Asid)
    };
    let gem5 = Gem5::new(&machine, &arguments.gem5)?;
    environment::prepare(&arguments.host, Needs::default())?;
    let mut all: Vec<Seen> = Vec::new();
    for control in chosen {
        let said = |weakened: &[&str]| {
            said(arguments, &gem5, control, weakened)
                .with_context(|| format!("{} ({})", control.name, control.switch.name()))
        };
        let mode = control.switch.name();
        let before = all
            .iter()
            .find(|it| (it.mode, it.attempt) == (mode, control.attempt));
        let normal = match before {
            Some(it) => it.normal.clone(),
            None => said(&[])?,
        };
        all.push(Seen {
            protection: control.name,
            mode,
            attempt: control.attempt,
            normal,
            without: control.without,
            control: said(&[control.without])?,
        });
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["protection", "mode", "normal build", "without", "there"]);
    for it in &all {
        table.add_row([it.protection, it.mode, &it.normal, it.without, &it.control]);
    }
    println!("{}\n{table}", gem5.description());
    json::write(arguments.json.as_deref(), &all)?;
    Ok(u8::from(!all.iter().all(Seen::is_good)))
}

/// What the module says.
fn said(
    arguments: &StaleArguments,
    gem5: &Gem5,
    control: &Control,
    weakened: &[&str],
) -> Result<String> {
    let inner = InnerVariant {
        switch: control.switch,
        weakened: weakened.iter().map(|it| (*it).to_owned()).collect(),
    };
    let machine = Machine::new(&MachineArguments::virt(control.switch))?;
    let mut parts = run::prepare_over(&arguments.host, machine, &inner, Variant::Donjon)?;
    guest::arm(&mut parts)?;
    let attempt = control.attempt;
    let script = guest::script(attempt, 0);
    let title = format!(
        "{attempt}, {}, {}",
        control.switch.name(),
        weakened.first().unwrap_or(&"normal build")
    );
    let step = Step::spinner(&title);
    let what = run::parts_for_gem5(&parts.boot, None)?;
    let finished = gem5.exec(&what, &script, TIMEOUT);
    step.vanish();
    let finished = finished?;
    let text = String::from_utf8_lossy(&finished.output);
    let mark = format!("attack {attempt}: ");
    let line = text
        .lines()
        .find_map(|line| Some(line.split_once(&mark)?.1));
    let line = line.with_context(|| {
        format!(
            "the guest went on ({}) without a word:\n{text}{}",
            finished.status,
            String::from_utf8_lossy(&finished.errors)
        )
    })?;
    ensure!(!line.starts_with("UNTRIED"), "{line}");
    eprintln!("{title}: {line}");
    Ok(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(words: &[&str]) -> Result<usize> {
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        Ok(chosen(&words)?.len())
    }

    #[test]
    fn words_choose_rows() -> Result<()> {
        assert_eq!(rows(&[])?, CONTROLS.len());
        assert_eq!(rows(&["use-stale-entry/frame"])?, 1);
        assert_eq!(rows(&["weaken-global"])?, 2);
        assert_eq!(rows(&["tlbi", "frame"])?, 2);
        let refused = rows(&["nothing"]).expect_err("no row has it").to_string();
        assert!(refused.contains("weaken-flush"));
        Ok(())
    }
}
