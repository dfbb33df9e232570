// SPDX-License-Identifier: MIT OR Apache-2.0
/* The product of two matrices of integers, checked by a vector (Freivalds). */
#include "repeated.h"

#define SIZE 40

typedef int32_t matrix[SIZE][SIZE];

static matrix one, other, product;

static void fill(matrix it, uint64_t *state)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			it[i][j] = (int32_t)(draw(state) % 201) - 100;
}

static void multiply(void)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			int32_t sum = 0;

			for (int k = 0; k < SIZE; k++)
				sum += one[i][k] * other[k][j];
			product[i][j] = sum;
		}
}

static void apply(matrix it, const int32_t *from, int32_t *to)
{
	for (int i = 0; i < SIZE; i++) {
		to[i] = 0;
		for (int j = 0; j < SIZE; j++)
			to[i] += it[i][j] * from[j];
	}
}

static bool is_product(uint64_t *state)
{
	int32_t vector[SIZE], middle[SIZE], expected[SIZE], found[SIZE];

	for (int i = 0; i < SIZE; i++)
		vector[i] = draw(state) & 7;
	apply(other, vector, middle);
	apply(one, middle, expected);
	apply(product, vector, found);
	return !memcmp(expected, found, sizeof(found));
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);

	fill(one, &state);
	fill(other, &state);
	multiply();
	if (!is_product(&state))
		return FAILED(1);
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			sum = mix(sum, (uint32_t)product[i][j]);
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
