// SPDX-License-Identifier: GPL-2.0
/* Lacks what a control must have. */
#include <rdma/hroce-cc.h>

char _license[] __attribute__((section("license"), used)) = "GPL";

__attribute__((section("struct_ops/marked"), used))
int marked(__u64 *ctx)
{
	return 0;
}
