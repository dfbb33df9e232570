/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Translation tables under the Donjon inner domain: how their entries are
 * written and where their frames come from.
 */
#ifndef __ASM_DONJON_TABLES_H
#define __ASM_DONJON_TABLES_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/pgtable-types.h>

struct mm_struct;
struct page;
struct ptdesc;

/* User roots; only under CONFIG_DONJON. */
pgd_t *donjon_root_alloc(void);
void donjon_root_free(pgd_t *root);

#ifdef CONFIG_DONJON

/*
 * Set by the hand-over, for good. From then on tables are read-only here and
 * the inner domain writes them; nobody is helped by forging it.
 */
extern bool donjon_live;

/* Store a last-level entry. In a lazy MMU region it may wait in the queue. */
void donjon_write_entry(u64 *entry, u64 value);
/* Store an entry that may refer to a table. Only clears wait in the queue. */
void donjon_write_table_entry(u64 *entry, u64 value);
/* Store an entry of the kernel's root. */
void donjon_write_root_entry(u64 *entry, u64 value);
u64 __donjon_xchg_entry(u64 *entry, u64 value);
u64 __donjon_cmpxchg_entry(u64 *entry, u64 old, u64 value);

/*
 * The page table lock is held and no hardware writes tables here, so what
 * must be atomic elsewhere is a read, a computation and a store.
 */
static __always_inline u64 donjon_xchg_entry(u64 *entry, u64 value)
{
	if (donjon_live)
		return __donjon_xchg_entry(entry, value);
	return xchg_relaxed(entry, value);
}

static __always_inline u64 donjon_cmpxchg_entry(u64 *entry, u64 old, u64 value)
{
	if (donjon_live)
		return __donjon_cmpxchg_entry(entry, old, value);
	return cmpxchg_relaxed(entry, old, value);
}

void __donjon_lazy_enter(void);
void __donjon_lazy_leave(void);
void __donjon_lazy_flush(void);
bool __donjon_pending(const u64 *entry);

static __always_inline void donjon_lazy_enter(void)
{
	if (donjon_live)
		__donjon_lazy_enter();
}

static __always_inline void donjon_lazy_leave(void)
{
	if (donjon_live)
		__donjon_lazy_leave();
}

/* Whatever waits in the queue of this CPU is in the tables afterwards. */
static __always_inline void donjon_lazy_flush(void)
{
	if (donjon_live)
		__donjon_lazy_flush();
}

/* For debugging: does a store to this entry wait in the queue? */
static __always_inline bool donjon_pending(const void *entry)
{
	return donjon_live && __donjon_pending(entry);
}

/*
 * What a table is for. A frame that serves the same purpose again needs no
 * invalidation of TLBs by the inner domain.
 */
enum donjon_class {
	DONJON_ROOT,
	DONJON_USER_1,
	DONJON_USER_2,
	DONJON_USER_3,
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
void donjon_pool_free_tables(void **tables, unsigned int count);
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

/* Physical addresses of all user roots; returns how many there are. */
unsigned int donjon_collect_roots(u64 *pas, unsigned int max);

#else /* !CONFIG_DONJON */

#define donjon_live				false
#define donjon_xchg_entry(entry, value)		xchg_relaxed(entry, value)
#define donjon_cmpxchg_entry(entry, old, value)	\
	cmpxchg_relaxed(entry, old, value)

static inline void donjon_write_entry(u64 *entry, u64 value) { }
static inline void donjon_write_table_entry(u64 *entry, u64 value) { }
static inline void donjon_write_root_entry(u64 *entry, u64 value) { }
static inline void donjon_lazy_flush(void) { }
static inline bool donjon_pending(const void *entry)
{
	return false;
}

static inline void donjon_pool_reserve(void) { }

#endif /* CONFIG_DONJON */

#endif /* __ASM_DONJON_TABLES_H */
