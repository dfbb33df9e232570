// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing TTBR0_EL1 and SCTLR_EL1: by the inner domain. Where there is none,
 * by code that is freed in every other kernel.
 */
#define pr_fmt(fmt) "donjon: " fmt

#include <linux/bitfield.h>
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/panic.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/time64.h>

#include <asm/barrier.h>
#include <asm/donjon.h>
#include <asm/donjon_registers.h>
#include <asm/donjon_tables.h>
#include <asm/pgtable.h>

/* The pause between two calls grows up to this: each that is refused is recorded */
#define MOST_PAUSE_US	100UL
/* Longer than a CPU that runs takes, so it is worth a word */
#define PATIENCE_NS	(5 * NSEC_PER_SEC)

static noinline void __init plain_switch_root(phys_addr_t root, unsigned long asid)
{
	if (!root)
		root = __pa_symbol(reserved_pg_dir);
	write_sysreg(phys_to_ttbr(root) | FIELD_PREP(TTBR_ASID_MASK, (u16)asid),
		     ttbr0_el1);
	isb();
}

static noinline void __init plain_write_sctlr(u64 value)
{
	write_sysreg(value, sctlr_el1);
	isb();
}

/*
 * The absent inner domain keeps .init.text, so the plain writes are there
 * whenever they are needed.
 */
bool __ref donjon_keeps_init(void)
{
	return !donjon_present();
}

static struct donjon_result call_switch_root(phys_addr_t root, unsigned long asid)
{
	/* Before the hand-over the root itself is loaded */
	return __donjon_call2(DONJON_FN_SWITCH_ROOT, root ? asid : 0, root);
}

/*
 * Whether the same call may succeed later. The reserved ASIDs are always
 * refused; another call looks elsewhere for a page for the root.
 */
static bool is_taken(struct donjon_result result, unsigned long asid)
{
	if (result.status != DONJON_ERR_REFUSED)
		return false;
	return result.value == DONJON_REASON_NO_ROOM ||
	       (result.value == DONJON_REASON_BAD_ASID &&
		(u16)asid > DONJON_LAST_RESERVED_ASID);
}

/*
 * Between the moment at which check_and_switch_context() says that a CPU has
 * another ASID now and the call that loads it, a roll-over on another CPU may
 * give the old one away, and a process another one. The inner domain refuses
 * that until the first CPU, whose interrupts are off, has made its call. This
 * one waits without a root, so that no two wait for each other. A host may let
 * the first CPU stand for as long as it likes, so there is no end to it.
 */
static noinline void wait_for_root(phys_addr_t root, unsigned long asid,
				   struct donjon_result result)
{
	u64 begun = local_clock();
	unsigned long pause;

	call_switch_root(0, 0);
	for (pause = 1; is_taken(result, asid); pause = min(2 * pause, MOST_PAUSE_US)) {
		udelay(pause);
		result = call_switch_root(root, asid);
		/* The scheduler's locks are held */
		if (local_clock() - begun > PATIENCE_NS)
			printk_deferred_once(pr_fmt("CPU%u waits for another CPU's ASID\n"),
					     smp_processor_id());
	}
	/* Going on would let a task run in the memory of another process */
	if (result.status)
		panic("donjon: root %pa with ASID %#lx refused: %s\n", &root,
		      asid, donjon_reason(result));
}

void __ref donjon_switch_root(phys_addr_t root, unsigned long asid)
{
	struct donjon_result result;

	if (unlikely(!donjon_live) && !donjon_present()) {
		plain_switch_root(root, asid);
		return;
	}
	result = call_switch_root(root, asid);
	if (unlikely(result.status))
		wait_for_root(root, asid, result);
}

void __ref donjon_write_sctlr(u64 value)
{
	struct donjon_result result;

	if (!donjon_present()) {
		plain_write_sctlr(value);
		return;
	}
	result = __donjon_call(DONJON_FN_SYSTEM_REGISTER, DONJON_REGISTER_SCTLR,
			       value, 0, 0, 0, 0);
	WARN_ONCE(result.status, "SCTLR_EL1 stays %#llx, %#llx is refused: %s\n",
		  read_sysreg(sctlr_el1), value, donjon_reason(result));
}
