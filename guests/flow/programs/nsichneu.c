// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A Petri net, one long chain of conditions for each step: twelve philosophers with forks between
 * them, and stations that hand parts on, each through a store with three places.
 */
#include "repeated.h"

#define SEATS 12
#define STATIONS 12
#define STEPS 400

/* Marks of the philosophers' places. A fork is left of the one with its number. */
static uint32_t thinks[SEATS], hungry[SEATS], eats[SEATS], fork[SEATS];
/* Marks of the stations' places, and parts that came in and went out */
static uint32_t idle[STATIONS], works[STATIONS], stored[STATIONS + 1], room[STATIONS + 1];
static uint32_t in, out, fired;

/* A transition fires if the drawn bit says so and its places have marks. */
#define MAY(bit) (chance >> (bit) & 1)

#define SEAT(i)								\
	if (MAY(i) && thinks[i]) {					\
		thinks[i]--;						\
		hungry[i]++;						\
		fired++;						\
	}								\
	if (MAY(i + 12) && hungry[i] && fork[i] && fork[(i + 1) % SEATS]) { \
		hungry[i]--;						\
		fork[i]--;						\
		fork[(i + 1) % SEATS]--;				\
		eats[i]++;						\
		fired++;						\
	}								\
	if (MAY((i + 20) % 32) && eats[i]) {				\
		eats[i]--;						\
		fork[i]++;						\
		fork[(i + 1) % SEATS]++;				\
		thinks[i]++;						\
		fired++;						\
	}

#define STATION(i)							\
	if (MAY((i + 5) % 32) && idle[i] && stored[i]) {		\
		idle[i]--;						\
		stored[i]--;						\
		room[i]++;						\
		works[i]++;						\
		fired++;						\
	}								\
	if (MAY((i + 17) % 32) && works[i] && room[i + 1]) {		\
		works[i]--;						\
		room[i + 1]--;						\
		stored[i + 1]++;					\
		idle[i]++;						\
		fired++;						\
	}

static void start(void)
{
	in = out = fired = 0;
	for (int i = 0; i < SEATS; i++) {
		thinks[i] = fork[i] = 1;
		hungry[i] = eats[i] = 0;
	}
	for (int i = 0; i < STATIONS; i++) {
		idle[i] = 1;
		works[i] = 0;
	}
	for (int i = 0; i <= STATIONS; i++) {
		stored[i] = 0;
		room[i] = 3;
	}
}

static void step(uint32_t chance)
{
	if (MAY(31) && room[0]) {
		room[0]--;
		stored[0]++;
		in++;
		fired++;
	}
	SEAT(0)
	SEAT(1)
	SEAT(2)
	SEAT(3)
	SEAT(4)
	SEAT(5)
	SEAT(6)
	SEAT(7)
	SEAT(8)
	SEAT(9)
	SEAT(10)
	SEAT(11)
	STATION(0)
	STATION(1)
	STATION(2)
	STATION(3)
	STATION(4)
	STATION(5)
	STATION(6)
	STATION(7)
	STATION(8)
	STATION(9)
	STATION(10)
	STATION(11)
	if (MAY(30) && stored[STATIONS]) {
		stored[STATIONS]--;
		room[STATIONS]++;
		out++;
		fired++;
	}
}

/* Sums of marks that no transition changes */
static bool keeps_invariants(void)
{
	uint32_t parts = 0;

	for (int i = 0; i < SEATS; i++) {
		if (thinks[i] + hungry[i] + eats[i] != 1)
			return false;
		if (fork[i] + eats[i] + eats[(i + SEATS - 1) % SEATS] != 1)
			return false;
	}
	for (int i = 0; i < STATIONS; i++) {
		if (idle[i] + works[i] != 1)
			return false;
		parts += works[i];
	}
	for (int i = 0; i <= STATIONS; i++) {
		if (stored[i] + room[i] != 3)
			return false;
		parts += stored[i];
	}
	return in == out + parts;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);

	start();
	for (int i = 0; i < STEPS; i++) {
		step(draw(&state));
		if (i % 16 == 0 && !keeps_invariants())
			return FAILED(1);
		sum = mix(sum, fired);
	}
	if (!keeps_invariants() || out < 10)
		return FAILED(2);
	for (int i = 0; i < SEATS; i++)
		sum = mix(sum, thinks[i] << 2 | hungry[i] << 1 | eats[i]);
	return mix(sum, (uint64_t)in << 32 | out);
}

DONJON_PROGRAM(64, 1, 4);
