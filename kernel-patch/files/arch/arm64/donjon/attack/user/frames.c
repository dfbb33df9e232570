// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have the inner domain map for a process what is not Linux's, or in a way
 * that no process's memory is mapped.
 */
#include <linux/align.h>
#include <linux/io.h>

#include <asm/pgtable.h>

#include "attack.h"

static void fill(u64 descriptor)
{
	struct donjon_result result;
	struct hole hole;
	u64 word;

	if (!open_hole(&hole))
		return;
	result = fill_hole(&hole, descriptor);
	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	show_hole(&hole);
	if (try_user_load(&hole, &word))
		attack_succeeded("a process reads %#llx there", word);
	else
		attack_succeeded("mapped, although a load faults");
}

static void inner(void)
{
	fill(user_page(inner_memory()));
}

static void table(void)
{
	fill(user_page(PAGE_OF(walk_to(kernel_root(), (unsigned long)scratch(0), 3).entry)));
}

static void root(void)
{
	fill(user_page(kernel_root()));
}

/* A page of the table block that is no table: forged walks read it. */
static void zero_page(void)
{
	u64 block = ALIGN_DOWN(kernel_root(), DONJON_TABLE_BLOCK_SIZE);

	fill(user_page(block) | PTE_RDONLY);
}

/* Code of this module, to be written */
static void text(void)
{
	fill(user_page(PAGE_OF(walk_to(kernel_root(), (unsigned long)scratch(0), 3).value)));
}

static void device(void)
{
	fill(user_page(console_page()));
}

/* Executable at EL1, from memory that a process writes */
static void executable(void)
{
	fill(user_page(virt_to_phys(__builtin_frame_address(0)) & PAGE_MASK) & ~PTE_PXN);
}

/* For every process */
static void global(void)
{
	fill(user_page(virt_to_phys(__builtin_frame_address(0)) & PAGE_MASK) & ~PTE_NG);
}

DONJON_ATTACK("map-protected-memory-for-user", "inner", inner);
DONJON_ATTACK("map-protected-memory-for-user", "table", table);
DONJON_ATTACK("map-protected-memory-for-user", "root", root);
DONJON_ATTACK("map-protected-memory-for-user", "zero-page", zero_page);
DONJON_ATTACK("map-protected-memory-for-user", "text", text);
DONJON_ATTACK("map-protected-memory-for-user", "device", device);
DONJON_ATTACK("map-protected-memory-for-user", "executable", executable);
DONJON_ATTACK("map-protected-memory-for-user", "global", global);
