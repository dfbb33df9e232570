// SPDX-License-Identifier: GPL-2.0-only
/*
 * The gate: jumps into it with a value of one's own for TCR_EL1, and its page at a
 * second address.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>

#include <asm/esr.h>
#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "../../test/gate_jump.h"
#include "attack.h"

#define EXIT_WRITE		(DONJON_GATE_PAGE - 4)

/*
 * The exit write is the last word of the page before the gate's, which the outer
 * view does not have. A thread jumps there, because the fault is its end.
 */
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

/*
 * The gate's page at a second address. Executed there, what it reaches relative to
 * its own address is Linux's to choose, and the page boundary at which the view
 * changes is none.
 *
 * The way out begins with the page: it waits for the change of view, puts DAIF
 * back from x9 and returns. Mode strict writes TCR_EL1 there, to the value that
 * it has. All registers that it uses are the caller's to lose.
 */
static void leave_through(unsigned long va)
{
	asm volatile("mrs	x9, daif\n"
		     "blr	%0\n"
		     : : "r" (va)
		     : "x9", "x10", "x11", "x30", "cc", "memory");
}

static void map(u64 attributes, bool execute)
{
	struct donjon_result result;
	struct window window;
	struct step gate;

	gate = walk_to(kernel_root(), DONJON_GATE_PAGE, 3);
	if (gate.level != 3 || !(gate.value & DESCRIPTOR_VALID)) {
		attack_untried("the gate is not where it should be");
		return;
	}
	if (!open_window(&window))
		return;
	result = write_entry(window.entry, PAGE_OF(gate.value) | attributes);
	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	if (execute)
		leave_through(window.va);
	attack_succeeded("the gate's page is %s at a second address",
			 execute ? "executed" : "writable");
}

static void execute(void)
{
	map((kernel_page(0) & ~PTE_PXN) | PTE_RDONLY, true);
}

static void write(void)
{
	map(kernel_page(0), false);
}

/* The value comes from the host's table. */
static void jump_with_value(void)
{
	donjon_jump_with(attack_value);
	attack_succeeded("the gate returned");
}

static void break_behind_write(void)
{
	unsigned long live;
	int error = donjon_jump_with_breakpoint(attack_value, &live);

	if (error)
		attack_untried("there is no breakpoint: %d", error);
	else
		attack_succeeded("Linux ran with TCR_EL1 %#lx", live);
}

static void jump_with_geometry(void)
{
	long left = donjon_jump_with_geometry();

	if (left == DONJON_ESCAPED)
		attack_succeeded("hostile code at the vector was executed");
	else
		attack_untried("the jump came back, with %#lx", left);
}

DONJON_ATTACK("jump-to-exit-write", "exit-write", exit_write);
DONJON_ATTACK("map-gate-again", "execute", execute);
DONJON_ATTACK("map-gate-again", "write", write);
DONJON_ATTACK("forge-zero", "jump", jump_with_value);
DONJON_ATTACK("forge-outer-value", "jump", jump_with_value);
DONJON_ATTACK("forge-wide-without-asid", "jump", jump_with_value);
DONJON_ATTACK("forge-asid-without-wide", "jump", jump_with_value);
DONJON_ATTACK("forge-no-kernel-walks", "jump", jump_with_value);
DONJON_ATTACK("forge-granule-alone", "jump", jump_with_value);
DONJON_ATTACK("forge-range-alone", "jump", jump_with_value);
DONJON_ATTACK("forge-harmless-bit", "jump", jump_with_value);
DONJON_ATTACK("break-behind-forged-write", "jump", break_behind_write);
DONJON_ATTACK("forge-geometry", "jump", jump_with_geometry);
