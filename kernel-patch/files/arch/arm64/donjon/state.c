// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the inner domain writes the tables, and the message about a store that
 * it refused.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/export.h>
#include <linux/printk.h>

#include <asm/donjon.h>
#include <asm/donjon_tables.h>

#include "state.h"

/*
 * Not __ro_after_init, because the hand-over comes after that. A forged value
 * helps no attack: false leads to stores that fault, true to calls that the inner
 * domain refuses.
 */
bool donjon_live;
EXPORT_SYMBOL_GPL(donjon_live);

void donjon_table_refused(const char *what, u64 address, u64 value,
			  struct donjon_result result, unsigned long caller)
{
	result.value >>= 32;
	pr_err_ratelimited("%s %#llx, value %#llx: error %ld, %s, for %pS\n",
			   what, address, value, result.status,
			   donjon_reason(result), (void *)caller);
}
