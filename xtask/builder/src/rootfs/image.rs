// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images of root file systems: space for them, copies, and commands in a guest that runs on one.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::process;
use donjon_machine::qemu::{self, DiskImage, Stream};

use super::watched::Watched;
use crate::arguments::HostArguments;
use crate::bare::InnerVariant;
use crate::progress::Step;
use crate::{paths, run};

/// Size of the file system. The file has holes where nothing is; the card of a Raspberry Pi has to
/// be a power of two in QEMU.
pub const MEBIBYTES: u32 = 4096;
/// What dpkg takes for some hundred packages in an emulated machine.
const TIMEOUT: Duration = Duration::from_secs(3600);

/// Refuses to begin where the disk would be full before the end.
pub fn check_space(directory: &Path, needed: u64) -> Result<()> {
    let data = nix::sys::statvfs::statvfs(directory)?;
    let free = data.blocks_available() * data.fragment_size();
    ensure!(
        free >= needed,
        "not enough disk space in {}: {} MiB are free, the image needs {} MiB; make room, or set \
         XDG_CACHE_HOME to a directory on a larger disk",
        directory.display(),
        free >> 20,
        needed >> 20
    );
    Ok(())
}

/// Copies an image with its holes.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut copy = Command::new("cp");
    copy.args(["--sparse=always", "--reflink=auto"]);
    process::output(copy.arg(from).arg(to))
        .with_context(|| format!("copying {}", from.display()))?;
    Ok(())
}

/// What runs in a guest.
pub struct Job<'a> {
    /// What is said meanwhile.
    pub title: String,
    /// The image of the root file system. It is changed.
    pub image: &'a Path,
    /// A disk for /dev/disk/by-label, without udev: see `mount LABEL=…`.
    pub packages: Option<&'a Path>,
    /// A shell script, in a chroot.
    pub script: &'a str,
    /// Packages that it goes through.
    pub packages_in_all: u64,
    /// The starts of the lines that it writes for each of them, one for each thing that is done
    /// with it.
    pub lines: &'a [&'a str],
}

/// Behind each script: the inner domain's status at the end of the boot in which the packages' own
/// scripts ran.
const STATUS: &str = "\ncat /sys/kernel/security/donjon/status >&2\n";
/// The line of it that says how many calls were refused.
const REFUSALS: &str = "refusals: ";

/// Runs `job` over the inner domain, which must refuse nothing; returns what it wrote to standard
/// output. What it wrote to standard error is in a file of the cache.
pub fn in_guest(host: &HostArguments, job: &Job<'_>) -> Result<String> {
    let machine = Machine::new(&MachineArguments {
        append: Some("donjon.init=no".into()),
        ..MachineArguments::virt(Switch::Asid)
    })?;
    let variant = InnerVariant::sound(machine.switch);
    let mut boot = run::prepare(host, machine, &variant)?.boot;
    boot.disk = Some(DiskImage::new(job.image.to_owned(), true));
    boot.disk_is_root = true;
    boot.packages = job.packages.map(Path::to_owned);
    let log = paths::cache()?.join("logs/rootfs.log");
    fs::create_dir_all(log.parent().unwrap_or(&log))?;
    let mut file = File::create(&log).with_context(|| format!("creating {}", log.display()))?;
    let step = Step::counted(
        job.title.clone(),
        job.packages_in_all * job.lines.len() as u64,
    );
    let mut output = Vec::new();
    let mut errors = Watched::default();
    let script = format!("{}{STATUS}", job.script);
    let status = qemu::exec(&boot, &script, TIMEOUT, |stream, bytes| match stream {
        Stream::Output => output.extend(bytes),
        Stream::Error => {
            // A full disk must not hide the error that the command itself reports.
            let _ = file.write_all(bytes);
            for line in errors.push(bytes) {
                if job.lines.iter().any(|it| line.starts_with(it)) {
                    step.say(&line);
                    step.advance(1);
                }
            }
        }
    })?;
    let said = errors.text();
    let lines: Vec<&str> = said.lines().collect();
    ensure!(
        status == 0,
        "{}\nit failed in the guest with status {status}; all of its output: {}",
        lines[lines.len().saturating_sub(25)..].join("\n"),
        log.display()
    );
    let refusals = refusals(&said);
    ensure!(
        refusals == Some(0),
        "the inner domain refused {} calls while `{}` ran; all of its output: {}",
        refusals.map_or("an unknown number of".to_owned(), |it| it.to_string()),
        job.title,
        log.display()
    );
    step.finish();
    String::from_utf8(output).context("the guest's output is no text")
}

/// What the status at the end says; nothing if there is none.
fn refusals(said: &str) -> Option<u64> {
    let line = said.lines().rev().find_map(|it| it.strip_prefix(REFUSALS));
    line?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_read_from_the_last_status() {
        let said = "Setting up libc6 ...\nstate: running\ncalls: 7\nrefusals: 0\n";
        assert_eq!(refusals(said), Some(0));
        assert_eq!(refusals(&said.replace(": 0", ": 12")), Some(12));
        assert_eq!(refusals(&format!("refusals: 3\n{said}")), Some(0));
        assert_eq!(refusals("Setting up libc6 ...\n"), None);
    }
}
