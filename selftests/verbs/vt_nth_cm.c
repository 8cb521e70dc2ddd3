// SPDX-License-Identifier: GPL-2.0
/*
 * The n-th allocation that a connection by rdma_cm causes inside hroce fails,
 * for n from 1 until a connection meets no failure any more. Much of it is
 * allocated by workers and in soft interrupts, so the counter of a process
 * (/proc/thread-self/fail-nth) does not do: the whole system's is used. Either
 * the connection comes about, as messages of the connection manager are
 * repeated, or a call or an event says ENOMEM, ETIMEDOUT or that the peer
 * rejects; then the same works at once without failures.
 *
 * Needs a kernel with fault injection, aimed at hroce by selftests/faults, and
 * works once after boot: see arm().
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "vt.h"

#define CM_PORT		18517
#define RESOLVE_MS	2000
#define MAX_NTH		5000
/* The connection manager sends a request 16 times, every 8.6 s at most. */
#define CONNECT_S	150

/**
 * struct side - one end of a connection
 * @ch: event channel, which stays
 * @id: connection, or NULL
 * @pd: protection domain of @id
 * @cq: of both queues of @id
 * @established: so it was said
 */
struct side {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	bool established;
};

/**
 * struct nth_cm - what a case works with
 * @t: ends of the case
 * @attr: directory of the kind of allocation that fails
 * @listener: of the passive side
 * @active: side that connects
 * @passive: side that accepts
 * @attempt: number of this attempt, which its request carries
 * @count: allocations that the kernel has counted since boot
 */
struct nth_cm {
	struct vt *t;
	const char *attr;
	struct rdma_cm_id *listener;
	struct side active;
	struct side passive;
	uint32_t attempt;
	unsigned long count;
};

/* ---- what fails ---- */

static void knob_write(const struct nth_cm *x, const char *name,
		       unsigned long value)
{
	char path[128], s[24];
	int fd, len;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", x->attr, name);
	fd = open(path, O_WRONLY);
	VT_OK(fd >= 0, "%s: %s", path, strerror(errno));
	len = snprintf(s, sizeof(s), "%lu", value);
	VT_EQ(write(fd, s, len), len);
	close(fd);
}

static int times_left(const struct nth_cm *x)
{
	char path[128], s[24] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/times", x->attr);
	fd = open(path, O_RDONLY);
	VT_OK(fd >= 0, "%s: %s", path, strerror(errno));
	VT_OK(read(fd, s, sizeof(s) - 1) > 0, "%s", path);
	close(fd);
	return atoi(s);
}

/*
 * The kernel counts allocations since boot, unless the interval is 1, and one
 * fails whose number is a multiple of the interval. So the next multiple of
 * the count before plus n is the n-th from now.
 */
static void arm(const struct nth_cm *x, int n)
{
	knob_write(x, "interval", x->count + n);
	knob_write(x, "times", 1);
	knob_write(x, "probability", 100);
}

/* Returns whether a failure was met. */
static bool disarm(struct nth_cm *x, int n)
{
	bool met;

	knob_write(x, "probability", 0);
	knob_write(x, "interval", 1);
	met = !times_left(x);
	if (met)
		x->count += n;
	return met;
}

/* ---- a connection ---- */

static int make_qp(struct side *s)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 },
	};

	s->pd = ibv_alloc_pd(s->id->verbs);
	if (!s->pd)
		return errno;
	s->cq = ibv_create_cq(s->id->verbs, 16, NULL, NULL, 0);
	if (!s->cq)
		return errno;
	attr.send_cq = s->cq;
	attr.recv_cq = s->cq;
	return rdma_create_qp(s->id, s->pd, &attr) ? errno : 0;
}

static void drop(struct side *s)
{
	if (s->id && s->id->qp)
		rdma_destroy_qp(s->id);
	if (s->cq)
		VT_EQ(ibv_destroy_cq(s->cq), 0);
	if (s->pd)
		VT_EQ(ibv_dealloc_pd(s->pd), 0);
	if (s->id)
		VT_EQ(rdma_destroy_id(s->id), 0);
	s->id = NULL;
	s->cq = NULL;
	s->pd = NULL;
	s->established = false;
}

static int connect_to(struct nth_cm *x)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
		.private_data = &x->attempt,
		.private_data_len = sizeof(x->attempt),
	};
	int err = make_qp(&x->active);

	if (err)
		return err;
	return rdma_connect(x->active.id, &param) ? errno : 0;
}

static int accept_from(struct nth_cm *x)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1,
		.rnr_retry_count = 7,
	};
	int err = make_qp(&x->passive);

	if (err)
		return err;
	return rdma_accept(x->passive.id, &param) ? errno : 0;
}

