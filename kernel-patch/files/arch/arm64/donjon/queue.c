// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stores of a lazy MMU region go to the inner domain together. Each CPU has a
 * list, which only the task that opened the region uses: preemption is off
 * until it leaves, and interrupts store on their own.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/export.h>
#include <linux/init.h>
#include <linux/instrumentation.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include <asm/barrier.h>
#include <asm/donjon.h>
#include <asm/donjon_tables.h>
#include <asm/memory.h>

#include "tables.h"

struct donjon_store {
	u64 entry;
	u64 value;
};

/* Its size is its alignment, so it is within one page. */
struct donjon_list {
	struct donjon_store stores[DONJON_LIST_MAX];
} __aligned(DONJON_LIST_MAX * sizeof(struct donjon_store));

struct donjon_queue {
	unsigned int depth;	/* regions that are open */
	unsigned int count;	/* stores in the list */
	u64 seen;		/* a bit per entry in the list, modulo 64 */
	phys_addr_t list;
};

static DEFINE_PER_CPU(struct donjon_list, donjon_list);
static DEFINE_PER_CPU(struct donjon_queue, donjon_queue);

/*
 * The depth is not zero only while the opener runs, so the answer holds
 * although preemption may be on.
 */
static __always_inline bool in_region(void)
{
	return in_task() && this_cpu_read(donjon_queue.depth);
}

static __always_inline u64 seen_bit(phys_addr_t entry)
{
	return BIT_ULL((entry / sizeof(u64)) % 64);
}

static noinstr void flush(struct donjon_queue *queue, unsigned long caller)
{
	struct donjon_store *stores = raw_cpu_ptr(&donjon_list)->stores;
	unsigned int count = queue->count;
	struct donjon_result result;
	unsigned int done = 0;

	while (done < count) {
		result = __donjon_call(DONJON_FN_TABLE_WRITE_LIST,
				       queue->list + done * sizeof(*stores),
				       count - done, 0, 0, 0, 0);
		if (likely(!result.status)) {
			/* Not all of them, when that takes long */
			done += result.value;
			continue;
		}
		/* Without the refused one, the others are still wanted */
		if (result.status == DONJON_ERR_REFUSED)
			done += min(lower_32_bits(result.value), count - done - 1);
		instrumentation_begin();
		donjon_table_refused("table entry", stores[done].entry,
				     stores[done].value, result, caller);
		instrumentation_end();
		done++;
	}
	queue->count = 0;
	queue->seen = 0;
	/* Kernel entries are usable from here on */
	dsb(ishst);
	isb();
}

noinstr bool donjon_lazy_append(phys_addr_t entry, u64 value)
{
	struct donjon_queue *queue;
	struct donjon_store *stores;

	if (!in_region())
		return false;

	queue = raw_cpu_ptr(&donjon_queue);
	stores = raw_cpu_ptr(&donjon_list)->stores;
	stores[queue->count].entry = entry;
	stores[queue->count].value = value;
	queue->seen |= seen_bit(entry);
	if (++queue->count == DONJON_LIST_MAX)
		flush(queue, _RET_IP_);
	return true;
}

static noinstr bool pending(phys_addr_t entry)
{
	struct donjon_queue *queue = raw_cpu_ptr(&donjon_queue);
	struct donjon_store *stores = raw_cpu_ptr(&donjon_list)->stores;
	unsigned int i;

	if (!(queue->seen & seen_bit(entry)))
		return false;
	for (i = 0; i < queue->count; i++)
		if (stores[i].entry == entry)
			return true;
	return false;
}

noinstr void donjon_lazy_settle(phys_addr_t entry)
{
	if (in_region() && pending(entry))
		flush(raw_cpu_ptr(&donjon_queue), _RET_IP_);
}

bool __donjon_pending(const u64 *entry)
{
	return in_region() && __is_lm_address((unsigned long)entry) &&
	       pending(__lm_to_phys((u64)entry));
}
EXPORT_SYMBOL_GPL(__donjon_pending);

noinstr void __donjon_lazy_flush(void)
{
	struct donjon_queue *queue;

	if (!in_region())
		return;
	queue = raw_cpu_ptr(&donjon_queue);
	if (queue->count)
		flush(queue, _RET_IP_);
}
EXPORT_SYMBOL_GPL(__donjon_lazy_flush);

void __donjon_lazy_enter(void)
{
	if (!in_task())
		return;
	preempt_disable();
	raw_cpu_ptr(&donjon_queue)->depth++;
}
EXPORT_SYMBOL_GPL(__donjon_lazy_enter);

/* Regions do nest here: some of the outer ones are not upstream's. */
void __donjon_lazy_leave(void)
{
	struct donjon_queue *queue;

	/* A region may have been entered before the hand-over */
	if (!in_region())
		return;
	queue = raw_cpu_ptr(&donjon_queue);
	if (queue->count)
		flush(queue, _RET_IP_);
	queue->depth--;
	preempt_enable();
}
EXPORT_SYMBOL_GPL(__donjon_lazy_leave);

static int __init donjon_queue_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(donjon_queue, cpu).list =
			per_cpu_ptr_to_phys(per_cpu_ptr(&donjon_list, cpu));
	return 0;
}
early_initcall(donjon_queue_init);
