// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench --serial DEVICE` and `--ssh USER@HOST`: the null call on a board, in cycles.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use donjon_builder::json;
use donjon_figures::records::idc::{Core, Figures, Idc};
use donjon_machine::arguments::Switch;
use donjon_machine::board::serial::Port;
use donjon_machine::board::session::{Session, Timeouts};
use donjon_machine::board::{Finished, ssh};

use crate::arguments::BoardArguments;
use crate::idc::{CYCLES, add_others, cost, empty};
use crate::show;

/// Statuses of [`COMMAND`]: no guest programs, they failed, no securityfs.
const NO_PROGRAM: u8 = 90;
const FAILED: u8 = 91;
const NO_FILES: u8 = 92;

/// What the board runs, on its first CPU and on the first one of each other type, if a CPU can be
/// chosen.
pub const COMMAND: &str = "\
command -v donjon-bench >/dev/null || exit 90
midr() { cat /sys/devices/system/cpu/cpu$1/regs/identification/midr_el1 2>/dev/null; }
kind=$(midr 0)
echo \"linux: $(uname -r)\"
echo \"midr: $kind\"
on=
if command -v taskset >/dev/null; then on='taskset 1'; echo 'cpu: 0'; fi
$on donjon-bench || exit 91
grep -q ' securityfs ' /proc/mounts ||
    mount -t securityfs securityfs /sys/kernel/security || exit 92
files=/sys/kernel/security/donjon
if [ -d $files ]; then
    cat $files/status && $on cat $files/bench || exit 91
