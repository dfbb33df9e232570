// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives out and takes back the frames that tables are made of. From the hand-over
 * on they are read-only here; TABLE_RELEASE clears them, so what is on a list is
 * zero.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/init.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/printk.h>

#include <asm/donjon.h>

#include "pool.h"
#include "state.h"

/* Another class comes last: it costs the inner domain an invalidation. */
static struct page *choose(enum donjon_class class)
{
	struct list_head *lists = donjon_pool.lists;
	int list;

	if (!list_empty(&lists[class]))
		return list_first_entry(&lists[class], struct page, lru);
	for (list = POOL_UNUSED; list >= 0; list--)
		if (!list_empty(&lists[list]))
			return list_first_entry(&lists[list], struct page, lru);
	return NULL;
}

static struct page *try_alloc(enum donjon_class class)
{
	unsigned long flags;
	struct page *page;

	raw_spin_lock_irqsave(&donjon_pool.lock, flags);
	donjon_pool_fill();
	page = choose(class);
	if (page) {
		donjon_pool_take(page);
		page->index = class;
		/* Until the hand-over a free frame is as it was left */
		if (donjon_live)
			page->index |= POOL_UNLINKED;
		else
			clear_page(page_address(page));
	}
	raw_spin_unlock_irqrestore(&donjon_pool.lock, flags);
	return page;
}

/* A zeroed table, or NULL. Grows the pool if the caller may sleep. */
struct ptdesc *donjon_pool_alloc(gfp_t gfp, enum donjon_class class)
{
	struct page *page = try_alloc(class);
	unsigned long flags;

	while (!page && gfpflags_allow_blocking(gfp)) {
		if (!donjon_pool_grow(gfp))
			break;
		page = try_alloc(class);
	}
	if (page)
		return page_ptdesc(page);

	raw_spin_lock_irqsave(&donjon_pool.lock, flags);
	donjon_pool.stats.exhausted++;
	raw_spin_unlock_irqrestore(&donjon_pool.lock, flags);
	return NULL;
}

/* The descriptor goes into a table, so its target has a history from now on. */
noinstr void donjon_pool_linked(u64 descriptor)
{
	if ((descriptor & PTE_TYPE_MASK) == PTE_TYPE_PAGE)
		pfn_to_page(PHYS_PFN(__pte_to_phys(__pte(descriptor))))->index &=
			~POOL_UNLINKED;
}

/* Clear a frame that is no table any more. False: keep off it. */
static bool release(phys_addr_t frame)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_TABLE_RELEASE, frame, 0, 0, 0, 0, 0);
	if (likely(!result.status))
		return true;
	donjon_table_refused("unlinked table", frame, 0, result, _RET_IP_);
	return false;
}

static void put_back(struct page *page)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&donjon_pool.lock, flags);
	donjon_pool_put(page, page->index & POOL_CLASS_MASK);
	raw_spin_unlock_irqrestore(&donjon_pool.lock, flags);
}

static void lose(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&donjon_pool.lock, flags);
	donjon_pool.stats.lost++;
	raw_spin_unlock_irqrestore(&donjon_pool.lock, flags);
}

/* Take a table back, in any context. False if the pool never gave it out. */
bool donjon_pool_free(struct page *page)
{
	if (!donjon_block_has(page))
		return false;
	if (donjon_live && !(page->index & POOL_UNLINKED) &&
	    !release(page_to_phys(page)))
		lose();
	else
		put_back(page);
	return true;
}

struct donjon_pool_stats donjon_pool_stats(void)
{
	struct donjon_pool_stats stats;
	unsigned long flags;

	raw_spin_lock_irqsave(&donjon_pool.lock, flags);
	stats = donjon_pool.stats;
	raw_spin_unlock_irqrestore(&donjon_pool.lock, flags);
	return stats;
}
