// SPDX-License-Identifier: MIT OR Apache-2.0
/* Counts primes by division by smaller ones, and checks the count by a sieve. */
#include "repeated.h"

#define END 8192

static uint16_t primes[1100];
static uint8_t crossed[END];

static bool has_divisor(uint32_t number, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t prime = primes[i];

		if (prime * prime > number)
			return false;
		if (number % prime == 0)
			return true;
	}
	return false;
}

static uint32_t by_division(uint32_t end)
{
	uint32_t count = 0;

	for (uint32_t number = 2; number < end; number++)
		if (!has_divisor(number, count))
			primes[count++] = (uint16_t)number;
	return count;
}

static uint32_t by_sieve(uint32_t end)
{
	uint32_t count = 0;

	memset(crossed, 0, end);
	for (uint32_t number = 2; number < end; number++) {
		if (crossed[number])
			continue;
		count++;
		for (uint32_t i = number * number; i < end; i += number)
			crossed[i] = 1;
	}
	return count;
}

static uint64_t once(uint64_t sum)
{
	uint32_t count;

	if (by_division(1000) != 168)
		return FAILED(1);
	count = by_division(END - (uint32_t)(seeded(sum) & 1023));
	if (count != by_sieve(END - (uint32_t)(seeded(sum) & 1023)))
		return FAILED(2);
	sum = mix(sum, count);
	for (uint32_t i = 0; i < count; i++)
		sum = mix(sum, primes[i]);
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
