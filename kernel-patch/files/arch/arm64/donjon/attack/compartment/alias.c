// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a compartment, by Linux's own ways to map a page, which are not
 * told of a refusal: it is the access that tells.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <asm/pgtable.h>

#include "compartment.h"

/* Reads each frame that the compartment may have. */
static void look(bool (*reads)(u64 pa, u64 *value))
{
	unsigned int i, loaded = 0;
	u64 value;

	if (!prepare_compartment())
		return;
	for (i = 0; i < FRAMES; i++) {
		if (!reads(private_frame(i), &value))
			continue;
		if (value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
		loaded++;
	}
	if (loaded)
		attack_succeeded("%u frames can be read", loaded);
	else
		attack_stopped("each load faults");
}

static bool by_vmap(u64 pa, u64 *value)
{
	u64 *word = map_by_vmap(pa);

	return word && try_load(word, value);
}

static bool by_ioremap(u64 pa, u64 *value)
{
	u64 *word = map_by_ioremap(pa);

	return word && try_load(word, value);
}

/* For RAM this gives an address in the linear map. */
static bool by_memremap(u64 pa, u64 *value)
{
	u64 *word = memremap(pa, PAGE_SIZE, MEMREMAP_WB);

	return word && try_load(word, value);
}

static bool by_fixmap(u64 pa, u64 *value)
{
	u64 *word = map_by_fixmap(pa);

	return word && try_load(word, value);
}

static bool by_process(u64 pa, u64 *value)
{
	unsigned long va = map_for_process(pa);
	bool loaded;

	pagefault_disable();
	loaded = va && !get_user(*value, (u64 __user *)va);
	pagefault_enable();
	return loaded;
}

static void vmapped(void)
{
	look(by_vmap);
}

/* ioremap() itself refuses what Linux knows as RAM, so it is gone round. */
static void ioremapped(void)
{
	if (prepare_compartment() && ioremap(private_frame(0), PAGE_SIZE))
		attack_succeeded("ioremap() itself maps RAM");
	else
		look(by_ioremap);
}

static void memremapped(void)
{
	look(by_memremap);
}

static void fixmapped(void)
{
	look(by_fixmap);
}

static void in_process(void)
{
	look(by_process);
}

/* The whole block at once, as the linear map showed it before. */
static void block(void)
{
	struct donjon_result result;
	struct window window;
	struct step step;
	unsigned long va;
	unsigned int i;
	u64 entry, value;

	if (!prepare_compartment() || !open_window(&window))
		return;
	step = walk_to(kernel_root(), window.va, 2);
	entry = free_entry(step.entry);
	if (!entry)
		return attack_untried("the level 2 table is full");
	va = ALIGN_DOWN(window.va, PUD_SIZE) + entry % PAGE_SIZE / sizeof(u64) * SZ_2M;
	result = write_entry(entry, kernel_page(private_frame(0)) & ~PTE_TABLE_BIT);
	if (result.status)
		return attack_stopped("refused: %s", attack_why(result));
	for (i = 0; i < FRAMES; i++)
		if (try_load((u64 *)(va + i * PAGE_SIZE), &value) && value == SECRET)
			return attack_succeeded("the secret was read in frame %u", i);
	attack_succeeded("the block is mapped");
}

/* The linear map's own entry as it was before. */
static void linear_entry(void)
{
	struct donjon_result result;
	unsigned int i;
	u64 *linear;
	u64 value;

	if (!prepare_compartment())
		return;
	linear = phys_to_virt(private_frame(0));
	result = write_entry(walk_to(kernel_root(), (u64)linear, 2).entry,
			     kernel_page(private_frame(0)) & ~PTE_TABLE_BIT);
	if (result.status)
		return attack_stopped("refused: %s", attack_why(result));
	for (i = 0; i < FRAMES * PAGE_SIZE / sizeof(u64); i++)
		if (try_load(linear + i, &value) && value == SECRET)
			return attack_succeeded("the secret was read in the linear map");
	attack_succeeded("the block is in the linear map");
}

DONJON_ATTACK("map-compartment", "vmap", vmapped);
DONJON_ATTACK("map-compartment", "ioremap", ioremapped);
DONJON_ATTACK("map-compartment", "memremap", memremapped);
DONJON_ATTACK("map-compartment", "fixmap", fixmapped);
DONJON_ATTACK("map-compartment", "process", in_process);
DONJON_ATTACK("map-compartment", "block", block);
DONJON_ATTACK("map-compartment", "linear-entry", linear_entry);
