/* SPDX-License-Identifier: GPL-2.0 */
/* Path to one peer: addresses, route, header fields, back-pressure. */
#ifndef HROCE_PATH_H
#define HROCE_PATH_H

#include <linux/atomic.h>
#include <linux/in6.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>

struct hroce_path_queue;
struct hroce_port;
struct hroce_route_known;
struct sk_buff;

/**
 * struct hroce_path_key - address vector
 * @saddr: source, IPv4 mapped
 * @daddr: destination, IPv4 mapped; may be multicast
 * @flow_label: 20 bits (IPv6)
 * @sport: UDP source port
 * @tclass: TOS or traffic class; its ECN bits are not used
 * @hop_limit: TTL or hop limit; 0 means the default
 * @sl: service level, up to HROCE_MAX_SL
 * @priority: skb->priority, see hroce_class_priority()
 * @static_rate: enum ib_rate; the owner of a requester obeys it
 */
struct hroce_path_key {
	struct in6_addr saddr;
	struct in6_addr daddr;
	u32 flow_label;
	u16 sport;
	u8 tclass;
	u8 hop_limit;
	u8 sl;
	u8 priority;
	u8 static_rate;
};

struct hroce_resend;

/**
 * struct hroce_path - path to one peer
 * @port: port of the link
 * @key: addresses and header fields
 * @sport: UDP source port of requests and answers, at first that of @key;
 *	networks choose between equal paths by it
 * @known: the route that was looked up last, one for all CPUs; NULL: it is looked
 *	up for each frame
 * @sprays: requests take several paths: their sender sets @sport for each frame
 * @ect: what is sent is ECN-capable: its sender reacts to marks; requests that
 *	are sent again if need be, and the rest, of which acknowledgements are not
 * @single: send single packets, see suspect.h; requests and answers
 * @watched: a super-packet is watched, see suspect.h; requests and answers
 * @queue: accounts queued frames, which refer to it and may outlive the path;
 *	NULL if no frame is charged to this path
 * @wake: called in any context but hard interrupt, under RCU, when enough
 *	queued frames have been freed after hroce_path_room() returned 0, or
 *	as requested by hroce_path_await_refs(); NULL if no frame is charged to
 *	this path
 */
struct hroce_path {
	struct hroce_port *port;
	struct hroce_path_key key;
	u16 sport[2];
	struct hroce_route_known *known;
	struct hroce_path_queue *queue;
	void (*wake)(struct hroce_path *path);
	bool sprays;
	bool ect[2];
	bool single[2];
	bool watched[2];
};

/**
 * hroce_path_init - initialise a path
 * @path: zeroed, except @path->wake
 * @port: link
 * @key: address vector
 * @cached: cache the route; else look it up for each frame
 * @gfp: allocation flags; address handles may be created in atomic context
 *
 * The first transmission looks the route up.
 * Context: as @gfp allows.
 * Return: 0, -ENOMEM, -EAFNOSUPPORT.
 */
int hroce_path_init(struct hroce_path *path, struct hroce_port *port,
		    const struct hroce_path_key *key, bool cached, gfp_t gfp);

/**
 * hroce_path_update - change the address vector (path migration, modify AH)
 * @path: initialised, not in use by a transmitter
 * @key: new address vector
 */
void hroce_path_update(struct hroce_path *path,
		       const struct hroce_path_key *key);

/**
 * hroce_path_draw_sport - draw a UDP source port
 * @old: which it must not be
 *
 * Return: a port of those for RoCEv2.
 */
u16 hroce_path_draw_sport(u16 old);

/**
 * hroce_path_rehash - take another way through the network
 * @path: path
 * @answer: READ responses and acknowledgements, else requests
 *
 * Draws a new UDP source port, so that routers and bonds which choose between
 * equal paths by it are likely to choose another one. For requests, the route of
 * this host is looked up anew, too.
 * Context: sender of that side, no frame is open.
 */
void hroce_path_rehash(struct hroce_path *path, bool answer);

/**
 * hroce_path_label - IPv6 flow label
 * @path: path
 * @answer: of READ responses and acknowledgements, else of requests
 *
 * Return: that of the key, or after hroce_path_rehash() one that
 * rdma_flow_label_to_udp_sport() turns into the new port, as some networks look
 * at the label alone.
 */
