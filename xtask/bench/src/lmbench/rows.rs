// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows: which of LMBench's programs measures what, and which of its lines says so.

use anyhow::Result;

use crate::selection::Selection;

/// Size of the file that is mapped, in MiB.
pub const FILE_MIB: u32 = 32;
/// Where it is in the guest.
pub const FILE: &str = "/tmp/lmbench.file";
/// The file that `stat` and `open` are given: LMBench's own choice.
pub const HEADER: &str = "/usr/include/sys/types.h";
/// The kernel parameter that leaves the work-around for speculative stores on for good, so that
/// no entry of the kernel switches it.
pub const NO_SWITCH: &str = "ssbd=force-on";

/// One figure.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// Name of the row.
    pub name: &'static str,
    /// LMBench's program.
    pub program: &'static str,
    /// What it is told, behind the number of samples.
    pub words: &'static str,
    /// How its line is told from others.
    line: Line,
    /// A kernel parameter that it needs.
    pub parameter: Option<&'static str>,
    /// How many samples it takes, and why.
    pub samples: Samples,
}

/// What decides how many samples a row takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// The number of most rows.
    Usual,
    /// LMBench takes a second for each sample, whatever it is told.
    Slow,
    /// A sample is at least one round through the file.
    WholeFile,
    /// Samples are further apart than those of other rows.
    Uneven,
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// `NAME…: FIGURE microseconds`
    Named(&'static str),
    /// `FIRST FIGURE`
    Second(&'static str),
}

impl Row {
    /// The figure, if `line` says it.
    pub fn figure(&self, line: &str) -> Option<f64> {
        let figure = match self.line {
            Line::Named(name) => {
                let (title, rest) = line.split_once(": ")?;
                title.starts_with(name).then_some(())?;
                rest.strip_suffix(" microseconds")?
            }
            Line::Second(first) => line.strip_prefix(first)?.strip_prefix(' ')?,
        };
        figure.trim().parse().ok()
    }
}

const fn row(
    name: &'static str,
    program: &'static str,
    words: &'static str,
    line: &'static str,
) -> Row {
    Row {
        name,
        program,
        words,
        line: Line::Named(line),
        parameter: None,
        samples: Samples::Usual,
    }
}

const fn second(
    name: &'static str,
    program: &'static str,
    words: &'static str,
    first: &'static str,
) -> Row {
    Row {
        line: Line::Second(first),
        ..row(name, program, words, "")
    }
}

/// Rows in the order of the table. Rows with the same program and words come from one run.
pub const ROWS: [Row; 20] = [
    row("null", "lat_syscall", "null", "Simple syscall"),
    Row {
        parameter: Some(NO_SWITCH),
        ..row(
            "null, no ssbd switch",
            "lat_syscall",
            "null",
            "Simple syscall",
        )
    },
    row("read", "lat_syscall", "read", "Simple read"),
    row("write", "lat_syscall", "write", "Simple write"),
    row(
        "stat",
        "lat_syscall",
        "stat /usr/include/sys/types.h",
        "Simple stat",
    ),
    row(
        "fstat",
        "lat_syscall",
        "fstat /usr/include/sys/types.h",
        "Simple fstat",
    ),
    row(
        "open/close",
        "lat_syscall",
        "open /usr/include/sys/types.h",
        "Simple open/close",
    ),
    row(
        "signal install",
        "lat_sig",
        "install",
        "Signal handler installation",
    ),
    row(
        "signal catch",
        "lat_sig",
        "catch",
        "Signal handler overhead",
    ),
    row(
        "protection fault",
        "lat_sig",
        "prot /tmp/lmbench.file",
        "Protection fault",
    ),
    Row {
        samples: Samples::Slow,
        ..row("pipe", "lat_pipe", "", "Pipe latency")
    },
    Row {
        samples: Samples::Uneven,
        ..row("AF_UNIX", "lat_unix", "", "AF_UNIX sock stream latency")
    },
    second("context switch 2", "lat_ctx", "-s 0 2 6 16", "2"),
    second("context switch 6", "lat_ctx", "-s 0 2 6 16", "6"),
    second("context switch 16", "lat_ctx", "-s 0 2 6 16", "16"),
    Row {
        samples: Samples::WholeFile,
        ..row(
            "page fault",
            "lat_pagefault",
            "/tmp/lmbench.file",
            "Pagefaults on ",
        )
    },
    row("fork+exit", "lat_proc", "fork", "Process fork+exit"),
    row("fork+exec", "lat_proc", "exec", "Process fork+execve"),
    row("fork+sh", "lat_proc", "shell", "Process fork+/bin/sh -c"),
    second("mmap", "lat_mmap", "32m /tmp/lmbench.file", "33.554432"),
];

/// The rows whose names contain one of `words`; all if there are none.
pub fn selected(words: &[String]) -> Result<Vec<&'static Row>> {
    let selection = Selection::new(words, "row", &ROWS.map(|it| it.name))?;
    Ok(ROWS.iter().filter(|it| selection.has(it.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, line: &str) -> Option<f64> {
        let row = ROWS.iter().find(|it| it.name == name).expect(name);
        row.figure(line)
    }

    #[test]
    fn lines_of_lmbench_are_read() {
        for (name, line, expected) in [
            ("null", "Simple syscall: 0.2450 microseconds", 0.245),
            (
                "fork+sh",
                "Process fork+/bin/sh -c: 729.0000 microseconds",
                729.0,
            ),
            (
                "page fault",
                "Pagefaults on /tmp/lmbench.file: 0.6630 microseconds",
                0.663,
            ),
            ("context switch 16", "16 3.86", 3.86),
            ("mmap", "33.554432 421", 421.0),
        ] {
            assert_eq!(figure(name, line), Some(expected), "{line}");
        }
    }

    #[test]
    fn other_lines_are_not() {
        assert_eq!(figure("context switch 2", "\"size=0k ovr=0.72"), None);
        assert_eq!(figure("context switch 6", "16 3.86"), None);
        assert_eq!(figure("null", "Simple read: 0.4 microseconds"), None);
        assert_eq!(figure("stat", "Simple stat: lost"), None);
    }

    #[test]
    fn a_filter_selects_by_a_part_of_the_name() {
        let names = |filters: &[&str]| {
            let filters: Vec<String> = filters.iter().map(|it| (*it).to_owned()).collect();
            selected(&filters).map(|rows| rows.iter().map(|it| it.name).collect::<Vec<_>>())
        };
        assert_eq!(
            names(&["fork+e"]).ok(),
            Some(vec!["fork+exit", "fork+exec"])
        );
        assert_eq!(names(&[]).ok().map(|it| it.len()), Some(ROWS.len()));
        let error = names(&["fork", "spoon"]).expect_err("no row").to_string();
        assert!(
            error.contains("spoon") && error.contains("AF_UNIX"),
            "{error}"
        );
    }
}
