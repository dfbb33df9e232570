// SPDX-License-Identifier: GPL-2.0-only
/*
 * No table is free and no block to be had. A page fault that finds no memory
 * for a table is repeated, so somebody has to go.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/oom.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "pool.h"

/* A victim needs time to return its tables. */
#define POOL_VICTIM_TIME	HZ

static unsigned long victim_until;

static void kill_one(gfp_t gfp)
{
	/* As on demand of the administrator: without a victim, no panic */
	struct oom_control control = { .gfp_mask = gfp, .order = -1 };

	if (!mutex_trylock(&oom_lock))
		return;
	if (!READ_ONCE(donjon_pool.stats.free) &&
	    time_after_eq(jiffies, READ_ONCE(victim_until)) &&
	    out_of_memory(&control))
		WRITE_ONCE(victim_until, jiffies + POOL_VICTIM_TIME);
	mutex_unlock(&oom_lock);
}

/* True if there are free tables now. */
bool donjon_pool_relieve(gfp_t gfp)
{
	unsigned long until = jiffies + POOL_VICTIM_TIME;

	kill_one(gfp);
	while (!READ_ONCE(donjon_pool.stats.free)) {
		if (time_after(jiffies, until) || fatal_signal_pending(current))
			return false;
		schedule_timeout_killable(1);
	}
	return true;
}
