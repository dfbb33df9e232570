// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/devices.md` has the rules about devices, all of them and no others.

use donjon_core::devices::{Effect, RULES};

const PAGE: &str = include_str!("../../docs/devices.md");

fn rows() -> Vec<String> {
    let row = |rule: &donjon_core::devices::Rule| {
        let effect = match rule.effect {
            Effect::Harmless => "harmless",
            Effect::Open => "**open**",
            Effect::Mediated(..) => "**read-only**",
            Effect::Redistributors => "**in part read-only**",
            Effect::BehindSmmu => "**open**, or behind an SMMU",
            Effect::Checked => "**open**, or its registers are checked",
        };
        format!("| `{}` | {effect} | {} |", rule.compatible, rule.reason)
    };
    RULES.iter().map(row).collect()
}

#[test]
fn the_page_has_every_rule_and_no_other() {
    let found: Vec<_> = PAGE.lines().filter(|it| it.starts_with("| `")).collect();
    let wanted = rows();
    assert_eq!(found, wanted, "the table should be:\n{}", wanted.join("\n"));
}
