// SPDX-License-Identifier: GPL-2.0-only
/*
 * Give the inner domain a block that devices reach, and have a disk write to it
 * afterwards. A request that the disk has taken before would land there as well.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "attack.h"
#include "device/disk.h"

#define BLOCK_ORDER	get_order(SZ_2M)
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
