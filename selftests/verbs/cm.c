// SPDX-License-Identifier: GPL-2.0
/*
 * Connections by address: librdmacm over the general services interface
 * (QP1), with RC, UD and groups, until the device goes. The passive side runs in a child of its own;
 * HROCE_NS and HROCE_NS2 name the network namespaces of both ends, if any.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "vt.h"

#define CM_PORT		18515

/* Enhanced connection establishment: a vendor, and what it might say. */
#define ECE_VENDOR	0x123456
#define ECE_ASKED	0xdeadbeef
#define ECE_GRANTED	0x0badcafe

/* An error of the kernel that user space has no name for. */
#define ENOTSUPP	524

/**
 * struct side - one end of a connection
 * @ch: event channel
 * @id: connection, NULL before it exists
 * @cq: send completion queue of @id
 * @rcq: receive completion queue of @id
 * @qp: queue pair of @id
 * @external: librdmacm does not know @qp, and we change its states
 * @pd: protection domain of @id
 * @mr: registration of @mem
 * @mem: message buffer, with room for a GRH
 * @priv: private data received last
 * @ud: how to reach a datagram service or group, as the last event said
 */
struct side {
	struct rdma_event_channel *ch;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_cq *rcq;
	struct ibv_qp *qp;
	bool external;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char mem[256];
	char priv[256];
	struct rdma_ud_param ud;
};

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
	s->ud = ev->param.ud;
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
	if (s->external)
		s->qp = ibv_create_qp(s->pd, &attr);
	else if (!rdma_create_qp(s->id, s->pd, &attr))
		s->qp = s->id->qp;
	VT_OK(s->qp, "%s", strerror(errno));
	s->mr = ibv_reg_mr(s->pd, s->mem, sizeof(s->mem),
			   IBV_ACCESS_LOCAL_WRITE);
	VT_OK(s->mr, "%s", strerror(errno));
}

static void drop_qp(struct side *s)
{
	if (s->external)
		VT_EQ(ibv_destroy_qp(s->qp), 0);
	else
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

	vt_recv(s->qp, 1, &m, 0, sizeof(s->mem));
}

static void post_send(struct side *s, const char *text)
{
	struct vt_mem m = { (unsigned char *)s->mem, sizeof(s->mem), s->mr };

	strcpy(s->mem, text);
	vt_send(s->qp, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = &m,
		.len = strlen(text) + 1, .flags = IBV_SEND_SIGNALED });
	vt_expect(s->cq, 2, IBV_WC_SUCCESS);
}

/* Sends @text where the last event has said. */
static void post_datagram(struct side *s, const char *text)
{
	struct vt_mem m = { (unsigned char *)s->mem, sizeof(s->mem), s->mr };
	struct ibv_ah *ah = ibv_create_ah(s->pd, &s->ud.ah_attr);

	VT_OK(ah, "%s", strerror(errno));
	strcpy(s->mem, text);
	vt_send(s->qp, &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = &m,
		.len = strlen(text) + 1, .ah = ah, .qpn = s->ud.qp_num,
		.qkey = s->ud.qkey, .flags = IBV_SEND_SIGNALED });
	vt_expect(s->cq, 2, IBV_WC_SUCCESS);
	VT_EQ(ibv_destroy_ah(ah), 0);
}

static void listen_at(struct side *s, const struct vt_end *e,
		      enum rdma_port_space ps)
{
	struct sockaddr_storage ss;

	side_make(s);
	vt_sockaddr(e, &ss, CM_PORT);
	VT_EQ(rdma_create_id(s->ch, &s->id, NULL, ps), 0);
	VT_OK(!rdma_bind_addr(s->id, (struct sockaddr *)&ss), "%s",
	      strerror(errno));
	VT_EQ(rdma_listen(s->id, 16), 0);
}

