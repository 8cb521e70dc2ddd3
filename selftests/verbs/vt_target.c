// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs to throw packets at. Reads commands from standard input, one
 * per line, and answers each with one line:
 *
 *	new rc|uc|ud|big	make a connected pair (big: rc, packets of 4096
 *			bytes); answers where it is
 *	post N		post N receives on b
 *	wc		poll b's receives: "wc STATUS LENGTH", or "wc none"
 *	data		first bytes of b's memory, in hexadecimal
 *	join		b into a multicast group
 *	cast N		a sends N datagrams to that group
 *	state		states of the queue pairs of a and b, by number
 *	reset		b to RESET
 *	check		send verified messages over the pair and over a neighbour:
 *			"ok", or "not ok" and why
 *	neighbour	the same over the neighbour alone
 *	alone		one message over the pair alone
 *	stream N	N WRITEs of 64 KB over the neighbour
 *	write N		a posts N WRITEs of three packets each
 *	read N		a posts a READ of N bytes
 *	path		a gets a new address vector, to the same peer
 *	reuse N		wait for N completions, change the memory at once, and
 *			answer with their statuses
 *	fail N		move a into the error state, then as reuse
 *	reset_a		move a into RESET, then change the memory at once
 *	landed		has b what was in the memory before? "ok", or "not ok"
 *	bind		b binds a window of type 2; answers where it is
 *	pass_on		b invalidates it, and the neighbour binds it with the same
 *			key, to other memory at the same addresses
 *	passed		is that memory as it was? "ok", or "not ok"
 *
 * Needs HROCE_DEV and HROCE_DEV2, as all verbs tests.
 */
#include "vt.h"

#define TARGET_LEN	65536
#define WRITE_LEN	(3 * 4096)
#define WINDOW_LEN	4096
/* WRITEs of "stream" under way at a time. */
#define STREAM_DEPTH	16
/* Bytes of the memory that a window is bound to. */
#define OWN		'm'
#define OTHER		's'

/**
 * struct target - the pair and its neighbour
 * @t: both ends
 * @p: pair that packets are thrown at
 * @near: neighbour that must not notice
 * @s: memory on a
 * @d: memory on b
 * @w: window on b
 * @own: memory on b that it is bound to first
 * @other: memory on b that it is bound to then
 * @sent: packets that a has sent to b on @p
 * @seq: messages so far
 */
struct target {
	struct vt t;
	struct vt_pair *p;
	struct vt_pair *near;
	struct vt_mem *s;
	struct vt_mem *d;
	struct vt_win w;
	struct vt_mem *own;
	struct vt_mem *other;
	uint32_t sent;
	uint32_t seq;
};

static void print_gid(const char *name, const union ibv_gid *gid)
{
	printf(" %s=", name);
	for (int i = 0; i < 16; i++)
		printf("%02x", gid->raw[i]);
}

static void make(struct target *g, const char *type)
{
	struct vt_opt o = {
		.type = !strcmp(type, "uc") ? IBV_QPT_UC :
			!strcmp(type, "ud") ? IBV_QPT_UD : IBV_QPT_RC,
		.psn = 1000, .timeout = 16,
		.mtu = strcmp(type, "big") ? IBV_MTU_1024 : IBV_MTU_4096,
	};

	g->p = vt_pair(&g->t, &o);
	g->sent = 0;
	printf("pair qpn_a=%u qpn_b=%u psn=%u mtu=1024 rkey=%u addr=%llu len=%u",
	       g->p->qp[0]->qp_num, g->p->qp[1]->qp_num, g->p->opt.psn,
	       g->d->mr->rkey, (unsigned long long)(uintptr_t)g->d->buf,
	       TARGET_LEN);
	print_gid("gid_a", &g->t.a.gid);
	print_gid("gid_b", &g->t.b.gid);
	printf("\n");
}

/* One message; false and a note on standard output if it does not arrive. */
static bool message(struct target *g, struct vt_pair *p, uint64_t id)
{
	size_t grh = p->opt.type == IBV_QPT_UD ? VT_GRH : 0;
	uint64_t end = vt_deadline_us();
	unsigned int spins = 0;
	int want = 2;

	vt_fill(g->s, 0, 500, id);
	vt_recv(p->qp[1], id, g->d, 0, 500 + grh);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = id, .local = g->s, .len = 500,
		.ah = p->ah[0], .qpn = p->qp[1]->qp_num,
		.flags = IBV_SEND_SIGNALED });
	while (want) {
		struct ibv_wc wc;
		int n = ibv_poll_cq(p->scq[0], 1, &wc);

		if (!n)
			n = ibv_poll_cq(p->rcq[1], 1, &wc);
		if (n && (wc.status || wc.wr_id != id)) {
			printf("not ok: id %llu %s\n",
			       (unsigned long long)wc.wr_id,
			       ibv_wc_status_str(wc.status));
			return false;
		}
		want -= n;
		if (vt_now_us() > end) {
			printf("not ok: no completion\n");
			return false;
		}
		vt_pause(&spins);
	}
	if (memcmp(g->d->buf + grh, g->s->buf, 500)) {
		printf("not ok: wrong data\n");
		return false;
	}
	return true;
}

