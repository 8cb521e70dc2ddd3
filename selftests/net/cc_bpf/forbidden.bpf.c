// SPDX-License-Identifier: GPL-2.0
/* Writes what may be read only. */
#include <rdma/hroce-cc.h>

char _license[] __attribute__((section("license"), used)) = "GPL";

__attribute__((section("struct_ops/measured"), used))
int measured(__u64 *ctx)
{
	struct hroce_cc_flow *flow = (void *)ctx[0];

	flow->max_pkts = 1 << 20;
	return 0;
}
