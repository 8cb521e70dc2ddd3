/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Address handles. */
#ifndef HROCE_AH_H
#define HROCE_AH_H

#include <infiniband/driver.h>

/**
 * struct hroce_ah - address handle
 * @ah: base object of libibverbs
 * @id: number of the handle in send entries
 */
struct hroce_ah {
	struct ibv_ah ah;
	uint32_t id;
};

static inline struct hroce_ah *to_hah(struct ibv_ah *ah)
{
	return container_of(ah, struct hroce_ah, ah);
}

struct ibv_ah *hroce_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int hroce_destroy_ah(struct ibv_ah *ibah);

#endif /* HROCE_AH_H */
