/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables from the pool of the Donjon inner domain, in place of the functions
 * in asm-generic/pgalloc.h. These know the level, which the pool wants to hear.
 */
#ifndef __ASM_DONJON_PGALLOC_H
#define __ASM_DONJON_PGALLOC_H

#include <linux/mm.h>

#include <asm/donjon_tables.h>

#define __HAVE_ARCH_PTE_ALLOC_ONE_KERNEL
#define __HAVE_ARCH_PTE_ALLOC_ONE
#define __HAVE_ARCH_PMD_ALLOC_ONE
#define __HAVE_ARCH_PUD_ALLOC_ONE

static inline pte_t *pte_alloc_one_kernel(struct mm_struct *mm)
{
	struct ptdesc *ptdesc = donjon_pool_alloc(GFP_KERNEL, DONJON_KERNEL_3);

	return ptdesc ? ptdesc_address(ptdesc) : NULL;
}

static inline pgtable_t pte_alloc_one(struct mm_struct *mm)
{
	struct ptdesc *ptdesc = donjon_pool_alloc(GFP_KERNEL, DONJON_USER_3);

	if (!ptdesc)
		return NULL;
	if (!pagetable_pte_ctor(ptdesc)) {
		pagetable_free(ptdesc);
		return NULL;
	}
	return ptdesc_page(ptdesc);
}

static inline pmd_t *pmd_alloc_one(struct mm_struct *mm, unsigned long addr)
{
	struct ptdesc *ptdesc;

	ptdesc = donjon_pool_alloc(GFP_KERNEL, mm == &init_mm ?
				   DONJON_KERNEL_2 : DONJON_USER_2);
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
	struct ptdesc *ptdesc;

	ptdesc = donjon_pool_alloc(GFP_KERNEL, mm == &init_mm ?
				   DONJON_KERNEL_1 : DONJON_USER_1);
	if (!ptdesc)
		return NULL;
	pagetable_pud_ctor(ptdesc);
	return ptdesc_address(ptdesc);
}

#endif /* __ASM_DONJON_PGALLOC_H */
