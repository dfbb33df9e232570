/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What code outside arch/arm64 knows of the Donjon inner domain.
 */
#ifndef _LINUX_DONJON_H
#define _LINUX_DONJON_H

#ifdef CONFIG_DONJON
#include <linux/types.h>

struct device_node;

/* Once, when kernel text and constants are final and before user mode runs. */
void donjon_handover(void);

/* For the one driver whose registers share a page with a withheld device's */
void __iomem *donjon_of_iomap(struct device_node *node, int index);
void donjon_writel(u32 value, void __iomem *address);
#else
static inline void donjon_handover(void)
{
}

#define donjon_of_iomap(node, index)	of_iomap(node, index)
#define donjon_writel(value, address)	writel_relaxed(value, address)
#endif

#endif /* _LINUX_DONJON_H */
