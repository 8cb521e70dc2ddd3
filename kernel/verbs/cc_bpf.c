// SPDX-License-Identifier: GPL-2.0
/*
 * A control of congestion that is a BPF program: HRP_CC_ADDED of the engine.
 *
 * A program fills struct hroce_cc_ops (struct_ops), one at a time. It sees a
 * struct hroce_cc_flow of each queue pair that has the control, which is filled
 * before each call. It may write the window, which is checked, and state of its
 * own.
 *
 * A queue pair holds no reference to the program: kernels before 7.2 do not
 * export what that takes. It notices at its next measurement or CNP that the
 * program is gone, and goes on with hrp_cc_delay. Calls are RCU read-side
 * critical sections, and the kernel frees a program a grace period after it is
 * unregistered. A registered program holds the module.
 */
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/xarray.h>
#include <rdma/hroce-cc.h>
#include "../core/btf.h"
#include "../datapath/qp.h"
#include "../datapath/user.h"
#include "../proto/cc.h"
#include "../proto/mtu.h"
#include "../proto/psn.h"
#include "cc_bpf.h"

#ifndef HROCE_NO_STRUCT_OPS

/* As hrp_cc_delay has them. */
#define START_PKTS	64u
#define CNP_SHIFT	3u

/**
 * struct cc_flow - state of a queue pair
 * @seen: what the program sees
 * @psn_una: that of the last measurement
 * @number: of the program that has started it
 */
struct cc_flow {
	struct hroce_cc_flow seen;
	u32 psn_una;
	u32 number;
};

/* One at a time. */
static struct hroce_cc_ops __rcu *cc_program;

/* How many there were: one may take the address of another. */
static u32 cc_number;

/* Guards both against other writers. */
static DEFINE_MUTEX(cc_lock);

static struct xarray *flow_table(const struct hrp_qp *proto)
{
	return &hqp_dev(proto_to_hqp(proto))->cc_flows;
}

static struct cc_flow *flow_find(const struct hrp_qp *proto)
{
	return xa_load(flow_table(proto), proto->qpn);
}

/* Zeroed. NULL: there is no memory. */
static struct cc_flow *flow_make(const struct hrp_qp *proto)
{
	struct cc_flow *flow = flow_find(proto);
	gfp_t gfp = HROCE_USER_GFP;
	struct mem_cgroup *before;

	if (flow) {
		memset(flow, 0, sizeof(*flow));
		return flow;
	}
	before = hroce_user_pay(proto_to_hqp(proto), &gfp);
	flow = kzalloc(sizeof(*flow), gfp);
	if (flow && xa_err(xa_store_bh(flow_table(proto), proto->qpn, flow,
				       gfp))) {
		kfree(flow);
		flow = NULL;
	}
	hroce_user_paid(before);
	return flow;
}

static void flow_fill(struct cc_flow *flow, struct hrp_qp *proto, u64 now_ns)
{
	const struct hrp_req *req = &proto->req;
	struct hroce_cc_flow *seen = &flow->seen;

	seen->now_ns = now_ns;
	seen->rtt_ns = 0;
	seen->qpn = proto->qpn;
	seen->mtu = hrp_mtu_max(proto);
	seen->acked_pkts = hrp_psn_diff(req->psn_una, flow->psn_una);
	seen->flight_pkts = hrp_psn_diff(req->psn_max, req->psn_una);
	seen->max_pkts = hrp_req_window_max(req);
	seen->srtt_us = div_u64((u64)req->srtt8 << 7, NSEC_PER_USEC);
	seen->flags = 0;
	if (req->sq.next != req->sq.head)
		seen->flags |= HROCE_CC_LIMITED;
	if (req->recovering || req->went_back)
		seen->flags |= HROCE_CC_RECOVERS;
	seen->window_pkts = req->cwnd_pkts;
}

/* A program may have written anything. */
static void flow_apply(const struct cc_flow *flow, struct hrp_req *req)
{
	u32 max_pkts = max(hrp_req_window_max(req), 1u);

	req->cwnd_pkts = clamp(flow->seen.window_pkts, 1u, max_pkts);
}

/* NULL: the program that controls the flow is gone. */
static const struct hroce_cc_ops *flow_program(const struct cc_flow *flow)
{
	const struct hroce_cc_ops *program = rcu_dereference(cc_program);

	/* Pairs with the assignment in cc_reg(): its number, or a later one. */
	smp_rmb();
	return flow && flow->number == READ_ONCE(cc_number) ? program : NULL;
}

