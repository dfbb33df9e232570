// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calling the firmware through the inner domain, in place of SMC and HVC.
 */
#include <linux/arm-smccc.h>
#include <linux/compiler.h>
#include <linux/export.h>

#include <asm/donjon.h>
#include <asm/donjon_firmware.h>

static noinstr unsigned long firmware(unsigned long id, unsigned long a1,
				      unsigned long a2, unsigned long a3)
{
	struct donjon_result result;

	if (!donjon_present())
		return SMCCC_RET_NOT_SUPPORTED;
	result = __donjon_call(DONJON_FN_FIRMWARE, id, a1, a2, a3, 0, 0);
	return result.status ? SMCCC_RET_NOT_SUPPORTED : result.value;
}

/* Called during entry, for a work-around of the branch predictor */
noinstr void donjon_smccc(unsigned long id, unsigned long a1, unsigned long a2,
			  unsigned long a3, struct arm_smccc_res *res)
{
	unsigned long value = firmware(id, a1, a2, a3);

	if (res)
		*res = (struct arm_smccc_res){ .a0 = value };
}
EXPORT_SYMBOL(donjon_smccc);

/* More arguments than the inner domain takes: no call on its list has them. */
static void smccc(unsigned long a0, unsigned long a1, unsigned long a2,
		  unsigned long a3, bool more, struct arm_smccc_res *res)
{
	if (more)
		*res = (struct arm_smccc_res){ .a0 = SMCCC_RET_NOT_SUPPORTED };
	else
		donjon_smccc(a0, a1, a2, a3, res);
}

asmlinkage void __arm_smccc_smc(unsigned long a0, unsigned long a1,
				unsigned long a2, unsigned long a3,
				unsigned long a4, unsigned long a5,
				unsigned long a6, unsigned long a7,
				struct arm_smccc_res *res,
				struct arm_smccc_quirk *quirk)
{
	smccc(a0, a1, a2, a3, a4 || a5 || a6 || a7, res);
}
EXPORT_SYMBOL(__arm_smccc_smc);

asmlinkage void __arm_smccc_hvc(unsigned long a0, unsigned long a1,
				unsigned long a2, unsigned long a3,
				unsigned long a4, unsigned long a5,
				unsigned long a6, unsigned long a7,
				struct arm_smccc_res *res,
				struct arm_smccc_quirk *quirk)
{
	smccc(a0, a1, a2, a3, a4 || a5 || a6 || a7, res);
}
EXPORT_SYMBOL(__arm_smccc_hvc);

static void smccc_1_2(const struct arm_smccc_1_2_regs *args,
		      struct arm_smccc_1_2_regs *res)
{
	unsigned long value = firmware(args->a0, args->a1, args->a2, args->a3);

	*res = (struct arm_smccc_1_2_regs){ .a0 = value };
}

asmlinkage void arm_smccc_1_2_smc(const struct arm_smccc_1_2_regs *args,
				  struct arm_smccc_1_2_regs *res)
{
	smccc_1_2(args, res);
}
EXPORT_SYMBOL(arm_smccc_1_2_smc);

asmlinkage void arm_smccc_1_2_hvc(const struct arm_smccc_1_2_regs *args,
				  struct arm_smccc_1_2_regs *res)
{
	smccc_1_2(args, res);
}
EXPORT_SYMBOL(arm_smccc_1_2_hvc);
