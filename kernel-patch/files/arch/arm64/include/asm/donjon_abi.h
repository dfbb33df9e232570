/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers and buffers that Linux shares with the inner domain. Generated from
 * inner-domain/abi by `cargo xtask header`; do not edit.
 */
#ifndef __ASM_DONJON_ABI_H
#define __ASM_DONJON_ABI_H

#include <linux/const.h>

/*
 * Version of the interface. The major half changes when an old caller would
 * misunderstand.
 */
#define DONJON_ABI_VERSION		_AC(0x50003, UL)

/* TCR_EL1 whenever Linux runs, bit for bit. */
#define DONJON_TCR_OUTER		_AC(0x32b5113510, UL)

/* The ASID in TTBR1_EL1, never a user's; valid with 8-bit ASIDs as well. */
#define DONJON_RESERVED_ASID		_AC(0x1, UL)

/* The last ASID that Linux gives no process. */
#define DONJON_LAST_RESERVED_ASID	_AC(0x2, UL)

/* Root slot of the gate. */
#define DONJON_GATE_SLOT		_AC(0x40, UL)

/* Inner-only: physical memory, from address 0 on. */
#define DONJON_PHYSMAP			_AC(0xffff980000000000, UL)

/* The gate's page. The word before it is the inner-only exit write. */
#define DONJON_GATE_PAGE		_AC(0xffffa00000000000, UL)

/* Where a call enters. */
#define DONJON_GATE			_AC(0xffffa00000000080, UL)

/* The write of TCR_EL1 on the way in: what an attacker jumps to. */
#define DONJON_GATE_ENTRY_WRITE		_AC(0xffffa00000000094, UL)

/* Where a vector that found another TCR_EL1 enters. */
#define DONJON_GATE_REPAIR		_AC(0xffffa00000000180, UL)

/* Inner-only: text and read-only data; ends at the gate's page. */
#define DONJON_TEXT_WINDOW		_AC(0xffff9fffffe00000, UL)

/* Inner-only: data and heap. */
#define DONJON_DATA_WINDOW		_AC(0xffff9fffffc00000, UL)

/* Inner-only: the device that the inner domain drives, the console. */
#define DONJON_DEVICE_WINDOW		_AC(0xffff9fffff800000, UL)

/* Most CPUs that the gate can tell apart: the bound of a CPU's index. */
#define DONJON_MAX_CPUS			_AC(0x10, UL)

/* log2 of the distance between the CPU blocks of two CPUs. */
#define DONJON_STACK_STRIDE_SHIFT	_AC(0xf, UL)

/*
 * Inner-only: CPU block (one page: counters, identity) of CPU index 0; the
 * stack grows down from it.
 */
#define DONJON_CPU_BLOCKS		_AC(0xffff9fffffa07000, UL)

/* Aff1 is folded onto Aff0 by this shift to give a CPU's index. */
#define DONJON_CPU_INDEX_SHIFT		_AC(0x6, UL)

/* Bytes and alignment of the table block. */
#define DONJON_TABLE_BLOCK_SIZE		_AC(0x10000, UL)

/* Page of the table block: the root table, swapper_pg_dir. */
#define DONJON_ROOT_PAGE		_AC(0x8, UL)

/*
 * Page of the table block: level 1 table of the first slot of Linux's linear
 * map.
 */
#define DONJON_LINEAR_L1_PAGE		_AC(0xd, UL)

/* Where Linux's vmalloc range ends: before root entries 232 and 240. */
#define DONJON_VMALLOC_END		_AC(0xfffff40000000000, UL)

/*
 * One more than the highest number of a function of the core. As an index of
 * STATISTICS: calls to unknown functions.
 */
#define DONJON_FUNCTIONS		_AC(0x2d, UL)

/* Most entries of TABLE_WRITE_LIST. */
#define DONJON_LIST_MAX			_AC(0x40, UL)

/* Most frames of TABLE_RELEASE. */
#define DONJON_RELEASE_MAX		_AC(0x10, UL)

/* Most descriptors of MAP. */
#define DONJON_MAP_MAX			_AC(0x40, UL)

/* Most bytes of TEXT_POKE. */
#define DONJON_POKE_MAX			_AC(0x400, UL)

/* Most bytes of the tag of PROPERTIES. */
#define DONJON_PROPERTIES_MAX		_AC(0x2c, UL)

/* POOL_ADD: most blocks of private memory that are taken together. */
#define DONJON_POOL_TOGETHER_MAX	_AC(0x20, UL)

/* POOL_ADD: for tables. */
#define DONJON_POOL_TABLES		_AC(0x0, UL)

/* POOL_ADD: for the text of modules. */
#define DONJON_POOL_TEXT		_AC(0x1, UL)

/* POOL_ADD: for compartments. The linear map shows the block no more. */
#define DONJON_POOL_PRIVATE		_AC(0x2, UL)

/* COMPARTMENT_ADD: constants. */
#define DONJON_ACCESS_READ		_AC(0x0, UL)

