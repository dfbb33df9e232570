// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that no device reaches, where an SMMU of the inner domain's keeps devices
 * from the rest: tables, text and private memory come from it alone. Its blocks are
 * never ordinary memory of Linux's.
 *
 * What the pools do not have from the beginning is divided: compartments cannot take
 * what tables may need.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/export.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/libfdt.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/of_fdt.h>
#include <linux/printk.h>
#include <linux/spinlock.h>

#include <asm/donjon.h>

#include "pool.h"

/* Blocks of one kind, the first of which is at `start`. */
struct part {
	phys_addr_t start;
	unsigned int blocks;
	unsigned int free;
	/* No block below it is free */
	unsigned int lowest;
	unsigned long *used;
};

/* Blocks of 32 GiB, more than a part of RAM is on any machine */
#define PART_MOST	(SZ_2G / POOL_BLOCK_SIZE * 16)

static DECLARE_BITMAP(used_by_tables, PART_MOST);
static DECLARE_BITMAP(used_by_compartments, PART_MOST);
static struct part parts[] = {
	[DONJON_RESERVE_TABLES] = { .used = used_by_tables },
	[DONJON_RESERVE_COMPARTMENTS] = { .used = used_by_compartments },
};
static DEFINE_SPINLOCK(parts_lock);
static phys_addr_t next __initdata;
static phys_addr_t end __initdata;
static bool has_reserve __ro_after_init;

bool donjon_reserve_exists(void)
{
	return has_reserve;
}
EXPORT_SYMBOL_GPL(donjon_reserve_exists);

static int __init find(unsigned long node, const char *name, int depth, void *unused)
{
	const __be32 *reg;
	int size;

	if (!of_flat_dt_is_compatible(node, "donjon,reserve"))
		return 0;
	reg = of_get_flat_dt_prop(node, "reg", &size);
	if (!reg || size != (dt_root_addr_cells + dt_root_size_cells) * sizeof(*reg))
		panic("The reserve of the inner domain has no range in the device tree\n");
	next = dt_mem_next_cell(dt_root_addr_cells, &reg);
	end = next + dt_mem_next_cell(dt_root_size_cells, &reg);
	has_reserve = true;
	return 1;
}

/* Looks for the reserve, which the boot stage has named. */
void __init donjon_reserve_find(void)
{
	of_scan_flat_dt(find, NULL);
}

/* What nothing has taken so far. */
phys_addr_t __init donjon_reserve_left(void)
{
	return end - next;
}

/* A part of the reserve for good, or 0. */
phys_addr_t __init donjon_reserve_cut(phys_addr_t size)
{
	phys_addr_t start = next;

	if (size > end - start)
		return 0;
	next += size;
	return start;
}

/* Divides what is left. `tables` bytes are for tables. */
void __init donjon_reserve_divide(phys_addr_t tables)
{
	struct part *part = &parts[DONJON_RESERVE_TABLES];

	tables = min(tables, end - next);
	part->start = next;
	part->blocks = min_t(phys_addr_t, tables / POOL_BLOCK_SIZE, PART_MOST);
	part->free = part->blocks;
	next += tables;
	part = &parts[DONJON_RESERVE_COMPARTMENTS];
	part->start = next;
	part->blocks = min_t(phys_addr_t, (end - next) / POOL_BLOCK_SIZE, PART_MOST);
	part->free = part->blocks;
	pr_info("reserve: %u blocks of 2M for tables, %u for compartments\n",
		parts[DONJON_RESERVE_TABLES].blocks, part->blocks);
}

/* A block, or NULL. */
struct page *donjon_reserve_take(enum donjon_reserve_part which)
{
	struct part *part = &parts[which];
	unsigned int block;

	spin_lock(&parts_lock);
	block = find_next_zero_bit(part->used, part->blocks, part->lowest);
	if (block < part->blocks) {
		__set_bit(block, part->used);
		part->free--;
		part->lowest = block + 1;
	}
	spin_unlock(&parts_lock);
	if (block < part->blocks)
		return phys_to_page(part->start + (phys_addr_t)block * POOL_BLOCK_SIZE);
	/* For compartments the caller says so, if it has got none at all */
	if (which == DONJON_RESERVE_TABLES)
		pr_err_ratelimited("the reserve has no block for tables: more memory makes it larger\n");
	return NULL;
}
EXPORT_SYMBOL_GPL(donjon_reserve_take);

/* A block that was taken, and of which the inner domain has nothing. */
void donjon_reserve_return(enum donjon_reserve_part which, struct page *first)
{
	struct part *part = &parts[which];
	unsigned int block = (page_to_phys(first) - part->start) / POOL_BLOCK_SIZE;

	spin_lock(&parts_lock);
	__clear_bit(block, part->used);
	part->free++;
	part->lowest = min(part->lowest, block);
	spin_unlock(&parts_lock);
}
EXPORT_SYMBOL_GPL(donjon_reserve_return);

/* Blocks of a part, and how many of them are free. */
void donjon_reserve_count(enum donjon_reserve_part which, unsigned int *blocks,
			  unsigned int *free)
{
	*blocks = parts[which].blocks;
	*free = READ_ONCE(parts[which].free);
}
