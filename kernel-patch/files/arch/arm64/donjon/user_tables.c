// SPDX-License-Identifier: GPL-2.0-only
/*
 * User tables of the inner domain's own: what they are filled with, and what
 * they must forget.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/extable.h>
#include <linux/hugetlb.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include <asm/asm-extable.h>
#include <asm/barrier.h>
#include <asm/cpufeature.h>
#include <asm/donjon.h>
#include <asm/donjon_user_tables.h>
#include <asm/memory.h>

#include "state.h"

/* Entries that one page fault fills: the missing one and its neighbours. */
#define NEIGHBOURS	16

/*
 * What the inner domain knows a process by: its ASID, and above it a number
 * that changes with the ASID. So what is left under an ASID that the process
 * had before is never found again. The caller stores context.id next.
 */
static atomic64_t names = ATOMIC64_INIT(1);

void donjon_rename(struct mm_struct *mm, u64 asid)
{
	u64 name = READ_ONCE(mm->context.process);

	asid &= U16_MAX;
	if ((name & U16_MAX) == asid)
		return;
	WRITE_ONCE(mm->context.process, atomic64_inc_return(&names) << 16 | asid);
	/*
	 * An entry that changes meanwhile: its writer flushes the new name, or
	 * what is filled under the new name has the new entry. Pairs with the
	 * dsb() in name_of(). A CPU that sees the new context.id sees the new
	 * name, too: pairs with cpu_do_switch_mm().
	 */
	smp_mb();
}

/* Whose tables to change, behind the stores to ours. */
static u64 name_of(struct mm_struct *mm)
{
	dsb(ishst);
	return READ_ONCE(mm->context.process);
}

static struct donjon_result map(u64 name, unsigned long addr, pte_t *ptep,
				unsigned int nr)
{
	/* Tables are in the linear map */
	return __donjon_call4(DONJON_FN_MAP, name, addr,
			      __lm_to_phys((unsigned long)ptep), nr);
}

/* True unless it is refused; no room is no refusal. */
static bool is_mapped(struct donjon_result result, void *entry)
{
	if (!result.status || result.value >> 32 == DONJON_REASON_NO_ROOM)
		return true;
	donjon_table_refused("user entry", __pa(entry), READ_ONCE(*(u64 *)entry),
			     result, _RET_IP_);
	return false;
}

static bool map_one(u64 name, unsigned long addr, pte_t *ptep)
{
	return is_mapped(map(name, addr, ptep, 1), ptep);
}

bool donjon_map_blocks(struct mm_struct *mm, unsigned long addr, void *entry,
		       unsigned int nr)
{
	u64 name = READ_ONCE(mm->context.process), *entries = entry;
	struct donjon_result result;
	bool mapped = true;

	for (; name && nr; nr--) {
		result = __donjon_call(DONJON_FN_MAP_BLOCK, name, addr,
				       __pa(entries), 0, 0, 0);
		mapped &= is_mapped(result, entries++);
		addr += PMD_SIZE;
	}
	return mapped;
}

/* Takes over an entry of hugetlb: its pages, or one or more blocks. */
static bool map_huge(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep)
{
	unsigned long size = huge_page_size(hstate_vma(vma));
	u64 name = READ_ONCE(vma->vm_mm->context.process);

	addr = ALIGN_DOWN(addr, size);
	if (size >= PMD_SIZE)
		return donjon_map_blocks(vma->vm_mm, addr, ptep, size / PMD_SIZE);
	return !name || is_mapped(map(name, addr, ptep, size / PAGE_SIZE), ptep);
}

static noinline void map_many(u64 name, unsigned long addr, pte_t *ptep,
			      unsigned int nr)
{
	unsigned int part;

	for (; nr; nr -= part) {
		part = min(nr, DONJON_MAP_MAX);
		map(name, addr, ptep, part);
		addr += part * PAGE_SIZE;
		ptep += part;
	}
}

/* What is refused faults again, and is looked at then */
void donjon_map(struct vm_area_struct *vma, unsigned long addr, pte_t *ptep,
		unsigned int nr)
{
	u64 name;

	/* Walks read our own tables */
	if (unlikely(!donjon_live))
		return;
	/* It has never run */
	name = READ_ONCE(vma->vm_mm->context.process);
	if (unlikely(!name))
		return;
	addr &= PAGE_MASK;
	if (is_vm_hugetlb_page(vma))
		map_huge(vma, addr, ptep);
	else if (likely(nr <= DONJON_MAP_MAX))
		map(name, addr, ptep, nr);
	else
		map_many(name, addr, ptep, nr);
}

bool donjon_map_missing(struct vm_area_struct *vma, unsigned long addr,
			pte_t *ptep)
{
	u64 name = READ_ONCE(vma->vm_mm->context.process);
	unsigned long first = ALIGN_DOWN(addr, NEIGHBOURS * PAGE_SIZE);
	struct donjon_result result;

	if (is_vm_hugetlb_page(vma))
		return map_huge(vma, addr, ptep);
	addr &= PAGE_MASK;
	result = map(name, first, ptep - (addr - first) / PAGE_SIZE, NEIGHBOURS);
	return likely(!result.status) || map_one(name, addr, ptep);
}

