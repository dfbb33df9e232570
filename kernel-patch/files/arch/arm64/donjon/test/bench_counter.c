// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cycle counter and the line of samples that all measurements share.
 */
#include <linux/seq_file.h>

#include <asm/sysreg.h>

#include "bench.h"

#define PMCR_ENABLE		BIT(0)
#define PMCR_LONG_CYCLES	BIT(6)
#define CYCLE_COUNTER		BIT(31)

void donjon_bench_count(struct bench_counter *before)
{
	before->control = read_sysreg(pmcr_el0);
	before->enabled = read_sysreg(pmcntenset_el0);
	before->filter = read_sysreg(pmccfiltr_el0);
	write_sysreg(0, pmccfiltr_el0);
	write_sysreg(before->control | PMCR_ENABLE | PMCR_LONG_CYCLES, pmcr_el0);
	write_sysreg(CYCLE_COUNTER, pmcntenset_el0);
	isb();
}

void donjon_bench_put_back(const struct bench_counter *before)
{
	if (!(before->enabled & CYCLE_COUNTER))
		write_sysreg(CYCLE_COUNTER, pmcntenclr_el0);
	write_sysreg(before->filter, pmccfiltr_el0);
	write_sysreg(before->control, pmcr_el0);
	isb();
}

void donjon_bench_show(struct seq_file *file, const char *name,
		       const u64 *values, unsigned int count)
{
	int i;

	seq_printf(file, "%s:", name);
	for (i = 0; i < count; i++)
		seq_printf(file, " %llu", values[i]);
	seq_putc(file, '\n');
}
