/* SPDX-License-Identifier: GPL-2.0 */
/* Generic receive offload: single packets to super-packets, before the hook. */
#ifndef HROCE_GRO_H
#define HROCE_GRO_H

struct list_head;
struct sk_buff;
struct sock;

/**
 * hroce_gro_receive - merge a packet with those of its flow, or hold it
 * @sk: fallback socket that the packet is for
 * @head: frames held by this NAPI instance
 * @skb: packet or super-packet, GRO offset behind the UDP header
 *
 * Merges packets that one super-packet of a sender could have, see tx.c, and
 * that rx.c can restore. Any other packet ends the held frame of its flow.
 *
 * Context: softirq, RCU read side.
 * Return: frame of @head to deliver before @skb, or NULL.
 */
struct sk_buff *hroce_gro_receive(struct sock *sk, struct list_head *head,
				  struct sk_buff *skb);

/**
 * hroce_gro_complete - make a merged frame a super-packet
 * @sk: fallback socket that the packets are for
 * @skb: frame of two packets or more; lengths of IP and UDP are set
 * @nhoff: offset of the UDP payload
 *
 * The frame is the same as one that a sender on this host made.
 *
 * Context: softirq, RCU read side.
 * Return: 0.
 */
int hroce_gro_complete(struct sock *sk, struct sk_buff *skb, int nhoff);

#endif /* HROCE_GRO_H */
