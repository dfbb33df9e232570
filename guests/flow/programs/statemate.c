// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A state chart of a lift: cabin, door, light and fault are in one state each, side by side, and
 * see each other's states of the step before. Actions are called by pointers from tables.
 */
#include "repeated.h"

#define FLOORS 6
#define STEPS 3000

enum cabin { STANDING, RISING, SINKING, HALTED };
enum door { CLOSED, OPENING, OPEN, CLOSING, BLOCKED };
enum light { DARK, LIT, BLINKING };
enum fault { FINE, WARNED, STOPPED };

struct chart {
	enum cabin cabin;
	enum door door;
	enum light light;
	enum fault fault;
	int floor, door_time, light_time, blocked, calls_served;
	uint32_t calls;
};

/* What comes from outside in a step */
struct events {
	uint32_t calls;
	bool obstacle, stop_button, reset;
};

typedef void (*action)(const struct chart *, struct chart *, const struct events *);

static bool has_call_above(const struct chart *was)
{
	return was->calls >> (was->floor + 1) != 0;
}

static bool has_call_below(const struct chart *was)
{
	return (was->calls & ((1u << was->floor) - 1)) != 0;
}

static bool has_call_here(const struct chart *was)
{
	return was->calls >> was->floor & 1;
}

static void cabin_stands(const struct chart *was, struct chart *now, const struct events *events)
{
	(void)events;
	if (was->door != CLOSED || has_call_here(was))
		return;
	if (has_call_above(was))
		now->cabin = RISING;
	else if (has_call_below(was))
		now->cabin = SINKING;
}

static void cabin_rises(const struct chart *was, struct chart *now, const struct events *events)
{
	(void)events;
	if (has_call_here(was) || !has_call_above(was))
		now->cabin = STANDING;
	else
		now->floor++;
}

static void cabin_sinks(const struct chart *was, struct chart *now, const struct events *events)
{
	(void)events;
	if (has_call_here(was) || !has_call_below(was))
		now->cabin = STANDING;
	else
		now->floor--;
}

static void cabin_is_halted(const struct chart *was, struct chart *now, const struct events *events)
{
	(void)events;
	if (was->fault == FINE)
		now->cabin = STANDING;
}

static void door_is_closed(const struct chart *was, struct chart *now, const struct events *events)
{
	(void)events;
	if (was->cabin == STANDING && has_call_here(was)) {
		now->door = OPENING;
		now->door_time = 2;
	}
}

static void door_opens(const struct chart *was, struct chart *now, const struct events *events)
{
	(void)events;
	if (was->door_time) {
		now->door_time--;
		return;
	}
	now->door = OPEN;
	now->door_time = 4;
	now->calls &= ~(1u << was->floor);
	now->calls_served++;
}

static void door_is_open(const struct chart *was, struct chart *now, const struct events *events)
{
	if (events->obstacle)
		return;
	if (was->door_time)
		now->door_time--;
	else
		now->door = CLOSING;
}

static void door_closes(const struct chart *was, struct chart *now, const struct events *events)
{
	if (!events->obstacle) {
		now->door = CLOSED;
		now->blocked = 0;
		return;
	}
	now->blocked++;
	now->door = was->blocked >= 2 ? BLOCKED : OPENING;
	now->door_time = 2;
}

static void door_is_blocked(const struct chart *was, struct chart *now, const struct events *events)
{
	if (was->fault == FINE || events->reset) {
		now->door = CLOSING;
		now->blocked = 0;
	}
}

static const action cabin_actions[] = {
	cabin_stands, cabin_rises, cabin_sinks, cabin_is_halted,
};

static const action door_actions[] = {
	door_is_closed, door_opens, door_is_open, door_closes, door_is_blocked,
};

static void step_light(const struct chart *was, struct chart *now)
{
	if (was->fault != FINE) {
		now->light = BLINKING;
	} else if (was->door != CLOSED || was->cabin != STANDING) {
		now->light = LIT;
		now->light_time = 8;
	} else if (was->light_time) {
		now->light_time--;
	} else {
		now->light = DARK;
	}
}

static void step_fault(const struct chart *was, struct chart *now, const struct events *events)
{
	switch (was->fault) {
	case FINE:
		if (events->stop_button)
			now->fault = STOPPED;
		else if (was->door == BLOCKED)
			now->fault = WARNED;
		break;
	case WARNED:
		if (was->door != BLOCKED)
			now->fault = FINE;
		break;
	case STOPPED:
		if (events->reset)
			now->fault = FINE;
		break;
	}
}

static void step(struct chart *it, const struct events *events)
{
	const struct chart was = *it;

	cabin_actions[was.cabin](&was, it, events);
	/* A stop comes before what the cabin would do. */
	if (was.fault == STOPPED)
		it->cabin = HALTED;
	door_actions[was.door](&was, it, events);
	step_light(&was, it);
	step_fault(&was, it, events);
	it->calls |= events->calls;
}

static struct events events(uint64_t *state)
{
	uint32_t drawn = draw(state);

	return (struct events){
		.calls = drawn % 16 == 0 ? 1u << (drawn >> 8) % FLOORS : 0,
		.obstacle = (drawn >> 16) % 4 == 0,
		.stop_button = (drawn >> 20) % 256 == 0,
		.reset = (drawn >> 28) == 0,
	};
}

static bool is_safe(const struct chart *it)
{
	bool moves = it->cabin == RISING || it->cabin == SINKING;

	return it->floor >= 0 && it->floor < FLOORS && !(moves && it->door != CLOSED);
}

static uint64_t once(uint64_t sum)
{
	uint64_t state = seeded(sum);
	struct chart chart = { 0 };

	for (int i = 0; i < STEPS; i++) {
		struct events from_outside = events(&state);

		step(&chart, &from_outside);
		if (!is_safe(&chart))
			return FAILED(1);
		sum = mix(sum, (uint64_t)chart.floor << 16 | (uint64_t)chart.cabin << 12 |
				       (uint64_t)chart.door << 8 | (uint64_t)chart.light << 4 |
				       (uint64_t)chart.fault);
	}
	if (chart.calls_served < 20)
		return FAILED(2);
	return mix(sum, (uint64_t)chart.calls_served);
}

DONJON_PROGRAM(64, 1, 4);
