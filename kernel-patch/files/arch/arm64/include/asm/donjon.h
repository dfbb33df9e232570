/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls into the Donjon inner domain.
 */
#ifndef __ASM_DONJON_H
#define __ASM_DONJON_H

#ifdef CONFIG_DONJON

#include <asm/donjon_abi.h>

#ifndef __ASSEMBLY__

#include <linux/types.h>

struct pt_regs;

struct donjon_result {
	long status;		/* 0 or a negative DONJON_ERR_* */
	unsigned long value;
};

/*
 * Enter the inner domain. Any context will do: the gate masks what can be
 * masked and has a stack of its own. The caller makes sure that the gate is
 * there, with donjon_present().
 */
static __always_inline struct donjon_result
__donjon_call(unsigned long function, unsigned long a1, unsigned long a2,
	      unsigned long a3, unsigned long a4, unsigned long a5,
	      unsigned long a6)
{
	register unsigned long x0 asm("x0") = function;
	register unsigned long x1 asm("x1") = a1;
	register unsigned long x2 asm("x2") = a2;
	register unsigned long x3 asm("x3") = a3;
	register unsigned long x4 asm("x4") = a4;
	register unsigned long x5 asm("x5") = a5;
	register unsigned long x6 asm("x6") = a6;

	asm volatile("blr %[gate]"
		     : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3), "+r" (x4),
		       "+r" (x5), "+r" (x6)
		     : [gate] "r" (DONJON_GATE)
		     : "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
		       "x15", "x16", "x17", "x30", "cc", "memory");

	return (struct donjon_result){ .status = x0, .value = x1 };
}

/* Call the inner domain where the function has four arguments at most, or two. */
static __always_inline struct donjon_result
__donjon_call4(unsigned long function, unsigned long a1, unsigned long a2,
	       unsigned long a3, unsigned long a4)
{
	register unsigned long x0 asm("x0") = function;
	register unsigned long x1 asm("x1") = a1;
	register unsigned long x2 asm("x2") = a2;
	register unsigned long x3 asm("x3") = a3;
	register unsigned long x4 asm("x4") = a4;

	asm volatile("blr %[gate]"
		     : "+r" (x0), "+r" (x1), "+r" (x2), "+r" (x3), "+r" (x4)
		     : [gate] "r" (DONJON_GATE)
		     : "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
		       "x13", "x14", "x15", "x16", "x17", "x30", "cc", "memory");

	return (struct donjon_result){ .status = x0, .value = x1 };
}

static __always_inline struct donjon_result
__donjon_call2(unsigned long function, unsigned long a1, unsigned long a2)
{
	register unsigned long x0 asm("x0") = function;
	register unsigned long x1 asm("x1") = a1;
	register unsigned long x2 asm("x2") = a2;

	asm volatile("blr %[gate]"
		     : "+r" (x0), "+r" (x1), "+r" (x2)
		     : [gate] "r" (DONJON_GATE)
		     : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
		       "x12", "x13", "x14", "x15", "x16", "x17", "x30", "cc",
		       "memory");

	return (struct donjon_result){ .status = x0, .value = x1 };
}

void donjon_init(void);
bool donjon_present(void);
struct donjon_result donjon_call(unsigned long function, unsigned long a1,
				 unsigned long a2, unsigned long a3,
				 unsigned long a4, unsigned long a5,
				 unsigned long a6);
int donjon_cpu_on(unsigned long mpidr, unsigned long entry);
int donjon_check_cpu(unsigned int cpu);

/* Returns words for an error. */
const char *donjon_reason(struct donjon_result result);
/* Returns the name of a function of the inner domain. */
const char *donjon_function_name(unsigned long function);

/* Where the CPUs arrive that donjon_cpu_on() starts */
extern char donjon_secondary[];

extern char donjon_table_block[];
extern char donjon_linear_pud[];

#endif /* !__ASSEMBLY__ */

#else /* !CONFIG_DONJON */

#ifndef __ASSEMBLY__
#include <linux/errno.h>
#include <linux/types.h>

#define DONJON_RESERVED_ASID	0
#define DONJON_LAST_RESERVED_ASID	0

static inline void donjon_init(void)
{
}

static inline bool donjon_present(void)
{
	return false;
}

static inline int donjon_cpu_on(unsigned long mpidr, unsigned long entry)
{
	return -ENODEV;
}

static inline int donjon_check_cpu(unsigned int cpu)
{
	return 0;
}
#endif

#endif /* CONFIG_DONJON */

#ifndef __ASSEMBLY__
struct pt_regs;

#ifdef CONFIG_DONJON_SELFTEST
bool donjon_selftest_fault(unsigned long address, unsigned long esr,
			   struct pt_regs *regs);
#else
static inline bool donjon_selftest_fault(unsigned long address,
					 unsigned long esr,
					 struct pt_regs *regs)
{
	return false;
}
#endif
#endif /* !__ASSEMBLY__ */

#endif /* __ASM_DONJON_H */
