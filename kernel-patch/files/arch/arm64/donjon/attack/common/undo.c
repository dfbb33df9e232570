// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an attempt has changed stays until the auditor has looked, then it is put
 * back, so that the guest goes on and the next attack starts clean.
 */
#include <linux/array_size.h>
#include <linux/printk.h>

#include "attack.h"

static struct {
	void (*undo)(u64 first, u64 second);
	u64 first, second;
} changes[256];
static unsigned int count;

void undo_later(void (*undo)(u64 first, u64 second), u64 first, u64 second)
{
	if (count == ARRAY_SIZE(changes)) {
		pr_err("attack: too much to undo\n");
		return;
	}
	changes[count].undo = undo;
	changes[count].first = first;
	changes[count].second = second;
	count++;
}

void undo_all(void)
{
	while (count) {
		count--;
		changes[count].undo(changes[count].first, changes[count].second);
	}
}

/* Through invalid: the value may have become anything. */
static void restore(u64 entry, u64 value)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_TABLE_WRITE, entry, 0, 0, 0, 0, 0);
	if (!result.status && value & DESCRIPTOR_VALID)
		result = __donjon_call(DONJON_FN_TABLE_WRITE, entry, value, 0, 0, 0, 0);
	if (result.status)
		pr_err("attack: entry %#llx stays changed: %s\n", entry,
		       attack_why(result));
}

void restore_entry_later(u64 entry, u64 value)
{
	undo_later(restore, entry, value);
}

struct donjon_result write_entry(u64 entry, u64 value)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_TABLE_WRITE, entry, value, 0, 0, 0, 0);
	if (!result.status)
		undo_later(restore, entry, result.value);
	return result;
}
