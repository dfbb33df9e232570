/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Programs that do their work a number of times. One includes this header once, defines `once` and
 * ends in DONJON_PROGRAM. Their call takes the number of repetitions, 0 for one, and returns a sum
 * that depends on all of the work.
 */
#ifndef REPEATED_H
#define REPEATED_H

#include <donjon.h>

/* What a failed check returns in place of a sum. Sums are below 2^63. */
#define FAILED(check) (0xdead000000000000 | (uint64_t)(check))

/* Does the work one time and adds it to the sum. Data may depend on the sum before. */
static uint64_t once(uint64_t sum);

static inline bool has_failed(uint64_t sum)
{
	return sum >> 63;
}

/* Adds a word to a sum. */
static inline uint64_t mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15;
	return (sum ^ sum >> 31) & INT64_MAX;
}

/* Adds a number to a sum as thousandths of a millionth: the last bits differ among machines, since
 * some multiply and add in one step.
 */
static inline uint64_t mix_number(uint64_t sum, double number)
{
	double scaled = number * 1e9;

	return mix(sum, (uint64_t)(int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
}

/* Draws a pseudo-random number (a xorshift of 64 bits, its upper half). */
static inline uint32_t draw(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (uint32_t)(x >> 32);
}

/* Where a sequence of draws begins: never zero. */
static inline uint64_t seeded(uint64_t sum)
{
	return mix(sum, 0x5eed) | 1;
}

static uint64_t run(uint64_t repetitions)
{
	uint64_t sum = 0;

	while (repetitions-- && !has_failed(sum))
		sum = once(sum);
	return sum;
}

uint64_t donjon_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	(void)b;
	(void)c;
	(void)d;
	return run(a ? a : 1);
}

#endif
