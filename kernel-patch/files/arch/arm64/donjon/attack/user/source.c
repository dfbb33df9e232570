// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have a user's tables filled from memory that Linux cannot read, or that is
 * no memory: what becomes of each word tells something about it.
 */
#include <linux/io.h>
#include <linux/mm.h>

#include <asm/pgtable.h>

#include "compartment/compartment.h"

static void fill_from(u64 page)
{
	struct donjon_result result;
	struct hole hole;

	if (!open_hole(&hole))
		return;
	result = fill_hole_from(&hole, page + offset_in_page(hole.descriptor));
	if (result.status && result.value == DONJON_REASON_WRONG_FRAME)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("%#llx was read: %s", page, attack_why(result));
}

static void inner(void)
{
	fill_from(inner_memory());
}

static void table(void)
{
	fill_from(PAGE_OF(walk_to(kernel_root(), (unsigned long)scratch(0), 3).entry));
}

static void private(void)
{
	if (prepare_compartment())
		fill_from(private_frame(0));
}

static void device(void)
{
	fill_from(console_page());
}

static void nothing(void)
{
	fill_from(virt_to_phys(high_memory - 1) + 1);
}

DONJON_ATTACK("fill-from-protected-memory", "inner", inner);
DONJON_ATTACK("fill-from-protected-memory", "table", table);
DONJON_ATTACK("fill-from-protected-memory", "device", device);
DONJON_ATTACK("fill-from-protected-memory", "no-memory", nothing);
DONJON_ATTACK("fill-from-protected-memory", "private", private);
