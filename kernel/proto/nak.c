// SPDX-License-Identifier: GPL-2.0
/*
 * When to say that a request is missing (IBTA 9.7.5.2.2).
 *
 * A peer goes back to the request that a sequence NAK names, and sends all behind
 * it again. If the request was not lost, but others have overtaken it, that is in
 * vain: what came behind the gap is kept, and it will come by itself. A peer that
 * takes selective acknowledgements judges that itself, see late.c. For others the
 * responder does.
 *
 * Some gaps are watched, one at a time. If the NAK was sent, and the request comes
 * twice, it was late. Then NAKs are held, twice as long with each that was in vain,
 * up to a millisecond. If the request comes meanwhile, there is no NAK.
 *
 * A request that is lost waits in vain. So NAKs are held only as long as two
 * thirds of what is missing come late.
 */
#include <linux/minmax.h>
#include "env.h"
#include "hold.h"
#include "nak.h"
#include "psn.h"
#include "resp_priv.h"

/* In microseconds; doubled up to 2^(STEP_MAX - 1) times this. */
#define WAIT_LEAST	64u
#define STEP_MAX	5u

/*
 * What a missing request takes from the trust, and what it gives back if it was
 * late. With enough of it, NAKs are held, or for longer.
 */
#define TRUST_GAP	2u
#define TRUST_LATE	3u
#define TRUST_ENOUGH	8u
#define TRUST_MAX	15u

/* A request that does not come twice before so many others was lost. */
#define WATCH_PKTS	512

/* Is the gap before @psn watched, and not judged yet? */
static bool nak_is_watched(const struct hrp_resp *resp, u32 psn)
{
	return psn == resp->nak_psn && !resp->sacks;
}

/* The gap at the expected PSN is lost, unless it turns out to be late. */
static void nak_watch(struct hrp_resp *resp)
{
	s32 passed = hrp_psn_diff(resp->psn, resp->nak_psn);

	if (passed >= 0 && passed < WATCH_PKTS)
		return;
	resp->nak_psn = resp->psn;
	if (resp->nak_trust >= TRUST_GAP) {
		resp->nak_trust -= TRUST_GAP;
		return;
	}
	resp->nak_trust = 0;
	if (resp->nak_step)
		resp->nak_step--;
}

static void nak_was_late(struct hrp_resp *resp)
{
	/* Not watched any more: this one is not before the expected one. */
	resp->nak_psn = hrp_psn_add(resp->psn, HRP_PSN_MASK / 2);
	resp->nak_trust = min(resp->nak_trust + TRUST_LATE, TRUST_MAX);
}

static void nak_send(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	hrp_count(qp, HROCE_EV_NAK_SEQ_SENT);
	hrp_resp_nak(resp, HRP_NAK_PSN_SEQ);
	resp->nak_held = 0;
}

void hrp_nak_gap(struct hrp_qp *qp, bool may_hold)
{
	struct hrp_resp *resp = &qp->resp;

	resp->nak_sent = 1;
	if (!resp->sacks)
		nak_watch(resp);
	if (!may_hold || !resp->nak_step || resp->sacks) {
		nak_send(qp);
		return;
	}
	resp->nak_held = 1;
	/* What has come before the gap is acknowledged at once. */
	hrp_resp_hold_end(qp);
	hrp_set_pending(qp, HRP_PENDING_NAK_HELD);
}

u32 hrp_nak_wait_us(const struct hrp_resp *resp)
{
	return resp->nak_held ? WAIT_LEAST << (resp->nak_step - 1) : 0;
}

bool hrp_nak_due(struct hrp_qp *qp)
{
	if (!qp->resp.nak_held || qp->state == HRP_ERR)
		return false;
	nak_send(qp);
	return true;
}

void hrp_nak_came(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	resp->nak_held = 0;
	if (nak_is_watched(resp, resp->psn))
		nak_was_late(resp);
	hrp_count(qp, HROCE_EV_NAK_SAVED);
}

void hrp_nak_again(struct hrp_qp *qp, u32 psn)
{
	struct hrp_resp *resp = &qp->resp;

	if (!nak_is_watched(resp, psn))
		return;
	nak_was_late(resp);
	if (resp->nak_trust >= TRUST_ENOUGH && resp->nak_step < STEP_MAX)
		resp->nak_step++;
}
