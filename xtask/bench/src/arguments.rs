// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of `cargo xtask bench`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use donjon_builder::arguments::HostArguments;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_machine::arguments::{Switch, VIRT};
use donjon_machine::gem5::Gem5Arguments;

use crate::compartments::libraries;
use crate::{Record, show};

/// Modes that are measured unless others are named.
const MODES: [&str; 3] = ["asid", "tlbi", "strict"];

/// Arguments of most subjects: where figures go, and the host.
#[derive(Args, Clone, Debug)]
pub struct Output {
    /// Also write the figures to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

impl Output {
    /// Makes the arguments for a host, without a file.
    pub fn on(host: &HostArguments) -> Self {
        Self {
            json: None,
            host: host.clone(),
        }
    }

    /// Prepares a measurement: the file can be written, and the host has what a boot needs.
    pub fn prepare(&self) -> Result<()> {
        json::can_write(self.json.as_deref())?;
        environment::prepare(&self.host, Needs::default())
    }

    /// Shows a record, and writes its document if there is a file for it.
    pub fn show(&self, record: &impl Record) -> Result<()> {
        show(record, self.json.as_deref())
    }
}

/// What `bench` does.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct BenchCommand {
    /// Measure what is recorded in docs/figures.json, LMBench in its short form; status 1 if a
    /// count has grown by more than 2 %, or one of instructions inside by more than 6 %.
    #[arg(long)]
    pub check: bool,
    /// Measure everything, and write docs/figures.json and the tables of the documentation.
    #[arg(long, conflicts_with = "check")]
    pub record: bool,
    /// Places of the stack in its page that LMBench is recorded for.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "record", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub layouts: u32,
    /// Forget what an interrupted run of LMBench has measured, and begin anew.
    #[arg(long, requires = "record")]
    pub fresh: bool,
    /// A board.
    #[command(flatten)]
    pub board: BoardArguments,
    /// What to measure instead.
    #[command(subcommand)]
    pub subject: Option<Subject>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Arguments of `bench` for a board.
#[derive(Args, Debug)]
pub struct BoardArguments {
    /// Measure on a board that has a shell of root at this serial port, in cycles.
    #[arg(long, value_name = "DEVICE", group = "way", conflicts_with_all = ["check", "record"])]
    pub serial: Option<PathBuf>,
    /// Speed of the serial port.
    #[arg(long, value_name = "N", default_value_t = 115_200, requires = "serial")]
    pub baud: u32,
    /// Measure on a board that ssh reaches, in cycles.
    #[arg(long, value_name = "USER@HOST", group = "way", conflicts_with_all = ["check", "record"])]
    pub ssh: Option<String>,
    /// Also write the figures of the board to a file.
    #[arg(long, value_name = "FILE", requires = "way")]
    pub json: Option<PathBuf>,
    /// Seconds that the board may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "way")]
    pub timeout: u64,
}

impl BoardArguments {
    /// Whether a board is named.
    pub fn is_some(&self) -> bool {
        self.serial.is_some() || self.ssh.is_some()
    }
}

/// Subjects of `bench`.
#[derive(Subcommand, Debug)]
pub enum Subject {
    /// The round trip of an inter-domain call in every switch mode.
    Idc(BenchArguments),
    /// Calls per operation, and the longest call of each function; status 1 if one is too long.
    Calls(CallsArguments),
    /// Compartments against processes: how many, messages, memory, computing, who can read them.
    Compartments(CompartmentsArguments),
    /// What transfers cost behind the SMMU and by USB; status 1 above 0.5 % and 50 %.
    Dma(Output),
    /// Flow attestation: programs in processes and compartments, with instrumentation and without.
    Flow(FlowArguments),
    /// LMBench over the native kernel and in each switch mode.
    Lmbench(LmbenchArguments),
    /// Real programs of Debian's, over the native kernel and in each switch mode.
    Programs(ProgramsArguments),
    /// How cost grows with pages, CPUs and RAM; status 1 if it grows faster than the work.
    Scale(ScaleArguments),
    /// Wall time of a fixed amount of work in QEMU, and 64 MiB in huge pages.
    Stress(StressArguments),
}

/// Arguments of `bench flow`.
#[derive(Args, Debug)]
pub struct FlowArguments {
    /// What to measure; everything if nothing is named.
    #[arg(value_enum)]
    pub part: Option<FlowPart>,
    /// One short run of each program.
    #[arg(long)]
    pub quick: bool,
    /// Also write the figures to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also write the figures of the programs as values with commas between them.
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Parts of `bench flow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FlowPart {
    /// Fifteen programs in four builds, and with all that a host does.
    Fig5,
    /// What hashing the log takes.
    Hash,
    /// What a segment of the log takes.
    Log,
}

/// Arguments of `bench lmbench`.
#[derive(Args, Debug)]
pub struct LmbenchArguments {
    /// Machine, a recipe in qemu/, or `gem5`.
    #[arg(long, default_value = "virt")]
    pub machine: String,
    /// CPU model [default: cortex-a57, in gem5 minor].
    #[arg(long)]
    pub cpu: Option<String>,
    /// Memory of the machine `gem5` [default: 512M]. Mode `tlbi` invalidates by address where it is
    /// in whole GiB.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// gem5.
    #[command(flatten)]
    pub gem5: Gem5Arguments,
    /// Switch modes to compare with native, with spaces or commas between them; `none` is native
    /// alone.
    #[arg(long, value_enum, value_name = "MODE", num_args = 1.., value_delimiter = ',', default_values = MODES)]
    pub switch: Vec<Switch>,
    /// Wall time of the emulator instead of instructions.
    #[arg(long)]
    pub wall: bool,
    /// Programs of LMBench for arm64 in place of Debian's: static, or with their loader and
    /// libraries in DIR or in Debian's C library.
    #[arg(long, value_name = "DIR", conflicts_with = "own")]
    pub lmbench: Option<PathBuf>,
    /// Our own programs in place of LMBench's.
    #[arg(long)]
    pub own: bool,
    /// Run everything with the stack in N places of its page.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub layouts: u32,
    /// Only rows with one of these in their names, with spaces or commas between them.
    #[arg(long, value_name = "ROW", num_args = 1.., value_delimiter = ',')]
    pub rows: Vec<String>,
    /// Forget what an interrupted run has measured, and begin anew.
    #[arg(long)]
    pub fresh: bool,
    /// The figures and the host.
    #[command(flatten)]
    pub output: Output,
}

impl LmbenchArguments {
    /// Everything as without another option.
    pub fn of_defaults(host: &HostArguments, layouts: u32, fresh: bool) -> Self {
        Self {
            machine: VIRT.into(),
            cpu: None,
            memory: None,
            gem5: Gem5Arguments::default(),
            switch: vec![Switch::Asid, Switch::Tlbi, Switch::Strict],
            wall: false,
            lmbench: None,
            own: false,
            layouts,
            rows: Vec::new(),
            fresh,
            output: Output::on(host),
        }
    }
}

/// Arguments of `bench programs`.
#[derive(Args, Clone, Debug)]
pub struct ProgramsArguments {
    /// Switch modes to compare with native, with spaces or commas between them.
    #[arg(long, value_enum, value_name = "MODE", num_args = 1.., value_delimiter = ',', default_values = MODES)]
    pub switch: Vec<Switch>,
    /// Only programs with one of these in their names.
    #[arg(long, value_name = "WORD", num_args = 1.., value_delimiter = ',')]
    pub only: Vec<String>,
    /// Forget what an interrupted run has measured, and begin anew.
    #[arg(long)]
    pub fresh: bool,
    /// The figures and the host.
    #[command(flatten)]
    pub output: Output,
}

/// `bench stress`
#[derive(Args, Clone, Debug)]
pub struct StressArguments {
    /// CPUs that work at a time.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub cpus: u32,
    /// How much work.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub times: u32,
    /// Modes to compare with the native kernel.
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',', default_values = MODES)]
    pub switch: Vec<Switch>,
    /// The figures and the host.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `bench scale`.
#[derive(Args, Clone, Debug)]
pub struct ScaleArguments {
    /// Modes to compare with the native kernel, with spaces or commas between them.
    #[arg(long, value_enum, value_name = "MODE", num_args = 1.., value_delimiter = ',', default_values = ["asid"])]
    pub switch: Vec<Switch>,
    /// Only what has one of these in its name: map, unmap, protect, read, fork, cpus, memory, boot,
    /// longest.
    #[arg(long, value_name = "WORD", num_args = 1.., value_delimiter = ',')]
    pub only: Vec<String>,
    /// Without the largest sizes, more than two CPUs, more than 1 GiB, and the longest calls.
    #[arg(long)]
    pub quick: bool,
    /// Forget what an interrupted run has measured, and begin anew.
    #[arg(long)]
    pub fresh: bool,
    /// The figures and the host.
    #[command(flatten)]
    pub output: Output,
}

impl ScaleArguments {
    /// The short form in the default mode, of what does not depend on how busy the host is.
    pub fn quick(host: &HostArguments) -> Self {
        let only = ["map", "protect", "read", "fork", "memory", "boot"];
        Self {
            switch: vec![Switch::Asid],
            only: only.map(Into::into).into(),
            quick: true,
            fresh: false,
            output: Output::on(host),
        }
    }
}

/// What `bench compartments` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// Many compartments at once.
    Number,
    /// Messages of 1024 bytes.
    Pipe,
    /// Blocks of memory.
    Memory,
    /// Loops that compute.
    Cpu,
    /// Calls of one that does nothing, and wiping.
    Call,
    /// Who can read the memory of compartments and of processes.
    Trust,
    /// A search of all memory while two libraries exchange messages.
    Libraries,
}

impl Experiment {
    /// Name of the experiment.
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or(String::new(), |it| it.get_name().to_owned())
    }
}

/// Arguments of `bench compartments`.
#[derive(Args, Clone, Debug)]
pub struct CompartmentsArguments {
    /// What to measure [default: everything].
    #[arg(value_enum, value_name = "EXPERIMENT")]
    pub experiments: Vec<Experiment>,
    /// Fewer compartments, less memory and fewer rounds.
    #[arg(long)]
    pub quick: bool,
    /// Seconds that compartments are searched for messages [default: 3600, with --quick 60].
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,
    /// Also write the figures to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also write tables with commas to files in a folder.
    #[arg(long, value_name = "DIR")]
    pub csv: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

impl CompartmentsArguments {
    /// The short form of what is quick.
    pub fn quick(host: &HostArguments) -> Self {
        Self {
            experiments: vec![Experiment::Number, Experiment::Pipe],
            quick: true,
            seconds: None,
            json: None,
            csv: None,
            host: host.clone(),
        }
    }

    /// Seconds of `libraries`.
    pub(crate) fn seconds(&self) -> u64 {
        let (short, full) = libraries::SECONDS;
        self.seconds
            .unwrap_or(if self.quick { short } else { full })
    }
}

/// Arguments of `bench calls`.
#[derive(Args, Debug)]
pub struct CallsArguments {
    /// Machine, a recipe in qemu/.
    #[arg(long, default_value = VIRT)]
    pub machine: String,
    /// CPU model [default: cortex-a57 on virt, else the recipe's].
    #[arg(long)]
    pub cpu: Option<String>,
    /// How the inner domain is entered.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// The figures and the host.
    #[command(flatten)]
    pub output: Output,
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
pub struct BenchArguments {
    /// Machine, a recipe in qemu/, or `gem5`.
    #[arg(long, default_value = VIRT)]
    pub machine: String,
    /// CPU model [default: cortex-a57 on virt, else the recipe's].
    #[arg(long)]
    pub cpu: Option<String>,
    /// Also write the figures to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Wall time of the emulator instead of instructions.
    #[arg(long)]
    pub wall: bool,
    /// Memory of the machine `gem5` [default: 512M]. Mode `tlbi` invalidates by address where it is
    /// in whole GiB.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// gem5.
    #[command(flatten)]
    pub gem5: Gem5Arguments,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}
