// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading, writing and jumping to inner addresses from the outer domain, each
 * time directly after a call, when the TLB knows these addresses best.
 */
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include <asm/debug-monitors.h>
#include <asm/donjon.h>
#include <asm/esr.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

#include "selftest.h"

/* What a self-test on this CPU is about to touch, and whether it faulted. */
struct expected_fault {
	unsigned long address;
	unsigned long value;	/* what the last read gave */
	bool armed;
	bool unmapped;		/* it was a translation fault */
	bool forbidden;		/* it was a permission fault */
};

static DEFINE_PER_CPU(struct expected_fault, expected_fault);

/*
 * Called for a kernel fault that nothing else explains. Goes on after the
 * access if it is the one that the self-test waits for.
 */
bool donjon_selftest_fault(unsigned long address, unsigned long esr,
			   struct pt_regs *regs)
{
	struct expected_fault *expected = this_cpu_ptr(&expected_fault);
	bool fetch = ESR_ELx_EC(esr) == ESR_ELx_EC_IABT_CUR;

	/* A fetch faults at its own address; gem5 has the cache line's in FAR */
	if (fetch)
		address = instruction_pointer(regs);
	if (!expected->armed || address != expected->address)
		return false;
	expected->armed = false;
	expected->unmapped = esr_fsc_is_translation_fault(esr);
	expected->forbidden = esr_fsc_is_permission_fault(esr);
	if (fetch)
		instruction_pointer_set(regs, regs->regs[30]);
	else
		instruction_pointer_set(regs, instruction_pointer(regs) + 4);
	return true;
}

enum attempt { TRY_READ, TRY_WRITE, TRY_JUMP };

/*
 * Interrupts are off, so the TLB is as the call left it. Returns true on a
 * translation fault: nothing is there.
 */
static bool attempt(enum attempt kind, unsigned long address)
{
	struct expected_fault *expected = this_cpu_ptr(&expected_fault);

	__donjon_call(DONJON_FN_NULL, 0, 0, 0, 0, 0, 0);
	expected->address = address;
	expected->unmapped = false;
	expected->forbidden = false;
	expected->armed = true;
	barrier();
	switch (kind) {
	case TRY_READ:
		asm volatile("ldr %0, [%1]" : "+r" (expected->value) : "r" (address) : "memory");
		break;
	case TRY_WRITE:
		/* Without isolation, at least leave what is there */
		asm volatile("str %0, [%1]" : : "r" (expected->value), "r" (address) : "memory");
		break;
	case TRY_JUMP:
		/* If it does not fault it runs inner code, and need not return */
		asm volatile("blr %0" : : "r" (address)
			     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7",
			       "x8", "x9", "x10", "x11", "x12", "x13", "x14",
			       "x15", "x16", "x17", "x30", "cc", "memory");
		break;
	}
	barrier();
	expected->armed = false;
	/* A permission fault would mean that the address exists in this view */
	return expected->unmapped;
}

void donjon_test_isolation(struct donjon_test_counts *counts)
{
	static const unsigned long inner[] = {
		DONJON_TEXT_WINDOW,
		DONJON_GATE_PAGE - 4096,	/* page of the exit write */
		DONJON_GATE_PAGE - 4,		/* the exit write */
		DONJON_DATA_WINDOW,
		DONJON_DEVICE_WINDOW,
	};
	unsigned long per_cpu, physical, flags;
	struct donjon_result result;
	int i;

	local_irq_save(flags);
	for (i = 0; i < ARRAY_SIZE(inner); i++) {
		unsigned long aligned = inner[i] & ~7UL;

		donjon_expect(counts, attempt(TRY_READ, aligned), "read of", aligned);
		donjon_expect(counts, attempt(TRY_WRITE, aligned), "write to", aligned);
		/*
		 * Not the windows that hold no code, and not after a failure: a
		 * jump that works runs whatever is there.
		 */
		if (!counts->failed && inner[i] >= DONJON_TEXT_WINDOW)
			donjon_expect(counts, attempt(TRY_JUMP, inner[i]), "jump to", inner[i]);
	}

	per_cpu = DONJON_CPU_BLOCKS +
		    (donjon_this_cpu_index() << DONJON_STACK_STRIDE_SHIFT);
	donjon_expect(counts, attempt(TRY_READ, per_cpu), "read of", per_cpu);
	donjon_expect(counts, attempt(TRY_READ, per_cpu - 16), "read of stack", per_cpu - 16);
	donjon_expect(counts, attempt(TRY_WRITE, per_cpu - 16), "write to stack",
		      per_cpu - 16);

	/* The inner view of physical memory: of its own, and of this kernel's */
	result = __donjon_call(DONJON_FN_INFORMATION, DONJON_INFO_MEMORY_START,
			       0, 0, 0, 0, 0);
	physical = DONJON_PHYSMAP + result.value;
	donjon_expect(counts, attempt(TRY_READ, physical), "read of", physical);
	donjon_expect(counts, attempt(TRY_WRITE, physical), "write to", physical);
	/* Where the linear map would have that memory */
	physical = (unsigned long)__va(result.value);
	donjon_expect(counts, attempt(TRY_READ, physical), "read of linear", physical);
	/* The kernel itself, 128 TiB lower, as the inner view also has it */
	physical = (unsigned long)donjon_table_block - BIT(47);
	donjon_expect(counts, attempt(TRY_READ, physical), "read of alias", physical);
	/* The gate is mapped, and read-only */
	attempt(TRY_WRITE, DONJON_GATE_PAGE);
	donjon_expect(counts, this_cpu_read(expected_fault.forbidden), "write to gate",
		      DONJON_GATE_PAGE);
	local_irq_restore(flags);
}
