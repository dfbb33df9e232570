// SPDX-License-Identifier: GPL-2.0-only
/*
 * F16: the gate's page at a second address. Executed there, what it reaches
 * relative to its own address is Linux's to choose, and the page boundary at
 * which the view changes is none.
 */
#include <linux/io.h>
#include <linux/irqflags.h>

#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "attack.h"

/*
 * The way out begins with the page: it waits for the change of view, puts DAIF
 * back from x9 and returns. Mode strict writes TCR_EL1 there, to the value that
 * it has. All registers that it uses are the caller's to lose.
 */
static void leave_through(unsigned long va)
{
	asm volatile("mrs	x9, daif\n"
		     "blr	%0\n"
		     : : "r" (va)
		     : "x9", "x10", "x11", "x30", "cc", "memory");
}

static void map(u64 attributes, bool execute)
{
	struct donjon_result result;
	struct window window;
	struct step gate;

	gate = walk_to(kernel_root(), DONJON_GATE_PAGE, 3);
	if (gate.level != 3 || !(gate.value & DESCRIPTOR_VALID)) {
		attack_untried("the gate is not where it should be");
		return;
	}
	if (!open_window(&window))
		return;
	result = write_entry(window.entry, PAGE_OF(gate.value) | attributes);
	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	if (execute)
		leave_through(window.va);
	attack_succeeded("the gate's page is %s at a second address",
			 execute ? "executed" : "writable");
}

static void execute(void)
{
	map((kernel_page(0) & ~PTE_PXN) | PTE_RDONLY, true);
}

static void write(void)
{
	map(kernel_page(0), false);
}

DONJON_ATTACK("F16", "execute", execute);
DONJON_ATTACK("F16", "write", write);
