// SPDX-License-Identifier: MIT OR Apache-2.0
/* Greets each name in its arguments, counts its calls, uses its heap and asks for random bytes. */
#include <donjon.h>

static char calls = '0';

static bool greet(const char *name)
{
	return donjon_print("hello ") && donjon_print(name) && donjon_print("\n");
}

uint64_t donjon_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	static char words[1024];
	uint8_t one[32], other[32];
	int64_t count = donjon_arguments(a, b, words, sizeof(words));
	const char *word = words;
	uint64_t all;

	(void)c;
	(void)d;
	if (count < 0)
		return 1;
	calls++;
	donjon_print("hello from a compartment, call ");
	donjon_write(&calls, 1);
	donjon_print("\n");
	for (; count > 0; count--, word += strlen(word) + 1)
		if (!greet(word))
			return 1;

	if (donjon_grow(2, &all) != 2)
		return 2;
	memset(DONJON_HEAP + (all - 2) * DONJON_PAGE, calls, 2 * DONJON_PAGE);
	donjon_print("the heap has room\n");
	if (donjon_shrink(2, NULL) != 2)
		return 3;

	if (!donjon_random(one) || !donjon_random(other))
		donjon_print("there are no random bytes\n");
	else if (memcmp(one, other, sizeof(one)))
		donjon_print("there are random bytes\n");
	else
		return 4;
	return 0;
}

DONJON_PROGRAM(32, 1, 2);
