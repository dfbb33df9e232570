// SPDX-License-Identifier: MIT OR Apache-2.0
//! Physical memory through the inner domain's own view of it.

use donjon_abi::layout::PHYSMAP;

/// Writes `bytes` to physical memory of the outer domain.
///
/// Never through an address of the outer view: what stands there is the outer domain's choice.
///
/// # Safety
///
/// The range is RAM of the outer domain, checked (`donjon_core::outer_range`), and the physical
/// view is mapped. The outer domain may read and write it meanwhile; nothing is read back.
pub unsafe fn write_outer(physical: u64, bytes: &[u8]) {
    for (offset, byte) in (0u64..).zip(bytes) {
        let pointer = (PHYSMAP + physical + offset) as *mut u8;
        // SAFETY: the caller's promise, byte by byte; volatile because the other side of the
        // memory is another program's.
        unsafe { pointer.write_volatile(*byte) };
    }
}
