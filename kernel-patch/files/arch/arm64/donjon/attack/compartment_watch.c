// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Linux sees of a compartment that it runs: in registers, by the means of a
 * debugger, and through the tables that a CPU had while it was inside.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/uaccess.h>

#include <asm/debug-monitors.h>
#include <asm/hw_breakpoint.h>
#include <asm/sysreg.h>

#include "compartment.h"

/* Rounds that take longer than the time between two interrupts of the timer */
#define LONG_STAY	10000000000UL

/* What it had in a register of FP. Nothing here uses those. */
static void registers(void)
{
	struct donjon_result result;
	u64 left;

	if (!prepare_compartment())
		return;
	preempt_disable();
	result = run_compartment(prepared_compartment(), FILL, SECRET, 0, 0);
	asm volatile(".arch_extension fp\n fmov %0, d31\n .arch_extension nofp"
		     : "=r" (left));
	preempt_enable();
	if (result.status != DONJON_EXIT_RETURNED)
		attack_untried("it was left for %ld", result.status);
	else if (left == SECRET)
		attack_succeeded("d31 has the secret");
	else
		attack_stopped("d31 is the caller's");
}

/* Registers that a call may change, as they are afterwards. */
static long run_and_look(u64 handle, u64 seen[16])
{
	register u64 x0 asm("x0") = DONJON_FN_COMPARTMENT_RUN;
	register u64 x1 asm("x1") = handle;
	register u64 x2 asm("x2") = FILL;
	register u64 x3 asm("x3") = SECRET;
	register u64 to asm("x19") = (u64)seen;

	asm volatile("blr	%[gate]\n"
		     "stp	x2, x3, [x19]\n"
		     "stp	x4, x5, [x19, #16]\n"
		     "stp	x6, x7, [x19, #32]\n"
		     "stp	x8, x9, [x19, #48]\n"
		     "stp	x10, x11, [x19, #64]\n"
		     "stp	x12, x13, [x19, #80]\n"
		     "stp	x14, x15, [x19, #96]\n"
		     "stp	x16, x17, [x19, #112]\n"
		     : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3)
		     : [gate] "r" (DONJON_GATE), "r" (to)
		     : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
		       "x13", "x14", "x15", "x16", "x17", "x30", "cc", "memory");
	return x0;
}

/* The gate zeroes x2 to x17; the others are the caller's own again. */
static void general_registers(void)
{
	u64 seen[16] = {};
	unsigned int i;
	long status;

	if (!prepare_compartment())
		return;
	do {
		status = run_and_look(prepared_compartment(), seen);
	} while (status == DONJON_EXIT_INTERRUPTED);
	if (status != DONJON_EXIT_RETURNED) {
		attack_untried("it was left for %ld", status);
		return;
	}
	for (i = 0; i < 16; i++)
		if (seen[i] == SECRET)
			return attack_succeeded("x%u has the secret", i + 2);
	attack_stopped("no register has the secret");
}

/*
 * Where an interrupt ended a run: its flags and the address of its next
 * instruction, again and again, would be a trace of what it does. Linux does not
 * take the interrupt, so nothing else is in these registers.
 */
static void exception_registers(void)
{
	struct donjon_result result;
	unsigned long flags;
	u64 elr, spsr;

	if (!prepare_compartment())
		return;
	local_irq_save(flags);
	result = __donjon_call(DONJON_FN_COMPARTMENT_RUN, prepared_compartment(),
			       STAY, LONG_STAY, 0, 0, 0);
	elr = read_sysreg(elr_el1);
	spsr = read_sysreg(spsr_el1);
	local_irq_restore(flags);
	/* It is left in the middle of its call */
	destroy_compartment(prepared_compartment());
	if (result.status != DONJON_EXIT_INTERRUPTED)
		attack_untried("it was left for %ld", result.status);
	else if (elr >= CODE && elr < CODE + PAGE_SIZE)
		attack_succeeded("ELR_EL1 is %#llx, SPSR_EL1 %#llx", elr, spsr);
	else if (elr || spsr)
		attack_untried("ELR_EL1 is %#llx, SPSR_EL1 %#llx", elr, spsr);
	else
		attack_stopped("ELR_EL1 and SPSR_EL1 are 0");
}

/* What a debugger arms. */
struct trap {
	u64 mdscr;	/* set in MDSCR_EL1 */
	u64 breakpoint, watchpoint;	/* control registers, or 0 */
	unsigned int class;	/* of the exception that it makes */
};

