// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pool of text: what users without a capability may take of it, how large it is, and probes
//! that need a page of it before there is one.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::guest;
use donjon_builder::kernel::{CROSS, Variant};
use donjon_builder::run::Parts;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::says;

use super::boots::built;
use super::modules::add_module;
use super::scratch::Scratch;
use super::test::Test;

const TIMEOUT: Duration = Duration::from_secs(600);
/// With this much memory the pool has 4 MiB.
const MEMORY: &str = "512M";
const POOL_PAGES: u64 = 1024;
/// What BPF may have of the pool, and users without a capability of that.
const PROGRAMS: u64 = POOL_PAGES / 2;
const USERS: u64 = PROGRAMS / 2;
/// Filters: each of one instruction, and more than users may have text for.
const PROCESSES: u64 = 8;
const FILTERS: u64 = 1200;
/// Filters that share a page: each has two chunks.
const IN_PAGE: u64 = 4096 / 128;
/// Lines that the kernel may print about it.
const LINES: u64 = 3;
/// A refusal, the filters, then what only root does. What the filters took comes back.
const SCRIPT: &str = "\
cd /sys/kernel/security/donjon
insmod /lib/modules/bad0.ko 2>/dev/null && exit 4
echo limit: $(cat /proc/sys/net/core/bpf_jit_limit)
donjon-load filters --processes PROCESSES --times FILTERS | tee /tmp/said
cat pool
insmod /lib/modules/loop.ko && echo module: in || echo module: refused
mount -t tracefs none /sys/kernel/tracing
cd /sys/kernel/tracing
echo 'p:donjon_probe do_sys_openat2+0x14' >kprobe_events && echo probe: set || echo probe: refused
echo 1 >events/kprobes/donjon_probe/enable
cat /proc/version >/dev/null
grep -q donjon_probe trace && echo probe: fires
cd /sys/kernel/security/donjon
grep ' text_seal \"an instruction is not allowed\"' refusals | sed 's/^/record: /'
echo seals refused: $(grep -c ' text_seal \"the pool is empty\"' refusals)
echo lines: $(dmesg | grep -c 'donjon: .*\\(BPF\\|program\\|generated code\\)')
dmesg | grep -A 9 'WARNING: \\|BUG: \\|Internal error: ' | sed 's/^/complaint: /'
kill -9 $(sed -n 's/^holders://p' /tmp/said)
for second in $(seq 30); do
    left=$(sed -n 's/^text_of_programs: //p' pool)
    [ ${left:-9999} -le 2 ] && break
    sleep 1
done
echo left: $left
exit 0
";

/// Users, the size, a probe of the command line.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let [users_host, size, probe] = [host.clone(), host.clone(), host.clone()];
    vec![
        Test::beside("text:users", move || users(&users_host)).holds(&["P4"]),
        Test::beside("text:size", move || sizes(&size)),
        Test::beside("text:boot-probe", move || boot_probe(&probe)),
    ]
}

fn machine(cpus: u32, memory: &str, words: &str) -> Result<Machine> {
    Machine::new(&MachineArguments {
        cpus: Some(cpus),
        memory: Some(memory.into()),
        append: Some(words.into()),
        ..MachineArguments::virt(Switch::Asid)
    })
}

fn parts(host: &HostArguments, machine: Machine) -> Result<Parts> {
    built(
        host,
        machine,
        &InnerVariant::sound(Switch::Asid),
        Variant::Donjon,
    )
}

/// The number behind the first line that begins with `name: `.
fn number(text: &str, name: &str) -> Result<u64> {
    let value = text
        .lines()
        .find_map(|it| it.strip_prefix(name)?.strip_prefix(": "));
    let value = value.with_context(|| format!("the guest did not print `{name}: `:\n{text}"))?;
    Ok(value.trim().parse()?)
}

