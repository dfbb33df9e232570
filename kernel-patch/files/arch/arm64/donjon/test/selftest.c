// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/security/donjon/selftest: reading it runs the test on all CPUs,
 * from process context, with interrupts off and from an interrupt.
 */
#define pr_fmt(fmt) "donjon: selftest: " fmt

#include <linux/cpu.h>
#include <linux/dcache.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/smp.h>

#include <asm/donjon.h>
#include <asm/sysreg.h>

#include "../files.h"
#include "files.h"
#include "selftest.h"

static DEFINE_MUTEX(running);

/*
 * What a call leaves in the registers that are neither its result nor the
 * caller's own: all of them in one word. Its arguments are ones, so that a
 * register that was not touched shows as well.
 */
static unsigned long left_in_registers(unsigned long function)
{
	register unsigned long x0 asm("x0") = function;
	register unsigned long x1 asm("x1") = DONJON_INFO_MEMORY_START;
	register unsigned long x2 asm("x2") = ~0UL;

	asm volatile("mov	x3, x2\n"
		     "mov	x4, x2\n"
		     "mov	x5, x2\n"
		     "mov	x6, x2\n"
		     "mov	x8, x2\n"
		     "mov	x17, x2\n"
		     "blr	%[gate]\n"
		     "orr	x2, x2, x3\n"
		     "orr	x4, x4, x5\n"
		     "orr	x6, x6, x7\n"
		     "orr	x8, x8, x11\n"
		     "orr	x12, x12, x13\n"
		     "orr	x14, x14, x15\n"
		     "orr	x16, x16, x17\n"
		     "orr	x2, x2, x4\n"
		     "orr	x6, x6, x8\n"
		     "orr	x12, x12, x14\n"
		     "orr	x2, x2, x6\n"
		     "orr	x12, x12, x16\n"
		     "orr	x2, x2, x12\n"
		     : "+r" (x0), "+r" (x1), "+r" (x2)
		     : [gate] "r" (DONJON_GATE)
		     : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
		       "x12", "x13", "x14", "x15", "x16", "x17", "x30", "cc",
		       "memory");
	return x2;
}

