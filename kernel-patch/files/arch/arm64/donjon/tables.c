// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores to translation tables, by the inner domain.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/export.h>
#include <linux/instrumentation.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/printk.h>

#include <asm/donjon.h>
#include <asm/donjon_tables.h>
#include <asm/memory.h>

#include "tables.h"

/*
 * Not __ro_after_init: the hand-over comes after that. To forge it gives
 * nothing: false leads to stores that fault, true to calls that are refused.
 */
bool donjon_live;
EXPORT_SYMBOL_GPL(donjon_live);

/* Say what the inner domain did not want to do, and for whom. */
void donjon_table_refused(const char *what, u64 address, u64 value,
			  struct donjon_result result, unsigned long caller)
{
	result.value >>= 32;
	pr_err_ratelimited("%s %#llx, value %#llx: error %ld, %s, for %pS\n",
			   what, address, value, result.status,
			   donjon_reason(result), (void *)caller);
}

/*
 * Descriptors are also made up in variables, on stacks in the vmalloc range.
 * Tables are in the linear map; nothing else there holds descriptors.
 */
static __always_inline bool is_table(const u64 *entry)
{
	return __is_lm_address((unsigned long)entry);
}

/* Replace one entry, at once; returns what was there. */
static noinstr u64 replace(u64 *entry, phys_addr_t pa, u64 value,
			   unsigned long caller)
{
	u64 old = READ_ONCE(*entry);
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_TABLE_WRITE, pa, value, 0, 0, 0, 0);
	if (likely(!result.status))
		return result.value;

	/* A single write has no index, so the reason is all of the value */
	result.value <<= 32;
	instrumentation_begin();
	donjon_table_refused("table entry", pa, value, result, caller);
	instrumentation_end();
	return old;
}

noinstr void donjon_write_entry(u64 *entry, u64 value)
{
	phys_addr_t pa = __lm_to_phys((u64)entry);

	if (unlikely(!is_table(entry))) {
		WRITE_ONCE(*entry, value);
		return;
	}
	if (donjon_lazy_append(pa, value))
		return;
	if (READ_ONCE(*entry) != value)
		replace(entry, pa, value, _RET_IP_);
}
EXPORT_SYMBOL_GPL(donjon_write_entry);

noinstr void donjon_write_table_entry(u64 *entry, u64 value)
{
	phys_addr_t pa = __lm_to_phys((u64)entry);

	if (unlikely(!is_table(entry))) {
		WRITE_ONCE(*entry, value);
		return;
	}
	if (!(value & PTE_VALID) && donjon_lazy_append(pa, value))
		return;
	__donjon_lazy_flush();
	donjon_pool_linked(value);
	replace(entry, pa, value, _RET_IP_);
}
EXPORT_SYMBOL_GPL(donjon_write_table_entry);

noinstr u64 __donjon_xchg_entry(u64 *entry, u64 value)
{
	phys_addr_t pa = __lm_to_phys((u64)entry);
	u64 old;

	if (unlikely(!is_table(entry)))
		return xchg_relaxed(entry, value);

	donjon_lazy_settle(pa);
	old = READ_ONCE(*entry);
	if (old == value || donjon_lazy_append(pa, value))
		return old;
	return replace(entry, pa, value, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__donjon_xchg_entry);

noinstr u64 __donjon_cmpxchg_entry(u64 *entry, u64 old, u64 value)
{
	phys_addr_t pa = __lm_to_phys((u64)entry);
	u64 now;

	if (unlikely(!is_table(entry)))
		return cmpxchg_relaxed(entry, old, value);

	donjon_lazy_settle(pa);
	now = READ_ONCE(*entry);
	if (now != old || now == value)
		return now;
	if (!donjon_lazy_append(pa, value))
		replace(entry, pa, value, _RET_IP_);
	return old;
}
EXPORT_SYMBOL_GPL(__donjon_cmpxchg_entry);

/* The kernel's root: the inner domain writes both halves. */
noinstr void donjon_write_root_entry(u64 *entry, u64 value)
{
	__donjon_lazy_flush();
	donjon_pool_linked(value);
	replace(entry, __pa_symbol_nodebug(entry), value, _RET_IP_);
}
