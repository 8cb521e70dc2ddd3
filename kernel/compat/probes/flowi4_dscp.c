// SPDX-License-Identifier: GPL-2.0
/* flowi4_dscp instead of flowi4_tos: 6.18 on. */
#include <net/flow.h>

void probe(struct flowi4 *fl4);
void probe(struct flowi4 *fl4)
{
	fl4->flowi4_dscp = inet_dsfield_to_dscp(0);
}
