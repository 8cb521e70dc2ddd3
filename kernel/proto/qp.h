/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protocol state of one queue pair.
 *
 * The owner holds two locks: the send lock guards @req, the receive lock guards
 * @resp. Attributes change only with both held, and may be read with either.
 * Lock order: receive before send.
 */
#ifndef HRP_QP_H
#define HRP_QP_H

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include "../core/stats.h"
#include "mem.h"
#include "opcode.h"
#include "sq.h"

struct hrp_keep;
struct hrp_pace;
struct hrp_sack;

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
 * Bit numbers of hrp_qp.pending: work that the engine defers to the owner. The
 * owner clears a bit and does the work when it holds no lock.
 */
enum hrp_pending {
	/*
	 * The engine moved the queue pair to ERR. The owner must set that state
	 * again with both locks held, as the requester may have set SQE at the
	 * same moment, and call hrp_req_flush() and hrp_resp_flush(), each with
	 * its lock held.
	 */
	HRP_PENDING_ERROR,
	/* The engine moved it to SQE. The owner must call hrp_req_flush(). */
	HRP_PENDING_SQ_ERROR,
	/* The requester resends packets. */
	HRP_PENDING_RETRANSMIT,
	/* What was lost has arrived. */
	HRP_PENDING_RECOVERED,
	/* The control wants a rate for its window, see pace.h. */
	HRP_PENDING_SPREAD,
	/*
	 * A sequence NAK is held from now on. The owner calls hrp_nak_due() after
	 * hrp_nak_wait_us(), see nak.h.
	 */
	HRP_PENDING_NAK_HELD,
	/* The memory given to hrp_pace_start() is not needed any more. */
	HRP_PENDING_UNPACED,
	/*
	 * No answer has come twice: requests may arrive by another way through
	 * the network, if there is one. Not an event, as the next one.
	 */
	HRP_PENDING_REHASH,
	/* A request came again and again: the same for what answers it. */
	HRP_PENDING_REHASH_ANSWERS,
	/*
	 * The responder holds an ACK, see hrp_resp_is_held(). Not an event: the
	 * engine clears it, too.
	 */
	HRP_PENDING_HELD,
	/* no work either: the peer takes ACKs that join a request, see sack.h */
	HRP_PENDING_JOINS,
	/* Asynchronous events (IBTA 11.6.3). */
	HRP_PENDING_COMM_EST,
	HRP_PENDING_SQ_DRAINED,
	HRP_PENDING_QP_FATAL,
	HRP_PENDING_QP_REQ_ERR,
	HRP_PENDING_QP_ACCESS_ERR,
	HRP_PENDING_LAST_WQE,
	/* First bit for the owner's own use. */
	HRP_PENDING_NR,
};

#define HRP_PENDING_FIRST_EVENT	HRP_PENDING_COMM_EST
#define HRP_PENDING_EVENTS	GENMASK(HRP_PENDING_LAST_WQE, \
					HRP_PENDING_FIRST_EVENT)

/* Bits of hrp_qp.access: operations that the peer may request */
#define HRP_QP_REMOTE_WRITE	(1u << 0)
#define HRP_QP_REMOTE_READ	(1u << 1)
#define HRP_QP_REMOTE_ATOMIC	(1u << 2)
#define HRP_QP_FLUSH_GLOBAL	(1u << 3)
#define HRP_QP_FLUSH_PERSISTENT	(1u << 4)

#define HRP_MAX_RD_ATOMIC	128
#define HRP_BASE_MAX		0xffffu
#define HRP_INFINITE_RNR_RETRY	7

/* So many packets are hardly lost by chance, and all ACKs for them neither. */
#define HRP_MUTE_PKTS		16

