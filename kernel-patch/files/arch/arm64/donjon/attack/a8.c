// SPDX-License-Identifier: GPL-2.0-only
/* A8: find a write of TCR_EL1 in executable memory and jump there. */
#include <asm/sysreg.h>

#include "attack.h"

static const struct word word = { "MSR TCR_EL1", MSR(SYS_TCR_EL1) };

static void jump(void)
{
	jump_to_write(&word, read_sysreg(tcr_el1));
}

DONJON_ATTACK("A8", "jump", jump);
