// SPDX-License-Identifier: GPL-2.0
/*
 * Connections by address, made and ended by the kernel: how many a second, and
 * whether each is one. Both ends of all of them are in this module.
 *
 * Loading it does the work; it fails if anything went wrong. What the work has
 * taken is in its parameters then.
 *
 *	insmod hroce_connects.ko to=10.77.0.1 connections=4000
 */
#include <linux/inet.h>
#include <linux/in.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#define RESOLVE_MS	2000
#define PATIENCE	(30 * HZ)	/* with nothing happening at all */
#define CQ_ENTRIES	64

enum { ACTIVE, PASSIVE, SIDES };

static char *to = "";
module_param(to, charp, 0444);
MODULE_PARM_DESC(to, "IPv4 address of a link");

static unsigned int connections = 1000;
module_param(connections, uint, 0444);
MODULE_PARM_DESC(connections, "How many");

static unsigned int under_way = 64;
module_param(under_way, uint, 0444);
MODULE_PARM_DESC(under_way, "How many may be on their way at a time");

static unsigned int port = 18517;
module_param(port, uint, 0444);
MODULE_PARM_DESC(port, "Where to listen");

/* Results, in microseconds but for what is said to be nanoseconds. */
static unsigned int up_us, down_us, gone_us, per_second;
module_param(up_us, uint, 0444);
MODULE_PARM_DESC(up_us, "Until all were up");
module_param(down_us, uint, 0444);
MODULE_PARM_DESC(down_us, "Until all were told of their end");
module_param(gone_us, uint, 0444);
MODULE_PARM_DESC(gone_us, "Until all queue pairs and identifiers were gone");
module_param(per_second, uint, 0444);
MODULE_PARM_DESC(per_second, "Connections made and ended in a second");

static unsigned int create_ns, destroy_ns;
module_param(create_ns, uint, 0444);
MODULE_PARM_DESC(create_ns, "Creating a queue pair, to the state INIT");
module_param(destroy_ns, uint, 0444);
MODULE_PARM_DESC(destroy_ns, "Destroying one");

/**
 * struct conn - one end of a connection
 * @id: NULL if it was never made
 * @cqe: of the one message that goes over it
 * @messages: sent or received
 */
struct conn {
	struct rdma_cm_id *id;
	struct ib_cqe cqe;
	unsigned int messages;
};

/**
 * struct side - all that is on one side
 * @pd: of all connections
 * @cq: of all connections, polled by who waits
 * @conn: the passive ones in the order of their arrival
 * @nr: how many there are
 * @established: how many have been
 * @disconnected: how many have ended
 */
struct side {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct conn *conn;
	unsigned int nr;
	atomic_t established;
	atomic_t disconnected;
};

static struct side sides[SIDES];
static struct rdma_cm_id *listener;
static struct sockaddr_in address = { .sin_family = AF_INET };
static DECLARE_WAIT_QUEUE_HEAD(progress);
static DEFINE_MUTEX(side_mutex);	/* making what a side has once */
static atomic64_t creating_ns, destroying_ns;
static atomic_t steps;
static int failed;

static void fail(const char *what, int err)
{
	/* The first reason is the reason. */
	if (!cmpxchg(&failed, 0, err ?: -EPROTO))
		pr_err("hroce_connects: %s: %d\n", what, err);
}

static void step(void)
{
	atomic_inc(&steps);
	wake_up(&progress);
}

static void message_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct conn *conn = container_of(wc->wr_cqe, struct conn, cqe);

	if (wc->status != IB_WC_SUCCESS)
		fail(ib_wc_status_msg(wc->status), -EIO);
	else
		conn->messages++;
}

static int side_open(struct side *s, struct ib_device *dev)
{
	if (s->cq)
		return 0;
	s->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(s->pd))
		return PTR_ERR(s->pd);
	s->cq = ib_alloc_cq(dev, s, CQ_ENTRIES, 0, IB_POLL_DIRECT);
	if (IS_ERR(s->cq)) {
		int err = PTR_ERR(s->cq);

		s->cq = NULL;
		ib_dealloc_pd(s->pd);
		return err;
	}
	return 0;
}

