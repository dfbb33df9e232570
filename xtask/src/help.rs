// SPDX-License-Identifier: MIT OR Apache-2.0
//! The help of `cargo xtask`: subcommands in groups, by what a user wants to do.

use std::fmt::Write;

use clap::Command;

/// Groups of subcommands in the order of the help. Each subcommand is in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Run",
        &["run", "kernel", "compartment", "flow", "verify", "endorse"],
    ),
    ("Check", &["check", "test", "audit", "attack", "kselftest"]),
    ("Measure", &["bench", "report"]),
    ("Boards and releases", &["image", "flash", "release"]),
    (
        "Develop",
        &["header", "allow-list", "architecture", "commands"],
    ),
];

/// Gives a command line the help that names its subcommands in groups.
pub fn in_groups(command: Command) -> Command {
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        // Writing to a string does not fail.
        let _ = write!(text, "\n{title}:\n");
        for name in names {
            let about = about_of(&command, name).unwrap_or_default();
            let _ = writeln!(text, "  {name:<12} {about}");
        }
    }
    text.push_str(
        "\n`cargo xtask COMMAND --help` has the options of a command.\n\nOptions:\n{options}",
    );
    command.help_template(text)
}

/// Returns the line that describes a subcommand, if there is one of that name.
fn about_of(command: &Command, name: &str) -> Option<String> {
    Some(command.find_subcommand(name)?.get_about()?.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Arguments;

    /// Most characters of a line that describes a subcommand.
    const LONGEST: usize = 70;

    #[test]
    fn each_subcommand_is_in_one_group() {
        let command = Arguments::command();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|it| it.1.iter().copied()).collect();
        let there: BTreeSet<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), there);
        assert_eq!(listed.len(), there.len(), "one is in two groups");
    }

    #[test]
    fn each_subcommand_is_described_in_a_line() {
        for subcommand in Arguments::command().get_subcommands() {
            let about = subcommand.get_about().expect("a description").to_string();
            assert!(about.len() <= LONGEST, "{}: {about}", subcommand.get_name());
        }
    }

    #[test]
    fn the_help_names_groups_and_subcommands() {
        let help = in_groups(Arguments::command()).render_help().to_string();
        assert!(help.contains("\nMeasure:\n  bench "), "{help}");
    }
}
