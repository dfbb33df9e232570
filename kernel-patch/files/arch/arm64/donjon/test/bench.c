// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/security/donjon/bench and bench_wall: 100 samples each of a null
 * call, an empty function and an empty firmware call.
 *
 * bench reads PMCCNTR_EL0: cycles on silicon, instructions in QEMU under
 * -icount shift=0. bench_wall reads the virtual counter, in nanoseconds per
 * round trip over a batch.
 *
 * The firmware call is measured at boot: later there is no SMC and no HVC.
 */
#include <linux/dcache.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include <uapi/linux/psci.h>

#include <asm/arch_timer.h>
#include <asm/donjon.h>
#include <asm/sysreg.h>

#include "bench.h"
#include "files.h"

#define SAMPLES		100
#define WARM_UP		10
#define BATCH		1000
#define FIRMWARE_BATCH	100

static DEFINE_MUTEX(measuring);
static u64 samples[SAMPLES];

static u64 firmware_cycles[SAMPLES] __ro_after_init;
static u64 firmware_time[SAMPLES] __ro_after_init;
static bool firmware_measured __ro_after_init;
static bool conduit_is_hvc __initdata;

static noinline void empty_function(void)
{
	asm volatile("");
}

static u64 cycles_of_call(unsigned long target, unsigned long first)
{
	unsigned long second = 0;

	return MEASURE("blr %[target]");
}

static u64 cycles_of_nothing(void)
{
	unsigned long target = 0, first = 0, second = 0;

	return MEASURE("");
}

static u64 cycles_of_null_call(void)
{
	return cycles_of_call(DONJON_GATE, DONJON_FN_NULL);
}

static u64 cycles_of_function_call(void)
{
	return cycles_of_call((unsigned long)empty_function, 0);
}

static u64 __init cycles_of_firmware_call(void)
{
	unsigned long target = 0, first = PSCI_0_2_FN_PSCI_VERSION, second = 0;

	if (conduit_is_hvc)
		return MEASURE("hvc #0");
	return MEASURE("smc #0");
}

static void null_call(void)
{
	__donjon_call(DONJON_FN_NULL, 0, 0, 0, 0, 0, 0);
}

static void __init firmware_call(void)
{
	cycles_of_firmware_call();
}

/*
 * Fill samples[]; what an empty measurement shows is subtracted. The least of
 * several, because the first runs with cold caches where cycles are counted.
 */
static void sample_cycles(u64 (*cycles)(void))
{
	struct bench_counter before;
	unsigned long flags;
	u64 empty = U64_MAX;
	int i;

	local_irq_save(flags);
	donjon_bench_count(&before);

	for (i = 0; i < WARM_UP; i++)
		cycles();
	for (i = 0; i < WARM_UP; i++)
		empty = min(empty, cycles_of_nothing());
	for (i = 0; i < SAMPLES; i++)
		samples[i] = cycles() - empty;

	donjon_bench_put_back(&before);
	local_irq_restore(flags);
}

/* Fill samples[] with nanoseconds per round trip. */
static void sample_time(void (*operation)(void), int batch)
{
	u64 ticks, frequency = arch_timer_get_cntfrq();
	unsigned long flags;
	int i, n;

	for (i = -1; i < SAMPLES; i++) {
		local_irq_save(flags);
		ticks = __arch_counter_get_cntvct();
		for (n = 0; n < batch; n++)
			operation();
		ticks = __arch_counter_get_cntvct() - ticks;
		local_irq_restore(flags);
		if (i >= 0)
			samples[i] = ticks * 1000000000ULL / frequency / batch;
	}
}

static void show_samples(struct seq_file *file, const char *name, const u64 *values)
{
	donjon_bench_show(file, name, values, SAMPLES);
}

static const struct {
	const char *name;
	void (*operation)(void);
	u64 (*cycles)(void);
} operations[] = {
	{ "null_idc", null_call, cycles_of_null_call },
	{ "function_call", empty_function, cycles_of_function_call },
};

static bool available(int i)
{
	if (operations[i].operation == null_call)
		return donjon_present();
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
		show_samples(file, operations[i].name, samples);
	}
	if (firmware_measured)
		show_samples(file, "firmware_call", firmware_cycles);
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
		sample_time(operations[i].operation, BATCH);
		show_samples(file, operations[i].name, samples);
	}
	if (firmware_measured)
		show_samples(file, "firmware_call", firmware_time);
	mutex_unlock(&measuring);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(bench_wall);

static void __init measure_firmware(void)
{
	struct device_node *node = of_find_node_by_path("/psci");
	const char *method;

	if (node && !of_property_read_string(node, "method", &method)) {
		conduit_is_hvc = !strcmp(method, "hvc");
		sample_cycles(cycles_of_firmware_call);
		memcpy(firmware_cycles, samples, sizeof(samples));
		sample_time(firmware_call, FIRMWARE_BATCH);
		memcpy(firmware_time, samples, sizeof(samples));
		firmware_measured = true;
	}
	of_node_put(node);
}

void __init donjon_bench_init(struct dentry *directory)
{
	measure_firmware();
	securityfs_create_file("bench", 0400, directory, NULL, &bench_fops);
	securityfs_create_file("bench_wall", 0400, directory, NULL, &bench_wall_fops);
}
