// SPDX-License-Identifier: GPL-2.0-only
/*
 * No attack but the calls that an attacker would use to keep a CPU inside for
 * long: each is allowed. The inner domain measures itself; `donjon-bench
 * longest` reads what it has seen.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/insn.h>
#include <asm/pgtable.h>

#include "common/block.h"
#include "compartment/compartment.h"

/* As slow to decide as any that is allowed: DSB SY */
#define SLOW_WORD	0xd5033f9fU
/* ISB, BRK #1 */
#define SYNCHRONIZE_WORD 0xd5033fdfU
#define BREAK_WORD	0xd4200020U
#define STORES		DONJON_LIST_MAX
/* More than one call reads */
#define REFUSED_CALLS	64

/* Carry out every store of the list. Returns how many calls it took, or 0. */
static unsigned int carry_out(const struct donjon_table_entry *stores)
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

/* Tables of users at level 3, each with one page */
#define TABLES		512UL
#define USER_START	SZ_1G

static struct donjon_result fill(u64 va, const u64 *descriptors, unsigned int count)
{
	return without_index(__donjon_call(DONJON_FN_MAP, this_process(), va,
					   virt_to_phys(descriptors), count, 0, 0));
}

static void drop(u64 start, u64 end)
{
	struct donjon_result result = {};

	for (; start < end && !result.status; start = result.value)
		result = __donjon_call(DONJON_FN_FLUSH, this_process(), start, end,
				       0, 0, 0);
}

/* Entries that are valid all the time, and lead elsewhere each time. */
static void change_pages(void)
{
	u64 *descriptors = (u64 *)get_zeroed_page(GFP_KERNEL);
	u64 pages = __get_free_pages(GFP_KERNEL, get_order(2 * PAGE_SIZE));
	struct donjon_result result;
	unsigned int i, round;

	if (!descriptors || !pages) {
		attack_untried("there is no memory");
		return;
	}
	for (round = 0; round < 4; round++) {
		for (i = 0; i < DONJON_MAP_MAX; i++)
			descriptors[i] = user_page(virt_to_phys((void *)pages) +
						   (i + round) % 2 * PAGE_SIZE);
		result = fill(USER_START, descriptors, DONJON_MAP_MAX);
	}
	drop(USER_START, USER_START + PMD_SIZE);
	free_pages(pages, get_order(2 * PAGE_SIZE));
	free_page((unsigned long)descriptors);
	if (result.status)
		attack_untried("%s", attack_why(result));
	else
		attack_stopped("%lu entries changed in one call", DONJON_MAP_MAX);
}

/* All that there is dropped at once, in parts, and read again. */
static void drop_tables(void)
{
	u64 page = get_zeroed_page(GFP_KERNEL), last = USER_START + TABLES * PMD_SIZE;
	u64 *descriptor = (u64 *)get_zeroed_page(GFP_KERNEL);
	struct donjon_result result = {};
	bool first = true;
	u64 va;

	if (!page || !descriptor) {
		attack_untried("there is no memory");
		return;
	}
	*descriptor = user_page(virt_to_phys((void *)page));
	for (va = USER_START; va < last && !result.status; va += PMD_SIZE)
		result = fill(va, descriptor, 1);
	if (result.status) {
		attack_untried("%s", attack_why(result));
		return;
	}
	do {
		result = __donjon_call(DONJON_FN_REFRESH, this_process(), first, 0, 0, 0, 0);
		first = false;
	} while (!result.status && result.value);
	drop(USER_START, last);
	for (va = USER_START; va < last; va += PMD_SIZE)
		fill(va, descriptor, 1);
	__donjon_call(DONJON_FN_CLEAR, this_process(), 0, 0, 0, 0, 0);
	free_page(page);
	free_page((unsigned long)descriptor);
	attack_stopped("%lu tables", TABLES);
}

/* Change a bit that hardware ignores in a block of the linear map. */
static void rewrite_block(void)
{
	struct donjon_table_entry *stores = kmalloc_array(STORES, sizeof(*stores), GFP_KERNEL);
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
		stores[i] = (struct donjon_table_entry){
			.entry = step.entry,
			.value = step.value ^ (i % 2 ? 0 : PTE_SPECIAL),
		};
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
	result = poke_stopped(scratch(0), virt_to_phys(list),
			      sizeof(u32) * SCRATCH_WORDS, DONJON_POKE_COPY);
	kfree(list);
	put_nops(scratch(0), sizeof(u32) * SCRATCH_WORDS);
	if (result.status)
		attack_untried("%s", attack_why(result));
	else
		attack_stopped("%u instructions in one call", SCRATCH_WORDS);
}

/* Each word and its successor are on the list of what may change in live text. */
static void poke_live(void)
{
	size_t bytes = SCRATCH_WORDS * sizeof(u32);
	struct donjon_result result;
	u32 *list = kmalloc(bytes, GFP_KERNEL);

	if (!list) {
		attack_untried("there is no memory");
		return;
	}
	memset32(list, BREAK_WORD, SCRATCH_WORDS);
	result = poke_stopped(scratch(0), SYNCHRONIZE_WORD, bytes, DONJON_POKE_FILL);
	if (!result.status)
		result = __donjon_call(DONJON_FN_TEXT_POKE, scratch(0), virt_to_phys(list),
				       bytes, DONJON_POKE_COPY, 0, 0);
	kfree(list);
	put_nops(scratch(0), bytes);
	if (result.status)
		attack_untried("%s", attack_why(result));
	else
		attack_stopped("%u instructions in one call", SCRATCH_WORDS);
}

