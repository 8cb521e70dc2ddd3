/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of one queue pair, as far as the protocol is concerned.
 *
 * The owner holds two locks: the send lock guards @req, the receive lock
 * guards @resp. Attributes change only with both held, and may be read with
 * either. Lock order: receive before send.
 */
#ifndef HRP_QP_H
#define HRP_QP_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include "../stats.h"
#include "mem.h"
#include "opcode.h"
#include "sq.h"

struct hrp_pace;

enum hrp_type {
	HRP_TYPE_RC,
	HRP_TYPE_UC,
	HRP_TYPE_UD,	/* and GSI */
	HRP_TYPE_XRC_INI,	/* sends only */
	HRP_TYPE_XRC_TGT,	/* receives only, into SRQs that packets name */
};

/* The numbers are those of enum ib_qp_state. */
enum hrp_state {
	HRP_RESET,
	HRP_INIT,
	HRP_RTR,
	HRP_RTS,
	HRP_SQD,
	HRP_SQE,
	HRP_ERR,
};

/*
 * Bit numbers of hrp_qp.pending: what the engine leaves to the owner, who
 * clears a bit and does what it says when no lock is held.
 */
enum hrp_pending {
	/*
	 * The engine has put the queue pair into the error state: @state is ERR,
	 * or SQE. The owner sees to it that, with the right locks,
	 * hrp_req_flush() and (ERR) hrp_resp_flush() run.
	 */
	HRP_PENDING_ERROR,
	/* The requester has gone back. */
	HRP_PENDING_RETRANSMIT,
	/* Asynchronous events (IBTA 11.6.3). */
	HRP_PENDING_COMM_EST,
	HRP_PENDING_SQ_DRAINED,
	HRP_PENDING_QP_FATAL,
	HRP_PENDING_QP_REQ_ERR,
	HRP_PENDING_QP_ACCESS_ERR,
	HRP_PENDING_LAST_WQE,
	/* From here on bits are the owner's. */
	HRP_PENDING_NR,
};

#define HRP_PENDING_FIRST_EVENT	HRP_PENDING_COMM_EST
#define HRP_PENDING_EVENTS	GENMASK(HRP_PENDING_LAST_WQE, \
					HRP_PENDING_FIRST_EVENT)

/* Bits of hrp_qp.access: what the peer may do */
#define HRP_QP_REMOTE_WRITE	(1u << 0)
#define HRP_QP_REMOTE_READ	(1u << 1)
#define HRP_QP_REMOTE_ATOMIC	(1u << 2)
#define HRP_QP_FLUSH_GLOBAL	(1u << 3)
#define HRP_QP_FLUSH_PERSISTENT	(1u << 4)

#define HRP_MAX_RD_ATOMIC	128
#define HRP_INFINITE_RNR_RETRY	7

/* Purpose of the requester's timer. */
enum hrp_timer {
	HRP_TIMER_OFF,
	HRP_TIMER_ACK,	/* local ACK timeout, 9.7.6.1.3 */
	/* From here on nothing is sent meanwhile. */
	HRP_TIMER_RNR,	/* peer asked to wait, 9.7.5.2.8 */
	HRP_TIMER_ROOM,	/* the local stack has refused a frame */
	HRP_TIMER_MEM,	/* own memory is not there; this one never expires */
};

/**
 * struct hrp_req - requester and completer; guarded by the send lock
 * @sq: send queue
 * @psn: PSN of the next packet to send
 * @psn_una: oldest PSN that is not acknowledged; equal to @psn_max if none
 * @psn_max: one after the highest PSN ever sent; differs from @psn after
 *	going back
 * @offset: packets of entry @sq.next already sent (this time round)
 * @window_pkts: upper limit of @cwnd_pkts
 * @cwnd_pkts: congestion window: most packets of SEND and WRITE in flight, and
 *	most response packets that READs have asked for; see hrp_req_window()
 * @grow_pkts: packets acknowledged since the congestion window grew last
 * @burst_pkts: most packets that one hrp_req_next() returns; 0: what needs none
 *	is done
 * @burst_idx: entry that the last burst belongs to
 * @unasked_pkts: packets sent since the last request for an acknowledgement
 * @rd_pkts: PSNs in [@psn_una, @psn) that are those of responses to READs and
 *	atomics
 * @restart_psn: PSN of the last READ request that asked again for the rest
 * @nr_rd_atomic: READs, atomics and the like in [@psn_una, @psn), sent and not
 *	complete
 * @max_rd_atomic: most of them at a time (max_rd_atomic attribute)
 * @retry_cnt: attribute
 * @retries: timeouts and sequence NAKs left before RETRY_EXC_ERR
 * @rnr_retry: attribute; HRP_INFINITE_RNR_RETRY
 * @rnr_retries: RNR NAKs left before RNR_RETRY_EXC_ERR
 * @rnr_row: RNR NAKs since the last progress, up to a maximum
 * @went_back: a sequence NAK or implied NAK was acted on, and nothing has been
 *	acknowledged since: further ones for the same PSN change nothing
 * @drained_event: raise SQ_DRAINED once nothing is in flight (state SQD)
 * @mem_oldest: HRP_TIMER_MEM: the oldest entry cannot place what was answered;
 *	otherwise it is the last burst that could not be read
 * @gated: packets do not simply go: there is no requester, or it is paced
 * @refused: the local stack has refused a frame since the last progress
 * @timer: enum hrp_timer
 * @timeout_ns: local ACK timeout; 0: infinite
 * @deadline_ns: when hrp_req_timeout() is to be called, if @timer is ACK, RNR
 *	or ROOM. See hrp_req_deadline()
 * @refused_at: when that was, in units of 1024 ns, modulo 2^32
 * @pace: paces the requester; NULL: nothing does
 */
