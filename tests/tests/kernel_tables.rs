// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table-write rules on a small machine whose TLBs hold everything that they may.

#[path = "kernel_tables/blocks.rs"]
mod blocks;
#[path = "kernel_tables/budget.rs"]
mod budget;
#[path = "kernel_tables/import.rs"]
mod import;
#[path = "kernel_tables/private_blocks.rs"]
mod private_blocks;
#[path = "kernel_tables/random.rs"]
mod random;
#[path = "kernel_tables/steps.rs"]
mod steps;
#[path = "kernel_tables/text.rs"]
mod text;
#[path = "kernel_tables/truth_table.rs"]
mod truth_table;
#[path = "kernel_tables/weakened.rs"]
mod weakened;
