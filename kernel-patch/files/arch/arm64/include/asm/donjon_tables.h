/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's translation tables under the Donjon inner domain: how their
 * entries are written and where their frames come from.
 */
#ifndef __ASM_DONJON_TABLES_H
#define __ASM_DONJON_TABLES_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct mm_struct;
struct page;
struct ptdesc;

#ifdef CONFIG_DONJON

/*
 * Set by the hand-over, for good. From then on the kernel's tables are
 * read-only here and the inner domain writes them; to forge it helps no attack.
 */
extern bool donjon_live;

/* Is this in a table of the kernel? Tables of users are ordinary memory. */
bool donjon_is_table(const void *entry);

/* Store a last-level entry. Between the two below it may wait in the queue. */
void donjon_write_entry(u64 *entry, u64 value);
/* Store an entry that may refer to a table. */
void donjon_write_table_entry(u64 *entry, u64 value);
/* Store an entry of the kernel's root, after the hand-over. */
void donjon_write_root_entry(u64 *entry, u64 value);
u64 __donjon_xchg_entry(u64 *entry, u64 value);

#define donjon_xchg_entry(mm, entry, value)				\
	((mm) == &init_mm ? __donjon_xchg_entry(entry, value) :	\
			    xchg_relaxed(entry, value))

void __donjon_queue_open(void);
void __donjon_queue_close(void);

/* Around the stores of vmalloc() and vfree(). */
#define arch_begin_kernel_ptes()	do {				\
	if (donjon_live)						\
		__donjon_queue_open();					\
} while (0)
#define arch_end_kernel_ptes()		do {				\
	if (donjon_live)						\
		__donjon_queue_close();					\
} while (0)

/*
 * What a table is for. A frame that serves the same purpose again needs no
 * invalidation of TLBs by the inner domain.
 */
enum donjon_class {
	DONJON_KERNEL_1,
	DONJON_KERNEL_2,
	DONJON_KERNEL_3,
	DONJON_CLASSES
};

/* The reserved blocks, multiples of 2 MiB. */
extern phys_addr_t donjon_table_pool_start, donjon_table_pool_end;
extern phys_addr_t donjon_text_pool_start, donjon_text_pool_end;

void donjon_pool_reserve(void);
struct ptdesc *donjon_pool_alloc(gfp_t gfp, enum donjon_class class);
bool donjon_pool_free(struct page *page);
void donjon_pool_linked(u64 descriptor);
void donjon_pool_handed_over(void);

struct donjon_pool_stats {
	unsigned long frames;		/* in all blocks */
	unsigned long free;		/* of them */
	unsigned long lowest;		/* least free frames ever */
	unsigned long blocks_added;
	unsigned long blocks_removed;
	unsigned long exhausted;	/* allocations that failed */
	unsigned long lost;		/* frames that were not released */
};

struct donjon_pool_stats donjon_pool_stats(void);

#else /* !CONFIG_DONJON */

#define donjon_live	false

static __always_inline bool donjon_is_table(const void *entry)
{
	return false;
}

static __always_inline u64 donjon_xchg_entry(struct mm_struct *mm, u64 *entry,
					     u64 value)
{
	return xchg_relaxed(entry, value);
}

static inline void donjon_write_entry(u64 *entry, u64 value) { }
static inline void donjon_write_table_entry(u64 *entry, u64 value) { }
static inline void donjon_write_root_entry(u64 *entry, u64 value) { }
static inline void donjon_pool_reserve(void) { }

#endif /* CONFIG_DONJON */

#endif /* __ASM_DONJON_TABLES_H */
