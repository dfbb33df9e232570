// SPDX-License-Identifier: GPL-2.0-only
/*
 * A table with two parents has two addresses, and the inner domain would
 * invalidate one of them.
 */
#include "attack.h"

static void link_again(u64 root, unsigned long va)
{
	struct donjon_result result;
	struct step parent = walk_to(root, va, 2);
	u64 entry = free_entry(parent.entry);

	if (!entry) {
		attack_untried("the level 2 table is full");
		return;
	}
	result = write_entry(entry, parent.value);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("entries %#llx and %#llx lead to one table",
				 parent.entry, entry);
}

static void kernel_table(void)
{
	struct window window;

	if (open_window(&window))
		link_again(kernel_root(), window.va);
}

DONJON_ATTACK("link-table-twice", "kernel", kernel_table);
