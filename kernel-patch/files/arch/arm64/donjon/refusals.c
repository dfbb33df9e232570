// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/security/donjon/refusals: the last calls that the inner domain
 * refused, and the words for a refusal.
 */
#include <linux/array_size.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/security.h>
#include <linux/seq_file.h>

#include <asm/donjon.h>

#include "files.h"

struct refusals_page {
	struct donjon_reply_header header;
	struct donjon_refusal_record records[(PAGE_SIZE - sizeof(struct donjon_reply_header)) /
					     sizeof(struct donjon_refusal_record)];
};

static const char * const function_names[] = DONJON_FUNCTION_NAMES;
static const char * const error_words[] = DONJON_ERROR_WORDS;
static const char * const reason_words[] = DONJON_REASON_WORDS;

const char *donjon_reason(struct donjon_result result)
{
	unsigned long error = -result.status;
	const char *words = NULL;
	u32 reason;

	if (result.status == DONJON_ERR_REFUSED) {
		/* Of a list, the index of the entry stands in the lower half */
		reason = upper_32_bits(result.value) ?: lower_32_bits(result.value);
		if (reason < ARRAY_SIZE(reason_words))
			words = reason_words[reason];
	} else if (error < ARRAY_SIZE(error_words)) {
		words = error_words[error];
	}
	return words ?: "unknown error";
}
EXPORT_SYMBOL_GPL(donjon_reason);

const char *donjon_function_name(unsigned long function)
{
	return function_names[min(function, DONJON_FUNCTIONS)];
}

static void show_record(struct seq_file *file, const struct donjon_refusal_record *record)
{
	struct donjon_result result = {
		.status = record->error,
		.value = record->value,
	};

	seq_printf(file, "%llu %u %s \"%s\" %#llx %pS %#llx %#llx\n", record->sequence,
		   record->cpu, donjon_function_name(record->function),
		   donjon_reason(result), record->value, (void *)record->caller,
		   record->a1, record->a2);
}

static int refusals_show(struct seq_file *file, void *unused)
{
	struct refusals_page *page;
	struct donjon_result result;
	u64 cursor = 0;
	int i, count;

	page = (struct refusals_page *)__get_free_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	seq_puts(file, "sequence cpu function reason value caller a1 a2\n");
	for (;;) {
		result = donjon_call(DONJON_FN_REFUSALS, cursor, __pa(page),
				     PAGE_SIZE, 0, 0, 0);
		if (result.status || result.value <= sizeof(page->header))
			break;
		cursor = page->header.next;
		count = (result.value - sizeof(page->header)) / sizeof(page->records[0]);
		for (i = 0; i < min_t(int, count, ARRAY_SIZE(page->records)); i++)
			show_record(file, &page->records[i]);
	}
	free_page((unsigned long)page);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(refusals);

void __init donjon_refusals_init(struct dentry *directory)
{
	securityfs_create_file("refusals", 0400, directory, NULL, &refusals_fops);
}
