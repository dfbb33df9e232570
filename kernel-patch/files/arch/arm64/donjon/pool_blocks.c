// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds blocks of 2 MiB to the pool of tables when it is empty, and gives them back
 * under memory pressure.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/semaphore.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include <asm/donjon.h>

#include "pool.h"
#include "state.h"

/* Blocks that are tried: some may be ones that the inner domain cannot take. */
#define POOL_TRIES		4

/* Do not give back what would leave fewer free frames than this. */
#define POOL_KEEP		256

/*
 * Held while the set of blocks changes. Nothing is allocated under it:
 * reclaim may wait for a task that waits for this mutex, as a file system does
 * for a transaction of its own.
 */
static DEFINE_MUTEX(blocks_mutex);
DEFINE_MUTEX(donjon_extension_mutex);
/* No use in asking the inner domain again before. */
static unsigned long refused_until;

static bool hand_in(struct page *first)
{
	struct donjon_result result;

	if (!donjon_live)
		return true;
	mutex_lock(&donjon_extension_mutex);
	do {
		result = __donjon_call(DONJON_FN_POOL_ADD, page_to_phys(first),
				       DONJON_POOL_TABLES, 0, 0, 0, 0);
		cond_resched();
	} while (result.status == DONJON_ERR_BUSY);
	mutex_unlock(&donjon_extension_mutex);
	if (!result.status)
		return true;

	/* Another block would fare no better */
	if (result.status == DONJON_ERR_NO_MEMORY ||
	    result.value == DONJON_REASON_NO_ROOM)
		WRITE_ONCE(refused_until, jiffies + HZ);
	result.value <<= 32;
	donjon_table_refused("block for the pool", page_to_phys(first), 0,
			     result, _RET_IP_);
	return false;
}

static void free_block(struct page *first)
{
	unsigned int i;

	if (donjon_reserve_exists()) {
		donjon_reserve_return(DONJON_RESERVE_TABLES, first);
		return;
	}
	for (i = 0; i < POOL_BLOCK_FRAMES; i++) {
		first[i].index = 0;
		__free_page(first + i);
	}
}

static struct page *find_block(gfp_t gfp)
{
	unsigned int order = get_order(POOL_BLOCK_SIZE);
	struct page *first;

	if (donjon_reserve_exists())
		return donjon_reserve_take(DONJON_RESERVE_TABLES);
	gfp = (gfp & ~__GFP_ZERO) | __GFP_NOWARN;
	first = alloc_pages(gfp | __GFP_NORETRY, order) ?:
		alloc_pages(gfp | __GFP_RETRY_MAYFAIL, order);
	if (first)
		split_page(first, order);
	return first;
}

static void enter(struct page *first)
{
	unsigned int i;

	raw_spin_lock_irq(&donjon_pool.lock);
	for (i = 0; i < POOL_BLOCK_FRAMES; i++)
		donjon_pool_put(first + i, POOL_UNUSED);
	donjon_pool.stats.frames += POOL_BLOCK_FRAMES;
	donjon_pool.stats.blocks_added++;
	raw_spin_unlock_irq(&donjon_pool.lock);
}

enum added {
	ADDED,
	/* Another task has added one, so the block is not wanted */
	NOT_WANTED,
	REFUSED,
};

/* The number of the block is reserved in the array, so the store needs nothing. */
static enum added add_locked(struct pool_block *block)
{
	unsigned long number = donjon_block_number(block->first);

	if (READ_ONCE(donjon_pool.stats.free))
		return NOT_WANTED;
	xa_store(&donjon_pool_blocks, number, block, GFP_NOWAIT);
	if (hand_in(block->first)) {
		set_bit(number, donjon_table_blocks);
		enter(block->first);
		return ADDED;
	}
	xa_erase(&donjon_pool_blocks, number);
	return REFUSED;
}

static enum added add(struct page *first, gfp_t gfp)
{
	struct pool_block *block = kzalloc(sizeof(*block), gfp);
	enum added added = REFUSED;

	if (!block)
		return REFUSED;
	block->first = first;
	if (!xa_reserve(&donjon_pool_blocks, donjon_block_number(first), gfp)) {
		mutex_lock(&blocks_mutex);
		added = add_locked(block);
		mutex_unlock(&blocks_mutex);
		if (added == NOT_WANTED)
			xa_release(&donjon_pool_blocks, donjon_block_number(first));
	}
	if (added != ADDED)
		kfree(block);
	return added;
}

static bool may_grow(void)
{
	/* The hand-over names the reserved blocks only */
	if (!donjon_live && donjon_present())
		return false;
	return !time_before(jiffies, READ_ONCE(refused_until));
}

/*
 * One task looks for a block at a time, or many would hold one each. It may be
 * in reclaim, which may wait for a task that waits here: so a task waits no
 * longer than this, and then goes on beside it.
 */
