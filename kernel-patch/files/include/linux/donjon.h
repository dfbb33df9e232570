/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What code outside arch/arm64 knows of the Donjon inner domain.
 */
#ifndef _LINUX_DONJON_H
#define _LINUX_DONJON_H

#include <linux/errno.h>
#include <linux/types.h>

struct platform_device;
struct resource;

#ifdef CONFIG_DONJON
struct device_node;

/* Once, when kernel text and constants are final and before user mode runs. */
void donjon_handover(void);

/* Probes of the command line, behind the hand-over */
void donjon_set_boot_probes(void);

/* Whether pages of BPF programs become text by the inner domain, one by one */
bool donjon_shares_text(void);

/* For interrupt controllers: Linux reads all registers, the inner domain writes some */
void __iomem *donjon_of_iomap(struct device_node *node, int index);
void __iomem *donjon_map_gicv3(struct device_node *node, int index);
void donjon_writel(u32 value, void __iomem *address);

/* For the driver of the Raspberry Pi's firmware, whose mailbox may be withheld */
bool donjon_has_mailbox(void);
int donjon_properties(void *tags, size_t size, u32 *answer);

/* For its USB controller: Linux reads all registers, the inner domain writes them */
void __iomem *donjon_usb_map(struct platform_device *device, struct resource **from);
u32 donjon_usb_readl(const void __iomem *address);
void donjon_usb_writel(u32 value, void __iomem *address);
#else
static inline void donjon_handover(void)
{
}

static inline bool donjon_shares_text(void)
{
	return false;
}

#define donjon_of_iomap(node, index)	of_iomap(node, index)
#define donjon_map_gicv3(node, index)	of_iomap(node, index)
#define donjon_writel(value, address)	writel_relaxed(value, address)

static inline bool donjon_has_mailbox(void)
{
	return false;
}

static inline int donjon_properties(void *tags, size_t size, u32 *answer)
{
	return -EINVAL;
}

static inline void __iomem *
donjon_usb_map(struct platform_device *device, struct resource **from)
{
	return NULL;
}

#define donjon_usb_readl(address)		readl(address)
#define donjon_usb_writel(value, address)	writel(value, address)
#endif

#endif /* _LINUX_DONJON_H */
