/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User tables under the Donjon inner domain. This kernel keeps its own in
 * ordinary memory and writes them with plain stores; no walk reads them. What
 * TTBR0_EL1 leads to is the inner domain's, filled from ours like a TLB.
 *
 * All of this is for donjon_live: before the hand-over walks read our own.
 */
#ifndef __ASM_DONJON_USER_TABLES_H
#define __ASM_DONJON_USER_TABLES_H

#include <linux/types.h>

#include <asm/donjon_tables.h>
#include <asm/pgtable-types.h>

struct mm_struct;
struct vm_area_struct;


/*
 * The entry allows what faulted: take it over, and its neighbours. False if the
 * inner domain refuses it. Under the lock of the table.
 */
bool donjon_map_missing(struct vm_area_struct *vma, unsigned long addr,
			pte_t *ptep);

/* Take over blocks of 2 MiB; false if one is refused. */
bool donjon_map_blocks(struct mm_struct *mm, unsigned long addr, void *entry,
		       unsigned int nr);

/*
 * Take over the entry at an address where no lock may be waited for. True if the
 * access, which was made by the instruction at `pc`, can be made again.
 */
bool donjon_map_atomic(struct mm_struct *mm, unsigned long addr, bool write,
		       unsigned long pc);

/*
 * Drop what walks and TLBs have of a range, or of all; take the right to write
 * away, from all or from what may no longer be written.
 */
void donjon_flush(struct mm_struct *mm, unsigned long start, unsigned long end);
void donjon_flush_mm(struct mm_struct *mm);
void donjon_flush_writable(struct mm_struct *mm, bool all);

/* The process is gone. */
void donjon_free(struct mm_struct *mm);

#ifdef CONFIG_DONJON
/* It has another ASID. */
void donjon_rename(struct mm_struct *mm, u64 asid);

/* Take over entries, under the lock of their table; before the hand-over, too. */
void donjon_map(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep,
		unsigned int nr);

#else

static inline void donjon_rename(struct mm_struct *mm, u64 asid) { }

static inline void donjon_map(struct vm_area_struct *vma, unsigned long addr,
			      pte_t *ptep, unsigned int nr)
{
}

#endif

#endif /* __ASM_DONJON_USER_TABLES_H */