/* COMPARTMENT_ADD: data. */
#define DONJON_ACCESS_WRITE		_AC(0x1, UL)

/* COMPARTMENT_ADD: code. */
#define DONJON_ACCESS_EXECUTE		_AC(0x2, UL)

/* SYSTEM_REGISTER: SCTLR_EL1. */
#define DONJON_REGISTER_SCTLR		_AC(0x0, UL)

/* TEXT_POKE: the source is the data itself, 4 or 8 bytes. */
#define DONJON_POKE_VALUE		_AC(0x0, UL)

/* TEXT_POKE: the source is the physical address of a buffer. */
#define DONJON_POKE_COPY		_AC(0x1, UL)

/* TEXT_POKE: the source is an instruction to fill the range with. */
#define DONJON_POKE_FILL		_AC(0x2, UL)

/*
 * TEXT_POKE, added to the kind: the other CPUs are on their way into TEXT_WAIT.
 * The answer is BUSY until all are there.
 */
#define DONJON_POKE_STOPPED		_AC(0x100, UL)

/* Bytes of a message in the transcript of a run under flow attestation. */
#define DONJON_FLOW_MESSAGE		_AC(0x80, UL)

/*
 * Offset of the digest in the message of a segment, where COMPARTMENT_COMMIT
 * reads it.
 */
#define DONJON_FLOW_DIGEST		_AC(0x60, UL)

/* Bytes of a flow report, as COMPARTMENT_FLOW_REPORT writes it. */
#define DONJON_FLOW_RECORD		_AC(0xc0, UL)

/* First address of the flow log in a compartment. */
#define DONJON_FLOW_LOG			_AC(0x3800000000, UL)

/* Most pages of a flow log. */
#define DONJON_FLOW_LOG_PAGES_MAX	_AC(0x800, UL)

/* Functions, in x0 */

/* Enters and leaves; the measure of the gate. */
#define DONJON_FN_NULL			_AC(0x0, UL)
/*
 * Negotiates: the major halves must agree; the caller then uses the smaller
 * minor.
 */
#define DONJON_FN_VERSION		_AC(0x1, UL)
/* Reads one counter of one function on one CPU. */
#define DONJON_FN_STATISTICS		_AC(0x2, UL)
/*
 * Copies log text from the cursor on into memory of the caller, within one
 * page.
 */
#define DONJON_FN_LOG			_AC(0x3, UL)
/* Shows that every argument register arrives. */
#define DONJON_FN_ECHO			_AC(0x4, UL)
/* Reads one fact about the inner domain. */
#define DONJON_FN_INFORMATION		_AC(0x5, UL)
/*
 * Starts a CPU, which arrives at the entry in the outer view with all
 * controlled registers set.
 */
#define DONJON_FN_CPU_ON		_AC(0x6, UL)
/* Replaces one entry of a kernel table. */
#define DONJON_FN_TABLE_WRITE		_AC(0x7, UL)
/* Replaces table entries in order, up to the first that is refused. */
#define DONJON_FN_TABLE_WRITE_LIST	_AC(0x8, UL)
/* Gives unlinked tables back to the pool and clears them. */
#define DONJON_FN_TABLE_RELEASE		_AC(0x9, UL)
/*
 * Loads the tree of a process, which is made if there is none, into TTBR0_EL1.
 */
#define DONJON_FN_SWITCH_ROOT		_AC(0xb, UL)
/*
 * Takes a block of ordinary memory into a pool, a part in each call: call again
 * while it is busy. A block of private memory may wait: those that wait are
 * taken with the first that does not, POOL_TOGETHER_MAX at most, and one search
 * looks for all. If the search finds one of them mapped elsewhere, all are
 * ordinary again. A block that cannot be taken for another reason changes
 * nothing for those that wait.
 */
#define DONJON_FN_POOL_ADD		_AC(0xc, UL)
/*
 * Gives an unused block of a pool back, private memory a part in each call:
 * call again while it is busy.
 */
#define DONJON_FN_POOL_REMOVE		_AC(0xd, UL)
/*
 * Ends the trust in Linux; with 0 checks the registers of this CPU afterwards.
 */
#define DONJON_FN_HANDOVER		_AC(0xe, UL)
/* Writes a register; after the hand-over only the value that it has. */
#define DONJON_FN_SYSTEM_REGISTER	_AC(0xf, UL)
/*
 * Changes instructions within one page of kernel or module text, at its
 * executable address.
 */
#define DONJON_FN_TEXT_POKE		_AC(0x10, UL)
/* Replaces a page of data by an executable copy of it. */
#define DONJON_FN_TEXT_SEAL		_AC(0x11, UL)
/* Calls the firmware, for functions on a list. */
#define DONJON_FN_FIRMWARE		_AC(0x12, UL)
/* Copies the records of refused calls from the cursor on. */
#define DONJON_FN_REFUSALS		_AC(0x13, UL)
/* Keeps this CPU inside until text has changed, or for a short while. */
#define DONJON_FN_TEXT_WAIT		_AC(0x14, UL)
/*
 * Takes a user's page descriptors over; those that are invalid or refused leave
 * nothing mapped.
 */
