// SPDX-License-Identifier: GPL-2.0
/*
 * However much a process asks for at once, no epoch of the datapath does more
 * than a bounded part of it: the rest is left to further ones. Counted are the
 * events between the ends of two epochs of a CPU.
 *
 * With HROCE_EPOCHS_TIMED=1 only epochs are traced, which takes next to no
 * time: then the notes say how long they were.
 */
#include <fcntl.h>
#include <unistd.h>

#include "vt.h"

#define TRACING		"/sys/kernel/tracing/"
#define MAX_CPUS	64
#define NR_WRS		32768
#define READ_LEN	(8ul << 20)

/* HROCE_EPOCH_WORK, a burst and what one call of the engine executes. */
#define MAX_WORK	(256 + 64 + 16)
/* What one response may complete: the window, and local operations behind. */
#define MAX_BEHIND	(2048 + 1024 + MAX_WORK)

/* Deliveries to members of a group, the last packet's included. */
#define NR_MEMBERS	256
#define NR_DATAGRAMS	64
#define MAX_MULTICAST	(1024 + NR_MEMBERS)

/**
 * struct seen - the most that an epoch has done
 * @epochs: how many there were
 * @cqes: completions
 * @pkts: packets sent
 * @work: work that it was charged for
 * @ns: how long it took; tracing included
 */
struct seen {
	long long epochs;
	long long cqes;
	long long pkts;
	long long work;
	long long ns;
};

static void put(const char *file, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), TRACING "%s", file);
	fd = open(path, O_WRONLY | O_TRUNC);
	VT_OK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	      "%s: %s", path, strerror(errno));
	close(fd);
}

static int stop_tracing(void *unused)
{
	(void)unused;
	put("events/hroce/enable", "0");
	put("trace", "");
	return 0;
}

static void start_tracing(void)
{
	static int traced;

	if (access(TRACING "events/hroce/hroce_epoch", F_OK))
		vt_skip("needs trace events of hroce");
	put("buffer_size_kb", "40000");
	put("trace", "");
	vt_defer(stop_tracing, &traced, "tracing");
	put("events/hroce/hroce_epoch/enable", "1");
	if (getenv("HROCE_EPOCHS_TIMED"))
		return;
	put("events/hroce/hroce_complete/enable", "1");
	put("events/hroce/hroce_tx/enable", "1");
}

static void raise_to(long long *most, long long value)
{
	if (value > *most)
		*most = value;
}

/* One line of the trace, for @open, the epoch that its CPU is in. */
static void see_line(struct seen *seen, struct seen *open, const char *line)
{
	long long work, ns;
	const char *at;

	at = strstr(line, "hroce_epoch:");
	if (at && sscanf(at, "hroce_epoch: work=%lld ns=%lld", &work,
			 &ns) == 2) {
		seen->epochs++;
		raise_to(&seen->cqes, open->cqes);
		raise_to(&seen->pkts, open->pkts);
		raise_to(&seen->work, work);
		raise_to(&seen->ns, ns);
		memset(open, 0, sizeof(*open));
	} else if (strstr(line, "hroce_complete:")) {
		open->cqes++;
	} else if ((at = strstr(line, "packets="))) {
		open->pkts += atoi(at + strlen("packets="));
	}
}

static struct seen end_tracing(void)
{
	static struct seen open[MAX_CPUS];
	struct seen seen = {};
	char line[512], *at;
	int cpu;
	FILE *f;

	put("events/hroce/enable", "0");
	f = fopen(TRACING "trace", "r");
	VT_OK(f, "no trace");
	while (fgets(line, sizeof(line), f)) {
		VT_OK(!strstr(line, "LOST"), "events were lost");
		at = strchr(line, '[');
		if (line[0] == '#' || !at || sscanf(at, "[%d]", &cpu) != 1 ||
		    cpu < 0 || cpu >= MAX_CPUS)
			continue;
		see_line(&seen, &open[cpu], at);
	}
	fclose(f);
	vt_note("of %lld epochs the largest: %lld completions, %lld packets, "
		"work %lld, %lld us", seen.epochs, seen.cqes, seen.pkts,
		seen.work, seen.ns / 1000);
	VT_OK(seen.epochs, "no epochs");
	VT_OK(seen.work <= MAX_WORK, "too much work");
	VT_OK(seen.pkts <= MAX_WORK, "too many packets");
	return seen;
}

static struct vt_pair *big_pair(struct vt *t)
{
	struct vt_opt o = { .sq = NR_WRS, .rq = NR_WRS, .sge = 1,
			    .cqe = 2 * NR_WRS, .timeout = 17 };

	return vt_pair(t, &o);
}

/* The peer hears nothing until it is connected again. */
static void hold_peer(struct vt_pair *p)
{
	vt_to(p->qp[1], IBV_QPS_RESET);
	vt_to_init(p->end[1], p->qp[1], &p->opt);
}

