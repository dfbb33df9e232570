// SPDX-License-Identifier: GPL-2.0-only
/*
 * One random call about compartments. They get pages of the attacker's own alone, so
 * whatever they execute changes nothing of Linux's: random words, and a page that
 * asks for everything that a compartment can ask for.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/cpufeature.h>
#include <asm/neon.h>
#include <asm/sysreg.h>

#include "fuzz.h"

#define CODE	0x400000UL
#define PAGES	4
/* Stands where one is being made */
#define BEING_MADE	(~0UL)

/* Calls of compartments that came to their end */
static atomic_long_t returned;

void fuzz_begin_compartments(struct fuzz_ground *ground)
{
	atomic_long_set(&returned, 0);
	memcpy(ground->requests, fuzz_requests,
	       (unsigned long)fuzz_requests_end - (unsigned long)fuzz_requests);
}

static u64 *place(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	return ground->compartments + fuzz_below(random, FUZZ_COMPARTMENTS);
}

/* Made if there is none in this place; otherwise a call that is refused. */
static struct donjon_result make(u64 *place, u64 function, u64 argument)
{
	struct donjon_result result;

	if (cmpxchg(place, 0, BEING_MADE))
		return __donjon_call(function, 0, 0, 0, 0, 0, 0);
	result = __donjon_call(function, argument, 0, 0, 0, 0, 0);
	WRITE_ONCE(*place, result.status ? 0 : result.value);
	return result;
}

static struct donjon_result destroy(u64 *place)
{
	u64 handle = READ_ONCE(*place);
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_COMPARTMENT_DESTROY, handle, 0, 0, 0, 0, 0);
	if (!result.status && !result.value)
		cmpxchg(place, handle, 0);
	return result;
}

/* As the driver does it. */
static struct donjon_result run(u64 handle, struct fuzz_random *random)
{
	struct donjon_result result;

	kernel_neon_begin();
	result = __donjon_call(DONJON_FN_COMPARTMENT_RUN, handle, fuzz_word(random),
			       fuzz_word(random), CODE, fuzz_below(random, 64), 0);
	kernel_neon_end();
	if (cpus_have_final_cap(ARM64_HAS_DIT))
		set_pstate_dit(1);
	if (result.status == DONJON_EXIT_RETURNED)
		atomic_long_inc(&returned);
	/* An exit is no refusal */
	if (result.status > 0)
		result.status = 0;
	return result;
}

struct donjon_result fuzz_compartment(const struct fuzz_ground *ground,
				      struct fuzz_random *random, u64 function,
				      u64 source, u64 shared)
{
	u64 *to = place(ground, random);
	u64 handle = READ_ONCE(*to), other = READ_ONCE(*place(ground, random));
	u64 va = CODE + fuzz_below(random, PAGES) * PAGE_SIZE;
	struct donjon_result result;
	u64 access;

	/* One that never was, or is gone */
	if (!fuzz_below(random, 16))
		handle ^= BIT_ULL(fuzz_below(random, 64));
	switch (function) {
	case DONJON_FN_COMPARTMENT_CREATE:
		return make(to, function, fuzz_below(random, 40));
	case DONJON_FN_COMPARTMENT_CLONE:
		return make(to, function, other);
	case DONJON_FN_COMPARTMENT_DESTROY:
		return destroy(to);
	case DONJON_FN_COMPARTMENT_RUN:
		return run(handle, random);
	case DONJON_FN_COMPARTMENT_ADD:
		/* All of the page, if each call finds the compartment as it was */
		va = fuzz_below(random, 32) ? va : fuzz_word(random);
		access = fuzz_below(random, 4);
		/* Where most of them enter */
		if (!fuzz_below(random, 2)) {
			source = virt_to_phys(ground->requests);
			access = DONJON_ACCESS_EXECUTE;
			va = CODE;
		}
		do {
			result = __donjon_call(function, handle, va, access, source, 0, 0);
		} while (!result.status && result.value);
		return result;
	case DONJON_FN_COMPARTMENT_SHARE:
		va = fuzz_below(random, 32) ? va : fuzz_word(random);
		return __donjon_call(function, handle, va, shared, 0, 0, 0);
	case DONJON_FN_COMPARTMENT_SEAL:
		/* Few, or each is sealed as soon as it is made */
		if (fuzz_below(random, 8))
			handle = 0;
		va = fuzz_below(random, 4) ? CODE : va;
		return __donjon_call(function, handle, va, va + PAGE_SIZE, 0, 0, 0);
	case DONJON_FN_COMPARTMENT_FLOW:
		return __donjon_call(function, handle, source, fuzz_word(random),
				     fuzz_word(random), CODE, fuzz_below(random, 64));
	case DONJON_FN_COMPARTMENT_FLOW_LOG:
	case DONJON_FN_COMPARTMENT_COMMIT:
	case DONJON_FN_COMPARTMENT_FLOW_END:
	case DONJON_FN_COMPARTMENT_FLOW_REPORT:
		return __donjon_call(function, handle, shared, 0, 0, 0, 0);
	case DONJON_FN_COMPARTMENT_CONNECT:
		return __donjon_call(function, handle, other, 0, 0, 0, 0);
	default:
		return __donjon_call(function, handle, fuzz_below(random, 9), 0, 0, 0, 0);
	}
}

/* Those that others were made from go last. */
void fuzz_end_compartments(const struct fuzz_ground *ground)
{
	struct donjon_result result;
	int round, i;

	pr_info("attack fuzz: %ld calls of compartments returned\n",
		atomic_long_read(&returned));
	for (round = 0; round < FUZZ_COMPARTMENTS; round++)
		for (i = 0; i < FUZZ_COMPARTMENTS; i++)
			do {
				if (!ground->compartments[i])
					break;
				result = destroy(ground->compartments + i);
				cond_resched();
			} while (!result.status && result.value);
}
