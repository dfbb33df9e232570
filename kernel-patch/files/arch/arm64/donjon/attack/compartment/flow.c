// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flow attestation: states before their commit, runs behind their end, a log over
 * other pages, and a report of a program's own that looks like one about a flow.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "compartment.h"

/* A word for the log, and what a program has stored that its host does not know */
#define WORD		0x400000UL
#define STORED		0x73746f726564UL
/* Bit 32 of a limit: the kind of a report about a flow */
#define KIND		BIT_ULL(32)

/* A page for the log, and one for what is passed; the second one has zeros */
struct pages {
	u64 *log, *buffer;
};

static bool open_pages(struct pages *pages)
{
	pages->log = (u64 *)get_zeroed_page(GFP_KERNEL);
	pages->buffer = (u64 *)get_zeroed_page(GFP_KERNEL);
	if (pages->log && pages->buffer)
		return true;
	attack_untried("there is no memory");
	return false;
}

static void close_pages(const struct pages *pages)
{
	free_page((unsigned long)pages->log);
	free_page((unsigned long)pages->buffer);
}

static struct donjon_result attest(u64 handle, const struct pages *pages, enum what what,
				   u64 x, u64 y)
{
	struct donjon_result result;

	memset(pages->buffer, 0, PAGE_SIZE);
	result = __donjon_call(DONJON_FN_COMPARTMENT_FLOW, handle,
			       virt_to_phys(pages->buffer), what, x, y, 0);
	if (result.status)
		return result;
	return compartment_call(DONJON_FN_COMPARTMENT_FLOW_LOG, handle,
				virt_to_phys(pages->log), 0, 0);
}

static struct donjon_result go_on(u64 handle)
{
	return run_compartment(handle, 0, 0, 0, 0);
}

static struct donjon_result commit(u64 handle, const struct pages *pages, u8 digest)
{
	memset(pages->buffer, digest, PAGE_SIZE);
	return compartment_call(DONJON_FN_COMPARTMENT_COMMIT, handle,
				virt_to_phys(pages->buffer), 0, 0);
}

/* Stops it with a full log, or where it asks its host; 0 if that does not work. */
static u64 stopped(const struct pages *pages, enum what what, long exit)
{
	u64 handle = make_compartment();
	struct donjon_result result;

	if (!handle)
		return 0;
	result = attest(handle, pages, what, WORD, 0);
	if (!result.status)
		result = go_on(handle);
	if (result.status == exit)
		return handle;
	attack_untried("it was left for %ld: %#lx", result.status, result.value);
	destroy_compartment(handle);
	return 0;
}

static void judge(struct donjon_result result, const char *success)
{
	if (result.status < 0)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("%s", success);
}

/* The states of a segment that is open. */
static void state_before_commit(void)
{
	struct pages pages;
	u64 handle;

	if (!open_pages(&pages))
		return;
	handle = stopped(&pages, ASK_HOST, DONJON_EXIT_CALLED_OUT);
	if (handle)
		judge(commit(handle, &pages, 0), "the states of an open segment are shown");
	destroy_compartment(handle);
	close_pages(&pages);
}

/* One digest to see the states, another one to be bound. */
static void digest_after_state(void)
{
	struct donjon_result result;
	struct pages pages;
	u64 handle;

	if (!open_pages(&pages))
		return;
	handle = stopped(&pages, FILL_LOG, DONJON_EXIT_LOG_FULL);
	if (handle) {
		result = commit(handle, &pages, 0);
		if (result.status)
			attack_untried("no commit: %s", attack_why(result));
		else
			judge(commit(handle, &pages, 1),
			      "a digest was bound when the states were known");
	}
	destroy_compartment(handle);
	close_pages(&pages);
}

/* With words behind it that are bound by nothing. */
static void run_before_commit(void)
{
	struct pages pages;
	u64 handle;

	if (!open_pages(&pages))
		return;
	handle = stopped(&pages, FILL_LOG, DONJON_EXIT_LOG_FULL);
	if (handle)
		judge(go_on(handle), "it runs on, and its words are lost");
	destroy_compartment(handle);
	close_pages(&pages);
}

