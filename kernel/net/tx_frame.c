// SPDX-License-Identifier: GPL-2.0
/*
 * Construction of frames.
 *
 * Memory comes from the page frag cache: pages that are used again and again,
 * while kmalloc() would clear every piece (init_on_alloc). Nothing here needs
 * more than a page at once, unless the device takes linear frames only.
 */
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/string.h>

#include "../mem/mem.h"
#include "crc.h"
#include "tx_frame.h"

/* A reference to fewer bytes costs more than to copy them. */
#define FRAME_REF_MIN	512

/* Smallest piece of private memory: some ICRCs and headers. */
#define FRAME_CHUNK_MIN	256

/*
 * Page frags that the rest of a packet takes at most if it is copied: what is
 * left of a chunk, a whole page, and the next one.
 */
#define FRAME_COPY_FRAGS	3

static u32 frame_alloc_size(u32 len)
{
	return SKB_DATA_ALIGN(len) +
	       SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
}

int hroce_tx_frame_begin(struct hroce_tx_frame *f, u32 headroom, u32 len,
			 bool frags)
{
	u32 size = frame_alloc_size(headroom + len);
	void *head;

	if (size > PAGE_SIZE && frags)
		size = PAGE_SIZE;
	if (size <= PAGE_SIZE) {
		head = napi_alloc_frag(size);
		f->skb = head ? napi_build_skb(head, size) : NULL;
		if (head && !f->skb)
			skb_free_frag(head);
	} else {
		f->skb = alloc_skb(headroom + len, GFP_ATOMIC | __GFP_NOWARN);
	}
	if (!f->skb)
		return -ENOMEM;
	skb_reserve(f->skb, headroom);
	return 0;
}

static void frame_drop_chunk(struct hroce_tx_frame *f)
{
	if (f->chunk && !f->used)
		skb_free_frag(f->chunk);
	f->chunk = NULL;
	f->chunk_left = 0;
	f->joins = false;
	f->used = false;
}

static bool frame_new_chunk(struct hroce_tx_frame *f, u32 len)
{
	frame_drop_chunk(f);
	len = clamp_t(u32, len, FRAME_CHUNK_MIN, PAGE_SIZE);
	f->chunk = napi_alloc_frag(len);
	if (!f->chunk)
		return false;
	f->chunk_left = len;
	f->skb->truesize += len;
	return true;
}

/* Append the next @len bytes of the chunk. */
static void *frame_take(struct hroce_tx_frame *f, u32 len)
{
	struct skb_shared_info *shinfo = skb_shinfo(f->skb);
	u8 *p = f->chunk;
	struct page *page;

	if (f->joins) {
		skb_frag_size_add(&shinfo->frags[shinfo->nr_frags - 1], len);
	} else {
		page = virt_to_head_page(p);
		if (f->used)
			get_page(page);
		f->used = true;
		skb_fill_page_desc(f->skb, shinfo->nr_frags, page,
				   p - (u8 *)page_address(page), len);
		f->joins = true;
	}
	f->skb->len += len;
	f->skb->data_len += len;
	f->chunk += len;
	f->chunk_left -= len;
	return p;
}

static bool frame_is_linear(const struct hroce_tx_frame *f)
{
	return !skb_is_nonlinear(f->skb);
}

static u32 frame_frags_left(const struct hroce_tx_frame *f)
{
	return MAX_SKB_FRAGS - skb_shinfo(f->skb)->nr_frags;
}

void *hroce_tx_frame_put(struct hroce_tx_frame *f, u32 len)
{
	if (frame_is_linear(f) && skb_tailroom(f->skb) >= len)
		return skb_put(f->skb, len);
	if (f->chunk_left < len && !frame_new_chunk(f, len))
		return NULL;
	if (!f->joins && !frame_frags_left(f))
		return NULL;
	return frame_take(f, len);
}

bool hroce_tx_frame_room(const struct hroce_tx_frame *f)
{
	return frame_frags_left(f) > FRAME_COPY_FRAGS ||
	       (f->joins && frame_frags_left(f) == FRAME_COPY_FRAGS);
}

static void frame_sum(struct hroce_tx_frame *f, const void *p, u32 len)
{
	if (f->sum)
		f->state = hroce_crc_update(f->vector, f->state, p, len);
}

static int frame_copy(struct hroce_tx_frame *f, const void *src, u32 len,
		      u32 rest)
{
	void *dst;
	u32 n;

	f->copied += len;
	for (; len; len -= n, src += n) {
		n = frame_is_linear(f) ? skb_tailroom(f->skb) : 0;
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

/* How much of an extent one reference to its first page keeps in place. */
static u32 frame_ref_len(const struct hroce_extent *ext, struct page **page,
			 u32 *offset)
{
	struct page *first = ext->page + (ext->offset >> PAGE_SHIFT);
	struct page *head = compound_head(first);

	*page = head;
	*offset = ((first - head) << PAGE_SHIFT) + offset_in_page(ext->offset);
	return min_t(unsigned long, ext->len, page_size(head) - *offset);
}

/*
 * May an extent be referred to? Only if what comes behind it fits into the
 * page frags left, even if that has to be copied.
 */
static bool frame_may_ref(const struct hroce_tx_frame *f,
			  const struct hroce_extent *ext, u32 rest)
{
	u32 frags = 1 + ext->len / PAGE_SIZE + 1;
	struct page *page;
	u32 offset;

	if (ext->va || ext->len < FRAME_REF_MIN || !sendpage_ok(ext->page))
		return false;
	if (frame_ref_len(ext, &page, &offset) == ext->len)
		frags = 1;
	return frags + (rest ? FRAME_COPY_FRAGS : 1) <= frame_frags_left(f);
}

static void frame_ref(struct hroce_tx_frame *f, struct hroce_extent *ext)
{
	struct sk_buff *skb = f->skb;
	struct page *page;
	u32 offset, n;

	frame_sum(f, page_address(ext->page) + ext->offset, ext->len);
	f->joins = false;
	while (ext->len) {
		n = frame_ref_len(ext, &page, &offset);
		get_page(page);
		skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, offset,
				   n);
		skb->len += n;
		skb->data_len += n;
		skb->truesize += n;
		ext->offset += n;
		ext->len -= n;
	}
}

int hroce_tx_frame_payload(struct hroce_tx_frame *f, struct hroce_mem_iter *it,
			   u32 len, bool copy)
{
	struct hroce_extent ext;
	const void *va;
	int err;

	while (len) {
		if (!hroce_mem_next(it, len, &ext))
			return -EFAULT;
		len -= ext.len;
		if (!copy && frame_may_ref(f, &ext, len)) {
			frame_ref(f, &ext);
			continue;
		}
		va = ext.va ?: page_address(ext.page) + ext.offset;
		err = frame_copy(f, va, ext.len, len);
		if (err)
			return err;
	}
	return 0;
}

struct sk_buff *hroce_tx_frame_end(struct hroce_tx_frame *f)
{
	frame_drop_chunk(f);
	return f->skb;
}
