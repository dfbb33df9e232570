// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding the Donjon inner domain and calling it.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/export.h>
#include <linux/init.h>
#include <linux/of.h>

#include <asm/donjon.h>
#include <asm/sysreg.h>

static bool present __ro_after_init;

bool donjon_present(void)
{
	return present;
}
EXPORT_SYMBOL_GPL(donjon_present);

/* Call the inner domain, or return -ENODEV where there is none. */
struct donjon_result donjon_call(unsigned long function, unsigned long a1,
				 unsigned long a2, unsigned long a3,
				 unsigned long a4, unsigned long a5,
				 unsigned long a6)
{
	if (!present)
		return (struct donjon_result){ .status = -ENODEV };
	return __donjon_call(function, a1, a2, a3, a4, a5, a6);
}
EXPORT_SYMBOL_GPL(donjon_call);

int donjon_cpu_on(unsigned long mpidr, unsigned long entry)
{
	struct donjon_result result;

	result = donjon_call(DONJON_FN_CPU_ON, mpidr, entry, 0, 0, 0, 0);
	if (!result.status)
		return 0;
	pr_err("CPU with MPIDR %#lx does not start: error %ld, firmware %ld\n",
	       mpidr, result.status, (long)result.value);
	return -ENODEV;
}

/* Refuse a CPU whose registers are not what gate and vectors take for granted. */
int donjon_check_cpu(unsigned int cpu)
{
	u64 tcr = read_sysreg(tcr_el1);
	u64 asid = read_sysreg(ttbr1_el1) >> 48;

	if (tcr == DONJON_TCR_OUTER && asid == DONJON_RESERVED_ASID)
		return 0;
	pr_err("CPU%u has TCR_EL1 %#llx and ASID %#llx, expected %#lx and %#lx\n",
	       cpu, tcr, asid, DONJON_TCR_OUTER, DONJON_RESERVED_ASID);
	return -EINVAL;
}

/*
 * Before the first call of the firmware, which is the inner domain's to make.
 */
void __init donjon_init(void)
{
	struct device_node *node;
	struct donjon_result result;

	node = of_find_compatible_node(NULL, NULL, "donjon,inner-domain");
	if (!node) {
		pr_warn("no inner domain: this kernel was not started by the boot image\n");
		return;
	}
	of_node_put(node);

	if (donjon_check_cpu(smp_processor_id()))
		return;
	result = __donjon_call(DONJON_FN_VERSION, DONJON_ABI_VERSION,
			       0, 0, 0, 0, 0);
	if (result.status) {
		pr_err("inner domain speaks version %#lx, this kernel %#lx\n",
		       result.value, DONJON_ABI_VERSION);
		return;
	}
	present = true;
	pr_info("inner domain found, call interface %lu.%lu\n",
		result.value >> 16, result.value & 0xffff);
}
