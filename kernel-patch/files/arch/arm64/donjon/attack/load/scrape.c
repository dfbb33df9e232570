// SPDX-License-Identifier: GPL-2.0-only
/*
 * Search all of RAM for a word, by each way to read it. The word is known by its
 * complement alone: else it would be found in this module's own registers.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/moduleparam.h>
#include <linux/nodemask.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include <asm/barrier.h>
#include <asm/pgtable.h>
#include <asm/tlbflush.h>

#include "attack.h"

#define WORDS	(PAGE_SIZE / sizeof(u64))

static unsigned long complement;
module_param(complement, ulong, 0600);
MODULE_PARM_DESC(complement, "complement of the word that scrape-memory searches for");

/* One way to read a frame. */
struct way {
	/* Make it readable; false if that was refused. */
	bool (*show)(u64 frame);
	/* Search it there; false if an access faulted. */
	bool (*search)(unsigned long va, unsigned long *found);
	unsigned long va;	/* 0: by the linear map */
};

/* What the ways work with, one at a time */
static struct window window;
static struct hole hole;
static u64 *entry;

/* The word itself is kept nowhere, not even for a comparison. */
static bool is_wanted(u64 word)
{
	word ^= complement;
	OPTIMIZER_HIDE_VAR(word);
	return !~word;
}

static bool search_kernel(unsigned long va, unsigned long *found)
{
	bool done = false;
	unsigned int i;
	u64 word;

	pagefault_disable();
	for (i = 0; i < WORDS; i++) {
		__get_kernel_nofault(&word, (u64 *)va + i, u64, out);
		*found += is_wanted(word);
	}
	done = true;
out:
	pagefault_enable();
	return done;
}

static bool search_user(unsigned long va, unsigned long *found)
{
	u64 __user *page = (u64 __user *)va;
	bool done = false;
	unsigned int i;
	u64 word;

	pagefault_disable();
	if (user_read_access_begin(page, PAGE_SIZE)) {
		for (i = 0; i < WORDS; i++) {
			unsafe_get_user(word, page + i, out);
			*found += is_wanted(word);
		}
		done = true;
out:
		user_read_access_end();
	}
	pagefault_enable();
	return done;
}

static void scrape(const struct way *way)
{
	unsigned long pfn, read = 0, refused = 0, faulted = 0, found = 0;
	int node;

	for_each_online_node(node) {
		for (pfn = node_start_pfn(node); pfn < node_end_pfn(node); pfn++) {
			u64 frame = PFN_PHYS(pfn);
			unsigned long va = way->va ?: (unsigned long)phys_to_virt(frame);

			cond_resched();
			if (!pfn_valid(pfn))
				continue;
			if (way->show && !way->show(frame))
				refused++;
			else if (way->search(va, &found))
				read++;
			else
				faulted++;
		}
	}
	if (found)
		attack_succeeded("found %lu times, %lu pages read, %lu refused, %lu faulted",
				 found, read, refused, faulted);
	else
		attack_stopped("nothing found, %lu pages read, %lu refused, %lu faulted",
			       read, refused, faulted);
}

static bool is_ready(void)
{
	if (!complement)
		attack_untried("no word was given");
	return complement;
}

static void linear(void)
{
	struct way way = { .search = search_kernel };

	if (is_ready())
		scrape(&way);
}

/* Unlike write_entry() it keeps no record: the window is put back as a whole. */
static bool write_window(u64 descriptor)
{
	return !__donjon_call(DONJON_FN_TABLE_WRITE, window.entry, descriptor,
			      0, 0, 0, 0).status;
}

static bool show_normal(u64 frame)
{
	return write_window(0) && write_window(kernel_page(frame) | PTE_RDONLY);
}

/* As ioremap() maps, which itself maps no RAM */
static bool show_device(u64 frame)
{
	u64 attributes = PTE_ATTRINDX(MT_NORMAL) ^ PTE_ATTRINDX(MT_DEVICE_nGnRE);

	return write_window(0) &&
	       write_window((kernel_page(frame) ^ attributes) | PTE_RDONLY);
}

/* By a plain store, to the kernel's table or to one of ours. */
static bool show_stored(u64 frame)
{
	if (!try_store(entry, kernel_page(frame) | PTE_RDONLY))
		return false;
	dsb(ishst);
	__tlbi(vaale1is, __TLBI_VADDR(window.va, 0));
	dsb(ish);
	isb();
	return true;
}

static void scrape_window(bool (*show)(u64 frame))
{
	struct way way = { .show = show, .search = search_kernel };

	if (!is_ready() || !open_window(&window))
		return;
	entry = phys_to_virt(window.entry);
	way.va = window.va;
	scrape(&way);
	write_window(0);
}

static void map(void)
{
	scrape_window(show_normal);
}

static void device(void)
{
	scrape_window(show_device);
}

static void store(void)
{
	scrape_window(show_stored);
}

static void free_table(u64 table, u64 unused)
{
	free_page(table);
}

/* A table of level 3 in memory that plain stores reach, linked into the kernel's */
static void link(void)
{
	struct way way = { .show = show_stored, .search = search_kernel };
	struct donjon_result linked;
	u64 parent;

	if (!is_ready() || !open_window(&window))
		return;
	entry = (u64 *)get_zeroed_page(GFP_KERNEL);
	parent = free_entry(walk_to(kernel_root(), window.va, 2).entry);
	if (!entry || !parent) {
		free_page((unsigned long)entry);
		attack_untried("there is no table to work with");
		return;
	}
	undo_later(free_table, (u64)entry, 0);
	linked = write_entry(parent, virt_to_phys(entry) | DESCRIPTOR_TABLE);
	if (linked.status) {
		attack_stopped("nothing found, no page read: %s", attack_why(linked));
		return;
	}
	window.va = (window.va & PUD_MASK) + offset_in_page(parent) / sizeof(u64) * PMD_SIZE;
	way.va = window.va;
	scrape(&way);
}

static void flush_user(void)
{
	__donjon_call(DONJON_FN_FLUSH, this_process(), hole.va, hole.va + PAGE_SIZE,
		      0, 0, 0);
}

static bool show_user(u64 frame)
{
	flush_user();
	return !fill_hole(&hole, user_page(frame) | PTE_RDONLY).status;
}

static void user(void)
{
	struct way way = { .show = show_user, .search = search_user };

	if (!is_ready() || !open_hole(&hole))
		return;
	way.va = hole.va;
	scrape(&way);
	flush_user();
}

/* This process's own table: Linux takes over what a load finds there. */
static bool show_edited(u64 frame)
{
	WRITE_ONCE(*entry, user_page(frame) | PTE_RDONLY);
	flush_user();
	return true;
}

static void table(void)
{
	struct way way = { .show = show_edited, .search = search_user };
	struct step leaf;

	if (!is_ready() || !open_hole(&hole))
		return;
	if (put_user(0UL, (u64 __user *)hole.va)) {
		attack_untried("there is no page to work with");
		return;
	}
	leaf = walk_to(virt_to_phys(current->mm->pgd), hole.va, 3);
	entry = phys_to_virt(leaf.entry);
	way.va = hole.va;
	scrape(&way);
	WRITE_ONCE(*entry, leaf.value);
	flush_user();
}

DONJON_ATTACK("scrape-memory", "linear", linear);
DONJON_ATTACK("scrape-memory", "map", map);
DONJON_ATTACK("scrape-memory", "device", device);
DONJON_ATTACK("scrape-memory", "user", user);
DONJON_ATTACK("scrape-memory", "table", table);
DONJON_ATTACK("scrape-memory", "store", store);
DONJON_ATTACK("scrape-memory", "link", link);
