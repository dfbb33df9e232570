// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages while another CPU works on the pages that they are in: it rewrites
 * what is sent, or gives the page away that is received into.
 */
#include <linux/compiler.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <asm/pgtable.h>

#include "common/block.h"
#include "compartment.h"

#define SECONDS		60
/* Most bytes of a message, and where a compartment has what it shares */
#define MOST		1024
#define SHARED		(DATA + PMD_SIZE)
/* What another CPU writes, each byte of a page the same; and what it does not */
#define ONE		0x11
#define OTHER		0x22
#define NEITHER		0xee
/* Messages to rewrite on their way, and refusals to see */
#define ENOUGH		300

static bool share(u64 handle, u64 va, const void *page)
{
	struct donjon_result result;

	result = compartment_call(DONJON_FN_COMPARTMENT_SHARE, handle, va, virt_to_phys(page), 0);
	if (result.status)
		attack_untried("the page is not shared: %s", attack_why(result));
	return !result.status;
}

/* Two pages of a sender's, and one of its receiver's. */
static u8 *pages[3];
/* How often one of the first two was rewritten */
static unsigned long times;

static void rewrite(void)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		memset(pages[i / 2 % 2], i % 2 ? ONE : OTHER, PAGE_SIZE);
		WRITE_ONCE(times, times + 1);
	}
}

/* Each byte is one that stood there at some time, and there are no more of them. */
static bool is_honest(const u8 *message, unsigned int bytes)
{
	unsigned int i;

	for (i = 0; i < bytes; i++)
		if (message[i] != ONE && message[i] != OTHER)
			return false;
	return !memchr_inv(message + bytes, NEITHER, PAGE_SIZE - bytes);
}

/* Lengths of all kinds, many of them over the border of the two pages. */
static void send_rewritten(const struct channel *channel)
{
	unsigned int bytes = 1, at = 0, changed = 0;
	bool honest = true;
	unsigned long before;

	while (is_beside() && honest && changed < ENOUGH) {
		bytes = bytes * 5 % MOST + 1;
		at = (at + 77) % MOST;
		memset(pages[2], NEITHER, PAGE_SIZE);
		before = READ_ONCE(times);
		if (!message_has(send_message(channel, SHARED + PAGE_SIZE - at, bytes), bytes) ||
		    !message_has(receive_message(channel, SHARED, MOST), bytes))
			return attack_succeeded("%u bytes were asked for, others moved", bytes);
		/* The host may have forgotten the other CPU for a while */
		changed += READ_ONCE(times) - before > 1;
		honest = is_honest(pages[2], bytes);
	}
	if (!honest)
		attack_succeeded("a message of %u bytes has what was never there", bytes);
	else if (changed)
		attack_stopped("each message is what was there");
	else
		attack_untried("no message was rewritten on its way");
}

static bool share_pages(const struct channel *channel)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		if (!pages[i]) {
			attack_untried("there is no memory");
			return false;
		}
	}
	memset(pages[0], ONE, PAGE_SIZE);
	memset(pages[1], OTHER, PAGE_SIZE);
	return share(channel->from, SHARED, pages[0]) &&
	       share(channel->from, SHARED + PAGE_SIZE, pages[1]) &&
	       share(channel->to, SHARED, pages[2]);
}

static void contents(void)
{
	struct channel channel;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = (u8 *)__get_free_page(GFP_KERNEL);
	if (open_channel(&channel)) {
		if (share_pages(&channel) && begin_beside(rewrite, SECONDS)) {
			send_rewritten(&channel);
			end_beside();
		}
		/* They have the pages no more */
		destroy_compartment(channel.from);
		destroy_compartment(channel.to);
	}
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		free_page((unsigned long)pages[i]);
}

/* A block with the page that is received into, and whether it is a pool of tables. */
static u64 *block;
static bool is_pool;
static struct donjon_result refusal;
static unsigned long refusals;

static void give_away(void)
{
	struct donjon_result result;

	if (READ_ONCE(is_pool))
		return;
	do {
		result = compartment_call(DONJON_FN_POOL_ADD, virt_to_phys(block),
					  DONJON_POOL_TABLES, 0, 0);
	} while (result.status == DONJON_ERR_BUSY);
	if (result.status) {
		refusal = result;
		WRITE_ONCE(refusals, refusals + 1);
	} else {
		WRITE_ONCE(is_pool, true);
	}
}

static void take_back(u64 handle, u64 unused)
{
	struct donjon_result result = {};

	destroy_compartment(handle);
	if (is_pool)
		result = compartment_call(DONJON_FN_POOL_REMOVE, virt_to_phys(block), 0, 0, 0);
	/* What is still protected is lost */
	if (!result.status)
		free_attack_block(virt_to_page(block), DONJON_RESERVE_TABLES);
}

/* The last frame of a pool is the last one to become a table. */
static u64 *last_word(void)
{
	return block + SZ_2M / sizeof(u64) - 1;
}

static void receive_given(const struct channel *channel)
{
	u64 place = SHARED + PAGE_SIZE - sizeof(u64);
	bool have, pool;

	do {
		/* What is received from here on goes to a pool */
		pool = READ_ONCE(is_pool);
		have = message_has(send_message(channel, DATA, sizeof(u64)), sizeof(u64)) &&
		       message_has(receive_message(channel, place, sizeof(u64)), sizeof(u64));
	} while (have && !pool && is_beside() && READ_ONCE(refusals) < ENOUGH);
	if (!have)
		attack_untried("a message did not come");
	else if (pool && READ_ONCE(*last_word()) == SECRET)
		attack_succeeded("a message is in a frame of a pool");
	else if (pool)
		attack_succeeded("the block of a shared page is a pool");
	else if (READ_ONCE(refusals))
		attack_stopped("refused: %s", attack_why(refusal));
	else
		attack_untried("the other CPU did nothing");
	/* A frame of a pool is zero */
	run_compartment(channel->to, STORE, place, 0, 0);
}

static void page_to_pool(void)
{
	struct channel channel;
	struct page *page;

	if (!open_channel(&channel))
		return;
	page = attack_block(DONJON_RESERVE_TABLES);
	if (!page)
		return attack_untried("there is no block");
	block = page_address(page);
	is_pool = false;
	refusals = 0;
	undo_later(take_back, channel.to, 0);
	if (share(channel.to, SHARED, PTR_ALIGN_DOWN(last_word(), PAGE_SIZE)) &&
	    begin_beside(give_away, SECONDS)) {
		receive_given(&channel);
		end_beside();
	}
}

DONJON_ATTACK("rewrite-message", "contents", contents);
DONJON_ATTACK("rewrite-message", "page-to-pool", page_to_pool);
