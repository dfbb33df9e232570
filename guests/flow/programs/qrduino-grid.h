/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The modules of a QR code of version 2: patterns, format, masks, penalties, the data's way. */
#ifndef QRDUINO_GRID_H
#define QRDUINO_GRID_H

#include "repeated.h"

#define SIDE 25

static bool dark[SIDE][SIDE];
/* Modules that hold no data */
static bool is_pattern[SIDE][SIDE];

static void set(int x, int y, bool is_dark)
{
	dark[y][x] = is_dark;
	is_pattern[y][x] = true;
}

/* Rings around a module, up to a radius; light are the odd or the even ones. */
static void draw_rings(int x, int y, int radius, int light, int outer)
{
	for (int j = -radius; j <= radius; j++)
		for (int i = -radius; i <= radius; i++) {
			int a = i < 0 ? -i : i, b = j < 0 ? -j : j, ring = a > b ? a : b;

			if (x + i >= 0 && x + i < SIDE && y + j >= 0 && y + j < SIDE)
				set(x + i, y + j, ring != light && ring != outer);
		}
}

/* Ten bits behind five: a rest of division (BCH), and a mask over all. */
static uint32_t format_word(uint32_t level, int mask)
{
	uint32_t data = level << 3 | (uint32_t)mask, rest = data << 10;

	for (int bit = 14; bit >= 10; bit--)
		if (rest >> bit & 1)
			rest ^= 0x537u << (bit - 10);
	return (data << 10 | rest) ^ 0x5412;
}

/* Both copies, and the module that is always dark. */
static void draw_format(uint32_t word)
{
	for (int i = 0; i < 15; i++) {
		bool bit = word >> i & 1;

		if (i < 8)
			set(8, i < 6 ? i : i + 1, bit);
		else
			set(i < 9 ? 7 : 14 - i, 8, bit);
		if (i < 8)
			set(SIDE - 1 - i, 8, bit);
		else
			set(8, SIDE - 15 + i, bit);
	}
	set(8, SIDE - 8, true);
}

static void draw_patterns(void)
{
	memset(is_pattern, 0, sizeof(is_pattern));
	for (int i = 0; i < SIDE; i++) {
		set(6, i, i % 2 == 0);
		set(i, 6, i % 2 == 0);
	}
	draw_rings(3, 3, 4, 2, 4);
	draw_rings(SIDE - 4, 3, 4, 2, 4);
	draw_rings(3, SIDE - 4, 4, 2, 4);
	draw_rings(SIDE - 7, SIDE - 7, 2, 1, 3);
}

static bool is_masked(int mask, int x, int y)
{
	switch (mask) {
	case 0:
		return (x + y) % 2 == 0;
	case 1:
		return y % 2 == 0;
	case 2:
		return x % 3 == 0;
	case 3:
		return (x + y) % 3 == 0;
	case 4:
		return (x / 3 + y / 2) % 2 == 0;
	case 5:
		return x * y % 2 + x * y % 3 == 0;
	case 6:
		return (x * y % 2 + x * y % 3) % 2 == 0;
	default:
		return ((x + y) % 2 + x * y % 3) % 2 == 0;
	}
}

/* Where the data goes on: in columns of two, up and down, from the right. */
struct way {
	int x, y, up;
};

static void next(struct way *it)
{
	/* Left of the upright timing pattern, columns of two end in even ones. */
	bool is_right = (it->x > 6) == (it->x % 2 == 0);

	if (is_right) {
		it->x--;
		return;
	}
	it->x++;
	it->y += it->up ? -1 : 1;
	if (it->y < 0 || it->y >= SIDE) {
		it->y = it->up ? 0 : SIDE - 1;
		it->up = !it->up;
		it->x -= 2;
		it->x -= it->x == 6;
	}
}

static void skip_patterns(struct way *it)
{
	while (it->x >= 0 && is_pattern[it->y][it->x])
		next(it);
}

static void draw_code(const uint8_t *words, int count, int mask)
{
	struct way way = { SIDE - 1, SIDE - 1, 1 };

	draw_patterns();
	draw_format(format_word(0, mask));
	for (int bit = 0;; bit++, next(&way)) {
		bool it = bit < 8 * count && words[bit / 8] >> (7 - bit % 8) & 1;

		skip_patterns(&way);
		if (way.x < 0)
			return;
		dark[way.y][way.x] = it != is_masked(mask, way.x, way.y);
	}
}

static void read_code(uint8_t *words, int count, int mask)
{
	struct way way = { SIDE - 1, SIDE - 1, 1 };

	memset(words, 0, (size_t)count);
	for (int bit = 0; bit < 8 * count; bit++, next(&way)) {
		skip_patterns(&way);
		if (dark[way.y][way.x] != is_masked(mask, way.x, way.y))
			words[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	}
}

/* The mask by the format beside the upper left pattern; -1 if there is no such one. */
static int read_mask(void)
{
	uint32_t word = 0;

	for (int i = 14; i >= 0; i--) {
		bool bit = i < 8 ? dark[i < 6 ? i : i + 1][8] : dark[8][i < 9 ? 7 : 14 - i];

		word = word << 1 | bit;
	}
	for (int mask = 0; mask < 8; mask++)
		if (format_word(0, mask) == word)
			return mask;
	return -1;
}

/* A row's modules, the leftmost in the highest bit. */
static uint32_t row(int y)
{
	uint32_t bits = 0;

	for (int x = 0; x < SIDE; x++)
		bits = bits << 1 | dark[y][x];
	return bits;
}

static uint32_t column(int x)
{
	uint32_t bits = 0;

	for (int y = 0; y < SIDE; y++)
		bits = bits << 1 | dark[y][x];
	return bits;
}

/* Five equal modules or more in a line, and what looks like the patterns in the corners. */
static uint32_t penalty_of_line(uint32_t bits)
{
	uint32_t sum = 0;
	int run = 1;

	for (int i = 1; i < SIDE; i++) {
		run = (bits >> i ^ bits >> (i - 1)) & 1 ? 1 : run + 1;
		if (run >= 5)
			sum += run == 5 ? 3 : 1;
	}
	for (int i = 0; i + 11 <= SIDE; i++) {
		uint32_t part = bits >> i & 0x7ff;

		if (part == 0x5d0 || part == 0x05d)
			sum += 40;
	}
	return sum;
}

static uint32_t penalty(void)
{
	uint32_t sum = 0;
	int count = 0, off;

	for (int i = 0; i < SIDE; i++)
		sum += penalty_of_line(row(i)) + penalty_of_line(column(i));
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			count += dark[y][x];
			if (x && y && dark[y][x] == dark[y][x - 1] &&
			    dark[y][x] == dark[y - 1][x] && dark[y][x] == dark[y - 1][x - 1])
				sum += 3;
		}
	/* Ten for each twentieth that is missing to a half, or too much. */
	off = 20 * count - 10 * SIDE * SIDE;
	return sum + (uint32_t)((off < 0 ? -off : off) / (SIDE * SIDE)) * 10;
}

#endif
