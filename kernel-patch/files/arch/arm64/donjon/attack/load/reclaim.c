// SPDX-License-Identifier: GPL-2.0-only
/*
 * No attack but two tasks that do nothing wrong while memory is short. One needs
 * a table, so the pool grows, so memory is reclaimed. Reclaim comes to a file
 * system, which a shrinker plays: it waits for a transaction of the other task.
 * That one needs a table as well before it can commit, as vmalloc() does in a
 * section without file system reclaim.
 */
#include <linux/completion.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "attack.h"

#define BLOCK_ORDER	9
#define MOST_BLOCKS	4096
/* Pages of one mapping: 32 tables of level 3 */
#define PAGES		(32 * 512)
/* More mappings than the pool of a small machine has tables for */
#define MAPPINGS	256
/*
 * Pages left to other tasks. With more than a block's twice above the high
 * watermark memory is compacted and not reclaimed.
 */
#define LEFT		1280
#define PATIENCE	(10 * HZ)
/* As many as the shrinker says that it could free, so that it is asked */
#define CACHED		1024

static enum { IDLE, WAITING, COMMITTED, STUCK } state;
static struct task_struct *grower;
static struct page **pages, **blocks;
static struct page *last;
static unsigned int held;
static LIST_HEAD(singles);
static void *needed;
static DECLARE_COMPLETION(wanted);
static DECLARE_COMPLETION(committed);

/*
 * Two blocks in one piece. A single one would go to the free list of this CPU,
 * where the transaction on another CPU may not find it.
 */
static void let_last_go(void)
{
	if (last)
		__free_pages(last, BLOCK_ORDER + 1);
	last = NULL;
}

static unsigned long count_cached(struct shrinker *shrinker,
				  struct shrink_control *control)
{
	return CACHED;
}

/* The file system frees nothing before the transaction is committed. */
static unsigned long scan_cached(struct shrinker *shrinker,
				 struct shrink_control *control)
{
	if (current != grower || state != IDLE)
		return SHRINK_STOP;
	state = WAITING;
	/* Memory for a block more: the transaction lacks nothing else */
	let_last_go();
	complete(&wanted);
	if (wait_for_completion_timeout(&committed, PATIENCE))
		state = COMMITTED;
	else
		state = STUCK;
	return SHRINK_STOP;
}

static int transaction(void *unused)
{
	unsigned int flags;

	wait_for_completion(&wanted);
	flags = memalloc_nofs_save();
	needed = vmap(pages, PAGES, VM_MAP, PAGE_KERNEL);
	memalloc_nofs_restore(flags);
	complete_all(&committed);
	return 0;
}

static unsigned long free_pages_now(void)
{
	struct sysinfo info;

	si_meminfo(&info);
	return info.freeram;
}

/* One page of a block stays taken, so the rest is memory but never a block. */
static void spare(struct page *block)
{
	unsigned int i;

	split_page(block, BLOCK_ORDER);
	list_add(&block->lru, &singles);
	for (i = 1; i < 1 << BLOCK_ORDER; i++)
		__free_page(block + i);
}

#define FLAGS	(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN)

/* Other tasks give memory back, and kswapd finds some. */
static void hold_pages(void)
{
	struct page *page;

	while (free_pages_now() > LEFT) {
		page = alloc_page(FLAGS);
		if (!page)
			break;
		list_add(&page->lru, &singles);
	}
}

/*
 * Take all memory that a block of tables could be made of. What is left to
 * other tasks is in pieces.
 */
static void hold_blocks(void)
{
	last = alloc_pages(FLAGS, BLOCK_ORDER + 1);
	for (held = 0; held < MOST_BLOCKS; held++) {
		blocks[held] = alloc_pages(FLAGS, BLOCK_ORDER);
		if (!blocks[held])
			break;
	}
	while (held && free_pages_now() < LEFT)
		spare(blocks[--held]);
	hold_pages();
}

static void let_blocks_go(void)
{
	struct page *page, *next;

	let_last_go();
	while (held)
		__free_pages(blocks[--held], BLOCK_ORDER);
	list_for_each_entry_safe(page, next, &singles, lru) {
		list_del(&page->lru);
		__free_page(page);
	}
}

/* Map one page again and again, until the tables for it are all there are. */
static void use_tables(void)
{
	static void *mappings[MAPPINGS];
	unsigned int i, count = 0;

	while (count < MAPPINGS && state == IDLE) {
		hold_pages();
		mappings[count] = vmap(pages, PAGES, VM_MAP, PAGE_KERNEL);
		if (!mappings[count])
			break;
		count++;
	}
	/* The task that waits may go on, whatever came of it */
	let_blocks_go();
	complete_all(&wanted);
	wait_for_completion(&committed);
	for (i = 0; i < count; i++)
		vunmap(mappings[i]);
	if (needed)
		vunmap(needed);
}

static void play(struct page *page)
{
	struct shrinker *shrinker = shrinker_alloc(0, "donjon-attack");
	struct task_struct *other;

	if (!shrinker)
		return;
	shrinker->count_objects = count_cached;
	shrinker->scan_objects = scan_cached;
	shrinker->seeks = 0;
	other = kthread_run(transaction, NULL, "transaction");
	if (IS_ERR(other)) {
		shrinker_free(shrinker);
		return;
	}
	memset_p((void **)pages, page, PAGES);
	state = IDLE;
	grower = current;
	shrinker_register(shrinker);
	hold_blocks();
	use_tables();
	shrinker_free(shrinker);
}

static void reclaim(void)
{
	struct page *page = alloc_page(GFP_KERNEL);

	pages = kvmalloc_array(PAGES, sizeof(*pages), GFP_KERNEL);
	blocks = kvmalloc_array(MOST_BLOCKS, sizeof(*blocks), GFP_KERNEL);
	if (page && pages && blocks)
		play(page);
	kvfree(blocks);
	kvfree(pages);
	if (page)
		__free_page(page);

	if (state == STUCK)
		attack_succeeded("two tasks wait for each other");
	else if (state == COMMITTED && needed)
		attack_stopped("the transaction got its tables");
	else
		attack_untried("the pool did not grow (%d)", state);
}

DONJON_ATTACK("reclaim", "transaction", reclaim);
