// SPDX-License-Identifier: GPL-2.0
/*
 * Construction of frames.
 *
 * Memory comes from the page frag cache, which reuses pages; kmalloc() would
 * clear every piece (init_on_alloc). No allocation is larger than a page,
 * unless the device takes linear frames only.
 */
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/string.h>

#include "../mem/iter.h"
#include "../proto/mtu.h"
#include "../proto/wire.h"
#include "crc.h"
#include "tx_frame.h"

/* Below this length, copying is cheaper than a page reference. */
#define FRAME_REF_MIN	512

/* Minimum size of a chunk of private memory: some ICRCs and headers. */
#define FRAME_CHUNK_MIN	256

/*
 * Maximum number of page frags for the rest of a packet if it is copied: the
 * rest of a chunk, whole pages, and the next one.
 */
#define FRAME_COPY_FRAGS	(2 + DIV_ROUND_UP(HRP_MTU_MAX, PAGE_SIZE))

static u32 frame_alloc_size(u32 len)
{
	return SKB_DATA_ALIGN(len) +
	       SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
}

static struct sk_buff *frame_alloc(u32 size)
{
	void *head = napi_alloc_frag(size);
	struct sk_buff *skb;

	if (!head)
		return NULL;
	skb = napi_build_skb(head, size);
	if (!skb)
		skb_free_frag(head);
	return skb;
}

static void frame_set_tail(struct hroce_tx_frame *f, struct sk_buff *skb)
{
	f->tail = skb;
	f->shinfo = skb_shinfo(skb);
}

/* Room for whole packets, if that is any. */
static u32 frame_whole(const struct hroce_tx_frame *f, u32 room)
{
	return room < f->unit ? room : room - room % f->unit;
}

int hroce_tx_frame_begin(struct hroce_tx_frame *f, u32 headroom, u32 len,
			 u32 unit, bool frags)
{
	u32 size = frame_alloc_size(headroom + len);
	bool part = size > PAGE_SIZE && frags;

	f->unit = unit;
	f->wanted = 0;
	f->chunk = NULL;
	f->chunk_left = 0;
	f->last = NULL;
	f->vector = false;
	f->copied = 0;
	if (part)
		size = PAGE_SIZE;
	if (size <= PAGE_SIZE)
		f->skb = frame_alloc(size);
	else
		f->skb = alloc_skb(headroom + len, GFP_ATOMIC | __GFP_NOWARN);
	if (!f->skb)
		return -ENOMEM;
	skb_reserve(f->skb, headroom);
	frame_set_tail(f, f->skb);
	f->linear_left = skb_tailroom(f->skb);
	if (part) {
		f->linear_left = frame_whole(f, f->linear_left);
		f->wanted = len - f->linear_left;
	}
	return 0;
}

static void frame_drop_chunk(struct hroce_tx_frame *f)
{
	if (f->chunk)
		put_page(f->chunk_page);
	f->chunk = NULL;
	f->chunk_left = 0;
	f->last = NULL;
}

static bool frame_new_chunk(struct hroce_tx_frame *f, u32 len)
{
	frame_drop_chunk(f);
	len = max(len, min(f->wanted, frame_whole(f, PAGE_SIZE)));
	len = clamp_t(u32, len, FRAME_CHUNK_MIN, PAGE_SIZE);
	f->wanted -= min(f->wanted, len);
	f->chunk = napi_alloc_frag(len);
	if (!f->chunk)
		return false;
	f->chunk_page = virt_to_head_page(f->chunk);
	f->chunk_left = len;
	f->skb->truesize += len;
	return true;
}

/* Append an skb to the frag_list, for more page frags. */
static bool frame_extend(struct hroce_tx_frame *f)
{
	struct sk_buff *skb;

	/* The next headers must not fail: segmentation rejects an empty skb. */
	if (f->chunk_left < HRW_MAX_HDR_LEN && !frame_new_chunk(f, 0))
		return false;
	skb = frame_alloc(frame_alloc_size(0));
	if (!skb)
		return false;
	if (f->tail == f->skb)
		skb_shinfo(f->skb)->frag_list = skb;
	else
		f->tail->next = skb;
	frame_set_tail(f, skb);
	f->skb->truesize += skb->truesize;
	f->last = NULL;
	return true;
}

static u32 frame_frags_left(const struct hroce_tx_frame *f)
{
	return MAX_SKB_FRAGS - f->shinfo->nr_frags;
}

