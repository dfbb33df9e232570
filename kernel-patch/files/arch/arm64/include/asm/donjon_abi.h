/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that Linux shares with the inner domain. Generated from
 * inner-domain/abi by `cargo xtask header`; do not edit.
 */
#ifndef __ASM_DONJON_ABI_H
#define __ASM_DONJON_ABI_H

#include <linux/const.h>

/* version that this header describes */
#define DONJON_ABI_VERSION		_AC(0x10000, UL)

/* TCR_EL1 whenever Linux runs, bit for bit */
#define DONJON_TCR_OUTER		_AC(0x32b5113510, UL)

/* the ASID in TTBR1_EL1, never a user's */
#define DONJON_RESERVED_ASID		_AC(0x1, UL)

/* entry of the gate */
#define DONJON_GATE			_AC(0xffffa00000000080, UL)

/* the write of TCR_EL1 on the way in; what an attacker jumps to */
#define DONJON_GATE_ENTRY_WRITE		_AC(0xffffa00000000094, UL)

/* the gate's page; the word before it is the inner-only exit write */
#define DONJON_GATE_PAGE		_AC(0xffffa00000000000, UL)

/* entry of the gate for a vector that found another TCR_EL1 */
#define DONJON_GATE_REPAIR		_AC(0xffffa00000000180, UL)

/* root entry of the gate */
#define DONJON_GATE_SLOT		_AC(0x40, UL)

/* bytes and alignment of the table block */
#define DONJON_TABLE_BLOCK_SIZE		_AC(0x10000, UL)

/* page of the table block that is swapper_pg_dir */
#define DONJON_ROOT_PAGE		_AC(0x8, UL)

/* page of the table block that is the linear map's first level 1 table */
#define DONJON_LINEAR_L1_PAGE		_AC(0xd, UL)

/* end of Linux's vmalloc range, before root entries 232 and 240 */
#define DONJON_VMALLOC_END		_AC(0xfffff40000000000, UL)

/* functions of the core; as an index of STATISTICS: calls to unknown ones */
#define DONJON_FUNCTIONS		_AC(0x7, UL)

/* inner-only: text; ends at the gate */
#define DONJON_TEXT_WINDOW		_AC(0xffff9fffffe00000, UL)

/* inner-only: data */
#define DONJON_DATA_WINDOW		_AC(0xffff9fffffc00000, UL)

/* inner-only: block of CPU index 0, its stack below */
#define DONJON_CPU_BLOCKS		_AC(0xffff9fffffa07000, UL)

/* inner-only: console */
#define DONJON_DEVICE_WINDOW		_AC(0xffff9fffff800000, UL)

/* inner-only: physical memory, from address 0 on */
#define DONJON_PHYSMAP			_AC(0xffff980000000000, UL)

/* Aff1 is folded onto Aff0 by this shift to give a CPU's index */
#define DONJON_CPU_INDEX_SHIFT		_AC(0x6, UL)

/* log2 of the distance between the blocks of two CPUs */
#define DONJON_STACK_STRIDE_SHIFT	_AC(0xf, UL)

/* bound of a CPU index */
#define DONJON_MAX_CPUS			_AC(0x10, UL)

/* Functions, in x0 */

/* Enters and leaves; the measure of the gate. */
#define DONJON_FN_NULL			_AC(0x0, UL)
/* Negotiates: the major halves must agree; the caller then uses the smaller minor. */
#define DONJON_FN_VERSION		_AC(0x1, UL)
/* Reads one counter of one function on one CPU. */
#define DONJON_FN_STATISTICS		_AC(0x2, UL)
/* Copies log text from the cursor on into memory of the caller, within one page. */
#define DONJON_FN_LOG			_AC(0x3, UL)
/* Shows that every argument register arrives. */
#define DONJON_FN_ECHO			_AC(0x4, UL)
/* Reads one fact about the inner domain. */
#define DONJON_FN_INFORMATION		_AC(0x5, UL)
/* Starts a CPU through the boot stage, which leaves EL2 the same way on each. */
#define DONJON_FN_CPU_ON		_AC(0x6, UL)

/* Their names, by number, and one for calls to unknown ones */

#define DONJON_FUNCTION_NAMES		{ "null", "version", "statistics", "log", "echo", "information", "cpu_on", "unknown" }

/* Errors, in x0 afterwards */

/* no such function */
#define DONJON_ERR_UNKNOWN_FUNCTION	(-1)
/* an argument is out of range */
#define DONJON_ERR_INVALID_ARGUMENT	(-2)
/* an address is not the caller's to name */
#define DONJON_ERR_BAD_ADDRESS		(-3)
/* the major versions differ */
#define DONJON_ERR_INCOMPATIBLE_VERSION	(-4)
/* the call is right, but not now */
#define DONJON_ERR_BUSY			(-5)
/* the firmware refused */
#define DONJON_ERR_FIRMWARE		(-6)

/* What DONJON_FN_STATISTICS counts */

#define DONJON_COUNTER_CALLS		_AC(0x0, UL)
#define DONJON_COUNTER_REFUSALS		_AC(0x1, UL)
#define DONJON_COUNTER_INSTRUCTIONS	_AC(0x2, UL)

/* What DONJON_FN_INFORMATION tells */

#define DONJON_INFO_RELEASE		_AC(0x0, UL)
#define DONJON_INFO_SWITCH_MODE		_AC(0x1, UL)
#define DONJON_INFO_CPUS		_AC(0x2, UL)
#define DONJON_INFO_MEMORY_START	_AC(0x3, UL)
#define DONJON_INFO_MEMORY_SIZE		_AC(0x4, UL)
#define DONJON_INFO_TEXT_SIZE		_AC(0x5, UL)
#define DONJON_INFO_HEAP_FREE		_AC(0x6, UL)
#define DONJON_INFO_DIGEST0		_AC(0x7, UL)
#define DONJON_INFO_DIGEST1		_AC(0x8, UL)
#define DONJON_INFO_DIGEST2		_AC(0x9, UL)
#define DONJON_INFO_DIGEST3		_AC(0xa, UL)
#define DONJON_INFO_WEAKENED		_AC(0xb, UL)
#define DONJON_INFO_CPU_MASK		_AC(0xc, UL)
#define DONJON_INFO_TLBI_PAGES		_AC(0xd, UL)

/* Values of DONJON_INFO_SWITCH_MODE */

#define DONJON_SWITCH_ASID		_AC(0x1, UL)
#define DONJON_SWITCH_TLBI		_AC(0x2, UL)
#define DONJON_SWITCH_STRICT		_AC(0x3, UL)

#endif /* __ASM_DONJON_ABI_H */
