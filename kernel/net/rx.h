/* SPDX-License-Identifier: GPL-2.0 */
/* Frames to packets: validation, ICRC, placement of payload. */
#ifndef HROCE_RX_H
#define HROCE_RX_H

#include <linux/in6.h>
#include "../core/stats.h"
#include "../proto/pkt.h"
#include "cursor.h"
#include "headers.h"
#include "icrc.h"

struct hroce_mem_iter;
struct hroce_port;
struct hroce_stats;
struct sk_buff;
struct xdp_buff;

/**
 * struct hroce_rx_frame - a received frame or super-packet
 * @port: receiving port
 * @skb: the frame, never written to; NULL if it has no sk_buff
 * @xdp: the frame, never written to, if an XDP program has it; else NULL. Both
 *	are NULL for packets without a frame, see datapath/local.c
 * @saddr: source, IPv4 mapped
 * @daddr: destination, IPv4 mapped
 * @mcast: @daddr is a multicast address
 * @trusted: the frame never left this host and carries no ICRC
 * @id_fixed: all packets of this super-packet have the same IPv4 ID
 * @vector: see hroce_crc_begin(); one section for the whole frame
 * @by_stack: received through the IP stack
 * @ce: all packets are marked Congestion Experienced (RFC 3168)
 * @super: a super-packet, or @joined
 * @joined: one datagram of a packet and an ACK, see hroce_tx_join()
 * @refused: a frame of an XDP program that is left to the IP stack
 * @ip_id: IPv4 ID of the first packet
 * @begin: offset of the first packet
 * @seg_len: length of each packet but the last, from the BTH to the ICRC
 * @end: offset of the end of the last packet
 * @next: number of packets up to the current one
 * @counted: number of packets that are in @stats or in those before
 * @known_len: length of the packet before, if its BTH was found good; else
 *	U32_MAX
 * @stats: counters of the current packet: of the port, or of its queue pair
 * @at: start of the payload of the current packet; or later, if that was placed,
 *	unless @mcast
 * @hdr: copy of the IP and UDP headers; of a super-packet, lengths and IPv4 ID
 *	need not be those of the current packet
 * @icrc: of the last packet that has an ICRC
 */
struct hroce_rx_frame {
	struct hroce_port *port;
	struct sk_buff *skb;
	struct xdp_buff *xdp;
	struct in6_addr saddr;
	struct in6_addr daddr;
	bool mcast;
	bool trusted;
	bool id_fixed;
	bool vector;
	bool by_stack;
	bool ce;
	bool super;
	bool joined;
	bool refused;
	u16 ip_id;
	u32 begin;
	u32 seg_len;
	u32 end;
	u32 next;
	u32 counted;
	u32 known_len;
	struct hroce_stats __percpu *stats;
	struct hroce_cursor at;
	struct hroce_headers hdr;
	struct hroce_icrc_last icrc;
};

/**
 * struct hroce_rx_packet - the current packet of a frame
 * @pkt: its headers
 * @bth: BTH and extended headers; a copy
 * @icrc: CRC state up to the payload
 * @len: length, from the BTH to the ICRC
 */
struct hroce_rx_packet {
	struct hrp_pkt pkt;
	u8 bth[HRW_MAX_HDR_LEN] __aligned(4);
	u32 icrc;
	u32 len;
};

/**
 * hroce_rx_next - go to the next packet of a frame
 * @frame: frame passed to &hroce_port_ops.receive
 * @packet: set to the packet; its ICRC is not checked yet. For all packets of a
 *	frame the same
 *
 * Drops and counts packets with invalid headers. Must be called until it
 * returns false.
 *
 * Context: softirq or BH disabled, RCU read side.
 * Return: true; false at the end of the frame, when @frame->skb has been freed.
 */
bool hroce_rx_next(struct hroce_rx_frame *frame,
		   struct hroce_rx_packet *packet);

/**
 * hroce_rx_count - count packets of a frame that are not counted yet
 * @frame: frame
 * @nr: count the first @nr packets of the frame
 *
 * Counts them, and their bytes, in @frame->stats. hroce_rx_next() does so at
 * the end of the frame. To be called before @frame->stats changes.
 */
void hroce_rx_count(struct hroce_rx_frame *frame, u32 nr);

/**
 * hroce_rx_refuse - do not take the current packet
 * @frame: frame, or what stands for one without a frame
 * @reason: HROCE_DROP_*; counted, unless the frame comes from an XDP program,
 *	as it is received by the IP stack then, once more
 *
 * Return: true if the packet is dropped, false if it comes again.
 */
