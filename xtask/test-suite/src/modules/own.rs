// SPDX-License-Identifier: MIT OR Apache-2.0
//! A module from outside of the kernel's tree: built against the directory that
//! `cargo xtask kernel --build-dir` prints, or in the guest, and loaded.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::ensure;
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::guest;
use donjon_builder::kernel::external::{ToolsFor, build_directory};
use donjon_builder::kernel::{CROSS, Variant};
use donjon_builder::run::prepare;
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::process;
use donjon_machine::said::says;

use crate::rootfs::ourselves;
use crate::scratch::Scratch;
use crate::test::Test;

const TIMEOUT: Duration = Duration::from_secs(120);
/// A module of one function that calls the kernel, and is called by it.
const SOURCE: &str = "\
#include <linux/module.h>
static int __init begin(void)
{
	pr_info(\"own: %s on %s\\n\", module_name(THIS_MODULE), current->comm);
	return 0;
}
static void __exit end(void)
{
	pr_info(\"own: gone\\n\");
}
module_init(begin);
module_exit(end);
MODULE_LICENSE(\"GPL\");
MODULE_DESCRIPTION(\"A module from outside of the tree\");
";

const MAKEFILE: &str = "obj-m := own.o\n";
/// Loads and removes the module, and prints what it said.
const LOAD: &str = "insmod $module && rmmod own && dmesg | sed -n 's/.*own: /own: /p'";
/// Seconds for a guest with systemd that compiles.
const DEBIAN_SECONDS: &str = "1200";
/// Seconds for that and for making the image.
const WITH_IMAGE: &str = "7200";

/// Builds the module on the host, and loads it.
pub fn test(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("modules:own", move || {
        let scratch = Scratch::new()?;
        fs::write(scratch.path().join("own.c"), SOURCE)?;
        fs::write(scratch.path().join("Makefile"), MAKEFILE)?;
        let directory = build_directory(&host, Variant::Donjon, ToolsFor::Host)?;
        let mut make = Command::new("make");
        make.arg("-C").arg(directory).arg("ARCH=arm64");
        make.arg(format!("CROSS_COMPILE={CROSS}"));
        make.arg(format!("M={}", scratch.path().display()))
            .arg("modules");
        make.env_remove("MAKEFLAGS").env_remove("MFLAGS");
        process::output(&mut make)?;
        let module = fs::read(scratch.path().join("own.ko"))?;
        let machine = Machine::new(&MachineArguments {
            cpus: Some(1),
            memory: Some("256M".into()),
            ..MachineArguments::virt(Switch::Asid)
        })?;
        let mut boot = prepare(&host, machine, &InnerVariant::sound(Switch::Asid))?.boot;
        boot.initramfs = guest::with_file(&boot.initramfs, "lib/modules/own.ko", &module)?;
        let said = says(
            &boot,
            &format!("module=/lib/modules/own.ko\n{LOAD}"),
            TIMEOUT,
        )?;
        said.expect_success()?;
        said.expect_line("own: own on insmod")?;
        said.expect_line("own: gone")
    })
}

/// Builds the module in Debian, which needs an image with a compiler, and loads it there; by name.
pub fn in_debian() -> Test {
    Test::alone("modules:own:debian", || {
        let script = format!(
            "mkdir /root/own && cd /root/own || exit 1\n\
             cat >own.c <<'END'\n{SOURCE}END\n\
             printf '{MAKEFILE}' >Makefile\n\
             make -C /lib/modules/$(uname -r)/build M=$PWD modules || exit 1\n\
             module=own.ko\n{LOAD}"
        );
        let options = [
            "--build-dir",
            "--timeout",
            DEBIAN_SECONDS,
            "--exec",
            &script,
        ];
        let root = Path::new("debian:gcc,make,kmod");
        let output = process::both(&mut ourselves(WITH_IMAGE, root, &options))?;
        let said = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success()
                && said.contains("own: own on insmod")
                && said.contains("own: gone"),
            "{}:\n{said}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    })
    .long()
}
