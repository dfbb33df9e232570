/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that changes after the hand-over: the inner domain writes it, after a
 * look at each new instruction.
 */
#ifndef __ASM_DONJON_TEXT_H
#define __ASM_DONJON_TEXT_H

#include <linux/types.h>

#include <asm/donjon_tables.h>
#include <asm/memory.h>

/* Whether kernel code is read-only in every mapping, so that these write it. */
static __always_inline bool donjon_writes_text(void)
{
	return donjon_live;
}

/*
 * Replace instructions, also in pages that are not executable yet. Where they
 * are, all of the old and the new ones have to be NOP, B, BL, BRK or ISB.
 * Address and size are multiples of 4. Returns 0 or a negative errno; with more
 * than 8 bytes a part of them may be written then.
 */
int donjon_write_text(void *address, const void *source, size_t bytes);
int donjon_fill_text(void *address, u32 instruction, size_t bytes);

/*
 * Replace text that a CPU may execute and that changes otherwise than between
 * NOP, B, BL, BRK and ISB: all CPUs stop, and wait in the inner domain.
 * The caller holds off CPU hotplug. Of several instructions a part may be written
 * when it fails.
 */
int donjon_write_stopped_text(void *addresses[], const u32 *instructions, int count);

/*
 * Replace pages of vmalloc memory by executable copies. The owner is named if
 * an instruction is refused, and its address is put to *refused unless that is
 * NULL; the pages before it are executable then, and freeing the memory undoes
 * that.
 */
int donjon_seal_text(unsigned long address, int pages, const char *owner,
		     unsigned long *refused);

/*
 * Text of BPF programs, which share pages. The first two take any size, and may
 * sleep; a program that fails may have come to some of its pages, and leaves
 * them when it is cleared. The third changes one instruction of a program, the
 * fourth an aligned pointer in one. It stops all CPUs, and its caller neither
 * holds off CPU hotplug nor has text_mutex.
 */
int donjon_pack_write(void *address, const void *source, size_t bytes);
int donjon_pack_clear(void *address, size_t bytes);
int donjon_pack_poke(void *address, u32 instruction);
int donjon_write_literal(void *address, u64 value);

/* Most bytes of text that programs have. */
u64 donjon_pack_limit(void);

struct donjon_pack_stats {
	unsigned long pages;	/* of text, that programs have */
	unsigned long highest;	/* most of them ever */
	unsigned long share;	/* most that there may be */
	unsigned long denied;	/* programs, or parts, that got no page */
	unsigned long retries;	/* of accesses that met an exchange */
};

struct donjon_pack_stats donjon_pack_stats(void);

bool __donjon_text_returns(unsigned long address, unsigned long esr);

/*
 * Whether the kernel has failed to read or to execute a page that is being
 * exchanged or has been meanwhile: it may try again.
 */
static __always_inline bool donjon_text_returns(unsigned long address,
						unsigned long esr)
{
	return donjon_writes_text() && address >= VMALLOC_START &&
	       address < VMALLOC_END && __donjon_text_returns(address, esr);
}

#endif /* __ASM_DONJON_TEXT_H */
