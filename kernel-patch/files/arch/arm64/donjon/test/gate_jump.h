/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jumps to the gate's entry write with a forged TCR_EL1. None of them returns if
 * the gate is right.
 */
#ifndef __DONJON_GATE_JUMP_H
#define __DONJON_GATE_JUMP_H

/* What the hostile page leaves behind if it ever runs */
#define DONJON_ESCAPED		0x600dUL

/* Where a forged jump comes back, if it does */
extern char donjon_attack_resume[];

/* Jump there with the value for TCR_EL1. */
void donjon_jump_with(unsigned long value);

/*
 * The same with a breakpoint on the next instruction. Returns an error if there
 * is no breakpoint to be had; otherwise *live is the TCR_EL1 of Linux's handler.
 */
int donjon_jump_with_breakpoint(unsigned long value, unsigned long *live);

/*
 * Jump there with a forged granule and range, after preparing a frame that the
 * forged walk of the vectors would read. Returns what hostile code at the vector
 * left, DONJON_ESCAPED if it ran, or -ENOMEM.
 */
long donjon_jump_with_geometry(void);

#endif /* __DONJON_GATE_JUMP_H */
