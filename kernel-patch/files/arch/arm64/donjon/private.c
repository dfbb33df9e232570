// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for compartments: blocks of 2 MiB that the inner domain takes. No
 * mapping here shows them, the linear map included.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/atomic.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "pool.h"
#include "private.h"

/* Some block may be one that the inner domain cannot take. */
#define TRIES	4

struct private_block {
	struct list_head list;
	struct page *first;
};

/* Protects the list and its length */
static DEFINE_MUTEX(blocks_mutex);
static LIST_HEAD(blocks);
static unsigned int block_count;
/* Frames that compartments may have: no more blocks than these need */
static atomic_long_t promised = ATOMIC_LONG_INIT(0);

static struct donjon_result pool_call(unsigned long function, struct private_block *block,
				      bool waits)
{
	struct donjon_result result;

	do {
		result = __donjon_call(function, page_to_phys(block->first),
				       DONJON_POOL_PRIVATE, waits, 0, 0, 0);
		cond_resched();
	} while (result.status == DONJON_ERR_BUSY);
	return result;
}

static void free_blocks(struct list_head *list)
{
	struct private_block *block, *next;

	list_for_each_entry_safe(block, next, list, list) {
		if (donjon_reserve_exists())
			donjon_reserve_return(DONJON_RESERVE_COMPARTMENTS, block->first);
		else
			__free_pages(block->first, get_order(SZ_2M));
		kfree(block);
	}
}

static struct private_block *allocate(gfp_t gfp)
{
	struct private_block *block = kmalloc(sizeof(*block), GFP_KERNEL);

	if (!block)
		return NULL;
	if (donjon_reserve_exists())
		block->first = donjon_reserve_take(DONJON_RESERVE_COMPARTMENTS);
	else
		block->first = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | gfp,
					   get_order(SZ_2M));
	if (block->first)
		return block;
	kfree(block);
	return NULL;
}

/* One is worth some effort, more of them are not. */
static void find_blocks(struct list_head *found, unsigned int count)
{
	struct private_block *block = allocate(__GFP_RETRY_MAYFAIL);

	while (block) {
		list_add_tail(&block->list, found);
		block = --count ? allocate(__GFP_NORETRY) : NULL;
	}
}

/*
 * All are claimed first, so that the inner domain searches its tables once. It
 * takes all of those that it has claimed, or none.
 */
static struct donjon_result hand_in(struct list_head *offered,
				    struct list_head *refused)
{
	struct private_block *block, *next, *last = NULL;
	struct donjon_result result = {}, taken;

	mutex_lock(&donjon_extension_mutex);
	list_for_each_entry_safe(block, next, offered, list) {
		taken = pool_call(DONJON_FN_POOL_ADD, block, true);
		if (taken.status) {
			list_move(&block->list, refused);
			result = taken;
		} else {
			last = block;
		}
	}
	if (last) {
		taken = pool_call(DONJON_FN_POOL_ADD, last, false);
		if (taken.status) {
			list_splice_tail_init(offered, refused);
			result = taken;
		}
	}
	mutex_unlock(&donjon_extension_mutex);
	return result;
}

/* Offers `count` blocks. Returns how many became private, or an error. */
static int try_blocks(unsigned int count, struct list_head *refused)
{
	struct donjon_result result;
	LIST_HEAD(offered);

	find_blocks(&offered, count);
	if (list_empty(&offered)) {
		if (!donjon_reserve_exists())
			return -ENOMEM;
		pr_err_ratelimited("the reserve has no block for compartments: cargo xtask run --protected SIZE makes it larger\n");
		return -ENOSPC;
	}
	result = hand_in(&offered, refused);
	if (result.status)
		pr_warn_once("block for compartments: %s\n", donjon_reason(result));
	count = list_count_nodes(&offered);
	block_count += count;
	list_splice(&offered, &blocks);
	if (count)
		return count;
	return result.value == DONJON_REASON_NO_ROOM ? -ENOSPC : -EAGAIN;
}

unsigned long donjon_private_most(void)
{
	unsigned int all, unused;

	if (!donjon_reserve_exists())
		return totalram_pages();
	donjon_reserve_count(DONJON_RESERVE_COMPARTMENTS, &all, &unused);
	return (unsigned long)all * POOL_BLOCK_FRAMES;
}

void donjon_private_promise(long frames)
{
	atomic_long_add(frames, &promised);
}

/*
 * Blocks to claim at once: a quarter of those that there are, but no more than
 * the frames of all compartments fill. At least one, since a call has just found
 * too few free frames.
 */
static unsigned int how_many(void)
{
	unsigned long most = DIV_ROUND_UP(atomic_long_read(&promised), SZ_2M / PAGE_SIZE);
	unsigned long count = min(block_count / 4UL, most - min(most, block_count));

	return clamp(count, 1, DONJON_POOL_TOGETHER_MAX);
}

int donjon_private_grow(unsigned int count)
{
	unsigned int tries = 0;
	LIST_HEAD(refused);
	int taken;

	mutex_lock(&blocks_mutex);
	count = count ? min(count, DONJON_POOL_TOGETHER_MAX) : how_many();
	do {
		taken = try_blocks(count, &refused);
		count = 1;
	} while (taken == -EAGAIN && ++tries < TRIES);
	mutex_unlock(&blocks_mutex);
	/* Not before: they would be the first to be offered again */
	free_blocks(&refused);
	return taken == -EAGAIN ? -ENOMEM : taken;
}

void donjon_private_shrink(void)
{
	struct private_block *block, *next;
	struct donjon_result result;
	LIST_HEAD(removed);

	mutex_lock(&blocks_mutex);
	mutex_lock(&donjon_extension_mutex);
	list_for_each_entry_safe(block, next, &blocks, list) {
		result = pool_call(DONJON_FN_POOL_REMOVE, block, false);
		if (result.status)
			continue;
		list_move(&block->list, &removed);
		block_count--;
	}
	mutex_unlock(&donjon_extension_mutex);
	mutex_unlock(&blocks_mutex);
	free_blocks(&removed);
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
		 !fatal_signal_pending(current) && donjon_private_grow(0) > 0);
	return result;
}

long compartment_refused(struct donjon_result result)
{
	if (result.status == DONJON_ERR_INVALID_ARGUMENT)
		return -EINVAL;
	if (result.status != DONJON_ERR_REFUSED)
		return -EIO;
	switch (result.value) {
	case DONJON_REASON_NO_ROOM:
		return -ENOMEM;
	case DONJON_REASON_OVER_LIMIT:
		return -EDQUOT;
	case DONJON_REASON_IN_USE:
		return -EBUSY;
	case DONJON_REASON_NO_COMPARTMENT:
		return -ENODEV;
	case DONJON_REASON_WRONG_TIME:
		return -EPERM;
	case DONJON_REASON_NO_SECRET:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}