/* Resolves address and route of the passive side, on whatever device. */
static void resolve_to(struct side *s, struct vt *t, enum rdma_port_space ps,
		       int port)
{
	struct sockaddr_storage src, dst;

	side_make(s);
	vt_sockaddr(&t->a, &src, 0);
	vt_sockaddr(&t->b, &dst, port);
	VT_EQ(rdma_create_id(s->ch, &s->id, NULL, ps), 0);
	VT_OK(!rdma_resolve_addr(s->id, (struct sockaddr *)&src,
				 (struct sockaddr *)&dst, 2000), "%s",
	      strerror(errno));
	cm_event(s, RDMA_CM_EVENT_ADDR_RESOLVED);
	VT_EQ(rdma_resolve_route(s->id, 2000), 0);
	cm_event(s, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void resolve(struct side *s, struct vt *t, enum rdma_port_space ps,
		    int port)
{
	resolve_to(s, t, ps, port);
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
		vt_enter_ns(1);
		fn(t, ready[1]);
		_exit(0);
	}
	close(ready[1]);
	VT_EQ(read(ready[0], &c, 1), 1);
	close(ready[0]);
	vt_enter_ns(0);
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

	vt_enter_ns(0);
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
	struct side s;

	resolve(&s, t, RDMA_PS_UDP, CM_PORT);
	make_qp(&s, IBV_QPT_UD);
	VT_EQ(rdma_connect(s.id, &param), 0);
	cm_event(&s, RDMA_CM_EVENT_ESTABLISHED);
	post_datagram(&s, "ping");
	passive_done(pid);
}

/* Returns what rdma_join_multicast() does. */
static int join(struct side *s, const struct vt_end *e)
{
	struct sockaddr_storage own, group;
	struct sockaddr_in6 *in6 = (void *)&group;
	struct sockaddr_in *in = (void *)&group;

	side_make(s);
	vt_sockaddr(e, &own, 0);
	group = own;
	if (own.ss_family == AF_INET)
		inet_pton(AF_INET, "239.88.0.7", &in->sin_addr);
	else
		inet_pton(AF_INET6, "ff0e::88:7", &in6->sin6_addr);
	VT_EQ(rdma_create_id(s->ch, &s->id, NULL, RDMA_PS_UDP), 0);
	VT_OK(!rdma_bind_addr(s->id, (struct sockaddr *)&own), "%s",
	      strerror(errno));
	make_qp(s, IBV_QPT_UD);
	return rdma_join_multicast(s->id, (struct sockaddr *)&group, NULL);
}

static void serve_group(struct vt *t, int ready)
{
	struct side s;

	VT_OK(!join(&s, &t->b), "%s", strerror(errno));
	cm_event(&s, RDMA_CM_EVENT_MULTICAST_JOIN);
	post_recv(&s);
	say_ready(ready);
	vt_expect(s.rcq, 1, IBV_WC_SUCCESS);
	VT_OK(!strcmp(s.mem + VT_GRH, "all"), "%s", s.mem + VT_GRH);
}

/* The kernel joins groups of IPv4 alone for RoCEv2, with any device. */
static void multicast_group(struct vt *t)
{
	struct side s;
	pid_t pid;

	if (t->a.gid.raw[0]) {
		vt_enter_ns(0);
		VT_EQ(join(&s, &t->a), -1);
		VT_EQ(errno, ENOTSUPP);
		return;
	}
	pid = passive(t, serve_group);
	VT_OK(!join(&s, &t->a), "%s", strerror(errno));
	cm_event(&s, RDMA_CM_EVENT_MULTICAST_JOIN);
	post_datagram(&s, "all");
	passive_done(pid);
}

/* To a state that librdmacm has the attributes of. */
static void external_to(struct side *s, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	VT_EQ(rdma_init_qp_attr(s->id, &attr, &mask), 0);
	VT_EQ(ibv_modify_qp(s->qp, &attr, mask), 0);
}

static void expect_ece(struct side *s, uint32_t options)
{
	struct ibv_ece ece = {};

	VT_EQ(rdma_get_remote_ece(s->id, &ece), 0);
	VT_EQ(ece.vendor_id, ECE_VENDOR);
	VT_EQ(ece.options, options);
}

static void set_ece(struct side *s, uint32_t options)
{
	struct ibv_ece ece = { .vendor_id = ECE_VENDOR, .options = options };

	VT_EQ(rdma_set_local_ece(s->id, &ece), 0);
}

static void serve_ece(struct vt *t, int ready)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct side l, s;

	listen_at(&l, &t->b, RDMA_PS_TCP);
	say_ready(ready);
	side_make(&s);
	s.external = true;
	s.id = cm_event(&l, RDMA_CM_EVENT_CONNECT_REQUEST);
	VT_EQ(rdma_migrate_id(s.id, s.ch), 0);
	expect_ece(&s, ECE_ASKED);
	set_ece(&s, ECE_GRANTED);
	make_qp(&s, IBV_QPT_RC);
	external_to(&s, IBV_QPS_INIT);
	post_recv(&s);
	external_to(&s, IBV_QPS_RTR);
	external_to(&s, IBV_QPS_RTS);
	param.qp_num = s.qp->qp_num;
	VT_EQ(rdma_accept(s.id, &param), 0);
	cm_event(&s, RDMA_CM_EVENT_ESTABLISHED);
	vt_expect(s.rcq, 1, IBV_WC_SUCCESS);
}

/* What vendors tell each other when they connect goes both ways. */
static void enhancements_passed_on(struct vt *t)
{
	struct rdma_conn_param param = {
		.retry_count = 7, .rnr_retry_count = 7,
	};
	pid_t pid = passive(t, serve_ece);
	struct side s;

	resolve(&s, t, RDMA_PS_TCP, CM_PORT);
	s.external = true;
	make_qp(&s, IBV_QPT_RC);
	external_to(&s, IBV_QPS_INIT);
	set_ece(&s, ECE_ASKED);
	param.qp_num = s.qp->qp_num;
	VT_EQ(rdma_connect(s.id, &param), 0);
	cm_event(&s, RDMA_CM_EVENT_CONNECT_RESPONSE);
	expect_ece(&s, ECE_GRANTED);
	external_to(&s, IBV_QPS_RTR);
	external_to(&s, IBV_QPS_RTS);
	VT_EQ(rdma_establish(s.id), 0);
	post_send(&s, "ping");
	passive_done(pid);
}

