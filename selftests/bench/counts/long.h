/* SPDX-License-Identifier: GPL-2.0 */
/* Long messages, the same for RDMA and TCP. */
#ifndef LONG_H
#define LONG_H

#include <err.h>
#include <stdint.h>
#include <stdlib.h>

#define LONG_MAX_LEN	(1u << 20)
#define LONG_WINDOW	(16u << 20)
#define LONG_WARM	(16u << 20)
#define LONG_MIN_COUNT	48

/* Bytes of each, from an argument; end the program if it is out of range. */
static inline uint32_t long_len(const char *text)
{
	unsigned long bytes = strtoul(text, NULL, 0);

	if (!bytes || bytes > LONG_MAX_LEN)
		errx(2, "%s: 1 to %u bytes", text, LONG_MAX_LEN);
	return bytes;
}

/* Messages before the window. */
static inline uint32_t long_warm(uint32_t bytes)
{
	return LONG_WARM / bytes;
}

/* Messages in the window. */
static inline uint32_t long_count(uint32_t bytes)
{
	uint32_t count = LONG_WINDOW / bytes;

	return count < LONG_MIN_COUNT ? LONG_MIN_COUNT : count;
}

#endif /* LONG_H */
