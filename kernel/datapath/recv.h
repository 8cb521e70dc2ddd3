/* SPDX-License-Identifier: GPL-2.0 */
/* Packets to queue pairs, from frames and from this host. */
#ifndef HROCE_RECV_H
#define HROCE_RECV_H

#include "../net/rx.h"

#include "qp.h"

struct hroce_mem_iter;
struct hroce_port_ops;

/* No number: they have 24 bits. */
#define HROCE_RECV_NOBODY	U32_MAX

/**
 * struct hroce_recv - packets being received
 * @frame: frame of the packets
 * @packet: the current packet
 * @qp: queue pair of the last packet, has work pending; or NULL
 * @qpn: number that it was found by, or HROCE_RECV_NOBODY
 * @rare: look at marks, or at the way by which packets come
 * @copies: multicast copies of packets of the frame so far
 * @run: without a frame: number of packets from the current one on that differ
 *	in the PSN only
 * @src: without a frame: the payload, steady (hroce_mem_is_steady()); else NULL
 */
struct hroce_recv {
	struct hroce_rx_frame *frame;
	struct hroce_rx_packet packet;
	struct hroce_qp *qp;
	u32 qpn;
	bool rare;
	u32 copies;
	u32 run;
	const struct hroce_mem_iter *src;
};

/**
 * hroce_recv_begin - begin to receive packets
 * @r: all but @r->frame, @r->packet and @r->run are set
 * @qp: queue pair of packets before, which has work pending; or NULL
 * @src: the payload if there is no frame; else NULL
 */
static inline void hroce_recv_begin(struct hroce_recv *r, struct hroce_qp *qp,
				    const struct hroce_mem_iter *src)
{
	r->qp = qp;
	r->qpn = qp ? qp->proto.qpn : HROCE_RECV_NOBODY;
	r->rare = qp && READ_ONCE(qp->second);
	r->src = src;
	r->copies = 0;
}

/**
 * hroce_recv_packet - receive a packet
 * @r: packet whose ICRC is not checked yet. If payload of following packets is
 *	taken, too, the current packet is set to the last of them. The caller
 *	must call hroce_qp_run_pending_bh() for @r->qp after the last packet
 *
 * Context: softirq or BH disabled, in an epoch, under RCU.
 */
void hroce_recv_packet(struct hroce_recv *r);

/**
 * hroce_recv_kept - process the kept requests whose turn it is
 * @qp: queue pair that has kept requests
 *
 * As many as this epoch may; a tasklet does the rest.
 * Context: softirq or BH disabled, in an epoch, @qp->recv.lock held, and not
 * @qp->dead; hroce_qp_run_pending_bh() follows.
 */
void hroce_recv_kept(struct hroce_qp *qp);

/**
 * hroce_recv_answers - process the kept answers whose turn it is, if there are any
 * @qp: queue pair
 *
 * As many as this epoch may; a tasklet does the rest.
 * Context: softirq or BH disabled, in an epoch, @qp->send.lock held, and not
 * @qp->dead; hroce_qp_run_pending_bh() follows.
 */
void hroce_recv_answers(struct hroce_qp *qp);

extern const struct hroce_port_ops hroce_recv_ops;

#endif /* HROCE_RECV_H */
