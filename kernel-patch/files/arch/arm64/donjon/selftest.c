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

#include "files.h"
#include "selftest.h"

static DEFINE_MUTEX(running);

void donjon_expect(struct donjon_verdict *verdict, bool ok, const char *what,
		   unsigned long detail)
{
	if (ok) {
		verdict->passed++;
		return;
	}
	verdict->failed++;
	pr_err("FAILED on CPU %d: %s %#lx\n", raw_smp_processor_id(), what, detail);
}

unsigned long donjon_this_cpu_index(void)
{
	u64 mpidr = read_cpuid_mpidr();

	return (mpidr | (mpidr >> DONJON_CPU_INDEX_SHIFT)) & (DONJON_MAX_CPUS - 1);
}

/* Runs with interrupts off or in an interrupt, so on one CPU throughout. */
static void try_calls(struct donjon_verdict *verdict)
{
	static const unsigned long words[] = { 0x1111, 0x2222, 0x3333, 0x4444, 0x5555 };
	unsigned long cpu = donjon_this_cpu_index();
	unsigned long calls, refusals, start;
	struct donjon_result result;
	int i;

	calls = donjon_statistic(cpu, DONJON_FN_NULL, DONJON_COUNTER_CALLS);
	result = donjon_call(DONJON_FN_NULL, 7, 0, 0, 0, 0, 0);
	donjon_expect(verdict, !result.status, "status of null", result.status);
	calls = donjon_statistic(cpu, DONJON_FN_NULL, DONJON_COUNTER_CALLS) - calls;
	donjon_expect(verdict, calls == 1, "count of null calls", calls);

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		result = donjon_call(DONJON_FN_ECHO, i, words[0], words[1],
				     words[2], words[3], words[4]);
		donjon_expect(verdict, !result.status && result.value == words[i],
			      "echo", result.value);
	}

	/* Refusals are errors to the caller and are counted */
	refusals = donjon_statistic(cpu, DONJON_FN_ECHO, DONJON_COUNTER_REFUSALS);
	result = donjon_call(DONJON_FN_ECHO, 5, 0, 0, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_INVALID_ARGUMENT,
		      "status of a bad echo", result.status);
	refusals = donjon_statistic(cpu, DONJON_FN_ECHO, DONJON_COUNTER_REFUSALS) - refusals;
	donjon_expect(verdict, refusals == 1, "count of refused echoes", refusals);

	refusals = donjon_statistic(cpu, DONJON_FUNCTIONS, DONJON_COUNTER_REFUSALS);
	result = donjon_call(DONJON_FUNCTIONS, 0, 0, 0, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_UNKNOWN_FUNCTION,
		      "status of an unknown call", result.status);
	result = donjon_call(~0UL >> 1, 0, 0, 0, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_UNKNOWN_FUNCTION,
		      "status of an unknown call", result.status);
	result = donjon_call(~0UL, 0, 0, 0, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_UNKNOWN_FUNCTION,
		      "status of an unknown call", result.status);
	refusals = donjon_statistic(cpu, DONJON_FUNCTIONS, DONJON_COUNTER_REFUSALS) - refusals;
	donjon_expect(verdict, refusals == 3, "count of unknown calls", refusals);

	/* Log buffers that are not the caller's, cross a page or wrap */
	start = donjon_information(DONJON_INFO_MEMORY_START);
	result = donjon_call(DONJON_FN_LOG, 0, start, PAGE_SIZE, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log to inner memory", result.status);
	result = donjon_call(DONJON_FN_LOG, 0, __pa_symbol(donjon_table_block), 16,
			     0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log to the table block", result.status);
	result = donjon_call(DONJON_FN_LOG, 0, start - 8, 16, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log across a page", result.status);
	result = donjon_call(DONJON_FN_LOG, 0, ~0UL - 7, 16, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log that wraps", result.status);
	result = donjon_call(DONJON_FN_LOG, 0, DONJON_GATE, 16, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_BAD_ADDRESS,
		      "status of a log to the gate", result.status);

	result = donjon_call(DONJON_FN_VERSION, DONJON_ABI_VERSION + 0x10000, 0, 0, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_INCOMPATIBLE_VERSION,
		      "status of another version", result.status);
	result = donjon_call(DONJON_FN_CPU_ON, 0xffffff, __pa(words), 0, 0, 0, 0);
	donjon_expect(verdict, result.status == DONJON_ERR_INVALID_ARGUMENT,
		      "status of starting no CPU", result.status);
	donjon_expect(verdict, read_sysreg(tcr_el1) == DONJON_TCR_OUTER,
		      "TCR_EL1", read_sysreg(tcr_el1));
}

struct job {
	struct donjon_verdict verdict;
	struct irq_work work;
};

/* An interprocessor interrupt: calls from interrupt context. */
static void in_interrupt_context(struct irq_work *work)
{
	struct job *job = container_of(work, struct job, work);

	donjon_expect(&job->verdict, in_hardirq(), "interrupt context", 0);
	try_calls(&job->verdict);
	donjon_try_wall(&job->verdict);
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
			donjon_expect(&job->verdict, false, "echo", i);
	}
	job->verdict.passed++;

	local_irq_save(flags);
	try_calls(&job->verdict);
	donjon_try_wall(&job->verdict);
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
		donjon_expect(&job.verdict, !error, "run on CPU", cpu);
		seq_printf(file, "cpu %d: %u passed, %u failed\n", cpu,
			   job.verdict.passed, job.verdict.failed);
		passed += job.verdict.passed;
		failed += job.verdict.failed;
	}
	cpus_read_unlock();
	mutex_unlock(&running);
	seq_printf(file, "selftest: %u passed, %u failed\n", passed, failed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(selftest);

int __init donjon_selftest_init(struct dentry *directory)
{
	securityfs_create_file("selftest", 0400, directory, NULL, &selftest_fops);
	return 0;
}
