// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux's own ways to map a page, asked for a second mapping of a table and for the
 * inner domain's memory. They do not hear of a refusal, so it is the access that
 * tells.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/fixmap.h>
#include <asm/pgtable.h>

#include "attack.h"

#define POOL_BLOCK	SZ_2M

static void judge(const char *what, u64 *word)
{
	if (try_touch(word))
		attack_succeeded("a store through %s went through", what);
	else
		attack_stopped("refused, and an access faults");
}

/* Some table of the kernel's. */
static u64 some_table(void)
{
	struct window window;

	return open_window(&window) ? PAGE_OF(window.entry) : 0;
}

static void undo_vmap(u64 va, u64 unused)
{
	vunmap((void *)va);
}

u64 *map_by_vmap(u64 pa)
{
	struct page *page = phys_to_page(pa);
	void *va = vmap(&page, 1, VM_MAP, PAGE_KERNEL);

	if (va)
		undo_later(undo_vmap, (u64)va, 0);
	return va;
}

static void by_vmap(void)
{
	u64 table = some_table();
	u64 *word;

	if (!table)
		return;
	word = map_by_vmap(table);
	if (word)
		judge("vmap()", word);
	else
		attack_stopped("vmap() failed");
}

static void undo_ioremap(u64 va, u64 unused)
{
	iounmap((void __iomem *)va);
}

static void by_ioremap(void)
{
	void __iomem *va = ioremap(inner_memory(), PAGE_SIZE);

	if (!va) {
		attack_untried("Linux refused by itself");
		return;
	}
	undo_later(undo_ioremap, (u64)va, 0);
	judge("ioremap()", (u64 __force *)va);
}

/* What ioremap() does once it has seen that the page is no RAM. */
u64 *map_by_ioremap(u64 pa)
{
	void __iomem *(*map)(phys_addr_t phys, size_t size, pgprot_t prot);
	void __iomem *va;

	if (!attack_ioremap) {
		attack_untried("where is generic_ioremap_prot()?");
		return NULL;
	}
	map = (void *)attack_ioremap;
	va = map(pa, PAGE_SIZE, __pgprot(PROT_DEVICE_nGnRE));
	if (va)
		undo_later(undo_ioremap, (u64)va, 0);
	return (u64 __force *)va;
}

typedef void set_fixmap_t(enum fixed_addresses index, phys_addr_t phys,
			  pgprot_t flags);

static void undo_fixmap(u64 index, u64 unused)
{
	((set_fixmap_t *)attack_set_fixmap)(index, 0, __pgprot(0));
}

u64 *map_by_fixmap(u64 pa)
{
	if (!attack_set_fixmap) {
		attack_untried("where is __set_fixmap()?");
		return NULL;
	}
	/* It warns of an entry that is in use */
	undo_fixmap(FIX_TEXT_POKE0, 0);
	((set_fixmap_t *)attack_set_fixmap)(FIX_TEXT_POKE0, pa, PAGE_KERNEL);
	undo_later(undo_fixmap, FIX_TEXT_POKE0, 0);
	return (u64 *)fix_to_virt(FIX_TEXT_POKE0);
}

static void by_fixmap(void)
{
	u64 table = some_table();
	u64 *word = table ? map_by_fixmap(table) : NULL;

	if (word)
		judge("the fixmap", word);
}

static void undo_mmap(u64 va, u64 unused)
{
	vm_munmap(va, PAGE_SIZE);
}

/* As a driver's mmap() would. */
unsigned long map_for_process(u64 pa)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	unsigned long va;

	va = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
		     MAP_ANONYMOUS | MAP_SHARED, 0);
	if (IS_ERR_VALUE(va)) {
		attack_untried("no user mapping");
		return 0;
	}
	undo_later(undo_mmap, va, 0);
	mmap_write_lock(mm);
	vma = find_vma(mm, va);
	/* Dirty from the start, or the first store would be a fault to handle */
	if (vma)
		remap_pfn_range(vma, va, PHYS_PFN(pa), PAGE_SIZE,
				__pgprot((pgprot_val(vma->vm_page_prot) &
					  ~PTE_RDONLY) | PTE_DIRTY));
	mmap_write_unlock(mm);
	return va;
}

static void for_user(void)
{
	u64 table = some_table();
	unsigned long va, word;

	va = table ? map_for_process(table) : 0;
	if (!va)
		return;
	pagefault_disable();
	if (get_user(word, (unsigned long __user *)va) ||
	    put_user(word, (unsigned long __user *)va))
		attack_stopped("refused, and an access faults");
	else
		attack_succeeded("a process can write a table");
	pagefault_enable();
}

/* One block over tables, and over all else that is there. */
static void by_block(void)
{
	struct donjon_result result;
	struct window window;
	struct step step;
	u64 block, entry;
	unsigned long va;

	if (!open_window(&window))
		return;
	block = ALIGN_DOWN(PAGE_OF(window.entry), POOL_BLOCK);
	step = walk_to(kernel_root(), window.va, 2);
	entry = free_entry(step.entry);
	if (!entry) {
		attack_untried("the level 2 table is full");
		return;
	}
	va = ALIGN_DOWN(window.va, PUD_SIZE) + entry % PAGE_SIZE / sizeof(u64) * POOL_BLOCK;
	result = write_entry(entry, kernel_page(block) & ~PTE_TABLE_BIT);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		judge("a block", (u64 *)(va + window.entry % POOL_BLOCK));
}

DONJON_ATTACK("map-by-linux-functions", "vmap", by_vmap);
DONJON_ATTACK("map-by-linux-functions", "ioremap", by_ioremap);
DONJON_ATTACK("map-by-linux-functions", "fixmap", by_fixmap);
DONJON_ATTACK("map-by-linux-functions", "user", for_user);
DONJON_ATTACK("map-by-linux-functions", "block", by_block);
