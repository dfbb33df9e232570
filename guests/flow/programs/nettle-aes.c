// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * AES with keys of 128 and 256 bits (FIPS 197): its examples, and 2 KiB forth and back in a chain
 * of blocks (CBC). Its tables are made from the field's inverses.
 */
#include "repeated.h"

#define SIZE 2048
#define BLOCK 16

static uint8_t box[256], inverse_box[256];
/* A column of the box times (2, 1, 1, 3), and of the inverse box times (14, 9, 13, 11) */
static uint32_t forward[256], backward[256];
static uint8_t plain[SIZE], secret[SIZE];

struct key {
	int rounds;
	/* For encryption, and for decryption with the columns mixed back */
	uint32_t words[60], inverse[60];
};

/* Twice an element of the field of 256. */
static uint8_t doubled(uint8_t it)
{
	return (uint8_t)(it << 1 ^ (it >> 7) * 0x1b);
}

static uint32_t column(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	return a | (uint32_t)b << 8 | (uint32_t)c << 16 | (uint32_t)d << 24;
}

static uint32_t forward_column(uint8_t it)
{
	uint8_t two = doubled(it);

	return column(two, it, it, two ^ it);
}

static uint32_t backward_column(uint8_t it)
{
	uint8_t two = doubled(it), four = doubled(two), eight = doubled(four);

	return column(eight ^ four ^ two, eight ^ it, eight ^ four ^ it, eight ^ two ^ it);
}

static uint32_t rotated(uint32_t word, int bits)
{
	return word << bits | word >> (-bits & 31);
}

/* Makes the box from inverses: the powers of 3, first by their exponents. */
static void make_tables(void)
{
	static uint8_t powers[255];
	uint8_t power = 1;

	for (int i = 0; i < 255; i++) {
		powers[i] = power;
		power ^= doubled(power);
	}
	for (int i = 0; i < 255; i++) {
		uint8_t inverse = powers[(255 - i) % 255], bits = inverse;

		for (int j = 1; j < 5; j++)
			bits ^= (uint8_t)(inverse << j | inverse >> (8 - j));
		box[powers[i]] = bits ^ 0x63;
	}
	box[0] = 0x63;
	for (int i = 0; i < 256; i++)
		inverse_box[box[i]] = (uint8_t)i;
	for (int i = 0; i < 256; i++) {
		forward[i] = forward_column(box[i]);
		backward[i] = backward_column(inverse_box[i]);
	}
}

static uint32_t substituted(uint32_t word)
{
	return box[word & 255] | (uint32_t)box[word >> 8 & 255] << 8 |
	       (uint32_t)box[word >> 16 & 255] << 16 | (uint32_t)box[word >> 24] << 24;
}

static uint32_t mixed_back(uint32_t word)
{
	uint32_t sum = 0;

	for (int i = 0; i < 4; i++)
		sum ^= rotated(backward[box[word >> 8 * i & 255]], 8 * i);
	return sum;
}

