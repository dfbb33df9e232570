// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks that the inner domain takes: of its reserve, where there is one.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "attack.h"
#include "common/block.h"

struct page *attack_block(enum donjon_reserve_part part)
{
	struct page *first;

	if (!donjon_reserve_exists())
		return alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, get_order(SZ_2M));
	first = donjon_reserve_take(part);
	if (first)
		memset(page_address(first), 0, SZ_2M);
	return first;
}

void free_attack_block(struct page *first, enum donjon_reserve_part part)
{
	if (donjon_reserve_exists())
		donjon_reserve_return(part, first);
	else
		__free_pages(first, get_order(SZ_2M));
}
