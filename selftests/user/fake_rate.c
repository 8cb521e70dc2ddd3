// SPDX-License-Identifier: GPL-2.0
/* What a kernel says of rates, and hears of them. */
#include <errno.h>
#include <string.h>

#include "fake.h"

int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size)
{
	struct hroce_query_device_resp *drv = (void *)(resp + 1);

	(void)context;
	if (input)
		return ENOTSUP;
	memset(attr, 0, attr_size);
	memset(resp, 0, *resp_size);
	if (*resp_size != sizeof(*resp)) {
		if (fake.rate.unknown)
			return EINVAL;
		if (*resp_size != sizeof(*resp) + sizeof(*drv))
			return ENOSPC;
		drv->rate_limit_min = 8;
		drv->rate_limit_max = 1000000;
		drv->rate_limit_qpts = 1 << IBV_QPT_RC;
	}
	resp->base.fw_ver = 3ull << 32 | 2 << 16 | 1;
	*resp_size = sizeof(*resp);
	return 0;
}

int ibv_cmd_modify_qp_ex(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask, struct ibv_modify_qp_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_modify_qp_resp *resp,
			 size_t resp_size)
{
	if (cmd_size != sizeof(*cmd) + sizeof(fake.rate.req) ||
	    resp_size != sizeof(*resp))
		return ENOSPC;
	fake.rate.req = *(struct hroce_modify_qp_req *)(cmd + 1);
	fake.rate.mask = attr_mask;
	fake.rate.kbps = attr->rate_limit;
	if (attr_mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return 0;
}
