// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collects stores of vmalloc() and vfree(), which go to the inner domain together.
 * Each CPU has a list, which only the task that opened the queue uses: preemption is off
 * until it closes it, and interrupts store on their own.
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

#include "queue.h"
#include "state.h"

/* Its size is its alignment, so it is within one page. */
struct donjon_list {
	struct donjon_table_entry stores[DONJON_LIST_MAX];
} __aligned(DONJON_LIST_MAX * sizeof(struct donjon_table_entry));

struct donjon_queue {
	bool open;
	unsigned int count;	/* stores in the list */
	phys_addr_t list;
};

static DEFINE_PER_CPU(struct donjon_list, donjon_list);
static DEFINE_PER_CPU(struct donjon_queue, donjon_queue);

/*
 * It is open only while the task runs that has opened it, so the answer holds
 * although preemption may be on.
 */
static __always_inline bool is_open(void)
{
	return in_task() && this_cpu_read(donjon_queue.open);
}

static noinstr void flush(struct donjon_queue *queue, unsigned long caller)
{
	struct donjon_table_entry *stores = raw_cpu_ptr(&donjon_list)->stores;
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
	/* Kernel entries are usable from here on */
	dsb(ishst);
	isb();
}

noinstr bool donjon_queue_append(phys_addr_t entry, u64 value)
{
	struct donjon_queue *queue;
	struct donjon_table_entry *stores;

	if (!is_open())
		return false;

	queue = raw_cpu_ptr(&donjon_queue);
	stores = raw_cpu_ptr(&donjon_list)->stores;
	stores[queue->count].entry = entry;
	stores[queue->count].value = value;
	if (++queue->count == DONJON_LIST_MAX)
		flush(queue, _RET_IP_);
	return true;
}

void __donjon_queue_open(void)
{
	if (!in_task())
		return;
	preempt_disable();
	raw_cpu_ptr(&donjon_queue)->open = true;
}

void __donjon_queue_close(void)
{
	struct donjon_queue *queue;

	/* The stores may have begun before the hand-over */
	if (!is_open())
		return;
	queue = raw_cpu_ptr(&donjon_queue);
	if (queue->count)
		flush(queue, _RET_IP_);
	queue->open = false;
	preempt_enable();
}

static int __init donjon_queue_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(donjon_queue, cpu).list =
			per_cpu_ptr_to_phys(per_cpu_ptr(&donjon_list, cpu));
	return 0;
}
early_initcall(donjon_queue_init);
