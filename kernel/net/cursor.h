/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A position in a frame: goes once, forwards, over the linear part, the page
 * frags and the list of further frames, and gives out the bytes where they are.
 */
#ifndef HROCE_CURSOR_H
#define HROCE_CURSOR_H

#include <linux/minmax.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>

/**
 * struct hroce_cursor - position in a frame; a copy is another position
 * @data: next byte
 * @left: bytes at @data
 * @pos: offset of @data from the beginning
 * @frag: page frag behind @data
 * @end: where they end
 * @list: frame behind these, or NULL
 */
struct hroce_cursor {
	const u8 *data;
	u32 left;
	u32 pos;
	const skb_frag_t *frag;
	const skb_frag_t *end;
	const struct sk_buff *list;
};

/**
 * hroce_cursor_begin - set a position
 * @c: cursor
 * @skb: frame; not changed as long as @c is in use
 * @offset: of the beginning from skb->data, in the linear part, may be negative
 */
void hroce_cursor_begin(struct hroce_cursor *c, const struct sk_buff *skb,
			int offset);

/* For hroce_cursor_refill(): if the page frags are used up, or empty. */
bool hroce_cursor_turn(struct hroce_cursor *c);

/* Go to the next page frag. Memory of a device is not for us to read: false. */
static inline bool hroce_cursor_frag(struct hroce_cursor *c)
{
	c->data = skb_frag_address_safe(c->frag);
	if (unlikely(!c->data))
		return false;
	c->left = skb_frag_size(c->frag++);
	return true;
}

/* For hroce_cursor_get(): go on where @c->left is 0; false at the end. */
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

/* For hroce_cursor_read(): if the bytes are in several pieces. */
bool hroce_cursor_gather(struct hroce_cursor *c, void *dst, u32 len);

static inline void hroce_cursor_step(struct hroce_cursor *c, u32 len)
{
	c->data += len;
	c->left -= len;
	c->pos += len;
}

/**
 * hroce_cursor_get - the next bytes, in place
 * @c: cursor
 * @max: most bytes wanted
 * @data: where they are; on this host their sender may still write there
 *
 * Return: how many they are; 0 at the end of the frame.
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
 * @len: number, few
 *
 * Return: false if the frame ends before.
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
 * hroce_cursor_peek - copy the next bytes and stay
 * @c: cursor
 * @dst: destination
 * @len: number, few
 *
 * Return: false if the frame ends before.
 */
static inline bool hroce_cursor_peek(struct hroce_cursor *c, void *dst, u32 len)
{
	struct hroce_cursor ahead __uninitialized;

	if (likely(c->left >= len)) {
		memcpy(dst, c->data, len);
		return true;
	}
	ahead = *c;
	return hroce_cursor_read(&ahead, dst, len);
}

/**
 * hroce_cursor_skip - leave bytes out
 * @c: cursor
 * @len: number; the cursor stops at the end of the frame
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
