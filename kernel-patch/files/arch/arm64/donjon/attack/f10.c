// SPDX-License-Identifier: GPL-2.0-only
/*
 * F10: two entries of the TLB for one address. The architecture lets a CPU
 * answer such an address with any that EL1 may reach, so it must not come to it.
 */
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "attack.h"

#define ASID_SHIFT	48

/* One entry of a group says that all 16 are alike. */
static void contiguous_alone(void)
{
	struct donjon_result result;
	struct window window;

	if (!open_window(&window))
		return;
	result = write_entry(window.entry, window.old | PTE_CONT);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("one contiguous entry stands alone");
}

/* Another frame in place of one that may be in a TLB. */
static void live_change(void)
{
	struct window window, other;
	struct donjon_result result;

	if (!open_window(&window) || !open_window(&other))
		return;
	result = write_entry(window.entry, window.old);
	if (!result.status)
		result = write_entry(window.entry, other.old);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("a live entry leads elsewhere");
}

struct switching {
	u64 root, asid;
	u64 ttbr0;
	struct donjon_result result;
};

static struct donjon_result switch_root(u64 root, u64 asid)
{
	return __donjon_call(DONJON_FN_SWITCH_ROOT, root, asid, 0, 0, 0, 0);
}

/* Interrupts are off. */
static void switch_there_and_back(void *data)
{
	u64 before = read_sysreg(ttbr0_el1), root = PAGE_OF(before);
	struct switching *it = data;

	it->result = switch_root(it->root, it->asid);
	it->ttbr0 = read_sysreg(ttbr0_el1);
	if (it->result.status)
		return;
	/* The empty root has no ASID of its own */
	if (!(before >> ASID_SHIFT) || switch_root(root, before >> ASID_SHIFT).status)
		switch_root(0, 0);
}

static u64 root_of_init(void)
{
	struct task_struct *task;
	u64 root = 0;

	rcu_read_lock();
	for_each_process(task)
		if (task->pid == 1 && task->mm)
			root = virt_to_phys(task->mm->pgd);
	rcu_read_unlock();
	return root;
}

/* Another root on another CPU with the ASID that this one uses. */
static void asid_twice(void)
{
	struct switching it;
	int cpu, other;

	cpu = get_cpu();
	other = cpumask_any_but(cpu_online_mask, cpu);
	it.root = root_of_init();
	it.asid = read_sysreg(ttbr0_el1) >> ASID_SHIFT;
	if (other >= nr_cpu_ids || !it.asid || it.root == user_root()) {
		attack_untried("two CPUs and two processes are needed");
	} else {
		smp_call_function_single(other, switch_there_and_back, &it, 1);
		if (it.result.status)
			attack_stopped("refused: %s", attack_why(it.result));
		else
			attack_succeeded("TTBR0_EL1 is %#llx on CPU %d, %#llx on CPU %d",
					 it.ttbr0, other, read_sysreg(ttbr0_el1), cpu);
	}
	put_cpu();
}

/* The ASID under which the inner domain's own mappings are cached. */
static void asid_reserved(void)
{
	struct switching it = {
		.root = user_root(),
		.asid = DONJON_RESERVED_ASID,
	};
	unsigned long flags;

	local_irq_save(flags);
	switch_there_and_back(&it);
	local_irq_restore(flags);
	if (it.result.status)
		attack_stopped("refused: %s", attack_why(it.result));
	else
		attack_succeeded("TTBR0_EL1 is %#llx", it.ttbr0);
}

static const struct attempt attempts[] = {
	{ "contiguous", contiguous_alone },
	{ "live-change", live_change },
	{ "asid-twice", asid_twice },
	{ "asid-reserved", asid_reserved },
	{}
};

const struct attack attack_f10 = { "F10", attempts };
