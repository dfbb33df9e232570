// SPDX-License-Identifier: MIT OR Apache-2.0
//! Machine recipes, read from `qemu/*.toml`.

use std::fs;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::arguments::{MachineArguments, Switch};
use crate::{fvp, paths};

/// A recipe in `qemu/`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recipe {
    /// One line about the machine.
    pub description: String,
    /// Value of `-M`.
    pub machine: String,
    /// What to add to it for an entry at EL2; absent if the machine enters there anyway.
    pub el2: Option<String>,
    /// CPU models that work.
    pub cpus: Vec<String>,
    /// The one that is used unless another is named.
    pub default_cpu: String,
    /// Number of CPUs unless another is named.
    pub default_cpus: u32,
    /// Most CPUs.
    pub maximum_cpus: u32,
    /// Memory unless another size is named.
    pub default_memory: String,
    /// Least memory.
    pub minimum_memory: String,
    /// Console device in Linux.
    pub console: String,
    /// Further arguments of QEMU.
    pub arguments: Vec<String>,
    /// Device that virtserialports are plugged into.
    pub port_bus: String,
}

/// A machine as asked for, checked against its recipe.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The recipe.
    pub recipe: Recipe,
    /// CPU model.
    pub cpu: String,
    /// Number of CPUs.
    pub cpus: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Switch mode.
    pub switch: Switch,
    /// Count instructions.
    pub icount: bool,
    /// Enter at EL2.
    pub el2: bool,
    /// More words for the kernel command line.
    pub append: Option<String>,
}

impl Machine {
    /// Checks `arguments`.
    ///
    /// # Errors
    ///
    /// If there is no such recipe, or it does not allow what is asked for.
    pub fn new(arguments: &MachineArguments) -> Result<Self> {
        let recipe = recipe(&arguments.machine)?;
        let cpu = arguments
            .cpu
            .clone()
            .unwrap_or_else(|| recipe.default_cpu.clone());
        if !recipe.cpus.contains(&cpu) {
            bail!(
                "unknown CPU `{cpu}` for the machine {}; allowed: {}",
                arguments.machine,
                recipe.cpus.join(", ")
            );
        }
        let cpus = arguments.cpus.unwrap_or(recipe.default_cpus);
        if !(1..=recipe.maximum_cpus).contains(&cpus) {
            bail!(
                "{cpus} CPUs are not possible on the machine {}; allowed: 1 to {}",
                arguments.machine,
                recipe.maximum_cpus
            );
        }
        let memory = bytes(
            arguments
                .memory
                .as_deref()
                .unwrap_or(&recipe.default_memory),
        )?;
        if memory < bytes(&recipe.minimum_memory)? {
            bail!(
                "too little memory: {} MiB; Linux and the inner domain need {} or more on the \
                 machine {}",
                memory >> 20,
                recipe.minimum_memory,
                arguments.machine
            );
        }
        Ok(Self {
            recipe,
            cpu,
            cpus,
            memory,
            switch: arguments.switch,
            icount: arguments.icount,
            el2: arguments.el2,
            append: arguments.append.clone(),
        })
    }

    /// Arguments of QEMU that describe the hardware.
    pub fn qemu_arguments(&self) -> Vec<String> {
        let mut machine = self.recipe.machine.clone();
        if self.el2 {
            machine.push_str(self.recipe.el2.as_deref().unwrap_or_default());
        }
        let mut arguments = vec!["-M".into(), machine, "-cpu".into(), self.cpu.clone()];
        arguments.extend(["-smp".into(), self.cpus.to_string()]);
        arguments.extend(["-m".into(), format!("{}M", self.memory >> 20)]);
        if self.icount {
            arguments.extend(["-icount".into(), "shift=0".into()]);
        }
        arguments.extend(self.recipe.arguments.iter().cloned());
        arguments
    }
}

fn recipe(name: &str) -> Result<Recipe> {
    let directory = paths::in_root("qemu");
    let mut known = Vec::new();
    for entry in fs::read_dir(&directory).context("reading the machines in qemu/")? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            known.extend(path.file_stem().map(|it| it.to_string_lossy().into_owned()));
        }
    }
    known.sort();
    if name == fvp::NAME {
        bail!(
            "only `cargo xtask run` starts the machine `{name}`; allowed here: {}",
            known.join(", ")
        );
    }
    if !known.iter().any(|it| it == name) {
        bail!(
            "unknown machine `{name}`; allowed: {}, and {} for `run`",
            known.join(", "),
            fvp::NAME
        );
    }
    let path = directory.join(format!("{name}.toml"));
    toml::from_str(&fs::read_to_string(&path)?)
        .with_context(|| format!("reading the machine {}", path.display()))
}

/// Bytes of a size such as `512M`; a bare number counts MiB, as in QEMU.
pub(crate) fn bytes(size: &str) -> Result<u64> {
    let digits = size.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match &size[digits.len()..] {
        "" | "M" | "m" | "MiB" => 20,
        "K" | "k" | "KiB" => 10,
        "G" | "g" | "GiB" => 30,
        _ => bail!("`{size}` is not a size of memory; write one such as 512M or 2G"),
    };
    let number: Option<u64> = digits.parse().ok();
    match number.and_then(|it| it.checked_mul(1 << shift)) {
        Some(bytes) => Ok(bytes),
        None => bail!("`{size}` is not a size of memory; write one such as 512M or 2G"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_qemu_reads_them() {
        assert_eq!(bytes("512M").ok(), Some(512 << 20));
        assert_eq!(bytes("2G").ok(), Some(2 << 30));
        assert_eq!(bytes("256").ok(), Some(256 << 20));
        for wrong in ["", "G", "1T5", "lots", "99999999999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_recipe_is_well_formed() {
        let recipe = recipe("virt").expect("virt");
        assert!(recipe.cpus.contains(&recipe.default_cpu));
        assert!(bytes(&recipe.minimum_memory).is_ok());
    }
}
