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

/* What the reserve is divided into, behind the pools. */
enum donjon_reserve_part {
	DONJON_RESERVE_TABLES,
	DONJON_RESERVE_COMPARTMENTS,
};

/* Whether there is a reserve: otherwise blocks are any memory. */
bool donjon_reserve_exists(void);
void donjon_reserve_find(void);
phys_addr_t donjon_reserve_left(void);
phys_addr_t donjon_reserve_cut(phys_addr_t size);
void donjon_reserve_divide(phys_addr_t tables);
struct page *donjon_reserve_take(enum donjon_reserve_part which);
void donjon_reserve_return(enum donjon_reserve_part which, struct page *first);
void donjon_reserve_count(enum donjon_reserve_part which, unsigned int *blocks,
			  unsigned int *free);

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
