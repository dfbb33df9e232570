// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the guest runs, and what it prints.

use anyhow::{Context, Result, bail};

use super::list::Program;

/// Before the first program. Where a process lies decides how many tables it has, so each has the
/// same place in each kernel. Nothing waits for a disk.
const BEGIN: &str = "\
mount -t tmpfs -o mode=1777 tmpfs /tmp || exit 1
echo 0 >/proc/sys/kernel/randomize_va_space
export LC_ALL=C PG=$(echo /usr/lib/postgresql/*/bin)
";

/// A run of a program, as the guest counted it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Units of work.
    pub units: u64,
    /// Instructions.
    pub instructions: u64,
    /// Calls.
    pub calls: u64,
}

/// The script for `programs`: each runs once uncounted, then short, then long.
pub fn script(programs: &[&Program]) -> String {
    let mut script = BEGIN.to_owned();
    for program in programs {
        let (short, long) = program.units;
        let files = [
            ("prepare", program.prepare),
            ("run", program.run),
            ("end", program.end),
        ];
        let files = files.map(|(name, text)| format!("cat >{name} <<'{MARK}'\n{text}\n{MARK}\n"));
        script += &format!(
            "mkdir /tmp/work && chmod 755 /tmp/work && cd /tmp/work || exit 1
{}
failed() {{ cat log >&2; echo \"failed: {name}\" >&2; exit 1; }}
sh -e prepare >log 2>&1 </dev/null || failed
for units in {long} {short} {long}; do
    /run/donjon/donjon-count sh -e run $units >>log 2>&1 </dev/null || failed
    [ ! -e units ] || units=$(cat units)
    echo \"program {name}: $units $(sed -n 's/^count: //p' log | tail -n 1)\"
done
sh -e end >>log 2>&1 </dev/null || failed
cd /tmp && rm -rf work
",
            files.concat(),
            name = program.name,
        );
    }
    script
}

/// Ends a file in the script.
const MARK: &str = "END_OF_FILE";

/// The short and the long run of `program` in what the guest printed.
pub fn runs(text: &str, program: &Program) -> Result<(Run, Run)> {
    let start = format!("program {}: ", program.name);
    let runs: Vec<Run> = text
        .lines()
        .filter_map(|line| run(line.strip_prefix(&start)?))
        .collect();
    match runs[..] {
        [_warm, short, long] => Ok((short, long)),
        _ => bail!("the guest counted no runs of {}", program.name),
    }
}

fn run(text: &str) -> Option<Run> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Run {
        units: next()?,
        instructions: next()?,
        calls: next()?,
    })
}

/// What one unit costs by a short and a long run: instructions and calls.
pub fn per_unit(short: Run, long: Run) -> Result<(f64, f64)> {
    let difference = |short: u64, long: u64| long.checked_sub(short).map(|it| it as f64);
    let units = difference(short.units, long.units).filter(|it| *it > 0.0);
    let units = units.context("the long run did no more than the short one")?;
    let instructions = difference(short.instructions, long.instructions);
    let instructions = instructions.context("the long run took no longer")?;
    let calls = difference(short.calls, long.calls).unwrap_or_default();
    Ok((instructions / units, calls / units))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::list::PROGRAMS;

    #[test]
    fn the_first_run_warms_up_and_the_others_count() {
        let program = &PROGRAMS[0];
        let text = format!(
            "program {0}: 9 9999 9\nprogram other: 1 2 3\nprogram {0}: 2 300 4\nprogram {0}: 12 \
             1300 24\n",
            program.name
        );
        let (short, long) = runs(&text, program).expect("three runs");
        assert_eq!(per_unit(short, long).ok(), Some((100.0, 2.0)));
        assert!(runs("", program).is_err());
        assert!(per_unit(long, short).is_err());
    }
}
