// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs under flow attestation in compartments of a guest, and what their host keeps of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_flow::build::{Build, Compiler, Target, build};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::says;
use donjon_machine::{gdb, initramfs, paths};
use donjon_verify::{Check, Question, Report, judge_without};

use super::inputs::{self, Places};

const TIMEOUT: Duration = Duration::from_secs(300);
/// The nonce of all runs.
pub const NONCE: [u8; 32] = [0x5a; 32];
const FILES: [&str; 3] = ["token", "transcript", "log"];

/// Runs of the protocol, each with its input; one of another program with a log of one page, so of
/// many segments; two that only a signal ends; and one of a program without instrumentation. What
/// they left is printed.
const SCRIPT: &str = "\
mkdir /tmp/runs
nonce=$(printf '5a%.0s' $(seq 32))
for it in good data lawful return pointer; do
    donjon-run --flow /tmp/runs/$it $nonce /files/protocol < /files/$it > /tmp/out || exit 1
    echo \"opened $it $(grep -c 'the door opens' /tmp/out)\"
done
for it in tagged letters; do
    donjon-run --flow /tmp/runs/$it $nonce /files/protocol < /files/$it > /tmp/out 2> /dev/null
    echo \"$it $? $(grep -c 'the door opens' /tmp/out)\"
done
donjon-run --flow /tmp/runs/segments $nonce --log 1 /files/libhuffbench || exit 1
donjon-run --flow /tmp/runs/cut $nonce --log 1 /files/endless 2> /tmp/out &
until [ -s /tmp/runs/cut/log ]; do usleep 10000; done
kill -TERM $!
wait $!
echo cut $?
mkfifo /tmp/input
sleep 1000 > /tmp/input &
donjon-run --flow /tmp/runs/waiting $nonce /files/protocol < /tmp/input > /tmp/out 2>&1 &
until [ -e /tmp/runs/waiting/log ]; do usleep 10000; done
kill -TERM $!
wait $!
echo waiting $?
donjon-run --flow /tmp/runs/kind $nonce --log 1 /usr/lib/donjon/hello 2> /tmp/out
echo status $?
echo key $(donjon-run /usr/lib/donjon/quote key)
cd /tmp/runs
for it in *; do
    for file in token transcript log; do
        echo file $it $file $(od -An -tx1 -v $it/$file | tr -d ' \\n')
    done
done
exit 0
";

/// The files of a run, by name.
pub type Kept = BTreeMap<String, Vec<u8>>;

/// Runs of programs with planted defects.
pub struct Runs {
    /// The program that speaks a protocol, `guests/flow/programs/protocol.c`.
    pub protocol: PathBuf,
    /// A program with a long log.
    pub huffman: PathBuf,
    /// A program that does not end.
    pub endless: PathBuf,
    /// The quoting compartment's public key.
    key: [u8; 32],
    /// What the guest printed beside files.
    text: String,
    kept: BTreeMap<String, Kept>,
}

