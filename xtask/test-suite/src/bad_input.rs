// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wrong arguments and unlucky hosts: each must end in a message that says what to do.

pub mod rootfs;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::kernel::{self, Variant};
use donjon_builder::lock;
use donjon_machine::process::{self, Running};
use donjon_machine::tools::QEMU;

use super::scratch::{Scratch, expect_failure};
use super::test::Test;

const TRUE: [&str; 5] = ["run", "--switch", "none", "--exec", "true"];

type Body = fn() -> Result<()>;

/// Tests of options, files and hosts that a command refuses.
pub fn tests(host: &HostArguments) -> Vec<Test> {
    let for_conflict = host.clone();
    let for_refusal = host.clone();
    let mut tests = vec![
        Test::alone("bad-input:option-conflict", move || {
            option_conflict(&for_conflict)
        }),
        Test::alone("bad-input:option-refused", move || {
            option_refused(&for_refusal)
        }),
        Test::alone("bad-input:disk-full", disk_full),
        Test::alone("bad-input:disk-full-unpacking", disk_full_while_unpacking),
        Test::alone("bad-input:rootfs-disk-full", rootfs_disk_full),
        Test::alone("bad-input:killed-half-way", killed_half_way).long(),
    ];
    let quick: [(&str, Body); 28] = [
        ("tool-missing", tool_missing),
        ("tool-hidden", tool_hidden),
        ("qemu-too-old", qemu_too_old),
        ("qemu-without-machine", qemu_without_machine),
        ("wrong-kernel-version", wrong_kernel_version),
        ("no-kernel-tree", no_kernel_tree),
        ("patch-does-not-apply", patch_does_not_apply),
        ("unknown-machine", || {
            refused(&["--machine", "toaster"], &["toaster", "virt"])
        }),
        ("acpi-only-machine", || {
            refused(
                &["--machine", "sbsa-ref"],
                &["sbsa-ref", "ACPI tables alone", "device tree", "virt"],
            )
        }),
        ("sd-card-size", sd_card_size),
        ("unknown-cpu", || {
            refused(&["--cpu", "cortex-m0"], &["cortex-m0", "cortex-a57"])
        }),
        ("too-many-cpus", || {
            refused(&["--cpus", "9"], &["9 CPUs", "1 to 8"])
        }),
        ("too-little-memory", || {
            refused(&["--memory", "64M"], &["too little memory", "256M"])
        }),
        ("network-gone", network_gone),
        ("firmware-without-inner-domain", || {
            refused(
                &["--firmware", "uefi", "--switch", "none"],
                &["UEFI cannot start Linux alone", "CONFIG_EFI"],
            )
        }),
        ("dma-without-inner-domain", || {
            refused(&["--switch", "none", "--dma", "open"], &["--dma"])
        }),
        ("protected-too-much", || {
            refused(
                &["--dma", "strict", "--protected", "600M"],
                &["--protected may be half of the memory at most, 512 MiB here"],
            )
        }),
        ("firmware-with-disk", || {
            refused(
                &["--firmware", "grub", "--disk", "x"],
                &["--disk and --firmware grub"],
            )
        }),
        ("lock-held", lock_held),
        ("lmbench", lmbench),
        ("report", report),
        ("rootfs", rootfs::wrong_names),
        ("kernel-config", kernel_config),
        ("compartment", compartment),
        ("rootfs-network-gone", rootfs::network_gone),
        ("rootfs-no-such-package", rootfs::no_such_package),
        ("rootfs-mirror-gone", rootfs::mirror_is_gone),
        ("rootfs-mirror-fails", rootfs::mirror_fails),
    ];
    for (name, body) in quick {
        tests.push(Test::beside(&format!("bad-input:{name}"), body));
    }
    tests.push(Test::beside(
        "bad-input:network-gone-rust",
        network_gone_for_rust,
    ));
    tests
}

