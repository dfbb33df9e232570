// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes into a compartment from outside: pages that another CPU rewrites
 * while they are measured, and messages that are to land in code.
 */
#include <linux/compiler.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "compartment.h"

#define SECONDS		60
#define WORDS		(PAGE_SIZE / sizeof(u64))
/* Pages to rewrite on their way: not each of them shows it */
#define ENOUGH		300
#define ONE		0x1111111111111111UL
#define OTHER		0x2222222222222222UL

static u64 *rewritten, *copy;
/* How often it was */
static unsigned long times;

static void rewrite(void)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		memset64(rewritten, i % 2 ? ONE : OTHER, WORDS);
		WRITE_ONCE(times, times + 1);
	}
}

struct measurement {
	u64 words[4];
};

static struct measurement measurement_of(u64 handle)
{
	struct measurement measurement;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(measurement.words); i++)
		measurement.words[i] =
			compartment_call(DONJON_FN_COMPARTMENT_INFORMATION, handle,
					 DONJON_COMPARTMENT_MEASUREMENT0 + i, 0, 0).value;
	return measurement;
}

/* Meanwhile is how often the other page was rewritten while this one was added. */
static u64 make_with(const u64 *page, unsigned long *meanwhile)
{
	u64 handle = make_building_compartment();
	unsigned long before = READ_ONCE(times);
	bool added;

	added = handle && add_page(handle, DATA, DONJON_ACCESS_WRITE, virt_to_phys(page));
	*meanwhile = READ_ONCE(times) - before;
	if (added && seal_compartment(handle))
		return handle;
	destroy_compartment(handle);
	attack_untried("it got no page");
	return 0;
}

/* What it has, word by word. */
static void read_page(u64 handle)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++)
		copy[i] = run_compartment(handle, LOAD, DATA + i * sizeof(u64), 0, 0).value;
}

/*
 * Make a compartment that begins with what `handle` has now. Its measurement is that
 * of `handle`, or `handle` has something else than was measured. 0 if none can be
 * made.
 */
static u64 make_alike(u64 handle, bool *alike)
{
	struct measurement told = measurement_of(handle), real;
	unsigned long meanwhile;
	u64 honest = make_with(copy, &meanwhile);

	real = measurement_of(honest);
	*alike = !memcmp(&told, &real, sizeof(told));
	return honest;
}

static void play(void)
{
	u64 handle = 1, honest = 1;
	unsigned int changed = 0;
	unsigned long meanwhile;
	bool alike = true;

	while (is_beside() && alike && handle && honest && changed < ENOUGH) {
		handle = make_with(rewritten, &meanwhile);
		/* The host may have forgotten the other CPU for a while */
		if (handle && meanwhile > 1) {
			read_page(handle);
			honest = make_alike(handle, &alike);
			destroy_compartment(honest);
			changed++;
		}
		destroy_compartment(handle);
	}
	if (!handle || !honest)
		return;
	if (!alike)
		attack_succeeded("page %u has what was not measured", changed);
	else if (changed)
		attack_stopped("what it has is what was measured");
	else
		attack_untried("no page was rewritten on its way");
}

static void rewrite_page(void)
{
	rewritten = (u64 *)get_zeroed_page(GFP_KERNEL);
	copy = (u64 *)get_zeroed_page(GFP_KERNEL);
	if (rewritten && copy && prepare_compartment() &&
	    begin_beside(rewrite, SECONDS)) {
		play();
		end_beside();
	}
	free_page((unsigned long)rewritten);
	free_page((unsigned long)copy);
}

/* MOV x0, #0x5a5; SVC #0 */
#define NEW_CODE	0xd4000001d280b4a0UL
#define NEW_RESULT	0x5a5

/* A message that is received where the code of the receiver is. */
static void message_to_code(void)
{
	struct donjon_result received, result;
	struct channel channel;

	if (!open_channel(&channel))
		return;
	run_compartment(channel.from, STORE, DATA, NEW_CODE, 0);
	result = send_message(&channel, DATA, sizeof(u64));
	if (!message_has(result, sizeof(u64)))
		return attack_untried("nothing was sent: %#lx", result.value);
	received = receive_message(&channel, CODE, sizeof(u64));
	result = run_compartment(channel.to, GIVE_BACK, 0, 0, 0);
	if (result.status == DONJON_EXIT_RETURNED && result.value == NEW_RESULT)
		attack_succeeded("its code is the message");
	else if (message_has(received, ~0UL))
		attack_stopped("it may not receive there");
	else
		attack_untried("it was left for %ld: %#lx", received.status, received.value);
}

DONJON_ATTACK("rewrite-compartment-input", "page", rewrite_page);
DONJON_ATTACK("rewrite-compartment-input", "message-to-code", message_to_code);
