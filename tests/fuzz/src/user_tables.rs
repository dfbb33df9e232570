// SPDX-License-Identifier: MIT OR Apache-2.0
//! libFuzzer chooses calls about user tables. `DONJON_FUZZ_WITHOUT` names a check that is left out.
#![no_main]

use donjon_fuzz::{judge, mutate};
use donjon_models::cases::World;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|case: &[u8]| judge(World::UserTables, case));

fuzz_mutator! {
    |case: &mut [u8], size: usize, most: usize, seed: u32| { mutate(case, size, most, seed) }
}
