// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Runs a program for compartments as one of Linux: calls it one time with its words as arguments,
 * or with the number in the environment variable REPETITIONS, serves what it asks its host for,
 * and prints its result.
 */
#include <donjon.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char words[DONJON_PAGE];
static size_t words_size;

bool donjon_write(const void *from, size_t size)
{
	return write(1, from, size) == (ssize_t)size;
}

bool donjon_write_error(const void *from, size_t size)
{
	return write(2, from, size) == (ssize_t)size;
}

bool donjon_print(const char *text)
{
	return donjon_write(text, strlen(text));
}

/* One shared page, as in a compartment. */
int64_t donjon_read(void *to, size_t size)
{
	return read(0, to, size < DONJON_PAGE ? size : DONJON_PAGE);
}

int64_t donjon_arguments(uint64_t a, uint64_t b, char *to, size_t size)
{
	if (b >= size || b > sizeof(words))
		return -1;
	memcpy(to, words, b);
	to[b] = 0;
	return (int64_t)a;
}

static bool take_words(int count, char **from)
{
	for (int i = 0; i < count; i++) {
		size_t size = strlen(from[i]) + 1;

		if (size > sizeof(words) - words_size)
			return false;
		memcpy(words + words_size, from[i], size);
		words_size += size;
	}
	words_size -= count > 0;
	return true;
}

int main(int count, char **words_of_shell)
{
	const char *repetitions = getenv("REPETITIONS");
	uint64_t result;

	if (!take_words(count - 1, words_of_shell + 1)) {
		fprintf(stderr, "the arguments are longer than a page: give less\n");
		return 2;
	}
	if (repetitions)
		result = donjon_call(strtoull(repetitions, NULL, 10), 0, 0, 0);
	else
		result = donjon_call((uint64_t)(count - 1), words_size, 0, 0);
	printf("%#018llx\n", (unsigned long long)result);
	return result >> 48 == 0xdead;
}
