// SPDX-License-Identifier: GPL-2.0
/*
 * Delivery on this host: the receiver is called for each packet of a burst, as
 * for a packet of a frame. But neither frame nor headers are built, and the
 * payload is copied from the sender's memory to the receiver's. All else is as on
 * the wire: packets are checked and answered.
 *
 * The receiver responds before the call returns, and its responses are
 * delivered in the same way, so calls nest. Beyond the nesting limit packets
 * are sent in frames, which the softirq delivers later.
 */
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>

#include "../mem/iter.h"
#include "../net/path.h"
#include "../net/port.h"
#include "../net/tx.h"
#include "local.h"
#include "qp.h"
#include "recv.h"

/* A request, and its response. */
#define LOCAL_MAX_DEPTH	2

static DEFINE_PER_CPU(unsigned int, local_depth);

bool hroce_local_may(const struct hroce_tx *tx, const struct hroce_mem_iter *it)
{
	return READ_ONCE(tx->sender->port->local) &&
	       netif_running(tx->route.dev) &&
	       this_cpu_read(local_depth) < LOCAL_MAX_DEPTH &&
	       hroce_path_is_idle(tx->sender, !tx->keep_order) &&
	       hroce_mem_is_steady(it);
}

/* Load the next packet as hroce_rx_next() does from a frame. */
static void local_load(struct hroce_recv *r, const struct hrp_burst *b)
{
	struct hroce_rx_packet *p = &r->packet;
	u32 index = r->frame->next++;

	hrp_burst_pkt(b, index, &p->pkt);
	hrp_pkt_as_received(&p->pkt);
	p->len = hrp_opcode_hdr_len(p->pkt.info) + p->pkt.payload_len +
		 p->pkt.pad + HRW_ICRC_LEN;
	hroce_headers_set(&r->frame->hdr, p->len, 0);
	r->run = hrp_burst_run(b, index);
}

void hroce_local_deliver(const struct hroce_tx *tx, const struct hrp_burst *b,
			 struct hroce_mem_iter *it, struct hroce_qp **receiver)
{
	struct hroce_rx_frame frame __uninitialized;
	struct hroce_recv r __uninitialized;
	u32 wire = 0, before, end;

	frame.port = tx->route.to;
	frame.skb = NULL;
	frame.xdp = NULL;
	frame.saddr = tx->path->key.saddr;
	frame.daddr = tx->path->key.daddr;
	frame.mcast = false;
	frame.trusted = true;
	frame.ce = false;
	frame.super = false;
	frame.joined = false;
	frame.hdr = tx->hdr;
	frame.next = 0;
	r.frame = &frame;
	hroce_recv_begin(&r, *receiver, it);
	frame.stats = r.qp ? READ_ONCE(r.qp->proto.stats) : frame.port->stats;

	this_cpu_inc(local_depth);
	do {
		before = frame.next;
		local_load(&r, b);
		hroce_recv_packet(&r);
		wire += (frame.next - before) *
			(r.packet.len + hroce_headers_len(&frame.hdr));
		/* The receiver may take several packets, or no payload. */
		end = min(frame.next * b->mtu, b->mem.len);
		hroce_mem_skip(it, it->left - (b->mem.len - end));
	} while (frame.next < b->nr_pkts);
	this_cpu_dec(local_depth);

	*receiver = r.qp;
	hroce_stats_add(tx->stats, HROCE_EV_TX_PACKETS, b->nr_pkts);
	hroce_stats_add(tx->stats, HROCE_EV_TX_LOCAL, b->nr_pkts);
	hroce_stats_add(tx->stats, HROCE_EV_TX_BYTES, b->mem.len);
	hroce_stats_add(tx->stats, HROCE_EV_TX_WIRE, wire);
	hroce_stats_add(frame.stats, HROCE_EV_RX_PACKETS, b->nr_pkts);
	hroce_stats_add(frame.stats, HROCE_EV_RX_WIRE, wire);
}

void hroce_local_end(struct hroce_qp *receiver)
{
	this_cpu_inc(local_depth);
	hroce_qp_run_pending_bh(receiver);
	this_cpu_dec(local_depth);
}
