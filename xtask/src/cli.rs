// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};
pub use donjon_machine::arguments::{MachineArguments, Switch};

use crate::image::arguments::{FlashCommand, ImageCommand};

/// Builds, runs, measures and tests Donjon.
#[derive(Parser, Debug)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Boot Linux over the inner domain in QEMU, building whatever is not built yet.
    Run(RunArguments),
    /// Boot and check from outside the guest which invariants hold; status 1 if one does not.
    Audit(AuditArguments),
    /// Attack the inner domain from a hostile kernel module, and each time again in a build
    /// without the protection; status 1 if an attack succeeds or a control does not.
    Attack(AttackArguments),
    /// Measure in QEMU.
    Bench(BenchCommand),
    /// Run the tests.
    Test(TestArguments),
    /// Run the kernel's own selftests, natively and over the inner domain.
    Kselftest(KselftestArguments),
    /// Make what a board starts from: the image of an SD card, or files.
    Image(ImageCommand),
    /// Write an SD card and compare what is on it; asks first.
    Flash(FlashCommand),
    /// Build Linux alone and say where it is.
    Kernel(KernelArguments),
    /// Write what is generated from kernel-patch/allow-list.toml, or show a kernel's instructions.
    AllowList(AllowListArguments),
    /// Write the C header for Linux and the call table of docs/idc.md from inner-domain/abi.
    Header {
        /// Only say whether they are current.
        #[arg(long)]
        check: bool,
    },
}

/// Where Linux comes from and whether the host may be changed.
#[derive(Args, Clone, Debug, Default)]
pub struct HostArguments {
    /// Only name what is missing on this host; install nothing.
    #[arg(long)]
    pub no_install: bool,
    /// Linux 6.12 source tree to use instead of Debian's package; it is copied, never changed.
    #[arg(long, value_name = "DIR", env = "LINUX_SRC")]
    pub linux: Option<PathBuf>,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArguments {
    /// The machine.
    #[command(flatten)]
    pub machine: MachineArguments,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
    /// Wait for gdb before the first instruction, and print the line that attaches it.
    #[arg(long, conflicts_with = "exec")]
    pub gdb: bool,
    /// Run a shell command in the guest, print its output alone, exit with its status.
    #[arg(long, value_name = "CMD")]
    pub exec: Option<String>,
    /// Image of a disk for the guest (/dev/vda). What the guest writes is dropped at its end.
    #[arg(long, value_name = "FILE")]
    pub disk: Option<PathBuf>,
    /// Seconds that a guest may take with --exec.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub timeout: u64,
}

/// Arguments of `audit`.
#[derive(Args, Debug)]
pub struct AuditArguments {
    /// The machine.
    #[command(flatten)]
    pub machine: MachineArguments,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
    /// When to look: `boot`, `load`, or so many seconds after boot or into the load [default:
    /// boot].
    #[arg(long, value_name = "MOMENT", num_args = 1..)]
    pub at: Vec<Moment>,
    /// Also write what was found to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Seconds that the guest may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub timeout: u64,
}

/// Arguments of `attack`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AttackArguments {
    /// What has options of its own.
    #[command(subcommand)]
    pub single: Option<AttackCommand>,
    /// Only these attacks, with spaces or commas between them.
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub only: Vec<String>,
    /// Only say which there are.
    #[arg(long)]
    pub list: bool,
    /// Also write the results to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// How the inner domain is entered.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Subcommands of `attack`.
#[derive(Subcommand, Debug)]
pub enum AttackCommand {
    /// Start the CPU at every word of gate and vectors with hostile registers and forged values,
    /// and look at each instruction; status 1 if one escapes.
    Gate(GateArguments),
    /// Write the table of attacks in docs/attacks.md.
    Table {
        /// Only fail if it is not what would be written.
        #[arg(long)]
        check: bool,
    },
}

/// Arguments of `attack gate`.
#[derive(Args, Debug)]
pub struct GateArguments {
    /// Switch modes, with spaces or commas between them.
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        num_args = 1..,
        value_delimiter = ',',
        default_values = ["asid", "strict", "tlbi"]
    )]
    pub modes: Vec<Switch>,
    /// Runs of each mode.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub runs: u64,
    /// Give up the rest of a mode after so many seconds of runs.
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<u64>,
    /// Make the runs of an earlier seed again.
    #[arg(long, value_name = "N", value_parser = number)]
    pub seed: Option<u64>,
    /// Also write what was found to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// A number as it is printed: decimal, or hexadecimal behind 0x.
fn number(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|error| error.to_string())
}

/// When an audit looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// At the end of boot.
    Boot,
    /// While processes come and go on all CPUs.
    Load,
    /// So many seconds later.
    Seconds(u64),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "boot" => Ok(Self::Boot),
            "load" => Ok(Self::Load),
            _ => text
                .parse()
                .map(Self::Seconds)
                .map_err(|_| "write `boot`, `load` or a number of seconds".to_owned()),
        }
    }
}

