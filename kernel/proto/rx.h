/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Handling of a received packet in two steps, so that its payload can be
 * placed and its ICRC checked in one pass.
 *
 *	hrp_xxx_begin()		decides, changes nothing
 *	check ICRC		first, unless @fuse is set
 *	place payload		into @mem, if @mem.len is not 0; with @fuse the
 *				ICRC is computed on the way
 *	hrp_xxx_commit()	acts; left out if the ICRC was wrong
 *
 * @fuse is set only where the destination comes from the state of the QP, so
 * that a corrupted packet can only touch bytes that its retransmission
 * rewrites before they are reported.
 */
#ifndef HRP_RX_H
#define HRP_RX_H

#include "mem.h"

/* Decision of hrp_xxx_begin(). */
enum hrp_verdict {
	HRP_RX_DROP,	/* count @drop, do not commit */
	HRP_RX_ACCEPT,
	HRP_RX_DUPLICATE,
	HRP_RX_NAK,	/* answer with @syndrome */
	HRP_RX_IGNORE,	/* neither error nor progress; commit counts it */
	HRP_RX_KEEP,	/* came too early, see keep.h and ahead.h */
	HRP_RX_GO_BACK,	/* completer: response is missing, ask again */
	HRP_RX_FAIL,	/* completer: end the oldest request with @status */
};

/**
 * struct hrp_rx - decision about one packet
 * @verdict: enum hrp_verdict
 * @fuse: payload may be placed while the ICRC is computed
 * @grh: UD: the 40 bytes in front of @mem, at offset 0 of the receive entry,
 *	take the network header; @mem.offset is then 40
 * @hold: responder: the ACK may be held; the caller sets it before the commit
 * @syndrome: NAK: AETH syndrome
 * @status: enum hroce_cause for NAK or FAIL; IGNORE: of the receive entry in
 *	use, which ends, or 0
 * @drop: DROP: enum hroce_stat
 * @skip_pkts: completer: PSNs before this response that it acknowledges
 * @more: ACCEPT: following packets that may be merged with this one if they
 *	differ only in the PSN (see hrp_bth_follows()); their payload continues
 *	that of this one in @mem
 * @nr_pkts: packets to commit; 1 unless the caller merged some of @more
 * @mem: destination of the payload of this packet; its length is 0 if there is
 *	nothing to place. In front of the first packet of a WRITE, all of
 *	@mem.one must be checked. The payload of an ATOMIC WRITE must be written
 *	atomically. For an ATOMIC_ACK it takes the 8 bytes of &hrp_pkt.orig, in
 *	host order, instead of payload. @fuse is not set for either
 */
struct hrp_rx {
	u8 verdict;
	bool fuse;
	bool grh;
	bool hold;
	u8 syndrome;
	u8 status;
	u16 drop;
	u32 skip_pkts;
	u32 more;
	u32 nr_pkts;
	struct hrp_mem mem;
};

/**
 * hrp_rx_begin - initialize a decision
 * @rx: set to drop one packet; the caller sets @rx->drop, or another verdict
 *	and the fields that it or @rx->mem.len need in addition
 */
static inline void hrp_rx_begin(struct hrp_rx *rx)
{
	rx->verdict = HRP_RX_DROP;
	rx->fuse = 0;
	rx->grh = 0;
	rx->hold = 0;
	rx->syndrome = 0;
	rx->status = 0;
	rx->drop = 0;
	rx->skip_pkts = 0;
	rx->more = 0;
	rx->nr_pkts = 1;
	hrp_mem_begin(&rx->mem);
}

#endif /* HRP_RX_H */
