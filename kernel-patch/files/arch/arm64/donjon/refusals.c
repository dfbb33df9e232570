// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/security/donjon/refusals: the last calls that the inner domain
 * refused. And the words for a refusal.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/security.h>
#include <linux/seq_file.h>

#include <asm/donjon.h>

#include "files.h"

/* As the inner domain writes it. */
struct refusal {
	u64 sequence;
	u32 function;
	u32 cpu;
	s64 error;
	u64 value;
	u64 caller;
	u64 a1;
	u64 a2;
};

/* The next cursor comes first in the page, the records after it. */
struct refusals_page {
	u64 cursor;
	struct refusal records[(PAGE_SIZE - sizeof(u64)) / sizeof(struct refusal)];
};

static const char * const function_names[] = DONJON_FUNCTION_NAMES;
static const char * const reasons[] = DONJON_REASON_WORDS;

const char *donjon_reason(struct donjon_result result)
{
	u32 reason;

	switch (result.status) {
	case DONJON_ERR_UNKNOWN_FUNCTION:
		return "no such function";
	case DONJON_ERR_INVALID_ARGUMENT:
		return "invalid argument";
	case DONJON_ERR_BAD_ADDRESS:
		return "bad address";
	case DONJON_ERR_INCOMPATIBLE_VERSION:
		return "incompatible version";
	case DONJON_ERR_BUSY:
		return "busy";
	case DONJON_ERR_FIRMWARE:
		return "firmware error";
	case DONJON_ERR_BAD_INSTRUCTION:
		return "instruction not allowed";
	case DONJON_ERR_NO_MEMORY:
		return "pool is empty";
	case DONJON_ERR_REFUSED:
		/* Of a list, the index of the entry stands in the lower half */
		reason = upper_32_bits(result.value) ?: lower_32_bits(result.value);
		if (reason < ARRAY_SIZE(reasons))
			return reasons[reason];
		break;
	}
	return "unknown error";
}

const char *donjon_function_name(unsigned long function)
{
	return function_names[min(function, DONJON_FUNCTIONS)];
}

static void show_record(struct seq_file *file, const struct refusal *record)
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
		if (result.status || result.value <= sizeof(page->cursor))
			break;
		cursor = page->cursor;
		count = (result.value - sizeof(page->cursor)) / sizeof(struct refusal);
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
