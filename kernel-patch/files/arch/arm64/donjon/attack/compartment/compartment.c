// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes compartments of the attacker's own, in a block of private memory.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "common/block.h"
#include "compartment.h"

/* Compartments that are there at once */
#define MOST	8

static struct page *block;
static u64 prepared;
static u64 others[MOST];

struct donjon_result compartment_call(u64 function, u64 a1, u64 a2, u64 a3, u64 a4)
{
	return __donjon_call(function, a1, a2, a3, a4, 0, 0);
}

struct donjon_result compartment_call_whole(u64 function, u64 a1, u64 a2, u64 a3, u64 a4)
{
	struct donjon_result result;

	do {
		result = compartment_call(function, a1, a2, a3, a4);
		cond_resched();
	} while (result.status == DONJON_ERR_BUSY || (!result.status && result.value));
	return result;
}

struct donjon_result make_private(u64 block, bool waits)
{
	return compartment_call_whole(DONJON_FN_POOL_ADD, block, DONJON_POOL_PRIVATE,
				      waits, 0);
}

struct donjon_result run_compartment(u64 handle, enum what what, u64 x, u64 y, u64 z)
{
	struct donjon_result result;

	do {
		result = __donjon_call(DONJON_FN_COMPARTMENT_RUN, handle, what, x, y, z, 0);
	} while (result.status == DONJON_EXIT_INTERRUPTED);
	return result;
}

void destroy_compartment(u64 handle)
{
	unsigned int i;

	if (handle)
		compartment_call_whole(DONJON_FN_COMPARTMENT_DESTROY, handle, 0, 0, 0);
	for (i = 0; i < MOST; i++)
		if (others[i] == handle)
			others[i] = 0;
	if (prepared == handle)
		prepared = 0;
}

static struct page *remove_block(void)
{
	struct page *page = block;

	if (!page || compartment_call_whole(DONJON_FN_POOL_REMOVE, page_to_phys(page),
					    0, 0, 0).status)
		return NULL;
	block = NULL;
	return page;
}

struct page *take_block_back(void)
{
	unsigned int i;

	for (i = 0; i < MOST; i++)
		destroy_compartment(others[i]);
	destroy_compartment(prepared);
	return remove_block();
}

static void put_back(u64 first, u64 second)
{
	struct page *page = take_block_back();

	if (page)
		free_attack_block(page, DONJON_RESERVE_COMPARTMENTS);
	else if (block)
		pr_err("attack: the block of compartments does not come back\n");
}

bool add_page(u64 handle, u64 va, u64 access, u64 pa)
{
	return !compartment_call_whole(DONJON_FN_COMPARTMENT_ADD, handle, va, access, pa).status;
}

bool seal_compartment(u64 handle)
{
	return !compartment_call(DONJON_FN_COMPARTMENT_SEAL, handle, CODE,
				 DATA + PAGE_SIZE, 0).status;
}

/* One with code. */
static u64 begin(unsigned long page, u64 frames, struct donjon_result *result)
{
	struct donjon_result made;

	made = compartment_call(DONJON_FN_COMPARTMENT_CREATE, frames, 0, 0, 0);
	*result = made;
	if (made.status)
		return 0;
	memcpy((void *)page, attack_program,
	       (unsigned long)attack_program_end - (unsigned long)attack_program);
	if (add_page(made.value, CODE, DONJON_ACCESS_EXECUTE, __pa(page)))
		return made.value;
	destroy_compartment(made.value);
	return 0;
}

static bool finish(u64 handle, unsigned long page)
{
	memset64((u64 *)page, SECRET, PAGE_SIZE / 8);
	if (add_page(handle, DATA, DONJON_ACCESS_WRITE, __pa(page)) &&
	    seal_compartment(handle))
		return true;
	destroy_compartment(handle);
	return false;
}

static u64 make_or_not(bool whole, u64 frames, struct donjon_result *result)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	u64 handle = 0;

	*result = (struct donjon_result){};
	if (page)
		handle = begin(page, frames, result);
	if (handle && whole && !finish(handle, page))
		handle = 0;
	if (page)
		clear_page((void *)page);
	free_page(page);
	return handle;
}

static u64 make(bool whole, unsigned int frames)
{
	struct donjon_result result;

	return make_or_not(whole, frames, &result);
}

static bool give_block(struct page *page)
{
	if (!page)
		return false;
	if (compartment_call_whole(DONJON_FN_POOL_ADD, page_to_phys(page),
				   DONJON_POOL_PRIVATE, 0, 0).status) {
		free_attack_block(page, DONJON_RESERVE_COMPARTMENTS);
		return false;
	}
	block = page;
	undo_later(put_back, 0, 0);
	return true;
}

static bool prepare(void)
{
	if (block)
		prepared = make(true, FRAMES);
	if (!prepared)
		attack_untried("no compartment");
	return prepared;
}

bool prepare_compartment(void)
{
	if (prepared)
		return true;
	if (!block)
		give_block(attack_block(DONJON_RESERVE_COMPARTMENTS));
	return prepare();
}

bool prepare_compartment_in(struct page *page)
{
	give_block(page);
	return prepare();
}

u64 prepared_compartment(void)
{
	return prepared;
}

u64 private_frame(unsigned int index)
{
	return page_to_phys(block) + index * PAGE_SIZE;
}

static void remember(u64 handle)
{
	unsigned int i;

	for (i = 0; i < MOST; i++) {
		if (!others[i]) {
			others[i] = handle;
			break;
		}
	}
}

static u64 note(u64 handle)
{
	remember(handle);
	if (!handle)
		attack_untried("no other compartment");
	return handle;
}

u64 make_compartment(void)
{
	return prepare_compartment() ? note(make(true, FRAMES)) : 0;
}

u64 make_compartment_with_limit(u64 limit, struct donjon_result *result)
{
	u64 handle = 0;

	*result = (struct donjon_result){};
	if (prepare_compartment())
		handle = make_or_not(true, limit, result);
	remember(handle);
	return handle;
}

u64 make_building_compartment(void)
{
	return prepare_compartment() ? note(make(false, FRAMES)) : 0;
}

u64 make_large_building_compartment(void)
{
	return prepare_compartment() ? note(make(false, LARGE)) : 0;
}
