// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attacks in a guest.
//!
//! The guest says `audit ATTACK ADDRESS` when an attack is over and waits until the word at that
//! physical address, which belongs to the module, has counted one up. So an audit sees what the
//! attack has left, however slow the host is. Attempts that no machine survives have a boot each.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use donjon_audit::{Report, Subject};
use donjon_builder::guest;
use donjon_builder::run::Parts;
use donjon_machine::finding::Finding;
use donjon_machine::gdb::Stub;
use donjon_machine::qemu::{self, Live, Patience, monitor};

use super::attempt::{Attack, Attempt, AttemptEnd};

/// The hostile module.
pub const MODULE: &str = "donjon_attack.ko";
/// For all attacks of a boot and their audits.
const TIMEOUT: Duration = Duration::from_secs(1800);
/// For an attempt that stops the machine, or hangs it: for the boot, which takes about two seconds
/// on a host that does nothing else, and from the attempt on.
const PATIENCE: Patience = Patience {
    total: Duration::from_secs(300),
    mark: Some(("attack: jumping", Duration::from_secs(10))),
};

/// Loads the module; addresses that it cannot know come from the kernel's own list.
const LOAD: &str = "\
address() { echo 0x$(grep \" $1\\$\" /proc/kallsyms | cut -d' ' -f1); }
insmod /lib/modules/donjon_attack.ko set_fixmap=$(address __set_fixmap) \
    ioremap=$(address generic_ioremap_prot) || exit 3
cd /sys/module/donjon_attack/parameters
seen=0
echo 0 >/proc/sys/kernel/panic_on_oops
# attack ATTACK ATTEMPT...
attack() {
    attack=$1
    shift
    dmesg -c >/dev/null
    for name in \"$@\"; do
        echo $attack/$name >run || echo \"attack $attack/$name: UNTRIED, the module has no such attempt\"
    done
    dmesg | grep \"attack $attack/\"
    echo audit $attack $(cat flag)
    seen=$((seen + 1))
    until [ \"$(cat seen)\" = $seen ]; do usleep 20000; done
    echo 1 >undo
}
";

/// What came of one attempt.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name.
    pub attempt: String,
    /// How it went.
    pub outcome: Outcome,
    /// What the guest says about it.
    pub text: String,
}

/// How an attempt went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It got nowhere.
    Stopped,
    /// The attacker has what they wanted.
    Succeeded,
    /// It was not made.
    Untried,
}

/// What came of an attack.
#[derive(Default)]
pub struct Tried {
    /// Of each attempt.
    pub attempts: Vec<Line>,
    /// What the auditor found afterwards; none if nothing was left to audit.
    pub report: Option<Report>,
}

/// Puts the module into the guest.
pub fn arm(parts: &mut Parts) -> Result<()> {
    let module = parts.kernel.modules.join(MODULE);
    let module = fs::read(&module).with_context(|| format!("reading {}", module.display()))?;
    let place = format!("lib/modules/{MODULE}");
    parts.boot.initramfs = guest::with_file(&parts.boot.initramfs, &place, &module)?;
    Ok(())
}

/// Carries one attempt out, and prints what the module says.
pub fn script(name: &str, value: u64) -> String {
    format!(
        "insmod /lib/modules/{MODULE} value={value:#x} || exit 3\n\
         echo {name} >/sys/module/donjon_attack/parameters/run || exit 4\n\
         dmesg | grep 'attack {name}:'\n"
    )
}

/// Carries attacks out one after the other, in one boot, and audits after each.
pub fn together(
    parts: &Parts,
    attacks: &[(&'static Attack, Vec<&'static Attempt>)],
) -> Result<BTreeMap<&'static str, Tried>> {
    let subject = Subject::of(parts)?;
    let mut script = LOAD.to_owned();
    for (attack, attempts) in attacks {
        let names: Vec<_> = attempts.iter().map(|it| it.name).collect();
        script.push_str(&format!("attack {} {}\n", attack.name, names.join(" ")));
    }
    script.push_str("exit 0\n");

    let mut said = String::new();
    let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    let mut reports: BTreeMap<String, Result<Report>> = BTreeMap::new();
    let status = qemu::exec_live(&parts.boot, &script, TIMEOUT, |live, _, bytes| {
        said.push_str(&String::from_utf8_lossy(bytes));
        while let Some((line, rest)) = said.split_once('\n') {
            if let Some((attack, line)) = spoken(line) {
                lines.entry(attack).or_default().push(line);
            } else if let Some((attack, flag)) = asked(line) {
                let count = reports.len() as u64 + 1;
                reports.insert(attack, look(&subject, live, flag, count));
            }
            said = rest.to_owned();
        }
    });
    let status = status.with_context(|| format!("the guest did not survive; it said {lines:?}"))?;
    if status != 0 {
        bail!("the guest's script failed ({status}); it said {lines:?}");
    }
    attacks
        .iter()
        .map(|(attack, _)| {
            let report = reports.remove(attack.name);
            let report = report.with_context(|| format!("no audit after {}", attack.name))??;
            let tried = Tried {
                attempts: lines.remove(attack.name).unwrap_or_default(),
                report: Some(report),
            };
            Ok((attack.name, tried))
        })
        .collect()
}

