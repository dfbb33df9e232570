// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench idc`: the round trip of a null call, beside system calls.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::run::Parts;
use donjon_figures::records::idc::{Cost, Figures, Idc};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::gem5;
use donjon_machine::machine::Machine;
use donjon_machine::qemu::Boot;

use crate::arguments::BenchArguments;
use crate::guest::{measured, output_of, prepare, said};
use crate::path::PathCost;
use crate::samples::{COUNT, Samples};
use crate::table::{rounded, table};
use crate::{Record, model, show};

/// Unit of QEMU under `-icount shift=0`.
pub const INSTRUCTIONS: &str = "instructions";
/// Unit of the wall time that QEMU takes.
const NANOSECONDS: &str = "nanoseconds of QEMU wall time (emulator)";
/// Unit of a board.
pub const CYCLES: &str = "cycles";
/// Unit of gem5's model of a core.
pub const MODEL_CYCLES: &str = "cycles of a model (gem5)";

/// All modes, and the native kernel.
pub const ALL_SWITCHES: [Switch; 4] = [Switch::Asid, Switch::Tlbi, Switch::Strict, Switch::None];

/// Most instructions that the null call may take, by mode.
const TARGETS: [(&str, f64); 2] = [("asid", 60.0), ("strict", 72.0)];

/// Measures and prints.
pub fn run(arguments: &BenchArguments) -> Result<()> {
    let json = arguments.json.as_deref();
    json::can_write(json)?;
    let record = if arguments.machine == gem5::NAME {
        model::measure_idc(arguments)?
    } else {
        arguments.gem5.expect_none(&arguments.machine)?;
        expect_no_memory(arguments.memory.as_deref())?;
        let cpu = arguments.cpu.as_deref();
        let machine = measured(&arguments.machine, cpu, Switch::Asid, !arguments.wall)?;
        environment::prepare(&arguments.host, Needs::default())?;
        measure_all(&arguments.host, &machine, &ALL_SWITCHES)?
    };
    show(&record, json)
}

/// Refuses another size of memory for machines of QEMU.
pub fn expect_no_memory(memory: Option<&str>) -> Result<()> {
    ensure!(
        memory.is_none(),
        "--memory is for --machine {}; figures of other machines are of one size, for comparison",
        gem5::NAME
    );
    Ok(())
}

/// Makes a record without figures.
pub fn empty(unit: &str, cpu: &str) -> Idc {
    Idc {
        unit: unit.into(),
        samples: COUNT,
        cpu: cpu.into(),
        ..Idc::default()
    }
}

/// The gate's round trip in these modes on a machine.
pub fn measure_all(
    host: &HostArguments,
    machine: &MachineArguments,
    switches: &[Switch],
) -> Result<Idc> {
    let wall = !machine.icount;
    let unit = if wall { NANOSECONDS } else { INSTRUCTIONS };
    let mut record = empty(unit, &Machine::new(machine)?.cpu);
    for &switch in switches {
        let parts = prepare(
            host,
            &MachineArguments {
                switch,
                ..machine.clone()
            },
        )?;
        let title = format!("measure {}", switch.name());
        let text = said(&parts.boot, &title, &command(switch, wall), TIMEOUT)
            .with_context(|| format!("measuring {}", switch.name()))?;
        add(&mut record, switch, &parts, &text)?;
    }
    Ok(record)
}

/// Adds what the guest printed in a mode.
pub fn add(record: &mut Idc, switch: Switch, parts: &Parts, text: &str) -> Result<()> {
    record.linux.clone_from(&parts.kernel.release);
    let figures = &mut record.figures;
    if let Some(bare) = &parts.bare {
        let path = PathCost::of(&fs::read(&bare.inner)?, tlbi_pages(text))?;
        let cost = Cost {
            tcr_writes: Some(path.tcr_writes),
            isb: Some(path.isb),
            tlb_ops: Some(path.tlb_ops),
            ..cost("null_idc", text)?
        };
        figures.modes.insert(switch.name().into(), cost);
    }
    match switch {
        Switch::Asid => {
            // With a board's own tree there is no firmware: the boot stage answers at EL2.
            let firmware = parts.boot.device_tree.is_none();
            add_others(figures, firmware, text)?;
        }
        Switch::None => figures.null_syscall_native = Some(cost("null_syscall", text)?),
        Switch::Tlbi | Switch::Strict => (),
    }
    Ok(())
}

