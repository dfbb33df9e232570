/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The picture that host/encode.c makes picojpeg-file.h of, and picojpeg.c compares with. */
#ifndef PICOJPEG_PICTURE_H
#define PICOJPEG_PICTURE_H

#define PICTURE_WIDTH 64
#define PICTURE_HEIGHT 48

/* Red, green (1) and blue (2) of a pixel: two slopes, and a dark disc with a bright middle. */
static inline int picture(int x, int y, int color)
{
	int right = x - 40, below = y - 20, far = right * right + below * below;

	if (far < 60)
		return color == 2 ? 90 : 220;
	if (far < 250)
		return 30 + 20 * color;
	if (color == 0)
		return 40 + 3 * x;
	return color == 1 ? 30 + 4 * y : 200 - x - y;
}

#endif
