// SPDX-License-Identifier: GPL-2.0
/* Waiting for completions and events, always until a deadline. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "vt.h"

/* Polls hot at first, then gives the processor away for longer and longer. */
void vt_pause(unsigned int *spins)
{
	struct timespec ts = { .tv_nsec = 50000 };

	if ((*spins)++ < 200) {
		sched_yield();
		return;
	}
	if (*spins > 1000)
		ts.tv_nsec = 1000000;
	nanosleep(&ts, NULL);
}

/* Next completion, whatever it says. */
struct ibv_wc vt_poll(struct ibv_cq *cq)
{
	uint64_t end = vt_deadline_us();
	unsigned int spins = 0;
	struct ibv_wc wc = {};

	for (;;) {
		int n = ibv_poll_cq(cq, 1, &wc);

		VT_OK(n >= 0, "poll: %d", n);
		if (n)
			return wc;
		VT_OK(vt_now_us() < end, "no completion before the deadline");
		vt_pause(&spins);
	}
}

/* What comes of a request of the first side. */
enum ibv_wc_status vt_run(struct vt_pair *p, struct vt_wr wr)
{
	wr.flags = IBV_SEND_SIGNALED;
	vt_send(p->qp[0], &wr);
	return vt_poll(p->scq[0]).status;
}

struct ibv_wc vt_expect_at(const char *file, int line, struct ibv_cq *cq,
			   uint64_t id, enum ibv_wc_status status)
{
	uint64_t end = vt_deadline_us();
	unsigned int spins = 0;
	struct ibv_wc wc = {};
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		if (vt_now_us() >= end)
			vt_fail(file, line, "no completion (expected id %llu %s)",
				(unsigned long long)id,
				ibv_wc_status_str(status));
		vt_pause(&spins);
	}
	if (n < 0)
		vt_fail(file, line, "poll: %d", n);
	if (wc.wr_id != id || wc.status != status)
		vt_fail(file, line,
			"expected id %llu %s (%d), seen id %llu %s (%d)",
			(unsigned long long)id, ibv_wc_status_str(status),
			status, (unsigned long long)wc.wr_id,
			ibv_wc_status_str(wc.status), wc.status);
	return wc;
}

/* No completion may show up for @ms milliseconds. */
void vt_quiet(struct ibv_cq *cq, unsigned int ms)
{
	uint64_t end = vt_now_us() + 1000ull * ms;
	unsigned int spins = 0;
	struct ibv_wc wc;

	do {
		if (ibv_poll_cq(cq, 1, &wc))
			vt_fail(__FILE__, __LINE__,
				"unexpected completion id %llu %s opcode %d",
				(unsigned long long)wc.wr_id,
				ibv_wc_status_str(wc.status), wc.opcode);
		vt_pause(&spins);
	} while (vt_now_us() < end);
}

static bool readable(int fd, unsigned int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

bool vt_cq_event_pending(struct ibv_comp_channel *chan, unsigned int ms)
{
	return readable(chan->fd, ms);
}

/* Next completion event, acknowledged at once; returns its CQ. */
struct ibv_cq *vt_cq_event(struct ibv_comp_channel *chan)
{
	struct ibv_cq *cq = NULL;
	void *context;

	VT_OK(readable(chan->fd, 10000 * vt_scale()), "no completion event");
	VT_EQ(ibv_get_cq_event(chan, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	return cq;
}

bool vt_async_pending(struct vt_end *e, unsigned int ms)
{
	return readable(e->ctx->async_fd, ms);
}

/* Port and address events may come at any time and belong to no case. */
static bool async_is_noise(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_GID_CHANGE:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		return true;
	default:
		return false;
	}
}

/* Next asynchronous event, acknowledged; returns the object concerned. */
void *vt_async_at(const char *file, int line, struct vt_end *e,
		  enum ibv_event_type type)
{
	struct ibv_async_event ev = {};

	do {
		if (!readable(e->ctx->async_fd, 3000 * vt_scale()))
			vt_fail(file, line, "no event (expected %s)",
				ibv_event_type_str(type));
		if (ibv_get_async_event(e->ctx, &ev))
			vt_fail(file, line, "get_async_event: %s",
				strerror(errno));
		ibv_ack_async_event(&ev);
	} while (ev.event_type != type && async_is_noise(ev.event_type));
	if (ev.event_type != type)
		vt_fail(file, line, "expected event %s, seen %s",
			ibv_event_type_str(type),
			ibv_event_type_str(ev.event_type));
	return ev.element.qp;
}

/* A hardware counter of port 1, or -1 where the device has none so called. */
long long vt_counter(const struct vt_end *e, const char *name)
{
	char path[256], text[32] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/%d/hw_counters/%s",
		 ibv_get_device_name(e->ctx->device), VT_PORT, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? atoll(text) : -1;
}

/* The same, later than ib_core keeps old values. */
long long vt_settled(const struct vt_end *e, const char *name)
{
	unsigned int spins = 0;
	uint64_t until = vt_now_us() + 50000;

	while (vt_now_us() < until)
		vt_pause(&spins);
	return vt_counter(e, name);
}
