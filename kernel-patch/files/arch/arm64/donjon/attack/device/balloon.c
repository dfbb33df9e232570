// SPDX-License-Identifier: GPL-2.0-only
/*
 * A balloon takes numbers of frames, and the emulator discards those frames: they read
 * as zero afterwards. No translation of the SMMU's stands in between, so a bridge with
 * a balloon behind it is withheld. These attempts are for a build that accepts it.
 */
#include <linux/compiler.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/pgtable.h>

#include "attack.h"
#include "compartment/compartment.h"
#include "device/function.h"

#define BALLOON		0x1045
#define TABLE_WORDS	(PAGE_SIZE / sizeof(u64))

static bool is_used(const struct function_memory *memory)
{
	return READ_ONCE(memory->used_index) == cpu_to_le16(1);
}

/*
 * Have the balloon discard a frame. False if it does not answer, or goes on;
 * attack_untried() has been called.
 */
static bool discard(u64 frame)
{
	struct function_memory *memory = (void *)get_zeroed_page(GFP_KERNEL | __GFP_NOFAIL);
	bool answers;

	*(__le32 *)memory->bytes = cpu_to_le32(PHYS_PFN(frame));
	start_request(memory, sizeof(__le32), 0, __pa(&memory->used_flags));
	wait_for_function(memory, is_used);
	answers = is_used(memory);
	/* A device that goes on keeps the page */
	if (reset_function())
		free_page((unsigned long)memory);
	else
		answers = false;
	if (!answers)
		attack_untried("the balloon does not answer");
	return answers;
}

/* Whether it discards a page that the kernel may give away. */
static bool balloon_works(void)
{
	u8 *page;
	bool works;

	if (!open_function(BALLOON, "balloon"))
		return false;
	page = (u8 *)__get_free_page(GFP_KERNEL | __GFP_NOFAIL);
	memset(page, 1, PAGE_SIZE);
	/* One that answers late would discard the page when it has another owner */
	if (!discard(__pa(page)))
		return false;
	works = !memchr_inv(page, 0, PAGE_SIZE);
	free_page((unsigned long)page);
	if (!works)
		attack_untried("a page of ordinary memory is not discarded");
	return works;
}

/* A table that maps nothing but pages which are never used. */
static void table(void)
{
	void *area = vmalloc(2 * SZ_2M);
	u64 frame;

	if (!area) {
		attack_untried("no memory");
		return;
	}
	if (!balloon_works()) {
		vfree(area);
		return;
	}
	frame = PAGE_OF(walk_to(kernel_root(), ALIGN((unsigned long)area, SZ_2M), 3).entry);
	if (!memchr_inv(__va(frame), 0, PAGE_SIZE)) {
		attack_untried("the table is empty");
	} else if (discard(frame)) {
		if (!memchr_inv(__va(frame), 0, PAGE_SIZE)) {
			/* The area stays: its entries are not Linux's to remove any more */
			attack_succeeded("%lu entries of the table %#llx are gone",
					 TABLE_WORDS, frame);
			return;
		}
		if (balloon_works())
			attack_stopped("the frame is as before");
	}
	vfree(area);
}

static bool has_secret(void)
{
	struct donjon_result result = run_compartment(prepared_compartment(), LOAD, DATA, 0, 0);

	return result.status == DONJON_EXIT_RETURNED && result.value == SECRET;
}

/* From the last frame on: tables and code are first, and data are what is looked for. */
static void private(void)
{
	unsigned int i;

	if (!balloon_works() || !prepare_compartment())
		return;
	if (!has_secret()) {
		attack_untried("the compartment has no secret");
		return;
	}
	for (i = FRAMES; i-- > 0;) {
		if (!discard(private_frame(i)))
			return;
		if (!has_secret()) {
			attack_succeeded("the frame %#llx of a compartment is gone",
					 private_frame(i));
			return;
		}
	}
	if (balloon_works())
		attack_stopped("the compartment has its secret");
}

DONJON_ATTACK("write-by-device", "discard-table", table);
DONJON_ATTACK("write-by-device", "discard-private", private);
