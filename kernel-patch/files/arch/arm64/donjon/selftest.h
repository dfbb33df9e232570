/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_SELFTEST_H
#define __DONJON_SELFTEST_H

#include <linux/types.h>

struct donjon_verdict {
	unsigned int passed;
	unsigned int failed;
};

/* Count and, on a failure, say what was seen where. */
void donjon_expect(struct donjon_verdict *verdict, bool ok, const char *what,
		   unsigned long detail);

/* Index of this CPU in the inner domain. */
unsigned long donjon_this_cpu_index(void);

/* Try the wall from the CPU that this runs on, in any context. */
void donjon_try_wall(struct donjon_verdict *verdict);

#endif /* __DONJON_SELFTEST_H */
