/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_QUEUE_H
#define __DONJON_QUEUE_H

#include <linux/types.h>

/* Put a store into this CPU's queue; false if none is open. */
bool donjon_queue_append(phys_addr_t entry, u64 value);

#endif /* __DONJON_QUEUE_H */
