/* SPDX-License-Identifier: GPL-2.0 */
/* One way to one peer: addresses, route, neighbour, header fields. */
#ifndef HROCE_FLOW_H
#define HROCE_FLOW_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <net/dst_cache.h>

struct hroce_port;

/**
 * struct hroce_flow_key - what the address vector says
 * @saddr: source, IPv4 mapped
 * @daddr: destination, IPv4 mapped; may be multicast
 * @flow_label: 20 bits (IPv6)
 * @sport: UDP source port
 * @tclass: TOS or traffic class, ECN bits included
 * @hop_limit: TTL or hop limit
 * @sl: service level; becomes skb->priority
 */
struct hroce_flow_key {
	struct in6_addr saddr;
	struct in6_addr daddr;
	u32 flow_label;
	u16 sport;
	u8 tclass;
	u8 hop_limit;
	u8 sl;
};

/**
 * struct hroce_flow - one way to one peer
 * @port: the link
 * @key: addresses and header fields
 * @dst: route, per CPU
 * @ip_id: next IPv4 identification; each packet of a super-packet takes one
 * @queued: bytes handed to the network and not yet freed
 * @wake: called, in any context but hard interrupt, when @queued falls below
 *	@queued_low after hroce_flow_full() said true; may be NULL
 * @full: hroce_flow_full() said true since the last @wake
 */
struct hroce_flow {
	struct hroce_port *port;
	struct hroce_flow_key key;
	struct dst_cache dst;
	atomic_t ip_id;
	atomic_t queued;
	atomic_t full;
	void (*wake)(struct hroce_flow *flow);
};

/**
 * hroce_flow_init - set a flow up
 * @flow: zeroed
 * @port: link
 * @key: address vector
 *
 * The route is looked up by the first transmission.
 * Context: process, may sleep. Return: 0, -ENOMEM, -EAFNOSUPPORT.
 */
int hroce_flow_init(struct hroce_flow *flow, struct hroce_port *port,
		    const struct hroce_flow_key *key);

/**
 * hroce_flow_update - change the address vector (path migration, modify AH)
 * @flow: initialised, not in use by a transmitter now
 * @key: new address vector
 */
void hroce_flow_update(struct hroce_flow *flow,
		       const struct hroce_flow_key *key);

/**
 * hroce_flow_fini - counterpart of hroce_flow_init()
 * @flow: no transmitter uses it any more
 *
 * Waits until its frames are freed, since they refer to @flow.
 * Context: process, may sleep.
 */
void hroce_flow_fini(struct hroce_flow *flow);

/**
 * hroce_flow_full - should the sender stop for now?
 * @flow: flow
 *
 * Return: true if so many bytes are queued below that more would only grow
 * queues; @flow->wake is then called once later.
 */
bool hroce_flow_full(struct hroce_flow *flow);

/**
 * hroce_flow_is_peer - does a packet come from where the flow goes to?
 * @flow: flow
 * @saddr: source of the packet, IPv4 mapped
 * @daddr: its destination, IPv4 mapped
 */
bool hroce_flow_is_peer(const struct hroce_flow *flow,
			const struct in6_addr *saddr,
			const struct in6_addr *daddr);

#endif /* HROCE_FLOW_H */