fn refused(arguments: &[&str], words: &[&str]) -> Result<()> {
    let scratch = Scratch::new()?;
    expect_failure(scratch.xtask(&[&["run"], arguments].concat()), words)
}

/// QEMU takes an SD card only if its size is a power of two.
fn sd_card_size() -> Result<()> {
    let scratch = Scratch::new()?;
    let card = scratch.file("card.img", "")?;
    let path = card.display().to_string();
    let arguments = ["run", "--machine", "raspi3b", "--disk", &path];
    for (size, wanted) in [(3 << 20, "--size=4194304"), (0, "--size=1048576")] {
        std::fs::File::options()
            .write(true)
            .open(&card)?
            .set_len(size)?;
        let words = [path.as_str(), "power of two", wanted];
        expect_failure(scratch.xtask(&arguments), &words)?;
    }
    let missing = ["run", "--machine", "raspi3b", "--disk", "/does/not/exist"];
    expect_failure(
        scratch.xtask(&missing),
        &["/does/not/exist", "cannot be read"],
    )
}

fn rootfs_disk_full() -> Result<()> {
    let arguments = ["run", "--rootfs", "debian", "--exec", "true"];
    on_small_disk(
        &arguments,
        "size=64m",
        &["not enough disk space", "XDG_CACHE_HOME"],
    )
}

/// No such part, a file where a folder has to be, no such folder, half a JSON document.
fn report() -> Result<()> {
    let scratch = Scratch::new()?;
    let refused = |arguments: &[&str], words: &[&str]| {
        expect_failure(scratch.xtask(&[&["report"], arguments].concat()), words)
    };
    refused(&["--run", "spoon"], &["spoon", "lmbench"])?;
    refused(&["--run", "none", "idc"], &["--run none"])?;
    refused(
        &["--out", "/dev/null/x", "--run", "none"],
        &["/dev/null/x", "another folder with --out"],
    )?;
    let out = scratch.path().join("out");
    let out = out.to_string_lossy();
    refused(
        &["--out", &out, "--data", "/does/not/exist"],
        &["--data", "/does/not/exist"],
    )?;
    // What is no whole document is named in the report, and nothing fails.
    let half = scratch.file("half/idc.json", "{\"unit\":")?;
    let half = half.parent().unwrap_or(scratch.path()).to_string_lossy();
    process::output(&mut scratch.xtask(&["report", "--out", &out, "--data", &half]))?;
    let page = fs::read_to_string(scratch.path().join("out/report.md"))?;
    ensure!(
        page.contains("no complete JSON document"),
        "half a document was not named:\n{page}"
    );
    Ok(())
}

/// No such row, no such directory, programs for another machine.
fn lmbench() -> Result<()> {
    let scratch = Scratch::new()?;
    let refused = |arguments: &[&str], words: &[&str]| {
        expect_failure(
            scratch.xtask(&[&["bench", "lmbench"], arguments].concat()),
            words,
        )
    };
    refused(&["--rows", "spoon"], &["spoon", "AF_UNIX"])?;
    refused(&["--lmbench", "/does/not/exist"], &["/does/not/exist/lat_"])?;
    refused(&["--own", "--lmbench", "x"], &["--own", "--lmbench"])?;
    refused(&["--layouts", "0"], &["--layouts", "1..=64"])?;
    refused(&["--memory", "1G"], &["--memory is for", "gem5"])?;
    fs::copy("/bin/true", scratch.path().join("lat_mmap"))?;
    let directory = scratch.path().to_string_lossy();
    let arguments = ["--rows", "mmap", "--lmbench", &directory];
    refused(&arguments, &["lat_mmap", "no program for arm64"])
}

fn tool_missing() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.tools_except("bison")?;
    scratch.program_instead("dpkg-query", "exit 1")?;
    expect_failure(
        scratch.xtask_alone(&[&TRUE[..], &["--no-install"]].concat()),
        &["Debian package bison", "--no-install", "apt-get install"],
    )
}

