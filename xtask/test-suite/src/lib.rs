// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask test`: every check of the project, by name.

pub mod arguments;
mod asids;
mod attacks;
mod audit;
mod bad_input;
mod boards;
mod boots;
mod compartments;
mod distribution;
mod docs;
mod early;
mod fuzz;
mod gate;
mod geometry;
mod host;
mod image;
mod inside_outside;
mod lmbench;
mod load;
mod login;
mod longest;
mod machines;
mod modules;
mod random_calls;
mod reclaim;
mod report;
mod reports;
mod reproducible;
mod restart;
mod rootfs;
mod runner;
mod scale;
mod scratch;
mod soak;
mod text;
mod trace;
mod weakened;

use anyhow::{Result, bail};
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_machine::arguments::Switch;

use crate::arguments::TestArguments;

use runner::Test;

/// The kernel's own selftests.
const KSELFTEST: &str = "kselftest";

/// Tests whose names begin so run by their whole names alone, and not with the rest. Each of the
/// first takes minutes, and a test beside it meets most of the code that it does. The others need
/// the native kernel: building it takes a quarter of an hour, and what is tested with it is Linux
/// without Donjon.
const BY_NAME: [&str; 29] = [
    "kernel-off:distribution",
    "bad-input:killed-half-way",
    "asids:roll-over:tlbi:cortex-a53:4",
    "asids:roll-over:asid:cortex-a57:1",
    "load:asid:stress:preempt=full",
    "compartments:check:tlbi",
    "machine:raspi3b:tlbi",
    "load:asid:cortex-a57:1",
    "load:asid:cortex-a57:4:preempt=full",
    "compartments:audit:number",
    "compartments:libraries:control",
    "compartments:stop:panic",
    "fuzz:host",
    "load:tlbi:",
    "audit:clean:asid:1",
    "audit:clean:tlbi:1",
    "audit:clean:strict:1",
    "trace:tlbi:",
    "longest-call:tlbi:",
    "kernel-native",
    "boot:none:",
    "load:none:",
    "early-program:control",
    "compartments:reports:left:control",
    "modules:exchanged",
    "modules:debian",
    "modules:own:debian",
    "report:measured",
    "scale:",
];

/// Runs the tests that the arguments select; returns the exit status.
pub fn run(arguments: &TestArguments) -> Result<u8> {
    let (mut tests, by_name): (Vec<_>, Vec<_>) = all(&arguments.host)?
        .into_iter()
        .partition(|it| !runs_by_name(&it.name));
    for test in by_name.into_iter().chain(long(&arguments.host)) {
        if arguments.list || arguments.filters.contains(&test.name) {
            tests.push(test);
        }
    }
    if !arguments.filters.is_empty() {
        tests.retain(|test| {
            arguments
                .filters
                .iter()
                .any(|it| test.name.contains(it.as_str()))
        });
    }
    if arguments.list {
        for test in &tests {
            println!("{}", test.name);
        }
        return Ok(0);
    }
    if tests.is_empty() {
        bail!("no test has such a name; `cargo xtask test --list` shows the names");
    }
    let miri = tests.iter().any(|it| it.name.starts_with(host::MIRI));
    let uefi = tests.iter().any(|it| it.name.starts_with(machines::UEFI));
    let cxx = tests.iter().any(|it| it.name.starts_with(fuzz::PREFIX));
    let cross_libc = tests.iter().any(|it| it.name == KSELFTEST);
    environment::prepare(
        &arguments.host,
        Needs {
            miri,
            cxx,
            cross_libc,
            uefi,
            ..Needs::default()
        },
    )?;
    let is_good = match arguments.repeat {
        Some(times) => runner::repeat::run(&tests, times),
        None => runner::run(&tests),
    };
    Ok(u8::from(!is_good))
}

/// The names of all tests, those that run by name alone as well.
fn names(host: &HostArguments) -> Result<Vec<String>> {
    let tests = all(host)?.into_iter().chain(long(host));
    Ok(tests.map(|it| it.name).collect())
}

