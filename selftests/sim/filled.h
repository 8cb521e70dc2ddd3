/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Nothing that was in memory before may leave: a case is run twice with other
 * bytes below what it fills in, and the results are compared.
 */
#ifndef FILLED_H
#define FILLED_H

#include <stdlib.h>
#include <string.h>
#include "proto/burst.h"
#include "proto/wire.h"
#include "tap.h"

/* What is there before: each of them once. */
static const u8 filled_before[] = { 0x00, 0xff };

/* Headers of all packets of @b, one behind the other; to be freed. */
static inline u8 *filled_headers(const struct hrp_burst *b, u32 *len)
{
	u8 *buf = calloc(b->nr_pkts, HRW_MAX_HDR_LEN);
	struct hrp_pkt pkt;
	u32 i;

	*len = 0;
	for (i = 0; i < b->nr_pkts; i++) {
		hrp_burst_pkt(b, i, &pkt);
		*len += hrp_pkt_build(&pkt, buf + *len);
	}
	return buf;
}

/* Compare the headers of a burst for each of the values of filled_before. */
static inline void filled_compare(const struct hrp_burst *a,
				  const struct hrp_burst *b)
{
	u32 a_len, b_len;
	u8 *x = filled_headers(a, &a_len), *y = filled_headers(b, &b_len);

	tap_eq(a_len, b_len);
	tap_ok(!memcmp(x, y, a_len < b_len ? a_len : b_len));
	/* What a READ or WRITE refers to, too. */
	tap_eq(a->mem.len, b->mem.len);
	free(x);
	free(y);
}

#endif /* FILLED_H */
