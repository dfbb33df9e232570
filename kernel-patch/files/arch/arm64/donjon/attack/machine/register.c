// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have the inner domain write a register that is not on its list.
 */
#include "attack.h"

/* The register at attack_value: of a redistributor, this enables LPIs or names their table */
static void device_register(void)
{
	struct donjon_result result;

	result = __donjon_call2(DONJON_FN_DEVICE_WRITE, attack_value, 1);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("the register is written");
}

DONJON_ATTACK("write-register", "device", device_register);