/* Of an event that says no: a negative errno, or why the peer rejects. */
static int why(const struct rdma_cm_event *ev)
{
	if (ev->event == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	/* librdmacm says no more when the queue pair could not be modified. */
	if (ev->status == -1)
		return ENOMEM;
	return ev->status < 0 ? -ev->status : EPROTO;
}

static int active_event(struct nth_cm *x, const struct rdma_cm_event *ev)
{
	switch (ev->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(ev->id, RESOLVE_MS) ? errno : 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return connect_to(x);
	case RDMA_CM_EVENT_ESTABLISHED:
		x->active.established = true;
		return 0;
	default:
		return why(ev);
	}
}

static int passive_event(struct nth_cm *x, const struct rdma_cm_event *ev)
{
	const void *data = ev->param.conn.private_data;

	switch (ev->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		/* It may be one of an attempt that has been given up. */
		if (!data || memcmp(data, &x->attempt, sizeof(x->attempt)))
			return rdma_destroy_id(ev->id) ? errno : 0;
		x->passive.id = ev->id;
		return accept_from(x);
	case RDMA_CM_EVENT_ESTABLISHED:
		x->passive.established = true;
		return 0;
	default:
		return why(ev);
	}
}

/* One event of one side, if there is any; of the past ones no more than that. */
static int take_event(struct nth_cm *x, struct side *s)
{
	struct rdma_cm_event *ev, copy;
	uint32_t data = 0;

	if (rdma_get_cm_event(s->ch, &ev))
		return errno == EAGAIN ? 0 : errno;
	copy = *ev;
	if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST &&
	    copy.param.conn.private_data_len >= sizeof(data)) {
		memcpy(&data, copy.param.conn.private_data, sizeof(data));
		copy.param.conn.private_data = &data;
	}
	rdma_ack_cm_event(ev);
	return s == &x->active ? active_event(x, &copy) :
				 passive_event(x, &copy);
}

/* Until both sides have said so; 0, or an errno. */
static int both_established(struct nth_cm *x)
{
	uint64_t end = vt_now_us() + CONNECT_S * 1000000ull * vt_scale();
	struct pollfd p[2] = {
		{ .fd = x->active.ch->fd, .events = POLLIN },
		{ .fd = x->passive.ch->fd, .events = POLLIN },
	};

	while (!x->active.established || !x->passive.established) {
		int err;

		VT_OK(vt_now_us() < end, "neither connected nor refused");
		poll(p, 2, 1000);
		err = take_event(x, &x->active);
		if (!err)
			err = take_event(x, &x->passive);
		if (err)
			return err;
	}
	return 0;
}

static int start(struct nth_cm *x)
{
	struct sockaddr_storage src, dst;

	vt_sockaddr(&x->t->a, &src, 0);
	vt_sockaddr(&x->t->b, &dst, CM_PORT);
	x->attempt++;
	if (rdma_create_id(x->active.ch, &x->active.id, NULL, RDMA_PS_TCP))
		return errno;
	return rdma_resolve_addr(x->active.id, (struct sockaddr *)&src,
				 (struct sockaddr *)&dst, RESOLVE_MS) ?
		errno : 0;
}

/*
 * From nothing to a connection, and back as far as one call of each side goes;
 * 0, or an errno. The kernel does not say that it could not send word to the
 * peer, so an event may not come.
 */
static int connect_once(struct nth_cm *x)
{
	int err = start(x);

	if (!err)
		err = both_established(x);
	if (!err)
		err = rdma_disconnect(x->active.id) ? errno : 0;
	if (!err)
		err = rdma_disconnect(x->passive.id) ? errno : 0;
	return err;
}

static void clean_up(struct nth_cm *x)
{
	drop(&x->active);
	drop(&x->passive);
}

static struct rdma_event_channel *channel(void)
{
	struct rdma_event_channel *ch = rdma_create_event_channel();

	VT_OK(ch, "%s", strerror(errno));
	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	return ch;
}

static void listen_at(struct nth_cm *x)
{
	int here = open("/proc/self/ns/net", O_RDONLY);
	struct sockaddr_storage ss;

	VT_OK(here >= 0, "no namespaces");
	vt_enter_ns(1);
	vt_sockaddr(&x->t->b, &ss, CM_PORT);
	VT_EQ(rdma_create_id(x->passive.ch, &x->listener, NULL, RDMA_PS_TCP),
	      0);
	VT_OK(!rdma_bind_addr(x->listener, (struct sockaddr *)&ss), "%s",
	      strerror(errno));
	VT_EQ(rdma_listen(x->listener, 4), 0);
	VT_EQ(setns(here, CLONE_NEWNET), 0);
	close(here);
}

static void connection(struct vt *t)
{
	static const char *const attrs[] = { "failslab", "fail_page_alloc" };
	struct nth_cm x = { .t = t, .attr = attrs[t->arg] };
	int n, err, failures = 0;
	bool met = true;

	if (access("/sys/kernel/debug/failslab", F_OK))
		vt_skip("the kernel cannot inject faults");
	x.active.ch = channel();
	x.passive.ch = channel();
	listen_at(&x);
	for (n = 1; met; n++) {
		VT_OK(n < MAX_NTH, "no end of it");
		arm(&x, n);
		err = connect_once(&x);
		met = disarm(&x, n);
		clean_up(&x);
		VT_OK(!err || (met && (err == ENOMEM || err == ETIMEDOUT ||
				       err == ECONNREFUSED)),
		      "n = %d: %s", n, strerror(err));
		failures += !!err;
		err = connect_once(&x);
		clean_up(&x);
		VT_OK(!err, "after n = %d: %s", n, strerror(err));
	}
	VT_EQ(rdma_destroy_id(x.listener), 0);
	rdma_destroy_event_channel(x.active.ch);
	rdma_destroy_event_channel(x.passive.ch);
	vt_note("%d allocations, %d failures seen", n - 2, failures);
}

static const struct vt_case cases[] = {
	{ .name = "connect_slab", .fn = connection, .arg = 0, .secs = 1200 },
	{ .name = "connect_pages", .fn = connection, .arg = 1, .secs = 1200 },
};

VT_MAIN(cases)