#define DONJON_FN_MAP			_AC(0x15, UL)
/* Takes over a user's block of 2 MiB, or what became of it. */
#define DONJON_FN_MAP_BLOCK		_AC(0x16, UL)
/* Drops what translates a range of a user's addresses, in tables and TLBs. */
#define DONJON_FN_FLUSH			_AC(0x17, UL)
/*
 * Takes the right to write a user's pages away, as after fork: where their
 * descriptors, which are read again, say so, or everywhere.
 */
#define DONJON_FN_REFRESH		_AC(0x18, UL)
/* Drops all that translates a user's addresses. */
#define DONJON_FN_CLEAR			_AC(0x19, UL)
/* Drops a user's tree; refused while a CPU has it. */
#define DONJON_FN_FREE			_AC(0x1a, UL)
/*
 * Writes a register of 32 bits in a page of devices that Linux maps read-only,
 * if it is on the list.
 */
#define DONJON_FN_DEVICE_WRITE		_AC(0x1b, UL)
/*
 * Asks the VideoCore of a Raspberry Pi for a property, by one tag. Its answer
 * takes the place of the value. When it has not answered yet, the error is BUSY
 * and the same call waits on.
 */
#define DONJON_FN_PROPERTIES		_AC(0x1c, UL)
/* Makes a compartment without pages. */
#define DONJON_FN_COMPARTMENT_CREATE	_AC(0x1d, UL)
/*
 * Adds a page to a compartment that is not sealed, a piece in each call: copied
 * from Linux's memory and measured.
 */
#define DONJON_FN_COMPARTMENT_ADD	_AC(0x1e, UL)
/* Lets a compartment read and write a page of Linux's. */
#define DONJON_FN_COMPARTMENT_SHARE	_AC(0x1f, UL)
/* Ends the building of a compartment, after which it can run. */
#define DONJON_FN_COMPARTMENT_SEAL	_AC(0x20, UL)
/*
 * Runs a compartment until it is left. x0 is a positive number then, an exit.
 * Where there is SVE or SME, Linux has saved their registers.
 */
#define DONJON_FN_COMPARTMENT_RUN	_AC(0x21, UL)
/* Wipes a compartment that does not run, a part in each call. */
#define DONJON_FN_COMPARTMENT_DESTROY	_AC(0x22, UL)
/* Reads one fact about a compartment. */
#define DONJON_FN_COMPARTMENT_INFORMATION	_AC(0x23, UL)
/*
 * Makes a copy of a template, which is a compartment that is sealed and has not
 * run.
 */
#define DONJON_FN_COMPARTMENT_CLONE	_AC(0x24, UL)
/* Copies a part of what a clone is made from; it can run when all is copied. */
#define DONJON_FN_COMPARTMENT_COPY	_AC(0x25, UL)
/* Joins two compartments by a channel. */
#define DONJON_FN_COMPARTMENT_CONNECT	_AC(0x26, UL)
/*
 * Puts a compartment that is sealed and has not run, no clone, under flow
 * attestation, and says which arguments its only call will have.
 */
#define DONJON_FN_COMPARTMENT_FLOW	_AC(0x27, UL)
/* Adds a page of Linux's to the end of a log, before the compartment runs. */
#define DONJON_FN_COMPARTMENT_FLOW_LOG	_AC(0x28, UL)
/*
 * Binds the digest of a segment that is closed, and shows the segment's states:
 * writes the message of the segment over the buffer, where the digest stood in
 * its place.
 */
#define DONJON_FN_COMPARTMENT_COMMIT	_AC(0x29, UL)
/*
 * Ends the transcript of a run that is over, or of one that is cut now: writes
 * the last message.
 */
#define DONJON_FN_COMPARTMENT_FLOW_END	_AC(0x2a, UL)
/* Makes the report that binds a transcript. */
#define DONJON_FN_COMPARTMENT_FLOW_REPORT	_AC(0x2b, UL)
/*
 * Starts a transfer of the USB controller's that the inner domain writes for
 * Linux, if devices reach all of it. The words are those of the channel's
 * registers.
 */
#define DONJON_FN_USB_START		_AC(0x2c, UL)

/* An array with their names, by number, and one for calls to unknown ones */

