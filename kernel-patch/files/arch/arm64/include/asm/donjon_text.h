/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that changes after the hand-over: the inner domain writes it, after a
 * look at each new instruction.
 */
#ifndef __ASM_DONJON_TEXT_H
#define __ASM_DONJON_TEXT_H

#include <linux/types.h>

#include <asm/donjon_tables.h>

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
 * The same for text that a CPU may execute and that changes otherwise than
 * between NOP, B, BL, BRK and ISB: all CPUs stop, and wait in the inner domain.
 * The first is for callers that hold off CPU hotplug. Of several instructions
 * a part may be written when it fails.
 */
int donjon_write_stopped_text(void *addresses[], const u32 *instructions, int count);
int donjon_write_literal(void *address, u64 value);

/*
 * Replace pages of vmalloc memory by executable copies. The owner is named if
 * an instruction is refused, and its address is put to *refused unless that is
 * NULL; the pages before it are executable then, and freeing the memory undoes
 * that.
 */
int donjon_seal_text(unsigned long address, int pages, const char *owner,
		     unsigned long *refused);

#endif /* __ASM_DONJON_TEXT_H */