static DEFINE_SEMAPHORE(growing, 1);
#define GROWING_TIME	HZ

/* One block more, or another task has brought one meanwhile. */
bool donjon_pool_grow(gfp_t gfp)
{
	struct page *refused[POOL_TRIES];
	bool alone, grown;
	unsigned int count = 0;
	struct page *first;

	alone = !down_timeout(&growing, GROWING_TIME);
	grown = READ_ONCE(donjon_pool.stats.free);
	while (!grown && may_grow() && count < ARRAY_SIZE(refused)) {
		first = find_block(gfp);
		if (!first)
			break;
		switch (add(first, gfp & GFP_KERNEL)) {
		case REFUSED:
			refused[count++] = first;
			break;
		case NOT_WANTED:
			free_block(first);
			fallthrough;
		case ADDED:
			grown = true;
			break;
		}
	}
	if (count == ARRAY_SIZE(refused))
		WRITE_ONCE(refused_until, jiffies + HZ);
	/* Not before: it would be the first to be offered again */
	while (count)
		free_block(refused[--count]);
	if (alone)
		up(&growing);
	return grown || READ_ONCE(donjon_pool.stats.free);
}

/* Take a block that is entirely free off the lists. */
static bool unlist(struct pool_block *block)
{
	bool whole;
	unsigned int i;

	raw_spin_lock_irq(&donjon_pool.lock);
	whole = block->free == POOL_BLOCK_FRAMES &&
		donjon_pool.stats.free >= POOL_BLOCK_FRAMES + POOL_KEEP;
	if (whole) {
		for (i = 0; i < POOL_BLOCK_FRAMES; i++)
			donjon_pool_take(block->first + i);
		donjon_pool.stats.frames -= POOL_BLOCK_FRAMES;
	}
	raw_spin_unlock_irq(&donjon_pool.lock);
	return whole;
}

static void relist(struct pool_block *block)
{
	unsigned int i;

	raw_spin_lock_irq(&donjon_pool.lock);
	for (i = 0; i < POOL_BLOCK_FRAMES; i++)
		donjon_pool_put(block->first + i,
				block->first[i].index & POOL_CLASS_MASK);
	donjon_pool.stats.frames += POOL_BLOCK_FRAMES;
	raw_spin_unlock_irq(&donjon_pool.lock);
}

static bool give_back(struct pool_block *block)
{
	struct donjon_result result = {};

	if (!unlist(block))
		return false;
	if (donjon_live)
		result = __donjon_call(DONJON_FN_POOL_REMOVE,
				       page_to_phys(block->first),
				       0, 0, 0, 0, 0);
	if (result.status) {
		relist(block);
		result.value <<= 32;
		donjon_table_refused("block of the pool",
				     page_to_phys(block->first), 0, result,
				     _RET_IP_);
		return false;
	}
	donjon_pool.stats.blocks_removed++;
	clear_bit(donjon_block_number(block->first), donjon_table_blocks);
	xa_erase(&donjon_pool_blocks, donjon_block_number(block->first));
	free_block(block->first);
	kfree(block);
	return true;
}

static unsigned long pool_count(struct shrinker *shrinker,
				struct shrink_control *control)
{
	unsigned long frames = 0, number;
	struct pool_block *block;

	/* A task that frees a block holds the mutex, and memory is short: no wait */
	if (!mutex_trylock(&blocks_mutex))
		return 0;
	xa_for_each(&donjon_pool_blocks, number, block)
		if (READ_ONCE(block->free) == POOL_BLOCK_FRAMES)
			frames += POOL_BLOCK_FRAMES;
	mutex_unlock(&blocks_mutex);
	return frames;
}

static unsigned long pool_scan(struct shrinker *shrinker,
			       struct shrink_control *control)
{
	unsigned long freed = 0, number;
	struct pool_block *block;

	if (!mutex_trylock(&blocks_mutex))
		return SHRINK_STOP;
	xa_for_each(&donjon_pool_blocks, number, block) {
		if (freed >= control->nr_to_scan)
			break;
		if (give_back(block))
			freed += POOL_BLOCK_FRAMES;
	}
	mutex_unlock(&blocks_mutex);
	return freed ?: SHRINK_STOP;
}

static int __init pool_shrinker_init(void)
{
	struct shrinker *shrinker;

	/* Blocks of the reserve are of no use to anything else */
	if (donjon_reserve_exists())
		return 0;
	shrinker = shrinker_alloc(0, "donjon-tables");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = pool_count;
	shrinker->scan_objects = pool_scan;
	/* A table is dearer than a page of a cache, an empty one is not */
	shrinker->seeks = 0;
	shrinker_register(shrinker);
	return 0;
}
core_initcall(pool_shrinker_init);