/* Purpose of the requester's timer. */
enum hrp_timer {
	HRP_TIMER_OFF,
	HRP_TIMER_ACK,	/* local ACK timeout, 9.7.6.1.3 */
	/* The timers below suspend transmission. */
	HRP_TIMER_RNR,	/* peer asked to wait, 9.7.5.2.8 */
	HRP_TIMER_ROOM,	/* the local stack has refused a frame */
	HRP_TIMER_MEM,	/* local memory is not present; never expires */
};

/* What controls the congestion window of a requester, see cc.h. */
enum hrp_cc {
	HRP_CC_NONE,	/* losses */
	HRP_CC_DELAY,	/* losses and measured delay */
	HRP_CC_DCQCN,	/* losses; marks limit the rate */
	HRP_CC_NR,
	HRP_CC_ADDED = HRP_CC_NR,	/* the owner's, see hrp_cc_add() */
};

/**
 * struct hrp_req - requester and completer; guarded by the send lock
 * @sq: send queue
 * @psn: PSN of the next packet to send
 * @psn_una: oldest PSN that is not acknowledged; equal to @psn_max if none
 * @psn_max: one past the highest PSN ever sent; differs from @psn after going
 *	back
 * @offset: packets of entry @sq.next before @psn
 * @window_pkts: upper limit of @cwnd_pkts, as the owner sets it
 * @window_shift: doublings of that on a long path; of the control
 * @agreed_mtu: bytes of payload in full packets of new requests, as agreed with
 *	the peer, in units of HRP_MTU_UNIT; 0: the path MTU, see mtu.h
 * @mtu_ask: the peer is to be asked for longer packets
 * @mtu_asks: how often that may still be done; set by the owner, up to
 *	HRP_MTU_ASKS
 * @mtu_wait: long messages before that is done again
 * @credited: the peer tells how many receive entries it has
 * @cwnd_pkts: congestion window: limits SEND and WRITE packets in flight, and
 *	response packets requested by READs; see hrp_req_window() and cc.h
 * @cwnd_rest: of the control: if @cc_times, the part of a packet that @cwnd_pkts
 *	lacks, in units of 1/256; otherwise packets acknowledged since it last grew
 * @burst_pkts: most packets that one hrp_req_next() returns; 0: process only
 *	entries that send no packet
 * @burst_idx: lower bits of the index of the entry that the last burst belongs
 *	to
 * @lsn: LSN that the peer has told, if @credited, see e2e.h
 * @unasked_pkts: packets sent since the last request for an acknowledgement,
 *	fewer than REQ_ASK_PKTS
 * @rd_pkts: PSNs in [@psn_una, @psn) taken by responses to READs and atomics
 * @restart_psn: PSN of the last request that resumed a partly answered READ
 * @nr_rd_atomic: READs, atomics, ATOMIC WRITEs and FLUSHes in [@psn_una, @psn),
 *	sent and not complete
 * @max_rd_atomic: limit of @nr_rd_atomic (max_rd_atomic attribute)
 * @timeout: attribute, 5-bit code of the local ACK timeout; 0: infinite
 * @lost_at: when the loss was noticed from which the requester recovers, in units
 *	of 2^15 ns; 0: from none. Wraps after 9 minutes
 * @retry_cnt: attribute
 * @retries: local ACK timeouts left before RETRY_EXC_ERR
 * @rnr_retry: attribute; HRP_INFINITE_RNR_RETRY
 * @rnr_retries: RNR NAKs left before RNR_RETRY_EXC_ERR
 * @rnr_row: RNR NAKs since the last progress, saturating at RNR_ROW_MAX
 * @asks: how often the peer may still be asked for selective acknowledgements;
 *	set by the owner, up to HRP_SACK_ASKS
 * @ask: it is to be asked before anything is resent
 * @backoff: doublings of the retransmission timeout, see rtt.h
 * @went_back: the requester went back, and no packet was acknowledged since
 * @resent: @psn_una was resent because of a loss, at @mark_at: for a round trip,
 *	NAKs of it are ignored
 * @probed: the oldest packet was resent alone, to draw an answer, and none was
 *	acknowledged since
 * @recovering: the peer has reported a gap before @mark_psn
 * @again: @recovering, and some packets have been resent more than once
 * @timing: the packet at @mark_psn, sent at @mark_at, measures the round trip.
 *	Not if @troubled when it was sent
 * @alone: that packet was sent alone, for congestion control
 * @troubled: the next progress has something to restore, of what is described
 *	here as "since the last progress" or "left"; or @recovering
 * @keeps: the peer keeps packets that come after a gap, see hole.c
 * @hole_shift: packets to resend for a gap, as power of two, if @keeps
 * @sparse: how sure it is that gaps are far apart, see hole.c
 * @drained_event: raise SQ_DRAINED once nothing is in flight (state SQD)
 * @mem_oldest: HRP_TIMER_MEM: if set, the response to the oldest entry could
 *	not be placed; otherwise the last burst could not be read
 * @gated: hrp_req_next() takes its slow path: there is no requester, or its rate
 *	is limited
 * @refused: the local stack has refused a frame since the last progress
 * @spray: so many paths are wanted, up to HRP_SPRAY_PATHS, see spray.h; set by the
 *	owner
 * @cc: enum hrp_cc: what controls @cwnd_pkts and the rate
 * @cc_times: the control judges by round-trip times, otherwise by acknowledged
 *	packets
 * @cc_start: the window grows fast, as its limit has not been found yet
 * @cc_over: the last measurement was above the target of the control
 * @cc_waits: the last measurement shows that packets wait
 * @cc_queued: the last two do: there is a queue
 * @cc_told: the peer has told of congestion since the last measurement
 * @timer: enum hrp_timer
 * @timer_ns: @timer is ACK: when it was started; RNR or ROOM: when it expires.
 *	See hrp_req_deadline()
 * @since: the last progress, local ACK timeout, or refusal by the local stack
 *	after progress; in units of 4096 ns, modulo 2^32
 * @srtt8: smoothed round-trip time in units of 128 ns; 0: not measured
 * @rttvar4: its variation in units of 256 ns
 * @eased: since the last measurement, a doubling of @backoff was taken back, or an
 *	answer came sooner than one to the probe
 * @mark_at: see @timing and @resent; in units of 1024 ns, modulo 2^32
 * @mark_psn: see @timing and @recovering; if @went_back without the latter, the
 *	congestion window before that, in packets
 * @rtx_psn: next packet to resend apart from those at @psn
 * @rtx_pkts: how many
 * @pace: state of a rate, see pace.h; NULL if there is none
 * @sack: which packets the peer keeps, see sack.h; NULL until it tells
 */
