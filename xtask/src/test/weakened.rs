// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds that break a rule on purpose. A test that still passes over one of them proves nothing
//! about the rule, so here a failure of the guest's self-test is the success.

use std::fs;

use anyhow::{Context, Result, bail};

use super::boots::{CHECK, guest_says};
use super::runner::Test;
use crate::bare::InnerVariant;
use crate::cli::{HostArguments, MachineArguments, Switch};
use crate::machine::Machine;
use crate::paths;

const MANIFEST: &str = "inner-domain/image/Cargo.toml";

/// One test for each feature of the inner domain whose name begins with `weaken-`.
pub fn tests(host: &HostArguments) -> Result<Vec<Test>> {
    let test = |feature: String| {
        let host = host.clone();
        Test::beside(&format!("weakened:{feature}"), move || {
            is_noticed(&host, &feature)
        })
    };
    Ok(features()?.into_iter().map(test).collect())
}

fn features() -> Result<Vec<String>> {
    let text = fs::read_to_string(paths::in_root(MANIFEST))?;
    let manifest: toml::Table = text
        .parse()
        .with_context(|| format!("reading {MANIFEST}"))?;
    let features = manifest.get("features").and_then(toml::Value::as_table);
    let names = features.into_iter().flatten().map(|(name, _)| name.clone());
    Ok(names.filter(|name| name.starts_with("weaken-")).collect())
}

/// The guest notices: its self-test counts failures, or it ends in a panic.
fn is_noticed(host: &HostArguments, feature: &str) -> Result<()> {
    let machine = Machine::new(&MachineArguments {
        machine: "virt".into(),
        cpu: None,
        cpus: Some(1),
        memory: None,
        switch: Switch::Asid,
        icount: false,
        el2: false,
        append: None,
    })?;
    let variant = InnerVariant {
        switch: Switch::Asid,
        weakened: vec![feature.to_owned()],
    };
    let said = guest_says(host, machine, &variant, CHECK)?;
    let (passed, failed) = said.self_test()?;
    if failed == 0 {
        bail!(
            "the self-test passed ({passed}) over an inner domain with {feature}:\n{}",
            said.text
        );
    }
    Ok(())
}
