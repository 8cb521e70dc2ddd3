/* SPDX-License-Identifier: GPL-2.0 */
/*
 * XRC domains: an identity, nothing else. Target queue pairs and XRC SRQs are
 * of one each; ib_core counts them, and shares domains and queue pairs among
 * processes.
 */
#ifndef HROCE_XRCD_H
#define HROCE_XRCD_H

#include <rdma/ib_verbs.h>

/**
 * struct hroce_xrcd - XRC domain
 * @ib: what ib_core knows; its address is the identity
 */
struct hroce_xrcd {
	struct ib_xrcd ib;
};

int hroce_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int hroce_xrcd_dealloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

#endif /* HROCE_XRCD_H */
