/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints at the boundaries of the module: what is posted, received,
 * dropped, sent, sent again and completed. Keyed by QP number and PSN.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hroce

#if !defined(HROCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HROCE_TRACE_H

#include <linux/tracepoint.h>
#include <rdma/hroce-abi.h>
#include "../core/drop.h"
#include "../proto/burst.h"
#include "../proto/pace.h"
#include "../proto/pkt.h"
#include "../proto/psn.h"
#include "../proto/qp.h"
#include "../proto/wait.h"

#ifndef HROCE_TRACE_ONCE
#define HROCE_TRACE_ONCE
/* The name of a reason to drop, as `rdma statistic` has it. */
const char *hroce_trace_drop_name(u32 reason);

/* How often hroce_wait was switched on: what was told before does not count. */
extern u32 hroce_trace_waits;

/* The first one wants to know, and the last one no more. */
int hroce_trace_wait_on(void);
void hroce_trace_wait_off(void);
#endif

TRACE_EVENT(hroce_post,
	TP_PROTO(u32 qpn, const struct hroce_sq_wqe *wqe),
	TP_ARGS(qpn, wqe),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u8, opcode)
		__field(u8, flags)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->wr_id = wqe->wr_id;
		__entry->opcode = wqe->opcode;
		__entry->flags = wqe->flags;
	),
	TP_printk("qpn=%u wr_id=%#llx opcode=%u flags=%#x", __entry->qpn,
		  __entry->wr_id, __entry->opcode, __entry->flags)
);

DECLARE_EVENT_CLASS(hroce_qpn_class,
	TP_PROTO(u32 qpn),
	TP_ARGS(qpn),
	TP_STRUCT__entry(
		__field(u32, qpn)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
	),
	TP_printk("qpn=%u", __entry->qpn)
);

DEFINE_EVENT(hroce_qpn_class, hroce_kick, TP_PROTO(u32 qpn), TP_ARGS(qpn));

DECLARE_EVENT_CLASS(hroce_pkt_class,
	TP_PROTO(const struct hrp_pkt *pkt),
	TP_ARGS(pkt),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, len)
		__field(u8, opcode)
		__field(u8, syndrome)
	),
	TP_fast_assign(
		__entry->qpn = pkt->dqpn;
		__entry->psn = pkt->psn;
		__entry->len = pkt->payload_len;
		__entry->opcode = pkt->opcode;
		__entry->syndrome = pkt->syndrome;
	),
	TP_printk("qpn=%u psn=%#x opcode=%#x len=%u syndrome=%#x",
		  __entry->qpn, __entry->psn, __entry->opcode, __entry->len,
		  __entry->syndrome)
);

DEFINE_EVENT(hroce_pkt_class, hroce_rx,
	     TP_PROTO(const struct hrp_pkt *pkt), TP_ARGS(pkt));

TRACE_EVENT(hroce_drop,
	TP_PROTO(const struct hrp_pkt *pkt, u32 reason),
	TP_ARGS(pkt, reason),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, opcode)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->qpn = pkt->dqpn;
		__entry->psn = pkt->psn;
		__entry->opcode = pkt->opcode;
		__entry->reason = reason;
	),
	TP_printk("qpn=%u psn=%#x opcode=%#x reason=%s", __entry->qpn,
		  __entry->psn, __entry->opcode,
		  hroce_trace_drop_name(__entry->reason))
);

TRACE_EVENT(hroce_tx,
	TP_PROTO(u32 qpn, const struct hrp_burst *b),
	TP_ARGS(qpn, b),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, dqpn)
		__field(u32, psn)
		__field(u32, nr_pkts)
		__field(u32, len)
		__field(u8, opcode)
		__field(u8, syndrome)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->dqpn = b->first.dqpn;
		__entry->psn = b->first.psn;
		__entry->nr_pkts = b->nr_pkts;
		__entry->len = b->mem.len;
		__entry->opcode = b->first.opcode;
		__entry->syndrome = b->first.syndrome;
	),
	TP_printk("qpn=%u dqpn=%u psn=%#x opcode=%#x packets=%u len=%u syndrome=%#x",
		  __entry->qpn, __entry->dqpn, __entry->psn, __entry->opcode,
		  __entry->nr_pkts, __entry->len, __entry->syndrome)
);

