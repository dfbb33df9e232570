// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changing instructions and making new ones executable, both by the inner
 * domain.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/set_memory.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>

#include <asm/donjon.h>
#include <asm/donjon_text.h>
#include <asm/insn.h>
#include <asm/pgtable.h>

/* The inner domain looks at each instruction, with interrupts off */
#define SLICE	DONJON_POKE_MAX

/* The inner domain reads memory by physical address, and callers have stacks. */
static u8 bounce[SLICE] __aligned(SLICE);
static DEFINE_RAW_SPINLOCK(bounce_lock);

static int errno_of(struct donjon_result result)
{
	switch (result.status) {
	case 0:
		return 0;
	case DONJON_ERR_NO_MEMORY:
		return -ENOMEM;
	case DONJON_ERR_BAD_INSTRUCTION:
		return -ENOEXEC;
	default:
		return -EPERM;
	}
}

static int poke(void *address, unsigned long source, size_t bytes,
		unsigned long kind)
{
	struct donjon_result result;

	result = __donjon_call(DONJON_FN_TEXT_POKE, (unsigned long)address, source,
			       bytes, kind, 0, 0);
	if (result.status == DONJON_ERR_BAD_INSTRUCTION)
		pr_err_ratelimited("instruction %#010lx at %pS is refused\n",
				   result.value >> 32, address + (u32)result.value);
	else if (result.status)
		pr_err_ratelimited("change of %pS is refused: %s\n", address,
				   donjon_reason(result));
	return errno_of(result);
}

static int poke_copy(void *address, const void *source, size_t bytes)
{
	unsigned long flags;
	int error;

	raw_spin_lock_irqsave(&bounce_lock, flags);
	memcpy(bounce, source, bytes);
	error = poke(address, __pa_symbol(bounce), bytes, DONJON_POKE_COPY);
	raw_spin_unlock_irqrestore(&bounce_lock, flags);
	return error;
}

/* Text of a module that is being loaded: not executable, nobody's but Linux's. */
static bool is_data(void *address)
{
	pte_t *entry;

	if (!is_vmalloc_or_module_addr(address) ||
	    core_kernel_text((unsigned long)address))
		return false;
	entry = virt_to_kpte((unsigned long)address);
	return entry && pte_write(__ptep_get(entry));
}

/* Bytes up to the end of the slice, which ends with the page at the latest. */
static size_t in_slice(void *address, size_t bytes)
{
	return min_t(size_t, bytes, SLICE - ((unsigned long)address & (SLICE - 1)));
}

int donjon_write_text(void *address, const void *source, size_t bytes)
{
	int error = 0;

	if (!IS_ALIGNED((unsigned long)address | bytes, AARCH64_INSN_SIZE))
		return -EINVAL;
	while (bytes && !error) {
		size_t part = in_slice(address, bytes);

		if (is_data(address))
			error = copy_to_kernel_nofault(address, source, part);
		else if (part == sizeof(u64))
			error = poke(address, get_unaligned((const u64 *)source), part,
				     DONJON_POKE_VALUE);
		else if (part == sizeof(u32))
			error = poke(address, get_unaligned((const u32 *)source), part,
				     DONJON_POKE_VALUE);
		else
			error = poke_copy(address, source, part);
		address += part;
		source += part;
		bytes -= part;
	}
	return error;
}

int donjon_fill_text(void *address, u32 instruction, size_t bytes)
{
	int error = 0;

	if (!IS_ALIGNED((unsigned long)address | bytes, AARCH64_INSN_SIZE))
		return -EINVAL;
	while (bytes && !error) {
		size_t part = in_slice(address, bytes);

		if (is_data(address))
			memset32(address, instruction, part / sizeof(u32));
		else
			error = poke(address, instruction, part, DONJON_POKE_FILL);
		address += part;
		bytes -= part;
	}
	return error;
}

/* The inner domain has one page at a time on its way, in several calls. */
static struct donjon_result seal_page(unsigned long address)
{
	static DEFINE_SPINLOCK(lock);
	struct donjon_result result;

	spin_lock(&lock);
	do {
		result = __donjon_call(DONJON_FN_TEXT_SEAL, address, 0, 0, 0, 0, 0);
	} while (!result.status && result.value);
	spin_unlock(&lock);
	return result;
}

int donjon_seal_text(unsigned long address, int pages, const char *owner)
{
	struct donjon_result result = {};
	int page;

	if (!donjon_present())
		return set_memory_ro(address, pages) ?: set_memory_x(address, pages);
	if (!donjon_live) {
		pr_warn_once("no new kernel code before the hand-over\n");
		return -EPERM;
	}
	for (page = 0; page < pages && !result.status; page++) {
		result = seal_page(address + page * PAGE_SIZE);
		if (result.status == DONJON_ERR_BAD_INSTRUCTION)
			pr_err("%s: instruction %#010lx at offset %#lx is refused\n",
			       owner, result.value >> 32,
			       page * PAGE_SIZE + (u32)result.value);
		else if (result.status)
			pr_err("%s: page at offset %#lx does not become executable: %s\n",
			       owner, page * PAGE_SIZE, donjon_reason(result));
		cond_resched();
	}
	return errno_of(result);
}

/* BPF programs and the slots of kprobes; modules have names. */
int set_memory_rox(unsigned long address, int pages)
{
	return donjon_seal_text(address, pages, "generated code");
}