static inline u32 hroce_path_label(const struct hroce_path *path, bool answer)
{
	u16 sport = READ_ONCE(path->sport[answer]);

	if (likely(sport == path->key.sport))
		return path->key.flow_label;
	return sport - IB_ROCE_UDP_ENCAP_VALID_PORT_MIN;
}

/**
 * hroce_path_fini - counterpart of hroce_path_init()
 * @path: no transmitter uses it any more
 *
 * Does not wait for frames that are still queued. After return @path->wake is
 * not running and will not be called.
 * Context: process, may sleep.
 */
void hroce_path_fini(struct hroce_path *path);

/**
 * hroce_path_room - how much may the sender send?
 * @path: path
 * @answer: READ responses and acknowledgements, else requests
 * @open: bytes of a frame that is not charged yet
 *
 * Context: sender of that side, in an epoch.
 * Return: bytes, and at least one packet; or 0 if enough is queued below this
 * layer. @path->wake is then called once later, and the sender is to ask again
 * at hroce_path_late_ns() at the latest.
 */
u32 hroce_path_room(struct hroce_path *path, bool answer, u32 open);

/**
 * hroce_path_late_ns - when should a sender that pauses ask again?
 * @path: path that frames are charged to
 *
 * Return: time in ns; 0 if no sender pauses.
 */
u64 hroce_path_late_ns(const struct hroce_path *path);

/**
 * hroce_path_waits - has the sender paused?
 * @path: path that frames are charged to
 *
 * Return: true between the hroce_path_room() that returned 0 and @path->wake.
 */
bool hroce_path_waits(const struct hroce_path *path);

/**
 * hroce_path_is_queued - are frames queued below this layer?
 * @path: path that frames are charged to
 *
 * Return: true if a frame of either side has not been freed yet.
 */
bool hroce_path_is_queued(const struct hroce_path *path);

/**
 * hroce_path_lost - the requester retransmits
 * @path: path
 *
 * For PATH_LOST_TIME, or longer if that recurs, frames have an ICRC even if they
 * seem to stay on this host.
 * Context: any.
 */
void hroce_path_lost(struct hroce_path *path);

/**
 * hroce_path_resends - the sender resends
 * @path: path
 * @answer: READ responses, else requests
 * @resend: what it knows; the first answer is a READ response
 *
 * Detects netdevs that spoil super-packets.
 * Context: sender of that side.
 */
void hroce_path_resends(struct hroce_path *path, bool answer,
			const struct hroce_resend *resend);

/**
 * hroce_path_watch - a super-packet is sent
 * @path: path whose @watched is clear for that side
 * @answer: READ responses, else requests
 * @psn: of its first packet, which takes no other PSN
 *
 * Context: sender of that side.
 */
void hroce_path_watch(struct hroce_path *path, bool answer, u32 psn);

/**
 * hroce_path_unwatch - what is resent tells nothing
 * @path: path
 * @answer: READ responses, else requests
 *
 * Context: sender of that side.
 */
void hroce_path_unwatch(struct hroce_path *path, bool answer);

/**
 * hroce_path_arrived - packets have arrived
 * @path: path
 * @answer: READ responses, else requests
 * @psn: all packets before this one have arrived
 *
 * Context: sender of that side.
 */
void hroce_path_arrived(struct hroce_path *path, bool answer, u32 psn);

/**
 * hroce_path_choose - set @single for the next run
 * @path: path
 * @answer: READ responses, else requests
 * @psn: what is sent first
 *
 * Context: sender of that side.
 */
void hroce_path_choose(struct hroce_path *path, bool answer, u32 psn);

/**
 * hroce_path_is_peer - does a packet come from the peer of a path?
 * @path: path
 * @saddr: source of the packet, IPv4 mapped
 * @daddr: its destination, IPv4 mapped
 *
 * Return: true if it does.
 */
static inline bool hroce_path_is_peer(const struct hroce_path *path,
				      const struct in6_addr *saddr,
				      const struct in6_addr *daddr)
{
	return ipv6_addr_equal(saddr, &path->key.daddr) &&
	       ipv6_addr_equal(daddr, &path->key.saddr);
}

