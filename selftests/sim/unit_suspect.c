// SPDX-License-Identifier: GPL-2.0
/* Netdevs that spoil super-packets are found, and loss is not taken for one. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "net/suspect.h"
#include "proto/psn.h"
#include "tap.h"

#define WINDOW		64u
#define FIRST_PSN	0xfffff0u

/* How packets get lost. */
struct wire {
	bool spoils;		/* all of a super-packet but the first */
	bool alternate;		/* every second packet */
	u32 per_mille;
	u32 run;		/* packets that are lost together */
};

static struct {
	struct wire wire;
	struct hroce_suspect s;
	bool watched;
	bool keeps;
	bool found;
	u32 una;		/* what has arrived in order */
	u32 next;		/* free-running, as una */
	bool have[WINDOW];	/* at index PSN modulo WINDOW */
	u32 lost_run;
	u32 sent;
	u32 resends;
} m;

static u32 psn(u32 n)
{
	return (FIRST_PSN + n) & HRP_PSN_MASK;
}

static bool lost(bool first)
{
	m.sent++;
	if (m.wire.spoils && !first)
		return true;
	if (m.wire.alternate)
		return m.sent & 1;
	if (m.lost_run)
		return m.lost_run--;
	if ((u32)(rand() % 1000) >= m.wire.per_mille)
		return false;
	m.lost_run = m.wire.run - 1;
	return true;
}

static void arrive(u32 n)
{
	if (!m.keeps && n != m.una)
		return;
	m.have[n % WINDOW] = true;
	while (m.have[m.una % WINDOW])
		m.have[m.una++ % WINDOW] = false;
}

/* One frame of up to @nr packets from @n on. */
static void send_frame(u32 n, u32 nr)
{
	u32 i;

	if (nr > 1 && !m.watched)
		m.watched = hroce_suspect_watch(&m.s, psn(n));
	for (i = 0; i < nr; i++) {
		/* The answer is after all of them. */
		if (!lost(!i) && n + i - m.una < WINDOW)
			arrive(n + i);
	}
}

/* A round trip: what is reported missing, then new packets. */
static void round_trip(u32 frame)
{
	u32 n = m.una, end, nr;

	if (hroce_suspect_progress(&m.s, psn(m.una)))
		m.found = true;
	if (m.una != m.next) {
		struct hroce_resend r = {
			.psn = psn(m.una),
			.end = psn(m.keeps ? m.una + 1 : m.next),
			.arrived = psn(m.una),
			.next = psn(m.next),
			.keeps = m.keeps,
		};

		hroce_suspect_resend(&m.s, &r, &m.watched);
		m.resends++;
		send_frame(n++, 1);
		while (!m.keeps && n != m.next) {
			nr = hroce_suspect_single(&m.s, psn(n)) ?
				     1 :
				     min(frame, m.next - n);
			send_frame(n, nr);
			n += nr;
		}
	}
	end = m.una + WINDOW - frame;
	nr = hroce_suspect_single(&m.s, psn(m.next)) ? 1 : frame;
	while ((s32)(end - m.next) > 0) {
		m.next += nr;
		send_frame(m.next - nr, nr);
	}
}

/* Send @nr packets or more, in frames of @frame; stop when it is found. */
static void run(struct wire wire, bool keeps, u32 frame, u32 nr)
{
	memset(&m, 0, sizeof(m));
	m.wire = wire;
	m.keeps = keeps;
	srand(frame);
	while (!m.found && m.sent < nr)
		round_trip(frame);
}

static const u32 frames[] = { 2, 3, 15, 40 };

static void expect_found(bool keeps)
{
	struct wire wire = { .spoils = true, .run = 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(frames); i++) {
		wire.per_mille = 0;
		run(wire, keeps, frames[i], 20000);
		tap_ok(m.found);
		/* Loss beside it delays that. */
		wire.per_mille = 5;
		run(wire, keeps, frames[i], 200000);
		tap_ok(m.found);
	}
}

static void spoilt_for_peers_that_keep(void)
{
	expect_found(true);
}

static void spoilt_for_peers_that_drop(void)
{
	expect_found(false);
}

static void expect_not_found(struct wire wire)
{
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(frames); i++) {
		run(wire, i & 1, frames[i / 2], 300000);
		tap_ok(!m.found);
		tap_ok(m.resends > 100);
	}
}

static void loss(void)
{
	expect_not_found((struct wire){ .per_mille = 10, .run = 1 });
	expect_not_found((struct wire){ .per_mille = 100, .run = 1 });
	expect_not_found((struct wire){ .per_mille = 300, .run = 1 });
}

static void bursts_of_loss(void)
{
	expect_not_found((struct wire){ .per_mille = 5, .run = 4 });
	expect_not_found((struct wire){ .per_mille = 5, .run = 17 });
}

