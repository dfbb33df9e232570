// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask audit`.

use std::time::Duration;

use anyhow::{Result, ensure};
use donjon_auditor::UNSEEN;
use donjon_builder::bare::InnerVariant;
use donjon_builder::environment::{self, Needs};
use donjon_builder::json;
use donjon_builder::progress::Step;
use donjon_builder::run;
use donjon_figures::records::audit::{Audit, Once, Sight, Violation};
use donjon_machine::machine::Machine;
use donjon_machine::qemu;

use super::{Report, Sizes, Subject, live};
use crate::arguments::{AuditArguments, Moment};

/// What the guest says when a moment has come.
const MARK: &str = "audit: ";
/// Seconds of load before `--at load` looks.
const WARM: u64 = 2;
/// Processes, files and mappings that come and go, on more CPUs than there are.
const LOAD: &str = "\
for worker in 1 2 3 4 5 6; do
    while :; do
        sh -c 'ls -R /sys/kernel; cat /proc/self/maps; dd if=/dev/zero of=/tmp/$$ bs=64k count=16
               cp /tmp/$$ /tmp/$$.copy; rm -f /tmp/$$ /tmp/$$.copy; true | cat | cat'
    done >/dev/null 2>&1 &
done
";

/// Boots and audits; returns the exit status.
pub fn run(arguments: &AuditArguments) -> Result<u8> {
    json::can_write(arguments.json.as_deref())?;
    let machine = Machine::new(&arguments.machine)?;
    environment::prepare(&arguments.host, Needs::default())?;
    let variant = InnerVariant::sound(machine.switch);
    let parts = run::prepare(&arguments.host, machine, &variant)?;
    let subject = Subject::of(&parts)?;
    let moments = in_order(&arguments.at);
    let mut step = Some(Step::spinner("boot"));
    let mut audits: Vec<Result<(String, Report)>> = Vec::new();
    let mut sizes: Option<Sizes> = None;
    let mut said = String::new();
    let timeout = Duration::from_secs(arguments.timeout);
    let ended = qemu::exec_live(
        &parts.boot,
        &script(&moments),
        timeout,
        |guest, _, bytes| {
            if let Some(step) = step.take() {
                step.vanish();
            }
            said.push_str(&String::from_utf8_lossy(bytes));
            while let Some((line, rest)) = said.split_once('\n') {
                let moment = line.strip_prefix(MARK).map(str::to_owned);
                said = rest.to_owned();
                if let Some(moment) = moment {
                    let audit = live(&subject, guest, sizes.as_ref());
                    audits.push(audit.map(|(report, now)| {
                        println!("at {moment}:\n{report}\n");
                        sizes = Some(now);
                        (moment, report)
                    }));
                }
            }
        },
    );
    let audits: Vec<(String, Report)> = audits.into_iter().collect::<Result<_>>()?;
    println!("not visible from here: {UNSEEN}");
    json::write(arguments.json.as_deref(), &summary(&audits))?;
    ended?;
    ensure!(
        audits.len() == moments.len(),
        "the guest ended after {} of {} audits",
        audits.len(),
        moments.len()
    );
    let clean = audits.iter().all(|(_, it)| it.violations.is_empty());
    Ok(u8::from(!clean))
}

/// Boot first, then load, then seconds in order; boot alone if nothing was asked for.
fn in_order(asked: &[Moment]) -> Vec<Moment> {
    let mut moments = asked.to_vec();
    if moments.is_empty() {
        moments.push(Moment::Boot);
    }
    moments.sort_unstable();
    moments.dedup();
    moments
}

/// What the guest runs: it says each moment and waits for the next. Seconds count from the end of
/// boot, or from the start of the load if that is asked for too.
fn script(moments: &[Moment]) -> String {
    let mut script = String::new();
    let mut passed = 0;
    for moment in moments {
        let (before, name) = match moment {
            Moment::Boot => (String::new(), "boot".to_owned()),
            Moment::Load => {
                passed = WARM;
                (format!("{LOAD}sleep {WARM}\n"), "load".to_owned())
            }
            Moment::Seconds(at) => {
                let wait = at.saturating_sub(passed);
                passed = passed.max(*at);
                (format!("sleep {wait}\n"), format!("{at} s"))
            }
        };
        script.push_str(&format!("{before}echo '{MARK}{name}'\ndonjon-wait\n"));
    }
    script + "exit 0\n"
}

/// All violations, the figures of the last audit, and each audit by itself.
fn summary(audits: &[(String, Report)]) -> Audit {
    let violations = audits.iter().flat_map(|(at, report)| {
        let violations = report.violations.iter();
        violations.map(|it| violation(it, Some(at)))
    });
    let audit = |(at, report): &(String, Report)| Once {
        violations: report
            .violations
            .iter()
            .map(|it| violation(it, None))
            .collect(),
        sight: sight(report),
        at: at.clone(),
    };
    Audit {
        violations: violations.collect(),
        last: audits.last().map(|(_, last)| sight(last)),
        audits: audits.iter().map(audit).collect(),
    }
}

fn violation(violation: &super::Violation, at: Option<&String>) -> Violation {
    Violation {
        invariant: violation.invariant.into(),
        va: violation.va,
        pa: violation.pa,
        level: violation.level,
        descriptor: violation.descriptor,
        owner: violation.owner.clone(),
        text: violation.text.clone(),
        at: at.cloned(),
    }
}

fn sight(report: &Report) -> Sight {
    let frames = report.frames.iter();
    Sight {
        cpus: report.cpus,
        cpus_inside: report.cpus_inside,
        cpus_in_compartments: report.cpus_in_compartments,
        user_roots: report.user_roots,
        tables: report.tables,
        leaves: report.leaves,
        frames: frames.map(|(class, it)| ((*class).into(), *it)).collect(),
        private_in_use: report.private_in_use,
        exec_pages: report.exec_pages,
        code_bytes: report.code_bytes,
        geometries: report.geometries,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_in_the_order_of_time() {
        let asked = [
            Moment::Seconds(5),
            Moment::Load,
            Moment::Boot,
            Moment::Seconds(3),
        ];
        let script = script(&in_order(&asked));
        let lines: Vec<&str> = script
            .lines()
            .filter(|it| it.starts_with("echo") || it.starts_with("sleep"))
            .collect();
        let expected = [
            "echo 'audit: boot'",
            "sleep 2",
            "echo 'audit: load'",
            "sleep 1",
            "echo 'audit: 3 s'",
            "sleep 2",
            "echo 'audit: 5 s'",
        ];
        assert_eq!(lines, expected);
        assert_eq!(in_order(&[]), [Moment::Boot]);
    }

    #[test]
    fn violations_are_listed_with_their_moments_and_with_their_audits() {
        let found = super::super::Violation::plain("I3", "Linux", "it is writable".into());
        let boot = Report {
            violations: vec![found],
            cpus: 4,
            ..Report::default()
        };
        let load = Report {
            cpus: 2,
            ..Report::default()
        };
        let audit = summary(&[("boot".into(), boot), ("load".into(), load)]);
        assert_eq!(audit.violations[0].at.as_deref(), Some("boot"));
        assert_eq!(audit.audits[0].violations[0].at, None);
        assert_eq!(audit.audits[0].sight.cpus, 4);
        assert_eq!(audit.last.map(|it| it.cpus), Some(2));
        assert_eq!(summary(&[]), Audit::default());
    }
}
