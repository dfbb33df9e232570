// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel configuration: fragments over `tinyconfig`, and whether they took effect.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

/// The value that a fragment asks for: `None` for off.
type Wish<'a> = (&'a str, Option<&'a str>);

/// Lays the options of `fragments` over `config`; the last one wins.
pub fn merge(config: &Path, fragments: &[PathBuf]) -> Result<()> {
    let mut lines: Vec<String> = fs::read_to_string(config)?
        .lines()
        .map(str::to_owned)
        .collect();
    for fragment in fragments {
        for (name, value) in wishes(&read(fragment)?) {
            lines.retain(|line| option_of(line) != Some(name));
            lines.push(match value {
                Some(value) => format!("{name}={value}"),
                None => format!("# {name} is not set"),
            });
        }
    }
    fs::write(config, lines.join("\n") + "\n").context("writing the kernel configuration")
}

fn read(fragment: &Path) -> Result<String> {
    fs::read_to_string(fragment).with_context(|| format!("reading {}", fragment.display()))
}

/// Refuses a configuration in which an option of `fragments` did not take effect; of two wishes
/// for one option the last one counts.
pub fn check(config: &Path, fragments: &[PathBuf]) -> Result<()> {
    let found = fs::read_to_string(config)?;
    let texts: Vec<String> = fragments.iter().map(|it| read(it)).collect::<Result<_>>()?;
    let mut wanted = BTreeMap::new();
    for (fragment, text) in fragments.iter().zip(&texts) {
        wanted.extend(wishes(text).map(|(name, value)| (name, (value, fragment))));
    }
    let mut conflicts = Vec::new();
    for (name, (value, fragment)) in wanted {
        let got = value_in(&found, name);
        if got != value {
            conflicts.push(format!(
                "  {name}: {} asks for {}, the kernel has {}",
                fragment.file_name().unwrap_or_default().to_string_lossy(),
                value.unwrap_or("n"),
                got.unwrap_or("n")
            ));
        }
    }
    if conflicts.is_empty() {
        return Ok(());
    }
    bail!(
        "kernel options in conflict:\n{}\nAnother option forces the value, a dependency is \
         missing, or this Linux has no option of that name: look it up in the Kconfig files, then \
         change the file that asks for it (those of Donjon are in kernel-patch/config)",
        conflicts.join("\n")
    )
}

/// Refuses a text that is not all options and comments.
///
/// # Errors
///
/// With the first line that is neither.
pub fn expect_options(text: &str) -> Result<()> {
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let is_option = line.split_once('=').is_some_and(|(name, value)| {
            let is_space = |it: char| it.is_whitespace();
            name.starts_with("CONFIG_") && !name.contains(is_space) && !value.starts_with(is_space)
        });
        ensure!(
            line.is_empty() || line.starts_with('#') || is_option,
            "line {}, `{line}`, is no option of the kernel: write CONFIG_NAME=value, CONFIG_NAME=n \
             or a comment with #",
            number + 1
        );
    }
    Ok(())
}

fn wishes(fragment: &str) -> impl Iterator<Item = Wish<'_>> {
    fragment.lines().filter_map(|line| {
        let line = line.trim();
        if line.starts_with("# CONFIG_") && line.ends_with(" is not set") {
            return Some((option_of(line)?, None));
        }
        let (name, value) = line.split_once('=')?;
        let value = value.trim_matches('"').len().ne(&0).then_some(value);
        name.starts_with("CONFIG_")
            .then_some((name, value.filter(|it| *it != "n")))
    })
}

/// The option that a line of a configuration is about.
fn option_of(line: &str) -> Option<&str> {
    match line.strip_prefix("# ") {
        Some(rest) => rest.strip_suffix(" is not set"),
        None => line.split_once('=').map(|(name, _)| name),
    }
}

fn value_in<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    config
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_wishes_and_n_is_off() {
        let fragment = "# CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=n\nCONFIG_D=16\n# CONFIG_E is not set\n";
        let expected = vec![
            ("CONFIG_B", Some("y")),
            ("CONFIG_C", None),
            ("CONFIG_D", Some("16")),
            ("CONFIG_E", None),
        ];
        assert_eq!(wishes(fragment).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_line_that_is_no_option_is_named() {
        assert!(expect_options("# why\n\nCONFIG_A=y\n# CONFIG_B is not set\n").is_ok());
        let error = expect_options("CONFIG_A=y\nCONFIG_B y\n").expect_err("no option");
        assert!(error.to_string().contains("line 2, `CONFIG_B y`"));
        assert!(expect_options("CONFIG_B = y\n").is_err());
        assert!(expect_options("CONFIG_C=\"two words\"\n").is_ok());
    }

    #[test]
    fn an_option_is_found_by_its_whole_name() {
        let config = "CONFIG_AB=y\n# CONFIG_A is not set\n";
        assert_eq!(value_in(config, "CONFIG_A"), None);
        assert_eq!(value_in(config, "CONFIG_AB"), Some("y"));
    }
}
