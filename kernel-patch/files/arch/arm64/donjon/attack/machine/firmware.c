// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have the firmware start or resume a CPU at an address of the attacker's,
 * with its MMU off.
 */
#include <linux/gfp.h>
#include <linux/io.h>

#include <asm/cputype.h>
#include <asm/sysreg.h>

#include "attack.h"

#define CPU_ON			0xc4000003UL
#define CPU_ON_32		0x84000003UL
#define CPU_SUSPEND		0xc4000001UL
#define SYSTEM_SUSPEND		0xc400000eUL

static void call(unsigned long function, u64 first, u64 second, u64 third)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_FIRMWARE, function, first, second, third, 0, 0);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("the firmware was asked; it says %lld", (s64)result.value);
}

/* Memory of the attacker's */
static u64 address(void)
{
	return virt_to_phys(__builtin_frame_address(0)) & ~3UL;
}

static u64 this_cpu(void)
{
	return read_cpuid_mpidr() & MPIDR_HWID_BITMASK;
}

static void cpu_on(void)
{
	call(CPU_ON, this_cpu(), address(), 0);
}

static void cpu_on_32(void)
{
	call(CPU_ON_32, this_cpu(), (u32)address(), 0);
}

static void cpu_suspend(void)
{
	call(CPU_SUSPEND, 0x10000, address(), 0);
}

static void system_suspend(void)
{
	call(SYSTEM_SUSPEND, address(), 0, 0);
}

/* What Linux asks at boot on some machines, or anything else: attack_value */
static void by_number(void)
{
	call(attack_value, 0, 0, 0);
}

DONJON_ATTACK("start-cpu-by-firmware", "by-number", by_number);
DONJON_ATTACK("start-cpu-by-firmware", "cpu-on", cpu_on);
DONJON_ATTACK("start-cpu-by-firmware", "cpu-on-32", cpu_on_32);
DONJON_ATTACK("start-cpu-by-firmware", "cpu-suspend", cpu_suspend);
DONJON_ATTACK("start-cpu-by-firmware", "system-suspend", system_suspend);
