// SPDX-License-Identifier: GPL-2.0
/*
 * Connections by address: librdmacm over the general services interface
 * (QP1), with RC and UD. The passive side runs in a child of its own;
 * HROCE_NS and HROCE_NS2 name the network namespaces of both ends, if any.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "vt.h"

#define CM_PORT	18515

/**
 * struct side - one end of a connection
 * @ch: event channel
 * @id: connection, NULL before it exists
 * @cq: send completion queue of @id
 * @rcq: receive completion queue of @id
 * @pd: protection domain of @id
 * @mr: registration of @mem
 * @mem: message buffer, with room for a GRH
 * @priv: private data received last
 */
struct side {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_cq *rcq;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char mem[256];
	char priv[256];
};

static void enter_ns(int which)
{
	const char *name = getenv(which ? "HROCE_NS2" : "HROCE_NS");
	char path[256];
	int fd;

	if (!name || !*name)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY);
	VT_OK(fd >= 0, "%s", path);
	VT_EQ(setns(fd, CLONE_NEWNET), 0);
	close(fd);
}

/* The address of an end, as its GID tells. */
static void addr_of(const struct vt_end *e, struct sockaddr_storage *ss,
		    int port)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (!e->gid.raw[0]) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, e->gid.raw + 12, 4);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		memcpy(&in6->sin6_addr, e->gid.raw, 16);
	}
}

static void side_make(struct side *s)
{
	memset(s, 0, sizeof(*s));
	s->ch = rdma_create_event_channel();
	VT_OK(s->ch, "%s", strerror(errno));
	fcntl(s->ch->fd, F_SETFL, O_NONBLOCK);
}

/* Next event, whose type must be @type; its new id or this one's. */
static struct rdma_cm_id *cm_event(struct side *s,
				   enum rdma_cm_event_type type)
{
	struct pollfd p = { .fd = s->ch->fd, .events = POLLIN };
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	VT_OK(poll(&p, 1, 20000 * vt_scale()) == 1, "no event (expected %s)",
	      rdma_event_str(type));
	VT_EQ(rdma_get_cm_event(s->ch, &ev), 0);
	VT_OK(ev->event == type, "expected %s, seen %s, status %d",
	      rdma_event_str(type), rdma_event_str(ev->event), ev->status);
	id = ev->id;
	if (ev->param.conn.private_data && ev->param.conn.private_data_len)
		memcpy(s->priv, ev->param.conn.private_data,
		       ev->param.conn.private_data_len);
	rdma_ack_cm_event(ev);
	return id;
}

static void make_qp(struct side *s, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type, .cap = { 16, 16, 1, 1, 0 },
	};

	s->pd = ibv_alloc_pd(s->id->verbs);
	VT_OK(s->pd, "%s", strerror(errno));
	s->cq = ibv_create_cq(s->id->verbs, 64, NULL, NULL, 0);
	s->rcq = ibv_create_cq(s->id->verbs, 64, NULL, NULL, 0);
	VT_OK(s->cq && s->rcq, "%s", strerror(errno));
	attr.send_cq = s->cq;
	attr.recv_cq = s->rcq;
	VT_EQ(rdma_create_qp(s->id, s->pd, &attr), 0);
	s->mr = ibv_reg_mr(s->pd, s->mem, sizeof(s->mem),
			   IBV_ACCESS_LOCAL_WRITE);
	VT_OK(s->mr, "%s", strerror(errno));
}

static void drop_qp(struct side *s)
{
	rdma_destroy_qp(s->id);
	VT_EQ(ibv_dereg_mr(s->mr), 0);
	VT_EQ(ibv_destroy_cq(s->cq), 0);
	VT_EQ(ibv_destroy_cq(s->rcq), 0);
	VT_EQ(ibv_dealloc_pd(s->pd), 0);
	VT_EQ(rdma_destroy_id(s->id), 0);
	s->id = NULL;
}

static void post_recv(struct side *s)
{
	struct vt_mem m = { (unsigned char *)s->mem, sizeof(s->mem), s->mr };

	vt_recv(s->id->qp, 1, &m, 0, sizeof(s->mem));
}

static void post_send(struct side *s, const char *text)
{
	struct vt_mem m = { (unsigned char *)s->mem, sizeof(s->mem), s->mr };

	strcpy(s->mem, text);
	vt_send(s->id->qp, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = &m,
		.len = strlen(text) + 1, .flags = IBV_SEND_SIGNALED });
	vt_expect(s->cq, 2, IBV_WC_SUCCESS);
}

static void listen_at(struct side *s, const struct vt_end *e,
		      enum rdma_port_space ps)
{
	struct sockaddr_storage ss;

	side_make(s);
	addr_of(e, &ss, CM_PORT);
	VT_EQ(rdma_create_id(s->ch, &s->id, NULL, ps), 0);
	VT_OK(!rdma_bind_addr(s->id, (struct sockaddr *)&ss), "%s",
	      strerror(errno));
	VT_EQ(rdma_listen(s->id, 16), 0);
}

