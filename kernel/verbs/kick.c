// SPDX-License-Identifier: GPL-2.0
/*
 * The kick descriptor. Its ioctl runs the requester in the caller, so the first
 * packet leaves before the system call returns; another one polls the netdev.
 *
 * A descriptor may outlive its device, and ib_core does not guard its file
 * operations. So @dev is only used in an epoch; kick_destroy() clears it and
 * waits for epochs.
 */
#include <linux/anon_inodes.h>
#include <linux/fs.h>
#include <rdma/uverbs_std_types.h>
#include "../core/epoch.h"
#include "../datapath/busy.h"
#include "../datapath/handover.h"
#include "../datapath/qp.h"
#include "../trace/trace.h"
#include "device.h"
#include "kick.h"
#include "ucontext.h"

#define UVERBS_MODULE_NAME hroce
#include <rdma/uverbs_named_ioctl.h>

/**
 * struct hroce_kick - kick descriptor
 * @uobj: ib_core's object
 * @dev: device; NULL once it is removed
 * @owner: context whose queue pairs may be kicked
 */
struct hroce_kick {
	struct ib_uobject uobj;
	struct hroce_dev __rcu *dev;
	const struct hroce_user *owner;
};

/*
 * Return: the queue pair to kick, valid to the end of the epoch, or
 * ERR_PTR().
 */
static struct hroce_qp *kick_find(const struct hroce_kick *kick,
				  unsigned long qpn)
{
	struct hroce_dev *dev = rcu_dereference_bh(kick->dev);
	struct hroce_qp *qp;

	if (!dev)
		return ERR_PTR(-EIO);
	qp = hroce_qp_find(dev, qpn);
	return qp && qp->owner == kick->owner ? qp : ERR_PTR(-EINVAL);
}

static void kick_qp(struct hroce_qp *qp, struct hroce_handover_mark *mark)
{
	struct hroce_dev *dev = hqp_dev(qp);

	hroce_port_stat_inc(&dev->port, HROCE_EV_KICKS);
	trace_hroce_kick(qp->proto.qpn);
	hroce_handover_begin(qp, mark);
	if (READ_ONCE(qp->proto.state) == HRP_ERR)
		set_bit(HRP_PENDING_ERROR, &qp->proto.pending);
	else
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
	hroce_qp_run_pending_bh(qp);
	hroce_poller_wake(&dev->poller);
}

/* Let the receiver run, if @mark says so and the queue pair still exists. */
static void kick_hand_over(const struct hroce_kick *kick, unsigned long qpn,
			   const struct hroce_handover_mark *mark)
{
	struct hroce_qp *qp;
	bool wait;

	hroce_epoch_enter();
	qp = kick_find(kick, qpn);
	wait = !IS_ERR(qp) && hroce_handover_end(qp, mark);
	hroce_epoch_leave();
	if (!wait)
		return;
	hroce_handover_wait();
	hroce_epoch_enter();
	qp = kick_find(kick, qpn);
	if (!IS_ERR(qp))
		hroce_handover_over(qp);
	hroce_epoch_leave();
}

static long kick_run(const struct hroce_kick *kick, unsigned long qpn)
{
	struct hroce_handover_mark mark;
	struct hroce_qp *qp;

	hroce_epoch_enter();
	qp = kick_find(kick, qpn);
	if (!IS_ERR(qp))
		kick_qp(qp, &mark);
	/* Softirqs run here and receive frames sent on this host. */
	hroce_epoch_leave();
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	if (hroce_handover_may_end(&mark))
		kick_hand_over(kick, qpn, &mark);
	return 0;
}

/* Is something due that the timer of the queue pair is for? */
static bool kick_is_due(const struct hroce_qp *qp)
{
	u64 timer_ns = READ_ONCE(qp->timer_ns);

	return timer_ns && ktime_get_ns() >= timer_ns;
}

/* It is done here, unless the frames that have just come say otherwise. */
static void kick_do_due(const struct hroce_kick *kick, unsigned long qpn)
{
	struct hroce_qp *qp;

	hroce_epoch_enter();
	qp = kick_find(kick, qpn);
	if (!IS_ERR(qp))
		hroce_qp_send_due(qp, ktime_get_ns());
	hroce_epoch_leave();
}

static long kick_poll(const struct hroce_kick *kick, unsigned long qpn)
{
	struct hroce_qp *qp;
	bool due = false;
	u32 napi = 0;

	hroce_epoch_enter();
	qp = kick_find(kick, qpn);
	if (!IS_ERR(qp))
		napi = hroce_busy_napi(qp);
	if (napi) {
		hroce_port_stat_inc(&hqp_dev(qp)->port, HROCE_EV_BUSY_POLLS);
		hroce_hold_polled(qp);
		due = kick_is_due(qp);
	}
	hroce_epoch_leave();
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	if (!napi)
		return -EOPNOTSUPP;
	hroce_busy_poll(napi);
	if (due)
		kick_do_due(kick, qpn);
	return 0;
}

static long kick_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hroce_kick *kick = container_of(file->private_data,
					       struct hroce_kick, uobj);

	switch (cmd) {
	case HROCE_IOC_KICK:
		return kick_run(kick, arg);
	case HROCE_IOC_POLL:
		return kick_poll(kick, arg);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations kick_fops = {
	.owner = THIS_MODULE,
	.release = uverbs_uobject_fd_release,
	.unlocked_ioctl = kick_ioctl,
	.compat_ioctl = kick_ioctl,
	.llseek = noop_llseek,
};

static int
UVERBS_HANDLER(HROCE_METHOD_KICK_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj;
	struct hroce_kick *kick;

	uobj = uverbs_attr_get_uobject(attrs, HROCE_ATTR_KICK_ALLOC_HANDLE);
	kick = container_of(uobj, struct hroce_kick, uobj);
	kick->owner = &to_hctx(attrs->context)->user;
	rcu_assign_pointer(kick->dev, to_hdev(attrs->context->device));
	return 0;
}

static void kick_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	struct hroce_kick *kick = container_of(uobj, struct hroce_kick, uobj);

	RCU_INIT_POINTER(kick->dev, NULL);
	hroce_epoch_wait();
}

DECLARE_UVERBS_NAMED_METHOD(HROCE_METHOD_KICK_ALLOC,
			    UVERBS_ATTR_FD(HROCE_ATTR_KICK_ALLOC_HANDLE,
					   HROCE_OBJECT_KICK,
					   UVERBS_ACCESS_NEW, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(HROCE_OBJECT_KICK,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct hroce_kick),
						 kick_destroy, &kick_fops,
						 "[hroce_kick]", O_RDWR),
			    &UVERBS_METHOD(HROCE_METHOD_KICK_ALLOC));

const struct uapi_definition hroce_kick_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(HROCE_OBJECT_KICK),
	{},
};
