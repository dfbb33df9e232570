// SPDX-License-Identifier: GPL-2.0-only
/*
 * An instruction of each class, hidden in a module's text, in a page of
 * generated code, among others that are harmless, in the kernel's own text as a
 * jump label would be, and in text by the hand of the inner domain.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/panic.h>
#include <linux/string.h>

#include <asm/insn.h>
#include <asm/sysreg.h>

#include "attack.h"

static const struct word forbidden[] = {
	{ "HVC", 0xd4000002 },
	{ "SMC", 0xd4000003 },
	{ "SVC", 0xd4000001 },
	{ "HLT", 0xd4400000 },
	{ "DCPS1", 0xd4a00001 },
	{ "MSR TCR_EL1", MSR(SYS_TCR_EL1) },
	{ "MSR TTBR0_EL1", MSR(SYS_TTBR0_EL1) },
	{ "MSR TTBR1_EL1", MSR(SYS_TTBR1_EL1) },
	{ "MSR SCTLR_EL1", MSR(SYS_SCTLR_EL1) },
	{ "MSR VBAR_EL1", MSR(SYS_VBAR_EL1) },
	{ "MSR MAIR_EL1", MSR(SYS_MAIR_EL1) },
	{ "MSR SPSel", 0xd50041bf },
	{ "AT S12E1R", 0xd50c7880 },
	{ "DC ISW", 0xd5087640 },
	{ "TLBI IPAS2E1IS", 0xd50c8020 },
	{}
};

/* MSRR and SYSP: two registers at a time */
#define MSRR(register)		(0xd5400000U | ((register) & 0x1fffe0))
#define SYSP(op1, crn, crm, op2) \
	(0xd5480000U | (op1) << 16 | (crn) << 12 | (crm) << 8 | (op2) << 5)

/*
 * Registers and instructions that came with later versions of the architecture. A
 * list of what is forbidden would not know them.
 */
static const struct word later[] = {
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
	try_to_poke(forbidden);
}

static void generated(void)
{
	try_to_seal(forbidden);
}

static void later_in_module(void)
{
	try_to_poke(later);
}

static void later_generated(void)
{
	try_to_seal(later);
}

static void judge(struct donjon_result result, const char *where)
{
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("HVC is in %s", where);
}

/* Text that runs only when all is over. */
static void kernel(void)
{
	judge(poke_word((unsigned long)panic, forbidden[0].word), "the kernel's text");
}

/* The last of a list that is copied. */
static void among(void)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	struct donjon_result result;
	u32 *list = (u32 *)page;
	size_t bytes = SCRATCH_WORDS * sizeof(*list);

	if (!page) {
		attack_untried("there is no page to work with");
		return;
	}
	memset32(list, aarch64_insn_gen_nop(), SCRATCH_WORDS);
	list[SCRATCH_WORDS - 1] = forbidden[0].word;
	result = poke_stopped(scratch(0), virt_to_phys(list), bytes, DONJON_POKE_COPY);
	if (!result.status)
		undo_later(put_nops, scratch(0), bytes);
	free_page(page);
	judge(result, "a list of instructions");
}

/* By the hand of the inner domain, as the answer to a call. */
static void reply(void)
{
	u64 place = PAGE_OF(walk_to(kernel_root(), scratch(0), 3).value) +
		    offset_in_page(scratch(REPLY_HEADER / sizeof(u32)));
	u64 pair = (u64)forbidden[0].word << 32 | forbidden[0].word;
	struct donjon_result result;

	result = reply_refusal(place, pair);
	if (!result.status)
		undo_later(put_nops, scratch(0), SCRATCH_WORDS * sizeof(u32));
	if (READ_ONCE(*(u32 *)scratch(REPLY_HEADER / sizeof(u32))) == forbidden[0].word)
		attack_succeeded("HVC is in the module's text");
	else
		attack_stopped("refused: %s", attack_why(result));
}

static void log_in_text(void)
{
	u64 place = PAGE_OF(walk_to(kernel_root(), scratch(0), 3).value) +
		    offset_in_page(scratch(SCRATCH_WORDS / 2));
	struct donjon_result result = reply_log(place);

	if (!result.status)
		undo_later(put_nops, scratch(0), SCRATCH_WORDS * sizeof(u32));
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("the log is in the module's text");
}

DONJON_ATTACK("hide-instructions", "module", module);
DONJON_ATTACK("hide-instructions", "generated", generated);
DONJON_ATTACK("hide-instructions", "among-others", among);
DONJON_ATTACK("hide-instructions", "kernel", kernel);
DONJON_ATTACK("hide-instructions", "reply", reply);
DONJON_ATTACK("hide-instructions", "log", log_in_text);
DONJON_ATTACK("hide-later-instructions", "module", later_in_module);
DONJON_ATTACK("hide-later-instructions", "generated", later_generated);
