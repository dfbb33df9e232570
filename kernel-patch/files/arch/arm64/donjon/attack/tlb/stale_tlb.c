// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU keeps a writable TLB entry for memory that becomes a table. It turns
 * interrupts off, uses the address once and waits; another CPU adds the memory
 * to the pool meanwhile. Linux invalidates nothing.
 */
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/processor.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "common/block.h"

#define MARK		0x5a1e5a1e5a1e5a1eUL
/* Turns of a waiting loop; some seconds */
#define PATIENCE	BIT(30)

struct race {
	u64 *target;
	unsigned int warm, strike, done;
	bool stored;
};

static bool wait_for(unsigned int *what)
{
	unsigned long turns;

	for (turns = 0; turns < PATIENCE; turns++) {
		/* Pairs with the other CPU's smp_store_release() */
		if (smp_load_acquire(what))
			return true;
		barrier();
	}
	return false;
}

/* On the other CPU, with interrupts off. */
static void keep_and_strike(void *data)
{
	struct race *race = data;

	WRITE_ONCE(*race->target, 0);
	/* From here on the TLB has it */
	smp_store_release(&race->warm, 1);
	if (wait_for(&race->strike))
		race->stored = try_store(race->target, MARK);
	/* The result comes first */
	smp_store_release(&race->done, 1);
}

static void remove_block(u64 block, u64 page)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_POOL_REMOVE, block, 0, 0, 0, 0, 0);
	if (result.status)
		return;
	free_attack_block((struct page *)page, DONJON_RESERVE_TABLES);
}

static struct donjon_result add_block(u64 block)
{
	struct donjon_result result;

	do {
		result = __donjon_call(DONJON_FN_POOL_ADD, block, DONJON_POOL_TABLES,
				       0, 0, 0, 0);
	} while (result.status == DONJON_ERR_BUSY);
	return result;
}

/*
 * Interrupts are off here as well, so that nothing on this CPU has a reason to
 * invalidate anything. The entry of the second mapping is cleared, if there is
 * one, by the call alone.
 */
static void carry_out(struct page *page, u64 *target, u64 entry)
{
	u64 block = page_to_phys(page), *linear;
	struct race race = { .target = target };
	struct donjon_result result = {};
	unsigned long flags;
	int cpu, other;

	linear = phys_to_virt(block);
	cpu = get_cpu();
	other = cpumask_any_but(cpu_online_mask, cpu);
	if (other >= nr_cpu_ids ||
	    smp_call_function_single(other, keep_and_strike, &race, 0)) {
		attack_untried("two CPUs are needed");
		free_attack_block(page, DONJON_RESERVE_TABLES);
		goto out;
	}
	local_irq_save(flags);
	if (!wait_for(&race.warm))
		result.status = DONJON_ERR_BUSY;
	if (!result.status && entry)
		result = __donjon_call(DONJON_FN_TABLE_WRITE, entry, 0, 0, 0, 0, 0);
	if (!result.status)
		result = add_block(block);
	/* The block is the pool's now */
	smp_store_release(&race.strike, 1);
	wait_for(&race.done);
	local_irq_restore(flags);

	if (result.status) {
		attack_untried("the block did not join the pool: %s", attack_why(result));
		free_attack_block(page, DONJON_RESERVE_TABLES);
		goto out;
	}
	undo_later(remove_block, block, (u64)page);
	if (race.stored && READ_ONCE(*linear) == MARK)
		attack_succeeded("CPU %d wrote a frame of the pool", other);
	else if (race.stored)
		attack_stopped("the store went elsewhere");
	else
		attack_stopped("the store on CPU %d faulted", other);
out:
	put_cpu();
}

static struct page *block_of_memory(void)
{
	struct page *page = attack_block(DONJON_RESERVE_TABLES);

	if (!page)
		attack_untried("no block of memory is free");
	return page;
}

/* Through the block of the linear map itself. */
static void linear_map(void)
{
	struct page *page = block_of_memory();

	if (page)
		carry_out(page, page_address(page), 0);
}

/* Through another mapping of one page, gone from the tables when the block joins. */
static void other_mapping(void)
{
	struct page *page = block_of_memory();
	struct window window;

	if (!page || !open_window(&window))
		return;
	if (write_entry(window.entry, kernel_page(page_to_phys(page))).status) {
		attack_untried("the page cannot be mapped");
		return;
	}
	carry_out(page, (u64 *)window.va, window.entry);
}

DONJON_ATTACK("keep-tlb-entry", "linear-map", linear_map);
DONJON_ATTACK("keep-tlb-entry", "other-mapping", other_mapping);