/// Makes one attempt that no machine survives, or that succeeds in this build. Fails if it does
/// neither: an end that is not the one of the row is not a protection's work.
pub fn alone(parts: &Parts, attack: &Attack, attempt: &Attempt) -> Result<Line> {
    let name = format!("{}/{}", attack.name, attempt.name);
    let script = script(&name, attempt.value.unwrap_or(0));
    let mut said = Vec::new();
    let end = qemu::exec(&parts.boot, &script, PATIENCE, |_, bytes| {
        said.extend(bytes)
    });
    match end {
        // It goes on, so it has to say why.
        Ok(status) => {
            let said = String::from_utf8_lossy(&said);
            let found = said.lines().find_map(spoken).map(|(_, line)| line);
            found.with_context(|| format!("the guest went on ({status}) without a word:\n{said}"))
        }
        Err(error) => {
            let text = format!("{error:#}");
            if text.contains("SUCCEEDED") {
                let text = format!("it succeeded, and the machine then failed: {text}");
                return Err(Finding::Attack.error(text));
            }
            match attempt.end {
                AttemptEnd::Panic => is_stop(&text)?,
                AttemptEnd::Hang => is_hang_at_vector(&text)?,
                AttemptEnd::Stopped(_) => bail!("the machine should have gone on: {text}"),
            }
            Ok(Line {
                attempt: attempt.name.to_owned(),
                outcome: Outcome::Stopped,
                text: attempt.end.mark().to_owned(),
            })
        }
    }
}

/// The inner domain stopped the machine after the jump.
fn is_stop(text: &str) -> Result<()> {
    ensure!(
        text.contains("donjon: PANIC") && text.contains("attack: jumping"),
        "not a stop by the inner domain: {text}"
    );
    Ok(())
}

/// The CPU stands at the vector for synchronous exceptions from EL1, which is the attack's own.
fn is_hang_at_vector(text: &str) -> Result<()> {
    ensure!(text.contains("the guest hung"), "not a hang: {text}");
    let after = |mark: &str| {
        let (_, rest) = text.split_once(mark)?;
        let digits = rest.split(|it: char| !it.is_ascii_hexdigit()).next()?;
        u64::from_str_radix(digits, 16).ok()
    };
    let vector = after("vectors at 0x").context("the attack did not say where the vectors are")?;
    let place = after(" PC=").context("QEMU gave no registers")?;
    ensure!(
        place == vector,
        "the CPU hangs at {place:#x}, not at the vector {vector:#x}: {text}"
    );
    Ok(())
}

/// `attack ATTACK/ATTEMPT: OUTCOME, TEXT` somewhere in a line.
fn spoken(line: &str) -> Option<(String, Line)> {
    let (_, rest) = line.split_once("attack ")?;
    let (name, rest) = rest.split_once(": ")?;
    let (attack, attempt) = name.split_once('/')?;
    let (outcome, text) = rest.split_once(", ")?;
    let outcome = match outcome {
        "stopped" => Outcome::Stopped,
        "SUCCEEDED" => Outcome::Succeeded,
        "UNTRIED" => Outcome::Untried,
        _ => return None,
    };
    let line = Line {
        attempt: attempt.to_owned(),
        outcome,
        text: text.trim().to_owned(),
    };
    Some((attack.to_owned(), line))
}

/// `audit ATTACK ADDRESS`.
fn asked(line: &str) -> Option<(String, u64)> {
    let (attack, flag) = line.trim().strip_prefix("audit ")?.split_once(' ')?;
    let flag = u64::from_str_radix(flag.strip_prefix("0x")?, 16).ok()?;
    Some((attack.to_owned(), flag))
}

/// Audits, then lets the guest go on.
fn look(subject: &Subject, live: &Live<'_>, flag: u64, count: u64) -> Result<Report> {
    let report = donjon_audit::live(subject, live, None);
    monitor::stop(live.monitor)?;
    let told = tell(live, flag, count);
    monitor::resume(live.monitor)?;
    told?;
    report.map(|(report, _)| report)
}

fn tell(live: &Live<'_>, flag: u64, count: u64) -> Result<()> {
    Stub::connect(live.gdb)?.write_physical(flag, &count.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_guests_tells_how_an_attempt_went() {
        let line = "[    2.28] attack D1/kernel-table: stopped, the store, it faulted";
        let (id, line) = spoken(line).expect("a line");
        assert_eq!((id.as_str(), line.attempt.as_str()), ("D1", "kernel-table"));
        assert_eq!(line.outcome, Outcome::Stopped);
        assert_eq!(line.text, "the store, it faulted");
        assert!(spoken("[ 2.3] attack: jumping to the entry write").is_none());
        assert!(spoken("attack D1/x: perhaps, who knows").is_none());
    }

    #[test]
    fn an_audit_is_asked_for_with_an_address() {
        assert_eq!(
            asked("audit B3 0x42d66000\r"),
            Some(("B3".into(), 0x42d6_6000))
        );
        assert_eq!(asked("audit B3"), None);
    }
}
