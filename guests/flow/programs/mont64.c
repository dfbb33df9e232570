// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Products and powers modulo odd numbers of 64 bits in Montgomery's form, checked by doubling and
 * adding.
 */
#include "repeated.h"

struct modulus {
	uint64_t n;
	/* -1 / n modulo 2^64 */
	uint64_t negative_inverse;
	/* 2^64 and 2^128 modulo n */
	uint64_t one, square;
};

static uint64_t add(uint64_t a, uint64_t b, uint64_t n)
{
	return a >= n - b ? a - (n - b) : a + b;
}

/* Both factors are below n. */
static uint64_t slow_product(uint64_t a, uint64_t b, uint64_t n)
{
	uint64_t sum = 0;

	for (; b; b >>= 1) {
		if (b & 1)
			sum = add(sum, a, n);
		a = add(a, a, n);
	}
	return sum;
}

static struct modulus modulus(uint64_t n)
{
	struct modulus it = { n, 0, 1, 1 };
	uint64_t inverse = n;

	/* Right in three bits at first, in twice as many after each step. */
	for (int bits = 3; bits < 64; bits *= 2)
		inverse *= 2 - n * inverse;
	it.negative_inverse = -inverse;
	for (int i = 0; i < 64; i++)
		it.one = add(it.one, it.one, n);
	it.square = it.one;
	for (int i = 0; i < 64; i++)
		it.square = add(it.square, it.square, n);
	return it;
}

/* a·b / 2^64 modulo n */
static uint64_t product(const struct modulus *it, uint64_t a, uint64_t b)
{
	unsigned __int128 whole = (unsigned __int128)a * b;
	uint64_t low = (uint64_t)whole, high = (uint64_t)(whole >> 64);
	uint64_t factor = low * it->negative_inverse;
	uint64_t carry = (uint64_t)((unsigned __int128)factor * it->n >> 64);

	/* The lower halves add up to 0 or 2^64. */
	carry += low != 0;
	return add(high, carry >= it->n ? carry - it->n : carry, it->n);
}

static uint64_t power(const struct modulus *it, uint64_t base, uint64_t exponent)
{
	uint64_t result = it->one;

	base = product(it, base, it->square);
	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = product(it, result, base);
		base = product(it, base, base);
	}
	return product(it, result, 1);
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	/* The largest prime below 2^64, for Fermat's theorem */
	struct modulus prime = modulus(UINT64_MAX - 58);

	for (int i = 0; i < 64; i++) {
		uint64_t n = (uint64_t)draw(&state) << 32 | draw(&state) | 1ull << 63 | 1;
		uint64_t a = ((uint64_t)draw(&state) << 32 | draw(&state)) % n;
		uint64_t b = ((uint64_t)draw(&state) << 32 | draw(&state)) % n;
		struct modulus it = modulus(n);
		uint64_t found = product(&it, product(&it, a, b), it.square);

		if (found != slow_product(a, b, n))
			return FAILED(1);
		if (a && a < prime.n && power(&prime, a, prime.n - 1) != 1)
			return FAILED(2);
		sum = mix(sum, power(&it, a, b) ^ found);
	}
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
