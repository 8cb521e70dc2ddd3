/* SPDX-License-Identifier: GPL-2.0 */
/* Detection of netdevs that spoil super-packets. */
#ifndef HROCE_SUSPECT_H
#define HROCE_SUSPECT_H

#include <linux/types.h>

/**
 * struct hroce_suspect - what retransmissions of one side say about the netdev
 * @watch: first PSN of the watched super-packet
 * @fresh: the peer can have kept none from this PSN on when the sender last
 *	resent
 * @next: packets before this one have been sent when the sender last resent
 * @begin: a trial counts packets from this PSN on
 * @row: super-packets in a row of which only the first packet has arrived
 * @proofs: trials passed in a row
 * @trial: single packets are being sent
 * @again: the last resend began with what had been resent before
 *
 * Written by the holder of the side's token only.
 */
struct hroce_suspect {
	u32 watch;
	u32 fresh;
	u32 next;
	u32 begin;
	u8 row;
	u8 proofs;
	bool trial;
	bool again;
};

/**
 * struct hroce_resend - what the sender knows when it resends
 * @psn: first packet that it resends
 * @end: packets from this one on are not resent now
 * @arrived: all packets before this one have arrived
 * @next: first packet that it has never sent
 * @keeps: the peer may have any packet between @psn and @next
 * @late: @psn is late rather than lost
 */
struct hroce_resend {
	u32 psn;
	u32 end;
	u32 arrived;
	u32 next;
	bool keeps;
	bool late;
};

/**
 * hroce_suspect_watch - a super-packet is sent while none is watched
 * @s: state of this side
 * @psn: of its first packet, which takes no other PSN
 *
 * Return: true if it is watched from now on.
 */
bool hroce_suspect_watch(struct hroce_suspect *s, u32 psn);

/**
 * hroce_suspect_resend - the sender resends
 * @s: state of this side
 * @r: what it knows
 * @watched: a super-packet is watched; cleared if it is no longer
 */
void hroce_suspect_resend(struct hroce_suspect *s,
			  const struct hroce_resend *r, bool *watched);

/**
 * hroce_suspect_progress - packets have arrived
 * @s: state of this side
 * @psn: all packets before this one have arrived
 *
 * Return: true if the netdev is found to spoil super-packets.
 */
bool hroce_suspect_progress(struct hroce_suspect *s, u32 psn);

/**
 * hroce_suspect_single - are packets to be sent one by one?
 * @s: state of this side
 * @psn: of the first of them
 *
 * Return: true if they are.
 */
bool hroce_suspect_single(const struct hroce_suspect *s, u32 psn);

#endif /* HROCE_SUSPECT_H */