#define DONJON_FUNCTION_NAMES {						\
	[DONJON_FN_NULL] = "null",					\
	[DONJON_FN_VERSION] = "version",				\
	[DONJON_FN_STATISTICS] = "statistics",				\
	[DONJON_FN_LOG] = "log",					\
	[DONJON_FN_ECHO] = "echo",					\
	[DONJON_FN_INFORMATION] = "information",			\
	[DONJON_FN_CPU_ON] = "cpu_on",					\
	[DONJON_FN_TABLE_WRITE] = "table_write",			\
	[DONJON_FN_TABLE_WRITE_LIST] = "table_write_list",		\
	[DONJON_FN_TABLE_RELEASE] = "table_release",			\
	[10] = "removed",						\
	[DONJON_FN_SWITCH_ROOT] = "switch_root",			\
	[DONJON_FN_POOL_ADD] = "pool_add",				\
	[DONJON_FN_POOL_REMOVE] = "pool_remove",			\
	[DONJON_FN_HANDOVER] = "handover",				\
	[DONJON_FN_SYSTEM_REGISTER] = "system_register",		\
	[DONJON_FN_TEXT_POKE] = "text_poke",				\
	[DONJON_FN_TEXT_SEAL] = "text_seal",				\
	[DONJON_FN_FIRMWARE] = "firmware",				\
	[DONJON_FN_REFUSALS] = "refusals",				\
	[DONJON_FN_TEXT_WAIT] = "text_wait",				\
	[DONJON_FN_MAP] = "map",					\
	[DONJON_FN_MAP_BLOCK] = "map_block",				\
	[DONJON_FN_FLUSH] = "flush",					\
	[DONJON_FN_REFRESH] = "refresh",				\
	[DONJON_FN_CLEAR] = "clear",					\
	[DONJON_FN_FREE] = "free",					\
	[DONJON_FN_DEVICE_WRITE] = "device_write",			\
	[DONJON_FN_PROPERTIES] = "properties",				\
	[DONJON_FN_COMPARTMENT_CREATE] = "compartment_create",		\
	[DONJON_FN_COMPARTMENT_ADD] = "compartment_add",		\
	[DONJON_FN_COMPARTMENT_SHARE] = "compartment_share",		\
	[DONJON_FN_COMPARTMENT_SEAL] = "compartment_seal",		\
	[DONJON_FN_COMPARTMENT_RUN] = "compartment_run",		\
	[DONJON_FN_COMPARTMENT_DESTROY] = "compartment_destroy",	\
	[DONJON_FN_COMPARTMENT_INFORMATION] = "compartment_information", \
	[DONJON_FN_COMPARTMENT_CLONE] = "compartment_clone",		\
	[DONJON_FN_COMPARTMENT_COPY] = "compartment_copy",		\
	[DONJON_FN_COMPARTMENT_CONNECT] = "compartment_connect",	\
	[DONJON_FN_COMPARTMENT_FLOW] = "compartment_flow",		\
	[DONJON_FN_COMPARTMENT_FLOW_LOG] = "compartment_flow_log",	\
	[DONJON_FN_COMPARTMENT_COMMIT] = "compartment_commit",		\
	[DONJON_FN_COMPARTMENT_FLOW_END] = "compartment_flow_end",	\
	[DONJON_FN_COMPARTMENT_FLOW_REPORT] = "compartment_flow_report", \
	[DONJON_FN_USB_START] = "usb_start",				\
	[DONJON_FUNCTIONS] = "unknown",					\
}

/* Errors, in x0 afterwards */

/* No such function. */
#define DONJON_ERR_UNKNOWN_FUNCTION	(-1)
/* An argument is out of range. */
#define DONJON_ERR_INVALID_ARGUMENT	(-2)
/* The caller may not name this address. */
#define DONJON_ERR_BAD_ADDRESS		(-3)
/* The caller speaks another major version. */
#define DONJON_ERR_INCOMPATIBLE_VERSION	(-4)
/* The call is right, but not now. */
#define DONJON_ERR_BUSY			(-5)
/* The firmware refused; the value is its error. */
#define DONJON_ERR_FIRMWARE		(-6)
/* A rule forbids it; the value is the reason. */
#define DONJON_ERR_REFUSED		(-7)
/*
 * An instruction is not allowed; the value is its offset, and the instruction
 * from bit 32 on.
 */
#define DONJON_ERR_BAD_INSTRUCTION	(-8)
/* The pool is empty. */
#define DONJON_ERR_NO_MEMORY		(-9)

/* An array with words for each error, by its number without the sign */

#define DONJON_ERROR_WORDS {						\
	[-DONJON_ERR_UNKNOWN_FUNCTION] = "no such function",		\
	[-DONJON_ERR_INVALID_ARGUMENT] = "an argument is out of range",	\
	[-DONJON_ERR_BAD_ADDRESS] = "the address is not Linux's to name", \
	[-DONJON_ERR_INCOMPATIBLE_VERSION] = "the major versions differ", \
	[-DONJON_ERR_BUSY] = "not now",					\
	[-DONJON_ERR_FIRMWARE] = "the firmware refused",		\
	[-DONJON_ERR_REFUSED] = "a rule forbids it",			\
	[-DONJON_ERR_BAD_INSTRUCTION] = "an instruction is not allowed", \
	[-DONJON_ERR_NO_MEMORY] = "the pool is empty",			\
}

/* Reasons of DONJON_ERR_REFUSED, in x1 afterwards */

