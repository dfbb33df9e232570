/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_TABLES_H
#define __DONJON_TABLES_H

#include <linux/types.h>

#include <asm/donjon.h>

/* Log a refused store or release; the reason is in the value's upper half. */
void donjon_table_refused(const char *what, u64 address, u64 value,
			  struct donjon_result result, unsigned long caller);

/* Put a store into this CPU's queue; false if none is open. */
bool donjon_queue_append(phys_addr_t entry, u64 value);

#endif /* __DONJON_TABLES_H */
