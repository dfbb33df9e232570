// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every frame of a block counts, and a page that is mapped for reading alone is not written.

use donjon_abi::call::Reason;
use donjon_core::checks::Configured;
use donjon_core::devices::WritableRegister;
use donjon_core::translation::frames::FrameType;
use donjon_models::space::memory::PAGE;
use donjon_models::space::small::{
    self, BLOCK, DEVICE, IMAGE_L2, IMAGE_L3, KERNEL_PAGE, MAPPED_REGISTERS, ORDINARY, OwnedStorage,
    REGISTER_BITS, REGISTERS,
};

const READ_ONLY: u64 = 1 << 7;
const DBM: u64 = 1 << 51;
const UNCACHED: u64 = 2 << 2;

#[test]
fn one_frame_that_is_not_ordinary_keeps_a_block_from_being_mapped() {
    let block = ORDINARY | KERNEL_PAGE & !0b10;
    for frame in [0, 1, 2, 17, 255, 256, 510, 511] {
        let mut storage = OwnedStorage::default();
        let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
        let entry = IMAGE_L2 + 20 * 8;
        pools.tables.write(&mut hw, entry, block).expect("ordinary");
        pools.tables.write(&mut hw, entry, 0).expect("cleared");
        let address = ORDINARY + frame * PAGE;
        pools.tables.frames_mut().set(address, FrameType::Inner);
        let written = pools.tables.write(&mut hw, entry, block);
        assert_eq!(written, Err(Reason::BadTarget), "frame {frame}");
        // Its neighbours are what they were.
        let next = (ORDINARY + BLOCK) | KERNEL_PAGE & !0b10;
        pools.tables.write(&mut hw, entry, next).expect("ordinary");
    }
}

#[test]
fn a_page_with_registers_of_the_inner_domain_is_read_alone() {
    let mut storage = OwnedStorage::default();
    let (mut hw, mut pools) = small::build::<Configured>(&mut storage);
    let mut written = |page: u64, bits: u64| {
        pools
            .tables
            .write(&mut hw, IMAGE_L3 + 20 * 8, 0)
            .expect("clear");
        let value = page | KERNEL_PAGE | UNCACHED | bits;
        pools
            .tables
            .write(&mut hw, IMAGE_L3 + 20 * 8, value)
            .map(|_| ())
    };
    let page = REGISTERS & !(PAGE - 1);
    assert_eq!(written(page, READ_ONLY), Ok(()));
    assert_eq!(written(page, 0), Err(Reason::NotMemory));
    assert_eq!(written(page, READ_ONLY | DBM), Err(Reason::NotMemory));
    assert_eq!(written(page + PAGE, READ_ONLY), Err(Reason::NotMemory));
    assert_eq!(written(DEVICE + PAGE, 0), Ok(()));
    assert_eq!(written(DEVICE + 2 * PAGE, 0), Err(Reason::NotMemory));
}

#[test]
fn listed_registers_alone_are_written() {
    let mut storage = OwnedStorage::default();
    let (_, pools) = small::build::<Configured>(&mut storage);
    let written = |address| pools.tables.writable_register(address);
    let register = |address| {
        let bits = REGISTER_BITS as u32;
        Some(WritableRegister { address, bits })
    };
    assert_eq!(written(REGISTERS), register(MAPPED_REGISTERS));
    assert_eq!(written(REGISTERS + 0x14), register(MAPPED_REGISTERS + 0x14));
    for other in [
        0,
        4,
        REGISTERS - 4,
        REGISTERS + 2,
        REGISTERS + 0x18,
        REGISTERS + PAGE,
    ] {
        assert_eq!(written(other), None, "{other:#x}");
    }
}
