/* SPDX-License-Identifier: GPL-2.0 */
/* Packets to queue pairs, from frames and from this host. */
#ifndef HROCE_RECV_H
#define HROCE_RECV_H

#include "../net/rx.h"

struct hroce_mem_iter;
struct hroce_port_ops;
struct hroce_qp;

/**
 * struct hroce_recv - packets being received
 * @frame: where they come from
 * @packet: the present one
 * @qp: queue pair of the packets so far, to be settled; NULL: there is none
 * @copies: multicast copies of packets of the frame so far
 * @run: without a frame: packets from the present one on that differ in the PSN
 *	alone
 * @src: without a frame: where the payload is, steady (hroce_mem_is_steady());
 *	else NULL
 */
struct hroce_recv {
	struct hroce_rx_frame *frame;
	struct hroce_rx_packet packet;
	struct hroce_qp *qp;
	u32 copies;
	u32 run;
	const struct hroce_mem_iter *src;
};

/**
 * hroce_recv_packet - a packet arrived
 * @r: its ICRC is not checked yet. If payload of packets behind it is taken,
 *	too, the last of them is the present one then. hroce_qp_settle_bh() of
 *	@r->qp is to follow behind the last packet
 *
 * Context: softirq or BH disabled, in a section, under RCU.
 */
void hroce_recv_packet(struct hroce_recv *r);

extern const struct hroce_port_ops hroce_recv_ops;

#endif /* HROCE_RECV_H */