/* The entry is not in a table that the caller may change. */
#define DONJON_REASON_NOT_A_TABLE	_AC(0x1, UL)
/*
 * The entry is not 8-byte aligned, or not in the half of a root that is
 * Linux's.
 */
#define DONJON_REASON_BAD_ENTRY		_AC(0x2, UL)
/*
 * The descriptor has bits that have no use, or is a block where there is none.
 */
#define DONJON_REASON_BAD_DESCRIPTOR	_AC(0x3, UL)
/* The mapped frame's type forbids these permissions. */
#define DONJON_REASON_BAD_TARGET	_AC(0x4, UL)
/* The mapping would be executable at EL1. */
#define DONJON_REASON_EXECUTABLE	_AC(0x5, UL)
/* A valid entry may not change so without being invalid in between. */
#define DONJON_REASON_LIVE_CHANGE	_AC(0x6, UL)
/* The physical address is neither RAM nor an allowed device. */
#define DONJON_REASON_NOT_MEMORY	_AC(0x7, UL)
/* The memory attributes differ from what the frame needs. */
#define DONJON_REASON_BAD_ATTRIBUTES	_AC(0x8, UL)
/* The table has a parent already, or is of another level. */
#define DONJON_REASON_BAD_TABLE		_AC(0x9, UL)
/* The root slot is the inner domain's, or must stay empty. */
#define DONJON_REASON_BAD_SLOT		_AC(0xa, UL)
/* The table is in use. */
#define DONJON_REASON_IN_USE		_AC(0xb, UL)
/* The frame is not one of this kind. */
#define DONJON_REASON_WRONG_FRAME	_AC(0xc, UL)
/* The ASID is reserved, or a CPU uses it for another process. */
#define DONJON_REASON_BAD_ASID		_AC(0xd, UL)
/* The register may not have this value. */
#define DONJON_REASON_BAD_REGISTER	_AC(0xe, UL)
/* The text is not the caller's to change. */
#define DONJON_REASON_NOT_TEXT		_AC(0xf, UL)
/* The firmware function is not on the list. */
#define DONJON_REASON_BAD_FIRMWARE_CALL	_AC(0x10, UL)
/* The call comes before the hand-over, or a second time. */
#define DONJON_REASON_WRONG_TIME	_AC(0x11, UL)
/* The hand-over found something that the rules forbid. */
#define DONJON_REASON_BAD_MACHINE	_AC(0x12, UL)
/* No pool has room for it. */
#define DONJON_REASON_NO_ROOM		_AC(0x13, UL)
/*
 * The text changes in a way that a CPU which executes it must not meet, and one
 * may.
 */
#define DONJON_REASON_LIVE_TEXT		_AC(0x14, UL)
/* The VideoCore's property is not on the list, or the message is malformed. */
#define DONJON_REASON_BAD_PROPERTY	_AC(0x15, UL)
/* No compartment has this handle. */
#define DONJON_REASON_NO_COMPARTMENT	_AC(0x16, UL)
/* The compartment would have more memory than it may. */
#define DONJON_REASON_OVER_LIMIT	_AC(0x17, UL)
/* The boot has no secret, or no source of random bytes. */
#define DONJON_REASON_NO_SECRET		_AC(0x18, UL)
/* The memory is not in the reserve, so a device may write to it at any time. */
#define DONJON_REASON_REACHABLE		_AC(0x19, UL)
/* A device would read or write memory that is not in the window of devices. */
#define DONJON_REASON_BAD_TRANSFER	_AC(0x1a, UL)

/* An array with words for each reason, by number */

#define DONJON_REASON_WORDS {						\
	[DONJON_REASON_NOT_A_TABLE] = "entry outside every table",	\
	[DONJON_REASON_BAD_ENTRY] = "misaligned entry",			\
	[DONJON_REASON_BAD_DESCRIPTOR] = "unknown bits or a block",	\
	[DONJON_REASON_BAD_TARGET] = "permissions do not suit the frame", \
	[DONJON_REASON_EXECUTABLE] = "executable at EL1",		\
	[DONJON_REASON_LIVE_CHANGE] = "valid entry not made invalid first", \
	[DONJON_REASON_NOT_MEMORY] = "neither memory nor an allowed device", \
	[DONJON_REASON_BAD_ATTRIBUTES] = "memory attributes do not suit the frame", \
	[DONJON_REASON_BAD_TABLE] = "table has a parent or another level", \
	[DONJON_REASON_BAD_SLOT] = "root slot must stay as it is",	\
	[DONJON_REASON_IN_USE] = "table is in use",			\
	[DONJON_REASON_WRONG_FRAME] = "frame is not of this kind",	\
	[DONJON_REASON_BAD_ASID] = "ASID is reserved or taken",		\
	[DONJON_REASON_BAD_REGISTER] = "register may not have this value", \
	[DONJON_REASON_NOT_TEXT] = "not text that may change",		\
	[DONJON_REASON_BAD_FIRMWARE_CALL] = "firmware function not on the list", \
	[DONJON_REASON_WRONG_TIME] = "before the hand-over or twice",	\
	[DONJON_REASON_BAD_MACHINE] = "hand-over found something forbidden", \
	[DONJON_REASON_NO_ROOM] = "no pool has room",			\
	[DONJON_REASON_LIVE_TEXT] = "another CPU may execute the text",	\
	[DONJON_REASON_BAD_PROPERTY] = "property not on the list",	\
	[DONJON_REASON_NO_COMPARTMENT] = "no such compartment",		\
	[DONJON_REASON_OVER_LIMIT] = "compartment at its limit",	\
	[DONJON_REASON_NO_SECRET] = "this boot has no secret",		\
	[DONJON_REASON_REACHABLE] = "memory that devices reach",	\
	[DONJON_REASON_BAD_TRANSFER] = "a device would leave its window", \
}