bool hroce_rx_refuse(struct hroce_rx_frame *frame, enum hroce_stat reason);

/**
 * hroce_rx_napi - get the NAPI instance that brought a frame
 * @frame: frame
 *
 * Return: its identifier, or 0.
 */
u32 hroce_rx_napi(const struct hroce_rx_frame *frame);

/**
 * hroce_rx_icrc_ok - check the ICRC
 * @frame: frame
 * @packet: its current packet
 *
 * Return: true if it is correct or not needed.
 */
bool hroce_rx_icrc_ok(struct hroce_rx_frame *frame,
		      struct hroce_rx_packet *packet);

/**
 * hroce_rx_read - read payload
 * @frame: frame
 * @dst: set to the beginning of the payload of the current packet
 * @len: number of bytes, at most those of the payload
 *
 * Return: true; false if it cannot be read.
 */
bool hroce_rx_read(const struct hroce_rx_frame *frame, void *dst, u32 len);

/**
 * hroce_rx_place - check the ICRC and copy the payload
 * @frame: frame
 * @packet: its current packet; set to the last one taken
 * @it: destination, with room for all packets that may be taken
 * @fuse: do both in one pass: write before the check
 * @nr_pkts: maximum number of packets to take: this one, and following ones of
 *	the frame that differ in the PSN only; set to the number taken, 0 if the
 *	ICRC of this one is wrong. An error in a later packet is reported when
 *	that is the current one
 *
 * Return: enum hroce_wc_status, of the placement of this packet.
 */
u8 hroce_rx_place(struct hroce_rx_frame *frame, struct hroce_rx_packet *packet,
		  struct hroce_mem_iter *it, bool fuse, u32 *nr_pkts);

/**
 * hroce_rx_taken - account packets taken behind the current one
 * @frame: frame
 * @packet: its current packet; set to the last one taken
 * @nr: number of packets
 *
 * hroce_rx_place() does this itself.
 */
void hroce_rx_taken(struct hroce_rx_frame *frame,
		    struct hroce_rx_packet *packet, u32 nr);

/**
 * hroce_rx_grh - network header for the 40 bytes in front of a UD message
 * @frame: frame
 * @packet: its current packet
 * @map: turn an IPv4 header into an IPv6 header with IPv4-mapped addresses
 * @grh: the IPv6 header; or 20 zero bytes, then the IPv4 header (A17.4.5.2)
 */
void hroce_rx_grh(const struct hroce_rx_frame *frame,
		  const struct hroce_rx_packet *packet, bool map,
		  u8 grh[HRW_GRH_LEN]);

/* The rest is for net/ only. */

/**
 * hroce_rx_from_dev - receive a frame from the netdev of a port
 * @port: port
 * @skb: frame, network header at skb->data
 *
 * Context: softirq, RCU read side.
 * Return: true if the frame was consumed; false if it is not for this module,
 * and unmodified.
 */
bool hroce_rx_from_dev(struct hroce_port *port, struct sk_buff *skb);

/**
 * hroce_rx_from_xdp - receive a frame from an XDP program
 * @port: port that its addresses belong to
 * @xdp: frame for the MAC address of the port. The Ethernet type is in front of
 *	the IP header, ETH_HLEN bytes behind xdp->data, which may differ from
 *	the start of the frame where that has VLAN tags
 *
 * Context: BH disabled, RCU read side.
 * Return: true if its packet was taken; false if the IP stack must get the
 * frame, which is unmodified.
 */
bool hroce_rx_from_xdp(struct hroce_port *port, struct xdp_buff *xdp);

/**
 * hroce_rx_from_stack - receive a frame from the IP stack
 * @skb: frame, UDP header at skb->data, checksum verified; consumed
 *
 * Context: softirq, RCU read side.
 */
void hroce_rx_from_stack(struct sk_buff *skb);

/**
 * hroce_rx_icrc_begin - begin the ICRC of the current packet
 * @frame: frame, not trusted
 * @packet: its current packet; @packet->icrc is set
 */
void hroce_rx_icrc_begin(struct hroce_rx_frame *frame,
			 struct hroce_rx_packet *packet);

/* Move @frame->at to another position. */
void hroce_rx_seek(struct hroce_rx_frame *frame, u32 pos);

/* IPv4 ID of the current packet of a super-packet alone; 0 with IPv6. */
static inline u16 hroce_rx_ip_id(const struct hroce_rx_frame *f)
{
	if (f->hdr.ipv6)
		return 0;
	return f->ip_id + (f->id_fixed ? 0 : f->next - 1);
}

#endif /* HROCE_RX_H */
