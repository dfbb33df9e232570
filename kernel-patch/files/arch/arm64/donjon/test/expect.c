// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts what the self-test checked, and reports each failure with its CPU.
 */
#define pr_fmt(fmt) "donjon: selftest: " fmt

#include <linux/printk.h>
#include <linux/smp.h>

#include <asm/cputype.h>
#include <asm/donjon.h>

#include "selftest.h"

void donjon_expect(struct donjon_test_counts *counts, bool ok, const char *what,
		   unsigned long detail)
{
	if (ok) {
		counts->passed++;
		return;
	}
	counts->failed++;
	pr_err("FAILED on CPU %d: %s %#lx\n", raw_smp_processor_id(), what, detail);
}

unsigned long donjon_this_cpu_index(void)
{
	u64 mpidr = read_cpuid_mpidr();

	return (mpidr | (mpidr >> DONJON_CPU_INDEX_SHIFT)) & (DONJON_MAX_CPUS - 1);
}
