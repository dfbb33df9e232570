/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_PRIVATE_H
#define __DONJON_PRIVATE_H

#include <asm/donjon.h>

/* Frames that compartments could have if they had all that there is. */
unsigned long donjon_private_most(void);
/*
 * Adds to the frames that compartments may have, for which their holders were
 * charged. `frames` is negative when a compartment is gone.
 */
void donjon_private_promise(long frames);
/*
 * Adds up to `count` blocks for compartments. If it is 0 the driver chooses, within
 * what is promised. Returns how many blocks were added, or an error.
 */
int donjon_private_grow(unsigned int count);
/* Take back the blocks of which no compartment has a frame. */
void donjon_private_shrink(void);
/* A call about compartments, made again with more memory for as long as there is. */
struct donjon_result donjon_private_call(unsigned long function, unsigned long a1,
					 unsigned long a2, unsigned long a3,
					 unsigned long a4);
/* The errno for a refusal of a call about compartments. */
long compartment_refused(struct donjon_result result);

#endif /* __DONJON_PRIVATE_H */
