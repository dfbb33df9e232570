// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boards at a serial port, and Arm's model: with a QEMU whose port is a pseudo-terminal, and a
//! stand-in that boots nothing.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use donjon_bench::samples::Samples;
use donjon_bench::{self as bench, board};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::{paths, run};
use donjon_figures::records::idc::Core;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::board::boot;
use donjon_machine::board::serial::Port;
use donjon_machine::board::session::{Session, Timeouts};
use donjon_machine::finding::Finding;
use donjon_machine::fvp::MODEL;
use donjon_machine::machine::Machine;
use donjon_machine::process::{self, Running};
use donjon_machine::qemu::pty::OnPty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::scratch::{Scratch, expect_failure};
use crate::test::Test;

const TIMEOUT: Duration = Duration::from_secs(120);
const BAUD: u32 = 115_200;
/// A run of the model up to the firmware.
const MODEL_RUN: [&str; 3] = ["run", "--machine", "fvp"];

/// Tests of boards on a serial port, and of Arm's model.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let for_serial = host.clone();
    let for_cores = host.clone();
    let for_run = host.clone();
    let for_stop = host.clone();
    vec![
        Test::beside("bench:serial", move || serial(&for_serial)),
        Test::beside("bench:serial:cores", move || cores(&for_cores)),
        Test::beside("bench:serial:refused", serial_refused).on_host(),
        Test::beside("bench:ssh", by_ssh).on_host(),
        Test::beside("fvp:missing", model_missing).on_host(),
        Test::beside("fvp:refused", model_refused).on_host(),
        Test::beside("fvp:run", move || model_runs(&for_run)).on_host(),
        Test::beside("fvp:interrupted", move || model_is_stopped(&for_stop)).on_host(),
    ]
}

/// The figures that arrive through a pseudo-terminal are those of an ordinary run: both count
/// instructions, because QEMU does. On a board the same counter counts cycles.
fn serial(host: &HostArguments) -> Result<()> {
    let machine = bench::machine("cortex-a57", Switch::Asid, true)?;
    let parts = run::prepare(host, machine, &InnerVariant::sound(Switch::Asid))?;
    let usual = bench::measure(&parts.boot, Switch::Asid, false)?;

    let guest = OnPty::start(&parts.boot)?;
    let mut port = Port::open(guest.device(), BAUD)?;
    boot::wait(&mut port, TIMEOUT)?;
    let mut session = Session::open(port, Timeouts::default())?;
    let finished = session.run(board::COMMAND, TIMEOUT)?;
    let arrived = board::record(&finished)?;
    ensure!(arrived.unit == "cycles", "{arrived:?}");
    ensure!(arrived.linux == parts.kernel.release, "{arrived:?}");
    let figures = &arrived.figures;
    for (name, cost) in [
        ("null_idc", figures.modes.get("asid")),
        ("null_syscall", figures.null_syscall.as_ref()),
        ("function_call", figures.function_call.as_ref()),
        ("firmware_call", figures.firmware_call.as_ref()),
    ] {
        let expected = Samples::named(name, &usual)?.median();
        let median = cost.map(|it| it.median);
        if median != Some(expected) {
            return Err(Finding::Figures.error(format!(
                "{name}: {expected} in an ordinary run, at the serial port {median:?}"
            )));
        }
    }
    let is_same = |it: &Core| it.cpu == 0 && it.figures == *figures;
    ensure!(
        matches!(&arrived.cores[..], [core] if is_same(core)),
        "the machine has CPUs of one type: {arrived:?}"
    );
    among_kernel_messages(&mut session)
}