static void check(struct target *g, bool both)
{
	for (int i = 0; i < 5; i++) {
		if (!message(g, g->near, 1000000 + g->seq++))
			return;
		if (!both)
			continue;
		if (!message(g, g->p, 1000000 + g->seq++))
			return;
		g->sent++;
	}
	printf("ok sent=%u\n", g->sent);
}

static void alone(struct target *g)
{
	if (message(g, g->p, 1000000 + g->seq++))
		printf("ok sent=%u\n", ++g->sent);
}

/* Others need the CPU meanwhile: nothing sleeps, as that takes long. */
static void stream(struct target *g, int n)
{
	uint64_t end = vt_deadline_us();
	int posted = 0, done = 0;
	struct ibv_wc wc;

	while (done < n) {
		if (posted < n && posted - done < STREAM_DEPTH) {
			vt_send(g->near->qp[0], &(struct vt_wr){
				.local = g->s, .len = TARGET_LEN,
				.remote = g->d, .flags = IBV_SEND_SIGNALED });
			posted++;
		} else if (ibv_poll_cq(g->near->scq[0], 1, &wc)) {
			VT_OK(!wc.status, "%s", ibv_wc_status_str(wc.status));
			done++;
		} else {
			VT_OK(vt_now_us() < end, "no completion");
			sched_yield();
		}
	}
	printf("done\n");
}

static void show_wc(struct target *g)
{
	uint64_t end = vt_now_us() + 1000000ull * vt_scale();
	unsigned int spins = 0;
	struct ibv_wc wc;

	while (!ibv_poll_cq(g->p->rcq[1], 1, &wc)) {
		if (vt_now_us() > end) {
			printf("wc none\n");
			return;
		}
		vt_pause(&spins);
	}
	printf("wc %d %u\n", wc.status, wc.byte_len);
}

static void show_data(struct target *g)
{
	for (int i = 0; i < 128; i++)
		printf("%02x", g->d->buf[i]);
	printf("\n");
}

static void post(struct target *g, int n)
{
	while (n-- > 0)
		vt_recv(g->p->qp[1], g->seq++, g->d, 0, 8192);
	printf("posted\n");
}

static void join(struct target *g)
{
	union ibv_gid group = vt_group(&g->t, 9);

	VT_EQ(ibv_attach_mcast(g->p->qp[1], &group, 0), 0);
	printf("done\n");
}

static void cast(struct target *g, int n)
{
	union ibv_gid group = vt_group(&g->t, 9);
	struct ibv_ah *ah = vt_ah(&g->t.a, &group);

	while (n-- > 0) {
		vt_send(g->p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .local = g->s, .len = 100,
			.ah = ah, .qpn = 0xffffff,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(g->p->scq[0], 0, IBV_WC_SUCCESS);
	}
	printf("done\n");
}

static void reset(struct target *g)
{
	vt_to(g->p->qp[1], IBV_QPS_RESET);
	printf("done\n");
}

static void write_some(struct target *g, int n)
{
	vt_fill(g->s, 0, TARGET_LEN, 1);
	memset(g->d->buf, 0, TARGET_LEN);
	while (n-- > 0)
		vt_send(g->p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_WRITE, .id = 1, .local = g->s,
			.len = WRITE_LEN, .remote = g->d,
			.flags = IBV_SEND_SIGNALED });
	printf("posted\n");
}

static void read_some(struct target *g, int n)
{
	vt_send(g->p->qp[0], &(struct vt_wr){
		.op = IBV_WR_RDMA_READ, .id = 1, .local = g->s, .len = n,
		.remote = g->d, .flags = IBV_SEND_SIGNALED });
	printf("posted\n");
}

static void new_path(struct target *g)
{
	struct ibv_qp_attr attr = {
		.ah_attr = {
			.is_global = 1,
			.port_num = VT_PORT,
			.grh = {
				.dgid = g->t.b.gid,
				.sgid_index = g->t.a.gid_idx,
				.hop_limit = 63,
			},
		},
	};

	vt_to(g->p->qp[0], IBV_QPS_SQD);
	VT_EQ(ibv_modify_qp(g->p->qp[0], &attr, IBV_QP_AV), 0);
	printf("done\n");
}

static void reuse(struct target *g, int n)
{
	printf("done");
	while (n-- > 0)
		printf(" %d", vt_poll(g->p->scq[0]).status);
	memset(g->s->buf, 0xee, TARGET_LEN);
	printf("\n");
}

static void landed(struct target *g)
{
	vt_fill(g->s, 0, TARGET_LEN, 1);
	/* Messages of the neighbour are at the beginning. */
	printf("%s\n", memcmp(g->s->buf + 4096, g->d->buf + 4096,
			      WRITE_LEN - 4096) ?
	       "not ok: other content has left" : "ok sent=0");
}

