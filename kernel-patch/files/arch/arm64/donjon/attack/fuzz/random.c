// SPDX-License-Identifier: GPL-2.0-only
/*
 * The random numbers of one CPU, from a seed.
 */
#include <linux/types.h>

#include "fuzz.h"

u64 fuzz_word(struct fuzz_random *random)
{
	/* Marsaglia's xorshift */
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return random->state;
}

u32 fuzz_below(struct fuzz_random *random, u32 bound)
{
	return (fuzz_word(random) >> 20) % bound;
}
