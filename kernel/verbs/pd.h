/* SPDX-License-Identifier: GPL-2.0 */
/* Protection domains: an identity, nothing else. */
#ifndef HROCE_PD_H
#define HROCE_PD_H

#include <rdma/ib_verbs.h>

/**
 * struct hroce_pd - protection domain
 * @ib: ib_core's domain; its address is the identity
 */
struct hroce_pd {
	struct ib_pd ib;
};

int hroce_pd_alloc(struct ib_pd *ibpd, struct ib_udata *udata);
int hroce_pd_dealloc(struct ib_pd *ibpd, struct ib_udata *udata);

#endif /* HROCE_PD_H */
