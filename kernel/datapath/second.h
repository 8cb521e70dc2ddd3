/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second way to the peer, by another link of this host: see proto/second.h.
 *
 * At the second link the queue pair has a number of its own, its alias. Packets
 * that come by the alias belong to the queue pair if they come from the second
 * address of the peer. All else is that of the queue pair and of its link: memory
 * keys, counters, and the queue that frames are charged to.
 */
#ifndef HROCE_SECOND_H
#define HROCE_SECOND_H

#include <linux/list.h>
#include "../net/path.h"
#include "../proto/second.h"
#include "qp.h"

struct hroce_recv;

/**
 * struct hroce_second - second way of a queue pair
 * @qp: the queue pair
 * @dev: device of the second link; NULL: it is gone [both locks, and the mutex of
 *	verbs/second.c]
 * @proto: state of the agreement; see there for locks
 * @path: to the second address of the peer, without a queue of its own; valid if
 *	@ready
 * @ready: that is known
 * @wanted: the way is missed, but not valid: ask the peer
 * @node: while the second link is being removed
 *
 * Lives until the queue pair is destroyed, reset or given another path. Found in
 * hroce_dev.seconds of the queue pair's device by its index, and in
 * hroce_dev.aliases of the second link's by the index of the alias, both in an
 * epoch.
 */
struct hroce_second {
	struct hroce_qp *qp;
	struct hroce_dev *dev;
	struct hrp_second proto;
	struct hroce_path path;
	bool ready;
	bool wanted;
	struct list_head node;
};

/**
 * hroce_second_find - look a queue pair up by its alias
 * @dev: device of the second link
 * @qpn: number
 *
 * Context: in an epoch.
 * Return: queue pair of another link, or NULL.
 */
struct hroce_qp *hroce_second_find(struct hroce_dev *dev, u32 qpn);

/**
 * hroce_second_is_peer - has a packet come by the second way?
 * @qp: queue pair that it is for; it does not come by the first way
 * @r: the packet
 *
 * Context: in an epoch.
 * Return: true if it comes from the peer's second address, by the alias, and the
 * peer has proved to be there; that is not needed to ask and answer.
 */
bool hroce_second_is_peer(const struct hroce_qp *qp,
			  const struct hroce_recv *r);

/**
 * hroce_second_requested - a request has come
 * @qp: queue pair with a second way
 * @way: by which it came; answers take the same from now on
 *
 * Context: softirq or BH disabled, in an epoch, no lock.
 */
void hroce_second_requested(struct hroce_qp *qp, enum hrp_way way);

/**
 * hroce_second_heard - a question or an answer has come
 * @qp: queue pair
 * @pkt: headers; hroce_second_is_peer(), its ICRC is correct
 * @payload: HRP_SECOND_BYTES
 *
 * Context: softirq or BH disabled, in an epoch, no lock; hroce_qp_run_pending()
 * follows.
 * Return: enum hroce_stat, why the packet is dropped; negative: it is not.
 */
int hroce_second_heard(struct hroce_qp *qp, const struct hrp_pkt *pkt,
		       const u8 *payload);

/**
 * hroce_second_send - send the questions and answers that are due
 * @qp: queue pair
 *
 * Context: holder of the responder's token, with @qp->recv.lock, which is dropped
 * meanwhile; in an epoch.
 */
void hroce_second_send(struct hroce_qp *qp);

/**
 * hroce_second_aim - address a burst to the second way
 * @qp: queue pair
 * @b: burst; its number is set to that of the peer's second link
 * @answer: answers, else requests
 *
 * Context: sender of that side, in an epoch.
 * Return: path that it takes; that of the queue pair if there is no second one.
 */
struct hroce_path *hroce_second_aim(struct hroce_qp *qp, struct hrp_burst *b,
				    bool answer);

/**
 * hroce_second_silent - no answer has come twice: take the other way
 * @qp: queue pair with a second way
 *
 * If that is not valid, the peer is asked. Context: holder of the requester's
 * token, with @qp->send.lock, in an epoch; no frame is open.
 */
void hroce_second_silent(struct hroce_qp *qp);

/**
 * hroce_second_path - the path to the second address of the peer
 * @qp: queue pair
 *
 * Context: in an epoch, or owner of @qp.
 * Return: path; NULL if there is none, or it is not known yet.
 */
struct hroce_path *hroce_second_path(const struct hroce_qp *qp);

/**
 * hroce_second_tick - a second has passed
 * @second: second way
 *
 * Context: process, no lock; in an epoch, or with the mutex of verbs/second.c.
 */
void hroce_second_tick(struct hroce_second *second);

/**
 * hroce_second_leave - the netdev of a way is down: take the other one at once
 * @second: second way
 * @way: the one to leave
 *
 * Context: as above.
 */
void hroce_second_leave(struct hroce_second *second, enum hrp_way way);

/**
 * hroce_second_drop - the second link is being removed
 * @second: second way
 *
 * Requests and answers take the first way from now on. The caller waits for epochs
 * before it frees the path.
 * Context: process, no lock.
 */
void hroce_second_drop(struct hroce_second *second);

/**
 * hroce_second_state - for the administrator
 * @qp: queue pair with a second way
 *
 * Context: both locks held.
 * Return: "off", "asked", "agreed", "ready" or "used".
 */
const char *hroce_second_state(const struct hroce_qp *qp);

#endif /* HROCE_SECOND_H */