/* BAS all, PMC or PAC EL0, E; a watchpoint has two bits for loads and stores. */
#define BREAKPOINT	(0xfUL << 5 | 2UL << 1 | 1)
#define WATCHPOINT	(0xffUL << 5 | 3UL << 3 | 2UL << 1 | 1)

static void run_with(const struct trap *trap)
{
	struct donjon_result result;
	u64 mdscr;

	if (!prepare_compartment())
		return;
	preempt_disable();
	mdscr = read_sysreg(mdscr_el1);
	write_sysreg(CODE + 4, dbgbvr0_el1);
	write_sysreg(DATA, dbgwvr0_el1);
	write_sysreg(trap->breakpoint, dbgbcr0_el1);
	write_sysreg(trap->watchpoint, dbgwcr0_el1);
	write_sysreg(mdscr | trap->mdscr, mdscr_el1);
	isb();
	result = run_compartment(prepared_compartment(), LOAD, DATA, 0, 0);
	write_sysreg(mdscr, mdscr_el1);
	write_sysreg(0, dbgbcr0_el1);
	write_sysreg(0, dbgwcr0_el1);
	isb();
	preempt_enable();
	if (result.status == DONJON_EXIT_RETURNED)
		attack_stopped("it ran to its end");
	else if (result.status == DONJON_EXIT_FAULTED &&
		 ESR_ELx_EC(result.value) == trap->class)
		attack_succeeded("it was stopped on its way");
	else
		attack_untried("it was left for %ld: %#lx", result.status, result.value);
	/* A dead one is of no use to the next attempt */
	if (result.status != DONJON_EXIT_RETURNED)
		destroy_compartment(prepared_compartment());
}

/* At its second instruction: with it, Linux could follow each step. */
static void breakpoint(void)
{
	run_with(&(struct trap){ DBG_MDSCR_MDE, BREAKPOINT, 0, ESR_ELx_EC_BREAKPT_LOW });
}

static void watchpoint(void)
{
	run_with(&(struct trap){ DBG_MDSCR_MDE, 0, WATCHPOINT, ESR_ELx_EC_WATCHPT_LOW });
}

static void step(void)
{
	run_with(&(struct trap){ DBG_MDSCR_SS, 0, 0, ESR_ELx_EC_SOFTSTP_LOW });
}

static bool load(u64 *value)
{
	bool loaded;

	uaccess_enable_privileged();
	loaded = try_load((const u64 *)DATA, value);
	uaccess_disable_privileged();
	return loaded;
}

static bool load_unprivileged(u64 *value)
{
	return !__get_user(*value, (u64 __user *)DATA);
}

static bool copy(u64 *value)
{
	return !__copy_from_user_inatomic(value, (u64 __user *)DATA, sizeof(*value));
}

/* An address of its, right after it was left. Linux maps nothing there. */
static void look_behind(bool (*reads)(u64 *value))
{
	struct donjon_result result;
	unsigned long flags;
	bool loaded;
	u64 value = 0;

	if (!prepare_compartment())
		return;
	preempt_disable();
	pagefault_disable();
	result = run_compartment(prepared_compartment(), LOAD, DATA, 0, 0);
	loaded = reads(&value);
	/* Load the process's tables again, in case they are not loaded */
	local_irq_save(flags);
	compartment_call(DONJON_FN_SWITCH_ROOT, this_process(), 0, 0, 0);
	local_irq_restore(flags);
	pagefault_enable();
	preempt_enable();
	if (result.status != DONJON_EXIT_RETURNED || result.value != SECRET)
		attack_untried("it was left for %ld: %#lx", result.status, result.value);
	else if (!loaded)
		attack_stopped("the load faulted");
	else if (value == SECRET)
		attack_succeeded("the secret was read");
	else
		attack_untried("something else is there: %#llx", value);
}

static void exit_load(void)
{
	look_behind(load);
}

static void exit_unprivileged(void)
{
	look_behind(load_unprivileged);
}

static void exit_copy(void)
{
	look_behind(copy);
}

DONJON_ATTACK("watch-compartment", "registers", registers);
DONJON_ATTACK("watch-compartment", "general-registers", general_registers);
DONJON_ATTACK("watch-compartment", "exception-registers", exception_registers);
DONJON_ATTACK("watch-compartment", "breakpoint", breakpoint);
DONJON_ATTACK("watch-compartment", "watchpoint", watchpoint);
DONJON_ATTACK("watch-compartment", "step", step);
DONJON_ATTACK("look-behind-compartment", "load", exit_load);
DONJON_ATTACK("look-behind-compartment", "unprivileged", exit_unprivileged);
DONJON_ATTACK("look-behind-compartment", "copy", exit_copy);
