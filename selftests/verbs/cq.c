// SPDX-License-Identifier: GPL-2.0
/* Completion queues: sharing, notification, overrun, resizing, moderation. */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "vt.h"

static void send_n(struct vt_pair *p, int from, int n, unsigned int flags)
{
	for (int i = from; i < from + n; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .flags = flags });
}

static void recv_n(struct vt_pair *p, int from, int n)
{
	for (int i = from; i < from + n; i++)
		vt_recv(p->qp[1], i, NULL, 0, 0);
}

static void shared_by_queue_pairs(struct vt *t)
{
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_opt o = { .rcq = { NULL, rcq } };
	struct vt_pair *p[4];
	int seen[4] = {};

	for (int i = 0; i < 4; i++) {
		p[i] = vt_pair(t, &o);
		recv_n(p[i], 0, 8);
	}
	for (int i = 0; i < 4; i++)
		send_n(p[i], 0, 8, IBV_SEND_SIGNALED);
	for (int n = 0; n < 32; n++) {
		struct ibv_wc wc = vt_poll(rcq);
		int i;

		VT_EQ(wc.status, IBV_WC_SUCCESS);
		for (i = 0; i < 4 && p[i]->qp[1]->qp_num != wc.qp_num;)
			i++;
		VT_OK(i < 4, "QPN 0x%x", wc.qp_num);
		VT_EQ(wc.wr_id, seen[i]++);
	}
}

static void send_and_receive_share(struct vt *t)
{
	struct vt_opt o = { .one_cq = true };
	struct vt_pair *p = vt_pair(t, &o);
	int sends = 0, recvs = 0;

	for (int i = 0; i < 20; i++) {
		recv_n(p, i, 1);
		send_n(p, i, 1, IBV_SEND_SIGNALED);
		vt_recv(p->qp[0], i, NULL, 0, 0);
		vt_send(p->qp[1], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i,
			.flags = IBV_SEND_SIGNALED });
	}
	for (int i = 0; i < 40; i++) {
		struct ibv_wc wc = vt_poll(p->scq[0]);

		VT_EQ(wc.status, IBV_WC_SUCCESS);
		if (wc.opcode & IBV_WC_RECV)
			VT_EQ(wc.wr_id, recvs++);
		else
			VT_EQ(wc.wr_id, sends++);
	}
	VT_EQ(sends, 20);
	VT_EQ(recvs, 20);
}

static void poll_many_at_once(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct ibv_wc wc[50];
	int n = 0;

	recv_n(p, 0, 50);
	send_n(p, 0, 50, 0);
	send_n(p, 50, 1, IBV_SEND_SIGNALED);
	recv_n(p, 50, 1);
	vt_expect(p->scq[0], 50, IBV_WC_SUCCESS);
	while (n < 50) {
		int got = ibv_poll_cq(p->rcq[1], 7, wc);

		VT_OK(got >= 0 && got <= 7, "%d", got);
		for (int i = 0; i < got; i++)
			VT_EQ(wc[i].wr_id, n++);
	}
	VT_EQ(ibv_poll_cq(p->rcq[1], 0, wc), 0);
}

static void event_for_next_completion(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);

	for (int i = 0; i < 20; i++) {
		recv_n(p, i, 1);
		VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
		VT_OK(!vt_cq_event_pending(chan, 0), "early event");
		send_n(p, i, 1, 0);
		VT_OK(vt_cq_event(chan) == p->rcq[1], "other CQ");
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		VT_OK(!vt_cq_event_pending(chan, 0), "second event");
	}
}

static int undo_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

/* A vector for each CPU, and events come whichever was chosen. */
static void each_comp_vector(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->a);
	int nr = t->a.ctx->num_comp_vectors;
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);

	if (vt_is_hroce(&t->a))
		VT_EQ(nr, sysconf(_SC_NPROCESSORS_ONLN));
	for (int i = 0; i < nr; i++) {
		struct ibv_cq *cq = ibv_create_cq(t->a.ctx, 64, NULL, chan, i);
		struct vt_opt o = { .scq = { cq } };
		struct vt_pair *p;

		VT_OK(cq, "vector %d: %s", i, strerror(errno));
		vt_defer(undo_cq, cq, "CQ");
		p = vt_pair(t, &o);
		VT_EQ(ibv_req_notify_cq(cq, 0), 0);
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 64, .remote = d,
			.flags = IBV_SEND_SIGNALED });
		VT_OK(vt_cq_event(chan) == cq, "other CQ");
		vt_expect(cq, i, IBV_WC_SUCCESS);
	}
}

