/* SPDX-License-Identifier: GPL-2.0 */
/* Bursts to sk_buffs: super-packets, zero-copy payload, ICRC. */
#ifndef HROCE_TX_H
#define HROCE_TX_H

#include <linux/minmax.h>
#include <linux/types.h>
#include "../proto/burst.h"
#include "../proto/pkt.h"
#include "headers.h"
#include "icrc.h"
#include "route.h"
#include "tx_frame.h"

struct hroce_mem_iter;
struct hroce_path;
struct hroce_stats;

/* From this payload size on, refer to pages instead of copying them. */
#define HROCE_TX_REF_MIN	2048u

/**
 * struct hroce_tx - a run of transmissions in frames
 * @sender: path of the queue pair; frames are charged to it
 * @stats: counters of the port, or of the queue pair
 * @path: destination of bursts; NULL: none, see hroce_tx_aim()
 * @keep_order: the owner retransmits frames that the stack refuses
 * @refused: the stack has refused a frame
 * @join: frames have room for hroce_tx_join(); set by the owner
 * @joined: the open frame is one datagram of two packets
 * @refused_psn: PSN of the first packet of the frame that was refused
 * @route: route of @path
 * @hdr: IP and UDP headers of one packet
 * @frame: the open frame; its skb is NULL if there is none
 * @ect: of the path, for this side
 * @elide: omit the ICRC in the open frame
 * @split: the open frame is one packet, of which the IP stack makes fragments
 * @first_psn: PSN of the first packet of the open frame
 * @ip_id: IPv4 ID of that packet, in the lower 16 bits
 * @gso_size: UDP payload of each packet of the open frame; the last one may be
 *	shorter
 * @last_len: UDP payload of the last packet of the open frame
 * @nr_pkts: packets in the open frame
 * @payload: bytes of payload in the open frame
 * @burst: the burst being added
 * @it: payload of @burst
 * @next: index of its next packet; earlier ones are in frames
 * @copy: copy its payload
 * @pkt: packet @next
 * @bth: headers of @pkt behind UDP
 * @bth_len: their length
 * @in_run: packet @next differs from the previous one in the PSN only, and in a
 *	train in what its entry has of its own
 * @icrc: of the last packet that has an ICRC
 *
 * The frame stays open from one burst to the next, so that small messages
 * share a super-packet.
 */
struct hroce_tx {
	struct hroce_path *sender;
	struct hroce_stats __percpu *stats;
	struct hroce_path *path;
	bool keep_order;
	bool refused;
	bool join;
	bool joined;
	u32 refused_psn;
	struct hroce_route route;
	struct hroce_headers hdr;
	struct hroce_tx_frame frame;
	bool ect;
	bool elide;
	bool split;
	u32 first_psn;
	int ip_id;
	u32 gso_size;
	u32 last_len;
	u32 nr_pkts;
	u32 payload;
	const struct hrp_burst *burst;
	struct hroce_mem_iter *it;
	u32 next;
	bool copy;
	struct hrp_pkt pkt;
	u8 bth[HRW_MAX_HDR_LEN] __aligned(4);
	u32 bth_len;
	bool in_run;
	struct hroce_icrc_last icrc;
};

/* May frames refer to the memory of a burst? Otherwise it is copied. */
static inline bool hroce_tx_may_refer(const struct hrp_burst *b)
{
	return !b->copy && !b->mem.bytes &&
	       min(b->mtu, b->mem.len) >= HROCE_TX_REF_MIN;
}

/**
 * hroce_tx_begin - begin a run of transmissions
 * @tx: run
 * @sender: path of the queue pair; all frames are charged to it, wherever they
 *	go
 * @stats: counters; an epoch or a lock keeps them until hroce_tx_end()
 * @keep_order: after the local stack has refused a frame for lack of room, set
 *	@tx->refused, set @tx->refused_psn to the PSN to resume at, and send
 *	nothing more. Otherwise a refused frame is lost
 */
static inline void hroce_tx_begin(struct hroce_tx *tx,
				  struct hroce_path *sender,
				  struct hroce_stats __percpu *stats,
				  bool keep_order)
{
	tx->sender = sender;
	tx->stats = stats;
	tx->path = NULL;
	tx->keep_order = keep_order;
	tx->refused = false;
	tx->join = false;
	tx->frame.skb = NULL;
	tx->it = NULL;
}

/**
 * hroce_tx_aim - set the destination
 * @tx: run without destination: new, or after hroce_tx_end()
 * @path: destination; valid until hroce_tx_end()
 *
 * Sets @tx->path, @tx->route and @tx->hdr.
 * Context: BH disabled, RCU read side; both until hroce_tx_end().
 * Return: 0, or negative errno if there is no route; @tx then has no
 * destination.
 */
int hroce_tx_aim(struct hroce_tx *tx, struct hroce_path *path);

/**
 * hroce_tx_add - add the packets of a burst
 * @tx: run with a destination
 * @b: burst; not used after return
 * @it: payload, at its start
 *
 * Splits the burst into super-packets or frames as the route allows, and sends
 * all of them but the last one, if packets can still be added to it. A frame
 * that cannot be sent is lost, as on a wire, and counted. For refused frames
 * see hroce_tx_begin().
 *
 * Context: as hroce_tx_aim().
 * Return: enum hroce_wc_status: SUCCESS, or @it->status if the payload is not
 * accessible; the rest of the burst is then not sent.
 */
u8 hroce_tx_add(struct hroce_tx *tx, const struct hrp_burst *b,
		struct hroce_mem_iter *it);

/**
 * hroce_tx_has_room - is there room for another packet in the open frame?
 * @tx: run
 * @len: UDP payload of the packet
 *
 * Changes nothing.
 * Context: as hroce_tx_aim().
 * Return: true if hroce_tx_add() would append a packet without payload to a
 * frame that is open, unless memory is short.
 */
bool hroce_tx_has_room(const struct hroce_tx *tx, u32 len);

/**
 * hroce_tx_may_join - may an ACK join the open frame?
 * @tx: run with a destination, @tx->join is set
 *
 * Return: true if hroce_tx_join() may follow.
 */
bool hroce_tx_may_join(const struct hroce_tx *tx);

/**
 * hroce_tx_join - append an ACK to the only packet of the open frame
 * @tx: run, after hroce_tx_may_join()
 * @b: the ACK, without payload
 * @it: of @b->mem, which is empty
 *
 * Both leave in one datagram, which only a peer that has said so understands:
 * the first packet has a mark, and is as if it had come alone but for that.
 *
 * Context: as hroce_tx_add().
 */
void hroce_tx_join(struct hroce_tx *tx, const struct hrp_burst *b,
		   struct hroce_mem_iter *it);

/**
 * hroce_tx_end - end a run: send the open frame
 * @tx: run; hroce_tx_aim() may start it again
 *
 * Context: as hroce_tx_add().
 */
void hroce_tx_end(struct hroce_tx *tx);

#endif /* HROCE_TX_H */