static void run_after_end(void)
{
	struct donjon_result result;
	struct pages pages;
	u64 handle;

	if (!open_pages(&pages))
		return;
	handle = stopped(&pages, ASK_HOST, DONJON_EXIT_CALLED_OUT);
	if (handle) {
		result = compartment_call(DONJON_FN_COMPARTMENT_FLOW_END, handle,
					  virt_to_phys(pages.buffer), 0, 0);
		if (result.status)
			attack_untried("no end: %s", attack_why(result));
		else
			judge(go_on(handle), "it runs behind the end of its transcript");
	}
	destroy_compartment(handle);
	close_pages(&pages);
}

/* Its data are not what was measured any more. */
static void attest_used(void)
{
	u64 handle = make_compartment();
	struct donjon_result result;
	struct pages pages;

	if (!handle || !open_pages(&pages))
		return;
	result = run_compartment(handle, STORE, DATA, STORED, 0);
	if (result.status != DONJON_EXIT_RETURNED)
		attack_untried("it was left for %ld", result.status);
	else
		judge(attest(handle, &pages, GIVE_BACK, 0, 0),
		      "a run begins with data that were not measured");
	destroy_compartment(handle);
	close_pages(&pages);
}

static void attest_twice(void)
{
	u64 handle = make_compartment();
	struct donjon_result result;
	struct pages pages;

	if (!handle || !open_pages(&pages))
		return;
	result = attest(handle, &pages, GIVE_BACK, 0, 0);
	if (result.status)
		attack_untried("refused: %s", attack_why(result));
	else
		judge(attest(handle, &pages, GIVE_BACK, 1, 0), "it has two transcripts");
	destroy_compartment(handle);
	close_pages(&pages);
}

/* The log takes the place of a page that the program believes to be its own. */
static void log_over_data(void)
{
	u64 handle = make_building_compartment();
	struct donjon_result result;
	struct pages pages;

	if (!handle || !open_pages(&pages))
		return;
	result = compartment_call_whole(DONJON_FN_COMPARTMENT_ADD, handle, DONJON_FLOW_LOG,
					DONJON_ACCESS_WRITE, virt_to_phys(pages.log));
	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
	} else if (!add_page(handle, DATA, DONJON_ACCESS_WRITE, virt_to_phys(pages.log)) ||
		   !seal_compartment(handle) ||
		   attest(handle, &pages, STORE, DONJON_FLOW_LOG, STORED).status) {
		attack_untried("no compartment");
	} else {
		go_on(handle);
		if (pages.log[0] == STORED)
			attack_succeeded("what it stored in its own page is the host's");
		else
			attack_untried("the page is %#llx", pages.log[0]);
	}
	destroy_compartment(handle);
	close_pages(&pages);
}

static void share_in_log(void)
{
	u64 handle = make_building_compartment();
	struct pages pages;

	if (!handle || !open_pages(&pages))
		return;
	judge(compartment_call(DONJON_FN_COMPARTMENT_SHARE, handle,
			       DONJON_FLOW_LOG + PAGE_SIZE, virt_to_phys(pages.log), 0),
	      "the page behind the log is mapped");
	destroy_compartment(handle);
	close_pages(&pages);
}

/* A limit with the kind in it is in each report that the program asks for. */
static void kind_in_limit(void)
{
	struct donjon_result result;
	u64 handle;

	handle = make_compartment_with_limit(KIND | FRAMES, &result);
	if (!handle)
		return result.status ? attack_stopped("refused: %s", attack_why(result)) :
				       attack_untried("no compartment");
	result = run_compartment(handle, REPORT_LIMIT, 0, 0, 0);
	if (result.status == DONJON_EXIT_RETURNED && result.value & KIND)
		attack_succeeded("a program reports what a flow is to say");
	else
		attack_untried("it was left for %ld: %#lx", result.status, result.value);
	destroy_compartment(handle);
}

DONJON_ATTACK("flow-key", "state-before-commit", state_before_commit);
DONJON_ATTACK("flow-key", "digest-after-state", digest_after_state);
DONJON_ATTACK("flow-life", "run-before-commit", run_before_commit);
DONJON_ATTACK("flow-life", "run-after-end", run_after_end);
DONJON_ATTACK("flow-life", "attest-used", attest_used);
DONJON_ATTACK("flow-life", "attest-twice", attest_twice);
DONJON_ATTACK("flow-log-place", "over-data", log_over_data);
DONJON_ATTACK("flow-log-place", "share", share_in_log);
DONJON_ATTACK("flow-report", "kind-in-limit", kind_in_limit);
