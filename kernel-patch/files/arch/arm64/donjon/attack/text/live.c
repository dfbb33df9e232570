// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change an instruction while another CPU executes it. What the CPU does
 * then may be anything, a write of TCR_EL1 included, unless the old and the new
 * instruction are both on a short list. Not that QEMU would do it: an attempt
 * succeeds when the change is made.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include <asm/insn.h>

#include "attack.h"

/* ADD and SUB x0, x0, #1; B to the next instruction */
#define ADD		0x91000400U
#define SUBTRACT	0xd1000400U
#define BRANCH		0x14000001U
#define ROUNDS		1000U
#define SECONDS		20U
/* Waits that the changes go on for, or all of them could happen in one */
#define WAITS		16U
/* Changes that are tried while the other CPU is outside: the first may have begun before */
#define OUTSIDE		2U
/* What it stays outside for at most, on a host that does something else */
#define PATIENCE	NSEC_PER_SEC

static unsigned long runs;

static void execute(void)
{
	run_scratch(0);
	WRITE_ONCE(runs, runs + 1);
}

/* False if the other CPU does not get there. */
static bool is_executing(void)
{
	unsigned long before = READ_ONCE(runs);
	int patience;

	for (patience = 0; patience < 5000; patience++) {
		if (READ_ONCE(runs) != before)
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

static struct donjon_result poke(unsigned long va, u32 word, u64 kind)
{
	return __donjon_call(DONJON_FN_TEXT_POKE, va, word, sizeof(word),
			     DONJON_POKE_VALUE | kind, 0, 0);
}

/* Another instruction than stands there, or nothing would change. */
static struct donjon_result change(u64 kind)
{
	u32 now = READ_ONCE(*(u32 *)scratch(0));

	return poke(scratch(0), now == ADD ? SUBTRACT : ADD, kind);
}

/* Two instructions in turn, into what another CPU executes. */
static void alternate(u64 kind)
{
	struct donjon_result result, last = {};
	unsigned int i, accepted = 0;
	bool executing;

	result = poke_word(scratch(0), ADD);
	if (result.status) {
		attack_untried("%s", attack_why(result));
		return;
	}
	if (!begin_beside(execute, SECONDS))
		return;
	executing = is_executing();
	for (i = 0; i < ROUNDS; i++) {
		result = change(kind);
		if (!result.status)
			accepted++;
		else
			last = result;
	}
	executing = executing && is_executing();
	end_beside();
	if (!executing)
		attack_untried("the other CPU does not execute the text");
	else if (accepted)
		attack_succeeded("%u of %u changes were made", accepted, ROUNDS);
	else
		attack_stopped("refused: %s", attack_why(last));
}

static void arithmetic(void)
{
	alternate(0);
}

/* With the word of an attacker that the other CPU waits inside, which it does not. */
static void outside(void)
{
	alternate(DONJON_POKE_STOPPED);
}

/* One of the two instructions is on the list. */
static void one_side(void)
{
	struct donjon_result to, from, set;

	to = poke(scratch(1), ADD, 0);
	if (!to.status)
		undo_later(put_nops, scratch(1), sizeof(u32));
	set = poke_word(scratch(2), ADD);
	if (set.status) {
		attack_untried("%s", attack_why(set));
		return;
	}
	from = poke(scratch(2), aarch64_insn_gen_nop(), 0);
	if (!to.status || !from.status)
		attack_succeeded("NOP to ADD: %s, and back: %s", attack_why(to),
				 attack_why(from));
	else if (to.value != from.value)
		attack_untried("two reasons: %s, %s", attack_why(to), attack_why(from));
	else
		attack_stopped("refused: %s", attack_why(to));
}

/* The last of a list; the others may change, but not without it. */
static void among(void)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	size_t bytes = SCRATCH_WORDS * sizeof(u32);
	struct donjon_result result;
	u32 *list = (u32 *)page;

	if (!page) {
		attack_untried("there is no page to work with");
		return;
	}
	put_nops(scratch(0), bytes);
	memset32(list, BRANCH, SCRATCH_WORDS);
	list[SCRATCH_WORDS - 1] = ADD;
	result = __donjon_call(DONJON_FN_TEXT_POKE, scratch(0), virt_to_phys(list),
			       bytes, DONJON_POKE_COPY, 0, 0);
	free_page(page);
	if (!result.status || READ_ONCE(*(u32 *)scratch(0)) == BRANCH) {
		undo_later(put_nops, scratch(0), bytes);
		attack_succeeded("the list is in the text, or its beginning");
	} else {
		attack_stopped("refused: %s", attack_why(result));
	}
}

/* What the other CPU says of the changes that were made while it was inside */
static unsigned long seen;
static unsigned int waits;
/* Changes that were tried; what the other CPU stays outside for */
static unsigned int tried;

static void come_and_go(void)
{
	struct donjon_result result;
	unsigned int before;
	u64 end;

	result = __donjon_call(DONJON_FN_TEXT_WAIT, 0, 0, 0, 0, 0, 0);
	if (!result.status)
		seen += result.value;
	WRITE_ONCE(waits, waits + 1);
	before = READ_ONCE(tried);
	end = ktime_get_ns() + PATIENCE;
	do {
		execute();
	} while (READ_ONCE(tried) - before < OUTSIDE && ktime_get_ns() < end);
}

/*
 * The other CPU waits, leaves when it likes, executes the text until a change was
 * tried meanwhile, and waits again. Each change has to fall into one of its waits.
 * Every CPU that is on has to wait.
 */
static void early(void)
{
	unsigned int accepted = 0, busy = 0, other = 0;
	bool executing;

	seen = 0;
	waits = 0;
	tried = 0;
	if (!leave_two_cpus())
		return;
	if (!begin_beside(come_and_go, SECONDS))
		return;
	executing = is_executing();
	while ((accepted < ROUNDS || READ_ONCE(waits) < WAITS) && is_beside()) {
		struct donjon_result result = change(DONJON_POKE_STOPPED);

		if (!result.status)
			accepted++;
		else if (result.status == DONJON_ERR_BUSY)
			busy++;
		else
			other++;
		WRITE_ONCE(tried, tried + 1);
	}
	end_beside();
	put_nops(scratch(0), sizeof(u32));
	if (!executing || !accepted || other)
		attack_untried("%u changes, %u times busy, %u refused", accepted, busy,
			       other);
	else if (seen != accepted)
		attack_succeeded("%u changes, %lu of them while the other CPU waited",
				 accepted, seen);
	else
		attack_stopped("all of %u changes fell into its waits, %u more were busy",
			       accepted, busy);
}

/* At another address, where nothing may be executed. */
static void alias(void)
{
	u64 pa = PAGE_OF(walk_to(kernel_root(), scratch(0), 3).value) +
		 offset_in_page(scratch(0));
	struct donjon_result result;

	result = poke((unsigned long)phys_to_virt(pa), BRANCH, 0);
	if (!result.status)
		undo_later(put_nops, scratch(0), sizeof(u32));
	if (READ_ONCE(*(u32 *)scratch(0)) == BRANCH)
		attack_succeeded("text was changed at its address in the linear map");
	else
		attack_stopped("refused: %s", attack_why(result));
}

DONJON_ATTACK("change-text-of-other-cpu", "arithmetic", arithmetic);
DONJON_ATTACK("change-text-of-other-cpu", "outside", outside);
DONJON_ATTACK("change-text-of-other-cpu", "one-side", one_side);
DONJON_ATTACK("change-text-of-other-cpu", "among-others", among);
DONJON_ATTACK("change-text-of-other-cpu", "early", early);
DONJON_ATTACK("change-text-of-other-cpu", "alias", alias);
