// SPDX-License-Identifier: GPL-2.0
/* Positions in frames. */
#include <net/xdp.h>

#include "cursor.h"

void hroce_cursor_begin_xdp(struct hroce_cursor *c, struct xdp_buff *xdp,
			    u32 offset)
{
	const struct skb_shared_info *shinfo;

	c->data = xdp->data + offset;
	c->left = xdp->data_end - xdp->data - offset;
	c->frag = NULL;
	c->end = NULL;
	c->list = NULL;
	c->pos = 0;
	if (!xdp_buff_has_frags(xdp))
		return;
	shinfo = xdp_get_shared_info_from_buff(xdp);
	c->frag = shinfo->frags;
	c->end = shinfo->frags + shinfo->nr_frags;
}

bool hroce_cursor_turn(struct hroce_cursor *c)
{
	while (!c->left) {
		if (c->frag != c->end) {
			if (!hroce_cursor_frag(c))
				return false;
		} else if (c->list) {
			hroce_cursor_enter(c, c->list, 0);
			c->list = c->list->next;
		} else {
			return false;
		}
	}
	return true;
}

bool hroce_cursor_gather(struct hroce_cursor *c, void *dst, u32 len)
{
	const void *data;
	u32 n;

	for (; len; len -= n, dst += n) {
		n = hroce_cursor_get(c, len, &data);
		if (!n)
			return false;
		memcpy(dst, data, n);
	}
	return true;
}
