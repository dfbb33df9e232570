// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hand-over: from then on the inner domain believes nothing that this
 * kernel says about tables, registers and code.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/donjon.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/panic.h>
#include <linux/printk.h>
#include <linux/stop_machine.h>
#include <linux/umh.h>

#include <asm/donjon.h>
#include <asm/donjon_tables.h>
#include <asm/mmu_context.h>
#include <asm/sections.h>
#include <asm/set_memory.h>
#include <asm/vectors.h>

struct work {
	struct donjon_handover *args;
	struct donjon_result result;	/* of the hand-over */
	struct donjon_result check;	/* of a CPU whose registers are wrong */
	int bad_cpu;
	atomic_t arrived;
	atomic_t checked;
	u64 unchecked;			/* CPUs, by the inner domain's count */
	bool done;
};

/* What this CPU had until now is a root of this kernel's. */
static void load_users_tables(void)
{
	struct mm_struct *mm = current->active_mm;

	if (mm != &init_mm)
		cpu_switch_mm(mm->pgd, mm);
}

/* On all CPUs, interrupts off. The first to come does it for all. */
static int on_each_cpu_stopped(void *data)
{
	struct work *work = data;
	struct donjon_result result;

	if (atomic_inc_return(&work->arrived) == 1) {
		work->result = __donjon_call(DONJON_FN_HANDOVER, __pa(work->args),
					     0, 0, 0, 0, 0);
		if (!work->result.status) {
			donjon_live = true;
			donjon_pool_handed_over();
		}
		/* The result is there before another CPU looks at it */
		smp_store_release(&work->done, true);
	} else {
		/* Pairs with the release above */
		while (!smp_load_acquire(&work->done))
			cpu_relax();
	}
	if (work->result.status)
		return 0;

	result = __donjon_call(DONJON_FN_HANDOVER, 0, 0, 0, 0, 0, 0);
	load_users_tables();
	if (result.status && cmpxchg(&work->bad_cpu, -1, smp_processor_id()) == -1)
		work->check = result;
	/*
	 * The last to come asks again: by then each CPU that is online was
	 * compared. One that arrived and never came online was not.
	 */
	if (atomic_inc_return(&work->checked) == num_online_cpus())
		work->unchecked = __donjon_call(DONJON_FN_HANDOVER, 0, 0, 0, 0,
						0, 0).value;
	return 0;
}

/* What was put off until now */
static void go_on(void)
{
	/* Programs of the initramfs are not measured, so none has run until here */
	usermodehelper_enable();
	/* New text is made from here on */
	if (IS_ENABLED(CONFIG_KPROBE_EVENTS))
		donjon_set_boot_probes();
}

void donjon_handover(void)
{
	struct work work = { .bad_cpu = -1 };

	if (!donjon_present()) {
		go_on();
		return;
	}
	if (!rodata_enabled)
		panic("donjon: rodata=off leaves nothing to protect\n");
	if (can_set_direct_map())
		panic("donjon: rodata=full, debug_pagealloc and kfence.sample_interval=0 map memory in pages, which cannot become tables: leave them out\n");

	work.args = (struct donjon_handover *)get_zeroed_page(GFP_KERNEL);
	if (!work.args)
		panic("donjon: no memory for the hand-over\n");
	work.args->table_pool_start = donjon_table_pool_start;
	work.args->table_pool_end = donjon_table_pool_end;
	work.args->text_pool_start = donjon_text_pool_start;
	work.args->text_pool_end = donjon_text_pool_end;
	work.args->text_start = (u64)_stext;
	work.args->text_end = (u64)_etext;
	work.args->rodata_start = (u64)__start_rodata;
	work.args->rodata_end = (u64)__init_begin;
	work.args->vectors = (u64)vectors;

	stop_machine(on_each_cpu_stopped, &work, cpu_online_mask);

	if (work.result.status)
		panic("donjon: hand-over refused: %s (error %ld, value %#lx)\n",
		      donjon_reason(work.result), work.result.status,
		      work.result.value);
	if (work.bad_cpu >= 0)
		panic("donjon: registers of CPU %d refused: %s (error %ld)\n",
		      work.bad_cpu, donjon_reason(work.check), work.check.status);
	if (work.unchecked)
		panic("donjon: CPUs %#llx run, are not online and were not compared; leave them off with maxcpus= or nr_cpus=\n",
		      work.unchecked);
	free_page((unsigned long)work.args);
	pr_info("hand-over done on %u CPUs\n", atomic_read(&work.arrived));
	go_on();
}
