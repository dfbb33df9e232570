// SPDX-License-Identifier: GPL-2.0-only
/*
 * One random call, with arguments of the types that it takes. Addresses are of every
 * kind and descriptors are made of parts, so that many calls are accepted, and change
 * what the next ones find. Left out is what the rules accept and Linux itself would
 * not survive: a change of a table that it uses, its data as text, and its end by the
 * firmware. Of such calls only those are made that the rules refuse.
 */
#include <linux/array_size.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <asm/insn.h>
#include <asm/pgtable.h>
#include <asm/sysreg.h>

#include "fuzz.h"

#define USER_START	SZ_4G
#define USER_BLOCKS	4
/* No process of Linux gets so far: it begins with the lowest */
#define FIRST_ASID	0xfff0U
#define ASIDS		6
#define PSCI(number)	(0x84000000U | (number))

static bool one_in(struct fuzz_random *random, u32 bound)
{
	return !fuzz_below(random, bound);
}

static u64 own_page(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	return virt_to_phys(ground->pages) + fuzz_below(random, FUZZ_PAGES) * PAGE_SIZE;
}

static u64 block_frame(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	return ground->blocks[fuzz_below(random, FUZZ_BLOCKS)] +
	       fuzz_below(random, FUZZ_FRAMES) * PAGE_SIZE;
}

static u64 inner_frame(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	return ground->inner + PAGE_SIZE * fuzz_below(random, ground->inner_size / PAGE_SIZE);
}

static u64 table_of(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	unsigned long va = ground->windows[fuzz_below(random, FUZZ_WINDOWS)].va;

	return PAGE_OF(walk_to(kernel_root(), va, fuzz_below(random, 4)).entry);
}

/* A frame of any kind */
static u64 frame(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	switch (fuzz_below(random, 10)) {
	case 0 ... 2:
		return own_page(ground, random);
	case 3 ... 4:
		return block_frame(ground, random);
	case 5:
		return inner_frame(ground, random);
	case 6:
		return table_of(ground, random);
	case 7:
		return ground->text;
	case 8:
		return console_page();
	default:
		return PAGE_OF(fuzz_word(random) >> fuzz_below(random, 64));
	}
}

static u64 address(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	u64 offset = fuzz_below(random, PAGE_SIZE / 8) * 8;

	return frame(ground, random) + (one_in(random, 8) ? fuzz_below(random, PAGE_SIZE) : offset);
}

static u64 with_flips(struct fuzz_random *random, u64 value)
{
	u32 flips = one_in(random, 3) ? 1 + fuzz_below(random, 3) : 0;

	while (flips--)
		value ^= BIT_ULL(fuzz_below(random, 64));
	return value;
}

static u64 descriptor(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	u64 pa = frame(ground, random);

	switch (fuzz_below(random, 9)) {
	case 0 ... 1:
		return 0;
	case 2:
		return with_flips(random, kernel_page(pa));
	case 3:
		return with_flips(random, kernel_page(pa) | PTE_RDONLY);
	case 4 ... 5:
		return with_flips(random, user_page(pa));
	case 6:
		return with_flips(random, user_page(pa) | PTE_RDONLY);
	case 7:
		return with_flips(random, pa | DESCRIPTOR_TABLE);
	default:
		return with_flips(random, user_page(pa & ~(SZ_2M - 1)) & ~BIT_ULL(1));
	}
}

/* Where the attacker may change what it likes. */
static u64 own_entry(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	switch (fuzz_below(random, 4)) {
	case 0:
		return ground->directory;
	case 1:
		return block_frame(ground, random) + fuzz_below(random, FUZZ_ENTRIES) * 8;
	default:
		return ground->windows[fuzz_below(random, FUZZ_WINDOWS)].entry;
	}
}

/* An entry and its value: any value, or one that is refused everywhere. */
static void store(const struct fuzz_ground *ground, struct fuzz_random *random, bool own,
		  u64 *words)
{
	if (own) {
		words[0] = own_entry(ground, random);
		words[1] = descriptor(ground, random);
	} else {
		words[0] = table_of(ground, random) + fuzz_below(random, 512) * 8;
		words[1] = kernel_page(inner_frame(ground, random));
		if (one_in(random, 2))
			words[1] |= PTE_RDONLY;
	}
}

