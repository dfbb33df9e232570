// SPDX-License-Identifier: MIT OR Apache-2.0
/* Computes numbers without an end, on a path that they decide. */
#include <donjon.h>

uint64_t donjon_call(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t number = 1, odd = 0;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	do {
		number = number * 6364136223846793005 + 1442695040888963407;
		if (number >> 63)
			donjon_flow_data[++odd % 32]++;
	} while (number);
	return odd;
}

DONJON_PROGRAM(64, 1, 4);
