// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for compartments: blocks of 2 MiB that the inner domain takes. No
 * mapping here shows them, the linear map included.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "private.h"

/* Some block may be one that the inner domain cannot take. */
#define TRIES	4

struct private_block {
	struct list_head list;
	struct page *first;
};

static DEFINE_MUTEX(blocks_mutex);
static LIST_HEAD(blocks);

static struct donjon_result hand_in(struct page *first)
{
	struct donjon_result result;

	do {
		result = __donjon_call(DONJON_FN_POOL_ADD, page_to_phys(first),
				       DONJON_POOL_PRIVATE, 0, 0, 0, 0);
		cond_resched();
	} while (result.status == DONJON_ERR_BUSY);
	return result;
}

static int try_block(struct private_block *block)
{
	struct donjon_result result = hand_in(block->first);

	if (!result.status)
		return 0;
	pr_warn_once("block %pa for compartments: %s\n",
		     &(phys_addr_t){ page_to_phys(block->first) },
		     donjon_reason(result));
	return result.value == DONJON_REASON_NO_ROOM ? -ENOSPC : -EAGAIN;
}

int donjon_private_grow(void)
{
	unsigned int order = get_order(SZ_2M), count = 0;
	struct page *refused[TRIES];
	struct private_block *block = kmalloc(sizeof(*block), GFP_KERNEL);
	int error = -EAGAIN;

	if (!block)
		return -ENOMEM;
	mutex_lock(&blocks_mutex);
	while (error == -EAGAIN && count < TRIES) {
		block->first = alloc_pages(GFP_KERNEL | __GFP_NOWARN |
					   __GFP_RETRY_MAYFAIL, order);
		if (!block->first) {
			error = -ENOMEM;
			break;
		}
		error = try_block(block);
		if (error)
			refused[count++] = block->first;
	}
	if (!error)
		list_add(&block->list, &blocks);
	mutex_unlock(&blocks_mutex);
	/* Not before: it would be the first to be offered again */
	while (count)
		__free_pages(refused[--count], order);
	if (error)
		kfree(block);
	return error == -EAGAIN ? -ENOMEM : error;
}

void donjon_private_shrink(void)
{
	struct private_block *block, *next;
	struct donjon_result result;

	mutex_lock(&blocks_mutex);
	list_for_each_entry_safe(block, next, &blocks, list) {
		result = __donjon_call(DONJON_FN_POOL_REMOVE,
				       page_to_phys(block->first),
				       0, 0, 0, 0, 0);
		if (result.status)
			continue;
		list_del(&block->list);
		__free_pages(block->first, get_order(SZ_2M));
		kfree(block);
	}
	mutex_unlock(&blocks_mutex);
}

struct donjon_result donjon_private_call(unsigned long function, unsigned long a1,
					 unsigned long a2, unsigned long a3,
					 unsigned long a4)
{
	struct donjon_result result;

	do {
		result = __donjon_call(function, a1, a2, a3, a4, 0, 0);
	} while (result.status == DONJON_ERR_REFUSED &&
		 result.value == DONJON_REASON_NO_ROOM &&
		 !fatal_signal_pending(current) && !donjon_private_grow());
	return result;
}
