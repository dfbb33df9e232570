/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that Linux shares with the inner domain. Generated from
 * inner-domain/abi by `cargo xtask header`; do not edit.
 */
#ifndef __ASM_DONJON_ABI_H
#define __ASM_DONJON_ABI_H

#include <linux/const.h>

/* version that this header describes */
#define DONJON_ABI_VERSION		_AC(0x40000, UL)

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
#define DONJON_FUNCTIONS		_AC(0x1b, UL)

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

/* most entries of TABLE_WRITE_LIST */
#define DONJON_LIST_MAX			_AC(0x40, UL)

/* most frames of TABLE_RELEASE */
#define DONJON_RELEASE_MAX		_AC(0x10, UL)

/* most descriptors of MAP */
#define DONJON_MAP_MAX			_AC(0x40, UL)

/* most bytes of TEXT_POKE */
#define DONJON_POKE_MAX			_AC(0x400, UL)

/* POOL_ADD: for tables */
#define DONJON_POOL_TABLES		_AC(0x0, UL)

/* POOL_ADD: for text */
#define DONJON_POOL_TEXT		_AC(0x1, UL)

/* SYSTEM_REGISTER: SCTLR_EL1 */
#define DONJON_REGISTER_SCTLR		_AC(0x0, UL)

/* TEXT_POKE: the source is the data */
#define DONJON_POKE_VALUE		_AC(0x0, UL)

/* TEXT_POKE: the source is a physical address */
#define DONJON_POKE_COPY		_AC(0x1, UL)

/* TEXT_POKE: the source is an instruction to repeat */
#define DONJON_POKE_FILL		_AC(0x2, UL)

/* TEXT_POKE, added to the kind: the other CPUs come to TEXT_WAIT */
#define DONJON_POKE_STOPPED		_AC(0x100, UL)

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
/* Starts a CPU, which arrives at the entry in the outer view with all controlled registers set. */
#define DONJON_FN_CPU_ON		_AC(0x6, UL)
/* Replaces one entry of a kernel table. */
#define DONJON_FN_TABLE_WRITE		_AC(0x7, UL)
/* Replaces table entries in order, up to the first that is refused. */
#define DONJON_FN_TABLE_WRITE_LIST	_AC(0x8, UL)
/* Gives unlinked tables back to the pool and clears them. */
#define DONJON_FN_TABLE_RELEASE		_AC(0x9, UL)
/* Loads the tree of a process, which is made if there is none, into TTBR0_EL1. */
#define DONJON_FN_SWITCH_ROOT		_AC(0xb, UL)
/* Takes a block of ordinary memory into a pool, in steps: call again while it is busy. */
#define DONJON_FN_POOL_ADD		_AC(0xc, UL)
/* Gives an unused block of a pool back. */
#define DONJON_FN_POOL_REMOVE		_AC(0xd, UL)
/* Ends the trust in Linux; with 0 checks the registers of this CPU afterwards. */
#define DONJON_FN_HANDOVER		_AC(0xe, UL)
/* Writes a register; after the hand-over only the value that it has. */
#define DONJON_FN_SYSTEM_REGISTER	_AC(0xf, UL)
/* Changes instructions within one page of kernel or module text, at its executable address. */
#define DONJON_FN_TEXT_POKE		_AC(0x10, UL)
/* Replaces a page of data by an executable copy of it. */
#define DONJON_FN_TEXT_SEAL		_AC(0x11, UL)
/* Calls the firmware, for functions on a list. */
#define DONJON_FN_FIRMWARE		_AC(0x12, UL)
/* Copies the records of refused calls from the cursor on. */
#define DONJON_FN_REFUSALS		_AC(0x13, UL)
/* Keeps this CPU inside until text has changed, or for a short while. */
#define DONJON_FN_TEXT_WAIT		_AC(0x14, UL)
/* Takes a user's page descriptors over; those that are invalid or refused leave nothing mapped. */
#define DONJON_FN_MAP			_AC(0x15, UL)
/* Takes over a user's block of 2 MiB, or what became of it. */
#define DONJON_FN_MAP_BLOCK		_AC(0x16, UL)
/* Drops what translates a range of a user's addresses, in tables and TLBs. */
#define DONJON_FN_FLUSH			_AC(0x17, UL)
/* Reads the descriptors of a user's writable pages again, as after fork. */
#define DONJON_FN_REFRESH		_AC(0x18, UL)
/* Drops all that translates a user's addresses. */
#define DONJON_FN_CLEAR			_AC(0x19, UL)
/* Drops a user's tree; refused while a CPU has it. */
#define DONJON_FN_FREE			_AC(0x1a, UL)

/* Their names, by number, and one for calls to unknown ones */

