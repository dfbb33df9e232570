// SPDX-License-Identifier: GPL-2.0-only
/*
 * User roots: whole frames of the pool, which the inner domain must know
 * before it loads them.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/preempt.h>

#include <asm/donjon.h>

#include "pool.h"
#include "tables.h"

static LIST_HEAD(roots);

static void enlist(struct page *page)
{
	unsigned long flags;

	spin_lock_irqsave(&donjon_pool.lock, flags);
	list_add(&page->lru, &roots);
	spin_unlock_irqrestore(&donjon_pool.lock, flags);
}

static void delist(struct page *page)
{
	unsigned long flags;

	spin_lock_irqsave(&donjon_pool.lock, flags);
	list_del(&page->lru);
	spin_unlock_irqrestore(&donjon_pool.lock, flags);
}

pgd_t *donjon_root_alloc(void)
{
	struct ptdesc *ptdesc = donjon_pool_alloc(GFP_KERNEL, DONJON_ROOT);
	struct donjon_result result = {};
	struct page *page;

	if (!ptdesc)
		return NULL;
	page = ptdesc_page(ptdesc);

	/* The hand-over sees it in the list, or it happened before */
	preempt_disable();
	enlist(page);
	if (donjon_live)
		result = __donjon_call(DONJON_FN_ROOT_NEW, page_to_phys(page),
				       0, 0, 0, 0, 0);
	preempt_enable();
	if (!result.status) {
		page->index &= ~POOL_UNLINKED;
		return ptdesc_address(ptdesc);
	}

	result.value <<= 32;
	donjon_table_refused("root in", page_to_phys(page), 0, result, _RET_IP_);
	delist(page);
	donjon_pool_free(page);
	return NULL;
}

void donjon_root_free(pgd_t *root)
{
	struct page *page = virt_to_page(root);

	delist(page);
	donjon_pool_free(page);
}

unsigned int donjon_collect_roots(u64 *pas, unsigned int max)
{
	unsigned int count = 0;
	unsigned long flags;
	struct page *page;

	spin_lock_irqsave(&donjon_pool.lock, flags);
	list_for_each_entry(page, &roots, lru) {
		if (count < max)
			pas[count] = page_to_phys(page);
		count++;
	}
	spin_unlock_irqrestore(&donjon_pool.lock, flags);
	return count;
}