/* Single packets fare no better: they are no cure. */
static void every_second_packet(void)
{
	expect_not_found((struct wire){ .alternate = true });
}

/* What had been sent before a trial may be lost. */
static void trial_counts_new_packets(void)
{
	struct hroce_resend r = { .keeps = true };
	struct hroce_suspect s = {};
	bool watched = true;
	u32 i;

	/* The first super-packet from each resend on loses its second packet. */
	for (i = 0; !s.trial && i < 100; i++) {
		tap_eq(hroce_suspect_watch(&s, r.next), true);
		watched = true;
		r.psn = r.next + 1;
		r.arrived = r.psn;
		r.end = r.psn + 1;
		r.next += 50;
		hroce_suspect_resend(&s, &r, &watched);
		tap_ok(!watched);
	}
	tap_ok(s.trial);
	tap_eq(i, 3);
	r.psn += 10;
	hroce_suspect_resend(&s, &r, &watched);
	/* One that was late only says nothing, either. */
	r.psn = r.next + 5;
	r.late = true;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(hroce_suspect_single(&s, r.next));
	tap_ok(!hroce_suspect_progress(&s, s.begin + 31));
	tap_ok(hroce_suspect_single(&s, r.next));
	tap_ok(!hroce_suspect_progress(&s, s.begin + 32));
	tap_ok(!hroce_suspect_single(&s, r.next));
	/* In doubt still, so what is resent goes one by one. */
	tap_ok(hroce_suspect_single(&s, r.next - 1));
	tap_eq(s.proofs, 1);
	s.trial = true;
	r.psn = r.next;
	r.late = false;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(!s.trial);
	tap_eq(s.proofs, 0);
	tap_ok(!hroce_suspect_single(&s, r.next - 1));
}

/* A resend that does not touch the watched super-packet leaves it watched. */
static void gaps_before_the_watched_one(void)
{
	struct hroce_resend r = { .next = 100, .keeps = true };
	struct hroce_suspect s = {};
	bool watched = false;

	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(!hroce_suspect_watch(&s, 99));
	tap_ok(hroce_suspect_watch(&s, 100));
	watched = true;
	r.next = 150;
	r.psn = r.arrived = 50;
	r.end = 60;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(watched);
	/* Its first packet alone. */
	r.psn = r.arrived = 100;
	r.end = 101;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(watched);
	r.psn = r.arrived = 101;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(!watched);
	tap_eq(s.row, 1);
	/* Its first packets, and others behind it: it tells nothing. */
	watched = hroce_suspect_watch(&s, 200);
	r.next = 250;
	r.psn = r.arrived = 200;
	r.end = 202;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(!watched);
	tap_eq(s.row, 1);
	/* Its second packet has arrived. */
	watched = hroce_suspect_watch(&s, 300);
	r.next = 350;
	r.psn = r.arrived = 302;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(!watched);
	tap_eq(s.row, 0);
}

/* What got lost twice, or is in doubt, is resent one by one; new ones are not. */
static void resent_again_one_by_one(void)
{
	struct hroce_resend r = { .psn = 50, .end = 51, .arrived = 50, .next = 90 };
	struct hroce_suspect s = { .fresh = 10, .next = 10 };
	bool watched = false;

	r.keeps = true;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(!hroce_suspect_single(&s, 50));
	r.psn = r.arrived = 51;
	r.end = r.next = 95;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(hroce_suspect_single(&s, 51));
	tap_ok(hroce_suspect_single(&s, 94));
	tap_ok(!hroce_suspect_single(&s, 95));
	/* One that was new then. */
	r.psn = r.arrived = 96;
	r.next = 140;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(!hroce_suspect_single(&s, 96));
}

/* Nothing was resent for so long that the PSN seems to be ahead of all. */
static void watched_long_ago(void)
{
	struct hroce_resend r = {
		.psn = 10,
		.end = 11,
		.arrived = 10,
		.next = 50,
		.keeps = true,
	};
	struct hroce_suspect s = {};
	bool watched = hroce_suspect_watch(&s, 20);

	tap_ok(watched);
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(watched);
	r.psn = r.arrived = (20 + (1u << 23) + 1000) & HRP_PSN_MASK;
	r.end = r.psn + 1;
	r.next = r.psn + 50;
	hroce_suspect_resend(&s, &r, &watched);
	tap_ok(!watched);
	tap_eq(s.row, 0);
	tap_ok(hroce_suspect_watch(&s, r.next));
}

int main(void)
{
	tap_plan(9);
	tap_run(spoilt_for_peers_that_keep);
	tap_run(spoilt_for_peers_that_drop);
	tap_run(loss);
	tap_run(bursts_of_loss);
	tap_run(every_second_packet);
	tap_run(trial_counts_new_packets);
	tap_run(gaps_before_the_watched_one);
	tap_run(resent_again_one_by_one);
	tap_run(watched_long_ago);
	return tap_exit();
}
