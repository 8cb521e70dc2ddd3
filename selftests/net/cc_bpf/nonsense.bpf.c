// SPDX-License-Identifier: GPL-2.0
/* Windows that cannot be. */
#include <rdma/hroce-cc.h>

#define SEC(name)	__attribute__((section(name), used))

char _license[] SEC("license") = "GPL";

static inline int nonsense(struct hroce_cc_flow *flow)
{
	__u64 nr = flow->priv[0]++;

	flow->priv[1] = ~0ull;
	flow->window_pkts = nr % 3 == 0 ? 0 : nr % 3 == 1 ? ~0u : 1u << 31;
	return 0;
}

SEC("struct_ops/start")
int start(__u64 *ctx)
{
	return nonsense((void *)ctx[0]);
}

SEC("struct_ops/measured")
int measured(__u64 *ctx)
{
	return nonsense((void *)ctx[0]);
}
