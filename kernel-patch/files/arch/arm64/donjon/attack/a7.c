// SPDX-License-Identifier: GPL-2.0-only
/*
 * A7: jump to the gate's exit write with a value of one's own. It is the last word
 * of the page before the gate's, which the outer view does not have. A thread
 * does it, because the fault is the end of whoever jumps.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>

#include <asm/esr.h>
#include <asm/sysreg.h>

#include "attack.h"

#define EXIT_WRITE		(DONJON_GATE_PAGE - 4)

static DECLARE_COMPLETION(over);
static unsigned long came_back, syndrome;

static int on_oops(struct notifier_block *block, unsigned long event, void *data)
{
	struct die_args *args = data;

	if (event == DIE_OOPS && instruction_pointer(args->regs) == EXIT_WRITE) {
		syndrome = args->err;
		complete(&over);
	}
	return NOTIFY_DONE;
}

static struct notifier_block oops = { .notifier_call = on_oops };

/* The gate's next word returns to x30, having put DAIF back from x9. */
static int jump(void *unused)
{
	asm volatile("mov	x18, %0\n"
		     "mrs	x9, daif\n"
		     "blr	%1\n"
		     : : "r" (read_sysreg(tcr_el1)), "r" (EXIT_WRITE)
		     : "x9", "x10", "x11", "x30", "cc", "memory");
	came_back = 1;
	complete(&over);
	return 0;
}

static void exit_write(void)
{
	struct task_struct *thread;

	came_back = 0;
	reinit_completion(&over);
	register_die_notifier(&oops);
	thread = kthread_run(jump, NULL, "donjon_attack");
	if (IS_ERR(thread) || !wait_for_completion_timeout(&over, 10 * HZ))
		attack_untried("the thread did not come to it");
	else if (came_back)
		attack_succeeded("the exit write was executed with our value");
	else
		attack_stopped("the fetch of the exit write faulted, ESR_EL1 %#lx", syndrome);
	unregister_die_notifier(&oops);
}

DONJON_ATTACK("A7", "exit-write", exit_write);
