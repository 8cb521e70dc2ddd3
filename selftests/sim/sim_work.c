// SPDX-License-Identifier: GPL-2.0
/*
 * Random work: posts requests as libhroce would, and keeps beside each one
 * what has to come of it.
 *
 * Requests of one queue pair take effect in order, so that a copy of the
 * peer's window, to which each WRITE is applied as it is posted, tells what
 * the window has to hold in the end and what a READ has to bring. A READ may
 * see what is posted behind it, unless that waits (fence): so it does.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <asm/barrier.h>
#include "sim.h"

#define ARENA_SIZE	(512u << 10)
#define GAPS		(33 * SIM_MAX_PIECES)
#define READ_LAG	6	/* READs of the window need not be many */

static void random_bytes(struct sim_rng *rng, u8 *bytes, u32 len)
{
	u64 v;

	for (; len >= 8; len -= 8, bytes += 8) {
		v = sim_rand(rng);
		memcpy(bytes, &v, 8);
	}
	v = sim_rand(rng);
	memcpy(bytes, &v, len);
}

static u32 random_len(struct sim *sim, u32 max_len)
{
	u32 mtu = 1u << sim->opts.mtu_shift;
	u32 len;

	switch (sim_below(&sim->rng, 8)) {
	case 0:
		len = 0;
		break;
	case 1:
	case 2:
		len = 1 + sim_below(&sim->rng, 64);
		break;
	case 3:
		len = mtu * sim_below(&sim->rng, max_len / mtu + 1);
		break;
	case 4:
		len = mtu * (1 + sim_below(&sim->rng, max_len / mtu)) +
		      sim_below(&sim->rng, 3) - 1;
		break;
	default:
		len = sim_below(&sim->rng, max_len + 1);
	}
	return min(len, max_len);
}

static u8 random_op(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;
	static const u8 spec[] = {
		HROCE_WR_SEND, HROCE_WR_SEND_IMM, HROCE_WR_SEND_INV,
		HROCE_WR_WRITE, HROCE_WR_WRITE, HROCE_WR_WRITE_IMM,
		HROCE_WR_READ, HROCE_WR_READ, HROCE_WR_CMP_SWAP,
		HROCE_WR_FETCH_ADD, HROCE_WR_ATOMIC_WRITE, HROCE_WR_FLUSH,
	};
	static const u8 rc[] = {
		HROCE_WR_SEND, HROCE_WR_SEND, HROCE_WR_SEND_IMM,
		HROCE_WR_SEND_INV, HROCE_WR_WRITE, HROCE_WR_WRITE,
		HROCE_WR_WRITE, HROCE_WR_WRITE_IMM, HROCE_WR_READ,
		HROCE_WR_READ, HROCE_WR_READ, HROCE_WR_CMP_SWAP,
		HROCE_WR_FETCH_ADD, HROCE_WR_FETCH_ADD,
		HROCE_WR_MASKED_CMP_SWAP, HROCE_WR_MASKED_FETCH_ADD,
		HROCE_WR_MASKED_FETCH_ADD, HROCE_WR_LOCAL_INV,
		HROCE_WR_ATOMIC_WRITE, HROCE_WR_ATOMIC_WRITE, HROCE_WR_FLUSH,
	};
	static const u8 uc[] = {
		HROCE_WR_SEND, HROCE_WR_SEND_IMM, HROCE_WR_WRITE,
		HROCE_WR_WRITE_IMM, HROCE_WR_WRITE_IMM,
	};

	if (sim->opts.type == HRP_TYPE_UD)
		return uc[sim_below(&sim->rng, 2)];
	if (sim->opts.type == HRP_TYPE_UC)
		return uc[sim_below(&sim->rng, sizeof(uc))];
	if (sim->opts.big_read && sim_below(&sim->rng, 4))
		return HROCE_WR_READ;
	/* Those at the end are not for XRC. */
	if (qp->spec || sim_fault_wrong(qp))
		return spec[sim_below(&sim->rng, sizeof(spec) -
				      (sim->opts.type == HRP_TYPE_RC ? 0 : 2))];
	return rc[sim_below(&sim->rng, sizeof(rc) -
			    (sim->opts.type == HRP_TYPE_RC ? 0 : 3))];
}

/* A ring of bytes; what is allocated is contiguous. */
static bool arena_alloc(struct sim_work *w, u32 len, u32 *base)
{
	u64 head = w->arena_head;
	u32 at = head % w->arena_size;

	if (at + len > w->arena_size)
		head += w->arena_size - at;
	if (head + len - w->arena_tail > w->arena_size)
		return false;
	*base = w->arena_base + head % w->arena_size;
	w->arena_head = head + len;
	return true;
}

