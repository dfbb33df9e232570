// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes frames off the lists into which the inner domain has copied tables at the
 * hand-over: those of the kernel's tables that were outside the pool.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/pgtable.h>

#include <asm/donjon.h>

#include "pool.h"

static void take_table(u64 descriptor, int level)
{
	phys_addr_t pa = __pte_to_phys(__pte(descriptor));
	u64 *table = __va(pa);
	struct page *page;
	int i;

	if ((descriptor & PTE_TYPE_MASK) != PTE_TYPE_PAGE)
		return;
	if (donjon_pool_reserved(pa)) {
		page = phys_to_page(pa);
		if (page->index & POOL_FREE) {
			donjon_pool_take(page);
			page->index = DONJON_KERNEL_1 + level - 1;
		}
	} else if (pa != __pa_symbol(donjon_linear_pud)) {
		/* Not Linux's, and perhaps not to be read */
		return;
	}
	if (level == 3)
		return;
	for (i = 0; i < PTRS_PER_PTE; i++)
		take_table(READ_ONCE(table[i]), level + 1);
}

/* While the other CPUs still wait. */
void donjon_pool_handed_over(void)
{
	unsigned long flags;
	int i;

	raw_spin_lock_irqsave(&donjon_pool.lock, flags);
	/* There may have been no table of Linux's own so far */
	donjon_pool_fill();
	for (i = 0; i < PTRS_PER_PGD; i++)
		take_table(pgd_val(READ_ONCE(swapper_pg_dir[i])), 1);
	raw_spin_unlock_irqrestore(&donjon_pool.lock, flags);
}