/* Begin anew, with the default. */
static void cc_leave(struct hrp_qp *proto)
{
	proto->req.cc = HRP_CC_DELAY;
	hrp_cc_start(proto);
}

static bool cc_try_start(struct hrp_qp *proto)
{
	const struct hroce_cc_ops *program;
	struct hrp_req *req = &proto->req;
	struct cc_flow *flow;

	/* Round trips are those of acknowledged packets. */
	if (!hrp_qp_is_reliable(proto) || !rcu_access_pointer(cc_program))
		return false;
	flow = flow_make(proto);
	if (!flow)
		return false;
	/* Pairs with cc_reg(): no program before this one is seen from now on. */
	flow->number = smp_load_acquire(&cc_number);
	flow->psn_una = req->psn_una;
	program = flow_program(flow);
	if (!program)
		return false;
	req->cwnd_pkts = min_t(u32, START_PKTS, req->window_pkts);
	/* The program judges queues: losses are a sign of congestion. */
	req->cc_queued = 1;
	if (!program->start)
		return true;
	flow_fill(flow, proto, ktime_get_ns());
	program->start(&flow->seen);
	flow_apply(flow, req);
	return true;
}

static void cc_start(struct hrp_qp *proto)
{
	bool started;

	rcu_read_lock();
	started = cc_try_start(proto);
	rcu_read_unlock();
	if (!started)
		cc_leave(proto);
}

static void cc_measured(struct hrp_qp *proto, u32 rtt, bool first, u64 now_ns)
{
	struct cc_flow *flow = flow_find(proto);
	const struct hroce_cc_ops *program;

	if (first && rtt < proto->base)
		hrp_cc_set_base(proto, rtt);
	rcu_read_lock();
	program = flow_program(flow);
	if (program) {
		flow_fill(flow, proto, now_ns);
		flow->psn_una = proto->req.psn_una;
		flow->seen.rtt_ns = (u64)rtt << 10;
		if (!first)
			flow->seen.flags |= HROCE_CC_RESENT;
		program->measured(&flow->seen);
		flow_apply(flow, &proto->req);
	}
	rcu_read_unlock();
	if (!program)
		cc_leave(proto);
}

static void cc_marked(struct hrp_req *req)
{
	struct hrp_qp *proto = container_of(req, struct hrp_qp, req);
	struct cc_flow *flow = flow_find(proto);
	const struct hroce_cc_ops *program;

	rcu_read_lock();
	program = flow_program(flow);
	if (program && program->marked) {
		flow_fill(flow, proto, ktime_get_ns());
		program->marked(&flow->seen);
		flow_apply(flow, req);
	} else if (program) {
		req->cwnd_pkts -= req->cwnd_pkts >> CNP_SHIFT;
	}
	rcu_read_unlock();
	if (!program)
		cc_leave(proto);
}

static u32 cc_near_pkts(const struct hrp_req *req)
{
	return hrp_cc_none.near_pkts(req);
}

static const struct hrp_cc_ops cc_bpf = {
	.name = HROCE_CC_BPF_NAME,
	.start = cc_start,
	.measured = cc_measured,
	.cnp = cc_marked,
	.near_pkts = cc_near_pkts,
};

int hroce_cc_bpf_find(void)
{
	if (!hrp_cc_of(HRP_CC_ADDED))
		return -EOPNOTSUPP;
	return rcu_access_pointer(cc_program) ? HRP_CC_ADDED : -ENOENT;
}

void hroce_cc_bpf_forget(struct hroce_qp *qp)
{
	struct hrp_qp *proto = &qp->proto;

	if (proto->req.cc == HRP_CC_ADDED)
		proto->req.cc = HRP_CC_DELAY;
	if (!xa_empty(flow_table(proto)))
		kfree(xa_erase_bh(flow_table(proto), proto->qpn));
}

/* What the verifier knows of the module. */
static const struct btf *cc_btf;
static const struct btf_type *cc_flow_type;

static int cc_init(struct btf *btf)
{
	cc_btf = btf;
	return 0;
}

static const struct btf_type *cc_type(u32 id)
{
	return btf_type_by_id(cc_btf, id);
}

