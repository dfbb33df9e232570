// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures parts by starting this very program with their subcommands.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use donjon_builder::arguments::HostArguments;
use donjon_builder::progress::Step;
use donjon_figures::store::{Store, unfinished};
use donjon_machine::process;
use serde_json::Value;

use crate::arguments::Choice;
use crate::envelope::{self, Envelope, Tree};
use crate::store::is_complete;
use donjon_figures::parts::Part;

/// Chooses the parts that have to be measured.
pub fn plan(choices: &[Choice], has_data: bool, store: &Store, tree: &Tree) -> Vec<Part> {
    let named = |part| choices.contains(&Choice::One(part));
    let all = choices.contains(&Choice::All);
    let by_default = choices.is_empty() && !has_data;
    let wanted = |part: &Part| {
        named(*part)
            || all && !is_complete(store, *part, tree)
            || by_default && part.row().is_quick && !store.path(part.name()).exists()
    };
    Part::ALL.into_iter().filter(wanted).collect()
}

/// Measures a part, of which `place` says how many are done and how many there are, and keeps its
/// JSON.
///
/// # Errors
///
/// If the command cannot be started, or fails and leaves no JSON.
pub fn measure(
    part: Part,
    place: (usize, usize),
    host: &HostArguments,
    tree: &Tree,
    store: &Store,
) -> Result<()> {
    if let Some(why) = why_not_offered(part) {
        bail!(why);
    }
    let file = store.path(part.name());
    let unfinished = unfinished(&file);
    let _ = fs::remove_file(&unfinished);
    let mut command = this_program(part);
    command.args(part.row().options);
    command.arg("--json").arg(&unfinished);
    if host.no_install {
        command.arg("--no-install");
    }
    let options = envelope::kernel_options(host);
    command.args(&options);
    let (done, all) = (place.0 as u64, place.1 as u64);
    let step = Step::one_of(part.name(), done, all);
    let load = envelope::load();
    let start = Instant::now();
    let ended = process::logged(&mut command, &file.with_extension("log"), |line| {
        step.say(line)
    });
    let seconds = start.elapsed().as_secs_f64();
    let json = complete(&unfinished);
    let _ = fs::remove_file(&unfinished);
    let (json, status) = match (json, &ended) {
        (Some(json), Ok(())) => (json, 0),
        // It found something, and says what.
        (Some(json), Err(_)) => (json, 1),
        (None, Ok(())) => bail!("`{}` wrote no JSON", part.command()),
        (None, Err(_)) => {
            return ended.with_context(|| format!("measuring {}", part.name()));
        }
    };
    let envelope = Envelope {
        host_load: load,
        command: [&[part.command()], &options[..]].concat().join(" "),
        ..Envelope::of_run(part, tree, seconds, status)
    };
    store.keep(part.name(), &json, Some(&envelope))?;
    step.finish();
    Ok(())
}

/// Says why a part cannot be measured: this version may not have the subcommand.
pub fn why_not_offered(part: Part) -> Option<String> {
    let mut command = this_program(part);
    command.arg("--help");
    let is_offered = process::both(&mut command).is_ok_and(|it| it.status.success());
    let subcommand = part.row().subcommand.join(" ");
    (!is_offered).then(|| format!("`cargo xtask {subcommand}` is not in this version"))
}

/// The subcommand of this very program.
fn this_program(part: Part) -> Command {
    let mut command = Command::new(process::this_program());
    command.args(part.row().subcommand);
    command
}

/// The file if it is a whole JSON document.
fn complete(path: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(path).ok()?;
    serde_json::from_slice::<Value>(&bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(commit: &str) -> Tree {
        Tree {
            commit: Some(commit.to_owned()),
            ..Tree::default()
        }
    }

    #[test]
    fn what_is_complete_is_not_repeated_unless_it_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        let here = tree("a");
        for part in [Part::Idc, Part::Calls] {
            let envelope = Envelope::of_run(part, &here, 1.0, 0);
            let name = part.name();
            store.keep(name, b"{}", Some(&envelope)).expect("kept");
        }
        let all = plan(&[Choice::All], false, &store, &here);
        assert_eq!(all.len(), Part::ALL.len() - 2);
        assert!(!all.contains(&Part::Idc));
        let named = plan(&[Choice::All, Choice::One(Part::Idc)], false, &store, &here);
        assert_eq!(named.len(), Part::ALL.len() - 1);
        let elsewhere = plan(&[Choice::All], false, &store, &tree("b"));
        assert_eq!(elsewhere.len(), Part::ALL.len());
    }

    #[test]
    fn by_default_what_is_quick_and_missing_is_measured() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path());
        let here = tree("a");
        assert_eq!(plan(&[], false, &store, &here), [Part::Idc, Part::Audit]);
        let none = None::<&Envelope>;
        store.keep("idc", b"{}", none).expect("kept");
        assert_eq!(plan(&[], false, &store, &here), [Part::Audit]);
        assert_eq!(plan(&[], true, &store, &here), []);
        assert_eq!(plan(&[Choice::None], false, &store, &here), []);
    }

    #[test]
    fn half_a_document_is_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.unfinished");
        assert!(complete(&path).is_none());
        fs::write(&path, b"").expect("written");
        assert!(complete(&path).is_none());
        fs::write(&path, b"{\"a\": [1,").expect("written");
        assert!(complete(&path).is_none());
        fs::write(&path, b"{\"a\": [1]}").expect("written");
        assert!(complete(&path).is_some());
    }
}