/* What DONJON_FN_STATISTICS counts */

/* Calls that reached the function. */
#define DONJON_COUNTER_CALLS		_AC(0x0, UL)
/* Calls that it refused. */
#define DONJON_COUNTER_REFUSALS		_AC(0x1, UL)
/* Instructions in the handler, while PMCCNTR_EL0 runs and counts them. */
#define DONJON_COUNTER_INSTRUCTIONS	_AC(0x2, UL)
/* Table entries that it wrote. */
#define DONJON_COUNTER_ENTRIES		_AC(0x3, UL)
/* Most instructions of one call, under the same condition. */
#define DONJON_COUNTER_WORST		_AC(0x4, UL)

/* What DONJON_FN_INFORMATION tells */

/* Version of the inner domain: major, minor, patch in 16 bits each. */
#define DONJON_INFO_RELEASE		_AC(0x0, UL)
/* Switch mode: SWITCH_ASID, SWITCH_TLBI or SWITCH_STRICT. */
#define DONJON_INFO_SWITCH_MODE		_AC(0x1, UL)
/* CPUs that the inner domain has a stack for. */
#define DONJON_INFO_CPUS		_AC(0x2, UL)
/* First byte of its physical memory. */
#define DONJON_INFO_MEMORY_START	_AC(0x3, UL)
/* Bytes of its physical memory. */
#define DONJON_INFO_MEMORY_SIZE		_AC(0x4, UL)
/* Bytes of it that hold text and read-only data. */
#define DONJON_INFO_TEXT_SIZE		_AC(0x5, UL)
/* Free bytes of its heap. */
#define DONJON_INFO_HEAP_FREE		_AC(0x6, UL)
/* Word 0 of the SHA-256 digest of Linux, big-endian. */
#define DONJON_INFO_DIGEST0		_AC(0x7, UL)
/* Word 1 of it. */
#define DONJON_INFO_DIGEST1		_AC(0x8, UL)
/* Word 2 of it. */
#define DONJON_INFO_DIGEST2		_AC(0x9, UL)
/* Word 3 of it. */
#define DONJON_INFO_DIGEST3		_AC(0xa, UL)
/* Bits that tell a weakened build; 0 in every normal one. */
#define DONJON_INFO_WEAKENED		_AC(0xb, UL)
/* Mask of the CPU indices that have a stack. */
#define DONJON_INFO_CPU_MASK		_AC(0xc, UL)
/*
 * TLB invalidations by address that the gate does on the way out; 0 unless in
 * mode tlbi.
 */
#define DONJON_INFO_TLBI_PAGES		_AC(0xd, UL)
/* How often CPUs found the lock of the protected state held. */
#define DONJON_INFO_WAITS_DOMAIN	_AC(0xe, UL)
/* How often CPUs found the lock of a tree of user tables held. */
#define DONJON_INFO_WAITS_TREES		_AC(0xf, UL)
/* How often CPUs found the lock of the pool of user tables held. */
#define DONJON_INFO_WAITS_ARENA		_AC(0x10, UL)
/* Whether Linux has devices with DMA: DMA_STRICT or DMA_OPEN. */
#define DONJON_INFO_DMA_PROFILE		_AC(0x11, UL)
/* Where the machine's identity comes from: IDENTITY_NONE or IDENTITY_GIVEN. */
#define DONJON_INFO_IDENTITY		_AC(0x12, UL)
/* Where random numbers come from: RANDOM_NONE, RANDOM_TREE or RANDOM_CPU. */
#define DONJON_INFO_RANDOMNESS		_AC(0x13, UL)
/* Frames of private memory that no compartment has. */
#define DONJON_INFO_PRIVATE_FREE	_AC(0x14, UL)

/* How a compartment was left, in x0 after DONJON_FN_COMPARTMENT_RUN */

/* The call has returned; the value is its result. */
#define DONJON_EXIT_RETURNED		_AC(0x1, UL)
/* An interrupt is pending. The next COMPARTMENT_RUN continues the call. */
#define DONJON_EXIT_INTERRUPTED		_AC(0x2, UL)
/*
 * The compartment asks its host for something; the value says what. The next
 * COMPARTMENT_RUN continues the call, with the answer as first argument.
 */
