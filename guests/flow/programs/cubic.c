// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Cubic equations with roots that are known: by Newton's method and division, and by the place of
 * their extremes (Cardano's discriminant says how many roots are real).
 */
#include "numbers.h"
#include "repeated.h"

#define EQUATIONS 200

/* ax³ + bx² + cx + d */
struct equation {
	double a, b, c, d;
};

static double value(const struct equation *it, double x)
{
	return ((it->a * x + it->b) * x + it->c) * x + it->d;
}

static double slope(const struct equation *it, double x)
{
	return (3 * it->a * x + 2 * it->b) * x + it->c;
}

static double discriminant(const struct equation *it)
{
	double a = it->a, b = it->b, c = it->c, d = it->d;

	return 18 * a * b * c * d - 4 * b * b * b * d + b * b * c * c - 4 * a * c * c * c -
	       27 * a * a * d * d;
}

/* Halves an interval whose ends have values of different signs, until Newton's steps stay in it. */
static double root_between(const struct equation *it, double low, double high)
{
	bool rises = value(it, high) > 0;
	double x = (low + high) / 2;

	for (int i = 0; i < 60; i++) {
		double here = value(it, x), next;

		if (magnitude(here) < 1e-13)
			break;
		if ((here > 0) == rises)
			high = x;
		else
			low = x;
		next = x - here / slope(it, x);
		x = next > low && next < high ? next : (low + high) / 2;
	}
	return x;
}

/* All real roots are within this distance of 0 (Cauchy). */
static double bound(const struct equation *it)
{
	double most = magnitude(it->b);

	if (magnitude(it->c) > most)
		most = magnitude(it->c);
	if (magnitude(it->d) > most)
		most = magnitude(it->d);
	return 1 + most / magnitude(it->a);
}

/* The real roots in their order, and how many. Between two lies an extreme. */
static int solve(const struct equation *it, double roots[3])
{
	double ends[4], from = -bound(it), inner = it->b * it->b - 3 * it->a * it->c;
	int count = 0, intervals = 1;

	ends[0] = from;
	ends[1] = -from;
	if (inner > 0) {
		double root = square_root(inner) / magnitude(3 * it->a);
		double middle = -it->b / (3 * it->a);

		ends[1] = middle - root;
		ends[2] = middle + root;
		ends[3] = -from;
		intervals = 3;
	}
	for (int i = 0; i < intervals; i++)
		if ((value(it, ends[i]) > 0) != (value(it, ends[i + 1]) > 0))
			roots[count++] = root_between(it, ends[i], ends[i + 1]);
	return count;
}

/* Quarters that are at least one apart, in their order. */
static void plant(double roots[3], uint64_t *state)
{
	roots[0] = (draw(state) % 40) / 4.0 - 8;
	roots[1] = roots[0] + 1 + (draw(state) % 16) / 4.0;
	roots[2] = roots[1] + 1 + (draw(state) % 16) / 4.0;
}

static struct equation with_roots(double factor, const double r[3])
{
	return (struct equation){
		factor,
		-factor * (r[0] + r[1] + r[2]),
		factor * (r[0] * r[1] + r[1] * r[2] + r[2] * r[0]),
		-factor * r[0] * r[1] * r[2],
	};
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);

	for (int i = 0; i < EQUATIONS; i++) {
		double planted[3], found[3];
		struct equation it;
		int count;

		plant(planted, &state);
		it = with_roots(draw(&state) & 1 ? 2 : -0.5, planted);
		if (solve(&it, found) != 3 || !(discriminant(&it) > 0))
			return FAILED(1);
		for (int j = 0; j < 3; j++)
			if (magnitude(found[j] - planted[j]) > 1e-9)
				return FAILED(2);
		/* Moved up or down, it may keep one root alone. */
		it.d += (double)(draw(&state) % 801) - 400.5;
		count = solve(&it, found);
		/* At zero two roots are one. */
		if (magnitude(discriminant(&it)) > 1e-3 &&
		    count != (discriminant(&it) > 0 ? 3 : 1))
			return FAILED(3);
		sum = mix(sum, (uint64_t)count);
		for (int j = 0; j < count; j++)
			sum = mix_number(sum, found[j] / 1000);
	}
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
