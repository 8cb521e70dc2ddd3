// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Run-time comparison of private structures with those of libibverbs. */
#include <stdio.h>

#include "layout.h"

static bool complain_unless(bool same)
{
	static bool complained;

	if (same || complained)
		return same;
	complained = true;
	fprintf(stderr,
		"libhroce: built for another libibverbs than the one installed; rebuild it against this version's libibverbs-dev and install it again\n");
	return false;
}

/*
 * ibv_qp_to_qp_ex() reads comp_mask, which follows the part of the structure
 * that grew: a library with another layout does not find the bit set here.
 */
bool hroce_layout_check_qp(void)
{
	union {
		struct verbs_qp vqp;
		uint8_t room[sizeof(struct verbs_qp) + 256];
	} probe = {
		.vqp.comp_mask = VERBS_QP_EX,
	};

	return complain_unless(ibv_qp_to_qp_ex(&probe.vqp.qp));
}

/*
 * verbs_set_ops() copies some verbs from the table to public fields. A correct
 * copy shows that all members before it have the expected place. Six members
 * follow the last one.
 */
bool hroce_layout_check_context(const struct verbs_context *vctx,
				const struct verbs_context_ops *ops)
{
	const struct ibv_context_ops *pub = &vctx->context.ops;

	return complain_unless(vctx->sz == sizeof(*vctx) &&
			       vctx->create_qp_ex == ops->create_qp_ex &&
			       vctx->query_device_ex == ops->query_device_ex &&
			       vctx->query_rt_values == ops->query_rt_values &&
			       pub->poll_cq == ops->poll_cq &&
			       pub->post_recv == ops->post_recv &&
			       pub->post_send == ops->post_send &&
			       pub->post_srq_recv == ops->post_srq_recv &&
			       pub->req_notify_cq == ops->req_notify_cq);
}
