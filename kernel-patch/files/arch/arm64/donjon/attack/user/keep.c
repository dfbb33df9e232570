// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keep a mapping of memory that becomes the inner domain's. The inner domain
 * alone knows which of its tables have a page.
 */
#include <linux/io.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "common/block.h"

static void return_block(u64 block, u64 in_pool)
{
	struct donjon_result result = {};

	if (in_pool)
		result = __donjon_call(DONJON_FN_POOL_REMOVE, block, 0, 0, 0, 0, 0);
	/* What is still protected is lost */
	if (!result.status)
		free_attack_block(phys_to_page(block), DONJON_RESERVE_TABLES);
}

static struct donjon_result add_block(u64 block, u64 kind)
{
	struct donjon_result result;

	do {
		result = __donjon_call(DONJON_FN_POOL_ADD, block, kind, 0, 0, 0, 0);
	} while (result.status == DONJON_ERR_BUSY);
	return result;
}

static void keep(u64 kind)
{
	struct donjon_result result;
	struct page *page;
	struct hole hole;
	u64 block;

	if (!open_hole(&hole))
		return;
	page = attack_block(DONJON_RESERVE_TABLES);
	if (!page) {
		attack_untried("there is no block");
		return;
	}
	block = page_to_phys(page);
	result = fill_hole(&hole, user_page(block));
	show_hole(&hole);
	if (result.status || !try_user_store(&hole, 1)) {
		return_block(block, false);
		attack_untried("the page is not mapped: %s", attack_why(result));
		return;
	}
	result = add_block(block, kind);
	undo_later(return_block, block, !result.status);
	if (result.status)
		attack_untried("the block is no pool: %s", attack_why(result));
	else if (try_user_store(&hole, 1))
		attack_succeeded("a process writes a frame of the pool");
	else
		attack_stopped("a store of the process faults");
}

static void tables(void)
{
	keep(DONJON_POOL_TABLES);
}

static void text(void)
{
	keep(DONJON_POOL_TEXT);
}

DONJON_ATTACK("keep-user-mapping", "tables", tables);
DONJON_ATTACK("keep-user-mapping", "text", text);
