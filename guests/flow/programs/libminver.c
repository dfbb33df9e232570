// SPDX-License-Identifier: MIT OR Apache-2.0
/* Inverts matrices of 3 by 3 floats (Gauss and Jordan, the largest pivot of a column). */
#include "numbers.h"
#include "repeated.h"

#define MATRICES 256

/* A matrix, and beside it the one that becomes its inverse */
typedef float rows[3][6];

static void fill(rows it, uint64_t *state)
{
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			it[i][j] = (float)(draw(state) % 1000) / 500 - 1;
			/* One element is the largest in its row and column, off the diagonal. */
			if (j == (i + 1) % 3)
				it[i][j] += it[i][j] < 0 ? -4 : 4;
			it[i][j + 3] = i == j;
		}
}

static void exchange(float *one, float *other)
{
	for (int i = 0; i < 6; i++) {
		float it = one[i];

		one[i] = other[i];
		other[i] = it;
	}
}

/* The determinant; 0 if there is no inverse. */
static float invert(rows it)
{
	float determinant = 1;

	for (int i = 0; i < 3; i++) {
		int best = i;
		float pivot;

		for (int j = i + 1; j < 3; j++)
			if (magnitude(it[j][i]) > magnitude(it[best][i]))
				best = j;
		if (best != i) {
			exchange(it[i], it[best]);
			determinant = -determinant;
		}
		pivot = it[i][i];
		determinant *= pivot;
		if (magnitude(pivot) < 1e-6)
			return 0;
		for (int k = 0; k < 6; k++)
			it[i][k] /= pivot;
		for (int j = 0; j < 3; j++) {
			float factor = it[j][i];

			if (j == i)
				continue;
			for (int k = 0; k < 6; k++)
				it[j][k] -= factor * it[i][k];
		}
	}
	return determinant;
}

static bool is_inverse(rows matrix, rows inverse)
{
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			float sum = 0;

			for (int k = 0; k < 3; k++)
				sum += matrix[i][k] * inverse[k][j + 3];
			if (magnitude(sum - (i == j)) > 1e-4)
				return false;
		}
	return true;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	double whole = 0;

	for (int i = 0; i < MATRICES; i++) {
		rows matrix, inverse;
		float determinant;

		fill(matrix, &state);
		memcpy(inverse, matrix, sizeof(inverse));
		determinant = invert(inverse);
		if (!(magnitude(determinant) > 1) || !is_inverse(matrix, inverse))
			return FAILED(1);
		whole += determinant / 100;
		for (int j = 0; j < 9; j++)
			whole += inverse[j / 3][3 + j % 3] * (j + 1);
	}
	/* Hundredths: a float has seven digits. */
	return mix_number(sum, whole * 1e-7);
}

DONJON_PROGRAM(64, 1, 4);
