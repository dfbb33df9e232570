// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debian packages.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use donjon_machine::process;

use super::Needs;
use super::tools::{
    CLANG, CROSS_LIBC, CXX, GDB, LIBSSL, LINUX_PACKAGE, LINUX_TARBALL, ROOTFS, TOOLS, UEFI,
    USER_QEMU,
};
use crate::arguments::HostArguments;
use crate::paths;
use crate::progress::Step;

/// Packages to install. A tool that is there counts, wherever it came from.
pub fn missing(host: &HostArguments, needs: Needs) -> Result<Vec<&'static str>> {
    let mut packages = Vec::new();
    let gdb = needs.gdb.then_some(&GDB);
    let cxx = needs.cxx.then_some(&CXX);
    let cross_libc = needs.cross_libc.then_some(&CROSS_LIBC);
    let uefi = needs.uefi.then_some(&UEFI);
    let user_qemu = needs.user_qemu.then_some(&USER_QEMU);
    let clang = needs.clang.then_some(&CLANG);
    let libssl = host.has_debian_config().then_some(&LIBSSL);
    let wanted = [gdb, cxx, cross_libc, uefi, user_qemu, clang, libssl]
        .into_iter()
        .flatten();
    let rootfs = ROOTFS.iter().filter(|_| needs.rootfs);
    let tools = TOOLS.iter().chain(wanted).chain(rootfs);
    for tool in tools.filter(|tool| !tool.present()) {
        if installed(tool.package) {
            bail!(
                "the package {} is installed, but `{}` is not where PATH leads; put its \
                 directory (usually /usr/bin) back into PATH",
                tool.package,
                tool.name
            );
        }
        packages.push(tool.package);
    }
    if host.linux.is_none() && !Path::new(LINUX_TARBALL).exists() {
        packages.push(LINUX_PACKAGE);
    }
    packages.sort_unstable();
    packages.dedup();
    Ok(packages)
}

fn installed(package: &str) -> bool {
    let mut query = Command::new("dpkg-query");
    query.args(["--show", "--showformat=${db:Status-Status}", package]);
    process::output(&mut query).is_ok_and(|status| status == "installed")
}

/// The line that installs `packages`; nothing if there are none.
pub fn install_line(packages: &[&str]) -> Option<String> {
    (!packages.is_empty()).then(|| {
        format!(
            "apt-get update && apt-get install --no-install-recommends {}",
            packages.join(" ")
        )
    })
}

/// Installs `packages`.
pub fn install(packages: &[&str]) -> Result<()> {
    let Some(by_hand) = install_line(packages) else {
        return Ok(());
    };
    if !is_debian() {
        bail!(
            "this is not Debian 12 or 13, so nothing can be installed for you; install what \
             corresponds to the packages above (and use --linux DIR for the Linux source)"
        );
    }
    apt("apt-get update", &["update", "--quiet"]).with_context(|| network(&by_hand))?;
    let mut arguments = vec!["install", "--yes", "--quiet", "--no-install-recommends"];
    arguments.extend(packages);
    apt("apt-get install", &arguments).with_context(|| {
        let linux = if packages.contains(&LINUX_PACKAGE) {
            format!(
                "\n{LINUX_PACKAGE} stands in Debian 13, in Debian 12's security archive and in \
                 bookworm-backports: add one of them to the APT sources, or give a Linux 6.12 \
                 tree with --linux DIR or LINUX_SRC=DIR"
            )
        } else {
            String::new()
        };
        format!("{}{linux}", network(&by_hand))
    })
}

fn network(by_hand: &str) -> String {
    format!(
        "installing Debian packages failed; if the network went away, run the same command \
         again: what is complete stays. By hand, as root: {by_hand}"
    )
}

fn is_debian() -> bool {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    release
        .lines()
        .any(|line| matches!(line, "ID=debian" | "ID_LIKE=debian"))
}

fn apt(title: &str, arguments: &[&str]) -> Result<()> {
    let mut command = as_root("apt-get")?;
    command
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive");
    let step = Step::spinner(title);
    process::logged(&mut command, &paths::cache()?.join("logs/apt.log"), |_| ())?;
    step.finish();
    Ok(())
}

fn as_root(program: &str) -> Result<Command> {
    if nix::unistd::geteuid().is_root() {
        return Ok(Command::new(program));
    }
    if super::tools::find("sudo").is_none() {
        bail!("installing needs root, and there is no sudo; run the lines of --no-install as root");
    }
    let user = env::var("USER").unwrap_or_else(|_| "this user".into());
    // Ask for the password now, while the terminal is ours.
    let status = Command::new("sudo")
        .arg("--validate")
        .status()
        .context("starting sudo")?;
    if !status.success() {
        bail!("sudo refuses {user}; run the lines that --no-install prints as root");
    }
    let mut command = Command::new("sudo");
    command.args(["--preserve-env=DEBIAN_FRONTEND", program]);
    Ok(command)
}
