/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A frame under construction: the bytes behind the UDP header, appended one
 * after another, in private memory or as references to pages.
 */
#ifndef HROCE_TX_FRAME_H
#define HROCE_TX_FRAME_H

#include <linux/types.h>

struct hroce_mem_iter;
struct sk_buff;

/**
 * struct hroce_tx_frame - frame under construction
 * @skb: what there is so far
 * @chunk: where private memory goes on when the linear part is full
 * @chunk_left: bytes free at @chunk
 * @joins: the last page frag ends at @chunk
 * @used: a page frag holds the reference that came with the memory of @chunk
 * @sum: continue @state
 * @vector: see hroce_crc_begin()
 * @state: CRC state
 * @copied: payload bytes copied
 */
struct hroce_tx_frame {
	struct sk_buff *skb;
	u8 *chunk;
	u32 chunk_left;
	bool joins;
	bool used;
	bool sum;
	bool vector;
	u32 state;
	u32 copied;
};

/**
 * hroce_tx_frame_begin - allocate
 * @f: zeroed
 * @headroom: for headers of link layer, IP and UDP
 * @len: bytes that are going to be put by copying
 * @frags: the device takes page frags
 *
 * Context: BH disabled.
 * Return: 0 or -ENOMEM.
 */
int hroce_tx_frame_begin(struct hroce_tx_frame *f, u32 headroom, u32 len,
			 bool frags);

/**
 * hroce_tx_frame_put - append private memory
 * @f: frame
 * @len: bytes, few
 *
 * Return: the memory to be filled in, or NULL.
 */
void *hroce_tx_frame_put(struct hroce_tx_frame *f, u32 len);

/**
 * hroce_tx_frame_room - may another packet be appended?
 * @f: frame
 *
 * Return: true if there are page frags left for one whatever its memory is.
 */
bool hroce_tx_frame_room(const struct hroce_tx_frame *f);

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
 * hroce_tx_frame_end - no more is to be appended
 * @f: frame
 *
 * Return: the frame, to be sent or freed by the caller.
 */
struct sk_buff *hroce_tx_frame_end(struct hroce_tx_frame *f);

#endif /* HROCE_TX_FRAME_H */
