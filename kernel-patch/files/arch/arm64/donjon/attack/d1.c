// SPDX-License-Identifier: GPL-2.0-only
/*
 * D1: store to a table, through the linear map. The entry maps a page of the
 * inner domain, so that success is seen by whoever reads there.
 */
#include <linux/io.h>

#include "attack.h"

static void forge_entry(const struct window *window, u64 forged)
{
	u64 *entry = phys_to_virt(window->entry);
	u64 word;

	if (!try_store(entry, forged)) {
		attack_stopped("the store through the linear map faulted");
		return;
	}
	restore_entry_later(window->entry, 0);
	if (READ_ONCE(*entry) != forged)
		attack_stopped("the store had no effect");
	else if (try_load((const u64 *)window->va, &word))
		attack_succeeded("the entry is written, and reads %#llx", word);
	else
		attack_succeeded("the entry is written");
}

static void kernel_table(void)
{
	struct window window;

	if (open_window(&window))
		forge_entry(&window, kernel_page(inner_memory()));
}

static void user_table(void)
{
	struct window window;

	if (open_user_window(&window))
		forge_entry(&window, user_page(inner_memory()));
}

static const struct attempt attempts[] = {
	{ "kernel-table", kernel_table },
	{ "user-table", user_table },
	{}
};

const struct attack attack_d1 = { "D1", attempts };
