// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attacks in a guest.
//!
//! The guest says `audit ID ADDRESS` when an attack is over and waits until the word at that
//! physical address, which belongs to the module, has counted one up. So an audit sees what the
//! attack has left, however slow the host is.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::attempt::{Attack, Attempt, End};
use crate::audit::{self, Report, Subject};
use crate::gdb::Stub;
use crate::guest;
use crate::qemu::{self, Live, monitor};
use crate::run::Parts;

/// The hostile module.
pub const MODULE: &str = "donjon_attack.ko";
/// For all attacks of a boot and their audits.
const TIMEOUT: Duration = Duration::from_secs(300);
/// For an attempt that stops the machine, or hangs it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Loads the module; addresses that it cannot know come from the kernel's own list.
const LOAD: &str = "\
address() { echo 0x$(grep \" $1\\$\" /proc/kallsyms | cut -d' ' -f1); }
insmod /lib/modules/donjon_attack.ko set_fixmap=$(address __set_fixmap) || exit 3
cd /sys/module/donjon_attack/parameters
seen=0
echo 0 >/proc/sys/kernel/panic_on_oops
# attack ID ATTEMPT...
attack() {
    id=$1
    shift
    dmesg -c >/dev/null
    for name in \"$@\"; do
        echo $id/$name >run || echo \"attack $id/$name: UNTRIED, the module has no such attempt\"
    done
    dmesg | grep \"attack $id/\"
    echo audit $id $(cat flag)
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

/// Carries attacks out one after the other, in one boot, and audits after each.
pub fn together(
    parts: &Parts,
    attacks: &[(&'static Attack, Vec<&'static Attempt>)],
) -> Result<BTreeMap<&'static str, Tried>> {
    let subject = Subject::of(parts)?;
    let mut script = LOAD.to_owned();
    for (attack, attempts) in attacks {
        let names: Vec<_> = attempts.iter().map(|it| it.name).collect();
        script.push_str(&format!("attack {} {}\n", attack.id, names.join(" ")));
    }
    script.push_str("exit 0\n");

    let mut said = String::new();
    let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    let mut reports: BTreeMap<String, Result<Report>> = BTreeMap::new();
    let status = qemu::exec_live(&parts.boot, &script, TIMEOUT, |live, _, bytes| {
        said.push_str(&String::from_utf8_lossy(bytes));
        while let Some((line, rest)) = said.split_once('\n') {
            if let Some((id, line)) = spoken(line) {
                lines.entry(id).or_default().push(line);
            } else if let Some((id, flag)) = asked(line) {
                let count = reports.len() as u64 + 1;
                reports.insert(id, look(&subject, live, flag, count));
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
            let report = reports.remove(attack.id);
            let report = report.with_context(|| format!("no audit after {}", attack.id))??;
            let tried = Tried {
                attempts: lines.remove(attack.id).unwrap_or_default(),
                report: Some(report),
            };
            Ok((attack.id, tried))
        })
        .collect()
}

/// Makes one attempt that stops the machine.
pub fn alone(parts: &Parts, attack: &Attack, attempt: &Attempt) -> Result<Line> {
    let End::Machine(mark) = attempt.end else {
        bail!(
            "the attempt {}/{} stops no machine",
            attack.id,
            attempt.name
        );
    };
    let name = format!("{}/{}", attack.id, attempt.name);
    let script = format!("{LOAD}echo {name} >run; dmesg | grep 'attack {name}:'\n");
    let mut said = Vec::new();
    let status = qemu::exec(&parts.boot, &script, PATIENCE, |_, bytes| {
        said.extend(bytes)
    });
    let said = String::from_utf8_lossy(&said).into_owned();
    let line = |outcome, text| Line {
        attempt: attempt.name.to_owned(),
        outcome,
        text,
    };
    match status {
        // It goes on, so it has to say why.
        Ok(_) => {
            let found = said.lines().find_map(spoken).map(|(_, line)| line);
            found.with_context(|| format!("{name} ended without a word: {said}"))
        }
        Err(error) => {
            let text = format!("{error:#}");
            let spoke = text.lines().find_map(spoken).map(|(_, line)| line);
            match spoke.filter(|it| it.outcome == Outcome::Succeeded) {
                Some(line) => Ok(line),
                None if text.contains(mark) => Ok(line(Outcome::Stopped, mark.to_owned())),
                None => bail!("{name} ended otherwise than by `{mark}`: {text}"),
            }
        }
    }
}

/// `attack ID/NAME: OUTCOME, TEXT` somewhere in a line.
fn spoken(line: &str) -> Option<(String, Line)> {
    let (_, rest) = line.split_once("attack ")?;
    let (name, rest) = rest.split_once(": ")?;
    let (id, attempt) = name.split_once('/')?;
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
    Some((id.to_owned(), line))
}

/// `audit ID ADDRESS`.
fn asked(line: &str) -> Option<(String, u64)> {
    let (id, flag) = line.trim().strip_prefix("audit ")?.split_once(' ')?;
    let flag = u64::from_str_radix(flag.strip_prefix("0x")?, 16).ok()?;
    Some((id.to_owned(), flag))
}

/// Audits, then lets the guest go on.
fn look(subject: &Subject, live: &Live<'_>, flag: u64, count: u64) -> Result<Report> {
    let report = audit::live(subject, live, None);
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
