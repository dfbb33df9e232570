// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests that need no guest.

use std::process::Command;

use anyhow::{Result, ensure};
use donjon_bench::guard;
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{BARE_TARGET, COMPARTMENT_TARGET, GUEST_TARGET, NIGHTLY, Needs};
use donjon_builder::kernel::stock::Options;
use donjon_builder::kernel::{self, Variant};
use donjon_generator::{allow, header};
use donjon_machine::{paths, process};

use super::test::Test;

/// Formatting, lints, unit tests, generated files and the builds of Linux.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let mut tests: Vec<Test> = lints().into_iter().map(Test::quick).collect();
    let host_tests = Test::alone("host-tests", || cargo("tests", &["test", "--quiet"]));
    tests.push(host_tests.needs(donjon_flow::command::EMULATOR).quick());
    tests.push(Test::beside("miri", miri).needs(MIRI));
    tests.extend(kernels(host));
    tests
}

/// Formatting, generated files and lints.
fn lints() -> Vec<Test> {
    let mut tests = vec![
        Test::alone("fmt", || cargo("fmt", &["fmt", "--all", "--check"])),
        Test::alone("header", || header::run(true)),
        Test::alone("figures", guard::tables_are_current),
        Test::alone("allow-list", || allow::generate(true)).holds(&["I8"]),
        Test::alone("clippy:host", clippy_host),
        Test::alone("clippy:guests", clippy_guests),
        Test::alone("clippy:compartments", clippy_compartments),
        Test::alone("clippy:fuzz", || {
            let arguments = ["clippy", "--quiet", "--package=donjon-fuzz"];
            cargo("clippy-fuzz", &[&arguments[..], &DENY].concat())
        }),
    ];
    for (name, features) in [
        ("asid", "switch-asid"),
        ("tlbi", "switch-tlbi"),
        ("strict", "switch-strict"),
        (
            "trace-steps",
            "switch-asid,donjon-image/trace-steps,donjon-image/checks-by-word",
        ),
    ] {
        tests.push(Test::alone(&format!("clippy:{name}"), move || {
            clippy_bare(name, features)
        }));
    }
    tests
}

/// The builds of Linux, the style of what is added to it, and Linux with the option off.
fn kernels(host: &HostArguments) -> Vec<Test> {
    let kernel = |variant: Variant| {
        let host = host.clone();
        Test::alone(&format!("kernel-{}", variant.name()), move || {
            let kernel = kernel::obtain(&host, variant)?;
            if variant == Variant::Donjon {
                kernel.check_code()?;
            }
            Ok(())
        })
    };
    let off = |name: &str, options: Options| {
        let host = host.clone();
        Test::alone(name, move || is_stock(&host, options))
    };
    let style = host.clone();
    vec![
        kernel(Variant::Donjon).holds(&["I8"]),
        kernel(Variant::Native).long(),
        Test::alone("checkpatch", move || kernel::style::check(&style)),
        off("kernel-off", Options::Ours),
        off("kernel-off:distribution", Options::Distribution).long(),
    ]
}

fn clippy_host() -> Result<()> {
    let arguments = [
        "clippy",
        "--quiet",
        "--all-targets",
        "--",
        "--deny=warnings",
    ];
    cargo("clippy", &arguments)
}

fn clippy_guests() -> Result<()> {
    let target = format!("--target={GUEST_TARGET}");
    let arguments = [
        "clippy",
        "--quiet",
        "--package=donjon-guests",
        "--package=donjon-client",
        "--features=donjon-guests/guest,donjon-guests/compare",
        &target,
    ];
    cargo("clippy", &[&arguments[..], &DENY].concat())
}

fn clippy_compartments() -> Result<()> {
    let target = format!("--target={COMPARTMENT_TARGET}");
    let arguments = [
        "clippy",
        "--quiet",
        "--package=donjon-runtime",
        "--package=compare",
        "--package=donjon-loops",
        "--package=hello",
        "--package=library",
        "--package=quoting",
        "--package=report",
        &target,
    ];
    cargo("clippy-compartments", &[&arguments[..], &DENY].concat())
}

/// With the option off, the patched kernel has the instructions of the unpatched one.
fn is_stock(host: &HostArguments, options: Options) -> Result<()> {
    let (different, compared) = kernel::stock::differences(host, options)?;
    ensure!(
        different.is_empty(),
        "of {compared} objects, these differ with CONFIG_DONJON=n: {}",
        different.join(" ")
    );
    Ok(())
}

/// What tests in Miri need.
const MIRI: Needs = Needs {
    miri: true,
    ..Needs::NONE
};
const DENY: [&str; 3] = ["--target-dir=target/clippy", "--", "--deny=warnings"];

fn clippy_bare(name: &str, features: &str) -> Result<()> {
    let target = format!("--target={BARE_TARGET}");
    let features = format!("--features=donjon-boot/bare,donjon-image/{features}");
    let packages = [
        "--package=donjon-image",
        "--package=donjon-boot",
        "--package=donjon-hal",
    ];
    let arguments = [
        &["clippy", "--quiet", &target, &features][..],
        &packages,
        &DENY,
    ]
    .concat();
    cargo(&format!("clippy-{name}"), &arguments)
}

fn miri() -> Result<()> {
    miri_test("miri", &["--package=donjon-abi"])?;
    // The other models take too long there.
    let walks = [
        "--package=donjon-models",
        "--lib",
        "--",
        "geometry::forged::",
    ];
    miri_test("miri-models", &walks)
}

/// The inner domain's logic in Miri: a quarter of an hour. It forbids `unsafe`, so what Miri could
/// find there beside the debug build of the same tests is in libraries alone.
pub fn miri_core() -> Test {
    Test::alone("miri:core", || {
        miri_test("miri-core", &["--package=donjon-core"])
    })
    .on_host()
    .needs(MIRI)
    .long()
}

fn miri_test(log: &str, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("rustup");
    command.args(["run", NIGHTLY, "cargo", "miri", "test", "--quiet"]);
    command.arg("--target-dir=target/miri").args(arguments);
    command
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .env_remove("RUSTC");
    finish(log, command)
}

/// Runs cargo with a log of its own.
pub fn cargo(log: &str, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(arguments);
    finish(log, command)
}

fn finish(log: &str, mut command: Command) -> Result<()> {
    command
        .current_dir(paths::root())
        .env("CARGO_TERM_COLOR", "never");
    process::logged(
        &mut command,
        &paths::in_root(format!("target/logs/{log}.log")),
        |_| (),
    )
}
