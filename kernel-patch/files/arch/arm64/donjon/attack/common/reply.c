// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that write into memory of the caller's, told to write elsewhere. A record
 * of a refusal has two words that the caller has chosen.
 */
#include <linux/gfp.h>
#include <linux/io.h>

#include "attack.h"

struct page_of_records {
	struct donjon_reply_header header;
	struct donjon_refusal_record records[(PAGE_SIZE - sizeof(struct donjon_reply_header)) /
					     sizeof(struct donjon_refusal_record)];
};

/* Number of the last refusal with these words; 0 if there is none. */
static u64 number_of(u64 words)
{
	struct page_of_records *page = (void *)get_zeroed_page(GFP_KERNEL);
	struct donjon_result result;
	u64 cursor = 0, number = 0;
	int i, count;

	if (!page)
		return 0;
	for (;;) {
		result = __donjon_call(DONJON_FN_REFUSALS, cursor, virt_to_phys(page),
				       PAGE_SIZE, 0, 0, 0);
		if (result.status || result.value <= sizeof(page->header))
			break;
		cursor = page->header.next;
		count = (result.value - sizeof(page->header)) / sizeof(page->records[0]);
		for (i = 0; i < count; i++)
			if (page->records[i].a1 == words)
				number = page->records[i].sequence;
	}
	free_page((unsigned long)page);
	return number;
}

struct donjon_result reply_refusal(u64 pa, u64 words)
{
	struct donjon_result untried = { .status = -ENODATA };
	u64 number;

	/* No entry has such an address */
	__donjon_call(DONJON_FN_TABLE_WRITE, words, words, 0, 0, 0, 0);
	number = number_of(words);
	if (!number)
		return untried;
	return __donjon_call(DONJON_FN_REFUSALS, number - 1, pa - REPLY_HEADER,
			     REPLY_HEADER + 2 * sizeof(u64), 0, 0, 0);
}

struct donjon_result reply_log(u64 pa)
{
	return __donjon_call(DONJON_FN_LOG, 0, pa, 64, 0, 0, 0);
}
