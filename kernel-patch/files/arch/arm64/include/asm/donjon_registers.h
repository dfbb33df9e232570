/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers that only the inner domain writes: TTBR0_EL1 and SCTLR_EL1.
 */
#ifndef __ASM_DONJON_REGISTERS_H
#define __ASM_DONJON_REGISTERS_H

#include <asm/sysreg.h>

#ifdef CONFIG_DONJON

#include <linux/types.h>

/* Load a user root with its ASID; with root 0 no address is mapped. */
void donjon_switch_root(phys_addr_t root, unsigned long asid);

void donjon_write_sctlr(u64 value);

#define write_sctlr_el1(value)	donjon_write_sctlr(value)

#define sctlr_el1_clear_set(clear, set) do {				\
	u64 __scs_val = read_sysreg(sctlr_el1);				\
	u64 __scs_new = (__scs_val & ~(u64)(clear)) | (set);		\
	if (__scs_new != __scs_val)					\
		donjon_write_sctlr(__scs_new);				\
} while (0)

/* Whether the code that runs without an inner domain has to stay. */
bool donjon_keeps_init(void);

#else /* !CONFIG_DONJON */

#define write_sctlr_el1(value)	write_sysreg(value, sctlr_el1)

#define sctlr_el1_clear_set(clear, set)					\
	sysreg_clear_set(sctlr_el1, clear, set)

static inline bool donjon_keeps_init(void)
{
	return false;
}

#endif /* CONFIG_DONJON */

#endif /* __ASM_DONJON_REGISTERS_H */
