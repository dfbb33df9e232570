// SPDX-License-Identifier: GPL-2.0-only
/*
 * No attack but calls about compartments, and requests of compartments, that keep a
 * CPU inside for long: each is allowed. The inner domain measures itself.
 */
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "compartment/compartment.h"

/* More than one request adds or takes away, and more than one call wipes */
#define MANY		1000
/* Pages far from each other, each with two tables of its own, in which it is the last one */
#define SPARSE		40
#define LAST_PAGE	(PUD_SIZE - PAGE_SIZE)
/* Where its heap is */
#define HEAP		BIT_ULL(38)
/* The longest message, from one page to the next and at odd addresses */
#define MESSAGE		1024
#define ODD		(HEAP + PAGE_SIZE - MESSAGE / 2 - 1)

/* A page that Linux has as well */
#define SHARED		(DATA + PMD_SIZE)

static u64 *buffer;

/* One whose tables are as many as they can be, and full of holes. */
static u64 make_sparse(unsigned long page)
{
	u64 handle = make_large_building_compartment();
	unsigned int i;

	for (i = 1; handle && i <= SPARSE; i++)
		if (!add_page(handle, i * PUD_SIZE + LAST_PAGE, DONJON_ACCESS_WRITE, page))
			handle = 0;
	if (handle && seal_compartment(handle))
		return handle;
	attack_untried("no compartment with distant pages");
	return 0;
}

static void sparse(void)
{
	unsigned long page = __get_free_page(GFP_KERNEL);
	struct donjon_result made = {}, copied = {};
	u64 handle = page ? make_sparse(__pa(page)) : 0;

	free_page(page);
	if (!handle)
		return;
	made = compartment_call(DONJON_FN_COMPARTMENT_CLONE, handle, 0, 0, 0);
	if (!made.status)
		copied = compartment_call_whole(DONJON_FN_COMPARTMENT_COPY, made.value, 0, 0, 0);
	if (made.status || copied.status)
		attack_untried("no clone: %s", attack_why(made.status ? made : copied));
	else
		attack_stopped("%u distant pages were copied and wiped", SPARSE);
	if (!made.status)
		destroy_compartment(made.value);
	destroy_compartment(handle);
}

static u64 make_large(void)
{
	u64 handle = make_large_building_compartment();
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	bool made;

	made = handle && page && add_page(handle, DATA, DONJON_ACCESS_WRITE, __pa(page)) &&
	       seal_compartment(handle);
	made = made && !compartment_call(DONJON_FN_COMPARTMENT_SHARE, handle, SHARED,
					 virt_to_phys(buffer), 0).status;
	free_page(page);
	return made ? handle : 0;
}

/* Requests pages, or gives them back, until none is left; how many they were. */
static unsigned long resize(u64 handle, enum what what)
{
	unsigned long pages, all = 0;

	do {
		pages = run_compartment(handle, what, MANY, 0, 0).value;
		all += pages;
	} while (pages);
	return all;
}

static void ask(void)
{
	u64 one = make_large(), other = one ? make_large() : 0;
	struct donjon_result ends, sent, received;
	unsigned long grown, shrunk;

	if (!other)
		return attack_untried("no large compartments");
	ends = compartment_call(DONJON_FN_COMPARTMENT_CONNECT, one, other, 0, 0);
	grown = resize(one, GROW_BY);
	resize(other, GROW_BY);
	sent = run_compartment(one, SEND, ODD, MESSAGE, lower_32_bits(ends.value));
	received = run_compartment(other, RECEIVE, ODD + 2, MESSAGE, upper_32_bits(ends.value));
	run_compartment(one, ASK, 0, 0, 0);
	compartment_call(DONJON_FN_COMPARTMENT_INFORMATION, one,
			 DONJON_COMPARTMENT_MEASUREMENT0, 0, 0);
	shrunk = resize(one, SHRINK_BY);
	destroy_compartment(one);
	destroy_compartment(other);
	if (ends.status || sent.value != MESSAGE || received.value != MESSAGE)
		attack_untried("%#lx bytes were sent, %#lx received", sent.value, received.value);
	else if (grown != shrunk || grown < MESSAGE / 16)
		attack_untried("%lu pages more, %lu less", grown, shrunk);
	else
		attack_stopped("%lu pages, a message of %u bytes", grown, MESSAGE);
}

static void requests(void)
{
	buffer = (u64 *)get_zeroed_page(GFP_KERNEL);
	if (buffer)
		ask();
	else
		attack_untried("there is no memory");
	free_page((unsigned long)buffer);
}

/* A run under flow attestation, from its begin to its report. */
static struct donjon_result attest(u64 handle, u64 log, u64 *passed)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_COMPARTMENT_FLOW, handle, virt_to_phys(passed),
			       FILL_LOG, 1, 0, 0);
	if (!result.status)
		result = compartment_call(DONJON_FN_COMPARTMENT_FLOW_LOG, handle, log, 0, 0);
	if (result.status)
		return result;
	/* Behind the commit a new segment is open, and is cut */
	result = run_compartment(handle, 0, 0, 0, 0);
	if (result.status != DONJON_EXIT_LOG_FULL)
		return result;
	result = compartment_call(DONJON_FN_COMPARTMENT_COMMIT, handle,
				  virt_to_phys(passed), 0, 0);
	if (!result.status)
		result = compartment_call(DONJON_FN_COMPARTMENT_FLOW_END, handle,
					  virt_to_phys(passed), 0, 0);
	if (!result.status)
		result = compartment_call(DONJON_FN_COMPARTMENT_FLOW_REPORT, handle,
					  virt_to_phys(passed), 0, 0);
	return result;
}

static void flow(void)
{
	u64 *log = (u64 *)get_zeroed_page(GFP_KERNEL);
	u64 *passed = (u64 *)get_zeroed_page(GFP_KERNEL);
	u64 handle = log && passed ? make_compartment() : 0;
	struct donjon_result result;

	if (handle) {
		result = attest(handle, virt_to_phys(log), passed);
		if (result.status)
			attack_untried("it was left for %ld: %s", result.status,
				       attack_why(result));
		else
			attack_stopped("a run was attested");
		destroy_compartment(handle);
	}
	free_page((unsigned long)log);
	free_page((unsigned long)passed);
}

DONJON_ATTACK("longest", "distant-pages", sparse);
DONJON_ATTACK("longest", "flow", flow);
DONJON_ATTACK("longest", "requests", requests);