/* A queue pair has nothing to negotiate, and says so. */
static void enhancements_of_queue_pair(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, &(struct vt_opt){});
	struct ibv_ece ece = { .vendor_id = ECE_VENDOR };

	VT_EQ(ibv_query_ece(p->qp[0], &ece), EOPNOTSUPP);
	VT_EQ(ibv_set_ece(p->qp[0], &ece), EOPNOTSUPP);
}

/* The other end may have gone first, and said so. */
static void expect_removal(struct side *s)
{
	struct pollfd p = { .fd = s->ch->fd, .events = POLLIN };
	enum rdma_cm_event_type type;
	struct rdma_cm_event *ev;

	do {
		VT_OK(poll(&p, 1, 20000 * vt_scale()) == 1, "no removal");
		VT_EQ(rdma_get_cm_event(s->ch, &ev), 0);
		type = ev->event;
		rdma_ack_cm_event(ev);
	} while (type == RDMA_CM_EVENT_DISCONNECTED);
	VT_OK(type == RDMA_CM_EVENT_DEVICE_REMOVAL, "%s",
	      rdma_event_str(type));
}

/* A link of its own that is to be removed; it may have gone already. */
static int drop_link(void *name)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "rdma link del %s 2>/dev/null; ip link del %s",
		 (char *)name, (char *)name);
	return system(command);
}

static void add_link(struct side *l)
{
	static char name[] = "vtgone";
	struct sockaddr_in own = { .sin_family = AF_INET };
	uint64_t end = vt_deadline_us();

	VT_EQ(system("ip link add vtgone type dummy && "
		     "ip link set vtgone up && "
		     "ip address add 10.89.0.1/24 dev vtgone"), 0);
	vt_defer(drop_link, name, "link");
	VT_EQ(system("rdma link add vtgone type hroce netdev vtgone"), 0);
	own.sin_port = htons(CM_PORT);
	inet_pton(AF_INET, "10.89.0.1", &own.sin_addr);
	side_make(l);
	VT_EQ(rdma_create_id(l->ch, &l->id, NULL, RDMA_PS_TCP), 0);
	while (rdma_bind_addr(l->id, (struct sockaddr *)&own))
		VT_OK(vt_now_us() < end, "%s", strerror(errno));
	VT_EQ(rdma_listen(l->id, 16), 0);
}

/* Whoever listens or is connected hears that the device goes, and lets go. */
static void device_removed(struct vt *t)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct side l, a, p;
	struct vt gone;
	int status;
	pid_t pid;

	if (!vt_is_hroce(&t->a))
		vt_skip("links of hroce alone");
	vt_enter_ns(0);
	add_link(&l);
	/* vt_sockaddr() wants ends. */
	memset(&gone, 0, sizeof(gone));
	inet_pton(AF_INET6, "::ffff:10.89.0.1", gone.a.gid.raw);
	gone.b = gone.a;

	resolve_to(&a, &gone, RDMA_PS_TCP, CM_PORT);
	make_qp(&a, IBV_QPT_RC);
	VT_EQ(rdma_connect(a.id, &param), 0);
	side_make(&p);
	p.id = cm_event(&l, RDMA_CM_EVENT_CONNECT_REQUEST);
	VT_EQ(rdma_migrate_id(p.id, p.ch), 0);
	make_qp(&p, IBV_QPT_RC);
	VT_EQ(rdma_accept(p.id, &param), 0);
	/* The library answers the response as it hands out this event. */
	cm_event(&a, RDMA_CM_EVENT_ESTABLISHED);
	cm_event(&p, RDMA_CM_EVENT_ESTABLISHED);

	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid)
		_exit(execlp("rdma", "rdma", "link", "del", "vtgone", NULL));
	expect_removal(&l);
	expect_removal(&a);
	expect_removal(&p);
	VT_EQ(waitpid(pid, &status, 0), pid);
	VT_EQ(status, 0);
	drop_qp(&a);
	drop_qp(&p);
	VT_EQ(rdma_destroy_id(l.id), 0);
}

/* Those of the kernel are not counted: it still finds room for its own. */
static void connect_without_address_handles(struct vt *t)
{
	if (!vt_is_hroce(&t->a))
		vt_skip("limits of hroce alone");
	vt_set_limit(&t->a, "ah", 0, 0);
	if (!vt_one_link(t))
		vt_set_limit(&t->b, "ah", 0, 0);
	connect_and_talk(t);
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("connect_and_talk", connect_and_talk, 1),
	VT_CASE_ARG("connect_and_talk_often", connect_and_talk, 15),
	VT_CASE_ARG("connect_without_address_handles",
		    connect_without_address_handles, 1),
	VT_CASE(many_at_once),
	VT_CASE(rejected),
	VT_CASE(nobody_listens),
	VT_CASE(peer_killed),
	VT_CASE(datagram_service),
	VT_CASE(multicast_group),
	VT_CASE(enhancements_passed_on),
	VT_CASE(enhancements_of_queue_pair),
	VT_CASE(device_removed),
};

VT_MAIN(cases)