static void seal(void)
{
	seal_page_of(SLOW_WORD);
}

/* For a change that does not come. */
static void wait(void)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_TEXT_WAIT, 0, 0, 0, 0, 0, 0);
	if (result.status)
		attack_untried("%s", attack_why(result));
	else
		attack_stopped("it came back after %lu changes", result.value);
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

/* Two tables of a process, with all pages of the block; the descriptors are a table's. */
static struct donjon_result fill_with_block(u64 *descriptors, u64 block)
{
	struct donjon_result result = {};
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++)
		descriptors[i] = user_page(block + i * PAGE_SIZE);
	for (i = 0; i < 2 * PTRS_PER_PTE && !result.status; i += DONJON_MAP_MAX)
		result = fill(USER_START + i * PAGE_SIZE, descriptors + i % PTRS_PER_PTE,
			      DONJON_MAP_MAX);
	return result;
}

/* Two tables of level 2 in which each entry is the block. */
static struct donjon_result fill_with_blocks(u64 *descriptors, u64 block)
{
	struct donjon_result result = {};
	unsigned int i;

	for (i = 0; i < PTRS_PER_PMD; i++)
		descriptors[i] = user_page(block) & ~PTE_TABLE_BIT;
	for (i = 0; i < 2 * PTRS_PER_PMD && !result.status; i++)
		result = __donjon_call(DONJON_FN_MAP_BLOCK, this_process(),
				       2UL * USER_START + i * PMD_SIZE,
				       virt_to_phys(descriptors + i % PTRS_PER_PMD), 0, 0, 0);
	return result;
}

/* Full tables of both levels lose the right to be written. */
static void protect_tables(void)
{
	struct page *block = attack_block(DONJON_RESERVE_COMPARTMENTS);
	u64 *descriptors = (u64 *)get_zeroed_page(GFP_KERNEL);
	struct donjon_result result = {};
	unsigned int calls = 0;

	if (!block || !descriptors) {
		attack_untried("there is no memory");
		goto out;
	}
	result = fill_with_block(descriptors, page_to_phys(block));
	if (!result.status)
		result = fill_with_blocks(descriptors, page_to_phys(block));
	if (result.status) {
		attack_untried("%s", attack_why(result));
	} else {
		do {
			result = __donjon_call(DONJON_FN_REFRESH, this_process(), !calls, 1,
					       0, 0, 0);
			calls++;
		} while (!result.status && result.value);
		attack_stopped("%u calls", calls);
	}
	__donjon_call(DONJON_FN_CLEAR, this_process(), 0, 0, 0, 0, 0);
out:
	free_page((unsigned long)descriptors);
	if (block)
		free_attack_block(block, DONJON_RESERVE_COMPARTMENTS);
}

/*
 * As many blocks as become private together. The last one is in tables of a
 * process, which are emptied, and in one of the kernel's, so all are refused.
 */
static void offer_blocks(u64 *descriptors, struct page **blocks, unsigned int count)
{
	struct donjon_result result;
	struct window window;
	unsigned int i;
	u64 last;

	if (!open_window(&window))
		return;
	last = page_to_phys(blocks[count - 1]);
	result = fill_with_block(descriptors, last);
	if (!result.status)
		result = write_entry(window.entry, kernel_page(last));
	for (i = 0; i + 1 < count && !result.status; i++)
		result = make_private(page_to_phys(blocks[i]), true);
	if (result.status)
		return attack_untried("%s", attack_why(result));
	result = make_private(last, false);
	write_entry(window.entry, 0);
	drop(USER_START, USER_START + 2 * PMD_SIZE);
	if (result.status)
		attack_stopped("%u blocks, refused: %s", count, attack_why(result));
	else
		attack_untried("a block that is mapped became private");
}

static void give_mapped_blocks(void)
{
	u64 *descriptors = (u64 *)get_zeroed_page(GFP_KERNEL);
	struct page *blocks[DONJON_POOL_TOGETHER_MAX];
	unsigned int count;

	for (count = 0; count < ARRAY_SIZE(blocks); count++) {
		blocks[count] = attack_block(DONJON_RESERVE_COMPARTMENTS);
		if (!blocks[count])
			break;
	}
	if (descriptors && count > 1)
		offer_blocks(descriptors, blocks, count);
	else
		attack_untried("there is no memory");
	while (count--)
		free_attack_block(blocks[count], DONJON_RESERVE_COMPARTMENTS);
	free_page((unsigned long)descriptors);
}

DONJON_ATTACK("longest", "change-pages", change_pages);
DONJON_ATTACK("longest", "give-mapped-blocks", give_mapped_blocks);
DONJON_ATTACK("longest", "drop-tables", drop_tables);
DONJON_ATTACK("longest", "protect-tables", protect_tables);
DONJON_ATTACK("longest", "rewrite-block", rewrite_block);
DONJON_ATTACK("longest", "poke", poke);
DONJON_ATTACK("longest", "poke-live", poke_live);
DONJON_ATTACK("longest", "seal", seal);
DONJON_ATTACK("longest", "wait", wait);
DONJON_ATTACK("longest", "read-all", read_all);
