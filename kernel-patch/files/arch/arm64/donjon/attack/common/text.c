// SPDX-License-Identifier: GPL-2.0-only
/*
 * What attempts use to get an instruction into executable memory, and to run it.
 * The scratch is text of this module that does nothing but return.
 */
#include <linux/atomic.h>
#include <linux/cacheflush.h>
#include <linux/cpumask.h>
#include <linux/io.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

#include <asm/insn.h>

#include "attack.h"

asm(".pushsection .text, \"ax\"\n"
	".balign	2048\n"
	".global	donjon_attack_scratch\n"
	"donjon_attack_scratch:\n"
	"bti	c\n"
	".rept	" __stringify(SCRATCH_WORDS) "\n"
	"nop\n"
	".endr\n"
	"ret\n"
	".popsection\n");

unsigned long scratch(unsigned int index)
{
	return (unsigned long)&donjon_attack_scratch[1 + index];
}

unsigned long run_scratch(unsigned long x0)
{
	unsigned long (*function)(unsigned long) = (void *)donjon_attack_scratch;

	return function(x0);
}

/* A change for which the attacker has all other CPUs wait inside. */
struct stopped_poke {
	u64 va, source, bytes, kind;
	struct donjon_result result;
	atomic_t arrived;
	bool done;
};

static int stopped_poke(void *data)
{
	u64 end = ktime_get_mono_fast_ns() + 10 * NSEC_PER_SEC;
	struct stopped_poke *poke = data;

	if (atomic_inc_return(&poke->arrived) < num_online_cpus()) {
		/* Pairs with the release below */
		while (!smp_load_acquire(&poke->done))
			__donjon_call(DONJON_FN_TEXT_WAIT, 0, 0, 0, 0, 0, 0);
		return 0;
	}
	do {
		poke->result = __donjon_call(DONJON_FN_TEXT_POKE, poke->va,
					     poke->source, poke->bytes,
					     poke->kind | DONJON_POKE_STOPPED, 0, 0);
	} while (poke->result.status == DONJON_ERR_BUSY &&
		 ktime_get_mono_fast_ns() < end);
	/* Pairs with the acquire above: nothing is used here any more */
	smp_store_release(&poke->done, true);
	return 0;
}

struct donjon_result poke_stopped(unsigned long va, u64 source, size_t bytes, u64 kind)
{
	struct stopped_poke poke = {
		.va = va, .source = source, .bytes = bytes, .kind = kind,
	};

	stop_machine(stopped_poke, &poke, cpu_online_mask);
	return poke.result;
}

void put_nops(u64 va, u64 bytes)
{
	poke_stopped(va, aarch64_insn_gen_nop(), bytes, DONJON_POKE_FILL);
}

static void put_back(u64 va, u64 word)
{
	poke_stopped(va, word, sizeof(u32), DONJON_POKE_VALUE);
}

struct donjon_result poke_word(unsigned long va, u32 word)
{
	u32 old = le32_to_cpu(READ_ONCE(*(__le32 *)va));
	struct donjon_result result;

	result = poke_stopped(va, word, sizeof(word), DONJON_POKE_VALUE);
	if (!result.status)
		undo_later(put_back, va, old);
	return result;
}

/* Whether the refusal is of this word, there. */
static bool is_of(struct donjon_result result, u32 word, u32 offset)
{
	return result.status == DONJON_ERR_BAD_INSTRUCTION &&
	       result.value == ((u64)word << 32 | offset);
}

void try_to_poke(const struct word *words)
{
	struct donjon_result result;
	unsigned int accepted = 0, count = 0;
	const char *first = "";

	for (; words->name; words++, count++) {
		result = poke_word(scratch(count % SCRATCH_WORDS), words->word);
		if (!result.status) {
			if (!accepted++)
				first = words->name;
		} else if (!is_of(result, words->word, 0)) {
			attack_untried("%s: %s", words->name, attack_why(result));
			return;
		}
	}
	if (accepted)
		attack_succeeded("%u of %u are in the module's text, the first is %s",
				 accepted, count, first);
	else
		attack_stopped("refused: each of %u instructions, by name", count);
}

static void free_page_of_code(u64 va, u64 unused)
{
	vfree((void *)va);
}

struct donjon_result seal_page(unsigned long va)
{
	struct donjon_result result;

	do {
		result = __donjon_call(DONJON_FN_TEXT_SEAL, va, 0, 0, 0, 0, 0);
	} while (!result.status && result.value);
	return result;
}

/* In the last word, behind many that are harmless. */
static struct donjon_result seal_word(unsigned long va, u32 word)
{
	u32 *code = (u32 *)va;

	memset32(code, aarch64_insn_gen_nop(), PAGE_SIZE / sizeof(*code));
	code[PAGE_SIZE / sizeof(*code) - 1] = word;
	return seal_page(va);
}

void seal_page_of(u32 word)
{
	void *page = vmalloc(PAGE_SIZE);
	struct donjon_result result;

	if (!page) {
		attack_untried("there is no page to work with");
		return;
	}
	undo_later(free_page_of_code, (u64)page, 0);
	memset32(page, word, PAGE_SIZE / sizeof(word));
	result = seal_page((unsigned long)page);
	if (result.status)
		attack_untried("%s", attack_why(result));
	else
		attack_stopped("a page of %#x is executable", word);
}

void try_to_seal(const struct word *words)
{
	struct donjon_result result;
	unsigned int count = 0;
	void *page = NULL;

	for (; words->name; words++, count++) {
		if (!page) {
			page = vzalloc(PAGE_SIZE);
			if (!page) {
				attack_untried("there is no page to work with");
				return;
			}
			undo_later(free_page_of_code, (u64)page, 0);
		}
		result = seal_word((unsigned long)page, words->word);
		if (!result.status) {
			attack_succeeded("a page with %s is executable", words->name);
			return;
		}
		if (!is_of(result, words->word, PAGE_SIZE - sizeof(u32))) {
			attack_untried("%s: %s", words->name, attack_why(result));
			return;
		}
	}
	attack_stopped("refused: each of %u instructions, by name", count);
}
