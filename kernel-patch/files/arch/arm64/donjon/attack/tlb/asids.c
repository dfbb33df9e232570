// SPDX-License-Identifier: GPL-2.0-only
/*
 * ASIDs and roots where the inner domain makes both. Two processes under one
 * ASID would see each other's memory, the reserved one the inner domain's.
 */
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/sched/mm.h>
#include <linux/smp.h>

#include <asm/sysreg.h>

#include "attack.h"

#define ASID_SHIFT	48
/* Above the ASID stands the number of the process */
#define OTHER_PROCESS	BIT_ULL(60)

static struct donjon_result switch_to(u64 process)
{
	return __donjon_call(DONJON_FN_SWITCH_ROOT, process, 0, 0, 0, 0, 0);
}

struct switching {
	u64 process;
	u64 ttbr0;
	struct donjon_result result;
};

/* Interrupts are off. */
static void switch_there(void *data)
{
	struct switching *it = data;
	u64 before = READ_ONCE(current->active_mm->context.process);

	it->result = switch_to(it->process);
	it->ttbr0 = read_sysreg(ttbr0_el1);
	if (!before || switch_to(before).status)
		__donjon_call(DONJON_FN_SWITCH_ROOT, 0, 0, 0, 0, 0, 0);
}

static void judge(const struct switching *it)
{
	if (it->result.status)
		attack_stopped("refused: %s", attack_why(it->result));
	else
		attack_succeeded("TTBR0_EL1 was %#llx", it->ttbr0);
}

static void reserved(void)
{
	struct switching it = { .process = OTHER_PROCESS | DONJON_RESERVED_ASID };
	unsigned long flags;

	local_irq_save(flags);
	switch_there(&it);
	local_irq_restore(flags);
	judge(&it);
}

static void twice(void)
{
	struct switching it = { .process = OTHER_PROCESS | (u16)this_process() };
	unsigned long flags;
	int cpu, other;

	cpu = get_cpu();
	other = cpumask_any_but(cpu_online_mask, cpu);
	if (other >= nr_cpu_ids) {
		attack_untried("two CPUs are needed");
	} else {
		smp_call_function_single(other, switch_there, &it, 1);
		/* The tree may be the other process's now */
		local_irq_save(flags);
		switch_to(this_process());
		local_irq_restore(flags);
		judge(&it);
	}
	put_cpu();
}

/* The tables that this CPU walks go back to the arena. */
static void free_current(void)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_FREE, this_process(), 0, 0, 0, 0, 0);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("the tables are free");
}

DONJON_ATTACK("misuse-asid", "reserved", reserved);
DONJON_ATTACK("misuse-asid", "twice", twice);
DONJON_ATTACK("misuse-asid", "free-current", free_current);
