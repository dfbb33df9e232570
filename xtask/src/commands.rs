// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page of all commands, from the command line's own definitions.

use anyhow::Result;
use clap::CommandFactory;
use clap_markdown::{MarkdownOptions, help_markdown_command_custom};
use donjon_generator::generated;

use crate::cli::Arguments;

/// The page.
const FILE: &str = "docs/commands.md";

/// What stands before the generated part.
const HEAD: &str = "<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n\
    <!-- Written by `cargo xtask commands`; do not edit. -->\n\n";

/// Writes the page, or with `check` only compares it.
///
/// # Errors
///
/// With `check`, when the page differs from the command line.
pub fn run(check: bool) -> Result<()> {
    generated::write_or_check(
        [(FILE, page())],
        check,
        "the command line",
        "cargo xtask commands",
    )
}

/// Returns the page as Markdown.
fn page() -> String {
    // Links of the library's own table of contents do not work for a name with a space.
    let options = MarkdownOptions::new()
        .title("Commands".to_owned())
        .show_table_of_contents(false)
        .show_footer(false);
    let text = help_markdown_command_custom(&Arguments::command(), &options);
    format!("{HEAD}{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_each_command_and_its_options() {
        let page = page();
        for command in Arguments::command().get_subcommands() {
            let heading = format!("## `cargo xtask {}`", command.get_name());
            assert!(page.contains(&heading), "{heading}");
        }
        assert!(page.contains("`--rootfs <ROOT>`"), "{page}");
    }
}