#define TRACING	"/sys/kernel/tracing/"

static FILE *tracing(const char *name, const char *mode)
{
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), TRACING "%s", name);
	f = fopen(path, mode);
	VT_OK(f, "%s: %s", path, strerror(errno));
	return f;
}

/* Opened for writing, the trace is emptied. */
static void trace_events(const char *onoff)
{
	FILE *f = tracing("events/hroce/hroce_cq_event/enable", "w");

	fputs(onoff, f);
	VT_EQ(fclose(f), 0);
	fclose(tracing("trace", "w"));
}

static int undo_tracing(void *unused)
{
	(void)unused;
	trace_events("0");
	return 0;
}

/* The number of events since, all of which were raised by @cpu. */
static int events_traced(int cpu)
{
	FILE *f = tracing("trace", "r");
	char line[256];
	int n = 0, got;

	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "hroce_cq_event:"))
			continue;
		VT_OK(sscanf(strchr(line, '['), "[%d]", &got) == 1, "%s", line);
		VT_OK(got == cpu, "CPU %d expected: %s", cpu, line);
		n++;
	}
	fclose(f);
	return n;
}

/*
 * Vector 0 leaves the event where the packet was, which is here: nothing on the
 * way changes the CPU. The others are a CPU each.
 */
static void vector_is_a_cpu(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	int nr = t->b.ctx->num_comp_vectors;

	if (!vt_is_hroce(&t->b) || nr < 2)
		vt_skip("needs two CPUs, and hroce");
	vt_defer(undo_tracing, chan, "tracing");
	for (int i = 0; i < 2 * nr; i++) {
		int cpu = i / nr, vector = i % nr;
		struct ibv_cq *cq = ibv_create_cq(t->b.ctx, 64, NULL, chan,
						  vector);
		struct vt_opt o = { .rcq = { NULL, cq } };
		struct vt_pair *p;
		cpu_set_t set;

		VT_OK(cq, "vector %d: %s", vector, strerror(errno));
		vt_defer(undo_cq, cq, "CQ");
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		VT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
		p = vt_pair(t, &o);
		trace_events("1");
		for (int k = 0; k < 10; k++) {
			recv_n(p, k, 1);
			VT_EQ(ibv_req_notify_cq(cq, 0), 0);
			send_n(p, k, 1, 0);
			VT_OK(vt_cq_event(chan) == cq, "other CQ");
			vt_expect(cq, k, IBV_WC_SUCCESS);
		}
		VT_EQ(events_traced(vector ? vector : cpu), 10);
	}
}

/* The handler is on its way to another CPU when its queue goes. */
static void vector_of_cq_destroyed(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);

	if (t->b.ctx->num_comp_vectors < 2)
		vt_skip("needs two CPUs");
	for (int i = 0; i < 50; i++) {
		struct ibv_cq *cq = ibv_create_cq(t->b.ctx, 8, NULL, chan,
						  i % 2);
		struct vt_opt o = { .rcq = { NULL, cq } };
		struct vt_pair *p;

		VT_OK(cq, "%s", strerror(errno));
		p = vt_pair(t, &o);
		recv_n(p, 0, 1);
		VT_EQ(ibv_req_notify_cq(cq, 0), 0);
		send_n(p, 0, 1, IBV_SEND_SIGNALED);
		if (i % 3)
			vt_expect(p->scq[0], 0, IBV_WC_SUCCESS);
		vt_forget(p->qp[1]);
		VT_EQ(ibv_destroy_qp(p->qp[1]), 0);
		if (vt_cq_event_pending(chan, 0))
			VT_OK(vt_cq_event(chan) == cq, "other CQ");
		VT_EQ(ibv_destroy_cq(cq), 0);
	}
}

