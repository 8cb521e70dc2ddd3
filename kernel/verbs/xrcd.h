/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XRC domains: an identity, nothing else. Each target queue pair and each XRC
 * SRQ belongs to one. ib_core counts them, and shares domains and queue pairs
 * among processes.
 */
#ifndef HROCE_XRCD_H
#define HROCE_XRCD_H

#include <rdma/ib_verbs.h>

/**
 * struct hroce_xrcd - XRC domain
 * @ib: ib_core's domain; its address is the identity
 */
struct hroce_xrcd {
	struct ib_xrcd ib;
};

int hroce_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int hroce_xrcd_dealloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

#endif /* HROCE_XRCD_H */
