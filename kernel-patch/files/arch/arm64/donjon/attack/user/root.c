// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have a root of one's own loaded, which stands in ordinary memory and maps that of
 * the inner domain for user space.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "compartment/compartment.h"

#define LEVELS		4
/* Its index is 1 at level 3 and 0 above */
#define PROBE		SZ_4K

static void free_tables(u64 va, u64 unused)
{
	free_pages(va, get_order(LEVELS * PAGE_SIZE));
}

static u64 forged_root(void)
{
	unsigned long tables;
	u64 pa;
	int i;

	tables = __get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(LEVELS * PAGE_SIZE));
	if (!tables)
		return 0;
	undo_later(free_tables, tables, 0);
	pa = virt_to_phys((void *)tables);
	for (i = 0; i < LEVELS - 1; i++)
		*(u64 *)(tables + i * PAGE_SIZE) = (pa + (i + 1) * PAGE_SIZE) | DESCRIPTOR_TABLE;
	((u64 *)(tables + i * PAGE_SIZE))[PROBE / PAGE_SIZE] = user_page(inner_memory());
	return pa;
}

/* The call names the process that runs here. False if the attempt is over. */
static bool load(u64 root)
{
	unsigned long flags, word = 0;
	struct donjon_result result;
	bool seen;
	u64 now;

	local_irq_save(flags);
	result = __donjon_call(DONJON_FN_SWITCH_ROOT, this_process(), root, 0, 0, 0, 0);
	now = PAGE_OF(read_sysreg(ttbr0_el1));
	pagefault_disable();
	seen = !get_user(word, (unsigned long __user *)PROBE);
	pagefault_enable();
	local_irq_restore(flags);
	if (result.status)
		attack_untried("refused: %s", attack_why(result));
	else if (now == root || seen)
		attack_succeeded("TTBR0_EL1 leads to %#llx, a load reads %#lx", now, word);
	else
		return true;
	return false;
}

static void try_root(u64 root)
{
	if (load(root))
		attack_stopped("TTBR0_EL1 leads elsewhere");
}

static void ordinary(void)
{
	u64 root = forged_root();

	if (root)
		try_root(root);
	else
		attack_untried("there is no memory for tables");
}

static void kernel(void)
{
	try_root(kernel_root());
}

/* A compartment's, whichever of its frames that is. */
static void compartment(void)
{
	unsigned int i;

	if (!prepare_compartment())
		return;
	for (i = 0; i < FRAMES; i++)
		if (!load(private_frame(i)))
			return;
	attack_stopped("TTBR0_EL1 leads elsewhere");
}

DONJON_ATTACK("load-forged-root", "ordinary-memory", ordinary);
DONJON_ATTACK("load-forged-root", "kernel-root", kernel);
DONJON_ATTACK("load-forged-root", "compartment-root", compartment);
