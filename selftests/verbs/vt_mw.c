// SPDX-License-Identifier: GPL-2.0
/* Memory windows, and what a peer does by their keys. */
#include "vt.h"

static int undo_mw(void *mw)
{
	return ibv_dealloc_mw(mw);
}

struct ibv_mw *vt_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, type);

	VT_OK(mw, "%s", strerror(errno));
	vt_defer(undo_mw, mw, "MW");
	return mw;
}

/* Bind a part of @m by @qp; what it will look like to the peer is in @w. */
void vt_bind(struct ibv_qp *qp, struct vt_win *w, const struct vt_mem *m,
	     size_t off, size_t len, int access, unsigned int flags)
{
	struct ibv_mw_bind_info info = {
		.mr = m ? m->mr : NULL,
		.addr = m ? (uintptr_t)m->buf + off : 0,
		.length = len,
		.mw_access_flags = access,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = VT_BIND_ID, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED | flags,
		.bind_mw = { w->mw, ibv_inc_rkey(w->mr.rkey), info },
	};
	struct ibv_mw_bind bind = {
		.wr_id = VT_BIND_ID, .send_flags = IBV_SEND_SIGNALED | flags,
		.bind_info = info,
	};

	if (w->mw->type == IBV_MW_TYPE_1) {
		VT_EQ(ibv_bind_mw(qp, w->mw, &bind), 0);
		w->mr.rkey = w->mw->rkey;
	} else {
		VT_EQ(ibv_post_send(qp, &wr, &bad), 0);
		w->mr.rkey = wr.bind_mw.rkey;
	}
	if (m)
		w->of = m;
	w->mem.buf = m ? m->buf + off : NULL;
	w->mem.len = len;
	if (access & IBV_ACCESS_ZERO_BASED)
		w->mem.buf = NULL;
}

/* A new window that @p's first side has bound. */
struct vt_win vt_bound(struct vt_pair *p, enum ibv_mw_type type,
		       const struct vt_mem *m, size_t off, size_t len,
		       int access)
{
	struct vt_win w = { .mw = vt_mw(p->end[0]->pd, type) };
	struct ibv_wc wc;

	w.mr.rkey = w.mw->rkey;
	vt_bind(p->qp[0], &w, m, off, len, access, 0);
	wc = vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
	VT_EQ(wc.opcode, IBV_WC_BIND_MW);
	return w;
}

/* @p's second side asks for something by the key of a window. */
void vt_win_send(struct vt_pair *p, enum ibv_wr_opcode op, struct vt_win *w,
		 size_t off, const struct vt_mem *local, size_t len)
{
	w->mem.mr = &w->mr;
	vt_send(p->qp[1], &(struct vt_wr){
		.op = op, .local = local, .len = len, .remote = &w->mem,
		.roff = off, .flags = IBV_SEND_SIGNALED });
}
