// SPDX-License-Identifier: GPL-2.0-only
/*
 * A1: map what is not Linux's, writable, by the call that maps everything else.
 */
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

/* Memory that the device tree sets aside */
static void reserved(void)
{
	struct window window;

	if (!attack_page)
		attack_untried("where is it?");
	else if (open_window(&window))
		map(&window, kernel_page(attack_page), 0);
}

/* A device by its address. Some do not bear a load of any size anywhere. */
static void device(void)
{
	u64 attributes = PTE_ATTRINDX(MT_NORMAL) ^ PTE_ATTRINDX(MT_DEVICE_nGnRE);
	struct donjon_result result;
	struct window window;

	if (!open_window(&window))
		return;
	result = write_entry(window.entry, kernel_page(attack_page) ^ attributes);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("its registers are mapped");
}

DONJON_ATTACK("A1", "inner", inner);
DONJON_ATTACK("A1", "table", table);
DONJON_ATTACK("A1", "root", root);
DONJON_ATTACK("A1", "reserved", reserved);
DONJON_ATTACK("A1", "device", device);
