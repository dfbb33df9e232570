// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's archives of Debian with one component more, in a place of our own. Nothing of the
//! host's is changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Fields and options that say for which architectures the host uses an archive.
const FOR_ARCHITECTURES: [&str; 2] = ["architectures", "arch"];
/// The component that marks an archive of Debian's.
const MAIN: &str = "main";

/// Copies the sources below `etc` into `directory`, with `component` where there is `main`.
pub fn with_component(etc: &Path, component: &str, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let mut found = false;
    for (number, path) in files(etc).into_iter().enumerate() {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let (converted, kind) = match path.extension().is_some_and(|it| it == "sources") {
            true => (stanzas(&text, component), "sources"),
            false => (lines(&text, component), "list"),
        };
        found |= !converted.is_empty();
        fs::write(directory.join(format!("{number}.{kind}")), converted)?;
    }
    ensure!(
        found,
        "the APT sources in {} name no archive that has the component {MAIN}",
        etc.display()
    );
    Ok(())
}

/// `sources.list` and what is in `sources.list.d`.
fn files(etc: &Path) -> Vec<PathBuf> {
    let mut files = vec![etc.join("sources.list")];
    if let Ok(entries) = fs::read_dir(etc.join("sources.list.d")) {
        files.extend(entries.filter_map(Result::ok).map(|it| it.path()));
    }
    let known = |it: &PathBuf| {
        let kind = it.extension().unwrap_or_default();
        it.is_file() && (kind == "list" || kind == "sources")
    };
    files.retain(known);
    files.sort();
    files
}

/// Stanzas of fields, as in `debian.sources`.
fn stanzas(text: &str, component: &str) -> String {
    let mut all = String::new();
    let mut stanza = Vec::new();
    for line in text.lines().chain([""]) {
        if line.trim().is_empty() {
            all += &converted(&stanza, component).unwrap_or_default();
            stanza.clear();
        } else if !line.starts_with('#') {
            stanza.push(line);
        }
    }
    all
}

fn converted(stanza: &[&str], component: &str) -> Option<String> {
    let mut text = String::new();
    let mut has_main = false;
    let mut dropped = false;
    for line in stanza {
        if line.starts_with([' ', '\t']) {
            // Belongs to the field before.
            if !dropped {
                text += &format!("{line}\n");
            }
            continue;
        }
        let (name, value) = line.split_once(':')?;
        let name = name.to_lowercase();
        dropped = FOR_ARCHITECTURES.contains(&name.as_str());
        text += &match name.as_str() {
            _ if dropped => continue,
            "types" if !value.split_whitespace().any(|it| it == "deb") => return None,
            "types" => "Types: deb\n".to_owned(),
            "components" => {
                has_main = value.split_whitespace().any(|it| it == MAIN);
                format!("Components: {MAIN} {component}\n")
            }
            _ => format!("{line}\n"),
        };
    }
    has_main.then(|| text + "\n")
}

/// One archive in each line, as in `sources.list`.
fn lines(text: &str, component: &str) -> String {
    let mut all = String::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let Some(rest) = line.strip_prefix("deb ") else {
            continue;
        };
        let (options, rest) = match rest
            .trim()
            .strip_prefix('[')
            .and_then(|it| it.split_once(']'))
        {
            Some((options, rest)) => (options, rest.trim()),
            None => ("", rest.trim()),
        };
        let mut words = rest.split_whitespace();
        let (Some(mirror), Some(suite)) = (words.next(), words.next()) else {
            continue;
        };
        if !words.any(|it| it == MAIN) {
            continue;
        }
        let is_kept = |it: &&str| {
            let name = it.split('=').next().unwrap_or_default();
            !FOR_ARCHITECTURES.contains(&name)
        };
        let options: Vec<&str> = options.split_whitespace().filter(is_kept).collect();
        let options = match options.is_empty() {
            true => String::new(),
            false => format!("[{}] ", options.join(" ")),
        };
        all += &format!("deb {options}{mirror} {suite} {MAIN} {component}\n");
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stanzas_get_the_component_and_lose_architectures() {
        let text = "Types: deb deb-src\nURIs: http://mirror/debian\nSuites: stable\n\
            # comment\nComponents: main contrib\nArchitectures: amd64\nSigned-By:\n key\n\n\
            Types: deb\nURIs: http://other\nSuites: x\nComponents: y\n";
        let expected = "Types: deb\nURIs: http://mirror/debian\nSuites: stable\n\
            Components: main non-free\nSigned-By:\n key\n\n";
        assert_eq!(stanzas(text, "non-free"), expected);
    }

    #[test]
    fn lines_get_the_component_and_lose_architectures() {
        let text = "# deb http://no/debian x main\ndeb-src http://mirror/debian stable main\n\
            deb [arch=amd64 signed-by=/k] http://mirror/debian stable main contrib # here\n\
            deb http://mirror/debian stable-updates main\ndeb http://other ./\n";
        let expected = "deb [signed-by=/k] http://mirror/debian stable main non-free\n\
            deb http://mirror/debian stable-updates main non-free\n";
        assert_eq!(lines(text, "non-free"), expected);
    }
}