static void let_peer_go_on(struct vt_pair *p)
{
	vt_to_rtr(p->end[1], p->qp[1], &p->opt, &p->end[0]->gid,
		  p->qp[0]->qp_num, p->opt.psn);
	vt_to_rts(p->qp[1], &p->opt, p->opt.psn + 77);
}

static void expect_run(struct ibv_cq *cq, uint64_t id, uint64_t end,
		       enum ibv_wc_status status)
{
	for (; id < end; id++)
		vt_expect(cq, id, status);
}

/*
 * Local operations behind a READ that is not answered yet. With a fence they
 * wait for it, and can all be executed as soon as it is; without they are
 * executed at once, and complete with it.
 */
static void local_operations(struct vt *t)
{
	struct vt_pair *p = big_pair(t);
	struct vt_mem *l = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_mw *mw = vt_mw(t->a.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED | t->arg,
	};
	struct seen seen;

	hold_peer(p);
	start_tracing();
	vt_send(p->qp[0], &(struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = l,
		.len = 64, .remote = r, .flags = IBV_SEND_SIGNALED });
	for (bind.wr_id = 1; bind.wr_id < NR_WRS; bind.wr_id++)
		VT_EQ(ibv_bind_mw(p->qp[0], mw, &bind), 0);
	let_peer_go_on(p);
	expect_run(p->scq[0], 0, NR_WRS, IBV_WC_SUCCESS);
	seen = end_tracing();
	VT_OK(seen.cqes <= MAX_BEHIND, "too many completions");
	if (t->arg)
		VT_OK(seen.cqes <= MAX_WORK, "too many completions");
}

static void fill_queues(struct vt_pair *p)
{
	for (int i = 0; i < NR_WRS; i++) {
		vt_send(p->qp[0], &(struct vt_wr){ .op = IBV_WR_SEND, .id = i });
		vt_recv(p->qp[0], i, NULL, 0, 0);
	}
}

static void flushing(struct vt *t)
{
	struct vt_pair *p = big_pair(t);
	struct seen seen;

	hold_peer(p);
	fill_queues(p);
	start_tracing();
	vt_to(p->qp[0], IBV_QPS_ERR);
	expect_run(p->scq[0], 0, NR_WRS, IBV_WC_WR_FLUSH_ERR);
	expect_run(p->rcq[0], 0, NR_WRS, IBV_WC_WR_FLUSH_ERR);
	/* What is posted now is flushed behind them. */
	vt_send(p->qp[0], &(struct vt_wr){ .op = IBV_WR_SEND, .id = 7 });
	vt_recv(p->qp[0], 8, NULL, 0, 0);
	vt_expect(p->scq[0], 7, IBV_WC_WR_FLUSH_ERR);
	vt_expect(p->rcq[0], 8, IBV_WC_WR_FLUSH_ERR);
	vt_quiet(p->scq[0], 10);
	vt_quiet(p->rcq[0], 10);
	seen = end_tracing();
	VT_OK(seen.cqes <= MAX_WORK, "too many completions");
}

/* A queue pair that is reset, or destroyed, while its queues are being flushed. */
static void gone_while_flushing(struct vt *t)
{
	for (int i = 0; i < 6; i++) {
		struct vt_pair *p = big_pair(t);

		hold_peer(p);
		fill_queues(p);
		vt_to(p->qp[0], IBV_QPS_ERR);
		if (i & 1) {
			vt_to(p->qp[0], IBV_QPS_RESET);
			vt_to(p->qp[1], IBV_QPS_RESET);
			vt_connect(p);
			vt_recv(p->qp[1], 1, NULL, 0, 0);
			VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND }),
			      IBV_WC_SUCCESS);
			vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
		}
		for (int j = 0; j < 2; j++) {
			vt_forget(p->qp[j]);
			VT_EQ(ibv_destroy_qp(p->qp[j]), 0);
		}
	}
}

/* Of UD: what was posted before the error is not sent behind it. */
static void send_queue_error(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UD, .sq = 1000, .sge = 1,
			    .cqe = 2000, .rq = 64 };
	struct vt_pair *p = vt_pair(t, &o);
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	struct vt_wr wr = {
		.op = IBV_WR_SEND, .ah = p->ah[0], .qpn = p->qp[1]->qp_num,
	};
	struct vt_mem *m = vt_mem(&t->b, 64, VT_ALL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct ibv_mr mr = { .lkey = ~s->mr->lkey };
	struct vt_mem bad = { .buf = s->buf, .len = 64, .mr = &mr };
	struct seen seen;

	for (int i = 0; i < 64; i++)
		vt_recv(p->qp[1], i, m, 0, 64);
	start_tracing();
	/* The first is refused; the others find the queue in error, or not. */
	wr.local = &bad;
	wr.len = 8;
	vt_send(p->qp[0], &wr);
	wr.local = NULL;
	for (wr.id = 1; wr.id < 1000; wr.id++)
		vt_send(p->qp[0], &wr);
	VT_EQ(ibv_modify_qp(p->qp[0], &rts, IBV_QP_STATE), 0);
	vt_expect(p->scq[0], 0, IBV_WC_LOC_PROT_ERR);
	expect_run(p->scq[0], 1, 1000, IBV_WC_WR_FLUSH_ERR);
	vt_quiet(p->rcq[1], 10);
	seen = end_tracing();
	VT_OK(seen.cqes <= MAX_WORK, "too many completions");
}

