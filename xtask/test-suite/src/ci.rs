// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workflow runs each test: its matrices have a part of each name of their tier.

use std::fs;

use donjon_builder::arguments::HostArguments;
use donjon_machine::paths;

use crate::test::Tier;

const WORKFLOW: &str = ".github/workflows/ci.yml";

/// The filters of all jobs whose command runs this tier.
fn filters(workflow: &str, tier: &str) -> Vec<String> {
    let command = format!("cargo xtask test --tier {tier} ");
    let jobs = workflow.split("\n    runs-on: ");
    let jobs = jobs.filter(|it| it.contains(&command));
    let lines = jobs.flat_map(str::lines);
    let lines = lines.filter_map(|it| it.trim().strip_prefix("tests: "));
    lines
        .flat_map(|it| it.trim_matches('"').split_whitespace())
        .map(str::to_owned)
        .collect()
}

fn check(tier: Tier, name: &str) {
    let workflow = fs::read_to_string(paths::in_root(WORKFLOW)).expect(WORKFLOW);
    let filters = filters(&workflow, name);
    assert!(
        !filters.is_empty(),
        "{WORKFLOW}: no job runs the tier {name}"
    );
    let tests = crate::all(&HostArguments::default());
    let names: Vec<_> = tests.iter().filter(|it| it.tier == tier).collect();
    let left: Vec<_> = names
        .iter()
        .filter(|it| !filters.iter().any(|filter| it.name.contains(filter)))
        .map(|it| &it.name)
        .collect();
    assert!(left.is_empty(), "{WORKFLOW}: no job runs {left:?}");
    for filter in &filters {
        let is_of_use = names.iter().any(|it| it.name.contains(filter));
        assert!(
            is_of_use,
            "{WORKFLOW}: no test of the tier {name} has {filter} in its name"
        );
    }
}

#[test]
fn the_workflow_runs_each_full_test() {
    check(Tier::Full, "full");
}

#[test]
fn the_workflow_runs_each_long_test() {
    check(Tier::Long, "long");
}
