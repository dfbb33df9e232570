// SPDX-License-Identifier: GPL-2.0-only
/*
 * The key of PACGA is Linux's to write, and nothing enables or disables it: on
 * all CPUs a key that a process can notice.
 */
#include <linux/errno.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/smp.h>

#include <asm/cpufeature.h>
#include <asm/sysreg.h>

static bool has_generic_key(void)
{
	u64 first = read_sysreg_s(SYS_ID_AA64ISAR1_EL1);
	u64 second = read_sysreg_s(SYS_ID_AA64ISAR2_EL1);

	return first & (ID_AA64ISAR1_EL1_GPA_MASK | ID_AA64ISAR1_EL1_GPI_MASK) ||
	       second & ID_AA64ISAR2_EL1_GPA3_MASK;
}

static void write_key(void *key)
{
	write_sysreg_s(*(u64 *)key, SYS_APGAKEYLO_EL1);
	write_sysreg_s(~*(u64 *)key, SYS_APGAKEYHI_EL1);
	isb();
}

static int set_generic_key(const char *value, const struct kernel_param *param)
{
	u64 key;
	int error = kstrtou64(value, 0, &key);

	if (error)
		return error;
	if (!has_generic_key())
		return -ENODEV;
	on_each_cpu(write_key, &key, true);
	return 0;
}

static const struct kernel_param_ops generic_key_ops = { .set = set_generic_key };

module_param_cb(generic_key, &generic_key_ops, NULL, 0200);
MODULE_PARM_DESC(generic_key, "the low half of a key of PACGA, for all CPUs");
