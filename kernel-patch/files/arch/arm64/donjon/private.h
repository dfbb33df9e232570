/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __DONJON_PRIVATE_H
#define __DONJON_PRIVATE_H

/* One block more for compartments; 0 or an error. */
int donjon_private_grow(void);
/* Take back the blocks of which no compartment has a frame. */
void donjon_private_shrink(void);

#endif /* __DONJON_PRIVATE_H */
