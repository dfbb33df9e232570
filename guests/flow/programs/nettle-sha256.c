// SPDX-License-Identifier: MIT OR Apache-2.0
/* SHA-256 (FIPS 180-4), of its test messages and of 8 KiB. */
#include "repeated.h"

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

struct hash {
	uint32_t state[8];
	uint64_t size;
	uint8_t block[64];
};

static uint32_t rotate(uint32_t word, int by)
{
	return word >> by | word << (32 - by);
}

static uint32_t big_endian(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static void start(struct hash *it)
{
	static const uint32_t first[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(it->state, first, sizeof(first));
	it->size = 0;
}

static void compress(uint32_t state[8], const uint8_t *block)
{
	uint32_t words[64], s[8];

	for (int i = 0; i < 16; i++)
		words[i] = big_endian(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];

		words[i] = words[i - 16] + words[i - 7] +
			   (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
			   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
			       ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + words[i];
		uint32_t two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
			       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		s[7] = s[6];
		s[6] = s[5];
		s[5] = s[4];
		s[4] = s[3] + one;
		s[3] = s[2];
		s[2] = s[1];
		s[1] = s[0];
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

static void absorb(struct hash *it, const uint8_t *from, size_t size)
{
	while (size) {
		size_t begin = it->size % 64;
		size_t count = size < 64 - begin ? size : 64 - begin;

		memcpy(it->block + begin, from, count);
		it->size += count;
		from += count;
		size -= count;
		if (it->size % 64 == 0)
			compress(it->state, it->block);
	}
}

static void finish(struct hash *it, uint8_t digest[32])
{
	uint64_t bits = it->size * 8;
	uint8_t end[72] = { 0x80 };
	size_t zeros = (119 - it->size % 64) % 64;

	for (int i = 0; i < 8; i++)
		end[1 + zeros + i] = (uint8_t)(bits >> (56 - 8 * i));
	absorb(it, end, 1 + zeros + 8);
	for (int i = 0; i < 32; i++)
		digest[i] = (uint8_t)(it->state[i / 4] >> (24 - i % 4 * 8));
}

static bool gives(const char *message, const uint8_t expected[32])
{
	struct hash it;
	uint8_t digest[32];

	start(&it);
	absorb(&it, (const uint8_t *)message, strlen(message));
	finish(&it, digest);
	return !memcmp(digest, expected, 32);
}

static bool is_right(void)
{
	static const uint8_t digests[3][32] = {
		{ 0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4,
		  0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b,
		  0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55 },
		{ 0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
		  0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
		  0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad },
		{ 0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8, 0xe5, 0xc0, 0x26,
		  0x93, 0x0c, 0x3e, 0x60, 0x39, 0xa3, 0x3c, 0xe4, 0x59, 0x64, 0xff,
		  0x21, 0x67, 0xf6, 0xec, 0xed, 0xd4, 0x19, 0xdb, 0x06, 0xc1 },
	};

	return gives("", digests[0]) && gives("abc", digests[1]) &&
	       gives("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", digests[2]);
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	uint8_t message[128], digest[32];
	struct hash it;

	if (!is_right())
		return FAILED(1);
	start(&it);
	for (int i = 0; i < 64; i++) {
		for (size_t j = 0; j < sizeof(message); j++)
			message[j] = (uint8_t)draw(&state);
		/* Pieces do not end where blocks do. */
		absorb(&it, message, 29);
		absorb(&it, message + 29, sizeof(message) - 29);
	}
	finish(&it, digest);
	for (int i = 0; i < 32; i += 4)
		sum = mix(sum, big_endian(digest + i));
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
