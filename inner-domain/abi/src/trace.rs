// SPDX-License-Identifier: MIT OR Apache-2.0
//! The format in which a build for tests (`trace-steps`) writes down the steps that it carried
//! out.
//!
//! A record is [`WORDS`] words of 8 bytes, little endian: kind and CPU, and up to three operands.
//! The order of records is the order of the steps, all CPUs together.

use crate::declare::numbers;

/// Words of a record.
pub const WORDS: usize = 4;
/// Bytes of a record.
pub const BYTES: usize = WORDS * 8;
/// Where the CPU's index stands in the first word; the [`RecordKind`] is below.
pub const CPU_SHIFT: u32 = 8;
/// Records that wait before they are written out together.
pub const BUFFERED: usize = 512;
/// Symbol of the recorder: how many records there are in all, how many of them wait, and the room
/// for those that do; all of it words.
pub const SYMBOL: &str = "DONJON_TRACE";

numbers! {
    /// What a record is about.
    pub enum RecordKind: u8 {
        /// A store to a table: the entry's physical address, what stood there, the new value.
        Store = 1,
        /// A frame was filled with zeros: its physical address.
        Zero = 2,
        /// A frame was cleaned to memory: its physical address.
        Clean = 3,
        /// DSB ISHST.
        StoreBarrier = 4,
        /// DSB ISH.
        Barrier = 5,
        /// TLBI VAALE1IS: the address.
        InvalidateLeaf = 6,
        /// TLBI VAAE1IS: the address.
        InvalidateTable = 7,
        /// TLBI ASIDE1IS: the ASID.
        InvalidateAsid = 8,
        /// TLBI VMALLE1IS.
        InvalidateAll = 9,
        /// TTBR0_EL1 of the CPU was written: the value.
        Load = 10,
        /// TLBI VALE1IS: the address and the ASID.
        InvalidatePage = 11,
        /// A call in which the CPU did any of this is over.
        End = 12,
    }
}
