// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Writes ../picojpeg-file.h: a baseline JPEG (ITU-T T.81) of a made-up picture, with colors at half
 * of the resolution, Huffman tables of its own and restart markers. Needs the mathematical library.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../picojpeg-picture.h"

#define RESTART 5
#define LONGEST 16

static const uint8_t zigzag[64] = {
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48,
	41, 34, 27, 20, 13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
	30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

/* A symbol, the bits behind it, and its table: 0 and 1 for averages, 2 and 3 for the others */
struct token {
	uint8_t table, symbol, bits;
	uint16_t value;
};

static struct token tokens[20000];
static size_t token_count;
static uint8_t file[20000];
static size_t size;
static unsigned counts[4][257];
static uint8_t lengths[4][257];
static uint16_t codes[4][256];

static void put(int byte)
{
	file[size++] = (uint8_t)byte;
}

static void put_word(int word)
{
	put(word >> 8);
	put(word & 255);
}

/* Coarser with the frequency. */
static int quantum(int table, int place)
{
	return 4 + 4 * table + (place % 8 + place / 8) * (3 + table);
}

static double level(int component, int x, int y)
{
	static const double factors[3][3] = {
		{ 0.299, 0.587, 0.114 },
		{ -0.168736, -0.331264, 0.5 },
		{ 0.5, -0.418688, -0.081312 },
	};
	double sum = component ? 0 : -128;

	for (int i = 0; i < 3; i++)
		sum += factors[component][i] * picture(x, y, i);
	return sum;
}

/* A sample, which is the mean of four pixels for colors. */
static double sample(int component, int x, int y)
{
	double sum = 0;

	if (!component)
		return level(0, x, y);
	for (int i = 0; i < 4; i++)
		sum += level(component, 2 * x + i % 2, 2 * y + i / 2) / 4;
	return sum;
}

static void add_token(int table, int symbol, int bits, int value)
{
	/* A negative value is written less one. */
	unsigned shown = (unsigned)(value < 0 ? value - 1 : value) & ((1u << bits) - 1);

	tokens[token_count++] = (struct token){ table, symbol, bits, shown };
	counts[table][symbol]++;
}

static int bits_of(int value)
{
	int bits = 0;

	for (value = abs(value); value; value >>= 1)
		bits++;
	return bits;
}

static void add_block(int component, int left, int top, int *last)
{
	int table = component > 0, run = 0, values[64];

	for (int place = 0; place < 64; place++) {
		int u = place % 8, v = place / 8;
		double sum = 0;

		for (int y = 0; y < 8; y++)
			for (int x = 0; x < 8; x++)
				sum += sample(component, left + x, top + y) *
				       cos((2 * x + 1) * u * M_PI / 16) *
				       cos((2 * y + 1) * v * M_PI / 16);
		sum *= (u ? 1 : M_SQRT1_2) * (v ? 1 : M_SQRT1_2) / 4;
		values[place] = (int)lround(sum / quantum(table, place));
	}
	add_token(table, bits_of(values[0] - *last), bits_of(values[0] - *last), values[0] - *last);
	*last = values[0];
	for (int i = 1; i < 64; i++) {
		int value = values[zigzag[i]], bits = bits_of(value);

		if (!value) {
			run++;
			continue;
		}
		for (; run > 15; run -= 16)
			add_token(2 + table, 0xf0, 0, 0);
		add_token(2 + table, run << 4 | bits, bits, value);
		run = 0;
	}
	if (run)
		add_token(2 + table, 0, 0, 0);
}

/* Joins the two rarest trees until one is left. Symbol 256 takes the code that is all ones. */
static void make_code(int table)
{
	unsigned weights[257];
	int trees[257], code = 0;

	counts[table][256] = 1;
	for (int i = 0; i < 257; i++) {
		/* The rarest of all, so it is among the longest. */
		weights[i] = i == 256 ? 1 : 2 * counts[table][i];
		trees[i] = i;
	}
	for (;;) {
		int one = -1, other = -1;

		for (int i = 256; i >= 0; i--) {
			if (!weights[i])
				continue;
			if (one < 0 || weights[i] < weights[one]) {
				other = one;
				one = i;
			} else if (other < 0 || weights[i] < weights[other]) {
				other = i;
			}
		}
		if (other < 0)
			break;
		for (int i = 0; i < 257; i++)
			if (counts[table][i] && (trees[i] == one || trees[i] == other)) {
				lengths[table][i]++;
				trees[i] = one;
			}
		weights[one] += weights[other];
		weights[other] = 0;
	}
	for (int length = 1; length <= LONGEST; length++, code <<= 1)
		for (int i = 0; i < 256; i++)
			if (counts[table][i] && lengths[table][i] == length)
				codes[table][i] = (uint16_t)code++;
}

static void put_tables(void)
{
	for (int table = 0; table < 2; table++) {
		put_word(0xffdb);
		put_word(67);
		put(table);
		for (int i = 0; i < 64; i++)
			put(quantum(table, zigzag[i]));
	}
	for (int table = 0; table < 4; table++) {
		size_t start = size;

		put_word(0xffc4);
		put_word(0);
		put(table / 2 << 4 | table % 2);
		for (int length = 1; length <= LONGEST; length++) {
			int count = 0;

			for (int i = 0; i < 256; i++)
				count += counts[table][i] && lengths[table][i] == length;
			put(count);
		}
		for (int length = 1; length <= LONGEST; length++)
			for (int i = 0; i < 256; i++)
				if (counts[table][i] && lengths[table][i] == length)
					put(i);
		file[start + 3] = (uint8_t)(size - start - 2);
	}
}

static void put_headers(void)
{
	put_word(0xffd8);
	put_tables();
	put_word(0xffc0);
	put_word(17);
	put(8);
	put_word(PICTURE_HEIGHT);
	put_word(PICTURE_WIDTH);
	put(3);
	for (int i = 0; i < 3; i++) {
		put(i + 1);
		put(i ? 0x11 : 0x22);
		put(i > 0);
	}
	put_word(0xffdd);
	put_word(4);
	put_word(RESTART);
	put_word(0xffda);
	put_word(12);
	put(3);
	for (int i = 0; i < 3; i++) {
		put(i + 1);
		put(i ? 0x11 : 0);
	}
	put(0);
	put(63);
	put(0);
}

/* Ones fill the last byte; a zero follows each byte of ones. */
static void put_tokens(const struct token *from, const struct token *to)
{
	uint64_t bits = 0;
	int count = 0;

	for (; from <= to; from++) {
		if (from == to) {
			bits = bits << 7 | 127;
			count += 7;
		} else {
			int length = lengths[from->table][from->symbol];

			bits = bits << length | codes[from->table][from->symbol];
			bits = bits << from->bits | from->value;
			count += length + from->bits;
		}
		for (; count >= 8; count -= 8) {
			put((int)(bits >> (count - 8) & 255));
			if (file[size - 1] == 255)
				put(0);
		}
	}
}

int main(void)
{
	size_t starts[100] = { 0 };
	int last[3] = { 0 }, units = 0;

	for (int y = 0; y < PICTURE_HEIGHT; y += 16)
		for (int x = 0; x < PICTURE_WIDTH; x += 16, units++) {
			starts[units] = token_count;
			if (units % RESTART == 0)
				memset(last, 0, sizeof(last));
			for (int i = 0; i < 4; i++)
				add_block(0, x + i % 2 * 8, y + i / 2 * 8, last);
			add_block(1, x / 2, y / 2, last + 1);
			add_block(2, x / 2, y / 2, last + 2);
		}
	starts[units] = token_count;
	for (int i = 0; i < 4; i++)
		make_code(i);
	put_headers();
	for (int i = 0; i < units; i += RESTART) {
		if (i)
			put_word(0xffd0 + (i / RESTART - 1) % 8);
		put_tokens(tokens + starts[i],
			   tokens + starts[i + RESTART < units ? i + RESTART : units]);
	}
	put_word(0xffd9);
	printf("/* SPDX-License-Identifier: MIT OR Apache-2.0 */\n"
	       "/* A JPEG that host/encode.c wrote. */\n"
	       "static const uint8_t file[%zu] = {", size);
	for (size_t i = 0; i < size; i++)
		printf("%s0x%02x,", i % 12 ? " " : "\n\t", file[i]);
	printf("\n};\n");
	return 0;
}
