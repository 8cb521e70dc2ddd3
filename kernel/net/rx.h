/* SPDX-License-Identifier: GPL-2.0 */
/* sk_buffs to packets: validation, ICRC, placement of payload. */
#ifndef HROCE_RX_H
#define HROCE_RX_H

#include <linux/in6.h>
#include "../proto/pkt.h"
#include "cursor.h"

struct hroce_mem_iter;
struct hroce_port;
struct sk_buff;

/**
 * struct hroce_rx - one packet of a received frame or super-packet, or of a
 *	burst of this host
 * @port: link that it is for
 * @pkt: its headers
 * @saddr: source, IPv4 mapped
 * @daddr: destination, IPv4 mapped
 * @ipv6: which of the two it was
 * @mcast: @daddr is a multicast address
 * @trusted: the frame never left this host and carries no ICRC
 * @id_fixed: all packets of this super-packet have the same IPv4 ID
 * @vector: see hroce_crc_begin(); one section for the whole frame
 * @held: for the upcalls: state kept from packet to packet of one frame, NULL
 *	at the first one
 * @skb: the frame; never written to; NULL: there is none, see @src
 * @src: without a frame: where the payload is, steady (hroce_mem_is_steady())
 * @run: without a frame: packets from this one on that differ in the PSN alone
 * @payload: where the payload begins; or somewhere behind it, if packets behind
 *	were looked at
 * @l3: IP header and behind it the UDP header, as they were on the wire for
 *	this packet alone, but for checksums; a copy
 * @bth: BTH and extended headers; a copy
 * @icrc: CRC state up to where the payload begins
 * @seg: index of the packet in a super-packet
 * @copies: for the upcalls: multicast copies of packets of the frame so far
 * @len: length of the packet, from the BTH to the ICRC
 * @end: where the last packet of the frame ends, for @payload
 */
struct hroce_rx {
	struct hroce_port *port;
	struct hrp_pkt pkt;
	struct in6_addr saddr;
	struct in6_addr daddr;
	u8 ipv6:1;
	u8 mcast:1;
	u8 trusted:1;
	u8 id_fixed:1;
	u8 vector:1;
	void *held;
	struct sk_buff *skb;
	const struct hroce_mem_iter *src;
	u32 run;
	struct hroce_cursor payload;
	void *l3;
	u8 bth[HRW_MAX_HDR_LEN] __aligned(4);
	u32 icrc;
	u32 seg;
	u32 copies;
	u32 len;
	u32 end;
};

/* Upcalls, supplied by verbs/. */

/**
 * hroce_rx_packet - a packet arrived
 * @rx: packet, valid during the call; its ICRC is not checked yet
 *
 * Context: softirq or BH disabled, in a section, under RCU.
 */
void hroce_rx_packet(struct hroce_rx *rx);

/**
 * hroce_rx_end - that was the last packet of the frame, or of a run of bursts
 * @held: &hroce_rx.held as the last upcall left it, not NULL
 *
 * Context: as hroce_rx_packet().
 */
void hroce_rx_end(void *held);

/**
 * hroce_rx_is_wanted - is a queue pair of a link in a multicast group?
 * @port: link
 * @group: address of the group, IPv4 mapped
 *
 * Context: RCU read side.
 * Return: true if one is.
 */
bool hroce_rx_is_wanted(struct hroce_port *port, const struct in6_addr *group);

/* For use by the upcalls. */

/**
 * hroce_rx_icrc_ok - check the ICRC
 * @rx: packet
 *
 * Return: true if it is correct or not needed.
 */
bool hroce_rx_icrc_ok(struct hroce_rx *rx);

/**
 * hroce_rx_word - the payload of an ATOMIC WRITE
 * @rx: packet with a payload of 8 bytes
 * @word: set to it, as it is in memory
 *
 * Return: true; false if it cannot be read.
 */
bool hroce_rx_word(const struct hroce_rx *rx, u64 *word);

/**
 * hroce_rx_place - check the ICRC and copy the payload
 * @rx: packet; becomes the last one that was taken
 * @it: destination, as long as all packets that may be taken
 * @fuse: do both in one pass: write before the check
 * @nr_pkts: how many packets may be taken: this one, and those that follow it
 *	in the frame with nothing different but the PSN; set to how many were, 0
 *	if the ICRC of this one is wrong. An error of a later one is found in
 *	the next upcall, which is for that one
 *
 * Return: enum hroce_wc_status, of the placement of this packet.
 */
u8 hroce_rx_place(struct hroce_rx *rx, struct hroce_mem_iter *it, bool fuse,
		  u32 *nr_pkts);

/**
 * hroce_rx_grh - network header for the 40 bytes in front of a UD message
 * @rx: packet
 * @grh: the IPv6 header; or 20 zero bytes, then the IPv4 header (A17.4.5.2)
 */
void hroce_rx_grh(const struct hroce_rx *rx, u8 grh[HRW_GRH_LEN]);

/* The rest is for net/ only. */

/**
 * hroce_rx_from_dev - a frame came in by a port's netdev
 * @port: port
 * @skb: frame, network header at skb->data
 *
 * Context: softirq, RCU read side.
 * Return: true if it was taken; otherwise it is not for us, and untouched.
 */
bool hroce_rx_from_dev(struct hroce_port *port, struct sk_buff *skb);

/**
 * hroce_rx_from_stack - a frame came up the IP stack
 * @skb: frame, UDP header at skb->data, checksum verified; consumed
 *
 * Context: softirq, RCU read side.
 */
void hroce_rx_from_stack(struct sk_buff *skb);

/**
 * hroce_rx_icrc_begin - begin the ICRC of a packet
 * @rx: packet
 *
 * Return: CRC state up to where the payload begins.
 */
u32 hroce_rx_icrc_begin(const struct hroce_rx *rx);

#endif /* HROCE_RX_H */
