// SPDX-License-Identifier: MIT OR Apache-2.0
/* Roots of cubic equations, square roots of integers, degrees and radians. */
#include "numbers.h"
#include "repeated.h"

#define CUBICS 48
#define INTEGERS 1500

struct roots {
	int count;
	double x[3];
};

/* The real roots of x³ + ax² + bx + c: Cardano's formula, or cosines where there are three. */
static struct roots cubic(double a, double b, double c)
{
	double q = (a * a - 3 * b) / 9;
	double r = (2 * a * a * a - 9 * a * b + 27 * c) / 54;
	double rest = r * r - q * q * q;
	struct roots it = { 1, { 0 } };

	if (rest <= 0 && q > 0) {
		double root = square_root(q);
		double angle = arc_cosine(r / (root * q));

		it.count = 3;
		for (int i = 0; i < 3; i++)
			it.x[i] = -2 * root * cosine((angle + 2 * PI * i) / 3) - a / 3;
	} else {
		double part = cube_root(magnitude(r) + square_root(rest));

		part += part > 0 ? q / part : 0;
		it.x[0] = (r > 0 ? -part : part) - a / 3;
	}
	return it;
}

/* The square root of an integer, rounded down, bit by bit. */
static uint32_t integer_root(uint32_t of)
{
	uint32_t root = 0, bit = 1u << 30;

	while (bit > of)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (of >= root + bit) {
			of -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

static double to_radians(double degrees)
{
	return degrees * PI / 180;
}

static double to_degrees(double radians)
{
	return radians * 180 / PI;
}

static double value(double a, double b, double c, double x)
{
	return ((x + a) * x + b) * x + c;
}

static uint64_t cubics(uint64_t sum, uint64_t *state)
{
	for (int i = 0; i < CUBICS; i++) {
		double a = (double)(draw(state) % 200) / 10 - 10;
		double b = (double)(draw(state) % 600) / 10 - 30;
		double c = (double)(draw(state) % 200) / 10 - 10.05;
		struct roots it = cubic(a, b, c);

		sum = mix(sum, (uint64_t)it.count);
		for (int j = 0; j < it.count; j++) {
			if (magnitude(value(a, b, c, it.x[j])) > 1e-6)
				return FAILED(1);
			sum = mix_number(sum, it.x[j] / 1000);
		}
	}
	return sum;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	struct roots three = cubic(-6, 11, -6.000000001);

	if (three.count != 3)
		return FAILED(2);
	sum = cubics(sum, &state);
	if (has_failed(sum))
		return sum;
	for (int i = 0; i < INTEGERS; i++) {
		uint32_t number = draw(&state) >> (i & 15);
		uint64_t root = integer_root(number);

		if (root * root > number || (root + 1) * (root + 1) <= number)
			return FAILED(3);
		sum = mix(sum, root);
	}
	for (int degrees = 0; degrees <= 360; degrees += 3) {
		double radians = to_radians(degrees);

		if (magnitude(to_degrees(radians) - degrees) > 1e-9)
			return FAILED(4);
		if (degrees <= 180 && magnitude(arc_cosine(cosine(radians)) - radians) > 1e-7)
			return FAILED(5);
		sum = mix_number(sum, radians / 1000);
	}
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