/// Tests that take long, and run by name alone.
fn long(host: &HostArguments) -> Vec<Test> {
    let selftests = {
        let host = host.clone();
        Test::alone(KSELFTEST, move || {
            donjon_kselftest::test(&host, Switch::Asid)
        })
    };
    let mut tests = vec![
        selftests,
        host::miri_core().on_host(),
        soak::test(host),
        lmbench::against_debian(host),
        inside_outside::test(host),
        compartments::long(host),
        fuzz::long().on_host(),
        random_calls::long(host),
        machines::newer(host),
        rootfs::debian(),
        login::test(),
        reproducible::long(host).on_host(),
        distribution::test(host),
        distribution::debian(host),
        distribution::debian_crypto(host),
    ];
    tests.extend(boots::others(host));
    tests
}

fn runs_by_name(name: &str) -> bool {
    BY_NAME.iter().any(|it| name.starts_with(it))
}

fn all(host_arguments: &HostArguments) -> Result<Vec<Test>> {
    let mut tests = host::tests(host_arguments);
    tests.extend(docs::tests(host_arguments));
    tests.extend(fuzz::tests());
    tests.extend(bad_input::tests(host_arguments));
    tests.extend(reproducible::tests(host_arguments));
    tests.extend(report::tests(host_arguments));
    // None of these needs a guest.
    let mut tests: Vec<_> = tests.into_iter().map(Test::on_host).collect();
    tests.extend(boards::tests(host_arguments));
    tests.extend(image::tests(host_arguments));
    tests.extend(boots::tests(host_arguments));
    tests.extend(early::tests(host_arguments));
    tests.extend(weakened::tests(host_arguments));
    tests.extend(asids::tests(host_arguments));
    tests.extend(attacks::tests(host_arguments));
    tests.extend(audit::tests(host_arguments));
    tests.extend(geometry::tests(host_arguments));
    tests.extend(gate::tests(host_arguments));
    tests.extend(lmbench::tests(host_arguments));
    tests.extend(load::tests(host_arguments));
    tests.extend(compartments::tests(host_arguments));
    tests.extend(reports::tests(host_arguments));
    tests.extend(longest::tests(host_arguments));
    tests.extend(machines::tests(host_arguments));
    tests.extend(modules::tests(host_arguments));
    tests.extend(random_calls::tests(host_arguments));
    tests.extend(reclaim::tests(host_arguments));
    tests.push(report::measured(host_arguments));
    tests.extend(restart::tests(host_arguments));
    tests.extend(rootfs::tests(host_arguments));
    tests.extend(scale::tests(host_arguments));
    tests.extend(text::tests(host_arguments));
    tests.extend(trace::tests(host_arguments));
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_by_name_exists() {
        let all = all(&HostArguments::default()).expect("tests");
        for name in BY_NAME {
            assert!(all.iter().any(|it| it.name.starts_with(name)), "{name}");
        }
    }

    #[test]
    fn guests_alone_may_fail_by_chance() {
        let host = HostArguments::default();
        let all: Vec<Test> = all(&host)
            .expect("tests")
            .into_iter()
            .chain(long(&host))
            .collect();
        let on_host = |prefix: &str| {
            let mut tests = all.iter().filter(|it| it.name.starts_with(prefix));
            let first = tests.next().unwrap_or_else(|| panic!("no {prefix}"));
            assert!(tests.all(|it| it.on_host == first.on_host), "{prefix}");
            first.on_host
        };
        for prefix in [
            "fmt",
            "clippy:",
            "host-tests",
            "miri",
            "kernel-",
            "docs:",
            "fuzz:host",
            "bad-input:",
            "gate-model:",
            "reproducible:",
            "image:juno:contents",
            "image:rpi3:contents",
            "fvp:",
            "bench:ssh",
            "bench:serial:refused",
        ] {
            assert!(on_host(prefix), "{prefix}");
        }
        for prefix in [
            "boot:",
            "attack:",
            "audit:",
            "compartments:",
            "gate-run:",
            "fuzz:guest",
            "load:",
            "machine:",
            "trace:",
            "image:rpi3:starts",
        ] {
            assert!(!on_host(prefix), "{prefix}");
        }
    }
}
