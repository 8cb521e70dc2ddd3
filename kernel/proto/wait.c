// SPDX-License-Identifier: GPL-2.0
/* Why a requester does not send, see wait.h. */
#include <linux/kernel.h>
#include "e2e.h"
#include "pace.h"
#include "psn.h"
#include "req.h"
#include "req_priv.h"
#include "req_room.h"
#include "wait.h"

static enum hrp_wait wait_entry(const struct hrp_qp *qp,
				const struct hrp_wqe *w)
{
	const struct hrp_req *req = &qp->req;

	if (req_must_be_oldest(w) && req->sq.tail != req->sq.next)
		return HRP_WAIT_ORDER;
	if (req_is_fenced(req, w))
		return HRP_WAIT_ORDER;
	switch (w->wqe.opcode) {
	case HROCE_WR_SEND:
	case HROCE_WR_SEND_IMM:
	case HROCE_WR_SEND_INV:
	case HROCE_WR_WRITE:
	case HROCE_WR_WRITE_IMM:
		if (!req_room(req))
			return HRP_WAIT_WINDOW;
		return hrp_e2e_is_limited(req, w) ? HRP_WAIT_CREDITS :
						    HRP_WAIT_ANSWER;
	case HROCE_WR_LOCAL_INV:
	case HROCE_WR_REG_MR:
	case HROCE_WR_BIND_MW:
		return HRP_WAIT_ANSWER;
	}
	if (req_rd_is_full(req))
		return HRP_WAIT_READS;
	/* A READ waits for the responses that fill the window. */
	return w->wqe.opcode == HROCE_WR_READ && req->rd_pkts ?
	       HRP_WAIT_WINDOW : HRP_WAIT_ANSWER;
}

enum hrp_wait hrp_wait_for(const struct hrp_qp *qp)
{
	const struct hrp_req *req = &qp->req;
	const struct hrp_sq *sq = &req->sq;
	const struct hrp_wqe *w = NULL;

	switch ((enum hrp_timer)req->timer) {
	case HRP_TIMER_OFF:
	case HRP_TIMER_ACK:
		break;
	case HRP_TIMER_RNR:
		return HRP_WAIT_RNR;
	case HRP_TIMER_ROOM:
		return HRP_WAIT_ROOM;
	case HRP_TIMER_MEM:
		return HRP_WAIT_MEMORY;
	}
	if (req->pace && hrp_pace_at(req->pace))
		return HRP_WAIT_RATE;
	if (sq->next != sq->head)
		w = hrp_sq_wqe(sq, sq->next);
	if (w && qp->state == HRP_SQD && !w->started)
		return HRP_WAIT_DRAINED;
	if (w)
		return wait_entry(qp, w);
	return sq->tail == sq->next ? HRP_WAIT_NOTHING : HRP_WAIT_ANSWER;
}

const char *hrp_wait_name(enum hrp_wait wait)
{
	static const char names[][HRP_WAIT_NAME_LEN] = {
		[HRP_WAIT_NOTHING] = "nothing",
		[HRP_WAIT_ANSWER] = "answer",
		[HRP_WAIT_WINDOW] = "window",
		[HRP_WAIT_CREDITS] = "credits",
		[HRP_WAIT_READS] = "reads",
		[HRP_WAIT_ORDER] = "order",
		[HRP_WAIT_RNR] = "rnr",
		[HRP_WAIT_ROOM] = "room",
		[HRP_WAIT_MEMORY] = "memory",
		[HRP_WAIT_RATE] = "rate",
		[HRP_WAIT_DRAINED] = "drained",
		[HRP_WAIT_PAUSED] = "paused",
	};

	return names[wait];
}
