// SPDX-License-Identifier: MIT OR Apache-2.0
/* A sun and four planets on made-up orbits, moved by leapfrog steps; energy stays. */
#include "numbers.h"
#include "repeated.h"

#define BODIES 5
#define STEPS 400

struct vector {
	double x, y, z;
};

struct body {
	struct vector place, speed;
	double mass;
};

static struct body bodies[BODIES];

/* Circles about the sun, somewhat tilted; the whole is at rest. */
static void place(uint64_t *state)
{
	struct body *sun = bodies;

	*sun = (struct body){ .mass = 40 };
	for (int i = 1; i < BODIES; i++) {
		double distance = i * (2 + draw(state) % 100 * 0.005);
		double speed = square_root(sun->mass / distance);
		double tilt = draw(state) % 100 * 0.001;
		struct body *it = bodies + i;

		it->mass = (1 + draw(state) % 10) * 0.001;
		it->place = (struct vector){ i & 1 ? distance : -distance, 0, 0 };
		it->speed = (struct vector){ 0, i & 1 ? speed : -speed, tilt };
		sun->speed.y -= it->speed.y * it->mass / sun->mass;
		sun->speed.z -= it->speed.z * it->mass / sun->mass;
	}
}

static struct vector between(const struct body *from, const struct body *to)
{
	return (struct vector){
		to->place.x - from->place.x,
		to->place.y - from->place.y,
		to->place.z - from->place.z,
	};
}

static double length(struct vector it)
{
	return square_root(it.x * it.x + it.y * it.y + it.z * it.z);
}

static void push(struct body *it, struct vector way, double factor)
{
	it->speed.x += way.x * factor;
	it->speed.y += way.y * factor;
	it->speed.z += way.z * factor;
}

static void attract(double time)
{
	for (int i = 0; i < BODIES; i++)
		for (int j = i + 1; j < BODIES; j++) {
			struct vector way = between(bodies + i, bodies + j);
			double far = length(way);
			double force = time / (far * far * far);

			push(bodies + i, way, bodies[j].mass * force);
			push(bodies + j, way, -bodies[i].mass * force);
		}
}

static void move(double time)
{
	for (int i = 0; i < BODIES; i++) {
		struct body *it = bodies + i;

		it->place.x += it->speed.x * time;
		it->place.y += it->speed.y * time;
		it->place.z += it->speed.z * time;
	}
}

static double energy(void)
{
	double sum = 0;

	for (int i = 0; i < BODIES; i++) {
		double speed = length(bodies[i].speed);

		sum += bodies[i].mass * speed * speed / 2;
		for (int j = i + 1; j < BODIES; j++)
			sum -= bodies[i].mass * bodies[j].mass /
			       length(between(bodies + i, bodies + j));
	}
	return sum;
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	double before;

	place(&state);
	before = energy();
	for (int i = 0; i < STEPS; i++) {
		move(0.0005);
		attract(0.001);
		move(0.0005);
	}
	if (magnitude(energy() - before) > 1e-6 * magnitude(before))
		return FAILED(1);
	for (int i = 0; i < BODIES; i++)
		sum = mix_number(sum, bodies[i].place.x + bodies[i].place.y * 2 +
					      bodies[i].place.z * 3);
	return sum;
}

DONJON_PROGRAM(64, 1, 4);
