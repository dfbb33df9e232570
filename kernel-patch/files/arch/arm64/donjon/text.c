// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changing instructions and making new ones executable, both by the inner
 * domain.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/set_memory.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/time64.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>

#include <asm/donjon.h>
#include <asm/donjon_text.h>
#include <asm/insn.h>
#include <asm/patching.h>
#include <asm/pgtable.h>

#include "pool.h"
#include "text.h"

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
	case DONJON_ERR_BUSY:
		return -EBUSY;
	default:
		return -EPERM;
	}
}

static int report(void *address, struct donjon_result result)
{
	if (result.status == DONJON_ERR_BAD_INSTRUCTION)
		pr_err_ratelimited("instruction %#010lx at %pS is refused\n",
				   result.value >> 32, address + (u32)result.value);
	else if (result.status)
		pr_err_ratelimited("change of %pS is refused: %s\n", address,
				   donjon_reason(result));
	return errno_of(result);
}

static int poke(void *address, unsigned long source, size_t bytes,
		unsigned long kind)
{
	return report(address,
		      __donjon_call(DONJON_FN_TEXT_POKE, (unsigned long)address,
				    source, bytes, kind, 0, 0));
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

/* Text of a module that is being loaded is still data, which Linux writes. */
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

/* All of one size, 4 or 8 bytes, which lie one behind the other */
struct stopped_write {
	void **addresses;
	const void *values;
	size_t bytes;
	int count;
	atomic_t arrived;
	bool done;
};

/*
 * The inner domain may know of CPUs that Linux has given up and that will never
 * wait in it. Those that Linux stops come unless the host forgets them.
 */
#define STOPPED_NS	(10ULL * NSEC_PER_SEC)

static int __kprobes poke_stopped(const struct stopped_write *write, int index)
{
	const void *value = write->values + index * write->bytes;
	void *address = write->addresses[index];
	u64 end = local_clock() + STOPPED_NS;
	struct donjon_result result;
	unsigned long source;

	if (is_data(address))
		return copy_to_kernel_nofault(address, value, write->bytes);
	source = write->bytes == sizeof(u64) ? *(const u64 *)value : *(const u32 *)value;
	do {
		result = __donjon_call(DONJON_FN_TEXT_POKE, (unsigned long)address,
				       source, write->bytes,
				       DONJON_POKE_VALUE | DONJON_POKE_STOPPED, 0, 0);
	} while (result.status == DONJON_ERR_BUSY && local_clock() < end);
	return report(address, result);
}

/* On each CPU, with interrupts off */
static int __kprobes write_stopped(void *data)
{
	struct stopped_write *write = data;
	int index, error = 0;

	if (atomic_inc_return(&write->arrived) < num_online_cpus()) {
		/* Pairs with the release below */
		while (!smp_load_acquire(&write->done))
			__donjon_call(DONJON_FN_TEXT_WAIT, 0, 0, 0, 0, 0, 0);
		return 0;
	}
	for (index = 0; index < write->count && !error; index++)
		error = poke_stopped(write, index);
	/* Pairs with the acquire above: nothing is used here any more */
	smp_store_release(&write->done, true);
	return error;
}

static bool removes_breakpoint(const struct stopped_write *write)
{
	const u32 *values = write->values;
	int index;
	u32 word;

	for (index = 0; index < write->count; index++)
		if (!aarch64_insn_read(write->addresses[index], &word) &&
		    aarch64_insn_is_brk(word) && word != values[index])
			return true;
	return false;
}

int __kprobes donjon_write_stopped_text(void *addresses[], const u32 *instructions,
					int count)
{
	struct stopped_write write = {
		.addresses = addresses,
		.values = instructions,
		.bytes = sizeof(*instructions),
		.count = count,
	};
	int error;

	/*
	 * A BRK that stays behind a removed probe would be fatal to the
	 * task that meets it, so its removal does not give up.
	 */
	for (;;) {
		atomic_set(&write.arrived, 0);
		write.done = false;
		error = stop_machine_cpuslocked(write_stopped, &write, cpu_online_mask);
		if (error != -EBUSY || !removes_breakpoint(&write))
			return error;
		pr_warn_once("a CPU does not wait for the removal of a breakpoint; going on\n");
		cond_resched();
	}
}

int donjon_write_stopped_pointer(void *address, u64 value)
{
	struct stopped_write write = {
		.addresses = &address,
		.values = &value,
		.bytes = sizeof(value),
		.count = 1,
	};

	return stop_machine_cpuslocked(write_stopped, &write, cpu_online_mask);
}

DEFINE_RAW_SPINLOCK(donjon_seal_lock);

struct donjon_result __kprobes donjon_seal_locked(unsigned long address)
{
	struct donjon_result result;

	do {
		result = __donjon_call(DONJON_FN_TEXT_SEAL, address, 0, 0, 0, 0, 0);
	} while (!result.status && result.value);
	return result;
}

int donjon_seal_result(const char *owner, unsigned long offset,
		       struct donjon_result result)
{
	if (result.status == DONJON_ERR_BAD_INSTRUCTION)
		pr_err_ratelimited("%s: instruction %#010lx at offset %#lx is refused\n",
				   owner, result.value >> 32, offset + (u32)result.value);
	else if (result.status == DONJON_ERR_NO_MEMORY)
		donjon_text_used_up(owner);
	else if (result.status)
		pr_err_ratelimited("%s: page at offset %#lx does not become executable: %s\n",
				   owner, offset, donjon_reason(result));
	return errno_of(result);
}

int donjon_seal_text(unsigned long address, int pages, const char *owner,
		     unsigned long *refused)
{
	struct donjon_result result;
	int page, error = 0;

	if (!donjon_present())
		return set_memory_ro(address, pages) ?: set_memory_x(address, pages);
	if (!donjon_live) {
		pr_warn_once("%s: no new kernel code before the hand-over; a probe of the command line is set behind it by kprobe_event=\n",
			     owner);
		return -EPERM;
	}
	for (page = 0; page < pages && !error; page++) {
		raw_spin_lock(&donjon_seal_lock);
		result = donjon_seal_locked(address + page * PAGE_SIZE);
		raw_spin_unlock(&donjon_seal_lock);
		error = donjon_seal_result(owner, page * PAGE_SIZE, result);
		if (refused && result.status == DONJON_ERR_BAD_INSTRUCTION)
			*refused = address + page * PAGE_SIZE + (u32)result.value;
		cond_resched();
	}
	return error;
}

/* The slots of kprobes; modules have names, and BPF programs pages to share. */
int set_memory_rox(unsigned long address, int pages)
{
	return donjon_seal_text(address, pages, "generated code", NULL);
}
