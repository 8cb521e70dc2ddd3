/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protection domains and XRC domains: identities, hardly more. Each target queue
 * pair and each XRC SRQ belongs to an XRC domain. ib_core counts these, and shares
 * domains and queue pairs among processes.
 */
#ifndef HROCE_DOMAIN_H
#define HROCE_DOMAIN_H

#include <rdma/ib_verbs.h>
#include "../datapath/user.h"

/**
 * struct hroce_pd - protection domain
 * @ib: ib_core's domain; its address is the identity
 */
struct hroce_pd {
	struct ib_pd ib;
};

/**
 * struct hroce_xrcd - XRC domain
 * @ib: ib_core's domain; its address is the identity
 * @user: pays for what peers of its target queue pairs take up: the process that
 *	created the domain
 */
struct hroce_xrcd {
	struct ib_xrcd ib;
	struct hroce_user user;
};

static inline struct hroce_xrcd *to_hxrcd(struct ib_xrcd *xrcd)
{
	return container_of(xrcd, struct hroce_xrcd, ib);
}

#endif /* HROCE_DOMAIN_H */
