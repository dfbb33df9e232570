// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list as documentation.

use std::fmt::Write;

use super::list::{Group, List};

const HEAD: &str = "\
<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->
<!-- Generated from kernel-patch/allow-list.toml by `cargo xtask allow-list`; do not edit. -->
# System instructions in the outer domain's code

The inner domain scans each page before the outer domain can execute it at EL1, and later each word
that is patched in. Instructions that can change translation, protection or the exception level
have bits 31 to 25 equal to 1101010 (DDI 0487, C4.1). Of these, the scan allows reads of registers
(MRS, MRRS) and the first part of this page. It refuses everything else:

* MSR, SYS, hints, barriers and PSTATE fields that are not listed. The second part gives reasons for
  some of them;
* MSRR, SYSP and SYSL: 128-bit writes, 128-bit maintenance, system instructions with a result;
* SVC, HVC, SMC, HLT, TCANCEL, DCPS;
* every word that the manual leaves unallocated.

The list names what is *allowed*, because each version of the architecture adds registers that
change translation. The [threat model](threat-model.md) has the assumptions behind the decisions.
`cargo xtask allow-list --vmlinux FILE` prints each such word of a kernel or module, with its
function.
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
