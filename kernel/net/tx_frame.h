/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame under construction: the bytes behind the UDP header, appended one
 * after another, in private memory or as references to pages.
 */
#ifndef HROCE_TX_FRAME_H
#define HROCE_TX_FRAME_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct hroce_mem_iter;

/**
 * struct hroce_tx_frame - frame under construction
 * @skb: the frame
 * @tail: skb that page frags are added to: @skb, or the last one in its
 *	frag_list
 * @shinfo: of @tail
 * @list: @skb may have a frag_list
 * @linear_left: bytes free in the linear part of @skb; 0 from the first page
 *	frag on
 * @chunk: free private memory, used when the linear part is full
 * @chunk_page: head page of @chunk
 * @chunk_left: bytes free at @chunk
 * @unit: bytes of a packet if payload is copied: no chunk ends within one
 * @wanted: bytes that are to be copied, and for which no memory was allocated yet
 * @last: the last page frag, if it ends at @chunk, or NULL
 * @sum: update @state
 * @vector: see hroce_crc_begin(); one section for the whole frame
 * @state: CRC state
 * @copied: payload bytes copied
 */
struct hroce_tx_frame {
	struct sk_buff *skb;
	struct sk_buff *tail;
	struct skb_shared_info *shinfo;
	u32 linear_left;
	u8 *chunk;
	struct page *chunk_page;
	u32 chunk_left;
	u32 unit;
	u32 wanted;
	skb_frag_t *last;
	bool list;
	bool sum;
	bool vector;
	u32 state;
	u32 copied;
};

/**
 * hroce_tx_frame_begin - allocate a frame
 * @f: frame, with @f->list and @f->sum set
 * @headroom: for headers of link layer, IP and UDP
 * @len: bytes to be appended by copying
 * @unit: bytes of each packet, but the last one, that are appended so
 * @frags: the device supports page frags
 *
 * Context: BH disabled.
 * Return: 0 or -ENOMEM.
 */
int hroce_tx_frame_begin(struct hroce_tx_frame *f, u32 headroom, u32 len,
			 u32 unit, bool frags);

/* Account @len more bytes in page frags. */
static inline void hroce_tx_frame_grow(struct hroce_tx_frame *f, u32 len)
{
	f->skb->len += len;
	f->skb->data_len += len;
	if (f->tail != f->skb) {
		f->tail->len += len;
		f->tail->data_len += len;
	}
}

/*
 * The frame has page frags of foreign memory, which the stack must not modify,
 * as in-place decryption would. Segmentation in older kernels checks the head
 * only, in newer ones each skb of the frag_list.
 */
static inline void hroce_tx_frame_share(struct hroce_tx_frame *f)
{
	skb_shinfo(f->skb)->flags |= SKBFL_SHARED_FRAG;
	f->shinfo->flags |= SKBFL_SHARED_FRAG;
}

/* Append a page frag, with a page reference of its own. */
static __always_inline void hroce_tx_frame_add(struct hroce_tx_frame *f,
					       struct page *page, u32 offset,
					       u32 len)
{
	f->linear_left = 0;
	get_page(page);
	__skb_fill_page_desc_noacc(f->shinfo, f->shinfo->nr_frags++, page,
				   offset, len);
}

/* Slow path of hroce_tx_frame_put(): no room at the current position. */
void *hroce_tx_frame_take(struct hroce_tx_frame *f, u32 len);

/**
 * hroce_tx_frame_put - append private memory
 * @f: frame
 * @len: number of bytes, small
 *
 * Return: the memory to be filled in, or NULL.
 */
static inline void *hroce_tx_frame_put(struct hroce_tx_frame *f, u32 len)
{
	void *p = f->chunk;

	if (f->linear_left >= len) {
		f->linear_left -= len;
		return __skb_put(f->skb, len);
	}
	if (!f->last || f->chunk_left < len)
		return hroce_tx_frame_take(f, len);
	skb_frag_size_add(f->last, len);
	hroce_tx_frame_grow(f, len);
	f->chunk += len;
	f->chunk_left -= len;
	return p;
}

/**
 * hroce_tx_frame_holds - has a frame as much memory at its end?
 * @f: frame
 * @len: number of bytes
 *
 * Return: true if hroce_tx_frame_put() cannot fail.
 */
static inline bool hroce_tx_frame_holds(const struct hroce_tx_frame *f, u32 len)
{
	return f->linear_left >= len || (f->last && f->chunk_left >= len);
}

/**
 * hroce_tx_frame_has_room - can there be room for another packet?
 * @f: frame
 *
 * Return: true if hroce_tx_frame_make_room() returns true, unless memory is
 * short.
 */
bool hroce_tx_frame_has_room(const struct hroce_tx_frame *f);

/**
 * hroce_tx_frame_make_room - make room for another packet
 * @f: frame
 *
 * The caller must then append that packet.
 * Return: true if enough page frags are left for any packet.
 */
bool hroce_tx_frame_make_room(struct hroce_tx_frame *f);

/**
 * hroce_tx_frame_prepare - make a frame ready for a packet of a run
 * @f: frame
 * @frags: page frags of the packet behind its BTH, at most MAX_SKB_FRAGS - 1
 *
 * The caller must then append that packet.
 * Return: true if @f->last is set, @f->chunk has room for its BTH and ICRC, and
 * @frags page frags are left.
 */
bool hroce_tx_frame_prepare(struct hroce_tx_frame *f, u32 frags);

/**
 * hroce_tx_frame_payload - append payload
 * @f: frame
 * @it: memory
 * @len: bytes
 * @copy: do not refer to pages
 *
 * Return: 0, -ENOMEM, or -EFAULT: see @it->status.
 */
int hroce_tx_frame_payload(struct hroce_tx_frame *f, struct hroce_mem_iter *it,
			   u32 len, bool copy);

/**
 * hroce_tx_frame_end - complete a frame
 * @f: frame
 *
 * Return: the frame, to be sent or freed by the caller.
 */
struct sk_buff *hroce_tx_frame_end(struct hroce_tx_frame *f);

#endif /* HROCE_TX_FRAME_H */
