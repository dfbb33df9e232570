// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * What donjon-run serves (guests/protocol/src/lib.rs). The host can change shared pages at any
 * time.
 */
#include <donjon.h>

enum {
	OUTPUT = 1,
	ERROR = 2,
	INPUT = 3,
};

static uint64_t request(uint64_t kind, uint64_t bytes)
{
	return donjon_call_out(bytes << 8 | kind);
}

static size_t fitting(size_t size)
{
	return size < donjon_shared_size ? size : donjon_shared_size;
}

static bool write_to(uint64_t kind, const char *from, size_t size)
{
	while (size) {
		size_t count = fitting(size);

		for (size_t i = 0; i < count; i++)
			DONJON_SHARED[i] = from[i];
		if (!count || request(kind, count) != count)
			return false;
		from += count;
		size -= count;
	}
	return true;
}

static void read_from(char *to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = DONJON_SHARED[i];
}

bool donjon_write(const void *from, size_t size)
{
	return write_to(OUTPUT, from, size);
}

bool donjon_write_error(const void *from, size_t size)
{
	return write_to(ERROR, from, size);
}

bool donjon_print(const char *text)
{
	return donjon_write(text, strlen(text));
}

int64_t donjon_read(void *to, size_t size)
{
	size_t asked = fitting(size);
	uint64_t count = request(INPUT, asked);

	if (count > asked)
		return -1;
	read_from(to, count);
	return (int64_t)count;
}

int64_t donjon_arguments(uint64_t a, uint64_t b, char *to, size_t size)
{
	uint64_t found = 0;

	if (b >= size || b > donjon_shared_size)
		return -1;
	read_from(to, b);
	to[b] = 0;
	/* The host's number may not be that of the words that are there. */
	for (size_t i = 0; i <= b; i++)
		found += !to[i];
	return (int64_t)(a < found ? a : found);
}
