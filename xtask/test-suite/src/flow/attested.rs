// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs under flow attestation in compartments of a guest, judged by the verifier.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::run::prepare;
use donjon_flow::build::{Build, Target, build};
use donjon_machine::arguments::{MachineArguments, Switch};
use donjon_machine::machine::Machine;
use donjon_machine::said::says;
use donjon_machine::{gdb, initramfs, paths};
use donjon_verify::{Question, judge};

use super::inputs::{self, Places};

const TIMEOUT: Duration = Duration::from_secs(300);
const NONCE: [u8; 32] = [0x5a; 32];
const FILES: [&str; 3] = ["token", "transcript", "log"];

/// Runs of the protocol, each with its input; one of another program with a log of one page, so of
/// many segments; and one that ends itself. What they left is printed.
const SCRIPT: &str = "\
mkdir /tmp/runs
nonce=$(printf '5a%.0s' $(seq 32))
for it in good data lawful return pointer; do
    donjon-run --flow /tmp/runs/$it $nonce /files/protocol < /files/$it > /tmp/out || exit 1
    echo \"opened $it $(grep -c 'the door opens' /tmp/out)\"
done
donjon-run --flow /tmp/runs/tagged $nonce /files/protocol < /files/tagged > /tmp/out 2> /dev/null
echo \"tagged $? $(grep -c 'the door opens' /tmp/out)\"
donjon-run --flow /tmp/runs/segments $nonce --log 1 /files/libhuffbench || exit 1
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

/// What the verifier has to say of each run: its status and words.
const VERDICTS: [(&str, u8, &str); 6] = [
    ("good", 0, "the program ended by itself"),
    ("data", 0, "the program ended by itself"),
    ("lawful", 0, "the program ended by itself"),
    ("return", 1, "return to "),
    ("pointer", 1, "which no pointer may hold"),
    ("segments", 0, "segments     7"),
];

/// Runs of which the last is one without instrumentation.
pub fn attested(host: &HostArguments) -> Result<()> {
    let protocol = program("protocol")?;
    let huffman = program("libhuffbench")?;
    let places = Places::of(&fs::read(&protocol)?)?;
    let mut files = vec![
        ("/files/protocol".to_owned(), fs::read(&protocol)?),
        ("/files/libhuffbench".to_owned(), fs::read(&huffman)?),
    ];
    for (name, input) in inputs::all(&places) {
        files.push((format!("/files/{name}"), input));
    }
    let machine = Machine::new(&MachineArguments::virt(Switch::Asid))?;
    let mut boot = prepare(host, machine, &InnerVariant::sound(Switch::Asid))?.boot;
    boot.initramfs = initramfs::with_programs(&boot.initramfs, &files)?;
    let text = says(&boot, SCRIPT, TIMEOUT)?.text;
    let (files, lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|it| it.starts_with("file "));
    let (kept, text) = (kept(&files)?, lines.join("\n"));
    // Each defect was met: the door was opened for a guest.
    for (name, opened) in [("good", 0), ("data", 1), ("return", 1), ("pointer", 1)] {
        let line = format!("opened {name} {opened}");
        ensure!(text.lines().any(|it| it == line), "no `{line}` in:\n{text}");
    }
    let line = |what: &str| text.lines().find_map(|it| it.strip_prefix(what));
    let key = line("key ").context("no key")?;
    let key = donjon_token::from_hexadecimal(key.as_bytes()).context("a key")?;
    for (name, status, words) in VERDICTS {
        let program = if name == "segments" {
            &huffman
        } else {
            &protocol
        };
        let files = kept.get(name).with_context(|| format!("no run {name}"))?;
        let said = verdict(files, program, key, NONCE)?;
        ensure!(
            said.0 == status && said.1.contains(words),
            "{name}: {}",
            said.1
        );
    }
    let files = &kept["return"];
    let said = verdict(files, &protocol, key, NONCE)?.1;
    ensure!(
        said.contains("protocol.c:") && said.contains("echo+"),
        "{said}"
    );
    changed(&kept["good"], &protocol, key)?;
    let said = verdict(&kept["good"], &huffman, key, NONCE)?;
    ensure!(said.0 == 1, "of another program: {}", said.1);
    let said = verdict(&kept["good"], &protocol, key, [0; 32])?;
    ensure!(
        said.0 == 1 && said.1.contains("nonce"),
        "of another nonce: {}",
        said.1
    );
    ensure!(line("tagged ") == Some("1 0"), "a tagged address: {text}");
    let said = verdict(&kept["tagged"], &protocol, key, NONCE)?;
    ensure!(said.0 == 1, "a tagged address: {}", said.1);
    // A program without instrumentation leaves the form at once, and says nothing.
    ensure!(line("status ") == Some("1"), "{text}");
    let said = verdict(&kept["kind"], &protocol, key, NONCE)?;
    ensure!(
        said.0 == 1,
        "of a program without instrumentation: {}",
        said.1
    );
    Ok(())
}

/// Words that are lost, exchanged or repeated, and files of another run.
fn changed(good: &Kept, program: &Path, key: [u8; 32]) -> Result<()> {
    let log = &good["log"];
    let lost = [&log[..80], &log[88..]].concat();
    // Two words that differ.
    let words: Vec<&[u8]> = log.chunks_exact(8).collect();
    let at = words.windows(2).position(|it| it[0] != it[1]);
    let at = at.context("a log of equal words")?;
    let mut exchanged = words.clone();
    exchanged.swap(at, at + 1);
    let exchanged = exchanged.concat();
    let repeated = [&log[..88], &log[80..]].concat();
    let mut other = log.clone();
    other[80] ^= 1;
    for changed in [lost, exchanged, repeated, other, Vec::new()] {
        let mut files = good.clone();
        files.insert("log".into(), changed);
        let said = verdict(&files, program, key, NONCE)?;
        ensure!(said.0 == 1, "a log that was changed: {}", said.1);
    }
    Ok(())
}

/// The files of a run, by name.
type Kept = BTreeMap<String, Vec<u8>>;

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

/// What the verifier says of a run, and its status.
fn verdict(files: &Kept, program: &Path, key: [u8; 32], nonce: [u8; 32]) -> Result<(u8, String)> {
    let folder = tempfile::TempDir::new()?;
    for name in FILES {
        let bytes = files.get(name).with_context(|| format!("no file {name}"))?;
        fs::write(folder.path().join(name), bytes)?;
    }
    let report = judge(&Question {
        folder: folder.path(),
        nonce,
        key,
        program,
        measurement: None,
        started: None,
        policy: None,
        golden: None,
        max_blocks: 1 << 36,
        prefix: false,
    })?;
    Ok((report.status(), report.to_string()))
}

fn program(name: &str) -> Result<PathBuf> {
    let source = paths::in_root("guests/flow/programs").join(name);
    let what = Build {
        path: &source.with_extension("c"),
        target: Target::Compartment,
        is_instrumented: true,
        has_lines: true,
    };
    build(&what, &paths::in_root("target/flow/attested").join(name))
}
