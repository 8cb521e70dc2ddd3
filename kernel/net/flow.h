/* SPDX-License-Identifier: GPL-2.0 */
/* Path to one peer: addresses, route, header fields, back-pressure. */
#ifndef HROCE_FLOW_H
#define HROCE_FLOW_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <net/dst_cache.h>

struct hroce_flow_queue;
struct hroce_port;
struct sk_buff;

/**
 * struct hroce_flow_key - address vector
 * @saddr: source, IPv4 mapped
 * @daddr: destination, IPv4 mapped; may be multicast
 * @flow_label: 20 bits (IPv6)
 * @sport: UDP source port
 * @tclass: TOS or traffic class, ECN bits included
 * @hop_limit: TTL or hop limit; 0 means the default
 * @sl: service level, limited to those the owner may use; becomes skb->priority
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
 * struct hroce_flow - path to one peer
 * @port: port of the link
 * @key: addresses and header fields
 * @dst: cached route, per CPU; always empty if the flow does not cache it
 * @ip_id: next IPv4 identification; each packet of a super-packet takes one
 * @queue: accounts queued frames, which refer to it and may outlive the flow;
 *	NULL if no frame is charged to this flow
 * @wake: called in any context but hard interrupt, under RCU, when enough
 *	queued frames have been freed after hroce_flow_full() returned true, or
 *	as requested by hroce_flow_await_refs(); NULL if no frame is charged to
 *	this flow
 */
struct hroce_flow {
	struct hroce_port *port;
	struct hroce_flow_key key;
	struct dst_cache dst;
	atomic_t ip_id;
	struct hroce_flow_queue *queue;
	void (*wake)(struct hroce_flow *flow);
};

/**
 * hroce_flow_init - initialise a flow
 * @flow: zeroed, except @flow->wake
 * @port: link
 * @key: address vector
 * @cached: cache the route; else look it up for each frame
 * @gfp: allocation flags; address handles may be created in atomic context
 *
 * The first transmission looks the route up. A cache takes per-CPU memory,
 * which is scarce for atomic allocations.
 * Context: as @gfp allows.
 * Return: 0, -ENOMEM, -EAFNOSUPPORT.
 */
int hroce_flow_init(struct hroce_flow *flow, struct hroce_port *port,
		    const struct hroce_flow_key *key, bool cached, gfp_t gfp);

/**
 * hroce_flow_update - change the address vector (path migration, modify AH)
 * @flow: initialised, not in use by a transmitter
 * @key: new address vector
 */
void hroce_flow_update(struct hroce_flow *flow,
		       const struct hroce_flow_key *key);

/**
 * hroce_flow_fini - counterpart of hroce_flow_init()
 * @flow: no transmitter uses it any more
 *
 * Does not wait for frames that are still queued. After return @flow->wake is
 * not running and will not be called.
 * Context: process, may sleep.
 */
void hroce_flow_fini(struct hroce_flow *flow);

/**
 * hroce_flow_full - should the sender pause?
 * @flow: flow
 *
 * Return: true if enough bytes are queued below this layer; @flow->wake is then
 * called once later.
 */
bool hroce_flow_full(struct hroce_flow *flow);

/**
 * hroce_flow_lost - the requester retransmits
 * @flow: flow
 *
 * For FLOW_LOST_TIME, frames have an ICRC even if they seem to stay on this
 * host.
 * Context: any.
 */
void hroce_flow_lost(struct hroce_flow *flow);

/**
 * hroce_flow_is_peer - does a packet come from the peer of a flow?
 * @flow: flow
 * @saddr: source of the packet, IPv4 mapped
 * @daddr: its destination, IPv4 mapped
 *
 * Return: true if it does.
 */
bool hroce_flow_is_peer(const struct hroce_flow *flow,
			const struct in6_addr *saddr,
			const struct in6_addr *daddr);

/**
 * hroce_flow_refer - announce requests that refer to memory
 * @flow: flow that frames are charged to
 * @fresh: no frame is open
 * @mark: position of the requests, opaque to the flow
 *
 * Frames of requests that refer to memory are counted in two alternating
 * phases. A new phase begins here if all frames of the phase before the current
 * one have been freed.
 *
 * Context: only sender of requests, not concurrent with
 * hroce_flow_refs_begin().
 */
void hroce_flow_refer(struct hroce_flow *flow, bool fresh, u32 mark);

/**
 * hroce_flow_refs_begin - find the oldest requests that frames refer to
 * @flow: flow that frames are charged to
 * @open: requests of the last hroce_flow_refer() may not be in a frame yet
 * @end: mark behind all requests
 *
 * Return: mark at the start of the oldest phase that still has frames, else
 * @end. No frame refers to memory of requests before the mark.
 */
u32 hroce_flow_refs_begin(const struct hroce_flow *flow, bool open, u32 end);

/**
 * hroce_flow_has_refs - does a frame refer to memory of a region?
 * @flow: flow that frames are charged to
 *
 * Return: true if one does, for a request or a READ response.
 */
bool hroce_flow_has_refs(const struct hroce_flow *flow);

/**
 * hroce_flow_await_refs - request a wake-up when frames are freed
 * @flow: flow that frames are charged to
 *
 * Calls @flow->wake once, when the last frame of a phase is freed. The caller
 * must check again after this call: either it sees that, or the destructor sees
 * the request.
 */
void hroce_flow_await_refs(struct hroce_flow *flow);

/* The rest is for net/ only. */

/**
 * hroce_flow_elides - may the next frame omit the ICRC?
 * @flow: flow that frames are charged to
 * @daddr: destination of the frame
 *
 * Return: true if the link allows it and frames of this flow recently arrived
 * on this host.
 */
bool hroce_flow_elides(const struct hroce_flow *flow,
		       const struct in6_addr *daddr);

/**
 * hroce_flow_is_idle - have all its frames been freed?
 * @flow: flow
 *
 * Return: true if so; frames to this host have then been received.
 */
bool hroce_flow_is_idle(const struct hroce_flow *flow);

/**
 * hroce_flow_charge - account a frame until it is freed
 * @flow: flow
 * @skb: complete frame
 * @elided: it has no ICRC; its ip_summed must be CHECKSUM_PARTIAL
 * @answer: count its references to memory as those of READ responses
 */
void hroce_flow_charge(struct hroce_flow *flow, struct sk_buff *skb,
		       bool elided, bool answer);

/**
 * hroce_flow_trusts - was a received frame sent on this host without ICRC?
 * @skb: frame
 * @daddr: its destination, IPv4 mapped
 *
 * If the frame was sent on this host, also marks the sender's flow as local.
 * Return: true if it was, and the frame is known to be unmodified.
 */
bool hroce_flow_trusts(const struct sk_buff *skb,
		       const struct in6_addr *daddr);

/* Wait until no frame refers to this module. Context: process, sleeps. */
void hroce_flow_drain(void);

#endif /* HROCE_FLOW_H */