static unsigned int read_all_events(struct ibv_comp_channel *chan)
{
	unsigned int n;

	for (n = 0; vt_cq_event_pending(chan, 0); n++)
		vt_cq_event(chan);
	return n;
}

/*
 * A process that asks for an event of each completion, and reads none, gets 32,
 * or one more that was under way.
 * Once it has read them, the next completion raises one without being asked again.
 */
static void unread_events_are_limited(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);
	unsigned int n;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 500; i++) {
			VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
			vt_recv(p->qp[1], i, NULL, 0, 0);
			VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND }),
			      IBV_WC_SUCCESS);
			vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		}
		n = read_all_events(chan);
		VT_OK(n == 32 || n == 33, "%u events were queued", n);
		vt_recv(p->qp[1], 7, NULL, 0, 0);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND }),
		      IBV_WC_SUCCESS);
		VT_OK(vt_cq_event(chan) == p->rcq[1], "other CQ");
		vt_expect(p->rcq[1], 7, IBV_WC_SUCCESS);
	}
}

/* One event per request, however many completions follow. */
static void one_event_per_arming(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);

	recv_n(p, 0, 30);
	VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
	send_n(p, 0, 10, 0);
	vt_cq_event(chan);
	for (int i = 0; i < 10; i++)
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	send_n(p, 10, 10, 0);
	for (int i = 10; i < 20; i++)
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	VT_OK(!vt_cq_event_pending(chan, 20), "event without arming");
}

static void solicited_only(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *m = vt_mem(&t->a, 5000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 5000, VT_ALL);
	struct vt_wr w = {
		.op = t->arg, .local = m, .len = 5000,
		.remote = t->arg == IBV_WR_RDMA_WRITE_WITH_IMM ? d : NULL,
	};

	for (int i = 0; i < 4; i++)
		vt_recv(p->qp[1], i, d, 0, 5000);
	VT_EQ(ibv_req_notify_cq(p->rcq[1], 1), 0);
	vt_send(p->qp[0], &w);
	vt_expect(p->rcq[1], 0, IBV_WC_SUCCESS);
	VT_OK(!vt_cq_event_pending(chan, 20), "unsolicited event");
	w.flags = IBV_SEND_SOLICITED;
	vt_send(p->qp[0], &w);
	vt_cq_event(chan);
	vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
}

/* Errors count as solicited. */
static void error_wakes_solicited(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);

	recv_n(p, 0, 1);
	VT_EQ(ibv_req_notify_cq(p->rcq[1], 1), 0);
	vt_to(p->qp[1], IBV_QPS_ERR);
	vt_cq_event(chan);
	vt_expect(p->rcq[1], 0, IBV_WC_WR_FLUSH_ERR);
}

/*
 * The classic loop: arm, poll until empty, wait. If a completion could slip
 * in between without an event, the loop would hang.
 */
static void no_event_lost(struct vt *t)
{
	enum { NR = 1000, WIN = 16 };
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);
	int sent = 0, got = 0, acked = 0;
	struct ibv_wc wc;

	recv_n(p, 0, WIN);
	vt_srand(3);
	VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
	while (got < NR) {
		int burst = 1 + vt_rand() % 5;

		while (burst-- && sent < NR && sent - got < WIN)
			send_n(p, sent++, 1, IBV_SEND_SIGNALED);
		vt_cq_event(chan);
		VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
		while (ibv_poll_cq(p->rcq[1], 1, &wc) == 1) {
			VT_EQ(wc.status, IBV_WC_SUCCESS);
			VT_EQ(wc.wr_id, got);
			if (got + WIN < NR)
				recv_n(p, got + WIN, 1);
			got++;
		}
		while (ibv_poll_cq(p->scq[0], 1, &wc) == 1)
			VT_EQ(wc.wr_id, acked++);
		/* All polled, nothing in flight: the next event needs a send. */
		if (got == sent && vt_cq_event_pending(chan, 0))
			vt_cq_event(chan);
		if (got == sent)
			VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
	}
}