struct hrp_req {
	struct hrp_sq sq;
	u32 psn;
	u32 psn_una;
	u32 psn_max;
	u32 offset;
	u16 burst_idx;
	u16 lsn;
	u32 rd_pkts:24;
	u32 retry_cnt:4;
	u32 retries:4;
	u32 restart_psn:24;
	u32 max_rd_atomic:8;
	u16 window_pkts:13;
	u16 window_shift:3;
	u8 agreed_mtu;
	u8 mtu_ask:1;
	u8 mtu_asks:2;
	u8 mtu_wait:4;
	u8 credited:1;
	u32 cwnd_pkts;
	u32 since;
	u32 srtt8:28;
	u32 rnr_retries:3;
	u32 ask:1;
	u32 rttvar4:26;
	u32 eased:1;
	u32 alone:1;
	u32 sparse:4;
	u32 mark_at;
	u32 mark_psn:24;
	u32 cwnd_rest:8;
	u32 rtx_psn:24;
	u32 rtx_pkts:7;
	u32 cc_told:1;
	u32 lost_at:24;
	u32 timer:3;
	u32 cc_times:1;
	u32 cc_start:1;
	u32 cc_over:1;
	u32 cc_queued:1;
	u32 cc_waits:1;
	u8 unasked_pkts;
	u8 cc:3;
	u8 spray:5;
	u8 burst_pkts;
	u8 nr_rd_atomic;
	u8 timeout:5;
	u8 hole_shift:3;
	u8 rnr_retry:3;
	u8 rnr_row:3;
	u8 asks:2;
	u8 went_back:1;
	u8 resent:1;
	u8 probed:1;
	u8 recovering:1;
	u8 again:1;
	u8 timing:1;
	u8 troubled:1;
	u8 keeps:1;
	u8 drained_event:1;
	u8 mem_oldest:1;
	u8 gated:1;
	u8 refused:1;
	u8 backoff:4;
	u64 timer_ns;
	struct hrp_pace *pace;
	struct hrp_sack *sack;
};

