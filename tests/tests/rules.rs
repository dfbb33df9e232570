// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table-write rules on a small machine whose TLBs hold everything that they may.

#[path = "rules/blocks.rs"]
mod blocks;
#[path = "rules/budget.rs"]
mod budget;
#[path = "rules/import.rs"]
mod import;
#[path = "rules/private_blocks.rs"]
mod private_blocks;
#[path = "rules/random.rs"]
mod random;
#[path = "rules/steps.rs"]
mod steps;
#[path = "rules/text.rs"]
mod text;
#[path = "rules/truth_table.rs"]
mod truth_table;
#[path = "rules/weakened.rs"]
mod weakened;
