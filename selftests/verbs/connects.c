// SPDX-License-Identifier: GPL-2.0
/*
 * Thousands of connections by address, both ends of all of them in one
 * process. HROCE_CONNECTIONS is how many (default 8192).
 *
 * So many may be on their way at a time that no queue on the way of the
 * handshakes overflows; nothing is repeated then, and nothing waits.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <rdma/rdma_verbs.h>

#include "vt.h"

#define PORT		18516
#define UNDER_WAY	128
#define EVERY		64	/* one connection of so many is talked over */

enum { ACTIVE, PASSIVE, SIDES };

/**
 * struct side - all that is on one side
 * @ch: event channel of all connections
 * @cq: completion queue of all connections
 * @id: connections; those of the passive side in the order of their arrival
 * @nr_ids: how many there are
 * @established: how many have been
 * @disconnected: how many have ended
 */
struct side {
	struct rdma_event_channel *ch;
	struct ibv_cq *cq;
	struct rdma_cm_id **id;
	int nr_ids;
	int established;
	int disconnected;
};

static struct side sides[SIDES];
static struct rdma_cm_id *listener;
static struct vt *test;
static int wanted;

static int nr_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int nr = 0;

	VT_OK(dir, "%m");
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static long mem_available_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kb = 0;

	VT_OK(file, "%m");
	while (!kb && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld kB", &kb) != 1)
			kb = 0;
	fclose(file);
	return kb;
}

static void make_qp(struct side *s, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 8 },
	};

	if (!s->cq)
		s->cq = ibv_create_cq(id->verbs, 4096, NULL, NULL, 0);
	VT_OK(s->cq, "%m");
	attr.send_cq = s->cq;
	attr.recv_cq = s->cq;
	VT_OK(!rdma_create_qp(id, NULL, &attr), "%m");
}

static void start_one(void)
{
	struct side *s = &sides[ACTIVE];
	struct sockaddr_storage src, dst;
	struct rdma_cm_id **id = &s->id[s->nr_ids++];

	vt_sockaddr(&test->a, &src, 0);
	vt_sockaddr(&test->b, &dst, PORT);
	VT_OK(!rdma_create_id(s->ch, id, NULL, RDMA_PS_TCP), "%m");
	VT_OK(!rdma_resolve_addr(*id, (void *)&src, (void *)&dst, 20000), "%m");
}

static void connect_one(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = {
		.retry_count = 7, .rnr_retry_count = 7,
	};

	make_qp(&sides[ACTIVE], id);
	VT_OK(!rdma_connect(id, &param), "%m");
}

static void accept_one(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct side *s = &sides[PASSIVE];

	VT_OK(s->nr_ids < wanted, "more requests than connections");
	s->id[s->nr_ids++] = id;
	make_qp(s, id);
	VT_OK(!rdma_accept(id, &param), "%m");
}

static void take_event(struct side *s)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int status;

	if (rdma_get_cm_event(s->ch, &event))
		return;
	type = event->event;
	id = event->id;
	status = event->status;
	rdma_ack_cm_event(event);
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		VT_OK(!rdma_resolve_route(id, 20000), "%m");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		connect_one(id);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		accept_one(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		s->established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		s->disconnected++;
		/* The peer waits for the answer. */
		rdma_disconnect(id);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		VT_OK(false, "%s, status %d", rdma_event_str(type), status);
	}
}

/* Whatever comes next on either side, within a deadline. */
static void take_events(void)
{
	struct pollfd fds[SIDES];

	for (int i = 0; i < SIDES; i++)
		fds[i] = (struct pollfd){ sides[i].ch->fd, POLLIN, 0 };
	VT_OK(poll(fds, SIDES, 20000 * vt_scale()) > 0,
	      "nothing happens any more");
	for (int i = 0; i < SIDES; i++)
		if (fds[i].revents)
			take_event(&sides[i]);
}

static void open_sides(void)
{
	struct sockaddr_storage ss;

	for (int i = 0; i < SIDES; i++) {
		struct side *s = &sides[i];

		s->ch = rdma_create_event_channel();
		s->id = calloc(wanted, sizeof(*s->id));
		VT_OK(s->ch && s->id, "%m");
		fcntl(s->ch->fd, F_SETFL, O_NONBLOCK);
	}
	vt_enter_ns(1);
	vt_sockaddr(&test->b, &ss, PORT);
	VT_OK(!rdma_create_id(sides[PASSIVE].ch, &listener, NULL, RDMA_PS_TCP),
	      "%m");
	VT_OK(!rdma_bind_addr(listener, (void *)&ss), "%m");
	VT_OK(!rdma_listen(listener, UNDER_WAY), "%m");
	vt_enter_ns(0);
}

