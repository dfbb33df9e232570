// SPDX-License-Identifier: GPL-2.0-only
/*
 * F20: registers and instructions that came with later versions of the
 * architecture. A list of what is forbidden would not know them.
 */
#include <asm/sysreg.h>

#include "attack.h"

/* MSRR and SYSP: two registers at a time */
#define MSRR(register)		(0xd5400000U | ((register) & 0x1fffe0))
#define SYSP(op1, crn, crm, op2) \
	(0xd5480000U | (op1) << 16 | (crn) << 12 | (crm) << 8 | (op2) << 5)

static const struct word words[] = {
	{ "MSR TCR2_EL1", MSR(sys_reg(3, 0, 2, 0, 3)) },
	{ "MSR SCTLR2_EL1", MSR(sys_reg(3, 0, 1, 0, 3)) },
	{ "MSR PIR_EL1", MSR(sys_reg(3, 0, 10, 2, 3)) },
	{ "MSR PIRE0_EL1", MSR(sys_reg(3, 0, 10, 2, 2)) },
	{ "MSR POR_EL1", MSR(sys_reg(3, 0, 10, 2, 4)) },
	{ "MSR MAIR2_EL1", MSR(sys_reg(3, 0, 10, 2, 1)) },
	{ "MSR TRBLIMITR_EL1", MSR(sys_reg(3, 0, 9, 11, 0)) },
	{ "MSR PMBLIMITR_EL1", MSR(sys_reg(3, 0, 9, 10, 0)) },
	{ "MSR GCSCR_EL1", MSR(sys_reg(3, 0, 2, 5, 0)) },
	{ "MSRR TTBR0_EL1", MSRR(sys_reg(3, 0, 2, 0, 0)) },
	{ "MSRR TTBR1_EL1", MSRR(sys_reg(3, 0, 2, 0, 1)) },
	{ "TLBIP VAE1", SYSP(0, 8, 7, 1) },
	{ "an instruction without a name", MSR(sys_reg(3, 0, 11, 15, 7)) },
	{}
};

static void module(void)
{
	try_to_poke(words);
}

static void generated(void)
{
	try_to_seal(words);
}

DONJON_ATTACK("F20", "module", module);
DONJON_ATTACK("F20", "generated", generated);
