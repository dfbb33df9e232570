// SPDX-License-Identifier: GPL-2.0-only
/* A9: find a write of TTBR0_EL1 or TTBR1_EL1 in executable memory and jump there. */
#include <linux/irqflags.h>

#include <asm/sysreg.h>

#include "attack.h"

static const struct word user = { "MSR TTBR0_EL1", MSR(SYS_TTBR0_EL1) };
static const struct word kernel = { "MSR TTBR1_EL1", MSR(SYS_TTBR1_EL1) };

static void jump_user(void)
{
	unsigned long flags;

	local_irq_save(flags);
	jump_to_write(&user, read_sysreg(ttbr0_el1));
	local_irq_restore(flags);
}

static void jump_kernel(void)
{
	jump_to_write(&kernel, read_sysreg(ttbr1_el1));
}

DONJON_ATTACK("A9", "user", jump_user);
DONJON_ATTACK("A9", "kernel", jump_kernel);
