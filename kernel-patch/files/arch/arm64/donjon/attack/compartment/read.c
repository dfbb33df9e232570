// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a compartment, by every mapping that Linux can ask for.
 */
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#include <asm/pgtable.h>

#include "common/block.h"
#include "compartment.h"

/* Where the linear map would show it. */
static void linear(void)
{
	unsigned int i, faults = 0;
	u64 value;

	if (!prepare_compartment())
		return;
	for (i = 0; i < FRAMES; i++) {
		if (!try_load(phys_to_virt(private_frame(i)), &value))
			faults++;
		else if (value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
	}
	attack_stopped("%u of %u loads faulted", faults, FRAMES);
}

/* In a page of the kernel's with these memory attributes. */
static void map_with(u64 attributes)
{
	struct donjon_result result = {};
	struct window window;
	unsigned int i, accepted = 0;
	u64 value, page;

	if (!prepare_compartment() || !open_window(&window))
		return;
	for (i = 0; i < FRAMES; i++) {
		page = kernel_page(private_frame(i)) & ~PTE_ATTRINDX_MASK;
		result = write_entry(window.entry, page | attributes);
		if (result.status)
			continue;
		if (try_load((u64 *)window.va, &value) && value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
		accepted++;
		write_entry(window.entry, 0);
	}
	if (accepted)
		return attack_succeeded("%u frames were mapped", accepted);
	attack_stopped("refused: %s", attack_why(result));
}

static void map(void)
{
	map_with(PTE_ATTRINDX(MT_NORMAL));
}

/* This does not look into caches: what was evicted would be found in memory. */
static void map_uncached(void)
{
	map_with(PTE_ATTRINDX(MT_NORMAL_NC));
}

static void user(void)
{
	struct donjon_result result = {};
	struct hole hole;
	unsigned int i, accepted = 0;
	u64 value;

	if (!prepare_compartment() || !open_hole(&hole))
		return;
	for (i = 0; i < FRAMES; i++) {
		result = fill_hole(&hole, user_page(private_frame(i)));
		if (result.status)
			continue;
		if (try_user_load(&hole, &value) && value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
		accepted++;
	}
	if (accepted)
		return attack_succeeded("%u frames were mapped", accepted);
	attack_stopped("refused: %s", attack_why(result));
}

/* Have it copied into text, as the source of new instructions. */
static void buffer(void)
{
	struct donjon_result result = {};
	unsigned int i;

	if (!prepare_compartment())
		return;
	for (i = 0; i < FRAMES; i++) {
		result = poke_stopped(scratch(0), private_frame(i), sizeof(u64), DONJON_POKE_COPY);
		if (!result.status)
			return attack_succeeded("frame %u was copied to text", i);
	}
	attack_stopped("refused: %s", attack_why(result));
}

static bool has_secret(const u64 *words, unsigned int count)
{
	while (count--)
		if (READ_ONCE(words[count]) == SECRET)
			return true;
	return false;
}

/* What comes back to Linux when the compartment is gone. */
static void leftovers(void)
{
	struct page *back;

	if (!prepare_compartment())
		return;
	back = take_block_back();
	if (!back) {
		attack_untried("the block did not come back");
		return;
	}
	if (has_secret(page_address(back), SZ_2M / sizeof(u64)))
		attack_succeeded("the secret is in the block that came back");
	else
		attack_stopped("all of the block is wiped");
	free_attack_block(back, DONJON_RESERVE_COMPARTMENTS);
}

/* Take the block back while the compartment lives. */
static void in_use(void)
{
	struct donjon_result result;
	unsigned int i;
	u64 value;

	if (!prepare_compartment())
		return;
	result = compartment_call_whole(DONJON_FN_POOL_REMOVE, private_frame(0), 0, 0, 0);
	if (result.status)
		return attack_stopped("refused: %s", attack_why(result));
	for (i = 0; i < FRAMES; i++)
		if (try_load(phys_to_virt(private_frame(i)), &value) && value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
	attack_succeeded("the block came back");
}

/* The ASID under which a CPU may still hold what it translated. */
static void asid(void)
{
	struct donjon_result result;
	unsigned long flags;

	local_irq_save(flags);
	result = compartment_call(DONJON_FN_SWITCH_ROOT,
				  BIT_ULL(60) | DONJON_LAST_RESERVED_ASID, 0, 0, 0);
	if (!result.status)
		compartment_call(DONJON_FN_SWITCH_ROOT, this_process(), 0, 0, 0);
	local_irq_restore(flags);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("a process has it");
}

DONJON_ATTACK("read-compartment", "linear", linear);
DONJON_ATTACK("read-compartment", "map", map);
DONJON_ATTACK("read-compartment", "user", user);
DONJON_ATTACK("map-compartment", "uncached", map_uncached);
DONJON_ATTACK("read-compartment", "buffer", buffer);
DONJON_ATTACK("read-compartment", "asid", asid);
DONJON_ATTACK("keep-compartment-memory", "leftovers", leftovers);
DONJON_ATTACK("keep-compartment-memory", "in-use", in_use);