/* A message to send, scattered over the arena. */
static void make_message(struct sim_qp *qp, struct sim_wr *wr, u32 base)
{
	struct sim *sim = qp->node->sim;
	u32 idx = wr - qp->work.wr;

	random_bytes(&sim->rng, wr->want, wr->len);
	if (wr->len >= 4)
		memcpy(wr->want, &idx, 4);
	else if (!hrp_qp_is_reliable(&qp->hrp))
		wr->op = wr->op == HROCE_WR_SEND ? HROCE_WR_SEND_IMM :
			 wr->op == HROCE_WR_WRITE ? HROCE_WR_WRITE_IMM : wr->op;
	wr->imm = htonl(idx);
	if (!wr->follows && wr->len <= qp->hrp.req.sq.max_inline &&
	    sim_below(&sim->rng, 2))
		wr->flags |= HROCE_WRF_INLINE;
	if (wr->listed && !(wr->flags & HROCE_WRF_INLINE)) {
		sim_buf_one(&wr->buf, base, wr->len);
		sim_buf_fill(qp->node, &wr->buf, wr->want);
		return;
	}
	if (wr->flags & HROCE_WRF_INLINE)
		return;
	sim_buf_split(sim, &wr->buf, base, wr->len, true);
	sim_buf_fill(qp->node, &wr->buf, wr->want);
}

void sim_make_room(struct sim_qp *qp, struct sim_wr *wr, u32 base)
{
	u32 i;

	sim_buf_split(qp->node->sim, &wr->buf, base, wr->len, true);
	for (i = 0; i < wr->len; i++)
		wr->want[i] = ~wr->want[i];
	sim_buf_fill(qp->node, &wr->buf, wr->want);
	for (i = 0; i < wr->len; i++)
		wr->want[i] = ~wr->want[i];
}

static void make_write(struct sim_qp *qp, struct sim_wr *wr,
		       struct hroce_sq_wqe *wqe)
{
	struct sim_node *to = qp->peer->node;
	struct sim_work *w = &qp->work;
	struct sim *sim = to->sim;

	wr->remote_off = sim_below(&sim->rng, SIM_WIN_SIZE - wr->len + 1);
	if (wr->op == HROCE_WR_ATOMIC_WRITE)
		wr->remote_off &= ~7u;
	if (!sim_is_in_vain(w))
		memcpy(w->win_model + wr->remote_off, wr->want, wr->len);
	wqe->rdma.rkey = w->win_key;
	wqe->rdma.remote_addr = sim_mr_find(to, w->win_key)->va +
				wr->remote_off;
	if (w->reads_window)
		wr->flags |= HROCE_WRF_FENCE;
	/* The key of nothing is not checked. */
	if (!wr->len && sim_below(&sim->rng, 2))
		wqe->rdma.rkey = sim_rand(&sim->rng);
}

static void make_read(struct sim_qp *qp, struct sim_wr *wr,
		      struct hroce_sq_wqe *wqe, u32 base)
{
	struct sim_node *to = qp->peer->node;
	struct sim_work *w = &qp->work;
	struct sim *sim = to->sim;
	bool window = !sim_below(&sim->rng, READ_LAG);
	u32 off = sim_below(&sim->rng, SIM_WIN_SIZE - wr->len + 1);
	u32 key = window ? w->win_key : w->fixed_key;

	memcpy(wr->want, (window ? w->win_model : w->fixed_model) + off,
	       wr->len);
	sim_make_room(qp, wr, base);
	wqe->rdma.rkey = key;
	wqe->rdma.remote_addr = sim_mr_find(to, key)->va + off;
	w->reads_window |= window;
}

static void make_flush(struct sim_qp *qp, struct hroce_sq_wqe *wqe)
{
	struct sim_rng *rng = &qp->node->sim->rng;
	u32 off = sim_below(rng, SIM_WIN_SIZE);

	wqe->flush.rkey = qp->work.win_key;
	wqe->flush.remote_addr = sim_mr_find(qp->peer->node,
					     wqe->flush.rkey)->va + off;
	wqe->flush.length = sim_below(rng, SIM_WIN_SIZE - off + 1);
	wqe->flush.placement = 1 + sim_below(rng, HROCE_FLUSH_GLOBAL |
						 HROCE_FLUSH_PERSISTENT);
	wqe->flush.selectivity = sim_below(rng, 2);
}

static u32 one_shot_key(struct sim_node *node, u32 base)
{
	u32 key = sim_mr_add(node, base, 64, 0);

	sim_mr_find(node, key)->one_shot = true;
	return key;
}

static void make_wqe(struct sim_qp *qp, struct sim_wr *wr,
		     struct hroce_sq_wqe *wqe, u32 base)
{
	struct sim_work *w = &qp->work;

