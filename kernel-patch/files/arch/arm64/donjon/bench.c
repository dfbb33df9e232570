// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/security/donjon/bench and bench_wall: 100 samples each of a null
 * call, an empty function and an empty firmware call.
 *
 * bench reads PMCCNTR_EL0: cycles on silicon, instructions in QEMU under
 * -icount shift=0. bench_wall reads the virtual counter, in nanoseconds per
 * round trip over a batch.
 */
#include <linux/arm-smccc.h>
#include <linux/dcache.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/psci.h>
#include <linux/security.h>
#include <linux/seq_file.h>

#include <uapi/linux/psci.h>

#include <asm/arch_timer.h>
#include <asm/donjon.h>
#include <asm/sysreg.h>

#include "files.h"

#define SAMPLES		100
#define WARM_UP		10
#define BATCH		1000

#define PMCR_ENABLE		BIT(0)
#define PMCR_LONG_CYCLES	BIT(6)
#define CYCLE_COUNTER		BIT(31)

static DEFINE_MUTEX(measuring);
static u64 samples[SAMPLES];

static void null_call(void)
{
	__donjon_call(DONJON_FN_NULL, 0, 0, 0, 0, 0, 0);
}

static noinline void empty_function(void)
{
	asm volatile("");
}

static void function_call(void)
{
	empty_function();
}

static void firmware_call(void)
{
	struct arm_smccc_res result;

	arm_smccc_1_1_invoke(PSCI_0_2_FN_PSCI_VERSION, &result);
}

/* Between the two reads stands only what is measured, and what is subtracted. */
#define CYCLES(statement)						\
({									\
	u64 before, after;						\
									\
	asm volatile("isb; mrs %0, pmccntr_el0" : "=r" (before) :: "memory"); \
	statement;							\
	asm volatile("isb; mrs %0, pmccntr_el0" : "=r" (after) :: "memory");  \
	after - before;							\
})

static u64 cycles_of_null_call(void)
{
	return CYCLES(null_call());
}

static u64 cycles_of_function_call(void)
{
	return CYCLES(function_call());
}

static u64 cycles_of_firmware_call(void)
{
	return CYCLES(firmware_call());
}

static u64 cycles_of_nothing(void)
{
	return CYCLES((void)0);
}

/* Fill samples[]; what an empty measurement shows is subtracted. */
static void sample_cycles(u64 (*cycles)(void))
{
	u64 control, enabled, filter, empty;
	unsigned long flags;
	int i;

	local_irq_save(flags);
	control = read_sysreg(pmcr_el0);
	enabled = read_sysreg(pmcntenset_el0);
	filter = read_sysreg(pmccfiltr_el0);
	write_sysreg(0, pmccfiltr_el0);
	write_sysreg(control | PMCR_ENABLE | PMCR_LONG_CYCLES, pmcr_el0);
	write_sysreg(CYCLE_COUNTER, pmcntenset_el0);
	isb();

	for (i = 0; i < WARM_UP; i++)
		cycles();
	empty = cycles_of_nothing();
	for (i = 0; i < SAMPLES; i++)
		samples[i] = cycles() - empty;

	if (!(enabled & CYCLE_COUNTER))
		write_sysreg(CYCLE_COUNTER, pmcntenclr_el0);
	write_sysreg(filter, pmccfiltr_el0);
	write_sysreg(control, pmcr_el0);
	isb();
	local_irq_restore(flags);
}

/* Fill samples[] with nanoseconds per round trip. */
static void sample_time(void (*operation)(void))
{
	u64 ticks, frequency = arch_timer_get_cntfrq();
	unsigned long flags;
	int i, n;

	for (i = -1; i < SAMPLES; i++) {
		local_irq_save(flags);
		ticks = __arch_counter_get_cntvct();
		for (n = 0; n < BATCH; n++)
			operation();
		ticks = __arch_counter_get_cntvct() - ticks;
		local_irq_restore(flags);
		if (i >= 0)
			samples[i] = ticks * 1000000000ULL / frequency / BATCH;
	}
}

static void show_samples(struct seq_file *file, const char *name)
{
	int i;

	seq_printf(file, "%s:", name);
	for (i = 0; i < SAMPLES; i++)
		seq_printf(file, " %llu", samples[i]);
	seq_putc(file, '\n');
}

static const struct {
	const char *name;
	void (*operation)(void);
	u64 (*cycles)(void);
} operations[] = {
	{ "null_idc", null_call, cycles_of_null_call },
	{ "function_call", function_call, cycles_of_function_call },
	{ "firmware_call", firmware_call, cycles_of_firmware_call },
};

static bool available(int i)
{
	if (operations[i].operation == null_call)
		return donjon_present();
	if (operations[i].operation == firmware_call)
		return arm_smccc_1_1_get_conduit() != SMCCC_CONDUIT_NONE;
	return true;
}

static int bench_show(struct seq_file *file, void *unused)
{
	int i;

	mutex_lock(&measuring);
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!available(i))
			continue;
		sample_cycles(operations[i].cycles);
		show_samples(file, operations[i].name);
	}
	mutex_unlock(&measuring);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bench);

static int bench_wall_show(struct seq_file *file, void *unused)
{
	int i;

	mutex_lock(&measuring);
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		if (!available(i))
			continue;
		sample_time(operations[i].operation);
		show_samples(file, operations[i].name);
	}
	mutex_unlock(&measuring);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bench_wall);

int __init donjon_bench_init(struct dentry *directory)
{
	securityfs_create_file("bench", 0400, directory, NULL, &bench_fops);
	securityfs_create_file("bench_wall", 0400, directory, NULL, &bench_wall_fops);
	return 0;
}
