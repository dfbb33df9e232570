/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_DEVICES_H
#define __DONJON_DEVICES_H

#include <asm/pgtable.h>

/* Registers that Linux reads and the inner domain writes */
#define DEVICE_READ_ONLY	__pgprot((PROT_DEVICE_nGnRE & ~PTE_WRITE) | PTE_RDONLY)

#endif /* __DONJON_DEVICES_H */
