// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/security/donjon/bench_compartment: what the kernel's part of a
 * call to a compartment takes, and wiping. In cycles, or instructions, as bench.
 */
#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <asm/cpufeature.h>
#include <asm/donjon.h>
#include <asm/neon.h>
#include <asm/sysreg.h>

#include "../private.h"
#include "bench.h"
#include "files.h"

#define CALLS	100
#define WIPES	10
#define CODE	0x400000UL
/* In one call of the compartment's, which adds up to 64 pages */
#define ROUNDS	4
#define PIECE	64
#define PAGES	(ROUNDS * PIECE)
static_assert(PAGES * PAGE_SIZE == SZ_1M);
/* With tables and what every compartment has */
#define FRAMES	(PAGES + 16)
/* An interrupt may come in between */
#define TRIES	100

/* SVC; and ROUNDS times MOV x0, #PIECE and the request for more heap */
#define SVC(number)	(0xd4000001U | (u32)(number) << 5)
#define MOVE		(0xd2800000U | PIECE << 5)
#define GROW		SVC(DONJON_SVC_GROW)
static const u32 returns[] = { SVC(DONJON_SVC_RETURN) };
static const u32 grows[] = {
	MOVE, GROW, MOVE, GROW, MOVE, GROW, MOVE, GROW, SVC(DONJON_SVC_RETURN),
};
static_assert(ARRAY_SIZE(grows) == 2 * ROUNDS + 1);

static DEFINE_MUTEX(measuring);
static u64 calls[CALLS], wipes[WIPES];
static u64 handle;

static struct donjon_result call(u64 function, u64 a1, u64 a2, u64 a3, u64 a4)
{
	return __donjon_call(function, a1, a2, a3, a4, 0, 0);
}

static void destroy(void)
{
	struct donjon_result result;

	do {
		result = call(DONJON_FN_COMPARTMENT_DESTROY, handle, 0, 0, 0);
	} while (!result.status && result.value);
}

static bool fill(const u32 *code, size_t bytes)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	struct donjon_result result;

	if (!page)
		return false;
	memcpy((void *)page, code, bytes);
	do {
		result = donjon_private_call(DONJON_FN_COMPARTMENT_ADD, handle, CODE,
					  DONJON_ACCESS_EXECUTE, __pa(page));
	} while (!result.status && result.value);
	free_page(page);
	return !result.status &&
		!call(DONJON_FN_COMPARTMENT_SEAL, handle, CODE, 0, 0).status;
}

static bool make(const u32 *code, size_t bytes)
{
	struct donjon_result result;

	result = donjon_private_call(DONJON_FN_COMPARTMENT_CREATE, FRAMES, 0, 0, 0);
	if (result.status)
		return false;
	handle = result.value;
	if (fill(code, bytes))
		return true;
	destroy();
	return false;
}

/* As the driver does it: a task may have more in registers than is kept inside. */
static void before_calls(void)
{
	kernel_neon_begin();
}

static void after_calls(void)
{
	kernel_neon_end();
	if (cpus_have_final_cap(ARM64_HAS_DIT))
		set_pstate_dit(1);
}

/* One call, as long as it takes. */
static bool run(void)
{
	struct donjon_result result;

	do {
		before_calls();
		result = call(DONJON_FN_COMPARTMENT_RUN, handle, 0, 0, 0);
		after_calls();
		cond_resched();
	} while (result.status == DONJON_EXIT_INTERRUPTED);
	return result.status == DONJON_EXIT_RETURNED;
}

static bool is_idle(void)
{
	/* As COMPARTMENT_INFORMATION numbers phases */
	return call(DONJON_FN_COMPARTMENT_INFORMATION, handle,
		    DONJON_COMPARTMENT_PHASE, 0, 0).value == 2;
}

static u64 cycles_of_nothing(void)
{
	unsigned long target = 0, first = 0, second = 0;

	return MEASURE("");
}

/* What a call takes; one that an interrupt ended is made again. */
static bool sample_call(u64 *sample)
{
	unsigned long target = DONJON_GATE, first = DONJON_FN_COMPARTMENT_RUN;
	unsigned long second = handle, flags;
	struct bench_counter before;
	unsigned int i;

	for (i = 0; i < TRIES; i++) {
		before_calls();
		local_irq_save(flags);
		donjon_bench_count(&before);
		*sample = MEASURE("blr %[target]");
		*sample -= cycles_of_nothing();
		donjon_bench_put_back(&before);
		local_irq_restore(flags);
		after_calls();
		if (is_idle())
			return true;
		if (!run())
			return false;
	}
	return false;
}

static bool sample_calls(void)
{
	unsigned int i;
	bool ok;

	if (!make(returns, sizeof(returns)))
		return false;
	/* The first one enters with another compartment's tag */
	ok = run();
	for (i = 0; i < CALLS && ok; i++)
		ok = sample_call(&calls[i]);
	destroy();
	return ok;
}

/* What the end of a compartment takes, with pages of heap or without. */
static bool sample_end(bool heap, u64 *sample)
{
	const u32 *code = heap ? grows : returns;
	size_t bytes = heap ? sizeof(grows) : sizeof(returns);
	struct bench_counter before;
	unsigned long flags;
	bool ok;

	if (!make(code, bytes))
		return false;
	ok = run() && (!heap || call(DONJON_FN_COMPARTMENT_INFORMATION, handle,
				     DONJON_COMPARTMENT_FRAMES, 0, 0).value > PAGES);
	local_irq_save(flags);
	donjon_bench_count(&before);
	*sample = read_sysreg(pmccntr_el0);
	destroy();
	*sample = read_sysreg(pmccntr_el0) - *sample;
	donjon_bench_put_back(&before);
	local_irq_restore(flags);
	return ok;
}

static bool sample_wipes(void)
{
	unsigned int i;
	u64 without;

	for (i = 0; i < WIPES; i++) {
		if (!sample_end(false, &without) || !sample_end(true, &wipes[i]))
			return false;
		wipes[i] -= without;
	}
	return true;
}

static int bench_compartment_show(struct seq_file *file, void *unused)
{
	bool ok;

	if (!donjon_live)
		return -ENODEV;
	mutex_lock(&measuring);
	ok = sample_calls() && sample_wipes();
	if (ok) {
		donjon_bench_show(file, "compartment_call", calls, CALLS);
		donjon_bench_show(file, "compartment_wipe", wipes, WIPES);
	}
	donjon_private_shrink();
	mutex_unlock(&measuring);
	return ok ? 0 : -EIO;
}
DEFINE_SHOW_ATTRIBUTE(bench_compartment);

void __init donjon_bench_compartment_init(struct dentry *directory)
{
	securityfs_create_file("bench_compartment", 0400, directory, NULL,
			       &bench_compartment_fops);
}
