// SPDX-License-Identifier: MIT OR Apache-2.0
/* CRC-32 of 16 KiB by a table of 256 words, which is made anew each time. */
#include "repeated.h"

/* The polynomial of IEEE 802.3, its lowest power in the highest bit. */
#define POLYNOMIAL 0xedb88320

static uint32_t table[256];
static uint8_t data[16384];

static void make_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t rest = i;

		for (int bit = 0; bit < 8; bit++)
			rest = rest & 1 ? rest >> 1 ^ POLYNOMIAL : rest >> 1;
		table[i] = rest;
	}
}

static uint32_t crc(const uint8_t *from, size_t size)
{
	uint32_t rest = UINT32_MAX;

	while (size--)
		rest = rest >> 8 ^ table[(rest ^ *from++) & 255];
	return ~rest;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	uint32_t whole;

	make_table();
	if (crc((const uint8_t *)"123456789", 9) != 0xcbf43926)
		return FAILED(1);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)draw(&state);
	whole = crc(data, sizeof(data));
	/* One flipped bit is always found. */
	data[draw(&state) % sizeof(data)] ^= 16;
	if (crc(data, sizeof(data)) == whole)
		return FAILED(2);
	return mix(sum, whole);
}

DONJON_PROGRAM(64, 1, 4);
