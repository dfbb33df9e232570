// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes device registers by the inner domain, where Linux may only read their page.
 * In such a page are others that have a device write memory. The inner domain writes
 * the registers that are on its list.
 */
#include <linux/cache.h>
#include <linux/donjon.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/irqchip/arm-gic-v3.h>
#include <linux/of_address.h>
#include <linux/vmalloc.h>

#include <asm/arch_gicv3.h>
#include <asm/donjon.h>
#include <asm/pgtable.h>

#include "devices.h"

/* What is mapped so: an interrupt controller, with few regions */
static struct {
	void __iomem *at;
	phys_addr_t start;
	size_t size;
} mapped[4] __ro_after_init;

static void __iomem * __init remember(void __iomem *at, const struct resource *from)
{
	int i;

	for (i = 0; at && i < ARRAY_SIZE(mapped); i++) {
		if (mapped[i].at)
			continue;
		mapped[i].at = at;
		mapped[i].start = from->start;
		mapped[i].size = resource_size(from);
		return at;
	}
	if (at)
		iounmap(at);
	return NULL;
}

/* Like of_iomap(), for registers that donjon_writel() writes */
void __iomem * __init donjon_of_iomap(struct device_node *node, int index)
{
	struct resource res;

	if (!donjon_present())
		return of_iomap(node, index);
	if (of_address_to_resource(node, index, &res))
		return NULL;
	return remember(__ioremap_prot(res.start, resource_size(&res), DEVICE_READ_ONLY), &res);
}

/* A region of redistributors that is being mapped */
struct region {
	/* The whole region, read-only */
	void __iomem *readable;
	unsigned long va;
	phys_addr_t start;
};

static int __init map(const struct region *region, size_t from, size_t to, pgprot_t prot)
{
	if (from >= to)
		return 0;
	return vmap_page_range(region->va + from, region->va + to, region->start + from,
			       prot);
}

/* Each redistributor has two frames, or four with virtual LPIs; then come unused ones */
static int __init map_frames(const struct region *region, size_t size, u64 stride)
{
	pgprot_t writable = __pgprot(PROT_DEVICE_nGnRE);
	size_t at = 0;
	u64 typer = 0;

	while (size - at >= 2 * SZ_64K && !(typer & GICR_TYPER_LAST)) {
		size_t own = at + SZ_64K;
		u64 next;
		int error;

		typer = gic_read_typer(region->readable + at + GICR_TYPER);
		next = typer & GICR_TYPER_VLPIS ? 4 * SZ_64K : 2 * SZ_64K;
		next = min_t(u64, size, at + max(next, stride));
		error = map(region, at, own, DEVICE_READ_ONLY);
		if (!error)
			error = map(region, own, own + SZ_64K, writable);
		if (!error)
			error = map(region, own + SZ_64K, next, DEVICE_READ_ONLY);
		if (error)
			return error;
		at = next;
	}
	return map(region, at, size, DEVICE_READ_ONLY);
}

/*
 * Maps a GICv3: the distributor, which is Linux's, and behind it regions of
 * redistributors. Linux writes the second frame of each; other frames have the
 * addresses of tables in memory.
 */
void __iomem * __init donjon_map_gicv3(struct device_node *node, int index)
{
	struct region region;
	struct vm_struct *area;
	struct resource res;
	u64 stride;

	if (!donjon_present() || index == 0)
		return of_iomap(node, index);
	if (of_address_to_resource(node, index, &res))
		return NULL;
	if (of_property_read_u64(node, "redistributor-stride", &stride))
		stride = 0;
	region.start = res.start;
	region.readable = __ioremap_prot(res.start, resource_size(&res), DEVICE_READ_ONLY);
	if (!region.readable)
		return NULL;
	area = get_vm_area(resource_size(&res), VM_IOREMAP);
	if (area) {
		area->phys_addr = res.start;
		region.va = (unsigned long)area->addr;
		if (map_frames(&region, resource_size(&res), stride)) {
			free_vm_area(area);
			area = NULL;
		}
	}
	iounmap(region.readable);
	return area ? remember((void __iomem *)area->addr, &res) : NULL;
}

/* Like writel_relaxed(). A refusal is on record, and the device stays as it is. */
void donjon_writel(u32 value, void __iomem *address)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(mapped); i++) {
		size_t offset = address - mapped[i].at;

		if (mapped[i].at && offset < mapped[i].size) {
			__donjon_call2(DONJON_FN_DEVICE_WRITE, mapped[i].start + offset,
				       value);
			return;
		}
	}
	writel_relaxed(value, address);
}