static bool allows(pte_t pte, bool write)
{
	return pte_valid(pte) && pte_user(pte) && pte_young(pte) &&
	       (!write || !pte_rdonly(pte));
}

/* As get_user_pages_fast() walks: with interrupts off no table is freed. */
static pmd_t *find_table(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgd = pgd_offset(mm, addr);
	p4d_t *p4d;
	pud_t *pud;

	if (pgd_none(READ_ONCE(*pgd)))
		return NULL;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(READ_ONCE(*p4d)))
		return NULL;
	pud = pud_offset(p4d, addr);
	if (!pud_table(READ_ONCE(*pud)))
		return NULL;
	return pmd_offset(pud, addr);
}

/* Locks are shared where they are not split. */
static bool try_lock(spinlock_t *lock, spinlock_t *held)
{
	return lock == held || spin_trylock(lock);
}

static void unlock(spinlock_t *lock, spinlock_t *held)
{
	if (lock != held)
		spin_unlock(lock);
}

/* Under the lock above the table's. */
static bool map_locked(struct mm_struct *mm, pmd_t *pmdp, unsigned long addr,
		       bool write)
{
	spinlock_t *held = pmd_lockptr(mm, pmdp);
	pmd_t pmd = READ_ONCE(*pmdp);
	bool done = false;
	spinlock_t *lock;
	pte_t *ptep;

	if (pmd_leaf(pmd))
		return allows(pmd_pte(pmd), write) &&
		       donjon_map_blocks(mm, addr & PMD_MASK, pmdp, 1);
	if (!pmd_table(pmd))
		return false;
	lock = pte_lockptr(mm, &pmd);
	if (!try_lock(lock, held))
		return false;
	ptep = pte_offset_kernel(pmdp, addr);
	if (allows(__ptep_get(ptep), write))
		done = map_one(READ_ONCE(mm->context.process), addr & PAGE_MASK,
			       ptep);
	unlock(lock, held);
	return done;
}

/* PAN forbids any other access to user memory: it would fault again */
static bool is_access_to_user(unsigned long pc)
{
	const struct exception_table_entry *fixup = search_exception_tables(pc);

	return fixup && (fixup->type == EX_TYPE_UACCESS_ERR_ZERO ||
			 !system_uses_hw_pan());
}

/*
 * mremap() moves a table under the lock above the table's alone, and flushes
 * before it lets go. So all of them are held. This CPU may hold one already.
 */
bool donjon_map_atomic(struct mm_struct *mm, unsigned long addr, bool write,
		       unsigned long pc)
{
	spinlock_t *top = &mm->page_table_lock;
	unsigned long flags;
	bool done = false;
	pmd_t *pmdp;

	if (!READ_ONCE(mm->context.process) || addr >= TASK_SIZE ||
	    !is_access_to_user(pc))
		return false;
	local_irq_save(flags);
	if (spin_trylock(top)) {
		pmdp = find_table(mm, addr);
		if (pmdp && try_lock(pmd_lockptr(mm, pmdp), top)) {
			done = map_locked(mm, pmdp, addr, write);
			unlock(pmd_lockptr(mm, pmdp), top);
		}
		spin_unlock(top);
	}
	local_irq_restore(flags);
	return done;
}

void donjon_flush(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	u64 name = name_of(mm);
	unsigned long at = start;
	struct donjon_result result;

	while (name && at < end) {
		result = __donjon_call(DONJON_FN_FLUSH, name, at, end, 0, 0, 0);
		if (WARN_ON_ONCE(result.status))
			break;
		at = result.value;
	}
	mmu_notifier_arch_invalidate_secondary_tlbs(mm, start, end);
}
EXPORT_SYMBOL_GPL(donjon_flush);

void donjon_flush_mm(struct mm_struct *mm)
{
	u64 name = name_of(mm);

	if (name)
		WARN_ON_ONCE(__donjon_call(DONJON_FN_CLEAR, name, 0, 0, 0, 0, 0).status);
	mmu_notifier_arch_invalidate_secondary_tlbs(mm, 0, -1UL);
}
EXPORT_SYMBOL_GPL(donjon_flush_mm);

/*
 * After fork: entries lost the right to be written, and nothing else. All of
 * them did, unless some are of mappings that both processes write.
 */
void donjon_flush_writable(struct mm_struct *mm, bool all)
{
	struct donjon_result result = { .value = true };
	u64 name = name_of(mm);
	bool first = true;

	while (name && result.value) {
		result = __donjon_call(DONJON_FN_REFRESH, name, first, all, 0, 0, 0);
		if (WARN_ON_ONCE(result.status))
			break;
		first = false;
	}
	mmu_notifier_arch_invalidate_secondary_tlbs(mm, 0, -1UL);
}

void donjon_free(struct mm_struct *mm)
{
	u64 name = READ_ONCE(mm->context.process);

	if (name)
		WARN_ON_ONCE(__donjon_call(DONJON_FN_FREE, name, 0, 0, 0, 0, 0).status);
}
