// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers at every edge, for each call that takes one: it gets a buffer before and
 * behind memory, in and around what is the inner domain's, over the end of a
 * page, where addresses wrap around, misaligned, empty and huge. None of them
 * may be accepted, and nothing of the attacker's own may change.
 */
#include <linux/array_size.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <asm/memory.h>
#include <asm/sysreg.h>

#include "attack.h"

#define PATTERN		0xa5
/* What the hand-over takes: nine words */
#define HANDOVER_SIZE	(9 * sizeof(u64))
#define PAGES_ORDER	2
#define OWN_SIZE	(PAGE_SIZE << PAGES_ORDER)

/* A call whose buffer is some bytes long: as many as asked for, or a bit more. */
struct call {
	const char *name;
	struct donjon_result (*call)(u64 pa, u64 bytes);
	u64 unit;		/* of its length */
	u64 alignment;
	bool writes;
};

static struct donjon_result call_list(u64 pa, u64 bytes)
{
	return __donjon_call(DONJON_FN_TABLE_WRITE_LIST, pa, bytes / 16, 0, 0, 0, 0);
}

static struct donjon_result call_release(u64 pa, u64 bytes)
{
	/* 0 means that there is no list */
	return __donjon_call(DONJON_FN_TABLE_RELEASE, pa, bytes / 8 ?: ~0UL, 0, 0, 0, 0);
}

static struct donjon_result call_poke(u64 pa, u64 bytes)
{
	return __donjon_call(DONJON_FN_TEXT_POKE, scratch(0), pa, bytes,
			     DONJON_POKE_COPY, 0, 0);
}

/* Has no length, and comes too late wherever it is. */
static struct donjon_result call_handover(u64 pa, u64 bytes)
{
	return __donjon_call(DONJON_FN_HANDOVER, pa, 0, 0, 0, 0, 0);
}

static struct donjon_result call_log(u64 pa, u64 bytes)
{
	return __donjon_call(DONJON_FN_LOG, 0, pa, bytes, 0, 0, 0);
}

static struct donjon_result call_refusals(u64 pa, u64 bytes)
{
	return __donjon_call(DONJON_FN_REFUSALS, 0, pa, bytes, 0, 0, 0);
}

static const struct call calls[] = {
	{ "list", call_list, 16, 8, false },
	{ "release", call_release, 8, 8, false },
	{ "poke", call_poke, 4, 4, false },
	{ "handover", call_handover, 0, 8, false },
	{ "log", call_log, 1, 1, true },
	{ "refusals", call_refusals, 1, 1, true },
};

/* What is tried, and how it went so far. */
struct trial {
	u8 *own;
	unsigned int refused;
	bool accepted;
};

static bool is_intact(const struct trial *trial)
{
	return !memchr_inv(trial->own, PATTERN, OWN_SIZE);
}

/* The address or the length is wrong, and the answer says so before anything else. */
static void refuse(struct trial *trial, const struct call *call, u64 pa, u64 bytes)
{
	struct donjon_result result;

	if (trial->accepted)
		return;
	result = call->call(pa, bytes);
	if ((result.status == DONJON_ERR_BAD_ADDRESS ||
	     result.status == DONJON_ERR_INVALID_ARGUMENT) && is_intact(trial)) {
		trial->refused++;
		return;
	}
	trial->accepted = true;
	attack_succeeded("%s takes %#llx bytes at %#llx: %s", call->name, bytes, pa,
			 is_intact(trial) ? attack_why(result) : "memory has changed");
}

/* Ranges that only the inner domain may name, from the first byte to the last. */
static void around(struct trial *trial, const struct call *call, u64 start, u64 end)
{
	u64 bytes = call->unit ? 64 : HANDOVER_SIZE;

	refuse(trial, call, start, bytes);
	refuse(trial, call, end - bytes, bytes);
	/* One end is in it */
	refuse(trial, call, start - bytes / 2, bytes);
	refuse(trial, call, end - bytes / 2, bytes);
}

