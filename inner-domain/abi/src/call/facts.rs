// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters and facts that the inner domain reports.

use crate::declare::numbers;

numbers! {
    /// What `STATISTICS` counts, for each function on each CPU.
    pub enum Counter: u64 {
        /// Calls that reached the function.
        Calls = 0,
        /// Calls that it refused.
        Refusals = 1,
        /// Instructions in the handler, while PMCCNTR_EL0 runs and counts them.
        Instructions = 2,
        /// Table entries that it wrote.
        Entries = 3,
        /// Most instructions of one call, under the same condition.
        Worst = 4,
    }
}

numbers! {
    /// What `INFORMATION` tells.
    pub enum Information: u64 {
        /// Version of the inner domain: major, minor, patch in 16 bits each.
        Release = 0,
        /// Switch mode: SWITCH_ASID, SWITCH_TLBI or SWITCH_STRICT.
        SwitchMode = 1,
        /// CPUs that the inner domain has a stack for.
        Cpus = 2,
        /// First byte of its physical memory.
        MemoryStart = 3,
        /// Bytes of its physical memory.
        MemorySize = 4,
        /// Bytes of it that hold text and read-only data.
        TextSize = 5,
        /// Free bytes of its heap.
        HeapFree = 6,
        /// Word 0 of the SHA-256 digest of Linux, big-endian.
        Digest0 = 7,
        /// Word 1 of it.
        Digest1 = 8,
        /// Word 2 of it.
        Digest2 = 9,
        /// Word 3 of it.
        Digest3 = 10,
        /// Bits that tell a weakened build; 0 in every normal one.
        Weakened = 11,
        /// Mask of the CPU indices that have a stack.
        CpuMask = 12,
        /// TLB invalidations by address that the gate does on the way out; 0 unless in mode tlbi.
        TlbiPages = 13,
        /// How often CPUs found the lock of the protected state held.
        WaitsDomain = 14,
        /// How often CPUs found the lock of a tree of user tables held.
        WaitsTrees = 15,
        /// How often CPUs found the lock of the pool of user tables held.
        WaitsArena = 16,
        /// Whether Linux has devices with DMA: DMA_STRICT or DMA_OPEN.
        DmaProfile = 17,
        /// Where the machine's identity comes from: IDENTITY_NONE or IDENTITY_GIVEN.
        Identity = 18,
        /// Where random numbers come from: RANDOM_NONE, RANDOM_TREE or RANDOM_CPU.
        Randomness = 19,
        /// Frames of private memory that no compartment has.
        PrivateFree = 20,
    }
}
