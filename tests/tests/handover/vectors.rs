// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page that VBAR_EL1 is in stays mapped as it is.

use donjon_abi::call::Reason;
use donjon_core::translation::Hardware;
use donjon_core::translation::frames::FrameType;
use donjon_models::linux::*;

const VECTORS: u64 = IMAGE_VA + VECTORS_PAGE * PAGE;

#[test]
fn nothing_on_the_way_to_the_vectors_changes() {
    let mut linux = Linux::new();
    linux
        .hand_over(None, |pools, memory| {
            let leaf = pools.tables.kernel_leaf(memory, VECTORS).expect("mapped");
            assert_eq!(leaf.frame, Some(FrameType::KernelVectors));
            // The tables were copied into the pool.
            let mut entry = root() + index(VECTORS, 0) * 8;
            for level in 1..4 {
                entry = (memory.read(entry) & 0xffff_ffff_f000) + index(VECTORS, level) * 8;
                let old = memory.read(entry);
                for value in [0, old ^ 1 << 10, ORDINARY | KERNEL_DATA] {
                    let refused = pools.tables.write(memory, entry, value);
                    assert_eq!(refused, Err(Reason::NotText), "level {level}: {value:#x}");
                }
                assert_eq!(memory.read(entry), old);
            }
            assert_eq!(entry, leaf.entry);
            assert_eq!(
                pools.tables.seal_begin(memory, VECTORS),
                Err(Reason::NotText)
            );
        })
        .expect("clean");
}

#[test]
fn its_neighbours_do() {
    let mut linux = Linux::new();
    linux
        .hand_over(None, |pools, memory| {
            for va in [VECTORS - PAGE, VECTORS + PAGE] {
                let leaf = pools.tables.kernel_leaf(memory, va).expect("mapped");
                let old = memory.read(leaf.entry);
                assert_eq!(pools.tables.write(memory, leaf.entry, 0), Ok(old));
            }
        })
        .expect("clean");
}
