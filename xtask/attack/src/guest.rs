// SPDX-License-Identifier: MIT OR Apache-2.0
//! Attacks in a guest.
//!
//! The guest says `audit ATTACK ADDRESS` when an attack is over and waits until the word at that
//! physical address, which belongs to the module, has counted one up. So an audit sees what the
//! attack has left, however slow the host is. Attempts that no machine survives have a boot each.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use donjon_audit::{Report, Subject};
use donjon_builder::guest;
use donjon_builder::run::Parts;
use donjon_machine::finding::{Finding, INNER_PANIC, SUCCEEDED};
use donjon_machine::gdb::Stub;
use donjon_machine::qemu::{self, Live, Timeout, monitor};

use super::attempt::{Attack, Attempt, AttemptEnd};

/// The hostile module.
pub const MODULE: &str = "donjon_attack.ko";
/// For all attacks of a boot and their audits.
const TIMEOUT: Duration = Duration::from_secs(1800);
/// What the console says before an attempt that no machine survives.
const JUMPING: &str = "attack: jumping";
/// For an attempt that stops the machine, or hangs it: for the boot, which takes about two seconds
/// on a host that does nothing else, and from the attempt on.
const END_TIMEOUT: Timeout = Timeout {
    total: Duration::from_secs(300),
    mark: Some((JUMPING, Duration::from_secs(10))),
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
    /// Name of the attempt.
    pub attempt: String,
    /// How it went.
    pub outcome: Outcome,
    /// What the guest says about it.
    pub text: String,
}

/// How an attempt went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The attempt got nowhere.
    Stopped,
    /// The attacker has what they wanted.
    Succeeded,
    /// The attempt was not made.
    Untried,
}

/// What came of an attack.
#[derive(Default)]
pub struct Tried {
    /// Results of the attempts.
    pub attempts: Vec<Line>,
    /// What the auditor found afterwards; none if nothing was left to audit.
    pub report: Option<Report>,
}

/// An attempt that succeeded, or a violation: what it is, and in words.
pub type Found = (Finding, String);

/// The first attempt that succeeded, or what an audit found.
pub fn found<'a>(
    lines: impl IntoIterator<Item = &'a Line>,
    reports: impl IntoIterator<Item = &'a Report>,
) -> Option<Found> {
    let mut lines = lines.into_iter();
    if let Some(line) = lines.find(|it| it.outcome == Outcome::Succeeded) {
        let text = format!("{} succeeded: {}", line.attempt, line.text);
        return Some((Finding::Attack, text));
    }
    let mut reports = reports.into_iter();
    let report = reports.find(|it| !it.violations.is_empty())?;
    Some((Finding::Violation, report.to_string()))
}

/// The error of a sound build. What was found before it counts, and so does what it quotes of the
/// module.
pub fn after(found: Option<Found>, error: Error) -> Error {
    let text = format!("{error:#}");
    match found {
        Some((finding, what)) => finding.error(format!("{what}\nand then: {text}")),
        None if text.contains(SUCCEEDED) => Finding::Attack.error(text),
        None => error,
    }
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

/// What was heard of a guest, and found in it.
#[derive(Default)]
struct Heard {
    /// By attack.
    lines: BTreeMap<String, Vec<Line>>,
    reports: BTreeMap<String, Result<Report>>,
}

impl Heard {
    fn found(&self) -> Option<Found> {
        let lines = self.lines.values().flatten();
        found(lines, self.reports.values().flatten())
    }

    /// By attack, if the guest came to its end and every audit was made.
    fn tried(
        mut self,
        names: impl Iterator<Item = &'static str>,
        status: Result<u8>,
    ) -> Result<BTreeMap<&'static str, Tried>> {
        let lines = &self.lines;
        let status =
            status.with_context(|| format!("the guest did not survive; it said {lines:?}"))?;
        if status != 0 {
            bail!("the guest's script failed ({status}); it said {lines:?}");
        }
        names
            .map(|name| {
                let report = self.reports.remove(name);
                let report = report.with_context(|| format!("no audit after {name}"))??;
                let tried = Tried {
                    attempts: self.lines.remove(name).unwrap_or_default(),
                    report: Some(report),
                };
                Ok((name, tried))
            })
            .collect()
    }
}