/* Begin a page frag at @f->chunk. */
static void frame_begin_frag(struct hroce_tx_frame *f)
{
	void *page_va = page_address(f->chunk_page);

	f->last = &f->shinfo->frags[f->shinfo->nr_frags];
	hroce_tx_frame_add(f, f->chunk_page, (void *)f->chunk - page_va, 0);
}

void *hroce_tx_frame_take(struct hroce_tx_frame *f, u32 len)
{
	if (f->chunk_left < len && !frame_new_chunk(f, len))
		return NULL;
	if (!f->last) {
		if (!frame_frags_left(f))
			return NULL;
		frame_begin_frag(f);
	}
	return hroce_tx_frame_put(f, len);
}

/* Are enough page frags left for any packet? */
static __always_inline bool frame_fits(const struct hroce_tx_frame *f)
{
	u32 left = frame_frags_left(f);

	return left > FRAME_COPY_FRAGS ||
	       (left == FRAME_COPY_FRAGS && f->last);
}

bool hroce_tx_frame_has_room(const struct hroce_tx_frame *f)
{
	return frame_fits(f) || f->list;
}

bool hroce_tx_frame_make_room(struct hroce_tx_frame *f)
{
	return frame_fits(f) || (f->list && frame_extend(f));
}

bool hroce_tx_frame_prepare(struct hroce_tx_frame *f, u32 frags)
{
	const u32 len = sizeof(struct hrw_bth) + HRW_ICRC_LEN;

	if (f->chunk_left < len && !frame_new_chunk(f, 0))
		return false;
	if (frame_frags_left(f) < frags + !f->last &&
	    !(f->list && frame_extend(f)))
		return false;
	if (!f->last)
		frame_begin_frag(f);
	return true;
}

static int frame_copy(struct hroce_tx_frame *f, const void *src, u32 len,
		      u32 rest)
{
	void *dst;
	u32 n;

	f->copied += len;
	for (; len; len -= n, src += n) {
		n = f->linear_left;
		if (!n && !f->chunk_left && !frame_new_chunk(f, len + rest))
			return -ENOMEM;
		n = min(len, n ?: f->chunk_left);
		dst = hroce_tx_frame_put(f, n);
		if (!dst)
			return -ENOMEM;
		if (f->sum)
			f->state = hroce_crc_copy(f->vector, f->state, dst, src,
						  n);
		else
			memcpy(dst, src, n);
	}
	return 0;
}

/*
 * May an extent be referred to? Only if the page frags left suffice for the
 * rest of the packet, even if that is copied.
 */
static bool frame_may_ref(const struct hroce_tx_frame *f,
			  const struct hroce_extent *ext, u32 rest)
{
	u32 frags = PFN_UP(offset_in_page(ext->offset) + ext->len);

	return !ext->va && ext->len >= FRAME_REF_MIN &&
	       frags + (rest ? FRAME_COPY_FRAGS : 1) <= frame_frags_left(f);
}

static void frame_ref(struct hroce_tx_frame *f, struct hroce_extent *ext)
{
	u32 len;

	if (f->sum)
		f->state = hroce_crc_update(f->vector, f->state,
					    hroce_extent_va(ext), ext->len);
	f->skb->truesize += ext->len;
	hroce_tx_frame_share(f);
	hroce_tx_frame_grow(f, ext->len);
	f->last = NULL;
	do {
		len = hroce_extent_ref_len(ext);
		hroce_tx_frame_add(f, ext->page + (ext->offset >> PAGE_SHIFT),
				   offset_in_page(ext->offset), len);
		ext->offset += len;
		ext->len -= len;
	} while (ext->len);
}

int hroce_tx_frame_payload(struct hroce_tx_frame *f, struct hroce_mem_iter *it,
			   u32 len, bool copy)
{
	struct hroce_extent ext __uninitialized;
	int err;

	while (len) {
		if (!hroce_mem_next(it, len, &ext))
			return -EFAULT;
		len -= ext.len;
		if (!copy && frame_may_ref(f, &ext, len)) {
			frame_ref(f, &ext);
			continue;
		}
		err = frame_copy(f, hroce_extent_va(&ext), ext.len, len);
		if (err)
			return err;
	}
	return 0;
}

struct sk_buff *hroce_tx_frame_end(struct hroce_tx_frame *f)
{
	hroce_crc_end(f->vector);
	frame_drop_chunk(f);
	return f->skb;
}