/// Checks that one CPU of each type is measured, on that CPU. QEMU's `virt` has CPUs of one type,
/// so the guest's CPUs 1 and 2 are given another identification. Cycles are not compared: QEMU's
/// counter is one for all CPUs.
fn cores(host: &HostArguments) -> Result<()> {
    const OTHER: &str = "0x00000000410fd034";
    let machine = Machine::new(&MachineArguments {
        cpus: Some(4),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let parts = run::prepare(host, machine, &InnerVariant::sound(Switch::Asid))?;
    let guest = OnPty::start(&parts.boot)?;
    let mut port = Port::open(guest.device(), BAUD)?;
    boot::wait(&mut port, TIMEOUT)?;
    let mut session = Session::open(port, Timeouts::default())?;
    let prepared = session.run(&other_cores(OTHER), TIMEOUT)?;
    ensure!(
        prepared.status == 0,
        "the guest could not be prepared: {}",
        String::from_utf8_lossy(&prepared.errors)
    );
    let command = format!("PATH=/tmp/first:$PATH\n{}", board::COMMAND);
    let finished = session.run(&command, TIMEOUT)?;
    let record = board::record(&finished)?;
    let places: Vec<_> = record.cores.iter().map(|it| it.cpu).collect();
    ensure!(places == [0, 1], "{record:?}");
    ensure!(record.cores[1].midr == OTHER, "{record:?}");
    ensure!(record.cores[0].midr != OTHER, "{record:?}");
    for core in &record.cores {
        let figures = &core.figures;
        for cost in [figures.modes.get("asid"), figures.null_syscall.as_ref()] {
            ensure!(cost.is_some_and(|it| it.median > 0.0), "{record:?}");
        }
    }
    let text = String::from_utf8_lossy(&finished.output);
    let masks: Vec<&str> = text
        .lines()
        .filter_map(|it| it.strip_prefix("mask: "))
        .collect();
    ensure!(
        masks == ["1", "2"],
        "the programs ran on {masks:?}:\n{text}"
    );
    Ok(())
}

/// Gives CPUs 1 and 2 another identification, and puts a program before `donjon-bench` that says
/// which CPUs it may run on.
fn other_cores(midr: &str) -> String {
    format!(
        "set -e
        mkdir -p /tmp/first
        echo {midr} >/tmp/midr
        for cpu in 1 2; do
            mount --bind /tmp/midr /sys/devices/system/cpu/cpu$cpu/regs/identification/midr_el1
        done
        printf '#!/bin/sh\\necho \"mask: $(taskset -p $$ | sed \"s/.*: //\")\"\\nexec %s \"$@\"\\n' \
            $(command -v donjon-bench) >/tmp/first/donjon-bench
        chmod +x /tmp/first/donjon-bench"
    )
}

/// Output arrives whole while the kernel prints on the same console.
fn among_kernel_messages(session: &mut Session<Port>) -> Result<()> {
    let noise = "i=0; while [ $i -lt 60 ]; do echo '<0>noise @donjon' >/dev/kmsg; \
        sleep 0.1; i=$((i+1)); done";
    let command = format!(
        "echo on >/proc/sys/kernel/printk_devkmsg; ( {noise} ) >/dev/null 2>&1 & seq 1500; exit 5"
    );
    let finished = session.run(&command, TIMEOUT)?;
    ensure!(finished.status == 5, "status {}", finished.status);
    let expected: String = (1..=1500).map(|it| format!("{it}\n")).collect();
    ensure!(
        finished.output == expected.as_bytes(),
        "something else arrived: {}",
        String::from_utf8_lossy(&finished.output)
    );
    Ok(())
}

fn serial_refused() -> Result<()> {
    let scratch = Scratch::new()?;
    let refused = |arguments: &[&str], words: &[&str]| {
        expect_failure(scratch.xtask(&[&["bench"], arguments].concat()), words)
    };
    refused(&["--serial", "/dev/ttyNONE9"], &["/dev/ttyNONE9", "ttyUSB"])?;
    refused(&["--serial", "/dev/null"], &["no serial port"])?;
    refused(
        &["--serial", "/dev/null", "--baud", "5"],
        &["5 baud", "115200"],
    )?;
    refused(&["--serial", "/dev/null", "--ssh", "x"], &["--ssh"])?;
    refused(&["--ssh=-oProxyCommand=x"], &["no destination of ssh"])?;
    refused(&["--json", "x"], &["--serial", "--ssh"])?;
    scratch.program("ssh", "echo 'Permission denied (publickey).' >&2; exit 255")?;
    refused(
        &["--ssh", "root@board"],
        &["Permission denied", "ssh-copy-id"],
    )?;
    scratch.program("ssh", "exit 90")?;
    refused(&["--ssh", "root@board"], &["donjon-bench", "aarch64"])
}

/// A client of ssh that answers as a board would, in place of the real one.
fn by_ssh() -> Result<()> {
    let scratch = Scratch::new()?;
    let samples = |name: &str, value: u32| format!("{name}:{}\n", format!(" {value}").repeat(100));
    let answer = [
        "linux: 6.12.100\nmidr: 0x00000000410fd034\n".to_owned(),
        samples("null_syscall", 700),
        "switch: tlbi\n".to_owned(),
        samples("null_idc", 900),
        samples("function_call", 3),
    ];
    let answer = scratch.file("answer", &answer.concat())?;
    let asked = scratch.path().join("asked");
    let script = format!(
        "for word; do last=$word; done; [ \"$last\" = -s ] || exit 3
        cat >{}; cat {}",
        asked.display(),
        answer.display()
    );
    scratch.program("ssh", &script)?;
    let json = scratch.path().join("figures.json").display().to_string();
    process::output(&mut scratch.xtask(&["bench", "--ssh", "root@board", "--json", &json]))?;
    let figures: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json)?)?;
    ensure!(figures["unit"] == "cycles", "{figures}");
    ensure!(figures["modes"]["tlbi"]["median"] == 900.0, "{figures}");
    let asked = fs::read_to_string(asked)?;
    ensure!(asked.trim_end() == board::COMMAND, "ssh was given: {asked}");
    Ok(())
}

