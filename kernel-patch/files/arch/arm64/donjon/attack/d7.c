// SPDX-License-Identifier: GPL-2.0-only
/* D7: write VBAR_EL1, by an instruction that one makes. */
#include <asm/sysreg.h>

#include "attack.h"

static const struct word words[] = {
	{ "MSR VBAR_EL1", MSR(SYS_VBAR_EL1) },
	{}
};

static void poke(void)
{
	try_to_run(&words[0], read_sysreg(vbar_el1));
}

static void seal(void)
{
	try_to_seal(words);
}

DONJON_ATTACK("D7", "poke", poke);
DONJON_ATTACK("D7", "seal", seal);
