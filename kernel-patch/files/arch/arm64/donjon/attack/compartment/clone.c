// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clones: of a compartment that has run, and of one that ends before them.
 */
#include <linux/mm.h>

#include "compartment.h"

/* What the template has at DATA after it has run */
#define CHANGED		0x6368616e676564UL

/* A clone, or 0 and why not. */
static u64 clone_of(u64 template, struct donjon_result *result)
{
	u64 handle;

	*result = compartment_call(DONJON_FN_COMPARTMENT_CLONE, template, 0, 0, 0);
	if (result->status)
		return 0;
	handle = result->value;
	*result = compartment_call_whole(DONJON_FN_COMPARTMENT_COPY, handle, 0, 0, 0);
	if (!result->status)
		return handle;
	destroy_compartment(handle);
	return 0;
}

/* Its data are not what was measured any more, and a clone has its measurement. */
static void used(void)
{
	struct donjon_result result;
	u64 template, clone;

	template = make_compartment();
	if (!template)
		return;
	result = run_compartment(template, STORE, DATA, CHANGED, 0);
	if (result.status != DONJON_EXIT_RETURNED)
		return attack_untried("the template was left for %ld", result.status);
	clone = clone_of(template, &result);
	if (!clone) {
		attack_stopped("refused: %s", attack_why(result));
	} else {
		result = run_compartment(clone, LOAD, DATA, 0, 0);
		if (result.status == DONJON_EXIT_RETURNED && result.value == CHANGED)
			attack_succeeded("a clone has data that were not measured");
		else
			attack_untried("the clone was left for %ld: %#lx", result.status,
				       result.value);
		destroy_compartment(clone);
	}
	destroy_compartment(template);
}

/*
 * The code of a clone is its template's. Where this succeeds, the list of free
 * frames is not to be trusted any more: nothing is made in this block afterwards.
 */
static void template_ends(void)
{
	struct donjon_result result;
	u64 template, clone;

	template = make_compartment();
	if (!template)
		return;
	clone = clone_of(template, &result);
	if (!clone)
		return attack_untried("no clone: %s", attack_why(result));
	result = compartment_call_whole(DONJON_FN_COMPARTMENT_DESTROY, template, 0, 0, 0);
	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
	} else {
		result = run_compartment(clone, GIVE_BACK, 0, 0, 0);
		if (result.status == DONJON_EXIT_FAULTED)
			attack_succeeded("its code was wiped");
		else if (result.status == DONJON_EXIT_RETURNED)
			attack_succeeded("its code is in frames that are free");
		else
			attack_untried("the clone was left for %ld: %#lx", result.status,
				       result.value);
	}
	destroy_compartment(clone);
	destroy_compartment(template);
}

DONJON_ATTACK("clone-compartment", "used", used);
DONJON_ATTACK("clone-compartment", "template-ends", template_ends);