/**
 * hroce_path_refer - announce requests that refer to memory
 * @path: path that frames are charged to
 * @fresh: no frame is open
 * @mark: position of the requests, opaque to the path
 *
 * Frames of requests that refer to memory are counted in two alternating
 * phases. A new phase begins here if all frames of the phase before the current
 * one have been freed.
 *
 * Context: only sender of requests, not concurrent with
 * hroce_path_refs_begin().
 */
void hroce_path_refer(struct hroce_path *path, bool fresh, u32 mark);

/**
 * hroce_path_refs_begin - find the oldest requests that frames refer to
 * @path: path that frames are charged to
 * @open: requests of the last hroce_path_refer() may not be in a frame yet
 * @end: mark behind all requests
 *
 * Return: mark at the start of the oldest phase that still has frames, else
 * @end. No frame refers to memory of requests before the mark.
 */
u32 hroce_path_refs_begin(const struct hroce_path *path, bool open, u32 end);

/**
 * hroce_path_has_refs - does a frame refer to memory of a region?
 * @path: path that frames are charged to
 *
 * Return: true if one does, for a request or a READ response.
 */
bool hroce_path_has_refs(const struct hroce_path *path);

/**
 * hroce_path_await_refs - request a wake-up when frames are freed
 * @path: path that frames are charged to
 *
 * Calls @path->wake once, when the last frame of a phase is freed. The caller
 * must check again after this call: either it sees that, or the destructor sees
 * the request.
 */
void hroce_path_await_refs(struct hroce_path *path);

/**
 * hroce_path_is_idle - have all frames of a side been freed?
 * @path: path that frames are charged to
 * @answer: READ responses and acknowledgements, else requests
 *
 * Return: true if so; frames to this host have then been received.
 */
bool hroce_path_is_idle(const struct hroce_path *path, bool answer);

/* The rest is for net/ only. */

/**
 * hroce_path_elides - may the next frame omit the ICRC?
 * @path: path that frames are charged to
 * @daddr: destination of the frame
 *
 * Return: true if the link allows it and frames of this path recently arrived
 * on this host.
 */
bool hroce_path_elides(const struct hroce_path *path,
		       const struct in6_addr *daddr);

/**
 * hroce_path_take_ids - take consecutive IPv4 identifications
 * @path: path that frames are charged to
 * @answer: for READ responses and acknowledgements, else for requests
 * @nr: how many; each packet of a super-packet takes one
 *
 * They are kept with the charges of that side, which each frame writes anyway:
 * what receivers read of @path stays in the caches of all CPUs.
 * Context: any.
 * Return: the first one, in the lower 16 bits.
 */
int hroce_path_take_ids(struct hroce_path *path, bool answer, int nr);

/**
 * hroce_path_return_ids - return unused ones, unless others were taken since
 * @path: path
 * @answer: as they were taken
 * @end: behind the last one that hroce_path_take_ids() returned
 * @unused: the first that is not used
 *
 * Context: any.
 */
void hroce_path_return_ids(struct hroce_path *path, bool answer, int end,
			   int unused);

/**
 * hroce_path_charge - account a frame until it is freed
 * @path: path
 * @skb: complete frame
 * @elided: it has no ICRC; its ip_summed must be CHECKSUM_PARTIAL
 * @answer: READ responses and acknowledgements, else requests
 */
void hroce_path_charge(struct hroce_path *path, struct sk_buff *skb,
		       bool elided, bool answer);

/**
 * hroce_path_trusts - was a received frame sent on this host without ICRC?
 * @skb: frame, for its receiver; asked once
 * @daddr: its destination, IPv4 mapped
 *
 * If the frame was sent on this host, also marks the sender's path as local.
 * Return: true if it was, and the frame is known to be unmodified.
 */
bool hroce_path_trusts(struct sk_buff *skb, const struct in6_addr *daddr);

/* Wait until no frame refers to this module. Context: process, sleeps. */
void hroce_path_drain(void);

#endif /* HROCE_PATH_H */