static void channel_shared_by_cqs(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o), *q = vt_pair(t, &o);

	recv_n(p, 0, 1);
	recv_n(q, 0, 1);
	VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
	VT_EQ(ibv_req_notify_cq(q->rcq[1], 0), 0);
	send_n(q, 0, 1, 0);
	VT_OK(vt_cq_event(chan) == q->rcq[1], "other CQ");
	send_n(p, 0, 1, 0);
	VT_OK(vt_cq_event(chan) == p->rcq[1], "other CQ");
}

/* Too many completions: the CQ fails and says so, others go on. */
static void overrun_hurts_nobody_else(struct vt *t)
{
	struct ibv_cq *small = vt_cq(&t->a, 4, NULL);
	struct vt_opt o = { .scq = { small, NULL }, .sq = 4096 };
	struct vt_pair *p = vt_pair(t, &o), *other = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);

	for (int i = 0; i < small->cqe + 2; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 64, .remote = d,
			.flags = IBV_SEND_SIGNALED });
	VT_OK(vt_async(&t->a, IBV_EVENT_CQ_ERR) == (void *)small, "other CQ");
	vt_wait_state(p->qp[0], IBV_QPS_ERR);
	recv_n(other, 0, 10);
	send_n(other, 0, 10, IBV_SEND_SIGNALED);
	for (int i = 0; i < 10; i++) {
		vt_expect(other->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(other->rcq[1], i, IBV_WC_SUCCESS);
	}
}

/*
 * The completion that has no room is that of a send request which fails. The
 * error is not one of the send queue only: receive requests are flushed.
 */
static void overrun_by_error(struct vt *t)
{
	struct ibv_cq *small = vt_cq(&t->a, 4, NULL);
	struct vt_opt o = { .type = IBV_QPT_UD, .scq = { small, NULL } };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *m = vt_mem(&t->a, 64, VT_ALL);
	struct vt_wr w = {
		.op = IBV_WR_SEND, .ah = p->ah[0], .qpn = p->qp[1]->qp_num,
		.local = m, .len = 8, .flags = IBV_SEND_SIGNALED,
	};

	vt_recv(p->qp[0], 1, m, 0, 64);
	for (int i = 0; i < small->cqe; i++)
		vt_send(p->qp[0], &w);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_RTS);
	w.off = 64;
	vt_send(p->qp[0], &w);
	VT_OK(vt_async(&t->a, IBV_EVENT_CQ_ERR) == (void *)small, "other CQ");
	vt_expect(p->rcq[0], 1, IBV_WC_WR_FLUSH_ERR);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_ERR);
}

/* Exactly as many completions as entries is not an overrun. */
static void filled_to_the_brim(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 7, NULL);
	struct vt_opt o = { .scq = { cq, NULL }, .sq = 1024 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 8, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 8, VT_ALL);

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < cq->cqe; i++)
			vt_send(p->qp[0], &(struct vt_wr){
				.id = i, .local = s, .len = 8, .remote = d,
				.flags = IBV_SEND_SIGNALED });
		VT_OK(!vt_async_pending(&t->a, 20), "event");
		for (int i = 0; i < cq->cqe; i++)
			vt_expect(cq, i, IBV_WC_SUCCESS);
	}
}

/* Completions of a destroyed queue pair are gone from the CQ. */
static void destroyed_qp_leaves_no_trace(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 64, NULL);
	struct vt_opt o = { .scq = { cq, NULL } };
	struct vt_pair *p = vt_pair(t, &o), *q = vt_pair(t, &o);
	struct ibv_wc wc;

	recv_n(p, 0, 8);
	recv_n(q, 0, 8);
	send_n(p, 0, 8, IBV_SEND_SIGNALED);
	send_n(q, 100, 8, IBV_SEND_SIGNALED);
	for (int i = 0; i < 8; i++) {
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		vt_expect(q->rcq[1], i, IBV_WC_SUCCESS);
	}
	vt_forget(p->qp[0]);
	VT_EQ(ibv_destroy_qp(p->qp[0]), 0);
	for (int i = 0; i < 8; i++) {
		wc = vt_poll(cq);
		while (wc.wr_id < 100)
			wc = vt_poll(cq);
		VT_EQ(wc.wr_id, 100 + i);
	}
}

