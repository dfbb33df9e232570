// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compartments at the wrong time: on two CPUs, destroyed while they run, asked
 * for after their end, changed after their seal, larger than they may be.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/processor.h>

#include "compartment.h"

#define SECONDS		60
/* Rounds that a compartment stays; some milliseconds */
#define ROUNDS		1000000UL
/* Refusals that are enough */
#define ENOUGH		100

static u64 target;
static atomic_t twice, faulted;
/* Runs on the other CPU that are over */
static unsigned long over;

static bool is_in_use(struct donjon_result result)
{
	return result.status == DONJON_ERR_REFUSED &&
		result.value == DONJON_REASON_IN_USE;
}

static struct donjon_result stay(void)
{
	struct donjon_result result;

	result = run_compartment(READ_ONCE(target), STAY, ROUNDS, 0, 0);
	if (result.status == DONJON_EXIT_RETURNED && result.value == 1)
		atomic_inc(&twice);
	if (result.status == DONJON_EXIT_FAULTED)
		atomic_inc(&faulted);
	return result;
}

static void stay_beside(void)
{
	stay();
	WRITE_ONCE(over, over + 1);
}

/*
 * Until the run on the other CPU is over that had begun before. Otherwise it could go
 * on in the next compartment, which has the same code in the same place.
 */
static void let_end(void)
{
	unsigned long before = READ_ONCE(over);

	while (READ_ONCE(over) == before && is_beside())
		cpu_relax();
}

static bool begin(void)
{
	atomic_set(&twice, 0);
	atomic_set(&faulted, 0);
	target = make_compartment();
	return target && begin_beside(stay_beside, SECONDS);
}

/*
 * Run one compartment here and on another CPU. Two CPUs save their registers in one
 * place, so it may also fault, and never runs again; one CPU's never does.
 */
static void two_cpus(void)
{
	struct donjon_result result = {}, refusal = {};
	unsigned int refused = 0;

	if (!begin())
		return;
	while (is_beside() && refused < ENOUGH && !atomic_read(&twice) &&
	       !atomic_read(&faulted)) {
		result = stay();
		if (is_in_use(result)) {
			refusal = result;
			refused++;
		}
	}
	end_beside();
	if (atomic_read(&twice))
		attack_succeeded("two CPUs were in it");
	else if (atomic_read(&faulted))
		attack_succeeded("one CPU's registers replaced the other's in it");
	else if (refused)
		attack_stopped("refused: %s", attack_why(refusal));
	else
		attack_untried("the other CPU was not in it: %s", attack_why(result));
}

/*
 * Wipe the memory of a compartment while another CPU executes it. Between two calls
 * it may be destroyed, and a new one takes its place.
 */
static void destroy_running(void)
{
	struct donjon_result result, refusal = {};
	unsigned int refused = 0;

	if (!begin())
		return;
	while (is_beside() && refused < ENOUGH && !atomic_read(&faulted)) {
		result = compartment_call(DONJON_FN_COMPARTMENT_DESTROY, target, 0, 0, 0);
		if (is_in_use(result)) {
			refusal = result;
			refused++;
		} else if (!result.status) {
			destroy_compartment(target);
			let_end();
			WRITE_ONCE(target, make_compartment());
			if (!target)
				break;
		}
	}
	end_beside();
	if (atomic_read(&faulted))
		attack_succeeded("its memory was wiped while it ran");
	else if (refused)
		attack_stopped("refused: %s", attack_why(refusal));
	else
		attack_untried("it was never met while it ran");
}

static void destroyed(void)
{
	struct donjon_result result;
	u64 handle;

	handle = make_compartment();
	if (!handle)
		return;
	destroy_compartment(handle);
	result = compartment_call(DONJON_FN_COMPARTMENT_INFORMATION, handle,
				  DONJON_COMPARTMENT_FRAMES, 0, 0);
	if (!result.status)
		return attack_succeeded("it is still answered for");
	result = run_compartment(handle, GIVE_BACK, 0, 0, 0);
	if (result.status < 0)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("it still runs");
}

/* The handle of a compartment that is gone, when a new one has its place. */
static void recycled(void)
{
	struct donjon_result result;
	u64 old, new;

	old = make_compartment();
	if (!old)
		return;
	destroy_compartment(old);
	new = make_compartment();
	if (!new)
		return;
	result = run_compartment(old, LOAD, DATA, 0, 0);
	if (lower_32_bits(old) != lower_32_bits(new))
		attack_untried("it has another place");
	else if (result.status == DONJON_EXIT_RETURNED)
		attack_succeeded("the new one ran for the old one's handle");
	else
		attack_stopped("refused: %s", attack_why(result));
}

static void add_after_seal(void)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	struct donjon_result result;

	if (page && prepare_compartment()) {
		result = compartment_call_whole(DONJON_FN_COMPARTMENT_ADD,
						prepared_compartment(), CODE + PAGE_SIZE,
						DONJON_ACCESS_EXECUTE, __pa(page));
		if (result.status)
			attack_stopped("refused: %s", attack_why(result));
		else
			attack_succeeded("it has code that was not measured");
	}
	free_page(page);
}

static void grow(void)
{
	struct donjon_result result;
	u64 frames;

	if (!prepare_compartment())
		return;
	result = run_compartment(prepared_compartment(), GROW, 0, 0, 0);
	frames = compartment_call(DONJON_FN_COMPARTMENT_INFORMATION, prepared_compartment(),
				  DONJON_COMPARTMENT_FRAMES, 0, 0).value;
	if (result.status != DONJON_EXIT_RETURNED)
		attack_untried("it was left for %ld: %#lx", result.status, result.value);
	else if (frames > FRAMES)
		attack_succeeded("it has %llu frames, and may have %u", frames, FRAMES);
	else
		attack_stopped("it has what it may have, after %lu pages", result.value);
	destroy_compartment(prepared_compartment());
}

DONJON_ATTACK("run-compartment-twice", "two-cpus", two_cpus);
DONJON_ATTACK("run-compartment-twice", "destroy", destroy_running);
DONJON_ATTACK("use-dead-compartment", "destroyed", destroyed);
DONJON_ATTACK("use-dead-compartment", "recycled", recycled);
DONJON_ATTACK("change-compartment", "add-after-seal", add_after_seal);
DONJON_ATTACK("change-compartment", "grow", grow);