#define DONJON_FUNCTION_NAMES		{ "null", "version", "statistics", "log", "echo", "information", "cpu_on", "table_write", "table_write_list", "table_release", "removed", "switch_root", "pool_add", "pool_remove", "handover", "system_register", "text_poke", "text_seal", "firmware", "refusals", "text_wait", "map", "map_block", "flush", "refresh", "clear", "free", "unknown" }

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
/* a rule forbids it */
#define DONJON_ERR_REFUSED		(-7)
/* an instruction is not allowed */
#define DONJON_ERR_BAD_INSTRUCTION	(-8)
/* the pool is empty */
#define DONJON_ERR_NO_MEMORY		(-9)

/* Reasons of DONJON_ERR_REFUSED, in x1 afterwards */

/* entry outside every table */
#define DONJON_REASON_NOT_A_TABLE	_AC(0x1, UL)
/* misaligned entry */
#define DONJON_REASON_BAD_ENTRY		_AC(0x2, UL)
/* unknown bits or a block */
#define DONJON_REASON_BAD_DESCRIPTOR	_AC(0x3, UL)
/* permissions do not suit the frame */
#define DONJON_REASON_BAD_TARGET	_AC(0x4, UL)
/* executable at EL1 */
#define DONJON_REASON_EXECUTABLE	_AC(0x5, UL)
/* valid entry not made invalid first */
#define DONJON_REASON_LIVE_CHANGE	_AC(0x6, UL)
/* neither memory nor an allowed device */
#define DONJON_REASON_NOT_MEMORY	_AC(0x7, UL)
/* memory attributes do not suit the frame */
#define DONJON_REASON_BAD_ATTRIBUTES	_AC(0x8, UL)
/* table has a parent or another level */
#define DONJON_REASON_BAD_TABLE		_AC(0x9, UL)
/* root slot must stay as it is */
#define DONJON_REASON_BAD_SLOT		_AC(0xa, UL)
/* table is in use */
#define DONJON_REASON_IN_USE		_AC(0xb, UL)
/* frame is not of this kind */
#define DONJON_REASON_WRONG_FRAME	_AC(0xc, UL)
/* ASID is reserved or taken */
#define DONJON_REASON_BAD_ASID		_AC(0xd, UL)
/* register may not have this value */
#define DONJON_REASON_BAD_REGISTER	_AC(0xe, UL)
/* not text that may change */
#define DONJON_REASON_NOT_TEXT		_AC(0xf, UL)
/* firmware function not on the list */
#define DONJON_REASON_BAD_FIRMWARE_CALL	_AC(0x10, UL)
/* before the hand-over or twice */
#define DONJON_REASON_WRONG_TIME	_AC(0x11, UL)
/* hand-over found something forbidden */
#define DONJON_REASON_BAD_MACHINE	_AC(0x12, UL)
/* no pool has room */
#define DONJON_REASON_NO_ROOM		_AC(0x13, UL)
/* another CPU may execute the text */
#define DONJON_REASON_LIVE_TEXT		_AC(0x14, UL)

/* Their words, by number */

#define DONJON_REASON_WORDS		{ "", "entry outside every table", "misaligned entry", "unknown bits or a block", "permissions do not suit the frame", "executable at EL1", "valid entry not made invalid first", "neither memory nor an allowed device", "memory attributes do not suit the frame", "table has a parent or another level", "root slot must stay as it is", "table is in use", "frame is not of this kind", "ASID is reserved or taken", "register may not have this value", "not text that may change", "firmware function not on the list", "before the hand-over or twice", "hand-over found something forbidden", "no pool has room", "another CPU may execute the text" }

/* What DONJON_FN_STATISTICS counts */

#define DONJON_COUNTER_CALLS		_AC(0x0, UL)
#define DONJON_COUNTER_REFUSALS		_AC(0x1, UL)
#define DONJON_COUNTER_INSTRUCTIONS	_AC(0x2, UL)
#define DONJON_COUNTER_ENTRIES		_AC(0x3, UL)
#define DONJON_COUNTER_WORST		_AC(0x4, UL)

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
#define DONJON_INFO_WAITS_DOMAIN	_AC(0xe, UL)
#define DONJON_INFO_WAITS_TREES		_AC(0xf, UL)
#define DONJON_INFO_WAITS_ARENA		_AC(0x10, UL)

/* Values of DONJON_INFO_SWITCH_MODE */

#define DONJON_SWITCH_ASID		_AC(0x1, UL)
#define DONJON_SWITCH_TLBI		_AC(0x2, UL)
#define DONJON_SWITCH_STRICT		_AC(0x3, UL)

#endif /* __ASM_DONJON_ABI_H */
