// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Linux sees of a compartment that it runs: in registers, by the means of a
 * debugger, and through the tables that a CPU had while it was inside.
 */
#include <linux/array_size.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/uaccess.h>

#include <asm/debug-monitors.h>
#include <asm/hw_breakpoint.h>
#include <asm/sysreg.h>

#include "compartment.h"

/* Rounds that take longer than the time between two interrupts of the timer */
#define LONG_STAY	10000000000UL

/* FP and SIMD as they are left. */
struct simd {
	u64 words[64];
	u64 fpsr;
};

static void store_simd(struct simd *simd)
{
	asm volatile(".arch_extension simd\n"
		     "stp	q0, q1, [%0]\n"
		     "stp	q2, q3, [%0, #32]\n"
		     "stp	q4, q5, [%0, #64]\n"
		     "stp	q6, q7, [%0, #96]\n"
		     "stp	q8, q9, [%0, #128]\n"
		     "stp	q10, q11, [%0, #160]\n"
		     "stp	q12, q13, [%0, #192]\n"
		     "stp	q14, q15, [%0, #224]\n"
		     "stp	q16, q17, [%0, #256]\n"
		     "stp	q18, q19, [%0, #288]\n"
		     "stp	q20, q21, [%0, #320]\n"
		     "stp	q22, q23, [%0, #352]\n"
		     "stp	q24, q25, [%0, #384]\n"
		     "stp	q26, q27, [%0, #416]\n"
		     "stp	q28, q29, [%0, #448]\n"
		     "stp	q30, q31, [%0, #480]\n"
		     ".arch_extension nosimd\n"
		     :: "r" (simd->words) : "memory");
	simd->fpsr = read_sysreg(fpsr);
}

/*
 * Has the prepared compartment fill its registers and be left in one way, by a
 * function that looks at what is in them then. False if it was left otherwise.
 */
static bool is_left(struct donjon_result (*run)(u64 handle, enum leave leave),
		    enum leave leave, long expected)
{
	/* A first interrupt may have come before it was filled */
	unsigned int left = expected == DONJON_EXIT_INTERRUPTED ? 2 : 1;
	struct donjon_result result;

	if (!prepare_compartment())
		return false;
	do {
		result = run(prepared_compartment(), leave);
		left -= result.status == expected;
	} while (left && result.status == DONJON_EXIT_INTERRUPTED);
	/* It is left in the middle of its call */
	if (result.status != DONJON_EXIT_RETURNED)
		destroy_compartment(prepared_compartment());
	if (result.status != expected)
		attack_untried("it was left for %ld: %#lx", result.status, result.value);
	return result.status == expected;
}

static struct simd simd;

static struct donjon_result run_for_simd(u64 handle, enum leave leave)
{
	struct donjon_result result;
	unsigned long flags;

	local_irq_save(flags);
	write_sysreg(0, fpsr);
	result = __donjon_call(DONJON_FN_COMPARTMENT_RUN, handle, FILL, SECRET, leave,
			       0, 0);
	store_simd(&simd);
	local_irq_restore(flags);
	return result;
}

/*
 * What it had in registers of FP and SIMD when it was left. Nothing here uses
 * those, and Linux takes the interrupt after a look at them.
 */
static void look_at_simd(enum leave leave, long expected)
{
	unsigned int i;

	if (!is_left(run_for_simd, leave, expected))
		return;
	for (i = 0; i < ARRAY_SIZE(simd.words); i++)
		if (simd.words[i] == SECRET)
			return attack_succeeded("q%u has the secret", i / 2);
	if (simd.fpsr & 0x1f)
		return attack_succeeded("FPSR is the compartment's: %#llx", simd.fpsr);
	attack_stopped("all of them are the caller's");
}

static void simd_returned(void)
{
	look_at_simd(BY_RETURN, DONJON_EXIT_RETURNED);
}

static void simd_interrupted(void)
{
	look_at_simd(BY_INTERRUPT, DONJON_EXIT_INTERRUPTED);
}

static void simd_faulted(void)
{
	look_at_simd(BY_FAULT, DONJON_EXIT_FAULTED);
}

static void simd_asked(void)
{
	look_at_simd(BY_REQUEST, DONJON_EXIT_CALLED_OUT);
}

/* x2 to x18 as they are afterwards; x20 to x29 before and afterwards. */
struct general {
	u64 scratch[17];
	u64 before[10], after[10];
};