#define DONJON_EXIT_CALLED_OUT		_AC(0x3, UL)
/* The compartment has ended itself; the value is its exit value. */
#define DONJON_EXIT_ENDED		_AC(0x4, UL)
/*
 * The compartment made an exception that it does not survive; the value is its
 * ESR_EL1.
 */
#define DONJON_EXIT_FAULTED		_AC(0x5, UL)
/*
 * The log of flow attestation is full. The next COMPARTMENT_RUN continues the
 * call, once its words were committed to.
 */
#define DONJON_EXIT_LOG_FULL		_AC(0x6, UL)

/* What DONJON_FN_COMPARTMENT_INFORMATION tells */

/*
 * Where it is in its life: 1 being built, 2 between calls, 3 running, 4 in a
 * call and on no CPU, 5 dead, 6 being wiped.
 */
#define DONJON_COMPARTMENT_PHASE	_AC(0x0, UL)
/* Frames that it has. */
#define DONJON_COMPARTMENT_FRAMES	_AC(0x1, UL)
/* Frames that it may have. */
#define DONJON_COMPARTMENT_LIMIT	_AC(0x2, UL)
/* Word 0 of its measurement, big-endian. */
#define DONJON_COMPARTMENT_MEASUREMENT0	_AC(0x3, UL)
/* Word 1 of it. */
#define DONJON_COMPARTMENT_MEASUREMENT1	_AC(0x4, UL)
/* Word 2 of it. */
#define DONJON_COMPARTMENT_MEASUREMENT2	_AC(0x5, UL)
/* Word 3 of it. */
#define DONJON_COMPARTMENT_MEASUREMENT3	_AC(0x6, UL)

/* Numbers of SVC in a compartment */

/* Ends the call with a result. */
#define DONJON_SVC_RETURN		_AC(0x0, UL)
/* Asks the host, which answers with a word. */
#define DONJON_SVC_CALL_OUT		_AC(0x1, UL)
/* Adds pages of zeros at the end of the heap. */
#define DONJON_SVC_GROW			_AC(0x2, UL)
/* Takes pages away at the end of the heap, wiped. */
#define DONJON_SVC_SHRINK		_AC(0x3, UL)
/* Ends the compartment for good, with a last word. */
#define DONJON_SVC_EXIT			_AC(0x4, UL)
/* Sends bytes by an end of a channel. */
#define DONJON_SVC_SEND			_AC(0x5, UL)
/* Receives bytes by an end of a channel. */
#define DONJON_SVC_RECEIVE		_AC(0x6, UL)
/* Asks which compartment is at the other end of a channel. */
#define DONJON_SVC_PEER			_AC(0x7, UL)
/* Asks for random bytes. */
#define DONJON_SVC_RANDOM		_AC(0x8, UL)
/* Asks for a report about this compartment. */
#define DONJON_SVC_REPORT		_AC(0x9, UL)
/* Asks whether a report was made in this boot. */
#define DONJON_SVC_VERIFY		_AC(0xa, UL)
/* Asks for a key that no compartment with another measurement gets. */
#define DONJON_SVC_KEY			_AC(0xb, UL)
/* Ends the call of a compartment under flow attestation. */
#define DONJON_SVC_FLOW_END		_AC(0xc, UL)

/* The numbers of SVC behind which a compartment goes on, as a list */

#define DONJON_SVC_GO_ON		1, 2, 3, 5, 6, 7, 8, 9, 10, 11

/* Values of DONJON_INFO_SWITCH_MODE */

/* One TCR write each way; the ASID flips with the range. */
#define DONJON_SWITCH_ASID		_AC(0x1, UL)
/* The ASID stays; the inner mappings are invalidated on the way out. */
#define DONJON_SWITCH_TLBI		_AC(0x2, UL)
/* ASID and range in two steps each way. */
#define DONJON_SWITCH_STRICT		_AC(0x3, UL)

/* An array with their names, by number */

#define DONJON_SWITCH_NAMES {						\
	[DONJON_SWITCH_ASID] = "asid",					\
	[DONJON_SWITCH_TLBI] = "tlbi",					\
	[DONJON_SWITCH_STRICT] = "strict",				\
}

/* Values of DONJON_INFO_DMA_PROFILE */

/* Linux gets no device that can be told to access any memory. */
#define DONJON_DMA_STRICT		_AC(0x1, UL)
/*
 * Linux gets the DMA devices that it has a use for, and nothing stands between
 * them and memory.
 */
#define DONJON_DMA_OPEN			_AC(0x2, UL)

/* An array with their names, by number */

#define DONJON_DMA_NAMES {						\
	[DONJON_DMA_STRICT] = "strict",					\
	[DONJON_DMA_OPEN] = "open",					\
}

/* An array of the tags that DONJON_FN_PROPERTIES passes on */

