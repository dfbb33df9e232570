// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of text that BPF programs share.
 *
 * An instruction that a CPU may execute hardly changes, so a program comes to a
 * page, and leaves it, by an exchange of the page: the executable one is a copy
 * of a page of data, which this kernel keeps and writes, and the inner domain
 * makes a new copy. In between the address leads to nothing that can be
 * executed. A CPU that runs another program of that page takes a fault, and
 * tries again. All words of that other program are what they were.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/donjon.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pgtable.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/debug-monitors.h>
#include <asm/donjon.h>
#include <asm/donjon_tables.h>
#include <asm/donjon_text.h>
#include <asm/esr.h>
#include <asm/memory.h>
#include <asm/patching.h>

#include "text.h"

/* Of the pool of text; the rest is for modules and probes, which need a capability. */
#define PROGRAMS_SHARE	2
/* Of the programs' share, what those without a capability may begin a page in. */
#define USERS_SHARE	2

/*
 * Of what pages of data hold and of the counts. CPU hotplug may be held off and
 * text_mutex be held before, and neither is taken behind it.
 */
static DEFINE_MUTEX(packs_mutex);
static struct donjon_pack_stats stats;
/* What a page held before a change */
static u64 saved[PAGE_SIZE / sizeof(u64)];
/* No use in asking the inner domain for a page before. */
static unsigned long refused_until;

/* The page that is exchanged, and how many were: see __donjon_text_returns() */
static unsigned long exchanged;
static unsigned int exchanges;
/* Who does it, with interrupts off, and so the only task of that CPU */
static struct task_struct *exchanger;
static atomic_long_t retries;

bool donjon_shares_text(void)
{
	return donjon_present();
}

static unsigned long programs_share(void)
{
	return (donjon_text_pool_end - donjon_text_pool_start) / PAGE_SIZE / PROGRAMS_SHARE;
}

u64 donjon_pack_limit(void)
{
	return (u64)programs_share() * PAGE_SIZE;
}

struct donjon_pack_stats donjon_pack_stats(void)
{
	struct donjon_pack_stats copy;

	mutex_lock(&packs_mutex);
	copy = stats;
	mutex_unlock(&packs_mutex);
	copy.share = programs_share();
	copy.retries = atomic_long_read(&retries);
	return copy;
}

static bool is_text(u64 entry)
{
	return pte_valid(__pte(entry)) && !(entry & PTE_PXN);
}

/* The page that vmalloc() has put there, whatever the tables lead to now */
static void *data_of(unsigned long address)
{
	struct vm_struct *area = find_vm_area((void *)address);
	unsigned long index;

	if (!area)
		return NULL;
	index = (address - (unsigned long)area->addr) >> PAGE_SHIFT;
	return index < area->nr_pages ? page_address(area->pages[index]) : NULL;
}

static bool is_empty(const void *data)
{
	const u32 *words = data;
	int i;

	/* As holes are filled, by the JIT and by the dispatcher */
	for (i = 0; i < PAGE_SIZE / sizeof(*words); i++)
		if (words[i] && words[i] != AARCH64_BREAK_FAULT)
			return false;
	return true;
}

static bool may_take_page(void)
{
	unsigned long most = programs_share();

	if (!bpf_capable())
		most /= USERS_SHARE;
	if (stats.pages < most && time_after_eq(jiffies, refused_until))
		return true;
	stats.denied++;
	pr_info_once("programs have %lu pages of text; of what finds no place there, BPF is interpreted\n",
		     stats.pages);
	return false;
}

/* The first program of a page makes it text */
static int take_page(unsigned long address)
{
	struct donjon_result result;

	if (!may_take_page())
		return -ENOMEM;
	raw_spin_lock(&donjon_seal_lock);
	result = donjon_seal_locked(address);
	raw_spin_unlock(&donjon_seal_lock);
	if (!result.status) {
		stats.pages++;
		stats.highest = max(stats.highest, stats.pages);
	} else if (result.status == DONJON_ERR_NO_MEMORY) {
		refused_until = jiffies + HZ;
	}
	return donjon_seal_result("BPF program", 0, result);
}

