/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_POOL_H
#define __DONJON_POOL_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include <asm/donjon_tables.h>

#define POOL_BLOCK_SIZE		SZ_2M
#define POOL_BLOCK_FRAMES	(POOL_BLOCK_SIZE / PAGE_SIZE)
/* Blocks that memory may have */
#define POOL_BLOCKS		(BIT_ULL(39) / POOL_BLOCK_SIZE)

/* The list behind those of the classes has frames that were never used. */
#define POOL_UNUSED		DONJON_CLASSES
#define POOL_LISTS		(DONJON_CLASSES + 1)

/*
 * Beside the list, page->index of a frame says what it is: in the frame itself
 * nothing can be written.
 */
#define POOL_CLASS_MASK		0xfUL
#define POOL_FREE		BIT(8)	/* on the list of its class */
#define POOL_UNLINKED		BIT(9)	/* never in a table since it was free */

struct pool {
	raw_spinlock_t lock;	/* of lists, stats and page->index */
	struct list_head lists[POOL_LISTS];
	struct donjon_pool_stats stats;
};

extern struct pool donjon_pool;

/* A block that was added to the pool. */
struct pool_block {
	struct page *first;
	unsigned int free;
};

/* Added blocks by number, and a bit for each block of the pool. */
extern struct xarray donjon_pool_blocks;
extern unsigned long donjon_table_blocks[];

/*
 * Held during all calls of one POOL_ADD, because a block that is on its way stands
 * in the way of others. Nothing is allocated while it is held.
 */
extern struct mutex donjon_extension_mutex;

/* With the lock held: */
void donjon_pool_fill(void);
void donjon_pool_put(struct page *page, unsigned long list);
void donjon_pool_take(struct page *page);

/* Says by which parameter there is more text. */
void donjon_text_used_up(const char *owner);

/* Blocks besides the reserved ones. */
bool donjon_pool_grow(gfp_t gfp);
unsigned long donjon_block_number(struct page *page);
void donjon_block_count(struct page *page, int frames);
bool donjon_block_has(struct page *page);

static inline bool donjon_pool_reserved(phys_addr_t pa)
{
	return pa >= donjon_table_pool_start && pa < donjon_table_pool_end;
}

#endif /* __DONJON_POOL_H */
