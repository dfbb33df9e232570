// SPDX-License-Identifier: GPL-2.0-only
/*
 * F14: a mapping that says read-only and means writable. With DBM a CPU that
 * manages the dirty state makes it writable itself at the first store.
 */
#include <asm/pgtable.h>

#include "attack.h"

static void map(const struct window *window, u64 descriptor)
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

static void table(void)
{
	struct window window;

	if (open_window(&window))
		map(&window, kernel_page(PAGE_OF(window.entry)));
}

DONJON_ATTACK("F14", "table", table);
