// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list as documentation.

use std::fmt::Write;

use super::list::{Group, List};

const HEAD: &str = "\
<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->
<!-- Generated from kernel-patch/allow-list.toml by `cargo xtask allow-list`; do not edit. -->
# System instructions in the outer domain's code

In every page that the outer domain can execute at EL1, the inner domain looks at each word before the page becomes executable, and later at each word
that is patched in. What can change translation, protection or the exception level has bits 31 to 25 equal to 1101010
(DDI 0487, C4.1). Of these, reads of registers (MRS, MRRS) are allowed, and what the first part of this page lists. Everything else is refused:

* MSR, SYS, hints, barriers and PSTATE fields that are not listed, whether the second part names them or not;
* all of MSRR, SYSP and SYSL: 128-bit writes, 128-bit maintenance, and system instructions with a result;
* SVC, HVC, SMC, HLT, TCANCEL, DCPS;
* every word that the manual leaves unallocated there.

A list of what is *allowed*, because each version of the architecture adds registers that change translation. [threat-model](threat-model.md) says what the decisions
rest on. `cargo xtask allow-list --vmlinux FILE` shows each such word of a kernel or module, with its function.
";

/// `docs/allow-list.md`.
pub fn document(list: &List) -> String {
    let mut out = String::from(HEAD);
    out.push_str("\n## Allowed\n");
    groups(&mut out, &list.allowed);
    out.push_str("\n## Refused\n");
    groups(&mut out, &list.refused);
    out
}

fn groups(out: &mut String, groups: &[Group]) {
    for group in groups {
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "\n### {}\n\n{}\n\n| encoding | name | reason |\n|---|---|---|\n",
            group.title, group.text
        );
        for entry in &group.entries {
            let encodings: Vec<String> = entry
                .encoding
                .split_whitespace()
                .map(|it| format!("`{it}`"))
                .collect();
            let _ = writeln!(
                out,
                "| {} | {} | {} |",
                encodings.join(" "),
                entry.name,
                entry.why
            );
        }
    }
}
