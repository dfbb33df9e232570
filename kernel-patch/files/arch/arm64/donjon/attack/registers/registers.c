// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write a register that decides about translation: by an instruction that stands
 * in executable memory already, or by one that the attacker puts there.
 */
#include <linux/io.h>
#include <linux/irqflags.h>

#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "attack.h"

#define ENTRIES		512
#define ROOT_ENTRIES	256
#define OUTER_START	0xffff800000000000UL
/* A kernel has more text than that */
#define FEW_PAGES	100

static const struct word write_tcr[] = {
	{ "MSR TCR_EL1", MSR(SYS_TCR_EL1) },
	{}
};

static const struct word write_vbar[] = {
	{ "MSR VBAR_EL1", MSR(SYS_VBAR_EL1) },
	{}
};

static const struct word write_ttbr0 = { "MSR TTBR0_EL1", MSR(SYS_TTBR0_EL1) };
static const struct word write_ttbr1 = { "MSR TTBR1_EL1", MSR(SYS_TTBR1_EL1) };

/* What a search has found. */
struct search {
	u32 word;
	unsigned long pages;
	unsigned long found;	/* address of the first; 0 if there is none */
};

static void search_page(struct search *search, unsigned long va, u64 pa)
{
	const __le32 *words = phys_to_virt(pa);
	unsigned int i;

	/* The gate's own writes are for other attacks */
	if (va == DONJON_GATE_PAGE)
		return;
	search->pages++;
	for (i = 0; i < PAGE_SIZE / sizeof(*words); i++)
		if ((le32_to_cpu(words[i]) & ~0x1fU) == search->word && !search->found)
			search->found = va + i * sizeof(*words);
}

static void search_table(struct search *search, u64 table, unsigned long va, int level)
{
	unsigned int shift = PAGE_SHIFT + (3 - level) * 9;
	unsigned int i, count = level ? ENTRIES : ROOT_ENTRIES;
	unsigned long size = 1UL << shift, offset;

	for (i = 0; i < count; i++) {
		u64 value = READ_ONCE(((u64 *)phys_to_virt(table))[i]);
		unsigned long at = va + i * size;

		if (!(value & DESCRIPTOR_VALID))
			continue;
		if (level < 3 && (value & DESCRIPTOR_TABLE) == DESCRIPTOR_TABLE) {
			search_table(search, PAGE_OF(value), at, level + 1);
			continue;
		}
		if (value & PTE_PXN)
			continue;
		for (offset = 0; offset < size; offset += PAGE_SIZE)
			search_page(search, at + offset, PAGE_OF(value) + offset);
	}
}

/* Find the instruction in all that is executable; run it with the value in x0. */
static void jump_to_write(const struct word *write, unsigned long value)
{
	struct search search = { .word = write->word & ~0x1fU };

	/* Where the inner domain lets us, there is one to be found. */
	poke_word(scratch(0), write->word);
	search_table(&search, kernel_root(), OUTER_START, 0);
	if (search.pages < FEW_PAGES) {
		attack_untried("only %lu executable pages were found", search.pages);
		return;
	}
	if (!search.found) {
		attack_stopped("there is no %s in executable memory", write->name);
		return;
	}
	if (search.found == scratch(0)) {
		run_scratch(value);
		attack_succeeded("%s at %#lx was executed", write->name, search.found);
	} else {
		attack_succeeded("%s stands at %#lx", write->name, search.found);
	}
}

static void jump_to_tcr_write(void)
{
	jump_to_write(write_tcr, read_sysreg(tcr_el1));
}

static void jump_to_ttbr0_write(void)
{
	unsigned long flags;

	local_irq_save(flags);
	jump_to_write(&write_ttbr0, read_sysreg(ttbr0_el1));
	local_irq_restore(flags);
}

static void jump_to_ttbr1_write(void)
{
	jump_to_write(&write_ttbr1, read_sysreg(ttbr1_el1));
}

static void jump_to_vbar_write(void)
{
	jump_to_write(write_vbar, read_sysreg(vbar_el1));
}

/* Make the instruction, and run it with the value in x0. */
static void try_to_run(const struct word *word, unsigned long value)
{
	struct donjon_result result = poke_word(scratch(0), word->word);

	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	run_scratch(value);
	attack_succeeded("%s in the module was executed", word->name);
}

static void poke_tcr_write(void)
{
	try_to_run(write_tcr, read_sysreg(tcr_el1));
}

static void seal_tcr_write(void)
{
	try_to_seal(write_tcr);
}

static void poke_vbar_write(void)
{
	try_to_run(write_vbar, read_sysreg(vbar_el1));
}

static void seal_vbar_write(void)
{
	try_to_seal(write_vbar);
}

DONJON_ATTACK("jump-to-tcr-write", "jump", jump_to_tcr_write);
DONJON_ATTACK("jump-to-ttbr-write", "user", jump_to_ttbr0_write);
DONJON_ATTACK("jump-to-ttbr-write", "kernel", jump_to_ttbr1_write);
DONJON_ATTACK("jump-to-vbar-write", "jump", jump_to_vbar_write);
DONJON_ATTACK("write-tcr-by-new-text", "poke", poke_tcr_write);
DONJON_ATTACK("write-tcr-by-new-text", "seal", seal_tcr_write);
DONJON_ATTACK("write-vbar-by-new-text", "poke", poke_vbar_write);
DONJON_ATTACK("write-vbar-by-new-text", "seal", seal_vbar_write);