/* Completions that were not polled move along, in order, whatever the size. */
static void resize_keeps_completions(struct vt *t)
{
	static const int sizes[] = { 200, 40, 1000, 33, 64 };
	struct ibv_cq *cq = vt_cq(&t->b, 64, NULL);
	struct vt_opt o = { .rcq = { NULL, cq }, .rq = 256 };
	struct vt_pair *p = vt_pair(t, &o);
	int sent = 0, got = 0;

	for (unsigned int i = 0; i < 40; i++) {
		int size = sizes[i % ARRAY_SIZE(sizes)];

		for (int n = 0; n < 31; n++, sent++) {
			recv_n(p, sent, 1);
			send_n(p, sent, 1, IBV_SEND_SIGNALED);
			vt_expect(p->scq[0], sent, IBV_WC_SUCCESS);
		}
		VT_EQ(ibv_resize_cq(cq, size), 0);
		VT_OK(cq->cqe >= size, "%d", cq->cqe);
		while (got < sent - (int)(i % 3))
			vt_expect(cq, got++, IBV_WC_SUCCESS);
	}
	while (got < sent)
		vt_expect(cq, got++, IBV_WC_SUCCESS);
	vt_quiet(cq, 20);
}

static void resize_too_small(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->b, 64, NULL);
	struct vt_opt o = { .rcq = { NULL, cq } };
	struct vt_pair *p = vt_pair(t, &o);

	recv_n(p, 0, 20);
	send_n(p, 0, 20, IBV_SEND_SIGNALED);
	for (int i = 0; i < 20; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	VT_EQ(ibv_resize_cq(cq, 8), EINVAL);
	VT_EQ(ibv_resize_cq(cq, 0), EINVAL);
	VT_EQ(ibv_resize_cq(cq, t->b.dev.max_cqe + 1), EINVAL);
	for (int i = 0; i < 20; i++)
		vt_expect(cq, i, IBV_WC_SUCCESS);
	VT_EQ(ibv_resize_cq(cq, 8), 0);
	recv_n(p, 20, 1);
	send_n(p, 20, 1, 0);
	vt_expect(cq, 20, IBV_WC_SUCCESS);
}

/* What is asked for before resizing is answered after it. */
static void resize_while_armed(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);

	for (int i = 0; i < 10; i++) {
		recv_n(p, i, 1);
		VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
		VT_EQ(ibv_resize_cq(p->rcq[1], i & 1 ? 300 : 100), 0);
		VT_OK(!vt_cq_event_pending(chan, 0), "early event");
		send_n(p, i, 1, 0);
		VT_OK(vt_cq_event(chan) == p->rcq[1], "other CQ");
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	}
}

/* Bytes of the process that are rings. */
static unsigned long mapped_rings(void)
{
	unsigned long from, to, sum = 0;
	char line[512];
	FILE *f;

	f = fopen("/proc/self/maps", "r");
	VT_OK(f, "no /proc/self/maps");
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "/dev/infiniband/uverbs") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			sum += to - from;
	fclose(f);
	return sum;
}

/* But for one page, once, which is where the CQ is armed. */
static void resize_keeps_no_memory(struct vt *t)
{
	unsigned long without = mapped_rings(), with;
	struct ibv_cq *cq = vt_cq(&t->b, 1000, NULL);

	if (!vt_is_hroce(&t->b))
		vt_skip("queues of another kind");
	with = mapped_rings();
	for (int i = 0; i < 100; i++)
		VT_EQ(ibv_resize_cq(cq, i & 1 ? 1000 : 3000), 0);
	VT_EQ(mapped_rings(), with + 4096);
	vt_forget(cq);
	VT_EQ(ibv_destroy_cq(cq), 0);
	VT_EQ(mapped_rings(), without);
}

