// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another CPU changes an instruction of the source, from one that is allowed
 * to one that is not and back, while the inner domain makes text of it. Whatever
 * it reads, what is in the text has to be what was looked at.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/insn.h>
#include <asm/sysreg.h>

#include "attack.h"

#define REFUSED		MSR(SYS_TCR_EL1)
/* That are accepted; others say nothing, and there are many while the other CPU stands still */
#define SEALS		10000U
#define COPIES		5000U
#define COPIED		64U
#define FLIPS		1000U
#define SECONDS		60U

/* The word that changes, in ordinary memory */
static u32 *flipping;

static void flip(void)
{
	unsigned int i;

	for (i = 0; i < FLIPS; i++) {
		WRITE_ONCE(*flipping, REFUSED);
		WRITE_ONCE(*flipping, aarch64_insn_gen_nop());
	}
}

struct counts {
	unsigned int accepted, refused, other, found;
};

/* One round; whether the word is in these words of text. */
static void count(struct counts *counts, struct donjon_result result, const u32 *text,
		  unsigned int words)
{
	if (result.status == DONJON_ERR_BAD_INSTRUCTION) {
		counts->refused++;
		return;
	}
	if (result.status) {
		counts->other++;
		return;
	}
	counts->accepted++;
	while (words--) {
		if (READ_ONCE(text[words]) == REFUSED) {
			counts->found++;
			return;
		}
	}
}

/* Whether to go on: fewer than `most` were accepted, or none was refused yet. */
static bool goes_on(const struct counts *counts, unsigned int most)
{
	return !counts->found && (counts->accepted < most || !counts->refused) && is_beside();
}

static void judge(const struct counts *counts)
{
	if (counts->found)
		attack_succeeded("MSR TCR_EL1 is in text after %u of %u calls",
				 counts->found, counts->accepted);
	else if (!counts->accepted || !counts->refused || counts->other)
		attack_untried("no race: %u accepted, %u refused, %u for other reasons",
			       counts->accepted, counts->refused, counts->other);
	else
		attack_stopped("what was looked at is what is there: %u accepted, %u refused",
			       counts->accepted, counts->refused);
}

static void copy(void)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);
	struct counts counts = {};

	if (!page) {
		attack_untried("there is no page to work with");
		return;
	}
	memset32((u32 *)page, aarch64_insn_gen_nop(), COPIED);
	flipping = (u32 *)page + COPIED / 2;
	if (begin_beside(flip, SECONDS)) {
		while (goes_on(&counts, COPIES))
			count(&counts,
			      __donjon_call(DONJON_FN_TEXT_POKE, scratch(0),
					    virt_to_phys((void *)page),
					    COPIED * sizeof(u32), DONJON_POKE_COPY, 0, 0),
			      (u32 *)scratch(0), COPIED);
		end_beside();
		if (counts.found)
			undo_later(put_nops, scratch(0), COPIED * sizeof(u32));
		judge(&counts);
	}
	free_page(page);
}

static void free_page_of_code(u64 va, u64 unused)
{
	vfree((void *)va);
}

/* Map the page of data again, and give the text back. */
static bool unseal(u64 entry, u64 value)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_TABLE_WRITE, entry, 0, 0, 0, 0, 0);
	if (!result.status)
		result = __donjon_call(DONJON_FN_TABLE_WRITE, entry, value, 0, 0, 0, 0);
	return !result.status;
}

static void seal(void)
{
	unsigned int words = PAGE_SIZE / sizeof(u32);
	u32 *code = vmalloc(PAGE_SIZE);
	struct counts counts = {};
	struct step step;

	if (!code) {
		attack_untried("there is no page to work with");
		return;
	}
	undo_later(free_page_of_code, (u64)code, 0);
	memset32(code, aarch64_insn_gen_nop(), words);
	step = walk_to(kernel_root(), (unsigned long)code, 3);
	/* The frame stays ordinary memory, whatever is mapped in its place */
	flipping = (u32 *)phys_to_virt(PAGE_OF(step.value)) + words / 2;
	if (!begin_beside(flip, SECONDS))
		return;
	while (goes_on(&counts, SEALS)) {
		struct donjon_result result = seal_page((unsigned long)code);

		count(&counts, result, code, words);
		/* What was found stays for the auditor */
		if (!result.status && !counts.found && !unseal(step.entry, step.value))
			counts.other++;
	}
	end_beside();
	judge(&counts);
}

DONJON_ATTACK("change-source-of-text", "seal", seal);
DONJON_ATTACK("change-source-of-text", "copy", copy);