	switch ((enum hroce_wr_op)wr->op) {
	case HROCE_WR_SEND:
	case HROCE_WR_SEND_IMM:
	case HROCE_WR_SEND_INV:
		make_message(qp, wr, base);
		if (wr->op == HROCE_WR_SEND_INV)
			wr->imm = one_shot_key(qp->peer->node, w->win_base);
		break;
	case HROCE_WR_WRITE:
	case HROCE_WR_WRITE_IMM:
	case HROCE_WR_ATOMIC_WRITE:
		make_message(qp, wr, base);
		make_write(qp, wr, wqe);
		break;
	case HROCE_WR_READ:
		make_read(qp, wr, wqe, base);
		break;
	case HROCE_WR_CMP_SWAP:
	case HROCE_WR_FETCH_ADD:
	case HROCE_WR_MASKED_CMP_SWAP:
	case HROCE_WR_MASKED_FETCH_ADD:
		sim_make_atomic(qp, wr, wqe, base);
		break;
	case HROCE_WR_FLUSH:
		make_flush(qp, wqe);
		break;
	case HROCE_WR_LOCAL_INV:
		wr->imm = one_shot_key(qp->node, w->arena_base);
		break;
	case HROCE_WR_REG_MR:
	case HROCE_WR_BIND_MW:
	case HROCE_WR_NR:
		break;
	}
	if (qp->hrp.type == HRP_TYPE_UD) {
		wqe->ud.ah = 1;
		wqe->ud.qpn = qp->peer->hrp.qpn;
		wqe->ud.qkey = qp->peer->hrp.qkey;
	}
	wqe->srqn = wr->srqn;
}

/* SENDs and WRITEs come in lists, too, whose messages may share a burst. */
static bool is_listed(const struct sim_qp *qp, const struct sim_wr *wr)
{
	switch ((enum hroce_wr_op)wr->op) {
	case HROCE_WR_SEND:
	case HROCE_WR_SEND_IMM:
	case HROCE_WR_SEND_INV:
	case HROCE_WR_WRITE:
	case HROCE_WR_WRITE_IMM:
		return hrp_qp_is_reliable(&qp->hrp) && wr->len &&
		       wr->len <= qp->hrp.mtu;
	default:
		return false;
	}
}

/* What the next request is to do, and with how many bytes. */
static void choose(struct sim_qp *qp, struct sim_wr *wr)
{
	struct sim *sim = qp->node->sim;

	wr->op = random_op(qp);
	wr->len = random_len(sim, min(sim->opts.max_msg, SIM_WIN_SIZE));
	if (qp->work.posted && wr[-1].listed && sim_below(&sim->rng, 4)) {
		wr->op = wr[-1].op;
		wr->len = wr[-1].len;
		wr->follows = true;
	}
	sim_fault_choose(qp, wr);
	wr->listed = is_listed(qp, wr);
	wr->follows = wr->follows && wr->listed && wr->op == wr[-1].op &&
		      wr->len == wr[-1].len;
	if (wr->follows)
		wr->flags = wr[-1].flags & HROCE_WRF_INLINE;
	if (sim_is_atomic(wr) || wr->op == HROCE_WR_ATOMIC_WRITE)
		wr->len = 8;
	else if (wr->op == HROCE_WR_LOCAL_INV || wr->op == HROCE_WR_FLUSH)
		wr->len = 0;
	wr->srqn = SIM_SRQN + sim_below(&sim->rng, SIM_NR_SRQS);
	wr->want = malloc(wr->len + 8);
}

static void add_flags(struct sim_qp *qp, struct sim_wr *wr)
{
	struct sim_work *w = &qp->work;
	struct sim *sim = qp->node->sim;

	if (!sim_below(&sim->rng, wr->listed ? 40 : 10))
		wr->flags |= HROCE_WRF_FENCE;
	if (wr->flags & HROCE_WRF_FENCE)
		w->reads_window = wr->op == HROCE_WR_READ && w->reads_window;
	if (!sim_below(&sim->rng, wr->listed ? 10 : 2))
		wr->flags |= HROCE_WRF_SOLICITED;
	w->unsignaled += wr->len + ARENA_SIZE / 32;
	if (w->unsignaled >= ARENA_SIZE / 4 || w->posted + 1 == w->nr ||
	    sim_below(&sim->rng, 2)) {
		wr->flags |= HROCE_WRF_SIGNALED;
		w->unsignaled = 0;
	}
}