/// Carries attacks out one after the other, in one boot, and audits after each. If that fails in a
/// `sound` build, what was found until then comes first.
pub fn together(
    parts: &Parts,
    attacks: &[(&'static Attack, Vec<&'static Attempt>)],
    sound: bool,
) -> Result<BTreeMap<&'static str, Tried>> {
    let subject = Subject::of(parts)?;
    let mut script = LOAD.to_owned();
    for (attack, attempts) in attacks {
        let names: Vec<_> = attempts.iter().map(|it| it.name).collect();
        script.push_str(&format!("attack {} {}\n", attack.name, names.join(" ")));
    }
    script.push_str("exit 0\n");

    let mut said = String::new();
    let mut heard = Heard::default();
    let status = qemu::exec_live(&parts.boot, &script, TIMEOUT, |live, _, bytes| {
        said.push_str(&String::from_utf8_lossy(bytes));
        while let Some((line, rest)) = said.split_once('\n') {
            if let Some((attack, line)) = spoken(line) {
                heard.lines.entry(attack).or_default().push(line);
            } else if let Some((attack, flag)) = asked(line) {
                let count = heard.reports.len() as u64 + 1;
                let report = look(&subject, live, flag, count);
                heard.reports.insert(attack, report);
            }
            said = rest.to_owned();
        }
    });
    // The last line of a guest that ended in the middle of it.
    if let Some((attack, line)) = spoken(&said) {
        heard.lines.entry(attack).or_default().push(line);
    }
    let found = heard.found();
    let tried = heard.tried(attacks.iter().map(|(attack, _)| attack.name), status);
    tried.map_err(|error| if sound { after(found, error) } else { error })
}

/// Makes one attempt that no machine survives, or that succeeds in this build. Fails if it does
/// neither: an end that is not the one of the row is not a protection's work, and in a `sound`
/// build it is a finding.
pub fn alone(parts: &Parts, attack: &Attack, attempt: &Attempt, sound: bool) -> Result<Line> {
    let name = format!("{}/{}", attack.name, attempt.name);
    let script = script(&name, attempt.value.unwrap_or(0));
    let mut said = Vec::new();
    let end = qemu::exec(&parts.boot, &script, END_TIMEOUT, |_, bytes| {
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
            let text = format!("{error:#}\n{}", String::from_utf8_lossy(&said));
            is_end(attempt.end, &text).map_err(|other| other.error(sound))?;
            Ok(Line {
                attempt: attempt.name.to_owned(),
                outcome: Outcome::Stopped,
                text: attempt.end.mark().to_owned(),
            })
        }
    }
}

/// An end that is not the one of the row.
#[derive(Debug)]
struct OtherEnd {
    text: String,
    /// Whether the end is the attempt's doing: nothing of it can be put down to a host that is
    /// slow.
    tells: bool,
}

impl OtherEnd {
    fn error(self, sound: bool) -> Error {
        if sound && self.tells {
            Finding::Attack.error(self.text)
        } else {
            anyhow!(self.text)
        }
    }
}

/// Whether a machine that failed with this text did so in the way of the row.
fn is_end(end: AttemptEnd, text: &str) -> Result<(), OtherEnd> {
    let made = text.contains(JUMPING);
    let hung = text.contains("the guest hung");
    let other = |tells: bool, what: String| {
        let text = format!("{what}: {text}");
        Err(OtherEnd { text, tells })
    };
    if text.contains(SUCCEEDED) {
        return other(true, "it succeeded, and the machine then failed".into());
    }
    match end {
        AttemptEnd::Stopped(_) | AttemptEnd::Withheld => {
            other(made, "the machine should have gone on".into())
        }
        AttemptEnd::Panic if made && text.contains(INNER_PANIC) => Ok(()),
        AttemptEnd::Panic => other(made && !hung, "not a stop by the inner domain".into()),
        AttemptEnd::Hang if !hung => other(made, "not a hang".into()),
        // The CPU has to stand at the vector for synchronous exceptions from EL1, the attack's own.
        AttemptEnd::Hang => match (number(text, "vectors at 0x"), number(text, " PC=")) {
            (Some(vector), Some(place)) if vector == place => Ok(()),
            (Some(vector), Some(place)) => other(
                made,
                format!("the CPU hangs at {place:#x}, not at the vector {vector:#x}"),
            ),
            (None, _) => other(false, "the attack did not say where the vectors are".into()),
            (_, None) => other(false, "QEMU gave no registers".into()),
        },
    }
}

