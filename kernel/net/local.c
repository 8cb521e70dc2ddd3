// SPDX-License-Identifier: GPL-2.0
/*
 * Delivery on this host: the receiver is called for each packet of a burst as
 * if it had come in a frame, but there is none, and the payload is copied from
 * the sender's memory to the receiver's. All else is as on the wire: headers
 * are built and parsed, and what they ask for is checked and answered.
 *
 * The receiver answers before the call returns, and its answers are delivered
 * in the same way, so calls nest. Beyond the nesting limit packets are sent in
 * frames, which the softirq delivers later.
 */
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>

#include "../mem/iter.h"
#include "../proto/burst.h"
#include "flow.h"
#include "headers.h"
#include "local.h"
#include "port.h"
#include "route.h"
#include "rx.h"

/* A request, and its answer. */
#define LOCAL_MAX_DEPTH	2

static DEFINE_PER_CPU(unsigned int, local_depth);

bool hroce_local_may(const struct hroce_flow *sender,
		     const struct hroce_route *route,
		     const struct hroce_mem_iter *it)
{
	return route->to && READ_ONCE(sender->port->local) &&
	       netif_running(route->dev) &&
	       this_cpu_read(local_depth) < LOCAL_MAX_DEPTH &&
	       hroce_flow_is_idle(sender) && hroce_mem_is_steady(it);
}

/* Describe packet @rx->seg of the burst as rx.c does for one of a frame. */
static void local_load(struct hroce_rx *rx, struct hroce_headers *hdr,
		       const struct hrp_burst *b)
{
	u32 hdr_len;

	hrp_burst_pkt(b, rx->seg, &rx->pkt);
	hdr_len = hrp_pkt_build(&rx->pkt, rx->bth);
	rx->len = hdr_len + rx->pkt.payload_len + rx->pkt.pad + HRW_ICRC_LEN;
	hrp_pkt_parse(&rx->pkt, rx->bth, hdr_len, rx->len);
	hroce_headers_set(hdr, rx->len, 0);
	rx->run = hrp_burst_run(b, rx->seg);
}

void hroce_local_deliver(const struct hroce_flow *flow,
			 const struct hroce_route *route,
			 struct hroce_headers *hdr, const struct hrp_burst *b,
			 struct hroce_mem_iter *it, void **held)
{
	struct hroce_rx rx = {
		.port = route->to,
		.saddr = flow->key.saddr,
		.daddr = flow->key.daddr,
		.ipv6 = route->ipv6,
		.trusted = true,
		.held = *held,
		.src = it,
		.l3 = hdr->bytes,
	};
	u32 end;

	this_cpu_inc(local_depth);
	do {
		local_load(&rx, hdr, b);
		hroce_rx_packet(&rx);
		/* It may have taken more than one, or none of the payload. */
		end = min(++rx.seg * b->mtu, b->mem.len);
		hroce_mem_skip(it, it->left - (b->mem.len - end));
	} while (rx.seg < b->nr_pkts);
	this_cpu_dec(local_depth);

	*held = rx.held;
	hroce_port_stat_add(flow->port, HROCE_EV_TX_PACKETS, b->nr_pkts);
	hroce_port_stat_add(flow->port, HROCE_EV_TX_LOCAL, b->nr_pkts);
	hroce_port_stat_add(flow->port, HROCE_EV_TX_BYTES, b->mem.len);
	hroce_port_stat_add(route->to, HROCE_EV_RX_PACKETS, b->nr_pkts);
}

void hroce_local_end(void *held)
{
	this_cpu_inc(local_depth);
	hroce_rx_end(held);
	this_cpu_dec(local_depth);
}