static void side_close(struct side *s)
{
	if (s->cq) {
		ib_free_cq(s->cq);
		ib_dealloc_pd(s->pd);
	}
	vfree(s->conn);
}

static int make_qp(struct side *s, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.cap = {
			.max_send_wr = 1, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	u64 start;
	int err;

	mutex_lock(&side_mutex);
	err = side_open(s, id->device);
	mutex_unlock(&side_mutex);
	if (err)
		return err;
	init.send_cq = s->cq;
	init.recv_cq = s->cq;
	start = ktime_get_ns();
	err = rdma_create_qp(id, s->pd, &init);
	atomic64_add(ktime_get_ns() - start, &creating_ns);
	return err;
}

static int connect_one(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.retry_count = 7, .rnr_retry_count = 7,
	};

	return make_qp(&sides[ACTIVE], id) ?: rdma_connect_locked(id, &param);
}

/* A receive entry waits before the peer may send. */
static int accept_one(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct side *s = &sides[PASSIVE];
	struct ib_recv_wr recv = {};
	struct conn *conn;
	int err;

	if (s->nr == connections)
		return -ENOSPC;
	err = make_qp(s, id);
	if (err)
		return err;
	conn = &s->conn[s->nr];
	conn->cqe.done = message_done;
	recv.wr_cqe = &conn->cqe;
	err = ib_post_recv(id->qp, &recv, NULL) ?: rdma_accept(id, &param);
	if (err) {
		/* Who refuses an identifier has it destroyed, without these. */
		rdma_destroy_qp(id);
		return err;
	}
	conn->id = id;
	s->nr++;
	return 0;
}

static int take_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct side *s = id->context == &listener ? &sides[PASSIVE] :
						    &sides[ACTIVE];
	int err = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = rdma_resolve_route(id, RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		err = connect_one(id);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		err = accept_one(id);
		if (err) {
			fail("accept", err);
			step();
			return err;
		}
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		atomic_inc(&s->established);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		atomic_inc(&s->disconnected);
		/* The peer waits for the answer. */
		rdma_disconnect(id);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return 0;
	default:
		err = event->status ?: -EPROTO;
		break;
	}
	if (err)
		fail(rdma_event_msg(event->event), err);
	step();
	/* Identifiers are destroyed in the end, all of them. */
	return 0;
}

/* Wait until @nr on both sides, or until nothing happens any more. */
static int wait_for_sides(atomic_t *a, atomic_t *p, unsigned int nr)
{
	while (!READ_ONCE(failed)) {
		int before = atomic_read(&steps);

		if (atomic_read(a) >= nr && atomic_read(p) >= nr)
			return 0;
		if (!wait_event_timeout(progress, atomic_read(&steps) != before,
					PATIENCE))
			fail("nothing happens any more", -ETIMEDOUT);
	}
	return failed;
}

