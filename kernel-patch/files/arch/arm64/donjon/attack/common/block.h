/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_ATTACK_BLOCK_H
#define __DONJON_ATTACK_BLOCK_H

#include <linux/mm_types.h>

#include "../../pool.h"

/* A block of 2 MiB that the inner domain would take, all zeros, or NULL. */
struct page *attack_block(enum donjon_reserve_part part);
/* Such a block, of which the inner domain has nothing. */
void free_attack_block(struct page *first, enum donjon_reserve_part part);

#endif /* __DONJON_ATTACK_BLOCK_H */