fn model_missing() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.tools_except(MODEL)?;
    expect_failure(
        scratch.xtask_alone(&MODEL_RUN),
        &[MODEL, "developer.arm.com", "PATH"],
    )?;
    let only_run = ["audit", "--machine", "fvp"];
    expect_failure(
        scratch.xtask(&only_run),
        &["only `cargo xtask run`", "virt"],
    )?;
    let other = ["run", "--fvp-firmware", "x"];
    expect_failure(scratch.xtask(&other), &["--fvp-firmware", "--machine fvp"])
}

/// A stand-in in the directory `bin`: it lists every parameter that is asked for, and writes its
/// command line and number down.
fn stand_in(scratch: &Scratch, then: &str) -> Result<()> {
    let names = [
        "pctl.startup",
        "cluster0.NUM_CORES",
        "cluster1.NUM_CORES",
        "cluster0.cpu0.RVBAR",
        "cluster0.cpu1.RVBAR",
        "cluster0.cpu2.RVBAR",
        "cluster0.cpu3.RVBAR",
        "cache_state_modelled",
        "bp.secure_memory",
        "bp.refcounter.non_arch_start_at_default",
        "bp.ve_sysregs.exit_on_shutdown",
        "bp.vis.disable_visualisation",
        "bp.pl011_uart0.out_file",
        "bp.pl011_uart0.unbuffered_output",
        "bp.pl011_uart0.untimed_fifos",
        "bp.terminal_0.mode",
        "bp.terminal_0.start_telnet",
        "bp.terminal_1.start_telnet",
        "bp.terminal_2.start_telnet",
        "bp.terminal_3.start_telnet",
        "cluster0.has_trbe",
        "gic_distributor.ITS-count",
    ];
    let list: String = names.iter().map(|it| format!("{it}=1 # text\n")).collect();
    scratch.file("list", &list)?;
    let place = scratch.path().display();
    scratch.program(
        MODEL,
        &format!(
            "[ \"$1\" = --list-params ] && exec cat {place}/list
            for word; do echo \"$word\"; done >{place}/words
            echo $$ >{place}/process
            {then}"
        ),
    )
}

