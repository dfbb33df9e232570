// SPDX-License-Identifier: GPL-2.0-only
/*
 * No attack but the calls that an attacker would use to keep a CPU inside for
 * long: each is allowed. The inner domain measures itself; `donjon-bench
 * longest` reads what it has seen.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/insn.h>
#include <asm/pgtable.h>

#include "attack.h"

/* As slow to decide as any that is allowed: DSB SY */
#define SLOW_WORD	0xd5033f9fU
#define STORES		DONJON_LIST_MAX
/* More than one call reads */
#define REFUSED_CALLS	64

struct store {
	u64 entry;
	u64 value;
};

/* All of them, however many calls it takes; returns that number or 0. */
static unsigned int carry_out(const struct store *stores)
{
	struct donjon_result result;
	unsigned int done, calls = 0;

	for (done = 0; done < STORES; done += result.value) {
		result = __donjon_call(DONJON_FN_TABLE_WRITE_LIST,
				       virt_to_phys(stores + done), STORES - done,
				       0, 0, 0, 0);
		if (result.status || !result.value)
			return 0;
		calls++;
	}
	return calls;
}

/* Move a table of level 3 to a free entry and back, again and again. */
static void move_tables(void)
{
	struct store *stores;
	struct window window;
	struct step step;
	unsigned long flags;
	unsigned int i, calls;
	u64 other;

	if (!open_user_window(&window))
		return;
	step = walk_to(user_root(), window.va, 2);
	other = free_entry(step.entry);
	stores = kmalloc_array(STORES, sizeof(*stores), GFP_KERNEL);
	if (!other || !stores) {
		attack_untried("there is nothing to move");
		return;
	}
	for (i = 0; i < STORES; i += 4) {
		stores[i] = (struct store){ step.entry, 0 };
		stores[i + 1] = (struct store){ other, step.value };
		stores[i + 2] = (struct store){ other, 0 };
		stores[i + 3] = (struct store){ step.entry, step.value };
	}
	local_irq_save(flags);
	calls = carry_out(stores);
	local_irq_restore(flags);
	kfree(stores);
	if (calls)
		attack_stopped("%lu stores took %u calls", STORES, calls);
	else
		attack_untried("a store was refused");
}

/* Change a bit that hardware ignores in a block of the linear map. */
static void rewrite_block(void)
{
	struct store *stores = kmalloc_array(STORES, sizeof(*stores), GFP_KERNEL);
	unsigned int i, calls;
	struct step step;

	if (!stores) {
		attack_untried("there is no memory");
		return;
	}
	step = walk_to(kernel_root(), (unsigned long)stores, 3);
	if (step.level != 2) {
		attack_untried("this memory is in no block");
		return;
	}
	for (i = 0; i < STORES; i++)
		stores[i] = (struct store){ step.entry, step.value ^ (i % 2 ? 0 : PTE_SPECIAL) };
	calls = carry_out(stores);
	kfree(stores);
	if (calls)
		attack_stopped("%lu stores took %u calls", STORES, calls);
	else
		attack_untried("a store was refused");
}

static void poke(void)
{
	struct donjon_result result;
	u32 *list = kmalloc(DONJON_POKE_MAX, GFP_KERNEL);

	if (!list) {
		attack_untried("there is no memory");
		return;
	}
	memset32(list, SLOW_WORD, DONJON_POKE_MAX / sizeof(*list));
	result = __donjon_call(DONJON_FN_TEXT_POKE, scratch(0), virt_to_phys(list),
			       sizeof(u32) * SCRATCH_WORDS, DONJON_POKE_COPY, 0, 0);
	kfree(list);
	__donjon_call(DONJON_FN_TEXT_POKE, scratch(0), aarch64_insn_gen_nop(),
		      sizeof(u32) * SCRATCH_WORDS, DONJON_POKE_FILL, 0, 0);
	if (result.status)
		attack_untried("%s", attack_why(result));
	else
		attack_stopped("%u instructions in one call", SCRATCH_WORDS);
}

static void seal(void)
{
	seal_page_of(SLOW_WORD);
}

/* As many records of refusals, and as much of the log, as one call gives. */
static void read_all(void)
{
	void *page = (void *)get_zeroed_page(GFP_KERNEL);
	struct donjon_result refusals, log;
	unsigned int i;

	if (!page) {
		attack_untried("there is no memory");
		return;
	}
	for (i = 0; i < REFUSED_CALLS; i++)
		__donjon_call(DONJON_FN_TABLE_WRITE, 0, 0, 0, 0, 0, 0);
	refusals = __donjon_call(DONJON_FN_REFUSALS, 0, virt_to_phys(page),
				 PAGE_SIZE, 0, 0, 0);
	log = __donjon_call(DONJON_FN_LOG, 0, virt_to_phys(page), PAGE_SIZE, 0, 0, 0);
	free_page((unsigned long)page);
	if (refusals.status || log.status)
		attack_untried("%s", attack_why(refusals.status ? refusals : log));
	else
		attack_stopped("%lu bytes of refusals, %lu of the log",
			       refusals.value, log.value);
}

static const struct attempt attempts[] = {
	{ "move-tables", move_tables },
	{ "rewrite-block", rewrite_block },
	{ "poke", poke },
	{ "seal", seal },
	{ "read-all", read_all },
	{}
};

const struct attack attack_longest = { "longest", attempts };