static struct donjon_result __kprobes put_entry(u64 *entry, u64 value)
{
	return __donjon_call(DONJON_FN_TABLE_WRITE, __lm_to_phys((u64)entry), value,
			     0, 0, 0, 0);
}

/* A page of text becomes data */
static struct donjon_result __kprobes withdraw(u64 *entry, u64 data)
{
	struct donjon_result result = put_entry(entry, 0);

	return result.status ? result : put_entry(entry, data);
}

/* Not memcpy(): that can be probed, and what the probe runs may be in the page */
static void __kprobes restore(u64 *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(saved); i++)
		WRITE_ONCE(data[i], saved[i]);
}

/*
 * Make a new copy of a page of text, or none. The lock keeps the frame of the
 * old copy for the new one. Interrupts are off because what runs there may be
 * in the page. For the same reason nothing that can be probed runs while the
 * page is not there; inlined, this itself could be.
 */
static noinline struct donjon_result __kprobes exchange(unsigned long address,
							void *data, bool text)
{
	u64 entry_of_data = pte_val(mk_pte(virt_to_page(data), PAGE_KERNEL));
	u64 *entry = (u64 *)virt_to_kpte(address);
	struct donjon_result result;
	unsigned long flags;

	raw_spin_lock(&donjon_seal_lock);
	local_irq_save(flags);
	/* Only this task, and what interrupts it, looks for itself here */
	WRITE_ONCE(exchanger, current);
	WRITE_ONCE(exchanged, address);
	/* Pairs with the acquire of __donjon_text_returns() */
	smp_store_release(&exchanges, exchanges + 1);
	/* The address and the number are there before the entry is gone */
	smp_mb();
	result = withdraw(entry, entry_of_data);
	if (!result.status && text) {
		result = donjon_seal_locked(address);
		if (result.status) {
			/* What was accepted before is accepted again */
			restore(data);
			donjon_seal_locked(address);
		}
	}
	/* The entry is there before this says that it is */
	smp_store_release(&exchanged, 0);
	WRITE_ONCE(exchanger, NULL);
	local_irq_restore(flags);
	raw_spin_unlock(&donjon_seal_lock);
	if (text && !is_text(pte_val(__ptep_get((pte_t *)entry))))
		pr_crit("the text at %#lx is lost\n", address);
	return result;
}

/*
 * What the page of data holds is to be executable, if there is anything in it.
 * A page becomes text for a program that comes, and for none that leaves.
 */
static int publish(unsigned long address, void *data, bool comes)
{
	pte_t *entry = virt_to_kpte(address);
	struct donjon_result result;
	bool empty = is_empty(data);

	if (!is_text(pte_val(__ptep_get(entry))))
		return comes && !empty ? take_page(address) : 0;
	result = exchange(address, data, !empty);
	/* Empty, or lost */
	if (!is_text(pte_val(__ptep_get(entry))))
		stats.pages--;
	return donjon_seal_result("BPF program", 0, result);
}

/* Copy, or fill where there is no source, part by part of pages. */
static int change(unsigned long address, const void *source, size_t bytes)
{
	int error = 0;

	if (!donjon_live) {
		pr_info_once("BPF is interpreted before the hand-over\n");
		return -EPERM;
	}
	if (!IS_ALIGNED(address | bytes, AARCH64_INSN_SIZE))
		return -EINVAL;
	mutex_lock(&packs_mutex);
	while (bytes && !error) {
		size_t part = min(bytes, PAGE_SIZE - offset_in_page(address));
		void *data = data_of(address);

		if (!data) {
			error = -EFAULT;
			break;
		}
		memcpy(saved, data, PAGE_SIZE);
		if (source) {
			memcpy(data + offset_in_page(address), source, part);
			source += part;
		} else {
			memset32(data + offset_in_page(address), AARCH64_BREAK_FAULT,
				 part / sizeof(u32));
		}
		error = publish(address & PAGE_MASK, data, source);
		/* Others may come to the page before the caller clears its part */
		if (error && source)
			restore(data);
		address += part;
		bytes -= part;
	}
	mutex_unlock(&packs_mutex);
	return error;
}

