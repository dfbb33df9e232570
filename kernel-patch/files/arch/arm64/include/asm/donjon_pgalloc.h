/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's tables from the pool of the Donjon inner domain, in place of the
 * functions in asm-generic/pgalloc.h. These know the level, which the pool
 * wants to hear. Tables of users are ordinary memory.
 */
#ifndef __ASM_DONJON_PGALLOC_H
#define __ASM_DONJON_PGALLOC_H

#include <linux/mm.h>

#include <asm/donjon_tables.h>

#define __HAVE_ARCH_PTE_ALLOC_ONE_KERNEL
#define __HAVE_ARCH_PMD_ALLOC_ONE
#define __HAVE_ARCH_PUD_ALLOC_ONE

static inline pte_t *pte_alloc_one_kernel(struct mm_struct *mm)
{
	struct ptdesc *ptdesc = donjon_pool_alloc(GFP_KERNEL, DONJON_KERNEL_3);

	return ptdesc ? ptdesc_address(ptdesc) : NULL;
}

/* A table above the last level. */
static inline struct ptdesc *donjon_table_alloc(struct mm_struct *mm,
						enum donjon_class class)
{
	if (mm == &init_mm)
		return donjon_pool_alloc(GFP_KERNEL, class);
	return pagetable_alloc(GFP_KERNEL_ACCOUNT | __GFP_ZERO, 0);
}

static inline pmd_t *pmd_alloc_one(struct mm_struct *mm, unsigned long addr)
{
	struct ptdesc *ptdesc = donjon_table_alloc(mm, DONJON_KERNEL_2);

	if (!ptdesc)
		return NULL;
	if (!pagetable_pmd_ctor(ptdesc)) {
		pagetable_free(ptdesc);
		return NULL;
	}
	return ptdesc_address(ptdesc);
}

static inline pud_t *pud_alloc_one(struct mm_struct *mm, unsigned long addr)
{
	struct ptdesc *ptdesc = donjon_table_alloc(mm, DONJON_KERNEL_1);

	if (!ptdesc)
		return NULL;
	pagetable_pud_ctor(ptdesc);
	return ptdesc_address(ptdesc);
}

#endif /* __ASM_DONJON_PGALLOC_H */
