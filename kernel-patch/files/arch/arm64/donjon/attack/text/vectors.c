// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write the vectors, at every address that they have and by the call that
 * changes text; or put others where VBAR_EL1 says that they are.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/stop_machine.h>
#include <linux/string.h>

#include <asm/insn.h>
#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "attack.h"

/* The slots for exceptions from EL1, and the branch at the end of the comparison */
#define SLOTS		8
#define SLOT		SZ_128
#define BRANCH		(6 * sizeof(u32))

static unsigned long vectors(void)
{
	return read_sysreg(vbar_el1);
}

static void touch(const char *what, u64 *word)
{
	if (try_touch(word))
		attack_succeeded("a store through %s went through", what);
	else
		attack_stopped("the store through %s faulted", what);
}

static void linear(void)
{
	touch("the linear map", phys_to_virt(frame_of(vectors())));
}

static void image(void)
{
	touch("the kernel's image", (u64 *)vectors());
}

static void remap(void)
{
	struct donjon_result result;
	struct window window;

	if (!open_window(&window))
		return;
	result = write_entry(window.entry, kernel_page(frame_of(vectors())));
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		touch("another mapping", (u64 *)window.va);
}

/* The word that stands there, so that nothing breaks. */
static void poke(void)
{
	u32 word = READ_ONCE(*(u32 *)vectors());
	struct donjon_result result = poke_word(vectors(), word);

	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("the inner domain wrote the first vector");
}

static void free_copy(u64 va, u64 unused)
{
	free_page(va);
}

/* Runs while all other CPUs are stopped: none may take an exception. */
static int exchange(void *copy)
{
	unsigned long page = vectors() & PAGE_MASK;
	struct step leaf = walk_to(kernel_root(), page, 3);
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_TABLE_WRITE, leaf.entry, 0, 0, 0, 0, 0);
	if (!result.status)
		result = __donjon_call(DONJON_FN_TABLE_WRITE, leaf.entry,
				       kernel_page(virt_to_phys(copy)), 0, 0, 0, 0);
	if (!result.status)
		result = seal_page(page);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("the vectors compare nothing any more");
	return 0;
}

static void replace(void)
{
	void *copy = (void *)__get_free_page(GFP_KERNEL);
	unsigned int slot;

	if (!copy) {
		attack_untried("there is no memory");
		return;
	}
	undo_later(free_copy, (u64)copy, 0);
	memcpy(copy, (void *)(vectors() & PAGE_MASK), PAGE_SIZE);
	for (slot = 0; slot < SLOTS; slot++)
		*(u32 *)(copy + offset_in_page(vectors()) + slot * SLOT + BRANCH) =
			aarch64_insn_gen_nop();
	stop_machine(exchange, copy, NULL);
}

DONJON_ATTACK("replace-vectors", "linear-map", linear);
DONJON_ATTACK("replace-vectors", "image", image);
DONJON_ATTACK("replace-vectors", "remap", remap);
DONJON_ATTACK("replace-vectors", "poke", poke);
DONJON_ATTACK("replace-vectors", "replace", replace);
