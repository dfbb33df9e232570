/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_FILES_H
#define __DONJON_FILES_H

#include <linux/init.h>
#include <linux/types.h>

struct dentry;

/* Facts and counters, for printing; 0 if the call is refused. */
unsigned long donjon_information(unsigned long which);
unsigned long donjon_statistic(unsigned long cpu, unsigned long function,
			       unsigned long counter);

void __init donjon_refusals_init(struct dentry *directory);

/* gate_jump.c: where a forged jump comes back, if it does */
extern char donjon_attack_resume[];

#ifdef CONFIG_DONJON_SELFTEST
int __init donjon_selftest_init(struct dentry *directory);
int __init donjon_bench_init(struct dentry *directory);
int __init donjon_attack_init(struct dentry *directory);
#else
static inline int donjon_selftest_init(struct dentry *directory)
{
	return 0;
}

static inline int donjon_bench_init(struct dentry *directory)
{
	return 0;
}

static inline int donjon_attack_init(struct dentry *directory)
{
	return 0;
}
#endif

#endif /* __DONJON_FILES_H */
