// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control by a BPF program. The window grows by one packet in a round
 * trip. It shrinks by a quarter if that was longer than the shortest one by half
 * and 100 us, or if a switch has marked packets.
 */
#include <rdma/hroce-cc.h>

#define SEC(name)	__attribute__((section(name), used))
#define FLOW(ctx)	((struct hroce_cc_flow *)(ctx)[0])
#define START_PKTS	16
#define QUEUE_NS	100000

/* In priv: the shortest round trip, and when the window last shrank. */
enum { SHORTEST, SHRANK };

char _license[] SEC("license") = "GPL";

/* Once for what is in flight. */
static inline void shrink(struct hroce_cc_flow *flow)
{
	if (flow->now_ns - flow->priv[SHRANK] < flow->srtt_us * 1000ull)
		return;
	flow->priv[SHRANK] = flow->now_ns;
	flow->window_pkts -= flow->window_pkts / 4;
}

SEC("struct_ops/start") int start(__u64 *ctx)
{
	FLOW(ctx)->priv[SHORTEST] = ~0ull;
	FLOW(ctx)->window_pkts = START_PKTS;
	return 0;
}

SEC("struct_ops/measured") int measured(__u64 *ctx)
{
	struct hroce_cc_flow *flow = FLOW(ctx);
	__u64 shortest = flow->priv[SHORTEST];

	if (!(flow->flags & HROCE_CC_RESENT) && flow->rtt_ns < shortest)
		flow->priv[SHORTEST] = shortest = flow->rtt_ns;
	if (flow->rtt_ns > shortest + shortest / 2 + QUEUE_NS)
		shrink(flow);
	else if (flow->flags & HROCE_CC_LIMITED)
		flow->window_pkts++;
	return 0;
}

SEC("struct_ops/marked") int marked(__u64 *ctx)
{
	shrink(FLOW(ctx));
	return 0;
}

/* For libbpf and bpftool; hroce(8) goes by the names of sections. */
SEC(".struct_ops.link") struct hroce_cc_ops aimd = {
	.start = (void *)start,
	.measured = (void *)measured,
	.marked = (void *)marked,
};
