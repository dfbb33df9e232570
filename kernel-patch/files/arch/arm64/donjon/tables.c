// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores to the kernel's translation tables, by the inner domain.
 */
#include <linux/export.h>
#include <linux/instrumentation.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/preempt.h>

#include <asm/donjon.h>
#include <asm/donjon_tables.h>
#include <asm/memory.h>

#include "queue.h"
#include "state.h"

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

/*
 * Whether the inner domain writes the tables, and until the call ends or the
 * store is made: the hand-over comes between two tasks, not into one.
 */
static __always_inline bool begin_store(void)
{
	preempt_disable_notrace();
	return donjon_live;
}

static __always_inline void end_store(void)
{
	preempt_enable_notrace();
}

noinstr void donjon_write_entry(u64 *entry, u64 value)
{
	phys_addr_t pa = __lm_to_phys((u64)entry);

	if (!begin_store())
		WRITE_ONCE(*entry, value);
	else if (!donjon_queue_append(pa, value) && READ_ONCE(*entry) != value)
		replace(entry, pa, value, _RET_IP_);
	end_store();
}
EXPORT_SYMBOL_GPL(donjon_write_entry);

noinstr void donjon_write_table_entry(u64 *entry, u64 value)
{
	if (!begin_store()) {
		WRITE_ONCE(*entry, value);
	} else {
		donjon_pool_linked(value);
		replace(entry, __lm_to_phys((u64)entry), value, _RET_IP_);
	}
	end_store();
}
EXPORT_SYMBOL_GPL(donjon_write_table_entry);

/*
 * No hardware writes tables here and the page table lock is held, so what is
 * atomic elsewhere is a read and a store.
 */
noinstr u64 __donjon_xchg_entry(u64 *entry, u64 value)
{
	phys_addr_t pa = __lm_to_phys((u64)entry);
	u64 old = READ_ONCE(*entry);

	if (!begin_store())
		old = xchg_relaxed(entry, value);
	else if (old != value && !donjon_queue_append(pa, value))
		old = replace(entry, pa, value, _RET_IP_);
	end_store();
	return old;
}
EXPORT_SYMBOL_GPL(__donjon_xchg_entry);

/* The kernel's root: the inner domain writes both halves. */
noinstr void donjon_write_root_entry(u64 *entry, u64 value)
{
	donjon_pool_linked(value);
	replace(entry, __pa_symbol_nodebug(entry), value, _RET_IP_);
}