/// What `bench` does.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct BenchCommand {
    /// Measure what is recorded in docs/figures.json, LMBench in its short form; status 1 if a
    /// count has grown by more than 2 %.
    #[arg(long)]
    pub check: bool,
    /// Measure everything, and write docs/figures.json and the tables of the documentation.
    #[arg(long, conflicts_with = "check")]
    pub record: bool,
    /// Places of the stack in its page that LMBench is recorded for.
    #[arg(long, value_name = "N", default_value_t = 4, requires = "record", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub layouts: u32,
    /// What to measure instead.
    #[command(subcommand)]
    pub subject: Option<Subject>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Subjects of `bench`.
#[derive(Subcommand, Debug)]
pub enum Subject {
    /// The round trip of an inter-domain call in every switch mode.
    Idc(BenchArguments),
    /// Calls per operation, and the longest call of each function; status 1 if one is too long.
    Calls(CallsArguments),
    /// LMBench over the native kernel and in each switch mode.
    Lmbench(LmbenchArguments),
    /// Wall time of a fixed amount of work in QEMU, and 64 MiB in huge pages.
    Stress(StressArguments),
}

/// Arguments of `bench lmbench`.
#[derive(Args, Debug)]
pub struct LmbenchArguments {
    /// Machine, a recipe in qemu/.
    #[arg(long, default_value = "virt")]
    pub machine: String,
    /// CPU model.
    #[arg(long, default_value = "cortex-a57")]
    pub cpu: String,
    /// Switch modes to compare with native, with spaces or commas between them; `none` is native
    /// alone.
    #[arg(
        long,
        value_enum,
        value_name = "MODE",
        num_args = 1..,
        value_delimiter = ',',
        default_values = ["asid", "tlbi", "strict"]
    )]
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
    /// Run everything with the stack in so many places of its page.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub layouts: u32,
    /// Only rows with one of these in their names, with spaces or commas between them.
    #[arg(long, value_name = "ROW", num_args = 1.., value_delimiter = ',')]
    pub rows: Vec<String>,
    /// Also write the figures to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

impl LmbenchArguments {
    /// Everything as without an option.
    pub fn of_defaults(host: &HostArguments, layouts: u32) -> Self {
        Self {
            machine: "virt".into(),
            cpu: "cortex-a57".into(),
            switch: vec![Switch::Asid, Switch::Tlbi, Switch::Strict],
            wall: false,
            lmbench: None,
            own: false,
            layouts,
            rows: Vec::new(),
            json: None,
            host: host.clone(),
        }
    }
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
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',', default_values = ["asid", "tlbi", "strict"])]
    pub switch: Vec<Switch>,
    /// Also write the figures to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Arguments of `bench calls`.
#[derive(Args, Debug)]
pub struct CallsArguments {
    /// CPU model.
    #[arg(long, default_value = "cortex-a57")]
    pub cpu: String,
    /// How the inner domain is entered.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// Also write the figures to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
pub struct BenchArguments {
    /// CPU model.
    #[arg(long, default_value = "cortex-a57")]
    pub cpu: String,
    /// Also write the figures to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Wall time of the emulator instead of instructions.
    #[arg(long)]
    pub wall: bool,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Arguments of `kselftest`.
#[derive(Args, Debug)]
pub struct KselftestArguments {
    /// Run the programs whose names contain one of these.
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Only list the names.
    #[arg(long)]
    pub list: bool,
    /// What is compared with the native kernel; `none` shows that one alone.
    #[arg(long, value_enum, default_value = "asid")]
    pub switch: Switch,
    /// CPU model.
    #[arg(long, default_value = "cortex-a57")]
    pub cpu: String,
    /// Number of CPUs.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub cpus: u32,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Arguments of `test`.
#[derive(Args, Debug)]
pub struct TestArguments {
    /// Run the tests whose names contain one of these.
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Only list the names.
    #[arg(long)]
    pub list: bool,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Arguments of `kernel`.
#[derive(Args, Debug)]
pub struct KernelArguments {
    /// The kernel with the protection compiled out.
    #[arg(long)]
    pub native: bool,
    /// Only unpack and patch the source.
    #[arg(long)]
    pub source: bool,
    /// The host.
    #[command(flatten)]
    pub host: HostArguments,
}

/// Arguments of `allow-list`.
#[derive(Args, Debug)]
pub struct AllowListArguments {
    /// Only say whether the generated files are current; with a file, only whether it is clean.
    #[arg(long)]
    pub check: bool,
    /// List every instruction in a linked kernel's or module's code that the list decides.
    #[arg(long, value_name = "FILE")]
    pub vmlinux: Option<PathBuf>,
}