/* Memory for windows, with content of its own, at the addresses of @like. */
static struct vt_mem *bindable(struct target *g, const struct vt_mem *like,
			       int content)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	struct vt_mem *m = vt_mem(&g->t.b, WINDOW_LEN, access);

	memset(m->buf, content, WINDOW_LEN);
	if (like) {
		VT_EQ(ibv_dereg_mr(m->mr), 0);
		m->mr = ibv_reg_mr_iova(g->t.b.pd, m->buf, WINDOW_LEN,
					(uintptr_t)like->buf, access);
		VT_OK(m->mr, "%s", strerror(errno));
	}
	return m;
}

/* Side b of @p binds the window with @key to @m, at the addresses of own. */
static void bind_window(struct target *g, struct vt_pair *p, uint32_t key,
			const struct vt_mem *m)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = VT_BIND_ID, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { g->w.mw, key, {
			.mr = m->mr, .addr = (uintptr_t)g->own->buf,
			.length = WINDOW_LEN,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_WRITE } },
	};

	VT_EQ(ibv_post_send(p->qp[1], &wr, &bad), 0);
	vt_expect(p->scq[1], VT_BIND_ID, IBV_WC_SUCCESS);
	g->w.mr.rkey = key;
}

static void bind_first(struct target *g)
{
	g->own = bindable(g, NULL, OWN);
	g->other = bindable(g, g->own, OTHER);
	g->w.mw = vt_mw(g->t.b.pd, IBV_MW_TYPE_2);
	bind_window(g, g->p, ibv_inc_rkey(g->w.mw->rkey), g->own);
	printf("window rkey=%u addr=%llu len=%u\n", g->w.mr.rkey,
	       (unsigned long long)(uintptr_t)g->own->buf, WINDOW_LEN);
}

static void pass_on(struct target *g)
{
	vt_send(g->p->qp[1], &(struct vt_wr){
		.op = IBV_WR_LOCAL_INV, .imm = g->w.mr.rkey,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(g->p->scq[1], 0, IBV_WC_SUCCESS);
	bind_window(g, g->near, g->w.mr.rkey, g->other);
	printf("done\n");
}

static void passed(struct target *g)
{
	for (int i = 0; i < WINDOW_LEN; i++) {
		if (g->other->buf[i] != OTHER) {
			printf("not ok: byte %d\n", i);
			return;
		}
	}
	printf("ok sent=%u\n", g->sent);
}

int main(void)
{
	int family = vt_family();
	static struct target g;
	char line[128], word[128];
	int n;

	setvbuf(stdout, NULL, _IOLBF, 0);
	vt_open(&g.t.a, vt_dev_name(0), family);
	vt_open(&g.t.b, vt_dev_name(1), family);
	g.s = vt_mem(&g.t.a, TARGET_LEN, VT_ALL);
	g.d = vt_mem(&g.t.b, TARGET_LEN, VT_ALL);
	g.near = vt_pair(&g.t, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "new %127s", word) == 1)
			make(&g, word);
		else if (sscanf(line, "post %d", &n) == 1)
			post(&g, n);
		else if (sscanf(line, "stream %d", &n) == 1)
			stream(&g, n);
		else if (sscanf(line, "write %d", &n) == 1)
			write_some(&g, n);
		else if (sscanf(line, "read %d", &n) == 1)
			read_some(&g, n);
		else if (!strncmp(line, "path", 4))
			new_path(&g);
		else if (sscanf(line, "reuse %d", &n) == 1)
			reuse(&g, n);
		else if (sscanf(line, "fail %d", &n) == 1) {
			vt_to(g.p->qp[0], IBV_QPS_ERR);
			reuse(&g, n);
		} else if (!strncmp(line, "reset_a", 7)) {
			vt_to(g.p->qp[0], IBV_QPS_RESET);
			reuse(&g, 0);
		} else if (!strncmp(line, "landed", 6))
			landed(&g);
		else if (!strncmp(line, "bind", 4))
			bind_first(&g);
		else if (!strncmp(line, "pass_on", 7))
			pass_on(&g);
		else if (!strncmp(line, "passed", 6))
			passed(&g);
		else if (sscanf(line, "cast %d", &n) == 1)
			cast(&g, n);
		else if (!strncmp(line, "join", 4))
			join(&g);
		else if (!strncmp(line, "wc", 2))
			show_wc(&g);
		else if (!strncmp(line, "data", 4))
			show_data(&g);
		else if (!strncmp(line, "state", 5))
			printf("state %d %d\n", vt_state(g.p->qp[0]),
			       vt_state(g.p->qp[1]));
		else if (!strncmp(line, "reset", 5))
			reset(&g);
		else if (!strncmp(line, "check", 5))
			check(&g, true);
		else if (!strncmp(line, "neighbour", 9))
			check(&g, false);
		else if (!strncmp(line, "alone", 5))
			alone(&g);
		else
			printf("what?\n");
	}
	return 0;
}
