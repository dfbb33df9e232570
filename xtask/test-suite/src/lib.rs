// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask test`: every check of the project, by name.

pub mod arguments;
mod asids;
mod attacks;
mod audit;
mod bad_input;
mod boards;
mod boots;
pub mod check;
#[cfg(test)]
mod ci;
mod compartments;
mod distribution;
mod dma;
mod docs;
mod early;
mod flow;
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
mod test;
mod text;
mod trace;
mod weakened;

use anyhow::{Result, bail};
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_machine::arguments::Switch;

use crate::arguments::TestArguments;

use test::Test;

/// Runs the tests that the arguments select; returns the exit status.
pub fn run(arguments: &TestArguments) -> Result<u8> {
    let tests = selected(all(&arguments.host), arguments);
    if arguments.list {
        for test in &tests {
            println!("{}", test.name);
        }
        return Ok(0);
    }
    if tests.is_empty() {
        bail!("no test has such a name; `cargo xtask test --list` shows the names");
    }
    environment::prepare(&arguments.host, needs(&tests))?;
    let is_good = match arguments.repeat {
        Some(times) => runner::repeat::run(&tests, times),
        None => runner::run(&tests),
    };
    Ok(u8::from(!is_good))
}

/// The tests whose names have a filter in them. One that runs by name alone needs its whole name,
/// and stands behind the others, unless its tier is asked for.
fn selected(mut tests: Vec<Test>, arguments: &TestArguments) -> Vec<Test> {
    let has_filter = |it: &Test| {
        arguments
            .filters
            .iter()
            .any(|filter| it.name.contains(filter))
    };
    let is_wanted = |it: &Test| arguments.filters.is_empty() || has_filter(it);
    if let Some(tier) = arguments.tier {
        tests.retain(|it| it.tier == tier && is_wanted(it));
        return tests;
    }
    let (by_name, mut tests): (Vec<_>, Vec<_>) =
        tests.into_iter().partition(|it| it.tier.runs_by_name());
    let is_named = |it: &Test| arguments.filters.contains(&it.name);
    tests.extend(
        by_name
            .into_iter()
            .filter(|it| arguments.list || is_named(it)),
    );
    tests.retain(is_wanted);
    tests
}

/// What the host must have for all of these tests.
fn needs(tests: &[Test]) -> Needs {
    tests
        .iter()
        .fold(Needs::NONE, |needs, test| needs.or(test.needs))
}

/// Tests that take long, behind those that they are like.
fn long(host: &HostArguments) -> Vec<Test> {
    let selftests = {
        let host = host.clone();
        Test::alone("kselftest", move || {
            donjon_kselftest::test(&host, Switch::Asid)
        })
        .needs(Needs {
            cross_libc: true,
            ..Needs::NONE
        })
        .holds(&["P4"])
        .long()
    };
    let mut tests = vec![
        selftests,
        host::miri_core(),
        soak::test(host),
        lmbench::against_debian(host),
        inside_outside::test(host),
        compartments::long(host),
        fuzz::long(),
        flow::long(),
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
    tests.push(flow::guest(host));
    tests
}

/// All tests, in the order in which they are listed and run.
fn all(host_arguments: &HostArguments) -> Vec<Test> {
    let mut tests = host::tests(host_arguments);
    tests.extend(docs::tests());
    tests.extend(check::tests(!host_arguments.no_install));
    tests.extend(fuzz::tests());
    tests.extend(flow::tests());
    tests.extend(bad_input::tests(host_arguments));
    tests.extend(reproducible::tests(host_arguments));
    tests.extend(report::tests(host_arguments));
    tests.push(distribution::debian_options(host_arguments));
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
    tests.extend(dma::tests(host_arguments));
    tests.extend(modules::tests(host_arguments));
    tests.extend(random_calls::tests(host_arguments));
    tests.extend(reclaim::tests(host_arguments));
    tests.push(report::measured(host_arguments));
    tests.extend(restart::tests(host_arguments));
    tests.extend(rootfs::tests(host_arguments));
    tests.extend(scale::tests(host_arguments));
    tests.extend(text::tests(host_arguments));
    tests.extend(trace::tests(host_arguments));
    tests.extend(long(host_arguments));
    let place = tests
        .iter()
        .position(|it| it.name == "bad-input:option-conflict");
    tests.insert(place.unwrap_or_default(), docs::promised(&tests));
    tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::Tier;

    fn names(arguments: &TestArguments) -> Vec<String> {
        let tests = selected(all(&arguments.host), arguments);
        tests.into_iter().map(|it| it.name).collect()
    }

    fn arguments(filters: &[&str], list: bool) -> TestArguments {
        TestArguments {
            filters: filters.iter().map(|&it| it.to_owned()).collect(),
            repeat: None,
            tier: None,
            list,
            host: HostArguments::default(),
        }
    }

    #[test]
    fn what_takes_long_runs_by_its_whole_name_alone() {
        let usual = names(&arguments(&[], false));
        assert!(usual.contains(&"fuzz:guest".to_owned()));
        for long in [
            "fuzz:host",
            "kselftest",
            "kernel-native",
            "boot:none:max:4:el2",
        ] {
            assert!(!usual.contains(&long.to_owned()), "{long}");
            assert_eq!(names(&arguments(&[long], false)).last().expect("one"), long);
        }
        assert_eq!(names(&arguments(&["fuzz:"], false)), ["fuzz:guest"]);
        let listed = [
            "fuzz:guest",
            "fuzz:host",
            "fuzz:host:long",
            "fuzz:guest:long",
        ];
        assert_eq!(names(&arguments(&["fuzz:"], true)), listed);
    }

    #[test]
    fn a_tier_is_run_as_a_whole_or_in_part() {
        let of_tier = |filters: &[&str], tier| {
            names(&TestArguments {
                tier: Some(tier),
                ..arguments(filters, false)
            })
        };
        let long = ["fuzz:host", "fuzz:host:long", "fuzz:guest:long"];
        assert_eq!(of_tier(&["fuzz:"], Tier::Long), long);
        assert_eq!(of_tier(&["fuzz:"], Tier::Full), ["fuzz:guest"]);
        let tiers = [Tier::Check, Tier::Quick, Tier::Full, Tier::Long];
        let numbers = tiers.map(|it| of_tier(&[], it).len());
        let all = names(&arguments(&[], true)).len();
        assert_eq!(numbers.iter().sum::<usize>(), all);
    }

    #[test]
    fn each_name_is_of_one_test() {
        let mut names = names(&arguments(&[], true));
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|it| it[0] == it[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn what_is_quick_needs_no_guest() {
        let all = all(&HostArguments::default());
        let quick = all.iter().filter(|it| it.tier.is_checked());
        let guests: Vec<_> = quick.filter(|it| !it.on_host).map(|it| &it.name).collect();
        assert!(guests.is_empty(), "{guests:?}");
    }

    #[test]
    fn guests_alone_may_fail_by_chance() {
        let host = HostArguments::default();
        let all = all(&host);
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
