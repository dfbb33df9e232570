// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the guest runs, and what it prints.

use anyhow::{Context, Result, bail, ensure};

use super::list::Program;

/// Before the first program. Where a process lies decides how many tables it has, so each has the
/// same place in each kernel. Nothing waits for a disk.
const BEGIN: &str = "\
mount -t tmpfs -o mode=1777 tmpfs /tmp || exit 1
echo 0 >/proc/sys/kernel/randomize_va_space
export LC_ALL=C PG=$(echo /usr/lib/postgresql/*/bin)
";

/// Lines that the guest prints for a program.
pub const fn lines(program: &Program) -> u64 {
    1 + 2 * program.pairs as u64
}

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

/// The script for `programs`: each runs once uncounted, then short and long in turn.
pub fn script(programs: &[&Program]) -> String {
    let mut script = BEGIN.to_owned();
    for program in programs {
        let (short, long) = program.units;
        let pairs = format!(" {short} {long}").repeat(program.pairs);
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
for units in {long}{pairs}; do
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

/// What the guest counted for one unit of `program`'s work, by each pair of its runs.
///
/// # Errors
///
/// If runs are missing, or a long one was not longer.
pub fn samples(text: &str, program: &Program) -> Result<Vec<Sample>> {
    let start = format!("program {}: ", program.name);
    let runs: Vec<Run> = text
        .lines()
        .filter_map(|line| run(line.strip_prefix(&start)?))
        .collect();
    let [_warm, pairs @ ..] = &runs[..] else {
        bail!("the guest counted no runs of {}", program.name);
    };
    ensure!(
        runs.len() as u64 == lines(program),
        "the guest counted {} runs of {}, not {}",
        runs.len(),
        program.name,
        lines(program)
    );
    let samples = pairs.chunks(2).map(|it| per_unit(it[0], it[1]));
    samples.collect::<Result<_>>().context(program.name)
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

/// What one unit of work costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Instructions.
    pub instructions: f64,
    /// Calls.
    pub calls: f64,
}

/// By a short and a long run.
fn per_unit(short: Run, long: Run) -> Result<Sample> {
    let difference = |short: u64, long: u64| long.checked_sub(short).map(|it| it as f64);
    let units = difference(short.units, long.units).filter(|it| *it > 0.0);
    let units = units.context("the long run did no more than the short one")?;
    let instructions = difference(short.instructions, long.instructions);
    let instructions = instructions.filter(|it| *it > 0.0);
    let instructions = instructions.context("the long run took no longer")?;
    Ok(Sample {
        instructions: instructions / units,
        calls: more_calls(short.calls, long.calls)? / units,
    })
}

/// How many calls a long run made that a short one did not. Starting and ending a program takes a
/// few calls more in one run than in another; where the work needs none, the long run may have
/// fewer.
fn more_calls(short: u64, long: u64) -> Result<f64> {
    /// By which share of the short run's calls it may have fewer, and counts as none.
    const DIFFERENCE: f64 = 0.02;
    let (short, long) = (short as f64, long as f64);
    ensure!(
        long >= short * (1.0 - DIFFERENCE),
        "the long run made {long} calls, the short one {short}"
    );
    Ok((long - short).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::list::PROGRAMS;

    #[test]
    fn the_first_run_warms_up_and_the_others_count() {
        let program = &PROGRAMS[0];
        let name = program.name;
        let pair = format!("program {name}: 2 300 4\nprogram {name}: 12 1300 24\n");
        let text = format!(
            "program {name}: 9 9999 9\nprogram other: 1 2 3\n{}",
            pair.repeat(3)
        );
        let sample = Sample {
            instructions: 100.0,
            calls: 2.0,
        };
        assert_eq!(samples(&text, program).ok(), Some(vec![sample; 3]));
        assert!(samples("", program).is_err());
        assert!(samples(&format!("{text}{pair}"), program).is_err());
        let backwards = text.replace(" 12 1300 ", " 1 1300 ");
        assert!(samples(&backwards, program).is_err());
        let fewer_calls = text.replace(" 1300 24", " 1300 3");
        assert!(samples(&fewer_calls, program).is_err());
        assert_eq!(more_calls(500, 491).expect("about as many"), 0.0);
        assert!(more_calls(500, 489).is_err());
    }
}
