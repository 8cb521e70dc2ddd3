/* SPDX-License-Identifier: GPL-2.0 */
/* Performance management agent: answers MADs that ask for port counters. */
#ifndef HROCE_PMA_H
#define HROCE_PMA_H

#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

/* ClassVersion of performance management. */
#define HROCE_PMA_VERSION	1

/**
 * hroce_pma_begin - check a MAD and begin the answer
 * @wc: completion of the MAD; NULL: a request of the kernel on this host
 * @in: MAD, valid if it has the length that @wc tells
 * @out: set to the answer if REPLY is returned; its attribute is still to be
 *	filled in if @counters is set
 * @counters: set to true if @in asks for PortCounters or PortCountersExtended
 *
 * Context: process.
 * Return: enum ib_mad_result.
 */
int hroce_pma_begin(const struct ib_wc *wc, const struct ib_mad *in,
		    struct ib_mad *out, bool *counters);

#endif /* HROCE_PMA_H */
