/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Blocks of a JPEG: bits of the file, Huffman's code, and the inverse cosine transform. */
#ifndef PICOJPEG_BLOCKS_H
#define PICOJPEG_BLOCKS_H

#include "repeated.h"

#define LONGEST 16

struct huffman {
	/* Codes of each length, and symbols in the order of their codes */
	uint16_t counts[LONGEST + 1];
	uint8_t symbols[256];
};

/* The file; what is behind its end reads as zeros and has failed. */
struct reader {
	const uint8_t *at, *end;
	uint32_t byte;
	int bits;
	bool failed;
};

static const uint8_t zigzag[64] = {
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48,
	41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
	30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* Rows are frequencies: 2048 cos((2x + 1)uπ/16), and the first one by the root of 2 */
static const int16_t waves[8][8] = {
	{ 1448, 1448, 1448, 1448, 1448, 1448, 1448, 1448 },
	{ 2009, 1703, 1138, 400, -400, -1138, -1703, -2009 },
	{ 1892, 784, -784, -1892, -1892, -784, 784, 1892 },
	{ 1703, -400, -2009, -1138, 1138, 2009, 400, -1703 },
	{ 1448, -1448, -1448, 1448, 1448, -1448, -1448, 1448 },
	{ 1138, -2009, 400, 1703, -1703, -400, 2009, -1138 },
	{ 784, -1892, 1892, -784, -784, 1892, -1892, 784 },
	{ 400, -1138, 1703, -2009, 2009, -1703, 1138, -400 },
};

static uint8_t next_byte(struct reader *it)
{
	if (it->at == it->end) {
		it->failed = true;
		return 0;
	}
	return *it->at++;
}

static uint16_t next_word(struct reader *it)
{
	uint16_t high = next_byte(it);

	return (uint16_t)(high << 8 | next_byte(it));
}

/* A zero behind a byte of ones is not data, and another byte there is a marker. */
static uint32_t next_bit(struct reader *it)
{
	if (!it->bits) {
		it->byte = next_byte(it);
		it->bits = 8;
		if (it->byte == 0xff && next_byte(it))
			it->failed = true;
	}
	return it->byte >> --it->bits & 1;
}

/* A number of so many bits; those that begin with a zero are negative. */
static int32_t next_number(struct reader *it, int bits)
{
	int32_t number = 0;

	for (int i = 0; i < bits; i++)
		number = number * 2 + (int32_t)next_bit(it);
	if (bits && number < 1 << (bits - 1))
		number -= (1 << bits) - 1;
	return number;
}

static uint8_t next_symbol(struct reader *it, const struct huffman *table)
{
	uint32_t code = 0, first = 0, place = 0;

	for (int length = 1; length <= LONGEST; length++) {
		code = code << 1 | next_bit(it);
		if (code - first < table->counts[length])
			return table->symbols[place + code - first];
		place += table->counts[length];
		first = (first + table->counts[length]) << 1;
	}
	it->failed = true;
	return 0;
}

/* Far above what a file of sense has, and low enough for 32 bits. */
static int32_t limited(int32_t it)
{
	return it > 4095 ? 4095 : it < -4095 ? -4095 : it;
}

/* The amplitudes of a block. The first one is counted from the block before. */
static void next_block(struct reader *it, const struct huffman *average,
		       const struct huffman *others, const uint8_t *quanta, int32_t *last,
		       int32_t block[64])
{
	memset(block, 0, 64 * sizeof(block[0]));
	*last = limited(*last + next_number(it, next_symbol(it, average) & 15));
	block[0] = limited(*last * quanta[0]);
	for (int i = 1; i < 64 && !it->failed; i++) {
		uint8_t symbol = next_symbol(it, others);

		if (!(symbol & 15)) {
			/* The end, or sixteen zeros */
			if (symbol != 0xf0)
				return;
			i += 15;
			continue;
		}
		i += symbol >> 4;
		if (i > 63) {
			it->failed = true;
			return;
		}
		block[zigzag[i]] = limited(next_number(it, symbol & 15) * quanta[i]);
	}
}

static uint8_t clamped(int32_t it)
{
	return (uint8_t)(it < 0 ? 0 : it > 255 ? 255 : it);
}

/* Columns, then rows. Many columns have the average alone. */
static void transform(const int32_t block[64], uint8_t *to, int width)
{
	int32_t middle[64];

	for (int x = 0; x < 8; x++) {
		int last = 7;

		while (last && !block[8 * last + x])
			last--;
		for (int y = 0; y < 8; y++) {
			int32_t sum = 0;

			for (int v = 0; v <= last; v++)
				sum += block[8 * v + x] * waves[v][y];
			middle[8 * y + x] = (sum + 256) >> 9;
		}
	}
	for (int y = 0; y < 8; y++)
		for (int x = 0; x < 8; x++) {
			int32_t sum = 1 << 14;

			for (int u = 0; u < 8; u++)
				sum += middle[8 * y + u] * waves[u][x];
			to[y * width + x] = clamped((sum >> 15) + 128);
		}
}

#endif
