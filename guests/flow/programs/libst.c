// SPDX-License-Identifier: MIT OR Apache-2.0
/* Mean, variance and correlation of two series, and the line that fits them best. */
#include "numbers.h"
#include "repeated.h"

#define SIZE 2048

static double x[SIZE], y[SIZE];

static double mean(const double *of)
{
	double sum = 0;

	for (int i = 0; i < SIZE; i++)
		sum += of[i];
	return sum / SIZE;
}

static double variance(const double *of, double mean)
{
	double sum = 0;

	for (int i = 0; i < SIZE; i++)
		sum += (of[i] - mean) * (of[i] - mean);
	return sum / SIZE;
}

static double covariance(double mean_x, double mean_y)
{
	double sum = 0;

	for (int i = 0; i < SIZE; i++)
		sum += (x[i] - mean_x) * (y[i] - mean_y);
	return sum / SIZE;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	double mean_x, mean_y, variance_x, variance_y, both, correlation, slope, rest = 0;

	for (int i = 0; i < SIZE; i++) {
		x[i] = (double)(draw(&state) % 10000) / 100;
		/* Near to a line, so the correlation is near to 1. */
		y[i] = 3 * x[i] - 20 + (double)(draw(&state) % 2000) / 100;
	}
	mean_x = mean(x);
	mean_y = mean(y);
	variance_x = variance(x, mean_x);
	variance_y = variance(y, mean_y);
	both = covariance(mean_x, mean_y);
	correlation = both / (square_root(variance_x) * square_root(variance_y));
	slope = both / variance_x;
	for (int i = 0; i < SIZE; i++) {
		double off = y[i] - mean_y - slope * (x[i] - mean_x);

		rest += off * off / SIZE;
	}
	/* What the line leaves is what the correlation leaves. */
	if (magnitude(rest - variance_y * (1 - correlation * correlation)) > 1e-6)
		return FAILED(1);
	if (correlation < 0.9 || correlation > 1 || magnitude(slope - 3) > 0.1)
		return FAILED(2);
	sum = mix_number(sum, mean_x + mean_y);
	sum = mix_number(sum, square_root(variance_x) - square_root(variance_y));
	return mix_number(sum, correlation + slope);
}

DONJON_PROGRAM(64, 1, 4);
