// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two entries of the TLB for one address. The architecture lets a CPU
 * answer such an address with any that EL1 may reach, so it must not come to it.
 */
#include <asm/pgtable.h>

#include "attack.h"

/* One entry of a group says that all 16 are alike. */
static void contiguous_alone(void)
{
	struct donjon_result result;
	struct window window;

	if (!open_window(&window))
		return;
	result = write_entry(window.entry, window.old | PTE_CONT);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("one contiguous entry stands alone");
}

/* Another frame in place of one that may be in a TLB. */
static void live_change(void)
{
	struct window window, other;
	struct donjon_result result;

	if (!open_window(&window) || !open_window(&other))
		return;
	result = write_entry(window.entry, window.old);
	if (!result.status)
		result = write_entry(window.entry, other.old);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("a live entry leads elsewhere");
}

DONJON_ATTACK("make-tlb-conflict", "contiguous", contiguous_alone);
DONJON_ATTACK("make-tlb-conflict", "live-change", live_change);
