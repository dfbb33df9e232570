// SPDX-License-Identifier: MIT OR Apache-2.0
//! The numbers besides calls and errors.

use super::Constant;
use crate::{call, layout, tcr};

/// Every number that Linux needs besides calls and errors.
pub const CONSTANTS: [Constant; 32] = [
    Constant {
        name: "ABI_VERSION",
        value: call::ABI_VERSION as u64,
        about: "version that this header describes",
    },
    Constant {
        name: "TCR_OUTER",
        value: tcr::OUTER,
        about: "TCR_EL1 whenever Linux runs, bit for bit",
    },
    Constant {
        name: "RESERVED_ASID",
        value: tcr::RESERVED_ASID as u64,
        about: "the ASID in TTBR1_EL1, never a user's",
    },
    Constant {
        name: "GATE",
        value: layout::GATE_ENTRY,
        about: "entry of the gate",
    },
    Constant {
        name: "GATE_ENTRY_WRITE",
        value: layout::GATE_ENTRY_WRITE,
        about: "the write of TCR_EL1 on the way in; what an attacker jumps to",
    },
    Constant {
        name: "GATE_PAGE",
        value: layout::GATE,
        about: "the gate's page; the word before it is the inner-only exit write",
    },
    Constant {
        name: "GATE_REPAIR",
        value: layout::GATE_REPAIR,
        about: "entry of the gate for a vector that found another TCR_EL1",
    },
    Constant {
        name: "GATE_SLOT",
        value: layout::GATE_SLOT as u64,
        about: "root entry of the gate",
    },
    Constant {
        name: "TABLE_BLOCK_SIZE",
        value: layout::TABLE_BLOCK_SIZE,
        about: "bytes and alignment of the table block",
    },
    Constant {
        name: "ROOT_PAGE",
        value: layout::ROOT_PAGE,
        about: "page of the table block that is swapper_pg_dir",
    },
    Constant {
        name: "LINEAR_L1_PAGE",
        value: layout::LINEAR_L1_PAGE,
        about: "page of the table block that is the linear map's first level 1 table",
    },
    Constant {
        name: "VMALLOC_END",
        value: layout::VMALLOC_END,
        about: "end of Linux's vmalloc range, before root entries 232 and 240",
    },
    Constant {
        name: "FUNCTIONS",
        value: call::CORE_FUNCTIONS as u64,
        about: "functions of the core; as an index of STATISTICS: calls to unknown ones",
    },
    Constant {
        name: "TEXT_WINDOW",
        value: layout::TEXT_WINDOW,
        about: "inner-only: text; ends at the gate",
    },
    Constant {
        name: "DATA_WINDOW",
        value: layout::DATA_WINDOW,
        about: "inner-only: data",
    },
    Constant {
        name: "CPU_BLOCKS",
        value: layout::CPU_BLOCKS,
        about: "inner-only: block of CPU index 0, its stack below",
    },
    Constant {
        name: "DEVICE_WINDOW",
        value: layout::DEVICE_WINDOW,
        about: "inner-only: console",
    },
    Constant {
        name: "PHYSMAP",
        value: layout::PHYSMAP,
        about: "inner-only: physical memory, from address 0 on",
    },
    Constant {
        name: "CPU_INDEX_SHIFT",
        value: layout::CPU_INDEX_SHIFT as u64,
        about: "Aff1 is folded onto Aff0 by this shift to give a CPU's index",
    },
    Constant {
        name: "STACK_STRIDE_SHIFT",
        value: layout::STACK_STRIDE_SHIFT as u64,
        about: "log2 of the distance between the blocks of two CPUs",
    },
    Constant {
        name: "MAX_CPUS",
        value: layout::MAX_CPUS as u64,
        about: "bound of a CPU index",
    },
    Constant {
        name: "LIST_MAX",
        value: call::LIST_MAX as u64,
        about: "most entries of TABLE_WRITE_LIST",
    },
    Constant {
        name: "RELEASE_MAX",
        value: call::RELEASE_MAX as u64,
        about: "most frames of TABLE_RELEASE",
    },
    Constant {
        name: "MAP_MAX",
        value: call::MAP_MAX as u64,
        about: "most descriptors of MAP",
    },
    Constant {
        name: "POKE_MAX",
        value: call::POKE_MAX as u64,
        about: "most bytes of TEXT_POKE",
    },
    Constant {
        name: "POOL_TABLES",
        value: call::POOL_TABLES,
        about: "POOL_ADD: for tables",
    },
    Constant {
        name: "POOL_TEXT",
        value: call::POOL_TEXT,
        about: "POOL_ADD: for text",
    },
    Constant {
        name: "REGISTER_SCTLR",
        value: call::REGISTER_SCTLR,
        about: "SYSTEM_REGISTER: SCTLR_EL1",
    },
    Constant {
        name: "POKE_VALUE",
        value: call::POKE_VALUE,
        about: "TEXT_POKE: the source is the data",
    },
    Constant {
        name: "POKE_COPY",
        value: call::POKE_COPY,
        about: "TEXT_POKE: the source is a physical address",
    },
    Constant {
        name: "POKE_FILL",
        value: call::POKE_FILL,
        about: "TEXT_POKE: the source is an instruction to repeat",
    },
    Constant {
        name: "POKE_STOPPED",
        value: call::POKE_STOPPED,
        about: "TEXT_POKE, added to the kind: the other CPUs come to TEXT_WAIT",
    },
];
