// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A QR code (ISO 18004) of version 2 with correction level M, of up to 26 bytes: made with the mask
 * of the lowest penalty, then read back.
 */
#include "qrduino-grid.h"

#define DATA 28
#define CORRECTION 16
#define CODEWORDS (DATA + CORRECTION)
#define LONGEST 26

/* Powers of 2 in the field of 256 elements modulo x⁸ + x⁴ + x³ + x² + 1, and their exponents */
static uint8_t powers[512], exponents[256];
static uint8_t generator[CORRECTION + 1], codewords[CODEWORDS];

static void make_field(void)
{
	uint32_t power = 1;

	for (int i = 0; i < 255; i++) {
		powers[i] = powers[i + 255] = (uint8_t)power;
		exponents[power] = (uint8_t)i;
		power = power << 1 ^ (power >> 7) * 0x11d;
	}
}

static uint8_t product(uint8_t a, uint8_t b)
{
	return a && b ? powers[exponents[a] + exponents[b]] : 0;
}

/* The product of x - 2^i, the highest power first. */
static void make_generator(void)
{
	memset(generator, 0, sizeof(generator));
	generator[0] = 1;
	for (int i = 0; i < CORRECTION; i++)
		for (int j = i + 1; j > 0; j--)
			generator[j] ^= product(generator[j - 1], powers[i]);
}

/* Appends the rest of a division by the generator. */
static void correct(void)
{
	uint8_t *rest = codewords + DATA;

	memset(rest, 0, CORRECTION);
	for (int i = 0; i < DATA; i++) {
		uint8_t factor = codewords[i] ^ rest[0];

		for (int j = 1; j < CORRECTION; j++)
			rest[j - 1] = rest[j] ^ product(generator[j], factor);
		rest[CORRECTION - 1] = product(generator[CORRECTION], factor);
	}
}

/* Whether the values at all roots of the generator are zero. */
static bool is_consistent(const uint8_t words[CODEWORDS])
{
	uint8_t any = 0;

	for (int i = 0; i < CORRECTION; i++) {
		uint8_t value = 0;

		for (int j = 0; j < CODEWORDS; j++)
			value = product(value, powers[i]) ^ words[j];
		any |= value;
	}
	return !any;
}

static void put(int *bit, uint32_t value, int bits)
{
	for (; bits--; ++*bit)
		codewords[*bit / 8] |= (uint8_t)((value >> bits & 1) << (7 - *bit % 8));
}

/* Bytes (mode 4), their number, and what fills the rest. */
static void write_data(const uint8_t *from, int size)
{
	int bit = 0;

	memset(codewords, 0, sizeof(codewords));
	put(&bit, 4, 4);
	put(&bit, (uint32_t)size, 8);
	for (int i = 0; i < size; i++)
		put(&bit, from[i], 8);
	for (int i = size + 2; i < DATA; i++)
		codewords[i] = (i - size) % 2 ? 0x11 : 0xec;
	correct();
}

/* How many bytes there are; -1 if it is no such code. */
static int read_data(const uint8_t words[CODEWORDS], uint8_t to[LONGEST])
{
	int size = (words[0] & 15) << 4 | words[1] >> 4;

	if (words[0] >> 4 != 4 || size > LONGEST || !is_consistent(words))
		return -1;
	for (int i = 0; i < size; i++)
		to[i] = (uint8_t)(words[i + 1] << 4 | words[i + 2] >> 4);
	return size;
}

/* The mask of the lowest penalty, which the grid has afterwards. */
static int draw_best(void)
{
	uint32_t lowest = UINT32_MAX;
	int best = 0;

	for (int mask = 0; mask < 8; mask++) {
		uint32_t found;

		draw_code(codewords, CODEWORDS, mask);
		found = penalty();
		if (found < lowest) {
			lowest = found;
			best = mask;
		}
	}
	draw_code(codewords, CODEWORDS, best);
	return best;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	uint8_t text[LONGEST], read[LONGEST], words[CODEWORDS];
	int size = 10 + (int)(draw(&state) % 17), mask;

	/* Examples of the standard: level M, mask 5, and level L, mask 0 */
	if (format_word(0, 5) != 0x40ce || format_word(1, 0) != 0x77c4)
		return FAILED(1);
	for (int i = 0; i < size; i++)
		text[i] = (uint8_t)('A' + draw(&state) % 26);
	make_field();
	make_generator();
	write_data(text, size);
	mask = draw_best();
	if (read_mask() != mask)
		return FAILED(2);
	read_code(words, CODEWORDS, mask);
	if (read_data(words, read) != size || memcmp(text, read, (size_t)size))
		return FAILED(3);
	words[draw(&state) % CODEWORDS] ^= 1u << draw(&state) % 8;
	if (read_data(words, read) != -1)
		return FAILED(4);
	sum = mix(sum, (uint64_t)mask);
	for (int y = 0; y < SIDE; y++)
		sum = mix(sum, row(y));
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