/* Resolves address and route of the passive side. */
static void resolve(struct side *s, struct vt *t, enum rdma_port_space ps,
		    int port)
{
	struct sockaddr_storage src, dst;

	side_make(s);
	addr_of(&t->a, &src, 0);
	addr_of(&t->b, &dst, port);
	VT_EQ(rdma_create_id(s->ch, &s->id, NULL, ps), 0);
	VT_OK(!rdma_resolve_addr(s->id, (struct sockaddr *)&src,
				 (struct sockaddr *)&dst, 2000), "%s",
	      strerror(errno));
	cm_event(s, RDMA_CM_EVENT_ADDR_RESOLVED);
	VT_EQ(rdma_resolve_route(s->id, 2000), 0);
	cm_event(s, RDMA_CM_EVENT_ROUTE_RESOLVED);
	VT_OK(!strcmp(ibv_get_device_name(s->id->verbs->device),
		      vt_dev_name(0)), "resolved to %s",
	      ibv_get_device_name(s->id->verbs->device));
}

/* Runs @fn as the passive side and waits until it listens. */
static pid_t passive(struct vt *t, void (*fn)(struct vt *t, int ready))
{
	int ready[2];
	pid_t pid;
	char c;

	VT_EQ(pipe(ready), 0);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid) {
		enter_ns(1);
		fn(t, ready[1]);
		_exit(0);
	}
	close(ready[1]);
	VT_EQ(read(ready[0], &c, 1), 1);
	close(ready[0]);
	enter_ns(0);
	return pid;
}

static void passive_done(pid_t pid)
{
	int status;

	VT_EQ(waitpid(pid, &status, 0), pid);
	VT_EQ(status, 0);
}

static void say_ready(int fd)
{
	VT_EQ(write(fd, "x", 1), 1);
	close(fd);
}

static void accept_one(struct side *l, struct side *s)
{
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4,
		.rnr_retry_count = 7, .private_data = "welcome",
		.private_data_len = 8,
	};

	side_make(s);
	s->id = cm_event(l, RDMA_CM_EVENT_CONNECT_REQUEST);
	VT_OK(!strcmp(l->priv, "hello"), "private data '%s'", l->priv);
	VT_EQ(rdma_migrate_id(s->id, s->ch), 0);
	make_qp(s, IBV_QPT_RC);
	post_recv(s);
	VT_EQ(rdma_accept(s->id, &param), 0);
	cm_event(s, RDMA_CM_EVENT_ESTABLISHED);
}

static void connect_one(struct side *s, struct vt *t)
{
	struct rdma_conn_param param = {
		.responder_resources = 4, .initiator_depth = 4,
		.retry_count = 7, .rnr_retry_count = 7,
		.private_data = "hello", .private_data_len = 6,
	};

	resolve(s, t, RDMA_PS_TCP, CM_PORT);
	make_qp(s, IBV_QPT_RC);
	post_recv(s);
	VT_EQ(rdma_connect(s->id, &param), 0);
	cm_event(s, RDMA_CM_EVENT_ESTABLISHED);
	VT_OK(!strcmp(s->priv, "welcome"), "private data '%s'", s->priv);
}

static void serve_connections(struct vt *t, int ready)
{
	struct side l, s;

	listen_at(&l, &t->b, RDMA_PS_TCP);
	say_ready(ready);
	for (int i = 0; i < t->arg; i++) {
		accept_one(&l, &s);
		vt_expect(s.rcq, 1, IBV_WC_SUCCESS);
		VT_OK(!strcmp(s.mem, "ping"), "%s", s.mem);
		post_send(&s, "pong");
		cm_event(&s, RDMA_CM_EVENT_DISCONNECTED);
		drop_qp(&s);
	}
}

/* Connect, talk, disconnect, again and again. */
static void connect_and_talk(struct vt *t)
{
	pid_t pid = passive(t, serve_connections);
	struct side s;

	for (int i = 0; i < t->arg; i++) {
		connect_one(&s, t);
		post_send(&s, "ping");
		vt_expect(s.rcq, 1, IBV_WC_SUCCESS);
		VT_OK(!strcmp(s.mem, "pong"), "%s", s.mem);
		VT_EQ(rdma_disconnect(s.id), 0);
		cm_event(&s, RDMA_CM_EVENT_DISCONNECTED);
		drop_qp(&s);
	}
	passive_done(pid);
}

static void serve_parallel(struct vt *t, int ready)
{
	static struct side s[16];
	struct side l;

	listen_at(&l, &t->b, RDMA_PS_TCP);
	say_ready(ready);
	for (int i = 0; i < 16; i++)
		accept_one(&l, &s[i]);
	for (int i = 0; i < 16; i++) {
		vt_expect(s[i].rcq, 1, IBV_WC_SUCCESS);
		post_send(&s[i], "pong");
	}
	for (int i = 0; i < 16; i++)
		cm_event(&s[i], RDMA_CM_EVENT_DISCONNECTED);
}

static void many_at_once(struct vt *t)
{
	pid_t pid = passive(t, serve_parallel);
	static struct side s[16];

	for (int i = 0; i < 16; i++)
		connect_one(&s[i], t);
	for (int i = 0; i < 16; i++)
		post_send(&s[i], "ping");
	for (int i = 0; i < 16; i++)
		vt_expect(s[i].rcq, 1, IBV_WC_SUCCESS);
	for (int i = 0; i < 16; i++)
		VT_EQ(rdma_disconnect(s[i].id), 0);
	passive_done(pid);
}