/**
 * struct hrp_rwqe - private copy of the receive entry in use
 * @wr_id: returned in the completion
 * @length: bytes available, the sum over the SGEs
 * @nr_sges: number of SGEs
 * @least: bytes that the next entry of an SRQ must have to be taken; 0: any
 * @sges: SGEs, up to the limit of the owner's receive queue
 */
struct hrp_rwqe {
	u64 wr_id;
	u64 length;
	u32 nr_sges;
	u32 least;
	struct hroce_sge sges[];
};

/**
 * struct hrp_rdres_rest - a part of an answer that waits
 * @from: next response packet to send
 * @end: one past the last one; equal to @from if nothing waits
 * @replay: answers a duplicate
 * @begun: packets before @from were sent in the same answer
 */
struct hrp_rdres_rest {
	u32 from;
	u32 end:30;
	u32 replay:1;
	u32 begun:1;
};

/* How many of them, for each request; others become one. */
#define HRP_RDRES_RESTS	2

/**
 * struct hrp_rdres - responder resource (READ, atomic, ATOMIC WRITE, FLUSH)
 * @psn: PSN of the request, that of the first response
 * @opcode: enum hrp_op of the request
 * @nr_pkts: response packets; 0: never used
 * @replay: answers a duplicate; the payload is copied
 * @answered: all has been sent before
 * @waits: memory was not present when it was to be sent last
 * @va: READ: start of the requested range
 * @rkey: READ: remote key, checked again for each burst
 * @len: READ: bytes
 * @srqn: XRC: SRQ number of the request
 * @mtu_units: bytes of payload in full responses, in units of HRP_MTU_UNIT
 * @msn: MSN to answer with
 * @first: first response packet of the current answer; not 0 if a duplicate
 *	requested the rest
 * @sent: next response packet to send
 * @sport: UDP source port of the request, see &hrp_resp.follows; 0: not known
 * @end: one past the last response packet of the current answer; equal to @sent
 *	if nothing is left to send
 * @stop: READ: end of the current answer, as an offset in the range
 * @orig: atomic: value before the operation
 * @rest: READ: what is sent after the current answer, which is not complete then
 */
struct hrp_rdres {
	u32 psn:24;
	u32 opcode:8;
	u32 nr_pkts:24;
	u32 replay:1;
	u32 answered:1;
	u32 waits:1;
	u64 va;
	u32 rkey;
	u32 len;
	u32 srqn:24;
	u32 mtu_units:8;
	u32 msn;
	u64 first:24;
	u64 sent:24;
	u64 sport:16;
	u32 end;
	u32 stop;
	union {
		u64 orig;
		struct hrp_rdres_rest rest[HRP_RDRES_RESTS];
	};
};

/* Each queue pair has sixteen of them and more. */
static_assert(sizeof(struct hrp_rdres) == 64);

