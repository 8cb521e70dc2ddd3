// SPDX-License-Identifier: GPL-2.0
/* Selective acknowledgements, see sack.h. */
#include <linux/lockdep.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "../proto/ahead.h"
#include "../proto/req.h"
#include "../proto/resp.h"
#include "early.h"
#include "keep.h"
#include "qp.h"
#include "sack.h"
#include "spray.h"
#include "user.h"

bool hroce_sack_open(struct hroce_qp *qp)
{
	struct hrp_req *req = &qp->proto.req;
	struct hrp_sack *sack;
	u32 words;

	lockdep_assert_held(&qp->send.lock);
	if (!hrp_sack_is_short(req))
		return true;
	words = hrp_sack_words(req);
	sack = hroce_user_alloc(qp, hrp_sack_size(words));
	/* A short one does for most of what it does. */
	if (!sack && !req->sack) {
		words = HRP_SACK_WORDS_MIN;
		sack = hroce_user_alloc(qp, hrp_sack_size(words));
	}
	if (sack)
		kfree(hrp_sack_open(req, sack, words));
	return req->sack;
}

int hroce_sack_heard(struct hroce_qp *qp, const struct hrp_pkt *pkt,
		     const u8 *map)
{
	u64 now_ns = ktime_get_ns();
	int drop = HROCE_DROP_QP_STATE;
	struct hrp_rx d __uninitialized;
	bool opened;

	spin_lock(&qp->send.lock);
	if (qp->dead || !hrp_qp_sends(&qp->proto))
		goto unlock;
	hrp_comp_begin(&qp->proto, pkt, &d);
	drop = d.drop;
	/* A failure is a SACK without a map. */
	opened = d.drop != HROCE_DROP_QP_STATE && hroce_sack_open(qp);
	if (opened) {
		hrp_sack_heard(&qp->proto, pkt, map, now_ns);
		hroce_spray_begin(qp);
	}
	if (d.verdict == HRP_RX_DROP)
		goto unlock;
	drop = -1;
	if (opened)
		hrp_sack_take(&qp->proto, pkt, map, now_ns);
	if (qp->early.busy && hroce_early_hold(qp, pkt))
		goto unlock;
	if (hrp_comp_commit(&qp->proto, pkt, &d, now_ns, HROCE_WC_SUCCESS))
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
unlock:
	spin_unlock(&qp->send.lock);
	return drop;
}

void hroce_sack_destroy(struct hroce_qp *qp)
{
	struct hrp_spray *spray;
	struct hrp_keep *ahead;
	struct hrp_sack *sack;

	spin_lock_bh(&qp->send.lock);
	ahead = hrp_ahead_close(&qp->proto);
	spray = hrp_spray_close(&qp->proto.req);
	sack = hrp_sack_close(&qp->proto.req);
	spin_unlock_bh(&qp->send.lock);
	hroce_keep_destroy(qp, ahead);
	kfree(spray);
	kfree(sack);
}
