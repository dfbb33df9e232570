/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_STATE_H
#define __DONJON_STATE_H

#include <linux/types.h>

#include <asm/donjon.h>

/*
 * Log a store or a release that the inner domain refused, with the caller that
 * asked for it. The reason is in the upper half of the result's value.
 */
void donjon_table_refused(const char *what, u64 address, u64 value,
			  struct donjon_result result, unsigned long caller);

#endif /* __DONJON_STATE_H */
