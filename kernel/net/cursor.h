/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A position in a frame. It moves forwards over the linear part, the page frags
 * and the frag_list, and returns the bytes in place.
 */
#ifndef HROCE_CURSOR_H
#define HROCE_CURSOR_H

#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>

struct xdp_buff;

/**
 * struct hroce_cursor - position in a frame; a copy is another position
 * @data: next byte
 * @left: bytes at @data
 * @pos: offset of @data from the start
 * @frag: next page frag
 * @end: end of the page frags
 * @list: next skb of the frag_list, or NULL
 */
struct hroce_cursor {
	const u8 *data;
	u32 left;
	u32 pos;
	const skb_frag_t *frag;
	const skb_frag_t *end;
	const struct sk_buff *list;
};

/* Go to the linear part of a frame, or of one in its frag_list. */
static inline void hroce_cursor_enter(struct hroce_cursor *c,
				      const struct sk_buff *skb, int offset)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	c->data = skb->data + offset;
	c->left = skb_headlen(skb) - offset;
	c->frag = shinfo->frags;
	c->end = shinfo->frags + shinfo->nr_frags;
}

/**
 * hroce_cursor_begin - set a position
 * @c: cursor
 * @skb: frame; must not change while @c is in use
 * @offset: start, relative to skb->data; in the linear part, may be negative
 */
static inline void hroce_cursor_begin(struct hroce_cursor *c,
				      const struct sk_buff *skb, int offset)
{
	hroce_cursor_enter(c, skb, offset);
	c->list = skb_shinfo(skb)->frag_list;
	c->pos = 0;
}

/**
 * hroce_cursor_begin_xdp - set a position in a frame without an sk_buff
 * @c: cursor
 * @xdp: frame; must not change while @c is in use
 * @offset: start, in the linear part
 */
void hroce_cursor_begin_xdp(struct hroce_cursor *c, struct xdp_buff *xdp,
			    u32 offset);

/* Slow path of hroce_cursor_refill(): no page frag left, or an empty one. */
bool hroce_cursor_turn(struct hroce_cursor *c);

/* Go to the next page frag; false if it is unreadable device memory. */
static inline bool hroce_cursor_frag(struct hroce_cursor *c)
{
	c->data = skb_frag_address_safe(c->frag);
	if (unlikely(!c->data))
		return false;
	c->left = skb_frag_size(c->frag++);
	return true;
}

/* For hroce_cursor_get(): @c->left is 0, find more; false at the end. */
static inline bool hroce_cursor_refill(struct hroce_cursor *c)
{
	if (likely(c->frag != c->end)) {
		if (!hroce_cursor_frag(c))
			return false;
		if (likely(c->left))
			return true;
	}
	return hroce_cursor_turn(c);
}

/* Slow path of hroce_cursor_read(): the bytes are in several pieces. */
bool hroce_cursor_gather(struct hroce_cursor *c, void *dst, u32 len);

static inline void hroce_cursor_step(struct hroce_cursor *c, u32 len)
{
	c->data += len;
	c->left -= len;
	c->pos += len;
}

/**
 * hroce_cursor_get - get the next bytes, in place
 * @c: cursor
 * @max: maximum number of bytes
 * @data: set to their address; a sender on this host may still write there
 *
 * Return: number of bytes; 0 at the end of the frame.
 */
static inline u32 hroce_cursor_get(struct hroce_cursor *c, u32 max,
				   const void **data)
{
	u32 n;

	if (!c->left && !hroce_cursor_refill(c))
		return 0;
	n = min(max, c->left);
	*data = c->data;
	hroce_cursor_step(c, n);
	return n;
}

/**
 * hroce_cursor_read - copy the next bytes
 * @c: cursor
 * @dst: destination
 * @len: number of bytes, small
 *
 * Return: false if the frame is too short.
 */
static inline bool hroce_cursor_read(struct hroce_cursor *c, void *dst, u32 len)
{
	if (!c->left && !hroce_cursor_refill(c))
		return !len;
	if (unlikely(c->left < len))
		return hroce_cursor_gather(c, dst, len);
	memcpy(dst, c->data, len);
	hroce_cursor_step(c, len);
	return true;
}

/**
 * hroce_cursor_skip - skip bytes
 * @c: cursor
 * @len: number of bytes; the cursor stops at the end of the frame
 */
static inline void hroce_cursor_skip(struct hroce_cursor *c, u32 len)
{
	const void *data;
	u32 n;

	for (; len; len -= n) {
		n = hroce_cursor_get(c, len, &data);
		if (!n)
			return;
	}
}

#endif /* HROCE_CURSOR_H */
