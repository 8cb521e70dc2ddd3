/* SPDX-License-Identifier: GPL-2.0 */
/* One way to one peer: addresses, route, header fields, back-pressure. */
#ifndef HROCE_FLOW_H
#define HROCE_FLOW_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <net/dst_cache.h>

struct hroce_flow_queue;
struct hroce_port;
struct sk_buff;

/**
 * struct hroce_flow_key - what the address vector says
 * @saddr: source, IPv4 mapped
 * @daddr: destination, IPv4 mapped; may be multicast
 * @flow_label: 20 bits (IPv6)
 * @sport: UDP source port
 * @tclass: TOS or traffic class, ECN bits included
 * @hop_limit: TTL or hop limit; 0 means the default
 * @sl: service level, as far as the owner may have it; becomes skb->priority
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
 * @dst: route, per CPU; empty and stays so if the flow is not to have it
 * @ip_id: next IPv4 identification; each packet of a super-packet takes one
 * @queue: what is queued below; frames refer to it and may outlive the flow.
 *	NULL if no frame is charged to this flow
 * @wake: called, in any context but hard interrupt and under RCU, when enough
 *	of what was queued is gone after hroce_flow_full() said true, or as
 *	hroce_flow_await_refs() says; NULL if no frame is charged to this flow
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
 * hroce_flow_init - set a flow up
 * @flow: zeroed, but for @flow->wake
 * @port: link
 * @key: address vector
 * @cached: keep the route; else it is looked up for each frame
 * @gfp: address handles are created in atomic context too
 *
 * The route is looked up by the first transmission. To keep it takes memory of
 * each CPU, which there is little of for those who may not sleep.
 * Context: as @gfp says.
 * Return: 0, -ENOMEM, -EAFNOSUPPORT.
 */
int hroce_flow_init(struct hroce_flow *flow, struct hroce_port *port,
		    const struct hroce_flow_key *key, bool cached, gfp_t gfp);

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
 * Does not wait for frames that are still queued somewhere. After return
 * @flow->wake is not running and will not be called.
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
 * hroce_flow_lost - the requester goes back
 * @flow: flow
 *
 * For a while, frames have an ICRC even if they seem to stay on this host.
 * Context: any.
 */
void hroce_flow_lost(struct hroce_flow *flow);

/**
 * hroce_flow_is_peer - does a packet come from where the flow goes to?
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
 * hroce_flow_refer - requests are about to be sent that refer to memory
 * @flow: flow that frames are charged to
 * @fresh: no frame is open
 * @mark: position of the requests; means something to the caller alone
 *
 * Frames of requests that refer to memory are counted in two phases, which
 * alternate. A phase begins here if no frame of the phase before last is left.
 *
 * Context: by the only sender of requests, not concurrent with
 * hroce_flow_refs_begin().
 */
void hroce_flow_refer(struct hroce_flow *flow, bool fresh, u32 mark);

/**
 * hroce_flow_refs_begin - where do requests begin that frames refer to?
 * @flow: flow that frames are charged to
 * @open: some of the last hroce_flow_refer() may not be in a frame yet
 * @end: mark behind all requests
 *
 * Return: mark at the beginning of the oldest phase that still has frames, or
 * @end: no frame refers to memory of requests before it.
 */
u32 hroce_flow_refs_begin(const struct hroce_flow *flow, bool open, u32 end);

/**
 * hroce_flow_has_refs - is there a frame that refers to memory of a region?
 * @flow: flow that frames are charged to
 *
 * Return: true if there is, of requests or of READ responses.
 */
bool hroce_flow_has_refs(const struct hroce_flow *flow);

/**
 * hroce_flow_await_refs - be woken when frames are freed
 * @flow: flow that frames are charged to
 *
 * @flow->wake is called once, when no frame of a phase is left. The caller looks
 * again afterwards: either it finds that, or the destructor sees this request.
 */
void hroce_flow_await_refs(struct hroce_flow *flow);

/* The rest is for net/ only. */

/**
 * hroce_flow_elides - may the next frame go without ICRC?
 * @flow: flow that frames are charged to
 * @daddr: where the frame goes to
 *
 * Return: true if the link allows it and frames of this flow have lately
 * arrived on this same host.
 */
bool hroce_flow_elides(const struct hroce_flow *flow,
		       const struct in6_addr *daddr);

/**
 * hroce_flow_is_idle - is none of its frames on the way?
 * @flow: flow
 *
 * Return: true if all have been freed, and so received if they were to be
 * received here.
 */
bool hroce_flow_is_idle(const struct hroce_flow *flow);

/**
 * hroce_flow_charge - account a frame until it is freed
 * @flow: flow
 * @skb: complete frame
 * @elided: it has no ICRC; its ip_summed must be CHECKSUM_PARTIAL
 * @answer: what it refers to is counted as memory of READ responses
 */
void hroce_flow_charge(struct hroce_flow *flow, struct sk_buff *skb,
		       bool elided, bool answer);

/**
 * hroce_flow_trusts - is a received frame one of this host without ICRC?
 * @skb: frame
 * @daddr: its destination, IPv4 mapped
 *
 * Tells the sender, if it is on this host, that its frame never left it.
 * Return: true if it is known to be as it was sent.
 */
bool hroce_flow_trusts(const struct sk_buff *skb,
		       const struct in6_addr *daddr);

/* Wait until no frame refers to this module. Context: process, sleeps. */
void hroce_flow_drain(void);

#endif /* HROCE_FLOW_H */
