// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls, and wiping.

use serde::Deserialize;

use super::figure;
use crate::document::{Block, Section, Table};

#[derive(Deserialize)]
pub(super) struct Calls {
    pub(super) user: Samples,
    unknown_request: Samples,
    kernel: Samples,
    wipe_mib: Samples,
}

#[derive(Deserialize)]
pub(super) struct Samples {
    pub(super) median: f64,
    samples: Vec<u64>,
}

impl Calls {
    pub(super) fn show(&self, section: &mut Section) {
        section.heading("Calls and wiping");
        section.text(
            "A call of a compartment that returns at once. From user space the system call is in \
             it; from the kernel it is from the call into the inner domain to the instruction after \
             it. Wiping is what the end of a compartment takes more if it has a MiB of heap.",
        );
        let header = ["instructions", "median", "least", "most", "samples"];
        let mut table = Table::new("What a call takes, and wiping", &header);
        for (name, it) in [
            ("call from user space and back", &self.user),
            (
                "request that the device does not know",
                &self.unknown_request,
            ),
            ("call from the kernel and back", &self.kernel),
            ("wiping a MiB", &self.wipe_mib),
        ] {
            let ends = [it.samples.iter().min(), it.samples.iter().max()];
            let mut row = vec![name.to_owned(), figure(it.median, 0)];
            row.extend(ends.map(|it| it.map_or(String::new(), |it| figure(*it as f64, 0))));
            row.push(it.samples.len().to_string());
            table.row(row);
        }
        section.add(Block::Table(table));
    }
}
