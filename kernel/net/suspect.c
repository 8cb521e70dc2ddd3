// SPDX-License-Identifier: GPL-2.0
/*
 * Detection of netdevs that spoil super-packets.
 *
 * The ICRC covers the IPv4 identification, and the sender computes it for
 * identifications that count up. A netdev that cuts super-packets, here or
 * below a bridge or a virtual machine, may repeat the first one instead, which
 * is legal with DF set (RFC 6864). Then the peer drops each packet of a
 * super-packet but the first.
 *
 * The sender watches one super-packet of new packets at a time. If it is to
 * resend from the second packet of that, only the first one has arrived. If
 * that is not before the next ones are resent, the second has arrived as well.
 * SUSPECT_ROW of the first kind in a row start a trial: single packets only. It
 * passes if SUSPECT_TRIAL of them arrive without one being resent; gaps in what
 * was sent before do not matter. After two, with the same row of losses between
 * them, the netdev is found to spoil super-packets.
 *
 * What is resent a second time goes as single packets, and from the first one
 * of a row on, all that is resent: super-packets of a netdev that spoils them
 * would arrive one packet a round trip, and no new one could be watched behind
 * them.
 *
 * Plain loss at rate p hits the second packet with probability p, and lets a
 * trial pass with (1 - p)^32. With p = 0.01 all of that together has the
 * probability 5 * 10^-13 for each loss; with p = 0.1 it is 10^-9. Where single
 * packets get lost as super-packets do, no trial passes.
 */
#include "../proto/psn.h"
#include "suspect.h"

/* Spoilt super-packets that start a trial. */
#define SUSPECT_ROW	3

/* Single packets that must arrive. */
#define SUSPECT_TRIAL	32

/* Trials that must pass. */
#define SUSPECT_PROOFS	2

static void suspect_clear(struct hroce_suspect *s)
{
	s->row = 0;
	s->proofs = 0;
}

bool hroce_suspect_watch(struct hroce_suspect *s, u32 psn)
{
	/* Others may have arrived when they were sent before. */
	if (hrp_psn_diff(psn, s->fresh) < 0)
		return false;
	s->watch = psn;
	return true;
}

/* What does this resend say about the watched super-packet? */
static void suspect_look(struct hroce_suspect *s, const struct hroce_resend *r,
			 bool *watched)
{
	if (hrp_psn_diff(r->psn, s->watch) == 1)
		s->row++;
	else if (hrp_psn_diff(r->arrived, s->watch) > 1)
		suspect_clear(s);
	/* One that was watched 2^23 packets ago seems to be ahead. */
	else if (hrp_psn_diff(r->end, s->watch) <= 1 &&
		 hrp_psn_diff(r->next, s->watch) > 0)
		return;
	*watched = false;
}

void hroce_suspect_resend(struct hroce_suspect *s,
			  const struct hroce_resend *r, bool *watched)
{
	if (*watched)
		suspect_look(s, r, watched);
	s->again = hrp_psn_diff(r->psn, s->fresh) < 0;
	s->fresh = r->keeps ? r->next : r->psn;
	s->next = r->next;
	if (s->trial) {
		if (r->late || hrp_psn_diff(r->psn, s->begin) < 0)
			return;
		s->trial = false;
		suspect_clear(s);
	} else if (s->row >= SUSPECT_ROW) {
		s->row = 0;
		s->begin = r->next;
		s->trial = true;
	}
}

bool hroce_suspect_progress(struct hroce_suspect *s, u32 psn)
{
	if (!s->trial || hrp_psn_diff(psn, s->begin) < SUSPECT_TRIAL)
		return false;
	s->trial = false;
	if (++s->proofs < SUSPECT_PROOFS)
		return false;
	suspect_clear(s);
	return true;
}

bool hroce_suspect_single(const struct hroce_suspect *s, u32 psn)
{
	return s->trial || ((s->again || s->row || s->proofs) &&
			    hrp_psn_diff(psn, s->next) < 0);
}
