// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Kernels of signal processing on vectors of integers: products, filters of finite (FIR) and
 * infinite (IIR) response, a lattice, a search in a code book and a cosine transform.
 */
#include "repeated.h"

#define SIZE 384
#define TAPS 32
#define SECTIONS 4
#define CODES 32

static int16_t signal[SIZE + TAPS], taps[TAPS], codes[CODES][16];
static int32_t filtered[SIZE], smoothed[SIZE], residue[SIZE];

/* Eight times the cosines of (2i + 1)jπ/16 by 512 */
static const int16_t cosines[8][8] = {
	{ 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096 },
	{ 4017, 3406, 2276, 799, -799, -2276, -3406, -4017 },
	{ 3784, 1567, -1567, -3784, -3784, -1567, 1567, 3784 },
	{ 3406, -799, -4017, -2276, 2276, 4017, 799, -3406 },
	{ 2896, -2896, -2896, 2896, 2896, -2896, -2896, 2896 },
	{ 2276, -4017, 799, 3406, -3406, -799, 4017, -2276 },
	{ 1567, -3784, 3784, -1567, -1567, 3784, -3784, 1567 },
	{ 799, -2276, 3406, -4017, 4017, -3406, 2276, -799 },
};

static int64_t product(const int16_t *one, const int16_t *other, int size)
{
	int64_t sum = 0;

	for (int i = 0; i < size; i++)
		sum += one[i] * other[i];
	return sum;
}

static void multiply_add(int32_t *to, const int16_t *from, int32_t factor)
{
	for (int i = 0; i < SIZE; i++)
		to[i] += (from[i] * factor) >> 8;
}

static void fir(void)
{
	for (int i = 0; i < SIZE; i++) {
		int32_t sum = 0;

		for (int j = 0; j < TAPS; j++)
			sum += signal[i + j] * taps[j];
		filtered[i] = sum >> 12;
	}
}

/* Sections of second order one after another, in the direct form, with 14 fractional bits. */
static void iir(void)
{
	int32_t x1[SECTIONS] = { 0 }, x2[SECTIONS] = { 0 };
	int32_t y1[SECTIONS] = { 0 }, y2[SECTIONS] = { 0 };

	for (int i = 0; i < SIZE; i++) {
		int32_t x = signal[i];

		for (int j = 0; j < SECTIONS; j++) {
			int64_t y = 4000ll * x + (8000 + 100 * j) * (int64_t)x1[j] +
				    4000ll * x2[j] - 6000 * (int64_t)y1[j] -
				    (2000 + 300 * j) * (int64_t)y2[j];

			x2[j] = x1[j];
			x1[j] = x;
			y2[j] = y1[j];
			y1[j] = (int32_t)(y >> 14);
			x = y1[j];
		}
		smoothed[i] = x;
	}
}

/* A lattice: what each stage cannot tell from the samples before. */
static void lattice(void)
{
	int32_t backward[8] = { 0 };

	for (int i = 0; i < SIZE; i++) {
		int32_t forward = signal[i], last = signal[i];

		for (int j = 0; j < 8; j++) {
			int32_t next = backward[j] - ((forward * (taps[j] >> 4)) >> 12);

			forward -= (backward[j] * (taps[j] >> 4)) >> 12;
			backward[j] = last;
			last = next;
		}
		residue[i] = forward;
	}
}

/* The nearest code for the samples, by the sum of squares. */
static int nearest(const int16_t *samples)
{
	int64_t best = INT64_MAX;
	int found = 0;

	for (int i = 0; i < CODES; i++) {
		int64_t far = 0;

		for (int j = 0; j < 16; j++) {
			int32_t off = samples[j] - codes[i][j];

			far += (int64_t)off * off;
		}
		if (far < best) {
			best = far;
			found = i;
		}
	}
	return found;
}

static void transform(const int16_t *from, int32_t to[8])
{
	for (int j = 0; j < 8; j++) {
		int32_t sum = 0;

		for (int i = 0; i < 8; i++)
			sum += from[i] * cosines[j][i];
		to[j] = sum >> 9;
	}
}

static void fill(uint64_t *state)
{
	for (int i = 0; i < SIZE + TAPS; i++)
		signal[i] = (int16_t)(draw(state) & 4095) - 2048;
	for (int i = 0; i < TAPS; i++)
		taps[i] = (int16_t)(draw(state) & 4095) - 2048;
	for (int i = 0; i < CODES; i++)
		for (int j = 0; j < 16; j++)
			codes[i][j] = (int16_t)(draw(state) & 4095) - 2048;
}

static uint64_t mix_all(uint64_t sum, const int32_t *from, int count)
{
	for (int i = 0; i < count; i++)
		sum = mix(sum, (uint32_t)from[i]);
	return sum;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	int32_t spectrum[8];
	int planted;

	fill(&state);
	fir();
	/* Each output is a product of vectors. */
	for (int i = 0; i < SIZE; i += 16)
		if (product(signal + i, taps, TAPS) >> 12 != filtered[i])
			return FAILED(1);
	sum = mix_all(sum, filtered, SIZE);
	multiply_add(filtered, signal, 77);
	iir();
	lattice();
	sum = mix_all(sum, filtered, SIZE);
	sum = mix_all(sum, smoothed, SIZE);
	sum = mix_all(sum, residue, SIZE);
	planted = draw(&state) % CODES;
	memcpy(codes[planted], signal + 16, sizeof(codes[0]));
	if (nearest(signal + 16) != planted)
		return FAILED(2);
	for (int i = 0; i < SIZE; i += 16) {
		sum = mix(sum, (uint64_t)nearest(signal + i));
		transform(signal + i, spectrum);
		sum = mix_all(sum, spectrum, 8);
	}
	return mix(sum, (uint64_t)product(signal, signal, SIZE));
}

DONJON_PROGRAM(64, 1, 4);
