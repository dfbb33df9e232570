// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frames that a compartment must not get, so that it reads or writes them for its
 * host; and entries of its tables.
 */
#include <linux/mm.h>

#include <asm/pgtable.h>

#include "compartment.h"

/* Where what it gets is mapped */
#define ELSEWHERE	(DATA + PMD_SIZE)

static struct donjon_result share(u64 handle, u64 va, u64 pa)
{
	return compartment_call(DONJON_FN_COMPARTMENT_SHARE, handle, va, pa, 0);
}

/* A frame that is Linux's to name, but not to write. */
static void share_frame(u64 pa)
{
	struct donjon_result result;
	u64 handle;

	handle = make_compartment();
	if (!handle)
		return;
	result = share(handle, ELSEWHERE, pa);
	if (result.status)
		return attack_stopped("refused: %s", attack_why(result));
	result = run_compartment(handle, LOAD, ELSEWHERE, 0, 0);
	if (result.status == DONJON_EXIT_RETURNED)
		attack_succeeded("it may write the frame, and reads %#lx", result.value);
	else
		attack_untried("it was left for %ld: %#lx", result.status, result.value);
}

static void share_inner(void)
{
	share_frame(inner_memory());
}

static void share_table(void)
{
	share_frame(kernel_root());
}

static void share_text(void)
{
	share_frame(frame_of((unsigned long)_printk));
}

/* The frames of another compartment. */
static void share_private(void)
{
	struct donjon_result result = {};
	unsigned int i, accepted = 0;
	u64 handle, va;

	handle = make_compartment();
	if (!handle)
		return;
	for (i = 0; i < FRAMES; i++) {
		va = ELSEWHERE + i * PAGE_SIZE;
		result = share(handle, va, private_frame(i));
		if (result.status)
			continue;
		accepted++;
		result = run_compartment(handle, LOAD, va, 0, 0);
		if (result.value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
	}
	if (accepted)
		return attack_succeeded("%u frames were shared", accepted);
	attack_stopped("refused: %s", attack_why(result));
}

/* Private frames as the pages that a new compartment begins with. */
static void add_private(void)
{
	struct donjon_result result = {};
	unsigned int i, accepted = 0;
	u64 handle, va;

	handle = make_building_compartment();
	if (!handle)
		return;
	/* No more than it has room for: the frame with data comes last */
	for (i = FRAMES - 1; i >= FRAMES / 2; i--) {
		va = DATA + i * PAGE_SIZE;
		result = compartment_call_whole(DONJON_FN_COMPARTMENT_ADD, handle, va,
						DONJON_ACCESS_WRITE, private_frame(i));
		accepted += !result.status;
	}
	if (!accepted)
		return attack_stopped("refused: %s", attack_why(result));
	if (!seal_compartment(handle))
		return attack_untried("it was not sealed");
	for (i = FRAMES - 1; i >= FRAMES / 2; i--) {
		result = run_compartment(handle, LOAD, DATA + i * PAGE_SIZE, 0, 0);
		if (result.value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
	}
	attack_succeeded("%u frames were copied", accepted);
}

/* A call that gives something back, told to write it to its frames. */
static void reply(struct donjon_result (*write)(u64 pa))
{
	struct donjon_result result = {};
	unsigned int i, written = 0;

	if (!prepare_compartment())
		return;
	for (i = FRAMES / 2; i < FRAMES; i++) {
		result = write(private_frame(i) + PAGE_SIZE / 2);
		written += !result.status;
	}
	if (written)
		attack_succeeded("%u frames were written", written);
	else
		attack_stopped("refused: %s", attack_why(result));
}

static struct donjon_result refusal(u64 pa)
{
	return reply_refusal(pa, SECRET);
}

static void reply_of_log(void)
{
	reply(reply_log);
}

static void reply_of_refusal(void)
{
	reply(refusal);
}

/* A page of the attacker's in its tables, whichever of the frames are tables. */
static void write_table(void)
{
	struct donjon_result result = {};
	u64 entry, page = user_page(frame_of((unsigned long)attack_why));
	unsigned int i;

	if (!prepare_compartment())
		return;
	for (i = 0; i < FRAMES; i++) {
		entry = private_frame(i) + pte_index(ELSEWHERE) * sizeof(u64);
		result = write_entry(entry, page);
		if (!result.status)
			return attack_succeeded("an entry in frame %u is written", i);
	}
	attack_stopped("refused: %s", attack_why(result));
}

static void release_table(void)
{
	struct donjon_result result = {};
	unsigned int i;

	if (!prepare_compartment())
		return;
	for (i = 0; i < FRAMES; i++) {
		result = compartment_call(DONJON_FN_TABLE_RELEASE, private_frame(i), 0, 0, 0);
		if (!result.status)
			return attack_succeeded("frame %u is free", i);
	}
	attack_stopped("refused: %s", attack_why(result));
}

/* Its tables as tables of the kernel's. */
static void link_table(void)
{
	struct donjon_result result = {};
	u64 entry = free_entry(walk_to(kernel_root(), VMALLOC_START, 1).entry);
	unsigned int i;

	if (!prepare_compartment())
		return;
	for (i = 0; entry && i < FRAMES; i++) {
		result = write_entry(entry, private_frame(i) | DESCRIPTOR_TABLE);
		if (!result.status)
			return attack_succeeded("frame %u is a table of the kernel's", i);
	}
	if (entry)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_untried("no entry is free");
}

DONJON_ATTACK("share-with-compartment", "inner", share_inner);
DONJON_ATTACK("share-with-compartment", "table", share_table);
DONJON_ATTACK("share-with-compartment", "text", share_text);
DONJON_ATTACK("share-with-compartment", "private", share_private);
DONJON_ATTACK("share-with-compartment", "copy-private", add_private);
DONJON_ATTACK("share-with-compartment", "log", reply_of_log);
DONJON_ATTACK("share-with-compartment", "refusal", reply_of_refusal);
DONJON_ATTACK("change-compartment-tables", "write", write_table);
DONJON_ATTACK("change-compartment-tables", "release", release_table);
DONJON_ATTACK("change-compartment-tables", "link", link_table);
