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
#include <linux/mm.h>
#include <linux/panic.h>
#include <linux/printk.h>

#include <asm/barrier.h>
#include <asm/donjon.h>
#include <asm/donjon_registers.h>
#include <asm/pgtable.h>

/* A CPU that has to make one more call takes less, even where a host slows it down */
#define PATIENCE_US	(5 * USEC_PER_SEC)

static noinline void __init plain_switch_root(phys_addr_t root, unsigned long asid)
{
	if (!root)
		root = __pa_symbol(reserved_pg_dir);
	write_sysreg(phys_to_ttbr(root) | FIELD_PREP(TTBR_ASID_MASK, asid),
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
	return __donjon_call(DONJON_FN_SWITCH_ROOT, root, asid, 0, 0, 0, 0);
}

static bool is_taken(struct donjon_result result)
{
	return result.status == DONJON_ERR_REFUSED &&
	       result.value == DONJON_REASON_BAD_ASID;
}

/*
 * Between the moment at which check_and_switch_context() says that a CPU has
 * another ASID now and the call that loads it, a roll-over on another CPU may
 * give the old one away, and a process another one. The inner domain refuses
 * that until the first CPU, whose interrupts are off, has made its call. This
 * one waits without a root, so that no two wait for each other.
 */
static noinline void wait_for_root(phys_addr_t root, unsigned long asid,
				   struct donjon_result result)
{
	int tries;

	call_switch_root(0, 0);
	for (tries = 0; is_taken(result) && tries < PATIENCE_US; tries++) {
		udelay(1);
		result = call_switch_root(root, asid);
	}
	/* To go on would let a task run in another one's memory */
	if (result.status)
		panic("donjon: root %pa with ASID %#lx refused: %s\n", &root,
		      asid, donjon_reason(result));
}

void __ref donjon_switch_root(phys_addr_t root, unsigned long asid)
{
	struct donjon_result result;

	if (!donjon_present()) {
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