/* Runs with interrupts off or in an interrupt, so on one CPU throughout. */
static void try_calls(struct donjon_test_counts *counts)
{
	static const unsigned long words[] = { 0x1111, 0x2222, 0x3333, 0x4444, 0x5555 };
	unsigned long cpu = donjon_this_cpu_index();
	unsigned long calls, refusals, start, left;
	struct donjon_result result;
	int i;

	calls = donjon_statistic(cpu, DONJON_FN_NULL, DONJON_COUNTER_CALLS);
	result = donjon_call(DONJON_FN_NULL, 7, 0, 0, 0, 0, 0);
	donjon_expect(counts, !result.status, "status of null", result.status);
	calls = donjon_statistic(cpu, DONJON_FN_NULL, DONJON_COUNTER_CALLS) - calls;
	donjon_expect(counts, calls == 1, "count of null calls", calls);

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		result = donjon_call(DONJON_FN_ECHO, i, words[0], words[1],
				     words[2], words[3], words[4]);
		donjon_expect(counts, !result.status && result.value == words[i],
			      "echo", result.value);
	}

	/* A null call, a call with a handler, a call that is refused */
	left = left_in_registers(DONJON_FN_NULL) |
	       left_in_registers(DONJON_FN_INFORMATION) |
	       left_in_registers(DONJON_FUNCTIONS);
	donjon_expect(counts, !left, "registers left with", left);

	/* Refusals are errors to the caller and are counted */
	refusals = donjon_statistic(cpu, DONJON_FN_ECHO, DONJON_COUNTER_REFUSALS);
	result = donjon_call(DONJON_FN_ECHO, 5, 0, 0, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_INVALID_ARGUMENT,
		      "status of a bad echo", result.status);
	refusals = donjon_statistic(cpu, DONJON_FN_ECHO, DONJON_COUNTER_REFUSALS) - refusals;
	donjon_expect(counts, refusals == 1, "count of refused echoes", refusals);

	refusals = donjon_statistic(cpu, DONJON_FUNCTIONS, DONJON_COUNTER_REFUSALS);
	result = donjon_call(DONJON_FUNCTIONS, 0, 0, 0, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_UNKNOWN_FUNCTION,
		      "status of an unknown call", result.status);
	result = donjon_call(~0UL >> 1, 0, 0, 0, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_UNKNOWN_FUNCTION,
		      "status of an unknown call", result.status);
	result = donjon_call(~0UL, 0, 0, 0, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_UNKNOWN_FUNCTION,
		      "status of an unknown call", result.status);
	refusals = donjon_statistic(cpu, DONJON_FUNCTIONS, DONJON_COUNTER_REFUSALS) - refusals;
	donjon_expect(counts, refusals == 3, "count of unknown calls", refusals);

	/* Log buffers that are not the caller's, cross a page or wrap */
	start = donjon_information(DONJON_INFO_MEMORY_START);
	result = donjon_call(DONJON_FN_LOG, 0, start, PAGE_SIZE, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log to inner memory", result.status);
	result = donjon_call(DONJON_FN_LOG, 0, __pa_symbol(donjon_table_block), 16,
			     0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log to the table block", result.status);
	result = donjon_call(DONJON_FN_LOG, 0, start - 8, 16, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log across a page", result.status);
	result = donjon_call(DONJON_FN_LOG, 0, ~0UL - 7, 16, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log that wraps", result.status);
	result = donjon_call(DONJON_FN_LOG, 0, DONJON_GATE, 16, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log to the gate", result.status);

	result = donjon_call(DONJON_FN_VERSION, DONJON_ABI_VERSION + 0x10000, 0, 0, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_INCOMPATIBLE_VERSION,
		      "status of another version", result.status);
	result = donjon_call(DONJON_FN_CPU_ON, 0xffffff, __pa(words), 0, 0, 0, 0);
	donjon_expect(counts, result.status == DONJON_ERR_INVALID_ARGUMENT,
		      "status of starting no CPU", result.status);
	donjon_expect(counts, read_sysreg(tcr_el1) == DONJON_TCR_OUTER,
		      "TCR_EL1", read_sysreg(tcr_el1));
}

struct job {
	struct donjon_test_counts counts;
	struct irq_work work;
};

/* An interprocessor interrupt: calls from interrupt context. */
static void in_interrupt_context(struct irq_work *work)
{
	struct job *job = container_of(work, struct job, work);

	donjon_expect(&job->counts, in_hardirq(), "interrupt context", 0);
	try_calls(&job->counts);
	donjon_test_isolation(&job->counts);
}

static int on_this_cpu(void *data)
{
	struct job *job = data;
	unsigned long flags;
	int i;

	/* Process context, interrupts on: the call may be interrupted around */
	for (i = 0; i < 1000; i++) {
		struct donjon_result result;

		result = donjon_call(DONJON_FN_ECHO, 2, 0, 0, i, 0, 0);
		if (result.status || result.value != i)
			donjon_expect(&job->counts, false, "echo", i);
	}
	job->counts.passed++;

	local_irq_save(flags);
	try_calls(&job->counts);
	donjon_test_isolation(&job->counts);
	local_irq_restore(flags);

	init_irq_work(&job->work, in_interrupt_context);
	irq_work_queue(&job->work);
	irq_work_sync(&job->work);
	return 0;
}

static int selftest_show(struct seq_file *file, void *unused)
{
	unsigned int passed = 0, failed = 0;
	int cpu;

	if (!donjon_present()) {
		seq_puts(file, "selftest: no inner domain\n");
		return 0;
	}
	mutex_lock(&running);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct job job = {};
		int error;

		error = smp_call_on_cpu(cpu, on_this_cpu, &job, false);
		donjon_expect(&job.counts, !error, "run on CPU", cpu);
		seq_printf(file, "cpu %d: %u passed, %u failed\n", cpu,
			   job.counts.passed, job.counts.failed);
		passed += job.counts.passed;
		failed += job.counts.failed;
	}
	cpus_read_unlock();
	mutex_unlock(&running);
	seq_printf(file, "selftest: %u passed, %u failed\n", passed, failed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(selftest);

void __init donjon_selftest_init(struct dentry *directory)
{
	securityfs_create_file("selftest", 0400, directory, NULL, &selftest_fops);
}