impl Runs {
    /// Builds the programs and runs them in a guest.
    ///
    /// # Errors
    ///
    /// If a program cannot be built, the guest does not come to its end, or a planted defect was
    /// not met by the input that aims at it.
    pub fn make(host: &HostArguments, switch: Switch) -> Result<Self> {
        let protocol = program("protocol")?;
        let huffman = program("libhuffbench")?;
        let endless = built("xtask/attack/src/paths/endless.c")?;
        let places = Places::of(&fs::read(&protocol)?)?;
        let mut files = vec![
            ("/files/protocol".to_owned(), fs::read(&protocol)?),
            ("/files/libhuffbench".to_owned(), fs::read(&huffman)?),
            ("/files/endless".to_owned(), fs::read(&endless)?),
        ];
        for (name, input) in inputs::all(&places) {
            files.push((format!("/files/{name}"), input));
        }
        let machine = Machine::new(&MachineArguments::virt(switch))?;
        let mut boot = prepare(host, machine, &InnerVariant::sound(switch))?.boot;
        boot.initramfs = initramfs::with_programs(&boot.initramfs, &files)?;
        let text = says(&boot, SCRIPT, TIMEOUT)?.text;
        let (files, lines): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|it| it.starts_with("file "));
        let key = lines.iter().find_map(|it| it.strip_prefix("key "));
        let key = donjon_token::from_hexadecimal(key.context("no key")?.as_bytes());
        let runs = Self {
            protocol,
            huffman,
            endless,
            key: key.context("a key")?,
            text: lines.join("\n"),
            kept: kept(&files)?,
        };
        // Each defect was met: the door was opened for a guest.
        for (name, opened) in [("good", 0), ("data", 1), ("return", 1), ("pointer", 1)] {
            runs.says(&format!("opened {name} {opened}"))?;
        }
        // The CPU took a tagged address for no executable one.
        runs.says("tagged 1 0")?;
        Ok(runs)
    }

    /// Fails unless the guest printed this line.
    pub fn says(&self, line: &str) -> Result<()> {
        let text = &self.text;
        ensure!(text.lines().any(|it| it == line), "no `{line}` in:\n{text}");
        Ok(())
    }

    /// The files of a run.
    pub fn kept(&self, name: &str) -> Result<&Kept> {
        self.kept
            .get(name)
            .with_context(|| format!("no run {name}"))
    }

    /// What the verifier says of files, asked about a run of the protocol.
    pub fn judge(&self, files: &Kept) -> Result<Report> {
        self.judge_as(files, &Asked::new(&self.protocol))
    }

    /// What the verifier says of files.
    pub fn judge_as(&self, files: &Kept, asked: &Asked<'_>) -> Result<Report> {
        let folder = tempfile::TempDir::new()?;
        for name in FILES {
            let bytes = files.get(name).with_context(|| format!("no file {name}"))?;
            fs::write(folder.path().join(name), bytes)?;
        }
        let policy = folder.path().join("policy");
        if let Some(text) = asked.policy {
            fs::write(&policy, text)?;
        }
        let question = Question {
            folder: folder.path(),
            nonce: asked.nonce,
            key: self.key,
            program: asked.program,
            measurement: None,
            started: None,
            policy: asked.policy.map(|_| policy.as_path()),
            golden: None,
            max_blocks: 1 << 36,
            prefix: false,
        };
        judge_without(&question, asked.left_out)
    }
}

/// What a verifier wants to know.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The program that should have run.
    pub program: &'a Path,
    /// The nonce that was sent.
    pub nonce: [u8; 32],
    /// A policy.
    pub policy: Option<&'a str>,
    /// A check that is left out.
    pub left_out: Option<Check>,
}

impl<'a> Asked<'a> {
    /// The nonce of all runs, no policy, and every check.
    pub const fn new(program: &'a Path) -> Self {
        Self {
            program,
            nonce: NONCE,
            policy: None,
            left_out: None,
        }
    }
}

fn kept(lines: &[&str]) -> Result<BTreeMap<String, Kept>> {
    let mut all: BTreeMap<String, Kept> = BTreeMap::new();
    for line in lines {
        let mut words = line.split(' ').skip(1);
        let (run, file) = words.next().zip(words.next()).context("a run and a file")?;
        let bytes = gdb::bytes(words.next().unwrap_or_default()).context("digits")?;
        let run = all.entry(run.to_owned()).or_default();
        run.insert(file.to_owned(), bytes);
    }
    Ok(all)
}

fn program(name: &str) -> Result<PathBuf> {
    built(&format!("guests/flow/programs/{name}.c"))
}

fn built(source: &str) -> Result<PathBuf> {
    let source = paths::in_root(source);
    let name = source.file_stem().context("a file's name")?;
    let what = Build {
        path: &source,
        target: Target::Compartment,
        is_instrumented: true,
        compiler: Compiler::Gcc,
        has_lines: true,
    };
    build(&what, &paths::in_root("target/flow/attested").join(name))
}