/* Nothing has happened if the new ring finds no room in the process. */
static void resize_without_address_space(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);
	struct ibv_cq *cq = p->rcq[1];
	struct rlimit limit, none;
	int cqe = cq->cqe;

	recv_n(p, 0, 30);
	send_n(p, 0, 10, IBV_SEND_SIGNALED);
	for (int i = 0; i < 10; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	VT_EQ(ibv_req_notify_cq(cq, 0), 0);
	VT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
	none = limit;
	none.rlim_cur = 1 << 20;
	for (int i = 0; i < 50; i++) {
		VT_EQ(setrlimit(RLIMIT_AS, &none), 0);
		VT_EQ(ibv_resize_cq(cq, 10000), ENOMEM);
		VT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	}
	VT_EQ(cq->cqe, cqe);
	VT_OK(!vt_cq_event_pending(chan, 0), "early event");
	for (int i = 0; i < 10; i++)
		vt_expect(cq, i, IBV_WC_SUCCESS);
	send_n(p, 10, 10, 0);
	VT_OK(vt_cq_event(chan) == cq, "other CQ");
	for (int i = 10; i < 20; i++)
		vt_expect(cq, i, IBV_WC_SUCCESS);
	VT_EQ(ibv_resize_cq(cq, 10000), 0);
	send_n(p, 20, 10, 0);
	for (int i = 20; i < 30; i++)
		vt_expect(cq, i, IBV_WC_SUCCESS);
}

static void *resize_all_the_time(void *arg)
{
	struct ibv_cq *cq = arg;

	for (int i = 0; i < 200; i++)
		if (ibv_resize_cq(cq, 64 << (i % 4)))
			return cq;
	return NULL;
}

/* Another thread waits, arms and polls; no completion and no event is lost. */
static void resize_under_traffic(struct vt *t)
{
	enum { NR = 2000, WIN = 16 };
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);
	int sent = 0, got = 0, acked = 0;
	struct ibv_wc wc;
	pthread_t thread;
	void *bad;

	VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
	VT_EQ(pthread_create(&thread, NULL, resize_all_the_time, p->rcq[1]), 0);
	recv_n(p, 0, WIN);
	while (got < NR) {
		while (sent < NR && sent - got < WIN)
			send_n(p, sent++, 1, IBV_SEND_SIGNALED);
		vt_cq_event(chan);
		VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
		while (ibv_poll_cq(p->rcq[1], 1, &wc) == 1) {
			VT_EQ(wc.status, IBV_WC_SUCCESS);
			VT_EQ(wc.wr_id, got);
			if (got + WIN < NR)
				recv_n(p, got + WIN, 1);
			got++;
		}
		while (acked < got)
			vt_expect(p->scq[0], acked++, IBV_WC_SUCCESS);
	}
	VT_EQ(pthread_join(thread, &bad), 0);
	VT_OK(!bad, "resizing failed");
}

static void moderate(struct ibv_cq *cq, uint16_t count, uint16_t period_us)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period_us },
	};

	VT_EQ(ibv_modify_cq(cq, &attr), 0);
}

static void moderation_is_offered(struct vt *t)
{
	struct ibv_device_attr_ex attr;

	VT_EQ(ibv_query_device_ex(t->a.ctx, NULL, &attr), 0);
	VT_EQ(attr.cq_mod_caps.max_cq_count, UINT16_MAX);
	VT_EQ(attr.cq_mod_caps.max_cq_period, UINT16_MAX);
}

/* One event for five completions, long before the period is over. */
static void moderated_by_count(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);
	uint64_t start = vt_now_us();
	int i;

	moderate(p->rcq[1], 5, 60000);
	recv_n(p, 0, 11);
	for (i = 0; i < 10; i++) {
		if (i % 5 == 0)
			VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
		send_n(p, i, 1, IBV_SEND_SIGNALED);
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		if (i % 5 != 4 && vt_now_us() - start < 60000)
			VT_OK(!vt_cq_event_pending(chan, 0), "at %d", i);
		if (i % 5 == 4)
			vt_cq_event(chan);
	}
	for (i = 0; i < 10; i++)
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	moderate(p->rcq[1], 0, 0);
	VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
	send_n(p, 10, 1, 0);
	vt_cq_event(chan);
}

