// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames of the pool of tables that are free, in lists, and the blocks that
 * frames belong to.
 */
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/xarray.h>

#include <asm/donjon.h>

#include "pool.h"

phys_addr_t donjon_table_pool_start __ro_after_init;
phys_addr_t donjon_table_pool_end __ro_after_init;

/* Blocks that were added, by number; those reserved at boot are not in it. */
DEFINE_XARRAY(donjon_pool_blocks);
/* Numbers of all blocks, for the test whether an entry is in a table. */
DECLARE_BITMAP(donjon_table_blocks, POOL_BLOCKS);

unsigned long donjon_block_number(struct page *page)
{
	return page_to_phys(page) / POOL_BLOCK_SIZE;
}

bool donjon_block_has(struct page *page)
{
	return test_bit(donjon_block_number(page), donjon_table_blocks);
}

bool donjon_is_table(const void *entry)
{
	return __is_lm_address((unsigned long)entry) &&
	       test_bit(__lm_to_phys((unsigned long)entry) / POOL_BLOCK_SIZE,
			donjon_table_blocks);
}
EXPORT_SYMBOL_GPL(donjon_is_table);

void donjon_block_count(struct page *page, int frames)
{
	struct pool_block *block;

	if (donjon_pool_reserved(page_to_phys(page)))
		return;
	block = xa_load(&donjon_pool_blocks, donjon_block_number(page));
	if (block)
		block->free += frames;
}

struct pool donjon_pool = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(donjon_pool.lock),
};

static bool pool_ready;

void donjon_pool_put(struct page *page, unsigned long list)
{
	page->index = list | POOL_FREE;
	list_add(&page->lru, &donjon_pool.lists[list]);
	donjon_pool.stats.free++;
	donjon_block_count(page, 1);
}

void donjon_pool_take(struct page *page)
{
	page->index &= ~POOL_FREE;
	list_del(&page->lru);
	donjon_pool.stats.free--;
	donjon_pool.stats.lowest = min(donjon_pool.stats.lowest,
				       donjon_pool.stats.free);
	donjon_block_count(page, -1);
}

/* With the first table, because there is no struct page before. */
void donjon_pool_fill(void)
{
	unsigned long pfn;
	int list;

	if (likely(pool_ready))
		return;
	for (list = 0; list < POOL_LISTS; list++)
		INIT_LIST_HEAD(&donjon_pool.lists[list]);
	for (pfn = PHYS_PFN(donjon_table_pool_end);
	     pfn-- > PHYS_PFN(donjon_table_pool_start);)
		donjon_pool_put(pfn_to_page(pfn), POOL_UNUSED);
	donjon_pool.stats.frames = donjon_pool.stats.free;
	donjon_pool.stats.lowest = donjon_pool.stats.free;
	pool_ready = true;
}