/// Adds what the null call is compared with.
pub fn add_others(figures: &mut Figures, has_firmware: bool, text: &str) -> Result<()> {
    figures.null_syscall = Some(cost("null_syscall", text)?);
    figures.function_call = Some(cost("function_call", text)?);
    figures.firmware_call = cost("firmware_call", text).ok().filter(|_| has_firmware);
    Ok(())
}

/// The moments of the samples that a guest printed under a name.
pub fn cost(name: &str, text: &str) -> Result<Cost> {
    let samples = Samples::named(name, text)?;
    let round = |value: f64| (value * 100.0).round() / 100.0;
    Ok(Cost {
        mean: round(samples.mean()),
        median: round(samples.median()),
        stddev: round(samples.standard_deviation()),
        ..Cost::default()
    })
}

const TIMEOUT: Duration = Duration::from_secs(300);

/// What the guest prints.
pub fn measure(boot: &Boot, switch: Switch, wall: bool) -> Result<String> {
    output_of(boot, &command(switch, wall), TIMEOUT)
}

/// What the guest runs.
pub fn command(switch: Switch, wall: bool) -> String {
    let (file, option) = if wall {
        ("bench_wall", " --wall")
    } else {
        ("bench", "")
    };
    let mut command = format!("donjon-bench{option} || exit 1\n");
    if switch != Switch::None {
        command.push_str("cd /sys/kernel/security/donjon || exit 1\n");
        command.push_str(&format!("cat status && cat {file}"));
    }
    command
}

/// Invalidations that the inner domain says it does on the way out.
fn tlbi_pages(text: &str) -> Option<usize> {
    text.lines()
        .find_map(|line| line.strip_prefix("tlbi_pages:"))?
        .trim()
        .parse()
        .ok()
}

/// What is said above the table.
fn title(unit: &str) -> &str {
    match unit {
        INSTRUCTIONS => "instructions (PMCCNTR_EL0 under -icount shift=0)",
        NANOSECONDS => "nanoseconds, QEMU wall time (emulator): no statement about hardware",
        CYCLES => "cycles of the board (PMCCNTR_EL0)",
        MODEL_CYCLES => "cycles of gem5's model of a core (PMCCNTR_EL0): no hardware",
        _ => unit,
    }
}

/// A row for each mode and operation.
fn rows(figures: &Figures) -> Table {
    let row = |name: String, it: &Cost| {
        let mut row = vec![name];
        row.extend([it.mean, it.median, it.stddev].map(|it| rounded(it, 1)));
        let path = [it.tcr_writes, it.isb, it.tlb_ops];
        row.extend(path.into_iter().flatten().map(|it| it.to_string()));
        row
    };
    let modes = figures.modes.iter();
    let modes = modes.map(|(mode, it)| row(format!("null IDC, {mode}"), it));
    let others = [
        ("null system call", &figures.null_syscall),
        ("function call", &figures.function_call),
        ("firmware call", &figures.firmware_call),
        ("null system call native", &figures.null_syscall_native),
    ];
    let others = others
        .into_iter()
        .filter_map(|(name, it)| Some(row(name.into(), it.as_ref()?)));
    let header = "operation|mean|median|stddev|TCR writes|ISBs|TLB ops".split('|');
    table(1, header, modes.chain(others))
}

impl Record for Idc {
    fn text(&self) -> String {
        let mut text = format!(
            "{}; {} samples on one CPU; {}, Linux {}\n{}",
            title(&self.unit),
            self.samples,
            self.cpu,
            self.linux,
            rows(&self.figures)
        );
        // The first core's figures are those above.
        for core in self.cores.iter().skip(1) {
            let (cpu, midr, table) = (core.cpu, &core.midr, rows(&core.figures));
            text += &format!("\n\nCPU {cpu}, MIDR_EL1 {midr}\n{table}");
        }
        for (name, target) in TARGETS.iter().filter(|_| self.unit == INSTRUCTIONS) {
            let median = self.figures.modes.get(*name).map(|it| it.median);
            if let Some(median) = median.filter(|it| it > target) {
                text +=
                    &format!("\nWARNING: {name} takes {median}, the target is at most {target}");
            }
        }
        text
    }
}
