/* SPDX-License-Identifier: GPL-2.0 */
/* Sequence NAKs that wait for requests which only come late: see nak.c. */
#ifndef HRP_NAK_H
#define HRP_NAK_H

#include <linux/types.h>

struct hrp_qp;
struct hrp_resp;

/**
 * hrp_nak_gap - a request is missing, and nothing has told the peer so
 * @qp: queue pair
 * @may_hold: what came behind it is kept
 *
 * Makes the NAK due, or holds it, and then sets HRP_PENDING_NAK_HELD.
 * Context: receive lock held.
 */
void hrp_nak_gap(struct hrp_qp *qp, bool may_hold);

/**
 * hrp_nak_wait_us - time for which a NAK is held
 * @resp: responder
 *
 * Context: receive lock held.
 * Return: microseconds, 64 to 1024; 0: no NAK is held.
 */
u32 hrp_nak_wait_us(const struct hrp_resp *resp);

/**
 * hrp_nak_due - a NAK has been held for hrp_nak_wait_us()
 * @qp: queue pair
 *
 * Makes the NAK due, unless none is held any more. Context: receive lock held.
 * Return: true if it is due: call hrp_resp_next().
 */
bool hrp_nak_due(struct hrp_qp *qp);

/**
 * hrp_nak_came - the missing request has come while its NAK was held
 * @qp: queue pair, before it expects the next one
 *
 * Context: receive lock held.
 */
void hrp_nak_came(struct hrp_qp *qp);

/**
 * hrp_nak_again - a request has come again: was it late, and the NAK in vain?
 * @qp: queue pair
 * @psn: PSN of the request
 *
 * Context: receive lock held.
 */
void hrp_nak_again(struct hrp_qp *qp, u32 psn);

#endif /* HRP_NAK_H */
