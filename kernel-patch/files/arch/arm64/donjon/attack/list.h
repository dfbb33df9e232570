/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every attack: the file NAME.c defines attack_NAME.
 */
ATTACK(a1)
ATTACK(b1)
ATTACK(b3)
ATTACK(d1)
ATTACK(f10)
ATTACK(f14)
ATTACK(f16)
ATTACK(f17)
ATTACK(f18)