static int start_one(void)
{
	struct side *s = &sides[ACTIVE];
	struct rdma_cm_id *id;

	id = rdma_create_id(&init_net, take_event, s, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	s->conn[s->nr++].id = id;
	return rdma_resolve_addr(id, NULL, (struct sockaddr *)&address,
				 RESOLVE_MS);
}

static int connect_all(void)
{
	struct side *a = &sides[ACTIVE], *p = &sides[PASSIVE];

	while (a->nr < connections) {
		unsigned int most = min(connections, under_way);
		unsigned int i = a->nr;
		int err;

		if (i >= most) {
			err = wait_for_sides(&a->established, &p->established,
					     i - most + 1);
			if (err)
				return err;
		}
		err = start_one();
		if (err)
			return err;
	}
	return wait_for_sides(&a->established, &p->established, connections);
}

/* One empty message over each: only who is connected can have one. */
static int talk(void)
{
	struct side *a = &sides[ACTIVE], *p = &sides[PASSIVE];
	unsigned int i;

	for (i = 0; i < connections; i++) {
		struct conn *conn = &a->conn[i];
		struct ib_send_wr send = {
			.opcode = IB_WR_SEND, .wr_cqe = &conn->cqe,
		};
		unsigned long end = jiffies + PATIENCE;
		int err, got = 0;

		conn->cqe.done = message_done;
		err = ib_post_send(conn->id->qp, &send, NULL);
		while (!err && got < SIDES) {
			got += ib_process_cq_direct(a->cq, 1);
			got += ib_process_cq_direct(p->cq, 1);
			if (got < SIDES && time_after(jiffies, end))
				err = -ETIMEDOUT;
			cond_resched();
		}
		if (err)
			return err;
	}
	for (i = 0; i < connections; i++)
		if (a->conn[i].messages != 1 || p->conn[i].messages != 1)
			return -EBADMSG;
	return failed;
}

static int disconnect_all(void)
{
	struct side *a = &sides[ACTIVE], *p = &sides[PASSIVE];
	unsigned int i;
	int err;

	for (i = 0; i < connections; i++) {
		err = rdma_disconnect(a->conn[i].id);
		if (err)
			return err;
	}
	return wait_for_sides(&a->disconnected, &p->disconnected, connections);
}

static void destroy_all(void)
{
	unsigned int i, k;
	u64 start;

	for (i = 0; i < SIDES; i++) {
		for (k = 0; k < sides[i].nr; k++) {
			struct rdma_cm_id *id = sides[i].conn[k].id;

			start = ktime_get_ns();
			if (id->qp)
				rdma_destroy_qp(id);
			atomic64_add(ktime_get_ns() - start, &destroying_ns);
			rdma_destroy_id(id);
		}
	}
}

static unsigned int us_since(u64 *start)
{
	u64 now = ktime_get_ns(), us = div_u64(now - *start, NSEC_PER_USEC);

	*start = now;
	return us;
}

static int run(void)
{
	u64 start = ktime_get_ns(), all;
	int err;

	err = connect_all();
	up_us = us_since(&start);
	if (err)
		goto destroy;
	err = talk();
	us_since(&start);
	if (err) {
		fail("talk", err);
		goto destroy;
	}
	err = disconnect_all();
	down_us = us_since(&start);
destroy:
	/* Nobody arrives any more. */
	rdma_destroy_id(listener);
	destroy_all();
	gone_us = us_since(&start);
	if (err)
		return err;
	all = max(1ULL, (u64)up_us + down_us + gone_us);
	per_second = div64_u64((u64)connections * USEC_PER_SEC, all);
	create_ns = div_u64(atomic64_read(&creating_ns), 2 * connections);
	destroy_ns = div_u64(atomic64_read(&destroying_ns), 2 * connections);
	return 0;
}

static int listen(void)
{
	int err;

	listener = rdma_create_id(&init_net, take_event, &listener,
				  RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	err = rdma_bind_addr(listener, (struct sockaddr *)&address) ?:
	      rdma_listen(listener, under_way);
	if (err)
		rdma_destroy_id(listener);
	return err;
}

static int __init connects_init(void)
{
	int i, err = -ENOMEM;

	if (!connections || !under_way || port > U16_MAX ||
	    !in4_pton(to, -1, (u8 *)&address.sin_addr, -1, NULL))
		return -EINVAL;
	address.sin_port = htons(port);
	for (i = 0; i < SIDES; i++) {
		sides[i].conn = vcalloc(connections, sizeof(struct conn));
		if (!sides[i].conn)
			goto close;
	}
	err = listen();
	if (err)
		goto close;
	err = run();
close:
	for (i = 0; i < SIDES; i++)
		side_close(&sides[i]);
	return err;
}

static void __exit connects_exit(void)
{
}

module_init(connects_init);
module_exit(connects_exit);
MODULE_DESCRIPTION("Connections made by the kernel, for tests of hroce");
MODULE_LICENSE("GPL");
