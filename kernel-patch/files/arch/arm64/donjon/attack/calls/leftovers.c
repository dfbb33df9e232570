// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in registers after a call. Its result is in x0 and x1; x9, x10,
 * x18, x30 and those that a function preserves are known before. All others have
 * to be zero.
 */
#include <linux/array_size.h>

#include "attack.h"

static void call(unsigned long function, u64 a1, u64 a2, u64 a3, u64 a4, u64 *after)
{
	register unsigned long x0 asm("x0") = function;
	register unsigned long x1 asm("x1") = a1;
	register unsigned long x2 asm("x2") = a2;
	register unsigned long x3 asm("x3") = a3;
	register unsigned long x4 asm("x4") = a4;
	register unsigned long x19 asm("x19") = (unsigned long)after;
	register unsigned long x20 asm("x20") = DONJON_GATE;

	asm volatile("blr	x20\n"
		     "stp	x2, x3, [x19]\n"
		     "stp	x4, x5, [x19, #16]\n"
		     "stp	x6, x7, [x19, #32]\n"
		     "stp	x8, x11, [x19, #48]\n"
		     "stp	x12, x13, [x19, #64]\n"
		     "stp	x14, x15, [x19, #80]\n"
		     "stp	x16, x17, [x19, #96]\n"
		     : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3), "+r" (x4)
		     : "r" (x19), "r" (x20)
		     : "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
		       "x14", "x15", "x16", "x17", "x30", "cc", "memory");
}

static const int registers[] = { 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17 };

static void look(unsigned long function, u64 a1, u64 a2, u64 a3, u64 a4)
{
	u64 after[ARRAY_SIZE(registers)];
	unsigned int i;

	call(function, a1, a2, a3, a4, after);
	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		if (!after[i])
			continue;
		attack_succeeded("x%d is %#llx after function %lu", registers[i],
				 after[i], function);
		return;
	}
	attack_stopped("%zu registers are zero", ARRAY_SIZE(registers));
}

static void accepted(void)
{
	look(DONJON_FN_INFORMATION, DONJON_INFO_MEMORY_START, 0, 0, 0);
}

/* It has walked tables and looked at frames. */
static void refused(void)
{
	look(DONJON_FN_TABLE_WRITE, kernel_root() + 8, inner_memory() | DESCRIPTOR_TABLE, 0, 0);
}

static void poke(void)
{
	look(DONJON_FN_TEXT_POKE, scratch(0), 0xd503201f, 4, DONJON_POKE_VALUE);
}

DONJON_ATTACK("read-registers-after-call", "accepted", accepted);
DONJON_ATTACK("read-registers-after-call", "refused", refused);
DONJON_ATTACK("read-registers-after-call", "poke", poke);