DECLARE_EVENT_CLASS(hroce_req_class,
	TP_PROTO(const struct hrp_qp *qp),
	TP_ARGS(qp),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn_una)
		__field(u32, psn)
		__field(u32, cwnd_pkts)
		__field(u32, rtt_us)
		__field(u8, timer)
		__field(u8, retries)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->psn_una = qp->req.psn_una;
		__entry->psn = qp->req.psn;
		__entry->cwnd_pkts = qp->req.cwnd_pkts;
		__entry->rtt_us = ((u64)qp->req.srtt8 << 7) / NSEC_PER_USEC;
		__entry->timer = qp->req.timer;
		__entry->retries = qp->req.retries;
	),
	TP_printk("qpn=%u psn_una=%#x psn=%#x window=%u rtt=%uus timer=%s retries=%u",
		  __entry->qpn, __entry->psn_una, __entry->psn,
		  __entry->cwnd_pkts, __entry->rtt_us,
		  __print_symbolic(__entry->timer, { HRP_TIMER_OFF, "off" },
				   { HRP_TIMER_ACK, "ack" },
				   { HRP_TIMER_RNR, "rnr" },
				   { HRP_TIMER_MEM, "mem" }),
		  __entry->retries)
);

/* The timer fired; it may be early, and is then armed anew. */
DEFINE_EVENT(hroce_req_class, hroce_timeout,
	     TP_PROTO(const struct hrp_qp *qp), TP_ARGS(qp));

/* The requester resends what was lost, once for several packets. */
DEFINE_EVENT(hroce_req_class, hroce_retransmit,
	     TP_PROTO(const struct hrp_qp *qp), TP_ARGS(qp));

/* All that was in flight when the first loss was noticed has arrived. */
DEFINE_EVENT(hroce_req_class, hroce_recovered,
	     TP_PROTO(const struct hrp_qp *qp), TP_ARGS(qp));

/* No answer came, or after a pause: packets take another way, from this UDP source port. */
TRACE_EVENT(hroce_rehash,
	TP_PROTO(u32 qpn, bool answer, u16 sport),
	TP_ARGS(qpn, answer, sport),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(bool, answer)
		__field(u16, sport)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->answer = answer;
		__entry->sport = sport;
	),
	TP_printk("qpn=%u %s sport=%u", __entry->qpn,
		  __entry->answer ? "answers" : "requests", __entry->sport)
);

/* Packets go to the other one of two addresses of the peer. */
TRACE_EVENT(hroce_reroute,
	TP_PROTO(u32 qpn, bool answer, bool second),
	TP_ARGS(qpn, answer, second),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(bool, answer)
		__field(bool, second)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->answer = answer;
		__entry->second = second;
	),
	TP_printk("qpn=%u %s way=%u", __entry->qpn,
		  __entry->answer ? "answers" : "requests",
		  1 + __entry->second)
);

/* The peer has told of congestion; what its control allows from now on. */
TRACE_EVENT(hroce_cnp,
	TP_PROTO(const struct hrp_qp *qp),
	TP_ARGS(qp),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, cwnd_pkts)
		__field(u32, rate_kbps)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->cwnd_pkts = qp->req.cwnd_pkts;
		__entry->rate_kbps = qp->req.pace ?
				     qp->req.pace->control_kbps : 0;
	),
	TP_printk("qpn=%u window=%u rate=%ukbps", __entry->qpn,
		  __entry->cwnd_pkts, __entry->rate_kbps)
);

/*
 * The requester has sent what it may, or has been answered and need not run, and
 * waits for something else from now on: for what, by the name that `rdma
 * resource` has for it, and what that depends on.
 */
