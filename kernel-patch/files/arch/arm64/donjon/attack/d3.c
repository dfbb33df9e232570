// SPDX-License-Identifier: GPL-2.0-only
/*
 * D3: write the vectors, at every address that they have and by the call that
 * changes text.
 */
#include <linux/io.h>

#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "attack.h"

static unsigned long vectors(void)
{
	return read_sysreg(vbar_el1);
}

static u64 frame(void)
{
	struct step leaf = walk_to(kernel_root(), vectors(), 3);
	unsigned long size = 1UL << (PAGE_SHIFT + (3 - leaf.level) * 9);

	return PAGE_OF(PAGE_OF(leaf.value) + vectors() % size);
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
	touch("the linear map", phys_to_virt(frame()));
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
	result = write_entry(window.entry, kernel_page(frame()));
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

static const struct attempt attempts[] = {
	{ "linear-map", linear },
	{ "image", image },
	{ "remap", remap },
	{ "poke", poke },
	{}
};

const struct attack attack_d3 = { "D3", attempts };