static uint32_t load(const uint8_t *from)
{
	return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static void store(uint8_t *to, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(word >> 8 * i);
}

static void expand(struct key *it, const uint8_t *from, int words)
{
	int count;
	uint8_t constant = 1;

	it->rounds = words + 6;
	count = 4 * (it->rounds + 1);
	for (int i = 0; i < words; i++)
		it->words[i] = load(from + 4 * i);
	for (int i = words; i < count; i++) {
		uint32_t word = it->words[i - 1];

		if (i % words == 0) {
			word = substituted(rotated(word, 24)) ^ constant;
			constant = doubled(constant);
		} else if (words > 6 && i % words == 4) {
			word = substituted(word);
		}
		it->words[i] = it->words[i - words] ^ word;
	}
	for (int i = 0; i < count; i++)
		it->inverse[i] = i < 4 || i >= count - 4 ? it->words[i] : mixed_back(it->words[i]);
}

static void encrypt(const struct key *it, uint8_t block[BLOCK])
{
	const uint32_t *key = it->words;
	uint32_t s[4], t[4];

	for (int i = 0; i < 4; i++)
		s[i] = load(block + 4 * i) ^ *key++;
	for (int round = 1; round < it->rounds; round++) {
		for (int i = 0; i < 4; i++)
			t[i] = *key++ ^ forward[s[i] & 255] ^
			       rotated(forward[s[(i + 1) & 3] >> 8 & 255], 8) ^
			       rotated(forward[s[(i + 2) & 3] >> 16 & 255], 16) ^
			       rotated(forward[s[(i + 3) & 3] >> 24], 24);
		for (int i = 0; i < 4; i++)
			s[i] = t[i];
	}
	for (int i = 0; i < 4; i++)
		store(block + 4 * i,
		      *key++ ^ substituted((s[i] & 0xff) | (s[(i + 1) & 3] & 0xff00) |
					   (s[(i + 2) & 3] & 0xff0000) |
					   (s[(i + 3) & 3] & 0xff000000)));
}

static void decrypt(const struct key *it, uint8_t block[BLOCK])
{
	const uint32_t *key = it->inverse + 4 * it->rounds;
	uint32_t s[4], t[4];

	for (int i = 0; i < 4; i++)
		s[i] = load(block + 4 * i) ^ key[i];
	for (int round = 1; round < it->rounds; round++) {
		key -= 4;
		for (int i = 0; i < 4; i++)
			t[i] = key[i] ^ backward[s[i] & 255] ^
			       rotated(backward[s[(i + 3) & 3] >> 8 & 255], 8) ^
			       rotated(backward[s[(i + 2) & 3] >> 16 & 255], 16) ^
			       rotated(backward[s[(i + 1) & 3] >> 24], 24);
		for (int i = 0; i < 4; i++)
			s[i] = t[i];
	}
	key -= 4;
	for (int i = 0; i < BLOCK; i++) {
		uint32_t word = s[(i / 4 - i % 4) & 3];

		block[i] = inverse_box[word >> i % 4 * 8 & 255] ^
			   (uint8_t)(key[i / 4] >> i % 4 * 8);
	}
}

/* Appendices B and C: the key and the block count up. */
static bool is_right(int words, const uint8_t expected[BLOCK])
{
	uint8_t bytes[32], block[BLOCK];
	struct key key;

	for (int i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	for (int i = 0; i < BLOCK; i++)
		block[i] = (uint8_t)(i * 0x11);
	expand(&key, bytes, words);
	encrypt(&key, block);
	if (memcmp(block, expected, BLOCK))
		return false;
	decrypt(&key, block);
	return block[1] == 0x11 && block[15] == 0xff;
}

static void combine(uint8_t *to, const uint8_t *from)
{
	for (int i = 0; i < BLOCK; i++)
		to[i] ^= from[i];
}

static bool forth_and_back(const struct key *key)
{
	uint8_t block[BLOCK], last[BLOCK] = { 0 };

	for (int i = 0; i < SIZE; i += BLOCK) {
		combine(last, plain + i);
		encrypt(key, last);
		memcpy(secret + i, last, BLOCK);
	}
	memset(last, 0, BLOCK);
	for (int i = 0; i < SIZE; i += BLOCK) {
		memcpy(block, secret + i, BLOCK);
		decrypt(key, block);
		combine(block, last);
		if (memcmp(block, plain + i, BLOCK))
			return false;
		memcpy(last, secret + i, BLOCK);
	}
	return true;
}

static uint64_t once(uint64_t sum)
{
	static const uint8_t expected[2][BLOCK] = {
		{ 0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
		  0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a },
		{ 0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
		  0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89 },
	};
	uint64_t state = seeded(sum);
	uint8_t bytes[32];
	struct key key;

	make_tables();
	if (!is_right(4, expected[0]) || !is_right(8, expected[1]))
		return FAILED(1);
	for (int words = 4; words <= 8; words += 4) {
		for (int i = 0; i < 32; i++)
			bytes[i] = (uint8_t)draw(&state);
		for (int i = 0; i < SIZE; i++)
			plain[i] = (uint8_t)draw(&state);
		expand(&key, bytes, words);
		if (!forth_and_back(&key))
			return FAILED(2);
		for (int i = 0; i < SIZE; i += 4)
			sum = mix(sum, load(secret + i));
	}
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