struct hrp_req {
	struct hrp_sq sq;
	u32 psn;
	u32 psn_una;
	u32 psn_max;
	u32 offset;
	u32 window_pkts;
	u32 cwnd_pkts;
	u32 burst_pkts;
	u32 burst_idx;
	u32 unasked_pkts;
	u32 rd_pkts;
	u32 restart_psn;
	u32 nr_rd_atomic;
	u32 max_rd_atomic;
	u32 refused_at;
	u8 grow_pkts;
	u8 retry_cnt;
	u8 retries;
	u8 rnr_retry;
	u8 rnr_retries;
	u8 rnr_row;
	u8 went_back:1;
	u8 drained_event:1;
	u8 mem_oldest:1;
	u8 gated:1;
	u8 refused:1;
	u8 timer;
	u64 timeout_ns;
	u64 deadline_ns;
	struct hrp_pace *pace;
};

/**
 * struct hrp_rwqe - private copy of the receive entry in use
 * @wr_id: returned in the completion
 * @length: room for the message, the sum over the pieces
 * @nr_sges: pieces
 * @sges: pieces; as many as the owner's receive queue allows
 */
struct hrp_rwqe {
	u64 wr_id;
	u64 length;
	u32 nr_sges;
	struct hroce_sge sges[];
};

/**
 * struct hrp_rdres - responder resource of one READ, atomic or the like
 * @psn: PSN of the request, that of the first response
 * @nr_pkts: response packets; 0: never used
 * @va: READ: start of what was asked for
 * @rkey: READ: remote key, checked anew with each burst
 * @len: READ: bytes
 * @srqn: XRC: SRQ that the request has named
 * @msn: MSN to answer with
 * @orig: atomic: value before the operation
 * @first: response packet that the present answer began with; not 0 if a
 *	duplicate asked for the rest
 * @sent: next response packet to send
 * @end: one after the last response packet of the present answer; @sent is
 *	equal to it if nothing is left to send
 * @stop: READ: bytes of @len that the present answer goes up to
 * @opcode: enum hrp_op of the request
 * @replay: answers a duplicate; resends are copied
 */
struct hrp_rdres {
	u32 psn;
	u32 nr_pkts;
	u64 va;
	u32 rkey;
	u32 len;
	u32 srqn;
	u64 orig;
	u32 msn;
	u32 first;
	u32 sent;
	u32 end;
	u32 stop;
	u8 opcode;
	u8 replay;
};

/**
 * struct hrp_resp - responder; guarded by the receive lock
 * @psn: expected PSN
 * @ack_psn: PSN of the last SEND or WRITE packet accepted: what a plain
 *	acknowledgement names, as it must not answer a READ or atomic
 * @msn: messages completed, 24 bits
 * @mem_psn: of the last request whose memory was not there
 * @rwqe: receive entry in use, if @have_rwqe
 * @have_rwqe: @rwqe holds an entry that is not complete
 * @in_msg: 0, or HRP_OI_SEND or HRP_OI_WRITE: a message has begun, not ended
 * @offset: bytes of it received so far
 * @write_va: WRITE in progress: address of its first byte
 * @write_rkey: WRITE in progress: remote key
 * @write_len: WRITE in progress: length announced by the RETH
 * @srqn: XRC: SRQ that the present, or last, message has named
 * @nak_sent: sequence NAK sent for @psn; no further one until progress
 * @ack_due: an acknowledgement of @ack_psn and everything before is to be sent
 * @comm_est: a first packet has been accepted
 * @srq: receive entries come from an SRQ; set by the owner
 * @last_wqe: LAST_WQE has been raised
 * @rd_wait: memory of the READ at @rd_reply is being fetched: nothing is
 *	answered
 * @finishing: in error without a NAK: what came before the fault is answered
 * @mem_bad: the memory that the request at @mem_psn is for cannot be fetched
 * @nak_due: 0, or the NAK or RNR syndrome to be sent
 * @nak_psn: PSN that it refers to
 * @nak_msn: MSN that it carries
 * @min_rnr_timer: attribute, 5-bit code
 * @max_dest_rd_atomic: responder resources granted to the peer
 * @rd_head: READs, atomics and the like accepted, free-running
 * @rd_reply: the next one to answer; rd_reply == rd_head: none is waiting
 * @rd: ring of @nr_rd resources, the last ones kept to replay duplicates
 * @nr_rd: power of two, at least @max_dest_rd_atomic; 0 if @rd is NULL
 * @burst_pkts: most packets that one hrp_resp_next() returns, at least 1
 */