fi
[ -n \"$on\" ] || exit 0
seen=\" $kind \"
cpu=0
while [ $cpu -lt 15 ]; do
    cpu=$((cpu + 1))
    kind=$(midr $cpu)
    [ -n \"$kind\" ] || continue
    case \"$seen\" in *\" $kind \"*) continue ;; esac
    seen=\"$seen$kind \"
    on=\"taskset $(printf %x $((1 << cpu)))\"
    echo \"core: $cpu $kind\"
    $on donjon-bench || exit 91
    [ ! -d $files ] || $on cat $files/bench || exit 91
done";

/// Measures on the board that the arguments name.
pub fn run(arguments: &BoardArguments) -> Result<()> {
    json::can_write(arguments.json.as_deref())?;
    let timeout = Duration::from_secs(arguments.timeout);
    let finished = match (&arguments.serial, &arguments.ssh) {
        (Some(device), _) => {
            let port = Port::open(device, arguments.baud)?;
            let mut session = Session::open(port, Timeouts::default())?;
            session.run(COMMAND, timeout)?
        }
        (None, Some(destination)) => ssh::run(destination, COMMAND, timeout)?,
        (None, None) => bail!("name the board with --serial DEVICE or --ssh USER@HOST"),
    };
    show(&record(&finished)?, arguments.json.as_deref())
}

/// Reads what the programs printed.
pub fn record(finished: &Finished) -> Result<Idc> {
    let errors = String::from_utf8_lossy(&finished.errors);
    match finished.status {
        0 => (),
        NO_PROGRAM => bail!(
            "the board has no program `donjon-bench` where its PATH leads; build it with `cargo \
             build --release --package donjon-guests --features guest --target \
             aarch64-unknown-linux-musl`, and copy it from the target directory to /usr/local/bin \
             of the board"
        ),
        FAILED => bail!(
            "the programs failed on the board: {}; they need root and the cycle counter (a `pmu` \
             node in the device tree)",
            errors.trim()
        ),
        NO_FILES => bail!(
            "securityfs is not mounted on the board, and cannot be: {}; log in as root",
            errors.trim()
        ),
        status => bail!("the board ended the programs with status {status}: {errors}"),
    }
    let text = String::from_utf8_lossy(&finished.output);
    let mut parts = text.split("\ncore: ");
    let first = parts.next().unwrap_or_default();
    let midr = value("midr", first);
    let cpu = midr
        .as_ref()
        .map_or("unknown CPU".to_owned(), |it| format!("MIDR_EL1 {it}"));
    let linux = value("linux", first).context("the board did not say which Linux it runs")?;
    let switch = match value("switch", first) {
        None => Switch::None,
        Some(name) => match Switch::from_str(&name, false) {
            Ok(Switch::None) => bail!("the board's inner domain has no mode"),
            Ok(switch) => switch,
            Err(error) => bail!("{error}"),
        },
    };
    let mut record = Idc {
        linux,
        figures: figures(first, switch)?,
        ..empty(CYCLES, &cpu)
    };
    let mut add = |midr: &str, cpu: u32, figures: Figures| {
        let midr = midr.to_owned();
        record.cores.push(Core { midr, cpu, figures });
    };
    if let (Some(midr), Some(cpu)) = (midr, value("cpu", first)) {
        let number = cpu.parse().context("the board's `cpu` is no number")?;
        add(&midr, number, figures(first, switch)?);
    }
    for part in parts {
        let line = part.lines().next().unwrap_or_default();
        let named = line.split_once(' ');
        let named = named.and_then(|(cpu, midr)| Some((cpu.parse().ok()?, midr)));
        let (cpu, midr) = named
            .with_context(|| format!("the board printed `core: {line}`, which names no CPU"))?;
        add(midr, cpu, figures(part, switch)?);
    }
    Ok(record)
}

/// What the first line `NAME: value` of the board says.
fn value(name: &str, text: &str) -> Option<String> {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.map(|it| it.trim().to_owned())
        .filter(|it| !it.is_empty())
}

/// The figures of one CPU.
fn figures(text: &str, switch: Switch) -> Result<Figures> {
    let mut figures = Figures::default();
    if switch == Switch::None {
        figures.null_syscall_native = Some(cost("null_syscall", text)?);
        return Ok(figures);
    }
    let null_idc = cost("null_idc", text)?;
    figures.modes.insert(switch.name().into(), null_idc);
    add_others(&mut figures, true, text)?;
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use donjon_figures::records::idc::Cost;

    use super::*;
    use crate::Record;

    fn samples(name: &str, value: u32) -> String {
        format!("{name}:{}\n", format!(" {value}").repeat(100))
    }

    fn finished(status: u8, output: String) -> Finished {
        let errors = b"donjon-bench: no cycle counter in user space: denied\n".to_vec();
        Finished {
            status,
            output: output.into_bytes(),
            errors,
        }
    }

    fn head() -> String {
        "linux: 6.12.100\nmidr: 0x00000000410fd034\n".to_owned() + &samples("null_syscall", 300)
    }

    #[test]
    fn a_protected_board_gives_the_record_of_the_emulator_in_cycles() {
        let more = "switch: strict\n".to_owned()
            + &samples("null_idc", 410)
            + &samples("function_call", 5);
        let record = record(&finished(0, head() + &more)).expect("a record");
        let json = serde_json::to_value(&record).expect("a document");
        assert_eq!(json["unit"], "cycles");
        assert_eq!(json["modes"]["strict"]["median"], 410.0);
        assert_eq!(json["null_syscall"]["median"], 300.0);
        assert_eq!(json["function_call"]["stddev"], 0.0);
        assert_eq!(json["cpu"], "MIDR_EL1 0x00000000410fd034");
        assert_eq!(json["linux"], "6.12.100");
        // Which CPU it was is not known without `taskset`.
        assert_eq!(json.get("cores"), None);
        assert!(record.text().contains("null IDC, strict"));
        assert!(!record.text().contains("WARNING"));
    }

    #[test]
    fn a_native_board_has_its_own_row() {
        let record = record(&finished(0, head())).expect("a record");
        assert_eq!(median(record.figures.null_syscall_native), Some(300.0));
        assert!(record.figures.modes.is_empty());
    }

    fn median(cost: Option<Cost>) -> Option<f64> {
        cost.map(|it| it.median)
    }

    #[test]
    fn each_type_of_core_has_figures_of_its_own() {
        let first = "linux: 6.12.100\nmidr: 0x411fd070\ncpu: 0\n".to_owned()
            + &samples("null_syscall", 300)
            + "switch: asid\ncpus: 6\n"
            + &samples("null_idc", 160)
            + &samples("function_call", 5);
        let second = "core: 2 0x410fd032\n".to_owned()
            + &samples("null_syscall", 700)
            + &samples("null_idc", 390)
            + &samples("function_call", 9);
        let record = record(&finished(0, first + &second)).expect("a record");
        let idc = |it: &Figures| it.modes["asid"].median;
        assert_eq!(idc(&record.figures), 160.0);
        assert_eq!(record.cpu, "MIDR_EL1 0x411fd070");
        assert!(record.text().contains("CPU 2, MIDR_EL1 0x410fd032"));
        let cores = record.cores.into_iter();
        let cores = cores.map(|it| {
            let costs = (idc(&it.figures), median(it.figures.null_syscall));
            (it.midr, it.cpu, costs)
        });
        let expected = [
            ("0x411fd070".into(), 0, (160.0, Some(300.0))),
            ("0x410fd032".into(), 2, (390.0, Some(700.0))),
        ];
        assert_eq!(cores.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_core_without_figures_is_an_error() {
        let broken = head() + "core: x\n";
        assert!(record(&finished(0, broken)).is_err());
        let cut = head() + "core: 2 0x410fd032\n";
        assert!(record(&finished(0, cut)).is_err());
    }

    #[test]
    fn what_the_board_lacks_is_named() {
        let refused = |status| match record(&finished(status, String::new())) {
            Ok(_) => panic!("{status} was accepted"),
            Err(error) => error.to_string(),
        };
        assert!(refused(NO_PROGRAM).contains("no program `donjon-bench`"));
        assert!(refused(FAILED).contains("no cycle counter in user space"));
        assert!(refused(NO_FILES).contains("log in as root"));
        assert!(refused(127).contains("status 127"));
        assert!(record(&finished(0, "linux: 6.12\n".into())).is_err());
    }
}
