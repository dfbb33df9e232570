// SPDX-License-Identifier: GPL-2.0-only
/*
 * F18: two roots in one frame. With 47 bits of address a root needs half a page,
 * and TTBR0_EL1 can name the other half.
 */
#include <linux/irqflags.h>

#include <asm/sysreg.h>

#include "attack.h"

#define HALF		(PAGE_SIZE / 2)
#define ASID_SHIFT	48

static void load_second_half(void)
{
	u64 before = read_sysreg(ttbr0_el1), now;
	struct donjon_result result;
	unsigned long flags;

	local_irq_save(flags);
	result = __donjon_call(DONJON_FN_SWITCH_ROOT, PAGE_OF(before) + HALF,
			       before >> ASID_SHIFT, 0, 0, 0, 0);
	now = read_sysreg(ttbr0_el1);
	__donjon_call(DONJON_FN_SWITCH_ROOT, PAGE_OF(before), before >> ASID_SHIFT,
		      0, 0, 0, 0);
	local_irq_restore(flags);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("TTBR0_EL1 is %#llx", now);
}

static void make_second_half(void)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_ROOT_NEW, user_root() + HALF, 0, 0, 0, 0, 0);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("there are two roots in one frame");
}

static const struct attempt attempts[] = {
	{ "load", load_second_half },
	{ "make", make_second_half },
	{}
};

const struct attack attack_f18 = { "F18", attempts };