static void connect_all(void)
{
	struct side *a = &sides[ACTIVE], *p = &sides[PASSIVE];

	while (a->established < wanted || p->established < wanted) {
		while (a->nr_ids < wanted &&
		       a->nr_ids - p->established < UNDER_WAY)
			start_one();
		take_events();
	}
	VT_EQ(a->established, wanted);
	VT_EQ(p->established, wanted);
	VT_EQ(p->nr_ids, wanted);
}

static void disconnect_all(void)
{
	struct side *a = &sides[ACTIVE], *p = &sides[PASSIVE];

	for (int i = 0; i < wanted; i++)
		VT_OK(!rdma_disconnect(a->id[i]), "%m");
	while (a->disconnected < wanted || p->disconnected < wanted)
		take_events();
	VT_EQ(a->disconnected, wanted);
	VT_EQ(p->disconnected, wanted);
}

static void destroy_all(void)
{
	for (int i = 0; i < SIDES; i++) {
		struct side *s = &sides[i];

		for (int k = 0; k < s->nr_ids; k++) {
			rdma_destroy_qp(s->id[k]);
			VT_EQ(rdma_destroy_id(s->id[k]), 0);
		}
		VT_EQ(ibv_destroy_cq(s->cq), 0);
	}
	VT_EQ(rdma_destroy_id(listener), 0);
	for (int i = 0; i < SIDES; i++)
		rdma_destroy_event_channel(sides[i].ch);
}

/* Connections are told apart by a number that is sent over them. */
static void talk(void)
{
	struct side *a = &sides[ACTIVE], *p = &sides[PASSIVE];
	struct ibv_mr *mr;
	uint64_t in = 0;

	mr = rdma_reg_msgs(p->id[0], &in, sizeof(in));
	VT_OK(mr, "%m");
	for (int i = 0; i < wanted; i += EVERY) {
		uint64_t out = 0xc0ffee0000000000ull + i;
		struct rdma_cm_id *to = p->id[0];
		struct ibv_qp_attr attr;
		struct ibv_qp_init_attr init;

		VT_EQ(ibv_query_qp(a->id[i]->qp, &attr, IBV_QP_STATE |
				   IBV_QP_DEST_QPN, &init), 0);
		VT_EQ(attr.qp_state, IBV_QPS_RTS);
		for (int k = 0; k < wanted; k++)
			if (p->id[k]->qp->qp_num == attr.dest_qp_num)
				to = p->id[k];
		VT_EQ(to->qp->qp_num, attr.dest_qp_num);
		VT_OK(!rdma_post_recv(to, NULL, &in, sizeof(in), mr), "%m");
		VT_OK(!rdma_post_send(a->id[i], NULL, &out, sizeof(out), NULL,
				      IBV_SEND_INLINE | IBV_SEND_SIGNALED),
		      "%m");
		VT_EQ(vt_poll(p->cq).status, IBV_WC_SUCCESS);
		VT_EQ(vt_poll(a->cq).status, IBV_WC_SUCCESS);
		VT_EQ(in, out);
	}
	VT_EQ(ibv_dereg_mr(mr), 0);
}

static void thousands(struct vt *t)
{
	const char *most = getenv("HROCE_CONNECTIONS");
	uint64_t start = vt_now_us(), up, down;
	int fds, kb;

	test = t;
	wanted = most && *most ? atoi(most) : 8192;
	VT_OK(wanted > 0, "HROCE_CONNECTIONS=%s", most);
	open_sides();
	fds = nr_fds();
	kb = mem_available_kb();
	connect_all();
	up = vt_now_us();
	/* Descriptors of the devices; none for each connection. */
	VT_OK(nr_fds() <= fds + 8, "%d descriptors", nr_fds());
	kb -= mem_available_kb();
	/* Two queue pairs with queues of a page each, and their surroundings. */
	VT_OK(kb / 64 < wanted + 1024, "%d KB", kb);
	talk();
	down = vt_now_us();
	disconnect_all();
	destroy_all();
	vt_note("%d connections in %llu ms, %d KB; gone in %llu ms", wanted,
		(unsigned long long)(up - start) / 1000, kb,
		(unsigned long long)(vt_now_us() - down) / 1000);
}

static const struct vt_case cases[] = {
	VT_CASE_SLOW(thousands, 150),
};

VT_MAIN(cases)
