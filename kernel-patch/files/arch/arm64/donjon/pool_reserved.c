// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that is reserved at boot for tables and for text of the inner domain.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/bitmap.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/printk.h>

#include <asm/donjon.h>

#include "pool.h"

/*
 * The part of memory that is reserved for each of the two: at least what a small
 * machine needs, and at most what the inner domain has room for.
 */
#define POOL_SHARE		128
#define POOL_LEAST		SZ_4M
#define POOL_MOST		SZ_64M

phys_addr_t donjon_text_pool_start __ro_after_init;
phys_addr_t donjon_text_pool_end __ro_after_init;

static void __init set_aside(phys_addr_t *start, phys_addr_t *end,
			     phys_addr_t size)
{
	if (donjon_reserve_exists())
		*start = donjon_reserve_cut(size);
	else
		*start = memblock_phys_alloc_range(size, POOL_BLOCK_SIZE, 0,
						   MEMBLOCK_ALLOC_NOLEAKTRACE);
	if (!*start)
		panic("No %pa bytes for tables or text of the inner domain\n", &size);
	*end = *start + size;
}

/* Size of the pool of text that the command line asks for, or 0 */
static phys_addr_t text_size __ro_after_init;

static int __init set_text_size(char *words)
{
	phys_addr_t size = words ? memparse(words, NULL) : 0;

	text_size = clamp_t(phys_addr_t, size, POOL_LEAST, POOL_MOST);
	text_size = round_up(text_size, POOL_BLOCK_SIZE);
	if (size != text_size)
		pr_warn("donjon.text= is from 4M to 64M and a multiple of 2M; it is %lluM now\n",
			text_size / SZ_1M);
	return 0;
}
early_param("donjon.text", set_text_size);

/* The most that the command line may ask for, a part of the reserve if there is one */
static phys_addr_t text_most __ro_after_init = POOL_MOST;

void donjon_text_used_up(const char *owner)
{
	phys_addr_t size = donjon_text_pool_end - donjon_text_pool_start;

	if (size < text_most)
		pr_err_ratelimited("%s: the pool of text, %lluM, is used up; the parameter donjon.text=%lluM makes it larger\n",
				   owner, size / SZ_1M,
				   min(2 * size, text_most) / SZ_1M);
	else if (size < POOL_MOST)
		pr_err_ratelimited("%s: the pool of text, %lluM, is used up; cargo xtask run --protected SIZE with the parameter donjon.text= makes it larger\n",
				   owner, size / SZ_1M);
	else
		pr_err_ratelimited("%s: the pool of text, %lluM, is used up, and cannot be larger\n",
				   owner, size / SZ_1M);
}

void __init donjon_pool_reserve(void)
{
	phys_addr_t size = memblock_phys_mem_size() / POOL_SHARE;
	phys_addr_t text;

	donjon_reserve_find();
	size = clamp_t(phys_addr_t, round_up(size, POOL_BLOCK_SIZE), POOL_LEAST,
		       POOL_MOST);
	set_aside(&donjon_table_pool_start, &donjon_table_pool_end, size);
	bitmap_set(donjon_table_blocks, donjon_table_pool_start / POOL_BLOCK_SIZE,
		   size / POOL_BLOCK_SIZE);
	text = text_size ?: size;
	if (donjon_reserve_exists()) {
		/* Tables that are added, and some compartments, need theirs */
		text_most = round_down(max(donjon_reserve_left() / 2, size), POOL_BLOCK_SIZE);
		text_most = min_t(phys_addr_t, text_most, POOL_MOST);
		if (text > text_most)
			pr_warn("donjon.text= is more than the reserve has; it is %lluM now: cargo xtask run --protected SIZE makes it larger\n",
				text_most / SZ_1M);
		text = min(text, text_most);
	}
	set_aside(&donjon_text_pool_start, &donjon_text_pool_end, text);
	if (donjon_reserve_exists())
		donjon_reserve_divide(size);
	pr_info("table pool %pa-%pa, text pool %pa-%pa\n",
		&donjon_table_pool_start, &donjon_table_pool_end,
		&donjon_text_pool_start, &donjon_text_pool_end);
}