/* Who waits in vain for more hears of what there is. */
static void moderated_by_period(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);
	uint64_t start;

	moderate(p->rcq[1], 1000, 50000);
	recv_n(p, 0, 4);
	for (int i = 0; i < 4; i++) {
		VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
		start = vt_now_us();
		send_n(p, i, 1, 0);
		VT_OK(vt_cq_event(chan) == p->rcq[1], "other CQ");
		VT_OK(vt_now_us() - start >= 50000, "too early");
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	}
}

/* The period begins anew behind an event that the count has raised. */
static void moderated_anew(struct vt *t)
{
	struct ibv_comp_channel *chan = vt_channel(&t->b);
	struct vt_opt o = { .chan = { NULL, chan } };
	struct vt_pair *p = vt_pair(t, &o);
	uint64_t start;

	moderate(p->rcq[1], 2, 60000);
	recv_n(p, 0, 3);
	VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
	send_n(p, 0, 2, 0);
	vt_cq_event(chan);
	for (int i = 0; i < 2; i++)
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	VT_EQ(ibv_req_notify_cq(p->rcq[1], 0), 0);
	usleep(30000);
	start = vt_now_us();
	send_n(p, 2, 1, 0);
	vt_cq_event(chan);
	VT_OK(vt_now_us() - start >= 60000, "after %llu us",
	      (unsigned long long)(vt_now_us() - start));
	vt_expect(p->rcq[1], 2, IBV_WC_SUCCESS);
}

/* A queue whose owner answers for the room raises no error when it wraps. */
static void overrun_ignored(struct vt *t)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(t->a.ctx, &attr);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_opt o = { .scq = { NULL, NULL } };
	struct vt_pair *p;

	VT_OK(ex, "%s", strerror(errno));
	vt_defer(undo_cq, ibv_cq_ex_to_cq(ex), "CQ");
	o.scq[0] = ibv_cq_ex_to_cq(ex);
	p = vt_pair(t, &o);
	for (int i = 0; i < 4 * o.scq[0]->cqe; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 64, .remote = d,
			.flags = IBV_SEND_SIGNALED });
	VT_OK(!vt_async_pending(&t->a, 50), "event");
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_RTS);
}

static const struct vt_case cases[] = {
	VT_CASE(shared_by_queue_pairs),
	VT_CASE(send_and_receive_share),
	VT_CASE(poll_many_at_once),
	VT_CASE(event_for_next_completion),
	VT_CASE(each_comp_vector),
	VT_CASE(vector_is_a_cpu),
	VT_CASE(vector_of_cq_destroyed),
	VT_CASE(unread_events_are_limited),
	VT_CASE(one_event_per_arming),
	VT_CASE_ARG("solicited_send", solicited_only, IBV_WR_SEND),
	VT_CASE_ARG("solicited_send_imm", solicited_only,
		    IBV_WR_SEND_WITH_IMM),
	VT_CASE_ARG("solicited_write_imm", solicited_only,
		    IBV_WR_RDMA_WRITE_WITH_IMM),
	VT_CASE(error_wakes_solicited),
	VT_CASE(no_event_lost),
	VT_CASE(channel_shared_by_cqs),
	VT_CASE(overrun_hurts_nobody_else),
	VT_CASE(overrun_by_error),
	VT_CASE(filled_to_the_brim),
	VT_CASE(destroyed_qp_leaves_no_trace),
	VT_CASE(resize_keeps_completions),
	VT_CASE(resize_too_small),
	VT_CASE(resize_while_armed),
	VT_CASE(resize_keeps_no_memory),
	VT_CASE(resize_without_address_space),
	VT_CASE(resize_under_traffic),
	VT_CASE(moderation_is_offered),
	VT_CASE(moderated_by_count),
	VT_CASE(moderated_by_period),
	VT_CASE(moderated_anew),
	VT_CASE(overrun_ignored),
};

VT_MAIN(cases)