/*
 * All members are pointers to functions with one argument: a pointer to the type
 * that is looked for, as kernels do not export how types are found by name.
 */
static int cc_check_member(const struct btf_type *t,
			   const struct btf_member *member,
			   const struct bpf_prog *prog)
{
	const struct btf_type *function = cc_type(cc_type(member->type)->type);
	const struct btf_type *argument = cc_type(btf_params(function)->type);

	cc_flow_type = cc_type(argument->type);
	return prog->sleepable ? -EINVAL : 0;
}

static bool cc_is_within(int off, int size, size_t from, size_t end)
{
	return off >= from && off + size <= end;
}

/* What a program may write. */
static int cc_write_access(struct bpf_verifier_log *log,
			   const struct bpf_reg_state *reg, int off, int size)
{
	if (btf_type_by_id(reg->btf, reg->btf_id) == cc_flow_type &&
	    (cc_is_within(off, size,
			  offsetof(struct hroce_cc_flow, window_pkts),
			  offsetofend(struct hroce_cc_flow, window_pkts)) ||
	     cc_is_within(off, size, offsetof(struct hroce_cc_flow, priv),
			  offsetofend(struct hroce_cc_flow, priv))))
		return 0;
	bpf_log(log, "only window_pkts and priv of struct hroce_cc_flow may be written\n");
	return -EACCES;
}

static bool cc_read_access(int off, int size, enum bpf_access_type type,
			   const struct bpf_prog *prog,
			   struct bpf_insn_access_aux *info)
{
	return bpf_tracing_btf_ctx_access(off, size, type, prog, info);
}

static const struct bpf_func_proto *
cc_func_proto(enum bpf_func_id func_id, const struct bpf_prog *prog)
{
	return bpf_base_func_proto(func_id, prog);
}

static const struct bpf_verifier_ops cc_verifier_ops = {
	.get_func_proto = cc_func_proto,
	.is_valid_access = cc_read_access,
	.btf_struct_access = cc_write_access,
};

static int cc_init_member(const struct btf_type *t,
			  const struct btf_member *member, void *kdata,
			  const void *udata)
{
	return 0;
}

static int cc_validate(void *kdata)
{
	const struct hroce_cc_ops *program = kdata;

	return program->measured ? 0 : -EINVAL;
}

static int cc_reg(void *kdata, struct bpf_link *link)
{
	int err = -EBUSY;

	/* BPF itself only asks for CAP_BPF and CAP_PERFMON. */
	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	mutex_lock(&cc_lock);
	if (!rcu_access_pointer(cc_program)) {
		/* Pairs with cc_try_start(). */
		smp_store_release(&cc_number, cc_number + 1);
		/* Pairs with flow_program(). */
		rcu_assign_pointer(cc_program, kdata);
		err = 0;
	}
	mutex_unlock(&cc_lock);
	return err;
}

static void cc_unreg(void *kdata, struct bpf_link *link)
{
	mutex_lock(&cc_lock);
	RCU_INIT_POINTER(cc_program, NULL);
	mutex_unlock(&cc_lock);
}

/* The kernel takes types and names of arguments from these. */
static void stub_start(struct hroce_cc_flow *flow) { }
static void stub_measured(struct hroce_cc_flow *flow) { }
static void stub_marked(struct hroce_cc_flow *flow) { }

static struct hroce_cc_ops cc_stubs = {
	.start = stub_start,
	.measured = stub_measured,
	.marked = stub_marked,
};

static struct bpf_struct_ops cc_struct_ops = {
	.verifier_ops = &cc_verifier_ops,
	.init = cc_init,
	.check_member = cc_check_member,
	.init_member = cc_init_member,
	.validate = cc_validate,
	.reg = cc_reg,
	.unreg = cc_unreg,
	.cfi_stubs = &cc_stubs,
	.name = "hroce_cc_ops",
	.owner = THIS_MODULE,
};

void hroce_cc_bpf_init(void)
{
	int err;

	if (!hroce_has_btf())
		return;
	err = register_bpf_struct_ops(&cc_struct_ops, hroce_cc_ops);
	if (err)
		pr_notice("no BPF program can control congestion (%d)\n", err);
	else
		hrp_cc_add(&cc_bpf);
}

#endif /* HROCE_NO_STRUCT_OPS */
