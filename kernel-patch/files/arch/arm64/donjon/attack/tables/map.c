// SPDX-License-Identifier: GPL-2.0-only
/*
 * Map what is not Linux's, writable, by the call that maps everything else.
 */
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/barrier.h>
#include <asm/pgtable.h>

#include "attack.h"

static void map(const struct window *window, u64 descriptor, u64 offset)
{
	struct donjon_result result = write_entry(window->entry, descriptor);

	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else if (try_touch((u64 *)(window->va + offset)))
		attack_succeeded("mapped, and a store through it went through");
	else
		attack_succeeded("mapped, although an access faults");
}

static void inner(void)
{
	struct window window;

	if (open_window(&window))
		map(&window, kernel_page(inner_memory()), 0);
}

/* The table that has the window's own entry */
static void table(void)
{
	struct window window;

	if (open_window(&window))
		map(&window, kernel_page(PAGE_OF(window.entry)), window.entry % PAGE_SIZE);
}

static void root(void)
{
	struct window window;

	if (open_window(&window))
		map(&window, kernel_page(kernel_root()), 0);
}

/* The page of a word that is mapped read-only */
static void map_again(unsigned long va)
{
	struct window window;

	if (open_window(&window))
		map(&window, kernel_page(frame_of(va)), offset_in_page(va) & ~7UL);
}

static void kernel_text(void)
{
	map_again((unsigned long)_printk);
}

static void module_text(void)
{
	map_again(scratch(0));
}

static void constants(void)
{
	map_again((unsigned long)_ctype);
}

/* Memory that the device tree sets aside */
static void reserved(void)
{
	struct window window;

	if (!attack_value)
		attack_untried("where is it?");
	else if (open_window(&window))
		map(&window, kernel_page(attack_value), 0);
}

/* A device by its address. Some do not bear a load of any size anywhere. */
static void device(void)
{
	u64 attributes = PTE_ATTRINDX(MT_NORMAL) ^ PTE_ATTRINDX(MT_DEVICE_nGnRE);
	struct donjon_result result;
	struct window window;

	if (!open_window(&window))
		return;
	result = write_entry(window.entry, kernel_page(attack_value) ^ attributes);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("its registers are mapped");
}

/*
 * Says in a page at which level it runs, and stays: ADR x0, .+0x40,
 * MRS x1, CurrentEL, STR x1, [x0], DSB SY, WFE, B .-4. It needs no MMU.
 */
static const u32 say_level[] = {
	0x10000200U, 0xd5384241U, 0xf9000001U, 0xd5033f9fU, 0xd503205fU, 0x17ffffffU,
};

#define LEVEL_AT	0x40

static void clean(void *address)
{
	asm volatile("dc civac, %0\n dsb sy" : : "r" (address) : "memory");
}

/* Whether a CPU comes within a second that finds the page in a word of the firmware's. */
static u64 level_of_comer(void *page, u64 *word)
{
	u64 *level = page + LEVEL_AT;
	int i;

	memcpy(page, say_level, sizeof(say_level));
	clean(page);
	clean(level);
	if (!try_store(word, virt_to_phys(page)))
		return 0;
	dsb(sy);
	sev();
	for (i = 0; i < 100 && !READ_ONCE(*level); i++) {
		usleep_range(10000, 20000);
		clean(level);
	}
	return READ_ONCE(*level);
}

/* A word at which a CPU that waits in firmware is told where to start. */
static void release_address(void)
{
	u64 attributes = PTE_ATTRINDX(MT_NORMAL) ^ PTE_ATTRINDX(MT_DEVICE_nGnRE);
	void *page = (void *)get_zeroed_page(GFP_KERNEL);
	struct donjon_result result;
	struct window window;
	u64 level;

	if (!page || !open_window(&window))
		return;
	result = write_entry(window.entry, kernel_page(PAGE_OF(attack_value)) ^ attributes);
	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	level = level_of_comer(page, (u64 *)(window.va + offset_in_page(attack_value)));
	if (level)
		attack_succeeded("a CPU runs the attacker's code at EL%llu", level >> 2);
	else
		attack_stopped("stored, and no CPU came");
}

/*
 * A mapping that says read-only and means writable. With DBM a CPU that manages
 * the dirty state makes it writable itself at the first store.
 */
static void map_with_dbm(const struct window *window, u64 descriptor)
{
	struct donjon_result result;
	u64 *word = (u64 *)(window->va + window->entry % PAGE_SIZE);

	result = write_entry(window->entry, descriptor | PTE_RDONLY | PTE_DBM);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("a table is mapped with DBM; a store %s",
				 try_touch(word) ? "went through" :
				 "still faults, TCR_EL1.HD being 0");
}

static void table_with_dbm(void)
{
	struct window window;

	if (open_window(&window))
		map_with_dbm(&window, kernel_page(PAGE_OF(window.entry)));
}

DONJON_ATTACK("map-protected-memory", "inner", inner);
DONJON_ATTACK("map-protected-memory", "table", table);
DONJON_ATTACK("map-protected-memory", "root", root);
DONJON_ATTACK("map-protected-memory", "reserved", reserved);
DONJON_ATTACK("map-protected-memory", "device", device);
DONJON_ATTACK("map-protected-memory", "release-address", release_address);
DONJON_ATTACK("map-text-writable", "kernel", kernel_text);
DONJON_ATTACK("map-text-writable", "module", module_text);
DONJON_ATTACK("map-text-writable", "constants", constants);
DONJON_ATTACK("map-table-with-dbm", "table", table_with_dbm);