int donjon_pack_write(void *address, const void *source, size_t bytes)
{
	return change((unsigned long)address, source, bytes);
}

int donjon_pack_clear(void *address, size_t bytes)
{
	/* Nothing is text before, and what is data needs no filling */
	if (!donjon_live)
		return 0;
	return change((unsigned long)address, NULL, bytes);
}

/* A branch of a program: at once where CPUs execute it, and in each later copy */
int donjon_pack_poke(void *address, u32 instruction)
{
	void *data;
	int error;

	mutex_lock(&packs_mutex);
	data = data_of((unsigned long)address);
	error = donjon_write_text(address, &instruction, sizeof(instruction));
	if (!error && data)
		WRITE_ONCE(*(u32 *)(data + offset_in_page(address)), instruction);
	mutex_unlock(&packs_mutex);
	return error;
}

/*
 * A pointer of a program. The page of data has it only when the inner domain
 * has accepted it: with a refused word in it no later copy would be accepted.
 * CPU hotplug is held off first, since all CPUs stop with the mutex held.
 */
int donjon_write_literal(void *address, u64 value)
{
	void *data;
	int error;

	if (!donjon_writes_text())
		return aarch64_insn_write_literal_u64(address, value);
	cpus_read_lock();
	mutex_lock(&packs_mutex);
	data = data_of((unsigned long)address);
	error = donjon_write_stopped_pointer(address, value);
	if (!error && data)
		WRITE_ONCE(*(u64 *)(data + offset_in_page(address)), value);
	mutex_unlock(&packs_mutex);
	cpus_read_unlock();
	return error;
}

/* Whether a page is mapped, and executable where it was to be executed */
static bool __kprobes is_there(unsigned long address, bool fetched)
{
	pgd_t *pgdp = pgd_offset_k(address);
	p4d_t *p4dp;
	pud_t *pudp, pud;
	pmd_t *pmdp, pmd;
	u64 entry;

	if (pgd_none(READ_ONCE(*pgdp)))
		return false;
	p4dp = p4d_offset(pgdp, address);
	if (p4d_none(READ_ONCE(*p4dp)))
		return false;
	pudp = pud_offset(p4dp, address);
	pud = READ_ONCE(*pudp);
	if (pud_none(pud) || pud_leaf(pud))
		return false;
	pmdp = pmd_offset(pudp, address);
	pmd = READ_ONCE(*pmdp);
	if (pmd_none(pmd) || pmd_leaf(pmd))
		return false;
	entry = pte_val(__ptep_get(pte_offset_kernel(pmdp, address)));
	return fetched ? is_text(entry) : pte_valid(__pte(entry));
}

/*
 * Whether an access of the kernel's failed because a page was being exchanged:
 * it is on its way, or back. The order of an exchange is: its page, its number,
 * no entry, the entry, no page. The CPU that exchanges it may not wait: it would
 * wait for itself, and nobody would see why.
 */
bool __kprobes __donjon_text_returns(unsigned long address, unsigned long esr)
{
	bool fetched = ESR_ELx_EC(esr) == ESR_ELx_EC_IABT_CUR;
	unsigned int before;

	/* Data in between, which is not executable */
	if (!esr_fsc_is_translation_fault(esr) &&
	    !(fetched && esr_fsc_is_permission_fault(esr)))
		return false;
	if (READ_ONCE(exchanger) == current)
		return false;
	do {
		/* Pairs with the release: the page is read behind the number */
		before = smp_load_acquire(&exchanges);
		/* Pairs with the release of exchange(): the entry is read behind it */
		if (smp_load_acquire(&exchanged) == (address & PAGE_MASK) ||
		    is_there(address, fetched)) {
			atomic_long_inc(&retries);
			return true;
		}
		/* The entry was read before the number */
		smp_rmb();
	} while (READ_ONCE(exchanges) != before);
	return false;
}
