/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_SELFTEST_H
#define __DONJON_SELFTEST_H

#include <linux/types.h>

struct donjon_test_counts {
	unsigned int passed;
	unsigned int failed;
};

/* Count and, on a failure, say what was seen where. */
void donjon_expect(struct donjon_test_counts *counts, bool ok, const char *what,
		   unsigned long detail);

/* Index of this CPU in the inner domain. */
unsigned long donjon_this_cpu_index(void);

/* Check from this CPU, in any context, that inner addresses are unreachable. */
void donjon_test_isolation(struct donjon_test_counts *counts);

#endif /* __DONJON_SELFTEST_H */
