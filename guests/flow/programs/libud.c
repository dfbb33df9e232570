// SPDX-License-Identifier: MIT OR Apache-2.0
/* Solves systems of integer equations by LU decomposition (Doolittle) without fractions. */
#include "repeated.h"

#define SIZE 20
#define SYSTEMS 8

static int64_t rows[SIZE][SIZE];

static int64_t small(uint64_t *state, int32_t bound)
{
	return (int32_t)(draw(state) % (uint32_t)(2 * bound + 1)) - bound;
}

/* The product of a lower matrix with ones in its diagonal and an upper one. */
static void fill(uint64_t *state)
{
	int64_t lower[SIZE][SIZE] = { 0 }, upper[SIZE][SIZE] = { 0 };

	for (int i = 0; i < SIZE; i++) {
		lower[i][i] = 1;
		upper[i][i] = 1 + draw(state) % 9;
		for (int j = 0; j < i; j++)
			lower[i][j] = small(state, 4);
		for (int j = i + 1; j < SIZE; j++)
			upper[i][j] = small(state, 9);
	}
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			rows[i][j] = 0;
			for (int k = 0; k <= i && k <= j; k++)
				rows[i][j] += lower[i][k] * upper[k][j];
		}
}

/* Leaves both factors in the matrix; false if a division has a rest. */
static bool decompose(void)
{
	for (int i = 0; i < SIZE; i++) {
		int64_t pivot = rows[i][i];

		if (!pivot)
			return false;
		for (int j = i + 1; j < SIZE; j++) {
			int64_t factor = rows[j][i] / pivot;

			if (factor * pivot != rows[j][i])
				return false;
			rows[j][i] = factor;
			for (int k = i + 1; k < SIZE; k++)
				rows[j][k] -= factor * rows[i][k];
		}
	}
	return true;
}

static void solve(int64_t *vector)
{
	for (int i = 1; i < SIZE; i++)
		for (int j = 0; j < i; j++)
			vector[i] -= rows[i][j] * vector[j];
	for (int i = SIZE - 1; i >= 0; i--) {
		for (int j = i + 1; j < SIZE; j++)
			vector[i] -= rows[i][j] * vector[j];
		vector[i] /= rows[i][i];
	}
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);

	for (int system = 0; system < SYSTEMS; system++) {
		int64_t expected[SIZE], vector[SIZE] = { 0 };

		fill(&state);
		for (int i = 0; i < SIZE; i++)
			expected[i] = small(&state, 1000);
		for (int i = 0; i < SIZE; i++)
			for (int j = 0; j < SIZE; j++)
				vector[i] += rows[i][j] * expected[j];
		if (!decompose())
			return FAILED(1);
		solve(vector);
		if (memcmp(vector, expected, sizeof(vector)))
			return FAILED(2);
		for (int i = 0; i < SIZE; i++)
			sum = mix(sum, (uint64_t)(vector[i] * rows[i][i]));
	}
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
