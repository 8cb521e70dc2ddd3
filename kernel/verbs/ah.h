/* SPDX-License-Identifier: GPL-2.0 */
/* Address handles. */
#ifndef HROCE_AH_H
#define HROCE_AH_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "../net/flow.h"

/**
 * struct hroce_ah - address handle as senders use it
 * @flow: route to the destination; several senders use it at once, under RCU
 * @pd: protection domain; only its queue pairs may use the handle
 * @id: hroce_create_ah_resp.ah_id; never 0
 * @free: frees this structure a grace period after @id is gone
 *
 * Outlives the verbs object, which may be destroyed in atomic context while
 * frames are in flight.
 */
struct hroce_ah {
	struct hroce_flow flow;
	const struct ib_pd *pd;
	u32 id;
	struct rcu_work free;
};

/**
 * struct hroce_ib_ah - address handle as ib_core knows it
 * @ib: ib_core's address handle
 * @ah: the part that senders use
 */
struct hroce_ib_ah {
	struct ib_ah ib;
	struct hroce_ah *ah;
};

static inline struct hroce_ah *to_hah(struct ib_ah *ib)
{
	return container_of(ib, struct hroce_ib_ah, ib)->ah;
}

/**
 * hroce_ah_flow_key - check an address vector and translate it
 * @ibdev: device
 * @attr: address vector with its sgid_attr resolved
 * @sport: UDP source port, or 0: to be derived from the addresses
 * @user: for the current process: priorities above 6 require CAP_NET_ADMIN
 * @key: filled in
 *
 * Context: any; process if @user.
 * Return: 0, -EINVAL, or -EADDRNOTAVAIL if the port no longer has the address
 * of the GID.
 */
int hroce_ah_flow_key(struct ib_device *ibdev, const struct rdma_ah_attr *attr,
		      u16 sport, bool user, struct hroce_flow_key *key);

/* ib_device_ops */
int hroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata);
int hroce_ah_destroy(struct ib_ah *ibah, u32 flags);

/* Wait until all destroyed handles are freed. Context: process. */
void hroce_ah_flush(void);

/* Once per module. */
int hroce_ah_init(void);
void hroce_ah_exit(void);

#endif /* HROCE_AH_H */