static void serve_rejection(struct vt *t, int ready)
{
	struct side l, s;

	(void)t;
	listen_at(&l, &t->b, RDMA_PS_TCP);
	say_ready(ready);
	s.id = cm_event(&l, RDMA_CM_EVENT_CONNECT_REQUEST);
	VT_EQ(rdma_reject(s.id, "go away", 8), 0);
	VT_EQ(rdma_destroy_id(s.id), 0);
	VT_EQ(rdma_destroy_id(l.id), 0);
}

static void rejected(struct vt *t)
{
	pid_t pid = passive(t, serve_rejection);
	struct rdma_conn_param param = { .retry_count = 7 };
	struct side s;

	resolve(&s, t, RDMA_PS_TCP, CM_PORT);
	make_qp(&s, IBV_QPT_RC);
	VT_EQ(rdma_connect(s.id, &param), 0);
	cm_event(&s, RDMA_CM_EVENT_REJECTED);
	VT_OK(!strcmp(s.priv, "go away"), "private data '%s'", s.priv);
	passive_done(pid);
}

static void nobody_listens(struct vt *t)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct side s;

	enter_ns(0);
	resolve(&s, t, RDMA_PS_TCP, CM_PORT + 7);
	make_qp(&s, IBV_QPT_RC);
	VT_EQ(rdma_connect(s.id, &param), 0);
	cm_event(&s, RDMA_CM_EVENT_REJECTED);
}

static void serve_until_killed(struct vt *t, int ready)
{
	struct side l, s;

	listen_at(&l, &t->b, RDMA_PS_TCP);
	say_ready(ready);
	accept_one(&l, &s);
	vt_expect(s.rcq, 1, IBV_WC_SUCCESS);
	post_send(&s, "pong");
	for (;;)
		pause();
}

/* The kernel closes the connections of a process that dies. */
static void peer_killed(struct vt *t)
{
	pid_t pid = passive(t, serve_until_killed);
	struct side s;
	int status;

	connect_one(&s, t);
	post_send(&s, "ping");
	vt_expect(s.rcq, 1, IBV_WC_SUCCESS);
	VT_EQ(kill(pid, SIGKILL), 0);
	VT_EQ(waitpid(pid, &status, 0), pid);
	cm_event(&s, RDMA_CM_EVENT_DISCONNECTED);
	drop_qp(&s);
}

static void serve_datagram(struct vt *t, int ready)
{
	struct rdma_conn_param param = {};
	struct side l, s;

	listen_at(&l, &t->b, RDMA_PS_UDP);
	say_ready(ready);
	side_make(&s);
	s.id = cm_event(&l, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_qp(&s, IBV_QPT_UD);
	post_recv(&s);
	param.qp_num = s.id->qp->qp_num;
	VT_EQ(rdma_accept(s.id, &param), 0);
	vt_expect(s.rcq, 1, IBV_WC_SUCCESS);
	VT_OK(!strcmp(s.mem + VT_GRH, "ping"), "%s", s.mem + VT_GRH);
}

/* Service resolution tells queue pair and key of a datagram service. */
static void datagram_service(struct vt *t)
{
	pid_t pid = passive(t, serve_datagram);
	struct rdma_conn_param param = {};
	struct rdma_cm_event *ev;
	struct pollfd p;
	struct vt_mem m;
	struct ibv_ah *ah;
	struct side s;

	resolve(&s, t, RDMA_PS_UDP, CM_PORT);
	make_qp(&s, IBV_QPT_UD);
	VT_EQ(rdma_connect(s.id, &param), 0);
	p = (struct pollfd){ .fd = s.ch->fd, .events = POLLIN };
	VT_EQ(poll(&p, 1, 20000 * vt_scale()), 1);
	VT_EQ(rdma_get_cm_event(s.ch, &ev), 0);
	VT_EQ(ev->event, RDMA_CM_EVENT_ESTABLISHED);
	ah = ibv_create_ah(s.pd, &ev->param.ud.ah_attr);
	VT_OK(ah, "%s", strerror(errno));
	strcpy(s.mem, "ping");
	m = (struct vt_mem){ (unsigned char *)s.mem, sizeof(s.mem), s.mr };
	vt_send(s.id->qp, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = &m, .len = 5, .ah = ah,
		.qpn = ev->param.ud.qp_num, .qkey = ev->param.ud.qkey,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(s.cq, 2, IBV_WC_SUCCESS);
	rdma_ack_cm_event(ev);
	passive_done(pid);
	VT_EQ(ibv_destroy_ah(ah), 0);
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("connect_and_talk", connect_and_talk, 1),
	VT_CASE_ARG("connect_and_talk_often", connect_and_talk, 15),
	VT_CASE(many_at_once),
	VT_CASE(rejected),
	VT_CASE(nobody_listens),
	VT_CASE(peer_killed),
	VT_CASE(datagram_service),
};

VT_MAIN(cases)
