/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What code outside arch/arm64 knows of the Donjon inner domain.
 */
#ifndef _LINUX_DONJON_H
#define _LINUX_DONJON_H

#ifdef CONFIG_DONJON
/* Once, when kernel text and constants are final and before user mode runs. */
void donjon_handover(void);
#else
static inline void donjon_handover(void)
{
}
#endif

#endif /* _LINUX_DONJON_H */
