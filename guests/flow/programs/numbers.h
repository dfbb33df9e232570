/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Functions of real numbers, without a library: roots by Newton's steps, the others by series. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

#define PI 3.14159265358979323846

static inline double magnitude(double x)
{
	return x < 0 ? -x : x;
}

/* The square root. Half of the exponent is near enough for four steps to end at the last bits. */
static inline double square_root(double x)
{
	union {
		double number;
		uint64_t bits;
	} guess = { x };

	if (!(x > 0))
		return 0;
	guess.bits = (guess.bits >> 1) + (1023ull << 51);
	for (int i = 0; i < 4; i++)
		guess.number = (guess.number + x / guess.number) / 2;
	return guess.number;
}

static inline double cube_root(double x)
{
	union {
		double number;
		uint64_t bits;
	} guess = { magnitude(x) };
	double size = guess.number;

	if (!(size > 0))
		return 0;
	guess.bits = guess.bits / 3 + (1023ull << 52) / 3 * 2;
	for (int i = 0; i < 5; i++)
		guess.number = (2 * guess.number + size / (guess.number * guess.number)) / 3;
	return x < 0 ? -guess.number : guess.number;
}

/* The cosine, of an angle that is a few turns at most. */
static inline double cosine(double angle)
{
	double term = 1, sum = 1, square;

	angle = magnitude(angle);
	while (angle > PI)
		angle = magnitude(angle - 2 * PI);
	square = angle * angle;
	for (int i = 1; i < 28; i += 2) {
		term *= -square / (i * (i + 1));
		sum += term;
	}
	return sum;
}

/* The arc tangent of what is not negative: half of the angle twice, then its series. */
static inline double arc_tangent(double x)
{
	double square, power, sum = 0;
	int folded = x > 1;

	if (folded)
		x = 1 / x;
	for (int i = 0; i < 2; i++)
		x = x / (1 + square_root(1 + x * x));
	square = x * x;
	power = x;
	for (int i = 1; i < 26; i += 4) {
		sum += power / i - power * square / (i + 2);
		power *= square * square;
	}
	sum *= 4;
	return folded ? PI / 2 - sum : sum;
}

static inline double arc_cosine(double x)
{
	if (x >= 1)
		return 0;
	if (x <= -1)
		return PI;
	return 2 * arc_tangent(square_root((1 - x) / (1 + x)));
}

#endif
