// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a compartment: a secret that this module has put there, but a
 * module that came later would not have.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <asm/debug-monitors.h>
#include <asm/hw_breakpoint.h>
#include <asm/sysreg.h>

#include "attack.h"

#define CODE	0x400000UL
#define DATA	0x600000UL
/* Frames of the block that the compartment may have: the lowest ones */
#define FRAMES	16

/* Two instructions that are allowed, so that text could be made of them */
#define SECRET	0xd503201fd503201fUL

/* FMOV d31, x1; SVC #0 */
static const u32 code[] = { 0x9e67003fU, 0xd4000001U };

static struct page *block;
static u64 handle;

static struct donjon_result call(u64 function, u64 a1, u64 a2, u64 a3, u64 a4)
{
	return __donjon_call(function, a1, a2, a3, a4, 0, 0);
}

/* Again while there is more to do. */
static struct donjon_result whole(u64 function, u64 a1, u64 a2, u64 a3, u64 a4)
{
	struct donjon_result result;

	do {
		result = call(function, a1, a2, a3, a4);
		cond_resched();
	} while (result.status == DONJON_ERR_BUSY || (!result.status && result.value));
	return result;
}

static void destroy(void)
{
	if (handle)
		whole(DONJON_FN_COMPARTMENT_DESTROY, handle, 0, 0, 0);
	handle = 0;
}

static void put_back(u64 first, u64 second)
{
	destroy();
	if (block && !call(DONJON_FN_POOL_REMOVE, page_to_phys(block), 0, 0, 0).status) {
		__free_pages(block, get_order(SZ_2M));
		block = NULL;
	}
}

static bool add(u64 va, u64 access, unsigned long page)
{
	return !whole(DONJON_FN_COMPARTMENT_ADD, handle, va, access, __pa(page)).status;
}

static bool fill(unsigned long page)
{
	struct donjon_result made;

	made = call(DONJON_FN_COMPARTMENT_CREATE, FRAMES, 0, 0, 0);
	if (made.status)
		return false;
	handle = made.value;
	memcpy((void *)page, code, sizeof(code));
	if (!add(CODE, DONJON_ACCESS_EXECUTE, page))
		return false;
	memset64((u64 *)page, SECRET, PAGE_SIZE / 8);
	if (!add(DATA, DONJON_ACCESS_WRITE, page))
		return false;
	clear_page((void *)page);
	return !call(DONJON_FN_COMPARTMENT_SEAL, handle, CODE, DATA + PAGE_SIZE, 0).status;
}

/* A compartment with the secret, in a block that has nothing else. */
static bool prepare(void)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	bool ready = false;

	if (handle) {
		free_page(page);
		return true;
	}
	if (page && !block)
		block = alloc_pages(GFP_KERNEL, get_order(SZ_2M));
	if (page && block) {
		undo_later(put_back, 0, 0);
		ready = !whole(DONJON_FN_POOL_ADD, page_to_phys(block),
			       DONJON_POOL_PRIVATE, 0, 0).status &&
			fill(page);
	}
	free_page(page);
	if (!ready)
		attack_untried("no compartment");
	return ready;
}

static u64 frame(unsigned int index)
{
	return page_to_phys(block) + index * PAGE_SIZE;
}

