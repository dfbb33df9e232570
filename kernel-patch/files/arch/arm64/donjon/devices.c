// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of a device that share a page with those of another one, which Linux
 * does not get: it reads the page, and the inner domain writes the registers that
 * are on its list.
 */
#include <linux/cache.h>
#include <linux/donjon.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/of_address.h>

#include <asm/donjon.h>
#include <asm/pgtable.h>

/* An interrupt controller. No board has two such devices. */
static void __iomem *mapped_at __ro_after_init;
static phys_addr_t registers __ro_after_init;

/* Like of_iomap(), for registers that donjon_writel() writes */
void __iomem * __init donjon_of_iomap(struct device_node *node, int index)
{
	struct resource res;

	if (!donjon_present())
		return of_iomap(node, index);
	if (mapped_at || of_address_to_resource(node, index, &res))
		return NULL;
	registers = res.start;
	mapped_at = __ioremap_prot(res.start, resource_size(&res),
				   __pgprot((PROT_DEVICE_nGnRE & ~PTE_WRITE) |
					    PTE_RDONLY));
	return mapped_at;
}

/* Like writel_relaxed(). A refusal is on record, and the device stays as it is. */
void donjon_writel(u32 value, void __iomem *address)
{
	if (mapped_at)
		__donjon_call2(DONJON_FN_DEVICE_WRITE,
			       registers + (address - mapped_at), value);
	else
		writel_relaxed(value, address);
}