struct hrp_resp {
	u32 psn;
	u32 ack_psn;
	u32 msn;
	u32 mem_psn;
	struct hrp_rwqe *rwqe;
	u64 write_va;
	u32 offset;
	u32 write_rkey;
	u32 write_len;
	u32 srqn;
	u32 in_msg;
	u8 have_rwqe:1;
	u8 nak_sent:1;
	u8 ack_due:1;
	u8 comm_est:1;
	u8 srq:1;
	u8 last_wqe:1;
	u8 rd_wait:1;
	u8 mem_bad:1;
	u8 finishing:1;
	u8 nak_due;
	u32 rd_head;
	u32 rd_reply;

	struct hrp_rdres *rd;
	u32 nr_rd;
	u32 burst_pkts;
	u32 nak_psn;
	u32 nak_msn;
	u8 min_rnr_timer;
	u8 max_dest_rd_atomic;
};

/* Where the owner aligns it, packets of the peer write to one cache line. */
static_assert(offsetof(struct hrp_resp, rd) == 64);

/**
 * struct hrp_qp - queue pair
 * @type: enum hrp_type
 * @state: enum hrp_state
 * @access: HRP_QP_*
 * @mtu_shift: path MTU in bytes as power of two, 8 to 12
 * @pkey: P_Key of this queue pair
 * @gsi: QP1: each request says with which P_Key it is sent
 * @qpn: own number
 * @dest_qpn: peer (RC, UC, XRC)
 * @qkey: UD
 * @stats: of the link, or those that the queue pair is bound to; change
 *	with both locks held
 * @resp: responder
 * @req: requester
 * @pending: bits of enum hrp_pending, set with either lock held. The owner has
 *	those from HRP_PENDING_NR on
 */
struct hrp_qp {
	u8 type;
	u8 state;
	u8 access;
	u8 mtu_shift;
	u16 pkey;
	u8 gsi;
	u32 qpn;
	u32 dest_qpn;
	u32 qkey;
	struct hroce_stats __percpu *stats;
	struct hrp_resp resp;
	struct hrp_req req;
	unsigned long pending;
};

/* Leave something to the owner. Context: either lock held. */
static inline void hrp_set_pending(struct hrp_qp *qp, enum hrp_pending what)
{
	set_bit(what, &qp->pending);
}

/* Context: either lock held. */
static inline void hrp_count(const struct hrp_qp *qp, enum hroce_stat stat)
{
	hroce_stats_add(qp->stats, stat, 1);
}

/* Upper three bits of the opcodes that the queue pair sends and receives. */
static inline u8 hrp_qp_service(const struct hrp_qp *qp)
{
	static const u8 services[] = {
		[HRP_TYPE_RC] = HRP_SVC_RC,
		[HRP_TYPE_UC] = HRP_SVC_UC,
		[HRP_TYPE_UD] = HRP_SVC_UD,
		[HRP_TYPE_XRC_INI] = HRP_SVC_XRC,
		[HRP_TYPE_XRC_TGT] = HRP_SVC_XRC,
	};

	return services[qp->type];
}

/* Is what is sent acknowledged, and sent again if it is not? */
static inline bool hrp_qp_is_reliable(const struct hrp_qp *qp)
{
	return qp->type != HRP_TYPE_UC && qp->type != HRP_TYPE_UD;
}

/* Is there a requester, and with it a send queue? */
static inline bool hrp_qp_sends(const struct hrp_qp *qp)
{
	return qp->type != HRP_TYPE_XRC_TGT;
}

/* Is there a responder? */
static inline bool hrp_qp_receives(const struct hrp_qp *qp)
{
	return qp->type != HRP_TYPE_XRC_INI;
}

/* Does the timer of the protocol run, whether or not pacing has one, too? */
static inline bool hrp_req_has_deadline(const struct hrp_req *req)
{
	return req->timer != HRP_TIMER_OFF && req->timer != HRP_TIMER_MEM;
}

/* Bytes of payload in a full packet. */
static inline u32 hrp_qp_mtu(const struct hrp_qp *qp)
{
	return 1u << qp->mtu_shift;
}

#endif /* HRP_QP_H */