#define DONJON_PROPERTIES {						\
	0x1,								\
	0x2,								\
	0x3,								\
	0x10001,							\
	0x10002,							\
	0x10003,							\
	0x10004,							\
	0x10005,							\
	0x10006,							\
	0x20001,							\
	0x20002,							\
	0x30001,							\
	0x30002,							\
	0x30004,							\
	0x30007,							\
	0x30047,							\
	0x30003,							\
	0x30005,							\
	0x30008,							\
	0x30006,							\
	0x3000a,							\
	0x30030,							\
	0x30046,							\
	0x60001,							\
}

/* Values of DONJON_INFO_IDENTITY */

/* A random secret of this boot alone: the next boot has other secrets. */
#define DONJON_IDENTITY_NONE		_AC(0x0, UL)
/* A secret that was given to the boot stage. */
#define DONJON_IDENTITY_GIVEN		_AC(0x1, UL)

/* Values of DONJON_INFO_RANDOMNESS */

/* The machine has no source: no random numbers are given. */
#define DONJON_RANDOM_NONE		_AC(0x0, UL)
/* `/chosen/rng-seed` of the device tree. */
#define DONJON_RANDOM_TREE		_AC(0x1, UL)
/* The CPU's RNDR. */
#define DONJON_RANDOM_CPU		_AC(0x2, UL)

#ifndef __ASSEMBLY__

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* First words of what LOG and REFUSALS copy; text or records follow. */
struct donjon_reply_header {
	/* The cursor of the next call. */
	u64 next;
};

static_assert(offsetof(struct donjon_reply_header, next) == 0);
static_assert(sizeof(struct donjon_reply_header) == 8);

/* One entry of the list of TABLE_WRITE_LIST. */
struct donjon_table_entry {
	/* Physical address of the entry. */
	u64 entry;
	/* New value of the entry. */
	u64 value;
};

static_assert(offsetof(struct donjon_table_entry, entry) == 0);
static_assert(offsetof(struct donjon_table_entry, value) == 8);
static_assert(sizeof(struct donjon_table_entry) == 16);

/*
 * What Linux tells at HANDOVER, within one page. It is not trusted afterwards.
 */
struct donjon_handover {
	/*
	 * First byte of the pool for tables, a physical address; whole 2 MiB
	 * blocks.
	 */
	u64 table_pool_start;
	/* End of the pool for tables. */
	u64 table_pool_end;
	/*
	 * First byte of the pool for text, a physical address; whole 2 MiB
	 * blocks.
	 */
	u64 text_pool_start;
	/* End of the pool for text. */
	u64 text_pool_end;
	/* First byte of the kernel's text, a virtual address. */
	u64 text_start;
	/* End of the kernel's text. */
	u64 text_end;
	/* First byte of the kernel's constants, a virtual address. */
	u64 rodata_start;
	/* End of the kernel's constants. */
	u64 rodata_end;
	/* The exception vectors, a virtual address. */
	u64 vectors;
};

static_assert(offsetof(struct donjon_handover, table_pool_start) == 0);
static_assert(offsetof(struct donjon_handover, table_pool_end) == 8);
static_assert(offsetof(struct donjon_handover, text_pool_start) == 16);
static_assert(offsetof(struct donjon_handover, text_pool_end) == 24);
static_assert(offsetof(struct donjon_handover, text_start) == 32);
static_assert(offsetof(struct donjon_handover, text_end) == 40);
static_assert(offsetof(struct donjon_handover, rodata_start) == 48);
static_assert(offsetof(struct donjon_handover, rodata_end) == 56);
static_assert(offsetof(struct donjon_handover, vectors) == 64);
static_assert(sizeof(struct donjon_handover) == 72);

/* One record of REFUSALS. */
struct donjon_refusal_record {
	/* Number of the refusal, from 1 on. */
	u64 sequence;
	/* Function number; FUNCTIONS for calls to unknown ones. */
	u32 function;
	/* Index of the CPU. */
	u32 cpu;
	/* The error. */
	s64 error;
	/*
	 * What the call gave back in x1: a reason, or one from bit 32 on above
	 * the index in a list or the tag of a property, or an instruction above
	 * its offset.
	 */
	u64 value;
	/* Where the call came from. */
	u64 caller;
	/* First argument. */
	u64 a1;
	/* Second argument. */
	u64 a2;
};

static_assert(offsetof(struct donjon_refusal_record, sequence) == 0);
static_assert(offsetof(struct donjon_refusal_record, function) == 8);
static_assert(offsetof(struct donjon_refusal_record, cpu) == 12);
static_assert(offsetof(struct donjon_refusal_record, error) == 16);
static_assert(offsetof(struct donjon_refusal_record, value) == 24);
static_assert(offsetof(struct donjon_refusal_record, caller) == 32);
static_assert(offsetof(struct donjon_refusal_record, a1) == 40);
static_assert(offsetof(struct donjon_refusal_record, a2) == 48);
static_assert(sizeof(struct donjon_refusal_record) == 56);

#endif /* !__ASSEMBLY__ */

#endif /* __ASM_DONJON_ABI_H */
