/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bursts: runs of consecutive packets to send, of one message, or of several of
 * one packet each. net/ builds frames from them.
 */
#ifndef HRP_BURST_H
#define HRP_BURST_H

#include "mem.h"
#include "pkt.h"
#include "psn.h"
#include "qp.h"

/**
 * struct hrp_burst - consecutive packets of one message, or messages
 * @first: headers of the first packet; payload_len, pad, ackreq and se are not
 *	set, nor are fields of headers that the opcode does not have
 * @mem: payload of all packets together; @mem.len may be 0
 * @nr_pkts: 1 or more
 * @mtu: payload bytes of every packet but the last; a multiple of 4, unless
 *	@msgs is set
 * @op_middle: opcode of the packets between the first and the last
 * @op_last: opcode of the last packet, if @nr_pkts is not 1
 * @ackreq_last: the last packet requests an acknowledgement
 * @se_last: the last packet has the solicited event bit
 * @msgs: NULL; or a train: each packet is a message of its own, whose entry of
 *	the send queue is @mem.stride bytes behind that of the one before, from
 *	this on. All have the same opcode and length, are sent for the first
 *	time, and @mem has a piece for each
 * @copy: copy the payload instead of referring to its pages, since its owner
 *	may be allowed to change it before the frame has left
 * @ah: address handle (UD)
 * @more: hint: requests known to be posted, or answers due, behind this burst
 *
 * A packet with IMM, INV or AETH in its opcode takes these fields from @first.
 * RETH and AtomicETH are on the first packet only. In a train, each packet has
 * the headers of its entry.
 */
struct hrp_burst {
	struct hrp_pkt first;
	struct hrp_mem mem;
	const struct hroce_sq_wqe *msgs;
	u32 nr_pkts;
	u32 mtu;
	u8 op_middle;
	u8 op_last;
	bool ackreq_last;
	bool se_last;
	bool copy;
	u32 ah;
	u32 more;
};

/* What a message of a train takes of the room of its sender, beside its payload. */
#define HRP_TRAIN_FRAME_LEN	1024u

/* Bytes that a burst takes of the room of its sender. */
static inline u32 hrp_burst_room(const struct hrp_burst *b)
{
	return b->nr_pkts * (b->mtu + (b->msgs ? HRP_TRAIN_FRAME_LEN : 0));
}

/**
 * hrp_burst_begin - initialize a burst
 * @b: set to one packet without payload to the connected peer; the caller sets
 *	the fields that the opcode or more packets need in addition
 * @qp: queue pair
 * @opcode: BTH opcode of the first packet
 * @psn: PSN of the first packet
 */
static inline void hrp_burst_begin(struct hrp_burst *b, const struct hrp_qp *qp,
				   u8 opcode, u32 psn)
{
	struct hrp_pkt *first = &b->first;

	first->info = hrp_opcode_info(opcode);
	first->psn = psn;
	first->dqpn = qp->dest_qpn;
	first->pkey = qp->pkey;
	first->opcode = opcode;
	first->migreq = 1;
	first->cn = 0;
	first->longer = 0;
	first->syndrome = 0;
	hrp_mem_begin(&b->mem);
	b->msgs = NULL;
	b->nr_pkts = 1;
	b->mtu = qp->mtu;
	b->ackreq_last = 0;
	b->se_last = 0;
	b->copy = 0;
	b->more = 0;
}

/**
 * hrp_burst_set_entry - fields of headers that an entry has of its own
 * @pkt: packet of its message
 * @wqe: checked copy of the entry
 */
static inline void hrp_burst_set_entry(struct hrp_pkt *pkt,
				       const struct hroce_sq_wqe *wqe)
{
	pkt->va = wqe->rdma.remote_addr;
	pkt->rkey = wqe->rdma.rkey;
	pkt->imm = (__force __be32)wqe->imm_data;
	pkt->inv_rkey = wqe->imm_data;
	pkt->srqn = wqe->srqn;
}

/**
 * hrp_burst_set_msg - the same of a message of a train
 * @b: burst with @b->msgs
 * @i: 0 to @b->nr_pkts - 1
 * @pkt: packet of another one
 */
static inline void hrp_burst_set_msg(const struct hrp_burst *b, u32 i,
				     struct hrp_pkt *pkt)
{
	hrp_burst_set_entry(pkt, (const void *)b->msgs +
				 (size_t)i * b->mem.stride);
}

/**
 * hrp_burst_pkt - headers of one packet of a burst
 * @b: burst
 * @i: 0 to @b->nr_pkts - 1
 * @pkt: filled in, complete with payload_len and pad
 */
void hrp_burst_pkt(const struct hrp_burst *b, u32 i, struct hrp_pkt *pkt);

/**
 * hrp_burst_cut - leave out the packets that are in frames
 * @b: burst, of which the next packet cannot be sent
 * @nr_pkts: how many, fewer than @b has
 *
 * hrp_req_sent() must follow: RC and XRC resume behind them, UC sends the message
 * again. Or hrp_resp_sent(): what is sent again, or refused, begins behind them.
 */
static inline void hrp_burst_cut(struct hrp_burst *b, u32 nr_pkts)
{
	b->first.psn = hrp_psn_add(b->first.psn, nr_pkts);
	b->nr_pkts -= nr_pkts;
}

/**
 * hrp_burst_run - count packets of one message that differ only in the PSN
 * @b: burst
 * @i: 0 to @b->nr_pkts - 1
 *
 * Return: number of such packets from @i on, including @i.
 */
u32 hrp_burst_run(const struct hrp_burst *b, u32 i);

#endif /* HRP_BURST_H */