/// The hexadecimal number behind a mark.
fn number(text: &str, mark: &str) -> Option<u64> {
    let (_, rest) = text.split_once(mark)?;
    let digits = rest.split(|it: char| !it.is_ascii_hexdigit()).next()?;
    u64::from_str_radix(digits, 16).ok()
}

/// `attack ATTACK/ATTEMPT: OUTCOME, TEXT` somewhere in a line.
fn spoken(line: &str) -> Option<(String, Line)> {
    let (_, rest) = line.split_once("attack ")?;
    let (name, rest) = rest.split_once(": ")?;
    let (attack, attempt) = name.split_once('/')?;
    let (outcome, text) = rest.split_once(", ")?;
    let outcome = match outcome {
        "stopped" => Outcome::Stopped,
        SUCCEEDED => Outcome::Succeeded,
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
    use donjon_audit::Violation;

    use super::*;

    fn heard(outcome: Outcome, report: Result<Report>) -> Heard {
        let line = Line {
            attempt: "kernel-table".into(),
            outcome,
            text: "the store".into(),
        };
        Heard {
            lines: BTreeMap::from([("D1".to_owned(), vec![line])]),
            reports: BTreeMap::from([("D1".to_owned(), report)]),
        }
    }

    fn violated() -> Report {
        Report {
            violations: vec![Violation::plain("I3", "Linux", "it is writable".into())],
            ..Report::default()
        }
    }

    /// What was found in a sound build.
    fn finding(heard: Heard, status: Result<u8>) -> Option<Finding> {
        let found = heard.found();
        let tried = heard.tried(["D1", "D2"].into_iter(), status);
        Finding::of(&after(found, tried.err().expect("an error")))
    }

    #[test]
    fn what_was_found_comes_before_what_failed() {
        for end in [|| Ok(0), || Ok(3), || Err(anyhow!("no status"))] {
            let succeeded = heard(Outcome::Succeeded, Err(anyhow!("no registers")));
            assert_eq!(finding(succeeded, end()), Some(Finding::Attack));
            let violation = heard(Outcome::Stopped, Ok(violated()));
            assert_eq!(finding(violation, end()), Some(Finding::Violation));
            let nothing = heard(Outcome::Stopped, Ok(Report::default()));
            assert_eq!(finding(nothing, end()), None);
        }
        let quoted = Err(anyhow!("console: attack D1/x: SUCCEEDED, the store"));
        let untold = heard(Outcome::Stopped, Ok(Report::default()));
        assert_eq!(finding(untold, quoted), Some(Finding::Attack));
    }

    #[test]
    fn another_end_of_a_sound_build_is_a_finding_once_the_attempt_was_made() {
        let end = |end, text: &str, sound| {
            let error = is_end(end, text).expect_err("another end").error(sound);
            Finding::of(&error)
        };
        let jumped = "attack: jumping to the entry write, vectors at 0xffff800080010a00\n";
        let at = |place: &str| format!("the guest hung\n{jumped} PC={place} X00=0");
        let there = at("ffff800080010a00");
        assert!(is_end(AttemptEnd::Hang, &there).is_ok());
        assert!(is_end(AttemptEnd::Panic, &format!("{jumped}{INNER_PANIC}")).is_ok());

        let elsewhere = at("ffff800080001000");
        let attack = Some(Finding::Attack);
        assert_eq!(end(AttemptEnd::Hang, &elsewhere, true), attack);
        assert_eq!(end(AttemptEnd::Hang, &elsewhere, false), None);
        assert_eq!(end(AttemptEnd::Stopped("refused"), &there, true), attack);
        let oops = format!("{jumped}the guest panicked");
        assert_eq!(end(AttemptEnd::Panic, &oops, true), attack);
        assert_eq!(end(AttemptEnd::Hang, &oops, true), attack);
        assert_eq!(end(AttemptEnd::Panic, &oops, false), None);
        let succeeded = format!("{oops}: attack D1/x: SUCCEEDED, it ran");
        assert_eq!(end(AttemptEnd::Panic, &succeeded, true), attack);
        assert_eq!(end(AttemptEnd::Panic, &succeeded, false), None);

        // What a slow host does as well.
        assert_eq!(end(AttemptEnd::Hang, "the guest hung", true), None);
        assert_eq!(
            end(AttemptEnd::Stopped("refused"), "the guest hung", true),
            None
        );
        assert_eq!(end(AttemptEnd::Panic, &there, true), None);
    }

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