static void at_edges(struct trial *trial, const struct call *call)
{
	u64 own = virt_to_phys(trial->own), inner = inner_memory();
	/* As `status` asks: which fact is number 4 */
	u64 size = __donjon_call(DONJON_FN_INFORMATION, 4, 0, 0, 0, 0, 0).value;
	u64 ram_start = memstart_addr, ram_end = virt_to_phys(high_memory - 1) + 1;
	u64 block = kernel_root() & ~(DONJON_TABLE_BLOCK_SIZE - 1UL);
	u64 bytes = call->unit ? 64 : HANDOVER_SIZE;
	u64 at, shift;

	around(trial, call, inner, inner + size);
	for (at = inner; at < inner + size; at += SZ_64K)
		refuse(trial, call, at, bytes);
	around(trial, call, block, block + DONJON_TABLE_BLOCK_SIZE);
	refuse(trial, call, ram_start - bytes, bytes);
	refuse(trial, call, ram_start - bytes / 2, bytes);
	refuse(trial, call, ram_end, bytes);
	refuse(trial, call, ram_end - bytes / 2, bytes);
	refuse(trial, call, console_page(), bytes);
	/* The end of the address space, and what is no physical address */
	for (shift = 8; shift <= PAGE_SIZE; shift *= 2)
		refuse(trial, call, -shift, shift);
	refuse(trial, call, -32UL, 64);
	for (shift = 40; shift < 64; shift++)
		refuse(trial, call, own | BIT_ULL(shift), bytes);
	/* Linux's name for its own memory */
	refuse(trial, call, (u64)trial->own, bytes);
	/* Over the end of a page by the smallest step, and by half */
	for (shift = max(call->alignment, call->unit ?: 8); shift < bytes; shift *= 2)
		refuse(trial, call, own + 2 * PAGE_SIZE - shift, bytes);
	for (shift = 1; shift < call->alignment; shift *= 2)
		refuse(trial, call, own + shift, call->unit);
}

static void of_any_size(struct trial *trial, const struct call *call)
{
	u64 own = virt_to_phys(trial->own);
	unsigned int shift;

	if (!call->unit)
		return;
	refuse(trial, call, own, 0);
	refuse(trial, call, own, PAGE_SIZE + call->unit);
	for (shift = PAGE_SHIFT + 1; shift < 64; shift++) {
		refuse(trial, call, own, BIT_ULL(shift));
		refuse(trial, call, own, -BIT_ULL(shift));
		/* The sum of both is small again */
		refuse(trial, call, own, -own + BIT_ULL(shift));
	}
	refuse(trial, call, own, -(u64)call->unit);
}

/* The inner domain reads these, but it does not write them. */
static void in_place_of(struct trial *trial, const struct call *call, u64 pa)
{
	static u8 before[PAGE_SIZE];
	const void *page = phys_to_virt(PAGE_OF(pa));

	memcpy(before, page, PAGE_SIZE);
	refuse(trial, call, PAGE_OF(pa), 64);
	refuse(trial, call, PAGE_OF(pa) + PAGE_SIZE - 64, 64);
	if (!trial->accepted && memcmp(before, page, PAGE_SIZE)) {
		trial->accepted = true;
		attack_succeeded("%s has changed %#llx", call->name, PAGE_OF(pa));
	}
}

static void in_protected_frames(struct trial *trial, const struct call *call)
{
	unsigned long here = (unsigned long)trial->own;
	struct window window;

	if (!open_window(&window)) {
		trial->accepted = true;
		return;
	}
	in_place_of(trial, call, window.entry);
	in_place_of(trial, call, walk_to(kernel_root(), here, 2).entry);
	/* Text of this module, and where the vectors are */
	in_place_of(trial, call, walk_to(kernel_root(), scratch(0), 3).value);
	in_place_of(trial, call,
		    walk_to(kernel_root(), read_sysreg(vbar_el1), 3).value);
}

static void try_calls(bool writes)
{
	struct trial trial = {
		.own = (u8 *)__get_free_pages(GFP_KERNEL, PAGES_ORDER),
	};
	unsigned int i;

	if (!trial.own) {
		attack_untried("there is no memory");
		return;
	}
	memset(trial.own, PATTERN, OWN_SIZE);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].writes != writes)
			continue;
		at_edges(&trial, &calls[i]);
		of_any_size(&trial, &calls[i]);
		if (writes)
			in_protected_frames(&trial, &calls[i]);
	}
	free_pages((unsigned long)trial.own, PAGES_ORDER);
	if (!trial.accepted)
		attack_stopped("all %u buffers are refused", trial.refused);
}

static void read_from(void)
{
	try_calls(false);
}

static void write_to(void)
{
	try_calls(true);
}

DONJON_ATTACK("name-buffers-at-edges", "read", read_from);
DONJON_ATTACK("name-buffers-at-edges", "write", write_to);
