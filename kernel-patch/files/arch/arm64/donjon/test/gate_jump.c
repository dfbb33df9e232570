// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps to the gate's entry write with a forged TCR_EL1, for the hostile module
 * (attack/gate/gate.c) and by hand. /sys/kernel/security/donjon/attack takes:
 *
 *   forge VALUE       jump with VALUE for TCR_EL1
 *   breakpoint VALUE  jump with a breakpoint on the next instruction
 *   geometry          jump with a forged granule and range
 *
 * They are in the kernel's image and not in the module, because the forged walk
 * of the last one has to find the way back through the same table as the vectors.
 */
#define pr_fmt(fmt) "donjon: attack: " fmt

#include <linux/export.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/hw_breakpoint.h>
#include <linux/irqflags.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/cacheflush.h>
#include <asm/donjon.h>
#include <asm/pgtable.h>
#include <asm/sysreg.h>
#include <asm/tlbflush.h>

#include "files.h"
#include "gate_jump.h"

#define GRANULE			SZ_64K
#define DESCRIPTOR_TABLE	3UL
#define DESCRIPTOR_PAGE		(3UL | PTE_AF | PTE_SHARED | PTE_UXN | PTE_RDONLY)

/*
 * Jump to the entry write. Comes back only if hostile code at a vector ends at
 * attack_resume with the real TCR_EL1 restored; it finds the value in x21 and
 * the address before attack_resume in x22.
 */
static noinline unsigned long jump_to_entry_write(unsigned long forged)
{
	register unsigned long x18_value asm("x9") = forged;
	register unsigned long escaped asm("x20") = 0;
	register unsigned long outer asm("x21") = DONJON_TCR_OUTER;
	register unsigned long target asm("x10") = DONJON_GATE_ENTRY_WRITE;

	asm volatile("adr	x22, 1f\n"
		     "mov	x0, #%[null]\n"
		     "mov	x18, %[forged]\n"
		     "blr	%[target]\n"
		     "b		2f\n"
		     /* In the hostile view a write of TCR_EL1 stands here. */
		     ".global	donjon_attack_resume\n"
		     "donjon_attack_resume:\n"
		     "1: nop\n"
		     "	isb\n"
		     "2:\n"
		     : "+r" (escaped), "+r" (outer), [forged] "+r" (x18_value),
		       [target] "+r" (target)
		     : [null] "i" (DONJON_FN_NULL)
		     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
		       "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x22",
		       "x30", "cc", "memory");
	return escaped;
}

/* Where a synchronous exception from EL1 goes. */
static unsigned long vector(void)
{
	return (unsigned long)read_sysreg(vbar_el1) + 0x200;
}

