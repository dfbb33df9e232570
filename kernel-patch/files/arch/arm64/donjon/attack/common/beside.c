// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a function on a second CPU, for attacks that need one.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "attack.h"

static struct task_struct *thread;
static u64 end;

static int again(void *data)
{
	void (*function)(void) = data;

	while (!kthread_should_stop()) {
		function();
		cond_resched();
	}
	return 0;
}

bool begin_beside(void (*function)(void), unsigned int seconds)
{
	unsigned int here = cpumask_first(cpu_online_mask);
	unsigned int other = cpumask_next(here, cpu_online_mask);

	if (other >= nr_cpu_ids) {
		attack_untried("there is no other CPU");
		return false;
	}
	thread = kthread_create(again, function, "donjon_beside");
	if (IS_ERR(thread)) {
		attack_untried("there is no thread to be had");
		return false;
	}
	kthread_bind(thread, other);
	set_cpus_allowed_ptr(current, cpumask_of(here));
	wake_up_process(thread);
	end = ktime_get_ns() + seconds * NSEC_PER_SEC;
	return true;
}

static void turn_on(u64 cpu, u64 unused)
{
	add_cpu(cpu);
}

bool leave_two_cpus(void)
{
	unsigned int cpu;

	while (num_online_cpus() > 2) {
		cpu = cpumask_last(cpu_online_mask);
		if (remove_cpu(cpu)) {
			attack_untried("CPU %u does not go off", cpu);
			return false;
		}
		undo_later(turn_on, cpu, 0);
	}
	return true;
}

bool is_beside(void)
{
	cond_resched();
	return ktime_get_ns() < end;
}

void end_beside(void)
{
	kthread_stop(thread);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}
