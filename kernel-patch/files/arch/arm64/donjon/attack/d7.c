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
	struct donjon_result result = poke_word(scratch(0), words[0].word);

	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	run_scratch(read_sysreg(vbar_el1));
	attack_succeeded("a VBAR_EL1 write in the module was executed");
}

static void seal(void)
{
	try_to_seal(words);
}

static const struct attempt attempts[] = {
	{ "poke", poke },
	{ "seal", seal },
	{}
};

const struct attack attack_d7 = { "D7", attempts };