TRACE_EVENT_FN(hroce_wait,
	TP_PROTO(const struct hrp_qp *qp, enum hrp_wait wait),
	TP_ARGS(qp, wait),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, cwnd_pkts)
		__field(u32, in_flight)
		__field(u32, rtt_us)
		__field(u32, rate_kbps)
		__array(char, waits_for, HRP_WAIT_NAME_LEN)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->cwnd_pkts = qp->req.cwnd_pkts;
		__entry->in_flight = hrp_psn_diff(qp->req.psn_max,
						  qp->req.psn_una);
		__entry->rtt_us = ((u64)qp->req.srtt8 << 7) / NSEC_PER_USEC;
		__entry->rate_kbps = qp->req.pace ?
				     qp->req.pace->own.rate_kbps : 0;
		strscpy(__entry->waits_for, hrp_wait_name(wait),
			HRP_WAIT_NAME_LEN);
	),
	TP_printk("qpn=%u waits_for=%s window=%u in_flight=%u rtt=%uus rate=%ukbps",
		  __entry->qpn, __entry->waits_for, __entry->cwnd_pkts,
		  __entry->in_flight, __entry->rtt_us, __entry->rate_kbps),
	hroce_trace_wait_on, hroce_trace_wait_off
);

TRACE_EVENT(hroce_complete,
	TP_PROTO(const struct hroce_cqe *cqe),
	TP_ARGS(cqe),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u32, len)
		__field(u8, opcode)
		__field(u8, status)
		__field(u8, cause)
	),
	TP_fast_assign(
		__entry->qpn = cqe->qpn;
		__entry->wr_id = cqe->wr_id;
		__entry->len = cqe->byte_len;
		__entry->opcode = cqe->opcode;
		__entry->status = cqe->status;
		__entry->cause = cqe->vendor_err;
	),
	TP_printk("qpn=%u wr_id=%#llx opcode=%u status=%u cause=%#x len=%u",
		  __entry->qpn, __entry->wr_id, __entry->opcode,
		  __entry->status, __entry->cause, __entry->len)
);

/* The CPU of this one is the one that calls the completion handler. */
TRACE_EVENT(hroce_cq_event,
	TP_PROTO(u32 cqn, int cpu),
	TP_ARGS(cqn, cpu),
	TP_STRUCT__entry(
		__field(u32, cqn)
		__field(int, cpu)
	),
	TP_fast_assign(
		__entry->cqn = cqn;
		__entry->cpu = cpu;
	),
	TP_printk("cqn=%u vector_cpu=%d", __entry->cqn, __entry->cpu)
);

TRACE_EVENT(hroce_qp_state,
	TP_PROTO(u32 qpn, u8 from, u8 to),
	TP_ARGS(qpn, from, to),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("qpn=%u state=%u->%u", __entry->qpn, __entry->from,
		  __entry->to)
);

/* Much was queued below a link, @kb of it by @qpn, see net/microburst.c. */
TRACE_EVENT(hroce_microburst,
	TP_PROTO(int ifindex, u64 begin_ns, u64 length_ns, u32 peak_kb,
		 u32 qpn, u32 kb),
	TP_ARGS(ifindex, begin_ns, length_ns, peak_kb, qpn, kb),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u64, begin_ns)
		__field(u64, length_ns)
		__field(u32, peak_kb)
		__field(u32, qpn)
		__field(u32, kb)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->begin_ns = begin_ns;
		__entry->length_ns = length_ns;
		__entry->peak_kb = peak_kb;
		__entry->qpn = qpn;
		__entry->kb = kb;
	),
	TP_printk("ifindex=%d begin=%llu length=%lluns peak=%uKB qpn=%u of_that=%uKB",
		  __entry->ifindex, __entry->begin_ns, __entry->length_ns,
		  __entry->peak_kb, __entry->qpn, __entry->kb)
);

#endif /* HROCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