/* The lists of each kind have a page of their own: no mixture of two is worse. */
static u64 *list(const struct fuzz_ground *ground, struct fuzz_random *random, bool own)
{
	return ground->lists + (own ? 0 : 512) + fuzz_below(random, 256) * 2;
}

/* Of a process that is none of Linux's. */
static u64 process(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	u64 number = BIT_ULL(60) + (fuzz_below(random, 2) << 16);

	switch (fuzz_below(random, 16)) {
	case 0:
		return number | DONJON_RESERVED_ASID;
	case 1:
		return number;
	case 2:
		return fuzz_word(random) | FIRST_ASID;
	default:
		return number | (FIRST_ASID + fuzz_below(random, ASIDS));
	}
}

static u64 any_process(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	return one_in(random, 8) ? ground->process : process(ground, random);
}

static u64 user_address(struct fuzz_random *random)
{
	if (one_in(random, 16))
		return fuzz_word(random);
	return USER_START + fuzz_below(random, USER_BLOCKS) * SZ_2M +
	       fuzz_below(random, 512) * PAGE_SIZE;
}

static u32 instruction(struct fuzz_random *random)
{
	static const u32 words[] = {
		0xd503201fU,	/* NOP */
		0x14000001U,	/* B to the next */
		0x94000001U,	/* BL to the next */
		0x91000400U,	/* ADD */
		0xd5182040U,	/* MSR TCR_EL1, x0 */
		0xd5182000U,	/* MSR TTBR0_EL1, x0 */
		0xd508871fU,	/* TLBI VMALLE1 */
		0xd4000002U,	/* HVC */
		0xd4000003U,	/* SMC */
	};

	return one_in(random, 4) ? fuzz_word(random) :
				 words[fuzz_below(random, ARRAY_SIZE(words))];
}

static struct donjon_result poke(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	u64 kind = fuzz_below(random, 4) | (one_in(random, 4) ? DONJON_POKE_STOPPED : 0);
	u64 bytes = one_in(random, 8) ? fuzz_below(random, 4096) : 4ULL << fuzz_below(random, 9);
	u64 source = kind & DONJON_POKE_COPY ? address(ground, random) : instruction(random);
	u64 va = scratch(fuzz_below(random, SCRATCH_WORDS));

	bytes = min_t(u64, bytes, scratch(SCRATCH_WORDS) - va);
	if (one_in(random, 4)) {
		/* MSR TCR_EL1, x0 where Linux executes */
		va = ground->text_va + fuzz_below(random, PAGE_SIZE);
		source = 0xd5182040U;
		kind = (kind & DONJON_POKE_STOPPED) | DONJON_POKE_FILL;
	}
	return __donjon_call(DONJON_FN_TEXT_POKE, va, source, bytes, kind, 0, 0);
}

static struct donjon_result seal(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	u64 va = ground->windows[fuzz_below(random, FUZZ_WINDOWS)].va;

	switch (fuzz_below(random, 8)) {
	case 0:
		va = ground->text_va;
		break;
	case 1:
		va = ground->directory_va + fuzz_below(random, FUZZ_ENTRIES) * PAGE_SIZE;
		break;
	case 2:
		va = user_address(random);
		break;
	}
	return __donjon_call(DONJON_FN_TEXT_SEAL, va, 0, 0, 0, 0, 0);
}

static struct donjon_result firmware(struct fuzz_random *random)
{
	static const u32 functions[] = {
		PSCI(0), PSCI(4), PSCI(10), PSCI(6), PSCI(7), 0x80000000U,
		0xc4000004U, 0xc3000000U, 0x32000000U,
	};

	return __donjon_call(DONJON_FN_FIRMWARE,
			     functions[fuzz_below(random, ARRAY_SIZE(functions))],
			     fuzz_below(random, 8), fuzz_word(random), fuzz_word(random), 0, 0);
}

