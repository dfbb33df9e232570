/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random calls: what the CPUs share, and the random numbers of each.
 */
#ifndef __DONJON_FUZZ_H
#define __DONJON_FUZZ_H

#include <linux/cache.h>
#include <linux/types.h>

#include "attack.h"

#define FUZZ_WINDOWS		4
/* Pages of ordinary memory, full of descriptors and instructions */
#define FUZZ_PAGES		16
/* 2 MiB of ordinary memory each, which become tables or text and memory again */
#define FUZZ_BLOCKS		2
/* Frames of each that are used, and entries of each of these: few, so that calls meet */
#define FUZZ_FRAMES		8
#define FUZZ_ENTRIES		4
/* Most that live at once */
#define FUZZ_COMPARTMENTS	32

/* What the calls are about: memory and addresses of the attacker's own. */
struct fuzz_ground {
	struct window windows[FUZZ_WINDOWS];
	/* An entry of level 2 with nothing behind it, and the table that was */
	u64 directory, table;
	unsigned long directory_va;
	u64 *pages;
	/* Lists of stores: of its own entries, and of values that no entry may have */
	u64 *lists;
	u64 blocks[FUZZ_BLOCKS];
	/* A page of code that asks for all that a compartment can ask for */
	u32 *requests;
	/* Handles, 0 where there is none */
	u64 *compartments;
	/* The process that began */
	u64 process;
	u64 inner, inner_size;
	/* A page of Linux's text */
	unsigned long text_va;
	u64 text;
};

/* How the calls of one CPU went. */
struct fuzz_counts {
	unsigned long accepted[DONJON_FUNCTIONS + 1];
	unsigned long refused[DONJON_FUNCTIONS + 1];
} ____cacheline_aligned;

/* The generator of one CPU: random.c */
struct fuzz_random {
	u64 state;
};

/* Below the bound, which is not 0 */
u32 fuzz_below(struct fuzz_random *random, u32 bound);
u64 fuzz_word(struct fuzz_random *random);

/* One call, and a word of the pages changed before it. */
void fuzz_call(const struct fuzz_ground *ground, struct fuzz_random *random,
	       struct fuzz_counts *counts);

/*
 * One random call about compartments, which may copy the page at `source` and share
 * the page at `shared`.
 */
struct donjon_result fuzz_compartment(const struct fuzz_ground *ground,
				      struct fuzz_random *random, u64 function,
				      u64 source, u64 shared);
/* compartment/programs.S: every request but the one that ends a compartment */
extern const u32 fuzz_requests[], fuzz_requests_end[];

/* Prepare for the first call about compartments. */
void fuzz_begin_compartments(struct fuzz_ground *ground);
/* Destroy every compartment. No call is under way. */
void fuzz_end_compartments(const struct fuzz_ground *ground);

#endif /* __DONJON_FUZZ_H */
