// SPDX-License-Identifier: GPL-2.0-only
/*
 * No attack but random calls from all CPUs at the same time. What they are about
 * is the attacker's own and comes back in the end, so the guest goes on and the
 * auditor finds what is left.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/pgtable.h>

#include "common/block.h"
#include "fuzz.h"

#define BLOCK_FRAMES	512
/* Surrounds one table of level 3 wherever it begins */
#define DIRECTORY_PAGES	(2 * BLOCK_FRAMES)
/* Calls that one CPU takes at a time */
#define PORTION		1000
#define PATIENCE	100000

static ulong fuzz_calls = 1000000;
module_param(fuzz_calls, ulong, 0600);
MODULE_PARM_DESC(fuzz_calls, "how many random calls");

static ulong fuzz_seed = 1;
module_param(fuzz_seed, ulong, 0600);
MODULE_PARM_DESC(fuzz_seed, "which ones");

static struct fuzz_ground ground;
static struct fuzz_counts counts[DONJON_MAX_CPUS];
static const char * const functions[] = DONJON_FUNCTION_NAMES;
static atomic_long_t left;

static int work(void *data)
{
	unsigned long cpu = (unsigned long)data;
	struct fuzz_random random = { .state = fuzz_seed * 0x9e3779b97f4a7c15UL + cpu + 1 };
	int i;

	while (atomic_long_sub_return(PORTION, &left) >= 0) {
		for (i = 0; i < PORTION; i++)
			fuzz_call(&ground, &random, &counts[cpu]);
		cond_resched();
	}
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void close_directory(u64 va, u64 page)
{
	vunmap((void *)va);
	__free_page((struct page *)page);
}

/* A table of level 3 of Linux's that is linked nowhere for now. */
static bool open_directory(void)
{
	struct page **pages = kmalloc_array(DIRECTORY_PAGES, sizeof(*pages), GFP_KERNEL);
	struct page *page = alloc_page(GFP_KERNEL);
	void *area = NULL;
	struct step step;

	if (pages && page) {
		memset_p((void **)pages, page, DIRECTORY_PAGES);
		area = vmap(pages, DIRECTORY_PAGES, VM_MAP, PAGE_KERNEL);
	}
	kfree(pages);
	if (!area) {
		if (page)
			__free_page(page);
		return false;
	}
	undo_later(close_directory, (u64)area, (u64)page);
	ground.directory_va = ALIGN((unsigned long)area, PMD_SIZE);
	step = walk_to(kernel_root(), ground.directory_va, 2);
	ground.directory = step.entry;
	return step.level == 2 && !write_entry(step.entry, 0).status;
}

static bool open_blocks(void)
{
	struct page *page;
	int i;

	for (i = 0; i < FUZZ_BLOCKS; i++) {
		page = attack_block(DONJON_RESERVE_COMPARTMENTS);
		if (!page)
			return false;
		ground.blocks[i] = page_to_phys(page);
	}
	return true;
}

static bool open_ground(void)
{
	int i;

	memset(&ground, 0, sizeof(ground));
	ground.pages = kcalloc(FUZZ_PAGES, PAGE_SIZE, GFP_KERNEL);
	ground.lists = kcalloc(2, PAGE_SIZE, GFP_KERNEL);
	ground.requests = kzalloc(PAGE_SIZE, GFP_KERNEL);
	ground.compartments = kcalloc(FUZZ_COMPARTMENTS, sizeof(u64), GFP_KERNEL);
	ground.process = this_process();
	ground.inner = inner_memory();
	/* As `status` asks: which fact is number 4 */
	ground.inner_size = __donjon_call(DONJON_FN_INFORMATION, 4, 0, 0, 0, 0, 0).value;
	ground.text_va = (unsigned long)_printk & PAGE_MASK;
	ground.text = frame_of(ground.text_va);
	if (!ground.pages || !ground.lists || !ground.requests || !ground.compartments ||
	    !open_blocks() || !open_directory()) {
		attack_untried("there is no memory");
		return false;
	}
	fuzz_begin_compartments(&ground);
	for (i = 0; i < FUZZ_WINDOWS; i++)
		if (!open_window(&ground.windows[i]))
			return false;
	return true;
}

static void clear_entry(u64 entry)
{
	__donjon_call(DONJON_FN_TABLE_WRITE, entry, 0, 0, 0, 0, 0);
}

static struct donjon_result finish(u64 function, u64 block, u64 kind)
{
	struct donjon_result result;
	int i;

	for (i = 0; i < PATIENCE; i++) {
		result = __donjon_call(function, block, kind, 0, 0, 0, 0);
		if (result.status != DONJON_ERR_BUSY)
			break;
	}
	return result;
}

/*
 * All blocks are in a pool afterwards, if nothing shows them any more. One may be on its
 * way, into a pool or out of it, and the others are refused until it has arrived.
 */
static void finish_extensions(void)
{
	u64 block;
	int i;

	for (i = 0; i < FUZZ_BLOCKS; i++)
		finish(DONJON_FN_POOL_REMOVE, ground.blocks[i], 0);
	for (i = 0; i < 2 * FUZZ_BLOCKS; i++) {
		block = ground.blocks[i % FUZZ_BLOCKS];
		finish(DONJON_FN_POOL_ADD, block, DONJON_POOL_TABLES);
		finish(DONJON_FN_POOL_ADD, block, DONJON_POOL_TEXT);
		finish(DONJON_FN_POOL_ADD, block, DONJON_POOL_PRIVATE);
	}
}

static struct donjon_result take_back(u64 block)
{
	int i;

	for (i = 0; i < BLOCK_FRAMES; i++)
		__donjon_call(DONJON_FN_TABLE_RELEASE, block + i * PAGE_SIZE,
			      0, 0, 0, 0, 0);
	return finish(DONJON_FN_POOL_REMOVE, block, 0);
}

/* False if something cannot be had back, and it is said. */
static bool close_ground(void)
{
	struct donjon_result result;
	int i, entry;
	u64 frame;

	fuzz_end_compartments(&ground);
	for (i = 0; i < FUZZ_WINDOWS; i++)
		clear_entry(ground.windows[i].entry);
	/*
	 * A page that is half text is given up for another one, and its frame is free again.
	 * No page begins at 1: the address of the page that is half text would go on with it.
	 */
	__donjon_call(DONJON_FN_TEXT_SEAL, 1, 0, 0, 0, 0, 0);
	clear_entry(ground.directory);
	for (i = 0; i < FUZZ_BLOCKS * FUZZ_FRAMES; i++) {
		frame = ground.blocks[i / FUZZ_FRAMES] + i % FUZZ_FRAMES * PAGE_SIZE;
		/* A table that has text is not released, and written where it is linked */
		__donjon_call(DONJON_FN_TABLE_WRITE, ground.directory,
			      frame | DESCRIPTOR_TABLE, 0, 0, 0, 0);
		for (entry = 0; entry < FUZZ_ENTRIES; entry++)
			clear_entry(frame + entry * sizeof(u64));
		clear_entry(ground.directory);
	}
	finish_extensions();
	for (i = 0; i < FUZZ_BLOCKS; i++) {
		result = take_back(ground.blocks[i]);
		if (result.status) {
			attack_untried("block %d is lost: %s", i, attack_why(result));
			return false;
		}
		free_attack_block(phys_to_page(ground.blocks[i]),
				  DONJON_RESERVE_COMPARTMENTS);
	}
	put_nops(scratch(0), SCRATCH_WORDS * sizeof(u32));
	kfree(ground.requests);
	kfree(ground.pages);
	kfree(ground.lists);
	kfree(ground.compartments);
	return true;
}

static void run_on_all(void)
{
	static struct task_struct *tasks[DONJON_MAX_CPUS];
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		tasks[cpu] = kthread_create(work, (void *)(unsigned long)cpu,
					    "donjon_fuzz/%u", cpu);
		if (IS_ERR(tasks[cpu])) {
			tasks[cpu] = NULL;
			continue;
		}
		kthread_bind(tasks[cpu], cpu);
		wake_up_process(tasks[cpu]);
	}
	while (atomic_long_read(&left) >= 0)
		schedule_timeout_interruptible(1);
	for_each_online_cpu(cpu)
		if (tasks[cpu])
			kthread_stop(tasks[cpu]);
}

static void say(void)
{
	unsigned long accepted, refused, all = 0;
	unsigned int function, cpu, cpus = 0;

	for (function = 0; function <= DONJON_FUNCTIONS; function++) {
		accepted = 0;
		refused = 0;
		for (cpu = 0; cpu < DONJON_MAX_CPUS; cpu++) {
			accepted += counts[cpu].accepted[function];
			refused += counts[cpu].refused[function];
		}
		all += accepted + refused;
		pr_info("attack fuzz: %s: %lu accepted, %lu refused\n",
			functions[function], accepted, refused);
	}
	for (cpu = 0; cpu < DONJON_MAX_CPUS; cpu++)
		cpus += !!counts[cpu].refused[DONJON_FN_MAP];
	attack_stopped("%lu calls from %u CPUs", all, cpus);
}

static void random_calls(void)
{
	memset(counts, 0, sizeof(counts));
	if (!open_ground())
		return;
	atomic_long_set(&left, fuzz_calls);
	run_on_all();
	if (close_ground())
		say();
}

DONJON_ATTACK("fuzz", "calls", random_calls);
