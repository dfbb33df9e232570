// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places in the address space where an attacker maps things: one page each, its
 * entry made invalid first, as the rules want it.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include <asm/pgtable.h>

#include "attack.h"

u64 kernel_page(u64 pa)
{
	return pa | PTE_TYPE_PAGE | PTE_AF | PTE_SHARED | PTE_PXN | PTE_UXN |
	       PTE_ATTRINDX(MT_NORMAL);
}

u64 user_page(u64 pa)
{
	return kernel_page(pa) | PTE_USER | PTE_NG;
}

static bool failed(void)
{
	attack_untried("there is no page to work with");
	return false;
}

static bool empty(struct window *window)
{
	struct step step = walk_to(kernel_root(), window->va, 3);

	if (step.level != 3 || !(step.value & DESCRIPTOR_VALID))
		return failed();
	window->entry = step.entry;
	window->old = step.value;
	return !write_entry(step.entry, 0).status || failed();
}

static void close_window(u64 va, u64 unused)
{
	vfree((void *)va);
}

bool open_window(struct window *window)
{
	void *page = vzalloc(PAGE_SIZE);

	if (!page)
		return failed();
	undo_later(close_window, (u64)page, 0);
	window->va = (unsigned long)page;
	return empty(window);
}
