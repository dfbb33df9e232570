// SPDX-License-Identifier: MIT OR Apache-2.0
/* What the compiler calls by itself. */
#include <donjon.h>

void *memcpy(void *to, const void *from, size_t size)
{
	char *there = to;
	const char *here = from;

	while (size--)
		*there++ = *here++;
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	char *there = to;
	const char *here = from;

	if (there <= here)
		return memcpy(to, from, size);
	while (size--)
		there[size] = here[size];
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	char *there = to;

	while (size--)
		*there++ = (char)byte;
	return to;
}

int memcmp(const void *one, const void *other, size_t size)
{
	const unsigned char *a = one, *b = other;

	for (; size; a++, b++, size--)
		if (*a != *b)
			return *a - *b;
	return 0;
}

size_t strlen(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	return length;
}