/* Where the linear map would show it. */
static void linear(void)
{
	unsigned int i, faults = 0;
	u64 value;

	if (!prepare())
		return;
	for (i = 0; i < FRAMES; i++) {
		if (!try_load(phys_to_virt(frame(i)), &value))
			faults++;
		else if (value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
	}
	attack_stopped("%u of %u loads faulted", faults, FRAMES);
}

static void map(void)
{
	struct donjon_result result = {};
	struct window window;
	unsigned int i;
	u64 value;

	if (!prepare() || !open_window(&window))
		return;
	for (i = 0; i < FRAMES; i++) {
		result = write_entry(window.entry, kernel_page(frame(i)));
		if (!result.status && try_load((u64 *)window.va, &value) && value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
		if (!result.status)
			write_entry(window.entry, 0);
	}
	attack_stopped("refused: %s", attack_why(result));
}

static void user(void)
{
	struct donjon_result result = {};
	struct hole hole;
	unsigned int i;
	u64 value;

	if (!prepare() || !open_hole(&hole))
		return;
	for (i = 0; i < FRAMES; i++) {
		result = fill_hole(&hole, user_page(frame(i)));
		if (!result.status && try_user_load(&hole, &value) && value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
	}
	attack_stopped("refused: %s", attack_why(result));
}

/* Have it copied into text, as the source of new instructions. */
static void buffer(void)
{
	struct donjon_result result = {};
	unsigned int i;

	if (!prepare())
		return;
	for (i = 0; i < FRAMES; i++) {
		result = poke_stopped(scratch(0), frame(i), sizeof(u64), DONJON_POKE_COPY);
		if (!result.status && READ_ONCE(*(u64 *)scratch(0)) == SECRET)
			return attack_succeeded("the secret is in text, from frame %u", i);
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
	if (!prepare())
		return;
	destroy();
	if (call(DONJON_FN_POOL_REMOVE, page_to_phys(block), 0, 0, 0).status) {
		attack_untried("the block did not come back");
		return;
	}
	if (has_secret(page_address(block), SZ_2M / sizeof(u64)))
		attack_succeeded("the secret is in the block that came back");
	else
		attack_stopped("all of the block is wiped");
	__free_pages(block, get_order(SZ_2M));
	block = NULL;
}

/* Interrupts are on, and are taken where it is left for one. */
static struct donjon_result run(u64 argument)
{
	struct donjon_result result;

	do {
		result = call(DONJON_FN_COMPARTMENT_RUN, handle, 0, argument, 0);
	} while (result.status == DONJON_EXIT_INTERRUPTED);
	return result;
}

/* What it had in a register of FP. Nothing here uses those. */
static void registers(void)
{
	struct donjon_result result;
	u64 left;

	if (!prepare())
		return;
	preempt_disable();
	result = run(SECRET);
	asm volatile(".arch_extension fp\n fmov %0, d31\n .arch_extension nofp"
		     : "=r" (left));
	preempt_enable();
	if (result.status != DONJON_EXIT_RETURNED)
		attack_untried("it was left for %ld", result.status);
	else if (left == SECRET)
		attack_succeeded("d31 has the secret");
	else
		attack_stopped("d31 is the caller's");
}

/* BAS all, PMC EL0, E */
#define BREAKPOINT	(0xfUL << 5 | 2UL << 1 | 1)

/* A breakpoint at its second instruction: with it, Linux could follow each step. */
static void breakpoint(void)
{
	struct donjon_result result;
	u64 mdscr;

	if (!prepare())
		return;
	preempt_disable();
	mdscr = read_sysreg(mdscr_el1);
	write_sysreg(CODE + 4, dbgbvr0_el1);
	write_sysreg(BREAKPOINT, dbgbcr0_el1);
	write_sysreg(mdscr | DBG_MDSCR_MDE, mdscr_el1);
	isb();
	result = run(SECRET);
	write_sysreg(mdscr, mdscr_el1);
	write_sysreg(0, dbgbcr0_el1);
	isb();
	preempt_enable();
	if (result.status == DONJON_EXIT_RETURNED)
		attack_stopped("it ran to its end");
	else if (result.status == DONJON_EXIT_FAULTED &&
		 ESR_ELx_EC(result.value) == ESR_ELx_EC_BREAKPT_LOW)
		attack_succeeded("it stopped at the breakpoint");
	else
		attack_untried("it was left for %ld: %#lx", result.status, result.value);
}

/* The ASID under which a CPU may still hold what it translated. */
static void asid(void)
{
	struct donjon_result result;
	unsigned long flags;

	local_irq_save(flags);
	result = call(DONJON_FN_SWITCH_ROOT, BIT_ULL(60) | DONJON_LAST_RESERVED_ASID, 0, 0, 0);
	if (!result.status)
		call(DONJON_FN_SWITCH_ROOT, this_process(), 0, 0, 0);
	local_irq_restore(flags);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("a process has it");
}

DONJON_ATTACK("read-compartment", "linear", linear);
DONJON_ATTACK("read-compartment", "map", map);
DONJON_ATTACK("read-compartment", "user", user);
DONJON_ATTACK("read-compartment", "buffer", buffer);
DONJON_ATTACK("read-compartment", "asid", asid);
DONJON_ATTACK("watch-compartment", "registers", registers);
DONJON_ATTACK("watch-compartment", "breakpoint", breakpoint);
DONJON_ATTACK("keep-compartment-memory", "leftovers", leftovers);