/**
 * struct hrp_resp - responder; guarded by the receive lock
 * @psn: expected PSN
 * @ack_psn: PSN of the last SEND or WRITE packet accepted. An ACK carries it,
 *	since it must not answer a READ or atomic
 * @msn: messages completed, 24 bits
 * @rwqe: receive entry in use, if @have_rwqe
 * @have_rwqe: @rwqe holds an entry that is not complete
 * @in_msg: HRP_OI_SEND or HRP_OI_WRITE while a message is in progress,
 *	otherwise 0
 * @acked: lower bits of @ack_psn in the last ACK
 * @hold_wait: requests for an ACK left before @hold_max is raised; 0: it stays
 * @offset: bytes of it received so far
 * @write_va: WRITE in progress: address of its first byte
 * @write_rkey: WRITE in progress: remote key
 * @write_len: WRITE in progress: length announced by the RETH
 * @srqn: XRC: SRQ number of the current or last message
 * @srq: receive entries come from an SRQ; set by the owner
 * @nak_step: for how long a sequence NAK is held, see nak.c
 * @nak_trust: how many of the requests that seemed lost only came late, likewise
 * @nak_sent: NAK or RNR NAK sent for @psn, or held; no sequence NAK until progress
 * @nak_held: the sequence NAK for @psn is held
 * @rnr_sent: it was an RNR NAK: the peer resends all, nothing is kept
 * @again: a duplicate that wants an answer has come since @psn changed
 * @kept: @keep is not NULL
 * @ack_due: an ACK of all packets up to @ack_psn is due
 * @comm_est: a first packet has been accepted
 * @last_wqe: LAST_WQE has been raised
 * @keeps: the owner keeps requests that come too early, see keep.h; set by it
 * @sacks: the peer has asked for selective acknowledgements, see sack.h
 * @sacks_later: it takes those whose map begins later than at the missing request
 * @sacks_again: it wants to know which requests have come twice
 * @again_pkts: how many have since it was told, up to 127
 * @follows: it wants answers by the ways of their requests: with the same UDP source
 *	port
 * @mtu_due: the peer is to be told that longer packets were agreed to
 * @rd_wait: memory of the READ at @rd_reply is being fetched; no answer is sent
 *	meanwhile
 * @finishing: error without a NAK: requests before the fault are answered
 * @hold_max: send an ACK for that many packets at once, see hold.c
 * @hold_step: binary logarithm of the next @hold_wait
 * @mem_bad: memory of the request at @mem_psn could not be fetched
 * @nak_due: syndrome of the NAK or RNR NAK that is due; 0 if none is. That of an
 *	ACK: it tells the peer that it will get selective acknowledgements
 * @held: packets to be acknowledged by the ACK that is held; 0: none is
 * @again_psn: @again: lower bits of the PSN of the last of them
 * @keep: requests that came too early; NULL if there are none
 * @mem_psn: PSN of the last request whose memory was not present
 * @own_mtu: the longest payload that this end agrees to, in units of
 *	HRP_MTU_UNIT; 0: it agrees to nothing. Set by the owner
 * @nak_psn: PSN of the NAK that ends the connection, or of a request that has come
 *	twice, or of the one whose NAK is being watched, see nak.c
 * @agreed_mtu: bytes of payload in full packets of the peer that say so, and of
 *	the answers to them, in units of HRP_MTU_UNIT; 0: nothing was agreed
 * @nak_msn: MSN of that NAK
 * @min_rnr_timer: attribute, 5-bit code
 * @max_dest_rd_atomic: responder resources granted to the peer
 * @rd_head: requests with a responder resource accepted, free-running
 * @rd_reply: next one to answer; equal to @rd_head if none is waiting
 * @rd: ring of @nr_rd resources; answered ones are kept to replay duplicates
 * @nr_rd: power of two, at least @max_dest_rd_atomic; 0 if @rd is NULL
 * @burst_pkts: most packets that one hrp_resp_next() returns, 1 to 255
 */
