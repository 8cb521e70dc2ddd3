/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion notification packets (A17.9.3): a link answers packets that a
 * switch has marked, so that who sent them slows down, and slows down itself.
 */
#ifndef HROCE_CNP_H
#define HROCE_CNP_H

#include <linux/types.h>

struct hroce_qp;

/* Defaults of &struct hroce_cnp; those of mlx5, but for the time. */
#define HROCE_CNP_DSCP		48
#define HROCE_CNP_PRIO		6
#define HROCE_CNP_US		50

/* Maxima of &struct hroce_cnp. */
#define HROCE_CNP_DSCP_MAX	63
#define HROCE_CNP_PRIO_MAX	7

/* Maximum of &hroce_cnp.min_us; hroce_qp.cnp_at has to tell it. */
#define HROCE_CNP_MAX_US	4095

/**
 * struct hroce_cnp - what a link does about marks
 * @enable: it answers marked packets
 * @obey: it slows down when it is told, and its requests are ECN-capable
 * @dscp: DSCP of the answers, 0 to HROCE_CNP_DSCP_MAX
 * @prio: their skb->priority, 0 to HROCE_CNP_PRIO_MAX
 * @min_us: least time between two answers of a queue pair, in microseconds, 0 to
 *	HROCE_CNP_MAX_US; 0: none
 */
struct hroce_cnp {
	bool enable;
	bool obey;
	u8 dscp;
	u8 prio;
	u16 min_us;
};

/**
 * hroce_cnp_init - set the defaults
 * @cnp: settings of a link
 */
void hroce_cnp_init(struct hroce_cnp *cnp);

/**
 * hroce_cnp_marked - a packet came through congestion
 * @qp: queue pair that has taken the packet
 * @sport: its UDP source port; 0: not known
 * @answer: it has the port of the request that it answers, if the peer does that
 *
 * If a CNP is due, has the responder side send it. UD has none: a datagram's
 * sender is no connected peer.
 *
 * Context: softirq or BH disabled, no lock; hroce_qp_run_pending() follows.
 */
void hroce_cnp_marked(struct hroce_qp *qp, u16 sport, bool answer);

/**
 * hroce_cnp_send - send the CNP that hroce_cnp_marked() found to be due
 * @qp: queue pair
 *
 * A CNP that cannot be sent is lost, and counted.
 *
 * Context: holder of the responder's token, no lock.
 */
void hroce_cnp_send(struct hroce_qp *qp);

/**
 * hroce_cnp_choose - is what a queue pair sends ECN-capable?
 * @qp: queue pair that begins to send
 *
 * Requests and READ responses are if it reacts to marks. Context: send lock held.
 */
void hroce_cnp_choose(struct hroce_qp *qp);

/**
 * hroce_cnp_obey - the peer has sent a CNP
 * @qp: queue pair that it is for
 * @sport: its UDP source port; 0: not known
 *
 * The first one allocates memory for a rate, if the control limits that;
 * hroce_qp_run_pending() frees it when the limit has ended.
 *
 * Context: softirq or BH disabled, no lock.
 * Return: false if nothing reacts to it.
 */
bool hroce_cnp_obey(struct hroce_qp *qp, u16 sport);

#endif /* HROCE_CNP_H */