/// Thousands of filters leave text for root, and other records of refusals.
fn users(host: &HostArguments) -> Result<()> {
    let mut parts = parts(host, machine(2, MEMORY, "")?)?;
    add_module(&mut parts, 0, 0xd518_2040)?;
    let script = SCRIPT
        .replace("PROCESSES", &PROCESSES.to_string())
        .replace("FILTERS", &FILTERS.to_string());
    let said = says(&parts.boot, &script, TIMEOUT)?;
    said.expect_success()?;
    let text = &said.text;
    said.expect_line(&format!("filters: {} installed", PROCESSES * FILTERS))?;
    said.expect_line("module: in")?;
    said.expect_line("probe: set")?;
    said.expect_line("probe: fires")?;
    ensure!(
        text.contains("record: "),
        "the record of a refusal before them is gone:\n{text}"
    );
    ensure!(!text.contains("complaint: "), "a complaint:\n{text}");
    let of = |name| number(text, name);
    ensure!(of("limit")? == USERS * 4096, "bpf_jit_limit:\n{text}");
    ensure!(of("text")? == POOL_PAGES && of("text_of_programs_most")? == PROGRAMS);
    let highest = of("text_of_programs_highest")?;
    println!(
        "text:users: {highest} pages for {} filters",
        PROCESSES * FILTERS
    );
    // They are so many that some are interpreted, and the others fill the users' pages.
    const { assert!(PROCESSES * FILTERS > USERS * IN_PAGE) };
    ensure!(
        highest == USERS,
        "programs have had {highest} pages of text:\n{text}"
    );
    ensure!(
        of("seals refused")? == 0,
        "users have refusals recorded:\n{text}"
    );
    ensure!(of("lines")? <= LINES, "too many lines:\n{text}");
    ensure!(of("left")? <= 2, "pages of text do not come back:\n{text}");
    Ok(())
}

/// A module with more text than the pool has names the parameter; with the parameter it loads.
fn sizes(host: &HostArguments) -> Result<()> {
    const SCRIPT: &str = "\
sed -n 's/^text: /pages: /p' /sys/kernel/security/donjon/pool
insmod /lib/modules/large.ko && echo module: in || echo module: refused
dmesg | grep 'pool of text'
exit 0
";
    let refused = with_large_module(host, "")?;
    let said = says(&refused.boot, SCRIPT, TIMEOUT)?;
    said.expect_line(&format!("pages: {POOL_PAGES}"))?;
    said.expect_line("module: refused")?;
    ensure!(
        said.text.contains(
            "loop: the pool of text, 4M, is used up; the parameter donjon.text=8M makes it larger"
        ),
        "the message does not say what to do:\n{}",
        said.text
    );
    let larger = with_large_module(host, "donjon.text=8M")?;
    let said = says(&larger.boot, SCRIPT, TIMEOUT)?;
    said.expect_line(&format!("pages: {}", POOL_PAGES * 2))?;
    said.expect_line("module: in")
}

/// The driver of loop devices with 5 MiB of text that is never called.
fn with_large_module(host: &HostArguments, words: &str) -> Result<Parts> {
    const TEXT: u32 = 5 << 20;
    let mut parts = parts(host, machine(1, MEMORY, words)?)?;
    let scratch = Scratch::new()?;
    let path = |name: &str| scratch.path().join(name);
    fs::write(
        path("text.s"),
        format!(".text\n.fill {}, 4, 0xd503201f\n", TEXT / 4),
    )?;
    let tool = |name: &str, words: &[&std::path::Path]| -> Result<()> {
        let mut command = Command::new(format!("{CROSS}{name}"));
        let status = command.args(words).status().context(CROSS)?;
        ensure!(status.success(), "{CROSS}{name} failed");
        Ok(())
    };
    tool("as", &["-o".as_ref(), &path("text.o"), &path("text.s")])?;
    tool(
        "ld",
        &[
            "-r".as_ref(),
            "-o".as_ref(),
            &path("large.ko"),
            &parts.kernel.modules.join("loop.ko"),
            &path("text.o"),
        ],
    )?;
    let bytes = fs::read(path("large.ko"))?;
    parts.boot.initramfs = guest::with_file(&parts.boot.initramfs, "lib/modules/large.ko", &bytes)?;
    Ok(parts)
}

/// A probe of the command line whose instruction needs a slot is set, and fires.
fn boot_probe(host: &HostArguments) -> Result<()> {
    let words = "kprobe_event=p:donjon_early,do_sys_openat2+0x14";
    let parts = parts(host, machine(2, "256M", words)?)?;
    let script = "\
mount -t tracefs none /sys/kernel/tracing
cat /sys/kernel/tracing/kprobe_events
cat /proc/version >/dev/null
grep -q 'donjon_early:' /sys/kernel/tracing/trace && echo probe: fires
dmesg | grep 'trace_kprobe: '
exit 0
";
    let said = says(&parts.boot, script, TIMEOUT)?;
    // The kernel prints the offset in decimal.
    said.expect_line("p:kprobes/donjon_early do_sys_openat2+20")?;
    said.expect_line("probe: fires")?;
    ensure!(!said.text.contains("Failed to add event"), "{}", said.text);
    Ok(())
}