void donjon_jump_with(unsigned long value)
{
	unsigned long flags;

	pr_info("jumping to the entry write with TCR_EL1 %#lx, vectors at %#lx\n",
		value, vector());
	local_irq_save(flags);
	jump_to_entry_write(value);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(donjon_jump_with);

static unsigned long tcr_in_handler;

/* If the vectors let it through: Linux code with the forged value live. */
static void breakpoint_hit(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	tcr_in_handler = read_sysreg(tcr_el1);
	/* Back behind the branch to the gate */
	instruction_pointer_set(regs, regs->regs[30]);
}

/*
 * A breakpoint on the instruction behind the write: an exception with the forged
 * value live, before the gate has looked at it. An interrupt would do as well
 * but does not come at a chosen instruction.
 */
int donjon_jump_with_breakpoint(unsigned long value, unsigned long *live)
{
	struct perf_event * __percpu *events;
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = DONJON_GATE_ENTRY_WRITE + 4;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_type = HW_BREAKPOINT_X;
	events = register_wide_hw_breakpoint(&attr, breakpoint_hit, NULL);
	if (IS_ERR((void __force *)events))
		return PTR_ERR((void __force *)events);

	pr_info("jumping to the entry write with TCR_EL1 %#lx, stopped behind it\n", value);
	preempt_disable();
	jump_to_entry_write(value);
	/* The gate leaves the right value behind */
	__donjon_call(DONJON_FN_NULL, 0, 0, 0, 0, 0, 0);
	preempt_enable();
	unregister_wide_hw_breakpoint(events);
	*live = tcr_in_handler;
	return 0;
}
EXPORT_SYMBOL_GPL(donjon_jump_with_breakpoint);

/*
 * The walk of the vectors' address with a 64K granule and 46 bits: root entry 0
 * (the linear map's first level 1 table, its address rounded down to 64K), entry
 * VA[41:29] there, entry VA[28:16] of the table that this names, a page of 64K.
 */
long donjon_jump_with_geometry(void)
{
	unsigned long vectors_va = vector();
	unsigned long resume_va = (unsigned long)donjon_attack_resume;
	unsigned long forged, neighbour, escaped, flags;
	u64 *table, descriptor;
	__le32 *code;

	table = (u64 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(GRANULE));
	code = (__le32 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(GRANULE));
	if (!table || !code)
		return -ENOMEM;

	/* mov x20, #DONJON_ESCAPED; br x22; and, where that leads, msr tcr_el1, x21 */
	code[(vectors_va % GRANULE) / 4] = cpu_to_le32(0xd2800014 | DONJON_ESCAPED << 5);
	code[(vectors_va % GRANULE) / 4 + 1] = cpu_to_le32(0xd61f02c0);
	code[(resume_va % GRANULE) / 4] = cpu_to_le32(0xd5182055);
	caches_clean_inval_pou((unsigned long)code, (unsigned long)code + GRANULE);
	descriptor = __pa(code) | DESCRIPTOR_PAGE | PTE_ATTRINDX(MT_NORMAL);
	table[(vectors_va >> 16) & 0x1fff] = descriptor;
	table[(resume_va >> 16) & 0x1fff] = descriptor;

	neighbour = __p4d_to_phys(READ_ONCE(*(p4d_t *)swapper_pg_dir)) & ~(GRANULE - 1);
	neighbour += ((vectors_va >> 29) & 0x1fff) * sizeof(u64);
	descriptor = __pa(table) | DESCRIPTOR_TABLE;
	if (copy_to_kernel_nofault(__va(neighbour), &descriptor, sizeof(descriptor)))
		pr_info("the neighbour of the level 1 table at %#lx is read-only\n", neighbour);
	dsb(ishst);

	forged = DONJON_TCR_OUTER & ~(TCR_TG1_MASK | TCR_T1SZ_MASK);
	/* HPD1: where the CPU has it, PXN in the table descriptors does not count */
	forged |= TCR_TG1_64K | TCR_T1SZ(46) | TCR_HPD1;
	pr_info("jumping to the entry write with TCR_EL1 %#lx, vectors at %#lx\n",
		forged, vectors_va);
	local_irq_save(flags);
	escaped = jump_to_entry_write(forged);
	local_flush_tlb_all();
	local_irq_restore(flags);
	return escaped;
}
EXPORT_SYMBOL_GPL(donjon_jump_with_geometry);

static void forge(unsigned long value)
{
	donjon_jump_with(value);
	pr_info("SUCCEEDED: the gate returned\n");
}

static void forge_with_breakpoint(unsigned long value)
{
	unsigned long live;
	int error = donjon_jump_with_breakpoint(value, &live);

	if (error)
		pr_err("no breakpoint: %d\n", error);
	else
		pr_info("SUCCEEDED: Linux ran with TCR_EL1 %#lx\n", live);
}

static void forge_geometry(void)
{
	long left = donjon_jump_with_geometry();

	pr_info("%s: hostile code at the vector left %#lx\n",
		left == DONJON_ESCAPED ? "SUCCEEDED" : "came back", left);
}

static ssize_t attack_write(struct file *file, const char __user *user,
			    size_t count, loff_t *position)
{
	unsigned long value;
	char text[64];

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, user, count))
		return -EFAULT;
	text[count] = 0;
	strim(text);
	if (!donjon_present())
		return -ENODEV;
	if (!strcmp(text, "geometry"))
		forge_geometry();
	else if (!strncmp(text, "forge ", 6) && !kstrtoul(text + 6, 0, &value))
		forge(value);
	else if (!strncmp(text, "breakpoint ", 11) && !kstrtoul(text + 11, 0, &value))
		forge_with_breakpoint(value);
	else
		return -EINVAL;
	return count;
}

static const struct file_operations attack_fops = {
	.owner = THIS_MODULE,
	.write = attack_write,
};

void __init donjon_attack_init(struct dentry *directory)
{
	securityfs_create_file("attack", 0200, directory, NULL, &attack_fops);
}
