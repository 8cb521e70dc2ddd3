/* SPDX-License-Identifier: GPL-2.0 */
/* Creating address handles. */
#ifndef HROCE_VERBS_AH_H
#define HROCE_VERBS_AH_H

#include "../datapath/ah.h"

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
 * hroce_ah_path_key - check an address vector and translate it
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
int hroce_ah_path_key(struct ib_device *ibdev, const struct rdma_ah_attr *attr,
		      u16 sport, bool user, struct hroce_path_key *key);

/* Wait until all destroyed handles are freed. Context: process. */
void hroce_ah_flush(void);

/* Once per module. */
int hroce_ah_init(void);
void hroce_ah_exit(void);

#endif /* HROCE_VERBS_AH_H */
