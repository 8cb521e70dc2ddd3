// SPDX-License-Identifier: GPL-2.0
/*
 * Record when WRITEs complete. Reads commands from standard input, and answers
 * each with one line:
 *
 *	run MS		a posts WRITEs of 64 KB for so many milliseconds, 16
 *			under way; answers with the times of their completions,
 *			in microseconds of CLOCK_MONOTONIC
 *
 * Needs HROCE_DEV and HROCE_DEV2, as all verbs tests. Ends with status 1 if a
 * WRITE fails, or nothing completes for two seconds.
 */
#include <poll.h>

#include "vt.h"

#define PULSE_LEN	65536
#define PULSE_DEPTH	16
#define PULSE_MAX	200000
#define STUCK_MS	2000

/**
 * struct pulse - the pair and what it has done
 * @t: both ends
 * @p: pair
 * @chan: wakes when a WRITE completes
 * @s: memory on a
 * @d: memory on b
 * @at: when WRITEs completed
 * @nr: how many did
 * @flying: WRITEs under way
 */
struct pulse {
	struct vt t;
	struct vt_pair *p;
	struct ibv_comp_channel *chan;
	struct vt_mem *s;
	struct vt_mem *d;
	uint64_t at[PULSE_MAX];
	unsigned int nr;
	unsigned int flying;
};

static void post(struct pulse *u)
{
	vt_send(u->p->qp[0], &(struct vt_wr){
		.local = u->s, .len = PULSE_LEN, .remote = u->d,
		.flags = IBV_SEND_SIGNALED });
	u->flying++;
}

/* Return: whether there was a completion. */
static bool take(struct pulse *u)
{
	struct ibv_wc wc;

	if (!ibv_poll_cq(u->p->scq[0], 1, &wc))
		return false;
	VT_OK(!wc.status, "%s", ibv_wc_status_str(wc.status));
	VT_OK(u->nr < PULSE_MAX, "too many completions");
	u->at[u->nr++] = vt_now_us();
	u->flying--;
	return true;
}

static void wait_for_one(struct pulse *u)
{
	struct pollfd fd = { .fd = u->chan->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	VT_EQ(ibv_req_notify_cq(u->p->scq[0], 0), 0);
	if (take(u))
		return;
	VT_OK(poll(&fd, 1, STUCK_MS * vt_scale()) == 1, "nothing completes");
	VT_EQ(ibv_get_cq_event(u->chan, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

static void run(struct pulse *u, int ms)
{
	uint64_t end = vt_now_us() + 1000ull * ms;

	u->nr = 0;
	for (;;) {
		while (u->flying < PULSE_DEPTH && vt_now_us() < end)
			post(u);
		/* All have completed before: there is nothing to wait for. */
		if (!u->flying)
			break;
		if (!take(u))
			wait_for_one(u);
	}
	for (unsigned int i = 0; i < u->nr; i++)
		printf("%llu ", (unsigned long long)u->at[i]);
	printf("\n");
	fflush(stdout);
}

int main(void)
{
	struct vt_opt o = { .sq = PULSE_DEPTH };
	int family = vt_family();
	static struct pulse u;
	char line[128];
	int ms;

	vt_open(&u.t.a, vt_dev_name(0), family);
	vt_open(&u.t.b, vt_dev_name(1), family);
	u.s = vt_mem(&u.t.a, PULSE_LEN, VT_ALL);
	u.d = vt_mem(&u.t.b, PULSE_LEN, VT_ALL);
	u.chan = vt_channel(&u.t.a);
	o.chan[0] = u.chan;
	u.p = vt_pair(&u.t, &o);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "run %d", &ms) == 1)
			run(&u, ms);
		else
			printf("what?\n");
	}
	return 0;
}