/// The package is there, but PATH does not lead to it.
fn tool_hidden() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.tools_except("flex")?;
    scratch.program_instead("dpkg-query", "printf installed")?;
    expect_failure(
        scratch.xtask_alone(&TRUE),
        &["`flex` is not where PATH leads"],
    )
}

fn qemu_too_old() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.program(QEMU, "echo 'QEMU emulator version 6.2.0 (fake)'")?;
    expect_failure(scratch.xtask(&TRUE), &["QEMU 6.2 is too old", "7.2"])
}

fn qemu_without_machine() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.program(QEMU, "echo 'QEMU emulator version 8.2.1 (fake)'")?;
    let arguments = [&TRUE[..], &["--machine", "raspi4b"]].concat();
    expect_failure(
        scratch.xtask(&arguments),
        &["QEMU 8.2 has no machine for Raspberry Pi 4 B", "9.0"],
    )
}

fn fake_tree(scratch: &Scratch, sublevel: u32) -> Result<String> {
    let makefile = format!("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = {sublevel}\n");
    scratch.file("linux/Makefile", &makefile)?;
    Ok(scratch.path().join("linux").to_string_lossy().into_owned())
}

fn wrong_kernel_version() -> Result<()> {
    let scratch = Scratch::new()?;
    let tree = fake_tree(&scratch, 42)?;
    let arguments = [&TRUE[..], &["--linux", &tree]].concat();
    expect_failure(
        scratch.xtask(&arguments),
        &["6.12.42", "6.12.100", "--linux"],
    )
}

fn no_kernel_tree() -> Result<()> {
    let scratch = Scratch::new()?;
    let empty = scratch.path().to_string_lossy().into_owned();
    let arguments = [&TRUE[..], &["--linux", &empty]].concat();
    expect_failure(scratch.xtask(&arguments), &["not a Linux source tree"])?;
    let arguments = [&TRUE[..], &["--linux", "/does/not/exist"]].concat();
    expect_failure(scratch.xtask(&arguments), &["/does/not/exist", "LINUX_SRC"])
}

fn patch_does_not_apply() -> Result<()> {
    let scratch = Scratch::new()?;
    let tree = fake_tree(&scratch, 117)?;
    let arguments = [&TRUE[..], &["--linux", &tree]].concat();
    expect_failure(
        scratch.xtask(&arguments),
        &["0001-", "does not apply to Linux 6.12.117"],
    )
}

/// Checks that a lock of the cache which another command holds is named, with its holder, before
/// the wait is over.
fn lock_held() -> Result<()> {
    let scratch = Scratch::new()?;
    let path = scratch.file("cache/donjon/lock", "")?;
    let held = lock::take(&path)?;
    let errors = scratch.path().join("errors");
    let mut command = scratch.xtask(&["kernel", "--native", "--source"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&errors)?);
    let words = format!(
        "wait for the lock {}, which process {} (",
        fs::canonicalize(&path)?.display(),
        std::process::id()
    );
    kill_when(&mut command, &|| {
        fs::read_to_string(&errors).is_ok_and(|it| it.contains(&words))
    })
    .with_context(|| {
        format!(
            "{words}\n{}",
            fs::read_to_string(&errors).unwrap_or_default()
        )
    })?;
    drop(held);
    Ok(())
}

/// No such file, a file that is no configuration.
fn kernel_config() -> Result<()> {
    let scratch = Scratch::new()?;
    let other = scratch.file("other", "CONFIG_A=y\nplease\n")?;
    let other = other.to_string_lossy();
    let refused = |file: &str, words: &[&str]| {
        expect_failure(scratch.xtask(&["kernel", "--config", file]), words)
    };
    refused("/does/not/exist", &["/does/not/exist", "CONFIG_NAME=value"])?;
    refused(&other, &["line 2, `please`", "CONFIG_NAME=n"])
}

