// SPDX-License-Identifier: GPL-2.0
/* dst_rt6_info(): 6.10 on, and in later stable releases of older series. */
#include <net/ip6_fib.h>

struct rt6_info *probe(struct dst_entry *dst);
struct rt6_info *probe(struct dst_entry *dst)
{
	return dst_rt6_info(dst);
}