/* Return: false if there is no room in the arena. */
static bool post_one(struct sim_qp *qp)
{
	struct hrp_sq *sq = &qp->hrp.req.sq;
	struct sim_work *w = &qp->work;
	struct sim_wr *wr = &w->wr[w->posted];
	struct hroce_sq_wqe wqe = { .wr_id = w->posted };
	u8 *entry = (u8 *)sq->ring +
		    (size_t)(qp->prod & (sq->nr_entries - 1)) * sq->stride;
	struct hroce_sge *sges = (void *)(entry + sizeof(wqe));
	u32 base;

	if (!wr->want)
		choose(qp, wr);
	if (!arena_alloc(w, wr->len + GAPS, &base))
		return false;
	wr->arena_end = w->arena_head;
	make_wqe(qp, wr, &wqe, base);
	add_flags(qp, wr);
	wqe.opcode = wr->op;
	wqe.flags = wr->flags;
	wqe.imm_data = wr->imm;
	if (wr->flags & HROCE_WRF_INLINE) {
		wqe.inline_len = wr->len;
		memcpy(sges, wr->want, wr->len);
	} else {
		wqe.nr_sges = sim_buf_sges(qp->node, &wr->buf, w->arena_key,
					   sges);
		if (sim_is_masked(wr))
			memcpy(&sges[wqe.nr_sges], &wr->masks,
			       sizeof(wr->masks));
	}
	sim_fault_make(qp, &wqe, sges);
	memcpy(entry, &wqe, sizeof(wqe));
	w->posted++;
	qp->prod++;
	/* The entry before the index. */
	smp_store_release(&qp->hdr->prod, qp->prod);
	return true;
}

static void post(void *ctx)
{
	struct sim_qp *qp = ctx;
	struct hrp_sq *sq = &qp->hrp.req.sq;
	struct sim *sim = qp->node->sim;
	struct sim_work *w = &qp->work;
	u32 batch = 1 + sim_below(&sim->rng, sq->nr_entries);

	while (batch-- && w->posted < w->nr && !w->failed &&
	       w->posted - w->done < sq->nr_entries) {
		sim_check(sim, qp->prod - READ_ONCE(qp->hdr->cons) <
			       sq->nr_entries);
		if (!post_one(qp))
			break;
	}
	smp_mb();	/* prod before need_kick */
	if (READ_ONCE(qp->hdr->need_kick))
		sim_qp_kick(qp);
	if (w->posted < w->nr && !w->failed)
		sim_at(sim, sim_below(&sim->rng, 30 * SIM_US), post, qp);
}

void sim_work_init(struct sim_qp *qp)
{
	struct sim_node *to = qp->peer->node;
	struct sim_work *w = &qp->work;
	struct sim *sim = to->sim;

	w->nr = sim->opts.nr_ops;
	if ((sim->opts.fault && !sim->opts.both && qp->node->id) ||
	    !hrp_qp_sends(&qp->hrp))
		w->nr = 0;
	w->wr = calloc(w->nr, sizeof(*w->wr));
	w->arena_size = ARENA_SIZE;
	w->arena_base = sim_mem_alloc(qp->node, ARENA_SIZE);
	w->arena_key = sim_mr_add(qp->node, w->arena_base, ARENA_SIZE,
				  1u << HRP_ACCESS_LOCAL_READ |
				  1u << HRP_ACCESS_LOCAL_WRITE);
	w->win_base = sim_mem_alloc(to, SIM_WIN_SIZE);
	w->win_key = sim_mr_add(to, w->win_base, SIM_WIN_SIZE,
				1u << HRP_ACCESS_REMOTE_WRITE |
				1u << HRP_ACCESS_REMOTE_READ |
				1u << HRP_ACCESS_FLUSH_GLOBAL |
				1u << HRP_ACCESS_FLUSH_PERSISTENT);
	w->fixed_base = sim_mem_alloc(to, SIM_WIN_SIZE);
	w->fixed_key = sim_mr_add(to, w->fixed_base, SIM_WIN_SIZE,
				  1u << HRP_ACCESS_REMOTE_READ);
	w->count_base = sim_mem_alloc(to, 8 * SIM_NR_COUNTERS);
	w->count_key = sim_mr_add(to, w->count_base, 8 * SIM_NR_COUNTERS,
				  1u << HRP_ACCESS_REMOTE_ATOMIC);
	w->win_model = calloc(1, SIM_WIN_SIZE);
	w->fixed_model = malloc(SIM_WIN_SIZE);
	random_bytes(&sim->rng, w->fixed_model, SIM_WIN_SIZE);
	sim_fault_init(qp);
	memcpy(to->mem + w->fixed_base, w->fixed_model, SIM_WIN_SIZE);
	if (hrp_qp_sends(&qp->hrp))
		sim_at(sim, sim_below(&sim->rng, 30 * SIM_US), post, qp);
}

void sim_work_free(struct sim_qp *qp)
{
	struct sim_work *w = &qp->work;
	u32 i;

	for (i = 0; i < w->nr; i++)
		free(w->wr[i].want);
	free(w->wr);
	free(w->win_model);
	free(w->fixed_model);
}
