// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Finds files in an archive of tar's form (POSIX ustar): headers of 512 bytes with names, sizes in
 * octal and sums, each followed by its file's blocks.
 */
#include "repeated.h"

#define BLOCK 512
#define BLOCKS 128
#define FILES 40

struct header {
	char name[100], mode[8], owner[8], group[8], size[12], time[12], sum[8], kind;
	char link[100], magic[6], version[2], user[32], group_name[32], device[16], prefix[155];
	char rest[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static union {
	struct header header;
	uint8_t bytes[BLOCK];
} archive[BLOCKS];

static char names[FILES][100];
static uint32_t sizes[FILES];

static void write_octal(char *to, int digits, uint32_t number)
{
	to[digits] = 0;
	while (digits--) {
		to[digits] = (char)('0' + (number & 7));
		number >>= 3;
	}
}

/* False if there is another character. */
static bool read_octal(const char *from, int digits, uint32_t *number)
{
	*number = 0;
	for (; digits && *from && *from != ' '; from++, digits--) {
		if (*from < '0' || *from > '7')
			return false;
		*number = *number << 3 | (uint32_t)(*from - '0');
	}
	return true;
}

/* All bytes of a header, with spaces in place of the sum itself. */
static uint32_t sum_of(const uint8_t *block)
{
	const size_t at = offsetof(struct header, sum);
	uint32_t sum = 8 * ' ';

	for (size_t i = 0; i < BLOCK; i++)
		if (i < at || i >= at + 8)
			sum += block[i];
	return sum;
}

/* Folders and a file, such as data/src/k7x.c; the number makes it the only one. */
static void make_name(char *to, int number, uint64_t *state)
{
	static const char folders[4][6] = { "data/", "src/", "docs/", "test/" };
	char *end = to;

	for (uint32_t depth = 1 + draw(state) % 3; depth; depth--) {
		const char *folder = folders[draw(state) & 3];

		while (*folder)
			*end++ = *folder++;
	}
	for (uint32_t length = 2 + draw(state) % 12; length; length--)
		*end++ = (char)('a' + draw(state) % 26);
	*end++ = (char)('0' + number / 10);
	*end++ = (char)('0' + number % 10);
	*end++ = '.';
	*end++ = 'c';
	*end = 0;
}

static void add(struct header *it, const char *name, uint32_t size)
{
	memset(it, 0, BLOCK);
	memcpy(it->name, name, strlen(name));
	memcpy(it->magic, "ustar", 6);
	memset(it->version, '0', 2);
	it->kind = '0';
	write_octal(it->mode, 7, 0644);
	write_octal(it->size, 11, size);
	write_octal(it->sum, 6, sum_of((const uint8_t *)it));
}

static uint32_t blocks_of(uint32_t size)
{
	return (size + BLOCK - 1) / BLOCK;
}

/* Two blocks of zeros end an archive. */
static bool write_archive(uint64_t *state)
{
	uint32_t block = 0;

	for (int i = 0; i < FILES; i++) {
		sizes[i] = draw(state) % 1000;
		memset(names[i], 0, sizeof(names[i]));
		make_name(names[i], i, state);
		if (block + 1 + blocks_of(sizes[i]) + 2 > BLOCKS)
			return false;
		add(&archive[block].header, names[i], sizes[i]);
		/* A file's bytes that look like a header must not be found. */
		memcpy(archive[block + 1].bytes, "data/hidden", 12);
		block += 1 + blocks_of(sizes[i]);
	}
	memset(archive + block, 0, 2 * BLOCK);
	return true;
}

static bool is_equal(const char *one, const char *other)
{
	int i = 0;

	for (; i < 100 && one[i] && one[i] == other[i]; i++)
		;
	return i == 100 || one[i] == other[i];
}

/* The block where a file's header is, and its size; -1 if there is none, -2 for a bad archive. */
static int find(const char *name, uint32_t *size)
{
	uint32_t block = 0, expected;

	while (block < BLOCKS && archive[block].bytes[0]) {
		const struct header *it = &archive[block].header;

		if (memcmp(it->magic, "ustar", 6) || !read_octal(it->size, 12, size))
			return -2;
		if (is_equal(it->name, name)) {
			if (!read_octal(it->sum, 8, &expected) ||
			    expected != sum_of(archive[block].bytes))
				return -2;
			return (int)block;
		}
		block += 1 + blocks_of(*size);
	}
	return -1;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	uint32_t size;
	int last = -1;

	if (!write_archive(&state))
		return FAILED(1);
	for (int i = 0; i < FILES; i++) {
		int found = find(names[i], &size);

		if (found <= last || size != sizes[i])
			return FAILED(2);
		last = found;
		sum = mix(sum, (uint64_t)found << 32 | size);
	}
	if (find("data/hidden", &size) != -1 || find("", &size) != -1)
		return FAILED(3);
	archive[0].header.size[10] ^= 1;
	if (find(names[0], &size) != -2)
		return FAILED(4);
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
