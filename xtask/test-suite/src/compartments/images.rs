// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in compartments, from their images.

use anyhow::{Result, ensure};
use donjon_builder::arguments::HostArguments;
use donjon_builder::bare::InnerVariant;
use donjon_builder::compartment;
use donjon_builder::run::prepare;
use donjon_machine::arguments::Switch;
use donjon_machine::machine::Machine;
use donjon_machine::said::says;

use crate::test::Test;

/// The examples in a guest.
pub fn test(host: &HostArguments) -> Test {
    let host = host.clone();
    Test::beside("compartments:images", move || images(&host))
}

/// The examples do what they should, the inner domain measures what the host computes, and what is
/// no image is refused.
fn images(host: &HostArguments) -> Result<()> {
    const SCRIPT: &str = "\
for it in /usr/lib/donjon/hello*; do
    echo \"measured $it $(donjon-run --measure $it)\"
    donjon-run --calls 2 $it one 'two three' || exit 1
done
echo four | donjon-run /usr/lib/donjon/hello - || exit 1
donjon-host || exit 1
donjon-run /bin/busybox 2>&1
echo status $?
donjon-run /usr/lib/donjon/hello $(seq 2000) 2>&1
echo status $?
exit 0
";
    let boot = prepare(
        host,
        Machine::new(&super::machine(Switch::Asid))?,
        &InnerVariant::sound(Switch::Asid),
    )?
    .boot;
    let text = says(&boot, SCRIPT, super::TIMEOUT)?.text;
    let count = |line: &str| text.lines().filter(|it| *it == line).count();
    let has = |line: &str| {
        ensure!(count(line) > 0, "no `{line}` in:\n{text}");
        Ok(())
    };
    let mut examples = compartment::examples()?;
    examples.retain(|it| it.0.contains("/hello"));
    ensure!(examples.len() == 2, "{} examples", examples.len());
    for (path, image) in &examples {
        has(&format!(
            "measured {path} {}",
            compartment::measurement(image)?
        ))?;
    }
    for line in [
        "hello from a compartment, call 2",
        "hello two three",
        "hello four",
        "HELLO FROM A COMPARTMENT, CALL 1",
        "HELLO HOST",
        "status 125",
    ] {
        has(line)?;
    }
    ensure!(count("hello one") == 4, "{text}");
    ensure!(text.contains("donjon-run: /bin/busybox: "), "{text}");
    ensure!(text.contains("the arguments are longer than"), "{text}");
    Ok(())
}

#[cfg(test)]
mod tests {
    /// What readers copy is what is tested.
    #[test]
    fn the_page_shows_the_host_that_guests_have() {
        let source = include_str!("../../../../guests/client/examples/host.rs");
        let (_, program) = source.split_once("\n\n").expect("a program");
        let page = include_str!("../../../../docs/compartments.md");
        assert!(page.contains(&format!("```rust\n{program}```")));
    }
}
