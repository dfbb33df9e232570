// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model, and its parameters.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{process, tools};

/// Name of the program.
pub const MODEL: &str = "FVP_Base_RevC-2xAEMvA";
/// Where the firmware is loaded and starts: trusted SRAM.
pub const FIRMWARE: u64 = 0x0400_1000;

/// Extensions of the CPUs that stay off, where this version of the model has a parameter for them:
/// NMI (Armv8.8), permission indirection and overlays and what came with them (Armv8.9), all of
/// Armv9 with the trace buffer and 128-bit descriptors, and memory tagging.
const OFF: &[&str] = &[
    "has_arm_v8-8",
    "has_arm_v8-9",
    "has_arm_v9-0",
    "has_arm_v9-1",
    "has_arm_v9-2",
    "has_arm_v9-3",
    "has_arm_v9-4",
    "has_arm_v9-5",
    "has_arm_v9-6",
    "has_nmi",
    "has_statistical_profiling",
    "has_trbe",
    "has_ete",
    "has_brbe",
    "has_tcr2",
    "has_permission_indirection_s1",
    "has_permission_overlay_s1",
    "has_128_bit_tt_descriptors",
    "has_gcs",
    "memory_tagging_support_level",
    "rme_support_level",
];

/// Interrupts by message (LPIs), whose tables are in memory.
const NO_LPIS: &[&str] = &["ITS-count", "direct-lpi-support", "virtual-lpi-support"];

/// An installed model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Program of the model.
    pub program: PathBuf,
    known: BTreeSet<String>,
}

impl Model {
    /// The model that PATH leads to.
    ///
    /// # Errors
    ///
    /// If there is none, or it does not list its parameters.
    pub fn installed() -> Result<Self> {
        let Some(program) = tools::find(MODEL) else {
            bail!(
                "`{MODEL}` is not where PATH leads; Arm offers it without charge as \"Armv-A Base \
                 RevC AEM FVP\" at https://developer.arm.com/Tools%20and%20Software/\
                 Fixed%20Virtual%20Platforms. Unpack it, and add the directory of the program \
                 below models/ to PATH"
            );
        };
        Self::at(program)
    }

    /// The model at a path.
    ///
    /// # Errors
    ///
    /// If it does not list its parameters.
    pub fn at(program: PathBuf) -> Result<Self> {
        let listed = process::output(Command::new(&program).arg("--list-params"))
            .with_context(|| format!("asking {} for its parameters", program.display()))?;
        Ok(Self {
            known: names(&listed),
            program,
        })
    }

    /// Values of parameters, for a machine of `cpus` CPUs in one cluster.
    ///
    /// # Errors
    ///
    /// If the model lacks a parameter that it must have.
    pub fn parameters(&self, cpus: u32) -> Result<Vec<String>> {
        let mut values: Vec<(String, String)> = Vec::new();
        let mut set = |name: &str, value: &str| values.push((name.to_owned(), value.to_owned()));
        // The first CPU alone starts; PSCI starts the others.
        set("pctl.startup", "0.0.0.0");
        set("cluster0.NUM_CORES", &cpus.to_string());
        set("cluster1.NUM_CORES", "0");
        for cpu in 0..cpus {
            set(
                &format!("cluster0.cpu{cpu}.RVBAR"),
                &format!("{FIRMWARE:#x}"),
            );
        }
        set("cache_state_modelled", "0");
        set("bp.secure_memory", "1");
        set("bp.refcounter.non_arch_start_at_default", "1");
        set("bp.ve_sysregs.exit_on_shutdown", "1");
        set("bp.vis.disable_visualisation", "1");
        set("bp.pl011_uart0.out_file", "-");
        set("bp.pl011_uart0.unbuffered_output", "1");
        set("bp.pl011_uart0.untimed_fifos", "1");
        set("bp.terminal_0.mode", "raw");
        for terminal in 0..4 {
            set(&format!("bp.terminal_{terminal}.start_telnet"), "0");
        }
        for (name, _) in &values {
            ensure!(
                self.known.contains(name),
                "{} has no parameter {name}; is it another model, or an old version? Arm's current \
                 {MODEL} is needed",
                self.program.display()
            );
        }
        let off = OFF.iter().map(|it| format!("cluster0.{it}"));
        let no_lpis = NO_LPIS.iter().map(|it| format!("gic_distributor.{it}"));
        for name in off.chain(no_lpis) {
            if self.known.contains(&name) {
                values.push((name, "0".to_owned()));
            }
        }
        let words = values.iter().map(|(name, value)| format!("{name}={value}"));
        Ok(words.collect())
    }
}

/// The names in the model's list: `name=value` and an explanation in each line.
fn names(listed: &str) -> BTreeSet<String> {
    let lines = listed.lines().filter(|it| !it.starts_with('#'));
    lines
        .filter_map(|line| Some(line.split_once('=')?.0.trim().to_owned()))
        .collect()
}