struct hrp_resp {
	u32 psn;
	u32 ack_psn;
	u32 msn;
	u32 offset;
	struct hrp_rwqe *rwqe;
	u64 write_va;
	u32 write_rkey;
	u32 write_len;
	u32 srqn:24;
	u32 srq:1;
	u32 nak_step:3;
	u32 nak_trust:4;
	u16 in_msg;
	u8 acked;
	u8 hold_wait;
	u8 have_rwqe:1;
	u8 nak_sent:1;
	u8 rnr_sent:1;
	u8 kept:1;
	u8 ack_due:1;
	u8 comm_est:1;
	u8 nak_held:1;
	u8 again:1;
	u8 finishing:1;
	u8 hold_max:3;
	u8 hold_step:4;
	u8 rd_wait:1;
	u8 last_wqe:1;
	u8 mem_bad:1;
	u8 keeps:1;
	u8 sacks:1;
	u8 sacks_later:1;
	u8 mtu_due:1;
	u8 follows:1;
	u8 nak_due;
	u8 held;
	u16 again_psn;
	u32 rd_head;
	u32 rd_reply;

	struct hrp_rdres *rd;
	struct hrp_keep *keep;
	u32 mem_psn:24;
	u32 own_mtu:8;
	u32 nak_psn:24;
	u32 agreed_mtu:8;
	u32 nak_msn:24;
	u32 again_pkts:7;
	u32 sacks_again:1;
	u8 nr_rd;
	u8 burst_pkts;
	u8 min_rnr_timer;
	u8 max_dest_rd_atomic;
};

/* If the owner aligns the struct, packets of the peer dirty one cache line. */
static_assert(offsetof(struct hrp_resp, rd) == 64);

/**
 * struct hrp_qp - queue pair
 * @type: enum hrp_type
 * @state: enum hrp_state
 * @access: HRP_QP_*
 * @base_at: when @base_next was begun, in units of 2^32 ns, modulo 2^8. This,
 *	@base and @base_next belong to @req
 * @mtu: path MTU in bytes, a power of two from 256 to 4096. With a peer that is
 *	hroce, packets may be longer, see mtu.h
 * @pkey: P_Key of this queue pair
 * @qpn: own number
 * @dest_qpn: peer (RC, UC, XRC)
 * @gsi: QP1: each send request has its own P_Key
 * @qkey: UD
 * @base: shortest round-trip time of the last period, in units of 1024 ns;
 *	HRP_BASE_MAX: not measured, or longer
 * @base_next: that of the present period
 * @stats: counters of the link, or those that the queue pair is bound to;
 *	changes with both locks held
 * @resp: responder
 * @req: requester
 * @pending: bits of enum hrp_pending, set with either lock held; bits from
 *	HRP_PENDING_NR on belong to the owner
 */
struct hrp_qp {
	u8 type;
	u8 state;
	u8 access;
	u8 base_at;
	u16 mtu;
	u16 pkey;
	u32 qpn;
	u32 dest_qpn:24;
	u32 gsi:1;
	u32 qkey;
	u16 base;
	u16 base_next;
	struct hroce_stats __percpu *stats;
	struct hrp_resp resp;
	struct hrp_req req;
	unsigned long pending;
};

/* Defer work to the owner. Context: either lock held. */
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

/* Are packets acknowledged, and resent if they are not? */
static inline bool hrp_qp_is_reliable(const struct hrp_qp *qp)
{
	return qp->type != HRP_TYPE_UC && qp->type != HRP_TYPE_UD;
}

/* Does the queue pair have a requester and a send queue? */
static inline bool hrp_qp_sends(const struct hrp_qp *qp)
{
	return qp->type != HRP_TYPE_XRC_TGT;
}

/* Does the queue pair have a responder? */
static inline bool hrp_qp_receives(const struct hrp_qp *qp)
{
	return qp->type != HRP_TYPE_XRC_INI;
}

/* Is a timer of the protocol running? Pacing has its own. */
static inline bool hrp_req_has_deadline(const struct hrp_req *req)
{
	return req->timer != HRP_TIMER_OFF && req->timer != HRP_TIMER_MEM;
}

#endif /* HRP_QP_H */
