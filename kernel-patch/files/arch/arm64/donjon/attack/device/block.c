// SPDX-License-Identifier: GPL-2.0-only
/*
 * Give the inner domain a block that devices reach, and have a disk write to it
 * afterwards. A request that the disk has taken before would land there as well.
 */
#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "attack.h"
#include "device/disk.h"

#define BLOCK_ORDER	get_order(SZ_2M)
#define TRIES		50
/* No valid descriptor */
#define MARK		0xde71ce00de71ce00UL

static struct donjon_result block_call(unsigned long function, u64 block, u64 kind)
{
	struct donjon_result result;

	do {
		result = __donjon_call(function, block, kind, 0, 0, 0, 0);
	} while (result.status == DONJON_ERR_BUSY);
	return result;
}

static void remove_block(u64 block, u64 page)
{
	if (!block_call(DONJON_FN_POOL_REMOVE, block, 0).status)
		__free_pages((struct page *)page, BLOCK_ORDER);
}

static void take(u64 kind)
{
	struct page *block = alloc_pages(GFP_KERNEL, BLOCK_ORDER);
	u64 *page = (u64 *)get_zeroed_page(GFP_KERNEL);
	struct donjon_result result;

	if (!block || !page) {
		attack_untried("no memory");
		return;
	}
	if (!disk_works()) {
		__free_pages(block, BLOCK_ORDER);
		free_page((unsigned long)page);
		return;
	}
	page[1] = MARK;
	disk_write(DISK_MARKED, __pa(page));
	result = block_call(DONJON_FN_POOL_ADD, page_to_phys(block), kind);
	if (result.status) {
		attack_stopped("%s", attack_why(result));
		__free_pages(block, BLOCK_ORDER);
	} else {
		undo_later(remove_block, page_to_phys(block), (u64)block);
		disk_read(DISK_MARKED, page_to_phys(block));
		disk_look(page_to_phys(block), page);
		if (page[1] == MARK)
			attack_succeeded("the disk wrote to a frame of the inner domain's");
		else
			attack_stopped("the block is taken, and the disk does not reach it");
	}
	free_page((unsigned long)page);
}

static void tables(void)
{
	take(DONJON_POOL_TABLES);
}

static void landed(struct bio *bio)
{
	complete(bio->bi_private);
}

/*
 * Offer a block while the disk has a request for its first frame, which it answers
 * late. Returns what the inner domain says; `*was_late` says whether the answer came
 * behind that.
 */
static struct donjon_result offer_in_flight(u64 block, bool *was_late)
{
	DECLARE_COMPLETION_ONSTACK(answer);
	struct bio *bio = disk_request(DISK_MARKED, block);
	struct donjon_result result;

	bio->bi_private = &answer;
	bio->bi_end_io = landed;
	submit_bio(bio);
	result = block_call(DONJON_FN_POOL_ADD, block, DONJON_POOL_TABLES);
	*was_late = !completion_done(&answer);
	wait_for_completion(&answer);
	bio_put(bio);
	return result;
}

/* One try. True if there is no need for another one: what came of it has been said. */
static bool take_in_flight(void)
{
	struct page *block = alloc_pages(GFP_KERNEL, BLOCK_ORDER);
	struct donjon_result result;
	const u64 *words;
	bool was_late;

	if (!block) {
		attack_untried("no memory");
		return true;
	}
	words = page_address(block);
	result = offer_in_flight(page_to_phys(block), &was_late);
	if (result.status) {
		__free_pages(block, BLOCK_ORDER);
		if (was_late)
			attack_stopped("%s", attack_why(result));
		return was_late;
	}
	if (was_late && READ_ONCE(words[1]) == MARK) {
		undo_later(remove_block, page_to_phys(block), (u64)block);
		attack_succeeded("a request from before has written to a free table");
		return true;
	}
	remove_block(page_to_phys(block), (u64)block);
	return false;
}

/* QEMU delays requests for this disk, so one of the first tries is answered late. */
static void in_flight(void)
{
	u64 *page = (u64 *)get_zeroed_page(GFP_KERNEL | __GFP_NOFAIL);
	unsigned int tries = 0;

	if (disk_works()) {
		page[1] = MARK;
		disk_write(DISK_MARKED, __pa(page));
		while (tries < TRIES && !take_in_flight())
			tries++;
		if (tries == TRIES)
			attack_untried("no request came behind the call");
	}
	free_page((unsigned long)page);
}

static void text(void)
{
	take(DONJON_POOL_TEXT);
}

static void private(void)
{
	take(DONJON_POOL_PRIVATE);
}

DONJON_ATTACK("take-window-block", "tables", tables);
DONJON_ATTACK("take-window-block", "text", text);
DONJON_ATTACK("take-window-block", "private", private);
DONJON_ATTACK("take-window-block", "in-flight", in_flight);
