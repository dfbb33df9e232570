// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks that become private while a frame of text is on its way. All entries of
 * a table show that frame, so that each of them needs a closer look.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "common/block.h"
#include "compartment/compartment.h"

/* One whole table at least */
#define SHOWN		(2 * PTRS_PER_PTE)
/* Blocks to choose from */
#define MOST		512

static void *map_often(u64 frame)
{
	struct page **pages = kmalloc_array(SHOWN, sizeof(*pages), GFP_KERNEL);
	void *va = NULL;

	if (pages) {
		memset_p((void **)pages, phys_to_page(frame), SHOWN);
		va = vmap(pages, SHOWN, VM_MAP, PAGE_KERNEL_RO);
	}
	kfree(pages);
	return va;
}

/* All together; then they come back. What does not is not freed. */
static void offer(struct page **blocks, unsigned int count)
{
	struct donjon_result result = {};
	unsigned int i;

	for (i = 0; i < count && !result.status; i++)
		result = make_private(page_to_phys(blocks[i]), i + 1 < count);
	if (result.status)
		return attack_untried("%s", attack_why(result));
	for (i = 0; i < count; i++) {
		result = compartment_call_whole(DONJON_FN_POOL_REMOVE,
						page_to_phys(blocks[i]), 0, 0, 0);
		if (result.status)
			return attack_untried("%s", attack_why(result));
		free_attack_block(blocks[i], DONJON_RESERVE_COMPARTMENTS);
	}
	attack_stopped("%u blocks", count);
}

/*
 * The inner domain looks closer at what agrees with the blocks wherever they
 * agree: far from each other they agree in little.
 */
static bool agrees(struct page **blocks, unsigned int count, u64 frame)
{
	u64 first = page_to_phys(blocks[0]), differ = SZ_2M - 1;
	unsigned int i;

	for (i = 1; i < count; i++)
		differ |= first ^ page_to_phys(blocks[i]);
	return !((first ^ frame) & ~differ);
}

/* The lowest and the highest come first. */
static unsigned int take_blocks(struct page **blocks)
{
	unsigned int count;

	for (count = 0; count < MOST; count++) {
		blocks[count] = attack_block(DONJON_RESERVE_COMPARTMENTS);
		if (!blocks[count])
			break;
		if (blocks[count] < blocks[0])
			swap(blocks[count], blocks[0]);
		if (count && blocks[count] > blocks[1])
			swap(blocks[count], blocks[1]);
	}
	return count;
}

static void offer_all(u64 frame)
{
	struct page **blocks = kmalloc_array(MOST, sizeof(*blocks), GFP_KERNEL);
	unsigned int count = blocks ? take_blocks(blocks) : 0;

	while (count > DONJON_POOL_TOGETHER_MAX)
		free_attack_block(blocks[--count], DONJON_RESERVE_COMPARTMENTS);
	if (count < 2 || !agrees(blocks, count, frame)) {
		attack_untried("%u blocks do not agree with the frame", count);
		while (count--)
			free_attack_block(blocks[count], DONJON_RESERVE_COMPARTMENTS);
	} else {
		offer(blocks, count);
	}
	kfree(blocks);
}

static void give_blocks_while_sealing(void)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct window window;
	const u64 *text;
	void *shown;

	if (!page)
		return attack_untried("there is no memory");
	if (!open_window(&window)) {
		__free_page(page);
		return;
	}
	text = next_text_frame(&window, page_to_phys(page));
	shown = text ? map_often(virt_to_phys(text)) : NULL;
	if (shown && begin_seal(&window, page_to_phys(page)))
		offer_all(virt_to_phys(text));
	else
		attack_untried("no frame is on its way to text");
	/* Another page is there now, so the rest of the seal is refused */
	write_entry(window.entry, 0);
	seal_page(window.va);
	vunmap(shown);
	__free_page(page);
}

DONJON_ATTACK("longest", "give-blocks-while-sealing", give_blocks_while_sealing);
