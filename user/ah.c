// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles. The kernel keeps them and resolves the destination; send
 * entries refer to them by number.
 */
#include <errno.h>
#include <stdlib.h>

#include "cmd.h"
#include "ah.h"

struct ibv_ah *hroce_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct hroce_cmd_create_ah_resp resp = {};
	struct hroce_ah *ah;
	int ret;

	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;

	ret = ibv_cmd_create_ah(pd, &ah->ah, attr, &resp.core, sizeof(resp));
	if (ret) {
		free(ah);
		errno = ret;
		return NULL;
	}
	ah->id = resp.drv.ah_id;
	return &ah->ah;
}

int hroce_destroy_ah(struct ibv_ah *ibah)
{
	int ret = ibv_cmd_destroy_ah(ibah);

	if (!ret)
		free(to_hah(ibah));
	return ret;
}
