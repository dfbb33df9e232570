// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places in the address space where an attacker maps things: one page each, its
 * entry made invalid first, as the rules want it.
 */
#include <linux/mman.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
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

static bool empty(struct window *window, u64 root)
{
	struct step step = walk_to(root, window->va, 3);

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
	return empty(window, kernel_root());
}

static void close_user_window(u64 va, u64 unused)
{
	vm_munmap(va, PAGE_SIZE);
}

bool open_user_window(struct window *window)
{
	unsigned long va = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	if (IS_ERR_VALUE(va))
		return failed();
	undo_later(close_user_window, va, 0);
	window->va = va;
	/* Somebody has to have used it */
	if (put_user(1UL, (unsigned long __user *)va))
		return failed();
	return empty(window, user_root());
}
