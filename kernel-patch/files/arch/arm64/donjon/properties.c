// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks the VideoCore of a Raspberry Pi for properties. In the DMA profile "strict" the
 * inner domain has its mailbox, and passes on what only asks.
 */
#include <linux/array_size.h>
#include <linux/delay.h>
#include <linux/donjon.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/donjon.h>

#include "files.h"

/* How long the firmware may take */
#define PATIENCE_MS	1000

bool donjon_has_mailbox(void)
{
	return donjon_present() &&
	       donjon_information(DONJON_INFO_DMA_PROFILE) == DONJON_DMA_STRICT;
}
EXPORT_SYMBOL_GPL(donjon_has_mailbox);

static const u32 passed_on[] = DONJON_PROPERTIES;

/*
 * Whether @tags is one tag that the inner domain passes on. Drivers ask for others at
 * each boot. They get an error here, so that a refusal on record is an attack.
 */
static bool is_passed_on(const u32 *tags, size_t size)
{
	int i;

	if (size < 4 * sizeof(*tags) || tags[1] != size - 3 * sizeof(*tags))
		return false;
	for (i = 0; i < ARRAY_SIZE(passed_on); i++)
		if (tags[0] == passed_on[i])
			return true;
	return false;
}

/*
 * Sends @tags, one tag with its buffer, and puts the answer in its place. @answer is
 * the firmware's word about the message.
 */
int donjon_properties(void *tags, size_t size, u32 *answer)
{
	struct donjon_result result;
	int wait = 0;
	void *page;

	if (!is_passed_on(tags, size)) {
		pr_info_ratelimited("donjon: property %#x is not passed on\n",
				    size < sizeof(u32) ? 0 : *(u32 *)tags);
		return -EPERM;
	}
	if (size > DONJON_PROPERTIES_MAX)
		return -E2BIG;
	page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	memcpy(page, tags, size);
	while (true) {
		result = donjon_call(DONJON_FN_PROPERTIES, virt_to_phys(page),
				     size, 0, 0, 0, 0);
		if (result.status != DONJON_ERR_BUSY || wait++ == PATIENCE_MS)
			break;
		usleep_range(900, 1100);
	}
	*answer = result.value;
	memcpy(tags, page, size);
	free_page((unsigned long)page);
	switch (result.status) {
	case 0:
		return 0;
	case DONJON_ERR_BUSY:
		return -ETIMEDOUT;
	case DONJON_ERR_REFUSED:
		return -EPERM;
	default:
		return -EINVAL;
	}
}
EXPORT_SYMBOL_GPL(donjon_properties);
