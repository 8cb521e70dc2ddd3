// SPDX-License-Identifier: GPL-2.0
#include <net/busy_poll.h>
#include "busy.h"
#include "qp.h"

/* Most frames of one poll, as sockets take. */
#define BUSY_BUDGET	8

static void busy_name(struct hroce_cq *cq, u32 qpn)
{
	if (cq && READ_ONCE(cq->hdr->poll_qpn) != qpn)
		WRITE_ONCE(cq->hdr->poll_qpn, qpn);
}

static void busy_name_in_both(const struct hroce_qp *qp, u32 qpn)
{
	busy_name(qp->recv_cq, qpn);
	busy_name(qp->send_cq, qpn);
}

void hroce_busy_note(struct hroce_qp *qp, u32 napi)
{
	/* Delivery on one host says nothing about the netdev. */
	if (napi < MIN_NAPI_ID)
		return;
	if (READ_ONCE(qp->napi) != napi)
		WRITE_ONCE(qp->napi, napi);
	busy_name_in_both(qp, qp->proto.qpn);
}

u32 hroce_busy_napi(struct hroce_qp *qp)
{
	u32 napi = READ_ONCE(hqp_dev(qp)->busy_poll) ? READ_ONCE(qp->napi) : 0;

	if (!napi)
		busy_name_in_both(qp, 0);
	return napi;
}

void hroce_busy_poll(u32 napi)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	napi_busy_loop(napi, NULL, NULL, true, BUSY_BUDGET);
#endif
}
