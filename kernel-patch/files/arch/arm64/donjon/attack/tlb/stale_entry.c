// SPDX-License-Identifier: GPL-2.0-only
/*
 * Use an entry that this CPU's TLB still has after its mapping is gone. It takes a
 * TLB that keeps entries over writes of TCR_EL1: QEMU's does not.
 */
#include <linux/irqflags.h>
#include <linux/mm.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "common/block.h"

#define MARK		0x5a1e5a1e5a1e5a1eUL
/* MSR TCR_EL1, X18: the last word of the page before the gate's */
#define EXIT_WRITE	0xd5182052U

/* Directly behind a call, the page that the call was in a moment ago */
static void inner(void)
{
	const u64 *last = (const u64 *)DONJON_GATE_PAGE - 1;
	unsigned long flags;
	u64 value = 0;
	bool loaded;

	local_irq_save(flags);
	__donjon_call(DONJON_FN_NULL, 0, 0, 0, 0, 0, 0);
	loaded = try_load(last, &value);
	local_irq_restore(flags);
	if (!loaded)
		attack_stopped("the load faults");
	else if (value >> 32 == EXIT_WRITE)
		attack_succeeded("read the word before the gate: %#llx", value >> 32);
	else
		attack_stopped("read something else: %#llx", value);
}

static void remove_block(u64 block, u64 page)
{
	struct donjon_result result;

	do {
		result = __donjon_call(DONJON_FN_POOL_REMOVE, block, 0, 0, 0, 0, 0);
	} while (result.status == DONJON_ERR_BUSY);
	if (!result.status)
		free_attack_block((struct page *)page, DONJON_RESERVE_TABLES);
}

/* A page that this CPU has just written becomes one of a pool */
static void use_frame(u64 kind)
{
	struct page *page = attack_block(DONJON_RESERVE_TABLES);
	struct donjon_result result;
	u64 block, *word, value = 0;
	unsigned long flags;
	bool stored = false;

	if (!page) {
		attack_untried("no memory");
		return;
	}
	block = page_to_phys(page);
	word = page_address(page);
	local_irq_save(flags);
	WRITE_ONCE(*word, 0);
	do {
		result = __donjon_call(DONJON_FN_POOL_ADD, block, kind, 0, 0, 0, 0);
		/* A part may have taken the page; so far the store may fault or not */
		stored = try_store(word, MARK) && try_load(word, &value) && value == MARK;
	} while (result.status == DONJON_ERR_BUSY);
	local_irq_restore(flags);
	if (result.status) {
		attack_untried("the block did not join the pool: %s", attack_why(result));
		free_attack_block(page, DONJON_RESERVE_TABLES);
		return;
	}
	undo_later(remove_block, block, (u64)page);
	if (stored)
		attack_succeeded("wrote a frame of the pool");
	else
		attack_stopped("the store faults");
}

static void frame(void)
{
	use_frame(DONJON_POOL_TABLES);
}

static void private(void)
{
	use_frame(DONJON_POOL_PRIVATE);
}

DONJON_ATTACK("use-stale-entry", "inner", inner);
DONJON_ATTACK("use-stale-entry", "frame", frame);
DONJON_ATTACK("use-stale-entry", "private", private);
