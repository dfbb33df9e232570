/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What measurements have in common.
 */
#ifndef __DONJON_BENCH_H
#define __DONJON_BENCH_H

#include <linux/types.h>

struct seq_file;

/*
 * Everything that a call needs is in its registers before the first reading, so
 * that what lies between the two is the branch, what it leads to, and the way
 * back. The caller has `target`, and `first` and `second` for x0 and x1.
 */
#define MEASURE(operation)						\
({									\
	u64 before, after;						\
	register unsigned long x0 asm("x0") = first;			\
	register unsigned long x1 asm("x1") = second;			\
									\
	asm volatile("isb\n"						\
		     "mrs %[before], pmccntr_el0\n"			\
		     operation "\n"					\
		     "isb\n"						\
		     "mrs %[after], pmccntr_el0\n"			\
		     : [before] "=&r" (before), [after] "=&r" (after),	\
		       "+r" (x0), "+r" (x1)				\
		     : [target] "r" (target)				\
		     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",	\
		       "x10", "x11", "x12", "x13", "x14", "x15", "x16",	\
		       "x17", "x30", "cc", "memory");			\
	after - before;							\
})

/* What the counter was used for before. */
struct bench_counter {
	u64 control, enabled, filter;
};

/* PMCCNTR_EL0 of this CPU counts, until it is put back. Nothing preempts. */
void donjon_bench_count(struct bench_counter *before);
void donjon_bench_put_back(const struct bench_counter *before);

/* Print samples as a line. */
void donjon_bench_show(struct seq_file *file, const char *name,
		       const u64 *values, unsigned int count);

#endif /* __DONJON_BENCH_H */