/* To another tree, or none, and back before anything looks at a user's address. */
static struct donjon_result and_back(u64 function, u64 argument)
{
	struct donjon_result result;
	unsigned long flags;
	u64 before;

	local_irq_save(flags);
	before = READ_ONCE(current->active_mm->context.process);
	result = __donjon_call(function, argument, 0, 0, 0, 0, 0);
	if (!before ||
	    __donjon_call(DONJON_FN_SWITCH_ROOT, before, 0, 0, 0, 0, 0).status)
		__donjon_call(DONJON_FN_SWITCH_ROOT, 0, 0, 0, 0, 0, 0);
	local_irq_restore(flags);
	return result;
}

/* A part of the way into a pool or out of it: no call goes all of it. */
static struct donjon_result pool_call(u64 function, u64 block, u64 kind, u64 waits)
{
	struct donjon_result result;
	int i;

	for (i = 0; i < 16; i++) {
		result = __donjon_call(function, block, kind, waits, 0, 0, 0);
		if (result.status != DONJON_ERR_BUSY)
			break;
	}
	return result;
}

/* A buffer: the attacker's own, or none that may be written. */
static u64 buffer(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	switch (fuzz_below(random, 5)) {
	case 0:
		return inner_frame(ground, random) + fuzz_below(random, PAGE_SIZE);
	case 1:
		return table_of(ground, random);
	case 2:
		return console_page();
	default:
		return own_page(ground, random) + fuzz_below(random, PAGE_SIZE);
	}
}

static struct donjon_result map(const struct fuzz_ground *ground, struct fuzz_random *random,
				u64 function)
{
	u64 va = user_address(random);
	u64 count = one_in(random, 3) ? 1 : fuzz_below(random, DONJON_MAP_MAX + 2);
	u64 source = one_in(random, 4) ? frame(ground, random) : own_page(ground, random);
	u64 shift = function == DONJON_FN_MAP ? PAGE_SHIFT : PMD_SHIFT;

	if (function == DONJON_FN_MAP_BLOCK && !one_in(random, 4))
		va &= ~(SZ_2M - 1);
	source += (va >> shift) % 512 * 8;
	if (one_in(random, 16))
		source = fuzz_word(random);
	return __donjon_call(function, process(ground, random), va, source, count, 0, 0);
}

