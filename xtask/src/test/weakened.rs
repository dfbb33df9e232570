// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds that break a rule on purpose. A test that still passes over one of them proves nothing
//! about the rule, so here a failure of the guest's self-test is the success.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::boots::{CHECK, guest_says};
use super::runner::Test;
use crate::bare::InnerVariant;
use crate::cli::{HostArguments, MachineArguments, Switch};
use crate::machine::Machine;
use crate::paths;

const MANIFEST: &str = "inner-domain/image/Cargo.toml";

/// One test for each entry of `package.metadata.weakened` in the inner image's manifest: the
/// feature that breaks the rule, and what must then be seen.
pub fn tests(host: &HostArguments) -> Result<Vec<Test>> {
    let text = fs::read_to_string(paths::in_root(MANIFEST))?;
    let manifest: toml::Table = text
        .parse()
        .with_context(|| format!("reading {MANIFEST}"))?;
    let expected = table(&manifest, &["package", "metadata", "weakened"]);
    let mut tests = Vec::new();
    for (feature, evidence) in expected.into_iter().flatten() {
        let evidence = evidence
            .as_str()
            .with_context(|| format!("{MANIFEST}: {feature} must be a text"))?;
        let (host, feature, evidence) = (host.clone(), feature.clone(), evidence.to_owned());
        tests.push(Test::beside(&format!("weakened:{feature}"), move || {
            is_noticed(&host, &feature, &evidence)
        }));
    }
    Ok(tests)
}

fn table<'a>(from: &'a toml::Table, path: &[&str]) -> Option<&'a toml::Table> {
    path.iter()
        .try_fold(from, |table, name| table.get(*name)?.as_table())
}

/// The guest notices: its self-test counts failures, or the inner domain stops the machine.
fn is_noticed(host: &HostArguments, feature: &str, evidence: &str) -> Result<()> {
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
    let text = match guest_says(host, machine, &variant, CHECK) {
        Ok(said) => {
            let (passed, failed) = said.self_test()?;
            if failed == 0 {
                bail!(
                    "the self-test passed ({passed}) in spite of {feature}:\n{}",
                    said.text
                );
            }
            said.text
        }
        Err(error) => {
            let text = format!("{error:#}");
            ensure!(
                text.contains("donjon: PANIC"),
                "not a stop of the inner domain: {text}"
            );
            text
        }
    };
    ensure!(
        text.contains(evidence),
        "no `{evidence}` in what was said:\n{text}"
    );
    Ok(())
}
