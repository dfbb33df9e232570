/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jumps to the gate's entry write with a forged TCR_EL1. No jump returns if the
 * gate is right.
 */
#ifndef __DONJON_GATE_JUMP_H
#define __DONJON_GATE_JUMP_H

/* What the hostile page leaves behind if it ever runs */
#define DONJON_ESCAPED		0x600dUL

/* Where a forged jump comes back, if it does */
extern char donjon_attack_resume[];

/* Jump to the entry write with the value for TCR_EL1. */
void donjon_jump_with(unsigned long value);

/*
 * Jump to the entry write with a breakpoint on the instruction behind it. Returns
 * an error if no breakpoint is free; otherwise *live is the TCR_EL1 of Linux's
 * handler.
 */
int donjon_jump_with_breakpoint(unsigned long value, unsigned long *live);

/*
 * Jump to the entry write with a forged granule and range, after preparing a frame that the
 * forged walk of the vectors would read. Returns what hostile code at the vector
 * left, DONJON_ESCAPED if it ran, or -ENOMEM.
 */
long donjon_jump_with_geometry(void);

#endif /* __DONJON_GATE_JUMP_H */