/// No program, one whose limit is too small, one without its numbers, and what is no image.
fn compartment() -> Result<()> {
    const CALL: &str = "#include <donjon.h>\nuint64_t donjon_call(uint64_t a, uint64_t b, \
        uint64_t c, uint64_t d) { return a + b + c + d; }\n";
    let scratch = Scratch::new()?;
    let refused = |action: &str, file: &Path, words: &[&str]| {
        let file = file.to_string_lossy();
        expect_failure(scratch.xtask(&["compartment", action, &file]), words)
    };
    let nothing = Path::new("/does/not/exist");
    refused("build", nothing, &["/does/not/exist"])?;
    refused("measure", nothing, &["/does/not/exist"])?;
    let text = scratch.file("text", "no program")?;
    refused("build", &text, &["neither a Rust crate nor a C file"])?;
    refused("measure", &text, &["not an ELF file"])?;
    let small = scratch.file(
        "bad-input-small.c",
        &format!("{CALL}DONJON_PROGRAM(4, 1, 1);\n"),
    )?;
    refused(
        "build",
        &small,
        &["its limit is 4 frames", "raise the limit"],
    )?;
    let bare = scratch.file("bad-input-bare.c", CALL)?;
    refused("build", &bare, &["DONJON_PROGRAM in C"])
}

/// Two options that contradict each other.
fn option_conflict(host: &HostArguments) -> Result<()> {
    let fragment = "CONFIG_EXT4_FS=y\nCONFIG_BLOCK=n\n";
    let words = ["options in conflict", "CONFIG_EXT4_FS"];
    fragment_is_refused(host, Variant::Native, fragment, &words)
}

/// An option that contradicts the protection: the build says which and why.
fn option_refused(host: &HostArguments) -> Result<()> {
    let fragment = "CONFIG_RELOCATABLE=y\nCONFIG_RANDOMIZE_BASE=y\n";
    let words = ["CONFIG_DONJON needs CONFIG_RANDOMIZE_BASE=n", "non-global"];
    fragment_is_refused(host, Variant::Donjon, fragment, &words)
}

fn fragment_is_refused(
    host: &HostArguments,
    variant: Variant,
    fragment: &str,
    words: &[&str],
) -> Result<()> {
    let scratch = Scratch::new()?;
    let fragment = scratch.file("more.config", fragment)?;
    match kernel::try_fragment(host, variant, &fragment) {
        Ok(()) => bail!("the options were accepted"),
        Err(error) => {
            let said = format!("{error:#}");
            ensure!(
                words.iter().all(|word| said.contains(word)),
                "the message does not say {words:?}: {said}"
            );
            Ok(())
        }
    }
}

fn disk_full() -> Result<()> {
    on_small_disk(
        &TRUE,
        "size=64m",
        &["not enough disk space", "XDG_CACHE_HOME"],
    )
}

/// Enough bytes for the check beforehand, too few files for the tarball.
fn disk_full_while_unpacking() -> Result<()> {
    on_small_disk(
        &TRUE,
        "size=4g,nr_inodes=3000",
        &["not enough disk space", "XDG_CACHE_HOME"],
    )
}