static void reads(struct vt *t)
{
	struct vt_opt o = { .rd = 16 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *l = vt_mem(&t->a, READ_LEN, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, READ_LEN, VT_ALL);

	vt_fill(r, 0, READ_LEN, 5);
	start_tracing();
	for (int i = 0; i < 16; i++)
		vt_send(p->qp[0], &(struct vt_wr){ .op = IBV_WR_RDMA_READ,
			.id = i, .local = l, .len = READ_LEN, .remote = r,
			.flags = IBV_SEND_SIGNALED });
	expect_run(p->scq[0], 0, 16, IBV_WC_SUCCESS);
	vt_verify(l, 0, READ_LEN, 5);
	end_tracing();
}

/* All at once, so that frames hold as many as fit. */
static void post_datagrams(struct vt_pair *p, struct vt_mem *m,
			   struct ibv_ah *ah, int nr)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)m->buf, .length = m->len,
		.lkey = m->mr->lkey,
	};
	struct ibv_send_wr wr[NR_DATAGRAMS], *bad;

	for (int i = 0; i < nr; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .opcode = IBV_WR_SEND, .sg_list = &sge,
			.num_sge = 1, .next = i + 1 < nr ? &wr[i + 1] : NULL,
			.wr.ud = { .ah = ah, .remote_qpn = 0xffffff,
				   .remote_qkey = VT_QKEY },
		};
	VT_EQ(ibv_post_send(p->qp[0], wr, &bad), 0);
}

static long long dropped(struct vt *t)
{
	return vt_counter(&t->b, "rx_drop_mcast_copies");
}

/* Each packet is for all members; those beyond the limit of a frame are lost. */
static void multicast(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UD, .sq = NR_DATAGRAMS, .sge = 1,
			    .cqe = NR_MEMBERS * NR_DATAGRAMS,
			    .rq = NR_DATAGRAMS, .one_cq = true };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *r = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	union ibv_gid g = vt_group(t, 6);
	struct ibv_ah *ah = vt_ah(&t->a, &g);
	struct ibv_qp *member[NR_MEMBERS];
	long long lost = dropped(t);
	struct ibv_qp_cap cap;
	struct seen seen;
	int i, j, got;

	for (i = 0; i < NR_MEMBERS; i++) {
		member[i] = vt_qp(&t->b, &p->opt, p->rcq[1], p->rcq[1], NULL,
				  &cap);
		vt_to_init(&t->b, member[i], &p->opt);
		for (j = 0; j < NR_DATAGRAMS; j++)
			vt_recv(member[i], 0, r, 0, 64 + VT_GRH);
		vt_to_rtr(&t->b, member[i], &p->opt, &t->a.gid, 0, 0);
		VT_EQ(ibv_attach_mcast(member[i], &g, 0), 0);
	}
	vt_switch(&t->a, "gso", true);
	start_tracing();
	post_datagrams(p, s, ah, NR_DATAGRAMS);
	/* Every packet is for all members or for none. */
	for (got = 0; got + NR_MEMBERS * (dropped(t) - lost) <
	     NR_MEMBERS * NR_DATAGRAMS; got++)
		vt_expect(p->rcq[1], 0, IBV_WC_SUCCESS);
	seen = end_tracing();
	vt_note("%d of %d arrived", got, NR_MEMBERS * NR_DATAGRAMS);
	VT_OK(dropped(t) > lost, "no frame had more than its limit");
	VT_OK(got >= NR_MEMBERS, "none arrived");
	VT_OK(seen.cqes <= MAX_MULTICAST, "too many completions");
	for (i = 0; i < NR_MEMBERS; i++)
		VT_EQ(ibv_detach_mcast(member[i], &g, 0), 0);
}

static const struct vt_case cases[] = {
	{ "local_operations_at_once", local_operations, IBV_SEND_FENCE, 60 },
	{ "local_operations_done_before", local_operations, 0, 60 },
	VT_CASE_SLOW(flushing, 60),
	VT_CASE_SLOW(gone_while_flushing, 60),
	VT_CASE_SLOW(send_queue_error, 60),
	VT_CASE_SLOW(reads, 60),
	VT_CASE_SLOW(multicast, 60),
};

VT_MAIN(cases)