static struct general general;

static struct donjon_result run_for_general(u64 handle, enum leave leave)
{
	register u64 x0 asm("x0") = DONJON_FN_COMPARTMENT_RUN;
	register u64 x1 asm("x1") = handle;
	register u64 x2 asm("x2") = FILL;
	register u64 x3 asm("x3") = SECRET;
	register u64 x4 asm("x4") = leave;
	register u64 to asm("x19") = (u64)&general;

	asm volatile("stp	x20, x21, [x19, #136]\n"
		     "stp	x22, x23, [x19, #152]\n"
		     "stp	x24, x25, [x19, #168]\n"
		     "stp	x26, x27, [x19, #184]\n"
		     "stp	x28, x29, [x19, #200]\n"
		     "blr	%[gate]\n"
		     "stp	x2, x3, [x19]\n"
		     "stp	x4, x5, [x19, #16]\n"
		     "stp	x6, x7, [x19, #32]\n"
		     "stp	x8, x9, [x19, #48]\n"
		     "stp	x10, x11, [x19, #64]\n"
		     "stp	x12, x13, [x19, #80]\n"
		     "stp	x14, x15, [x19, #96]\n"
		     "stp	x16, x17, [x19, #112]\n"
		     "str	x18, [x19, #128]\n"
		     "stp	x20, x21, [x19, #216]\n"
		     "stp	x22, x23, [x19, #232]\n"
		     "stp	x24, x25, [x19, #248]\n"
		     "stp	x26, x27, [x19, #264]\n"
		     "stp	x28, x29, [x19, #280]\n"
		     : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3), "+r" (x4)
		     : [gate] "r" (DONJON_GATE), "r" (to)
		     : "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
			       "x14", "x15", "x16", "x17", "x30", "cc", "memory");
	return (struct donjon_result){ .status = x0, .value = x1 };
}

/*
 * The gate zeroes x2 to x17 and leaves a constant in x18, which vectors overwrite
 * at each interrupt; the others are the caller's own again.
 */
static void look_at_registers(enum leave leave, long expected)
{
	unsigned int i;

	if (!is_left(run_for_general, leave, expected))
		return;
	for (i = 0; i < ARRAY_SIZE(general.scratch); i++)
		if (general.scratch[i] == SECRET)
			return attack_succeeded("x%u has the secret", i + 2);
	for (i = 0; i < ARRAY_SIZE(general.after); i++)
		if (general.after[i] != general.before[i])
			return attack_succeeded("x%u is %#llx", i + 20, general.after[i]);
	attack_stopped("no register has the secret");
}

static void general_registers(void)
{
	look_at_registers(BY_RETURN, DONJON_EXIT_RETURNED);
}

static void general_interrupted(void)
{
	look_at_registers(BY_INTERRUPT, DONJON_EXIT_INTERRUPTED);
}

static void general_faulted(void)
{
	look_at_registers(BY_FAULT, DONJON_EXIT_FAULTED);
}

static void general_asked(void)
{
	look_at_registers(BY_REQUEST, DONJON_EXIT_CALLED_OUT);
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

DONJON_ATTACK("watch-compartment", "returned", simd_returned);
DONJON_ATTACK("watch-compartment", "interrupted", simd_interrupted);
DONJON_ATTACK("watch-compartment", "faulted", simd_faulted);
DONJON_ATTACK("watch-compartment", "asked", simd_asked);
DONJON_ATTACK("watch-compartment", "general-registers", general_registers);
DONJON_ATTACK("watch-compartment", "general-interrupted", general_interrupted);
DONJON_ATTACK("watch-compartment", "general-faulted", general_faulted);
DONJON_ATTACK("watch-compartment", "general-asked", general_asked);
DONJON_ATTACK("watch-compartment", "exception-registers", exception_registers);
DONJON_ATTACK("watch-compartment", "breakpoint", breakpoint);
DONJON_ATTACK("watch-compartment", "watchpoint", watchpoint);
DONJON_ATTACK("watch-compartment", "step", step);
DONJON_ATTACK("look-behind-compartment", "load", exit_load);
DONJON_ATTACK("look-behind-compartment", "unprivileged", exit_unprivileged);
DONJON_ATTACK("look-behind-compartment", "copy", exit_copy);
