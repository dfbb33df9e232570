// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page that is becoming text, a part in each call, and becomes private memory
 * between two of them. What is copied to text can be read.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <asm/insn.h>

#include "common/block.h"
#include "compartment.h"

/* Words that the first call copies */
#define COPIED_BEFORE	256

/* Map a frame of the attacker's, full of an instruction that is not in the secret. */
static bool fill_window(const struct window *window, u64 pa)
{
	u32 harmless = aarch64_insn_gen_hint(AARCH64_INSN_HINT_YIELD);

	if (write_entry(window->entry, kernel_page(pa)).status) {
		attack_untried("the page cannot be mapped");
		return false;
	}
	memset32((u32 *)window->va, harmless, PAGE_SIZE / sizeof(harmless));
	return true;
}

const u64 *next_text_frame(const struct window *window, u64 pa)
{
	const u64 *text;

	if (!fill_window(window, pa))
		return NULL;
	if (seal_page(window->va).status) {
		attack_untried("no page becomes text");
		return NULL;
	}
	text = phys_to_virt(frame_of(window->va));
	write_entry(window->entry, 0);
	return text;
}

static bool was_copied(const u64 *text)
{
	unsigned int i;
	u64 value;

	for (i = COPIED_BEFORE / 2; i < PAGE_SIZE / sizeof(value); i++)
		if (try_load(text + i, &value) && value == SECRET)
			return true;
	return false;
}

bool begin_seal(const struct window *window, u64 pa)
{
	struct donjon_result result;

	if (!fill_window(window, pa))
		return false;
	result = __donjon_call(DONJON_FN_TEXT_SEAL, window->va, 0, 0, 0, 0, 0);
	if (!result.status && result.value)
		return true;
	attack_untried("the page does not begin to become text");
	return false;
}

/* For one frame of the block at a time: one of them gets the secret. */
static void seal(void)
{
	struct donjon_result result = {};
	struct window window;
	struct page *block;
	const u64 *text;
	unsigned int i;
	u64 frame;

	if (!open_window(&window))
		return;
	for (i = 0; i < FRAMES; i++) {
		if (!prepare_compartment())
			return;
		frame = private_frame(i);
		block = take_block_back();
		if (!block)
			return attack_untried("the block did not come back");
		text = next_text_frame(&window, frame);
		if (!text || !begin_seal(&window, frame)) {
			free_attack_block(block, DONJON_RESERVE_COMPARTMENTS);
			return;
		}
		write_entry(window.entry, 0);
		if (!prepare_compartment_in(block))
			return;
		result = seal_page(window.va);
		if (was_copied(text))
			return attack_succeeded("the secret of frame %u is in text", i);
	}
	attack_stopped("refused: %s", attack_why(result));
}

DONJON_ATTACK("read-compartment", "seal", seal);
