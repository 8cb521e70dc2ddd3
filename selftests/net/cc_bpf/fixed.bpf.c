// SPDX-License-Identifier: GPL-2.0
/* A window of 7 packets, and of 5 once packets were marked. */
#include <rdma/hroce-cc.h>

#define SEC(name)	__attribute__((section(name), used))
#define FLOW(ctx)	((struct hroce_cc_flow *)(ctx)[0])

char _license[] SEC("license") = "GPL";

SEC("struct_ops/start")
int start(__u64 *ctx)
{
	struct hroce_cc_flow *flow = FLOW(ctx);
	__u64 zero = flow->priv[0] | flow->priv[1] | flow->priv[2] |
		     flow->priv[3];

	flow->priv[3] = zero ? 0 : 5;
	flow->window_pkts = 7;
	return 0;
}

SEC("struct_ops/measured")
int measured(__u64 *ctx)
{
	struct hroce_cc_flow *flow = FLOW(ctx);

	/* Anything that cannot be leaves a window that the test does not expect. */
	if (!flow->rtt_ns || !flow->now_ns || !flow->qpn || !flow->mtu ||
	    !flow->acked_pkts || flow->acked_pkts > 1000000 ||
	    flow->flight_pkts > 1000000 || flow->priv[3] != 5)
		flow->priv[2] = 9;
	flow->window_pkts = flow->priv[2] ? 9 : flow->priv[1] ? 5 : 7;
	return 0;
}

SEC("struct_ops/marked")
int marked(__u64 *ctx)
{
	FLOW(ctx)->priv[1] = 1;
	return 0;
}