fn on_small_disk(arguments: &[&str], options: &str, words: &[&str]) -> Result<()> {
    let scratch = Scratch::new()?;
    let cache = scratch.path().join("cache");
    fs::create_dir_all(&cache)?;
    for tool in ["debootstrap", "fakeroot"] {
        scratch.program(tool, "exit 1")?;
    }
    let inner = scratch.xtask(arguments);
    let Some(mut command) = private_mounts() else {
        // Let tar say what it would say.
        scratch.program(
            "tar",
            "echo 'tar: x: Cannot write: No space left on device' >&2; exit 2",
        )?;
        return expect_failure(inner, words);
    };
    // The mount is gone with the shell's name space.
    let script = format!(
        "mount -t tmpfs -o {options} tmpfs '{}' && exec \"$@\"",
        cache.display()
    );
    command
        .args(["sh", "-c", &script, "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    command
        .env("XDG_CACHE_HOME", &cache)
        .env_remove("LINUX_SRC");
    expect_failure(command, words)
}

/// A command that runs its arguments with mounts of their own; none on a host that gives us none (a
/// chroot, a strict container).
fn private_mounts() -> Option<Command> {
    let mut words = vec!["--mount"];
    if !nix::unistd::geteuid().is_root() {
        words.extend(["--user", "--map-root-user"]);
    }
    let mut probe = Command::new("unshare");
    process::output(probe.args(&words).arg("true")).ok()?;
    let mut command = Command::new("unshare");
    command.args(&words);
    Some(command)
}

/// SIGKILL while Linux is unpacked and while it is built: nothing half may look whole, nothing
/// may go on running, and the next run is not confused.
fn killed_half_way() -> Result<()> {
    let scratch = Scratch::new()?;
    let cache = scratch.path().join("cache/donjon");
    let source = ["kernel", "--native", "--source"];
    kill_when(silent(&mut scratch.xtask(&source)), &|| {
        cache.join("tmp/linux/tree/arch").exists()
    })?;
    let trees = fs::read_dir(cache.join("linux"))?.count();
    ensure!(trees == 0, "a half tree is in its final place");
    let output = process::both(&mut scratch.xtask(&source))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "the run after the kill failed:\n{said}"
    );
    ensure!(
        !cache.join("tmp/linux").exists(),
        "what the killed run left was not removed"
    );

    let build = ["kernel", "--native"];
    let log = cache.join("logs/kernel-native.log");
    let compiling = || fs::read_to_string(&log).is_ok_and(|it| it.contains("  CC      arch/arm64"));
    kill_when(silent(&mut scratch.xtask(&build)), &compiling)?;
    ensure!(
        !cache.join("kernels").exists(),
        "a half kernel is in its final place"
    );
    let made = cache.join("build");
    let deadline = Instant::now() + Duration::from_secs(10);
    while in_use(&made) {
        ensure!(
            Instant::now() < deadline,
            "the build goes on after the kill"
        );
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

fn silent(command: &mut Command) -> &mut Command {
    command.stderr(Stdio::null()).stdout(Stdio::null())
}

fn kill_when(command: &mut Command, reached: &dyn Fn() -> bool) -> Result<()> {
    let mut running = Running::start(command)?;
    let deadline = Instant::now() + Duration::from_secs(600);
    while !reached() {
        ensure!(
            running.ended()?.is_none(),
            "it ended before it could be killed"
        );
        ensure!(
            Instant::now() < deadline,
            "it did not come to the point where it is killed"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    running.child().kill()?;
    running.wait()?;
    Ok(())
}

/// Whether a process works below `directory`.
fn in_use(directory: &Path) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else {
        return false;
    };
    processes
        .filter_map(Result::ok)
        .filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok())
        .any(|cwd| cwd.starts_with(directory))
}

fn network_gone() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.tools_except("bc")?;
    scratch.program_instead("dpkg-query", "exit 1")?;
    scratch.program("sudo", "[ \"$1\" = --validate ] || exec \"$2\"")?;
    scratch.program("apt-get", "echo 'Could not resolve host'; exit 100")?;
    expect_failure(
        scratch.xtask_alone(&TRUE),
        &[
            "Could not resolve host",
            "network",
            "again",
            "apt-get install",
        ],
    )
}

fn network_gone_for_rust() -> Result<()> {
    let scratch = Scratch::new()?;
    scratch.program("rustc", &format!("echo {}", scratch.path().display()))?;
    scratch.program("rustup", "echo 'error: could not download'; exit 1")?;
    expect_failure(
        scratch.xtask(&TRUE),
        &[
            "could not download",
            "network",
            "again",
            "rustup target add",
        ],
    )
}
