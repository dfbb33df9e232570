// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the guest runs, and what it says.

use anyhow::{Context, Result};

use super::programs::{PLACE, Programs};
use super::rows::{FILE, FILE_MIB, HEADER, Row, Samples};

/// Before the output of each run of a program.
const BEGIN: &str = "#### ";
/// Where Linux says who gets huge pages. Zeroing one takes longer than a fork, and depends on where
/// memory happens to lie.
const HUGE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// Stacks begin at another place of their page in each layout.
const PAGE: u32 = 4096;

/// Least samples of an uneven row.
const MANY: u32 = 15;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Sizes of the environment.
    pub layouts: u32,
    /// Microseconds that a sample takes.
    pub enough: u32,
    /// Microseconds that a sample of a pipe takes; LMBench wants a second there.
    pub enough_for_pipe: u32,
    /// Samples of each run; LMBench takes their median.
    pub samples: u32,
    /// Samples of a run whose sample is the whole of a file.
    pub samples_of_file: u32,
}

impl Effort {
    /// Exact instructions need few samples; times of an emulator need more.
    pub fn new(layouts: u32, wall: bool) -> Self {
        let (enough, samples) = if wall { (20_000, 7) } else { (10_000, 3) };
        Self {
            layouts,
            enough,
            enough_for_pipe: 1_000_000,
            samples,
            samples_of_file: samples,
        }
    }
}

/// What is run for `rows` in each layout, each once.
pub fn runs(rows: &[&Row], effort: Effort) -> Vec<String> {
    let mut all = Vec::new();
    for row in rows {
        let run = command(row, effort);
        if !all.contains(&run) {
            all.push(run);
        }
    }
    all
}

fn command(row: &Row, effort: Effort) -> String {
    let samples = match row.samples {
        Samples::Usual => effort.samples,
        Samples::Slow => 1,
        Samples::WholeFile => effort.samples_of_file,
        Samples::Uneven => effort.samples.max(MANY),
    };
    format!("{PLACE}/{} -N {samples} {}", row.program, row.words)
}

/// The guest's script.
pub fn script(programs: &Programs, rows: &[&Row], effort: Effort) -> String {
    preparations(programs) + &measurements(rows, effort)
}

/// What is done once, and not measured.
pub fn preparations(programs: &Programs) -> String {
    let directory = HEADER.rsplit_once('/').map_or("/", |it| it.0);
    // Addresses are the same in each run: the layouts below are all that differs. What lat_proc
    // executes is in one place for Debian's, in another for the rest.
    format!(
        "{}\
         echo 0 >/proc/sys/kernel/randomize_va_space || exit 1\n\
         if [ -e {HUGE} ]; then echo never >{HUGE} || exit 1; fi\n\
         mkdir -p {directory} /var/tmp/lmbench && echo '/* types */' >{HEADER} || exit 1\n\
         head -c {} /dev/zero >{FILE} || exit 1\n\
         if [ -e {PLACE}/hello ]; then\n\
         cp {PLACE}/hello /tmp/hello && cp {PLACE}/hello /var/tmp/lmbench/hello || exit 1\n\
         fi\n",
        programs.setup,
        FILE_MIB << 20,
    )
}

/// What is measured, after the preparations.
pub fn measurements(rows: &[&Row], effort: Effort) -> String {
    let mut script = format!(
        "export ENOUGH={} PIPE_ENOUGH={}\n\
         if [ -x {PLACE}/timing_o ]; then export TIMING_O=$({PLACE}/timing_o); fi\n\
         if [ -x {PLACE}/loop_o ]; then export LOOP_O=$({PLACE}/loop_o); fi\n\
         echo \"# timing_o ${{TIMING_O}} loop_o ${{LOOP_O}}\"\n",
        effort.enough, effort.enough_for_pipe,
    );
    for layout in 0..effort.layouts {
        let size = (PAGE / effort.layouts * layout) as usize;
        script += &format!("export LAYOUT={}\n", "x".repeat(size));
        for (number, run) in runs(rows, effort).iter().enumerate() {
            script += &format!("echo '{BEGIN}{number}'\n{run} 2>&1\n");
        }
    }
    script + "exit 0\n"
}

/// How many runs have begun in `text`.
pub fn begun(text: &[u8]) -> usize {
    let lines = text.split(|it| *it == b'\n');
    lines.filter(|it| it.starts_with(BEGIN.as_bytes())).count()
}

/// The figures of each row, one for each layout.
pub fn read(text: &str, rows: &[&Row], effort: Effort) -> Result<Vec<Vec<f64>>> {
    let runs = runs(rows, effort);
    let mut figures = vec![Vec::new(); rows.len()];
    let mut run = None;
    for line in text.lines() {
        if let Some(number) = line.strip_prefix(BEGIN) {
            run = number.parse().ok().and_then(|it: usize| runs.get(it));
            continue;
        }
        for (row, figures) in rows.iter().zip(&mut figures) {
            if run == Some(&command(row, effort)) {
                figures.extend(row.figure(line));
            }
        }
    }
    for (row, figures) in rows.iter().zip(&figures) {
        (figures.len() == effort.layouts as usize)
            .then_some(())
            .with_context(|| {
                format!(
                    "{} of {} figures for the row {}; the guest printed:\n{}",
                    figures.len(),
                    effort.layouts,
                    row.name,
                    text.trim()
                )
            })?;
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lmbench::rows::selected;

    #[test]
    fn every_row_gets_its_figures_and_a_run_serves_several() {
        let rows = selected(&["context".into(), "mmap".into()]).expect("rows");
        let effort = Effort::new(2, false);
        assert_eq!(runs(&rows, effort).len(), 2);
        let one = "#### 0\n\n\"size=0k ovr=0.70\n2 1.50\n6 2.00\n16 3.00\n#### 1\n33.554432 400\n";
        let text = format!("{one}{}", one.replace("1.50", "2.50"));
        let figures = read(&text, &rows, effort).expect("figures");
        assert_eq!(figures[0], [1.5, 2.5]);
        assert_eq!(figures[3], [400.0, 400.0]);
        assert_eq!(begun(text.as_bytes()), 4);
        let error = read(one, &rows, effort).expect_err("one layout is missing");
        assert!(error.to_string().contains("1 of 2"), "{error}");
    }
}