fn model_refused() -> Result<()> {
    let scratch = Scratch::new()?;
    stand_in(&scratch, "exit 0")?;
    scratch.file("fip/fip.bin", "")?;
    let fip = scratch.path().join("fip").display().to_string();
    let refused = |arguments: &[&str], words: &[&str]| {
        expect_failure(scratch.xtask(&[&MODEL_RUN, arguments].concat()), words)
    };
    refused(&["--cpu", "cortex-a57"], &["--cpu", "AEMvA"])?;
    refused(&["--icount"], &["--icount"])?;
    refused(&["--firmware", "uefi"], &["--firmware", "--fvp-firmware"])?;
    refused(&["--gdb"], &["--gdb", "iris"])?;
    refused(&["--cpus", "5"], &["5 CPUs", "1 to 4"])?;
    refused(&["--memory", "64M"], &["64 MiB", "256M"])?;
    refused(&["--memory", "3G"], &["3072 MiB", "2032M"])?;
    refused(
        &[],
        &["--fvp-firmware DIR", "PRELOADED_BL33_BASE=0x80200000"],
    )?;
    refused(
        &["--fvp-firmware", &fip],
        &["no bl31.bin", "fip.bin cannot"],
    )
}

/// The running program as `run` in Arm's model, with the kernels that are built already.
fn run_with(host: &HostArguments, scratch: &Scratch, more: &[&str]) -> Result<Command> {
    scratch.file("firmware/bl31.bin", "firmware")?;
    let firmware = scratch.path().join("firmware").display().to_string();
    let firmware = ["--fvp-firmware", &firmware];
    let mut command = scratch.xtask(&[&MODEL_RUN, &firmware[..], more].concat());
    let cache = paths::cache()?;
    command.env("XDG_CACHE_HOME", cache.parent().context("the cache")?);
    if let Some(linux) = &host.linux {
        command.env("LINUX_SRC", linux);
    }
    Ok(command)
}

fn model_runs(host: &HostArguments) -> Result<()> {
    let scratch = Scratch::new()?;
    stand_in(&scratch, "echo the guest prints this")?;
    let disk = scratch.file("disk.img", "disk")?.display().to_string();
    let more = ["--disk", &disk, "--cpus", "2", "--memory", "512M"];
    let output = process::both(&mut run_with(host, &scratch, &more)?)?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "it failed:\n{said}");
    let shown = String::from_utf8_lossy(&output.stdout);
    ensure!(
        shown.contains("the guest prints this"),
        "it showed:\n{shown}"
    );
    let words = fs::read_to_string(scratch.path().join("words"))?;
    let image = fs::canonicalize(paths::in_root("target/bare/asid/boot-dma-open.img"))?;
    let image = format!("{}@0x80200000\n", image.display());
    for expected in [
        "-C\ncluster0.NUM_CORES=2\n",
        "-C\nbp.pl011_uart0.out_file=-\n",
        "-C\ncluster0.has_trbe=0\n",
        "-C\ngic_distributor.ITS-count=0\n",
        "-C\nbp.virtioblockdevice.image_path=",
        "/bl31.bin@0x4001000\n",
        &image,
        "/tree.dtb@0x88000000\n",
        "/initrd@0x88200000\n",
    ] {
        ensure!(words.contains(expected), "no {expected} in:\n{words}");
    }
    Ok(())
}

/// Ctrl-C ends the model and what it has started.
fn model_is_stopped(host: &HostArguments) -> Result<()> {
    let scratch = Scratch::new()?;
    let sleeper = format!(
        "sleep 600 & echo $! >{}/child; wait",
        scratch.path().display()
    );
    stand_in(&scratch, &sleeper)?;
    let mut command = run_with(host, &scratch, &[])?;
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut running = Running::start(&mut command)?;
    let mut processes = Vec::new();
    for name in ["process", "child"] {
        let file = scratch.path().join(name);
        let found = soon(TIMEOUT, || {
            fs::read_to_string(&file).is_ok_and(|it| it.ends_with('\n'))
        });
        ensure!(found, "the model was not started");
        processes.push(fs::read_to_string(&file)?.trim().to_owned());
    }
    let group = Pid::from_raw(running.child().id().cast_signed());
    kill(group, Signal::SIGINT)?;
    let status = running.wait()?;
    ensure!(status.code() == Some(130), "it ended with {status}");
    for process in processes {
        let place = Path::new("/proc").join(&process);
        if !soon(Duration::from_secs(5), || !place.exists()) {
            bail!("process {process} of the model is left");
        }
    }
    Ok(())
}

fn soon(limit: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(50));
    }
    false
}