static struct donjon_result call(const struct fuzz_ground *ground, struct fuzz_random *random,
				 u64 function)
{
	u64 words[2], a = fuzz_word(random), b = fuzz_word(random);

	switch (function) {
	case DONJON_FN_TABLE_WRITE:
		store(ground, random, !one_in(random, 4), words);
		return __donjon_call(function, words[0], words[1], 0, 0, 0, 0);
	case DONJON_FN_TABLE_WRITE_LIST:
		/* Other CPUs change it meanwhile */
		a = virt_to_phys(list(ground, random, !one_in(random, 4)));
		if (one_in(random, 8))
			a = inner_frame(ground, random);
		return __donjon_call(function, a, fuzz_below(random, 8), 0, 0, 0, 0);
	case DONJON_FN_TABLE_RELEASE:
		return __donjon_call(function, one_in(random, 3) ? frame(ground, random) :
							  block_frame(ground, random),
				     0, 0, 0, 0, 0);
	case DONJON_FN_SWITCH_ROOT:
		return and_back(function, process(ground, random));
	case DONJON_FN_POOL_ADD:
		a = ground->blocks[fuzz_below(random, FUZZ_BLOCKS)];
		/* No block of Linux's */
		if (one_in(random, 4))
			a = frame(ground, random) | PAGE_SIZE;
		else if (one_in(random, 8))
			a = inner_frame(ground, random) & ~(SZ_2M - 1);
		return pool_call(function, a, fuzz_below(random, 3), one_in(random, 4));
	case DONJON_FN_POOL_REMOVE:
		a = one_in(random, 4) ? inner_frame(ground, random) & ~(SZ_2M - 1) :
				      ground->blocks[fuzz_below(random, FUZZ_BLOCKS)];
		return pool_call(function, a, 0, 0);
	case DONJON_FN_TEXT_POKE:
		return poke(ground, random);
	case DONJON_FN_TEXT_SEAL:
		return seal(ground, random);
	case DONJON_FN_FIRMWARE:
		return firmware(random);
	case DONJON_FN_MAP:
	case DONJON_FN_MAP_BLOCK:
		return map(ground, random, function);
	case DONJON_FN_FLUSH:
		a = user_address(random);
		b = one_in(random, 4) ? user_address(random) :
				      a + fuzz_below(random, 1024) * PAGE_SIZE;
		return __donjon_call(function, any_process(ground, random), a, b, 0, 0, 0);
	case DONJON_FN_REFRESH:
	case DONJON_FN_CLEAR:
	case DONJON_FN_FREE:
		return __donjon_call(function, any_process(ground, random),
				     fuzz_below(random, 2), fuzz_below(random, 2), 0, 0, 0);
	case DONJON_FN_LOG:
	case DONJON_FN_REFUSALS:
		return __donjon_call(function, fuzz_below(random, 64), buffer(ground, random),
				     fuzz_below(random, 512), 0, 0, 0);
	case DONJON_FN_HANDOVER:
		/* With 0 it leaves the CPU without a tree */
		return and_back(function, one_in(random, 2) ? 0 : buffer(ground, random));
	case DONJON_FN_SYSTEM_REGISTER:
		return __donjon_call(function, fuzz_below(random, 2),
				     one_in(random, 2) ? read_sysreg(sctlr_el1) :
						       with_flips(random, a), 0, 0, 0, 0);
	case DONJON_FN_CPU_ON:
		return __donjon_call(function, fuzz_below(random, 16), address(ground, random),
				     0, 0, 0, 0);
	case DONJON_FN_COMPARTMENT_CREATE ... DONJON_FN_COMPARTMENT_CONNECT:
		/* What is shared is written: nothing of Linux's */
		a = one_in(random, 4) ? PAGE_OF(frame(ground, random)) : own_page(ground, random);
		b = one_in(random, 4) ? block_frame(ground, random) : own_page(ground, random);
		if (one_in(random, 8))
			b = inner_frame(ground, random);
		return fuzz_compartment(ground, random, function, a, b);
	default:
		/* These change nothing */
		return __donjon_call(function, fuzz_below(random, 64), fuzz_below(random, 64),
				     fuzz_below(random, 8), a, b, fuzz_word(random));
	}
}

static void scatter(const struct fuzz_ground *ground, struct fuzz_random *random)
{
	u64 words[2], *to;
	bool own;

	if (one_in(random, 4)) {
		own = !one_in(random, 4);
		store(ground, random, own, words);
		to = list(ground, random, own);
		WRITE_ONCE(to[0], words[0]);
		WRITE_ONCE(to[1], words[1]);
	} else {
		to = ground->pages + fuzz_below(random, FUZZ_PAGES * 512);
		WRITE_ONCE(*to, descriptor(ground, random));
	}
}

void fuzz_call(const struct fuzz_ground *ground, struct fuzz_random *random,
	       struct fuzz_counts *counts)
{
	u64 function = fuzz_below(random, DONJON_FUNCTIONS);
	struct donjon_result result;

	/* Waits are long, and what they are for comes rarely */
	if (function == DONJON_FN_TEXT_WAIT && !one_in(random, 64))
		function = DONJON_FN_MAP;
	scatter(ground, random);
	if (one_in(random, 64)) {
		/* Of another owner, or unknown */
		result = __donjon_call((fuzz_word(random) & ~BIT_ULL(63)) | BIT_ULL(16),
				       fuzz_word(random), 0, 0, 0, 0, 0);
		function = DONJON_FUNCTIONS;
	} else {
		result = call(ground, random, function);
	}
	if (result.status)
		counts->refused[function]++;
	else
		counts->accepted[function]++;
}
