// SPDX-License-Identifier: GPL-2.0
/*
 * Address handles. They may be created and destroyed in any context, even with
 * interrupts disabled: ib_cm does so under its locks.
 */
#include <linux/capability.h>
#include <linux/jhash.h>
#include <linux/pkt_sched.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include "../net/class.h"
#include "ah.h"
#include "device.h"
#include "ops.h"
#include "ucontext.h"

#define DEFAULT_HOP_LIMIT	64

static struct workqueue_struct *ah_wq;

int hroce_ah_init(void)
{
	ah_wq = alloc_workqueue("hroce_ah", WQ_PERCPU, 0);
	return ah_wq ? 0 : -ENOMEM;
}

void hroce_ah_exit(void)
{
	hroce_ah_flush();
	destroy_workqueue(ah_wq);
}

void hroce_ah_flush(void)
{
	/* Handles are queued for freeing after a grace period. */
	rcu_barrier();
	flush_workqueue(ah_wq);
}

/* As with SO_PRIORITY, a higher priority requires CAP_NET_ADMIN. */
static u8 ah_max_priority(const struct hroce_port *port, u8 sl, bool user)
{
	if (!user || (sl > TC_PRIO_INTERACTIVE &&
		      ns_capable(port->net->user_ns, CAP_NET_ADMIN)))
		return TC_PRIO_MAX;
	return TC_PRIO_INTERACTIVE;
}

static bool ah_rate_is_valid(u8 rate)
{
	return rate == IB_RATE_PORT_CURRENT || ib_rate_to_mbps(rate) > 0;
}

int hroce_ah_path_key(struct ib_device *ibdev, const struct rdma_ah_attr *attr,
		      u16 sport, bool user, struct hroce_path_key *key)
{
	const struct hroce_port *port = &to_hdev(ibdev)->port;
	const struct ib_global_route *grh;
	const struct ib_gid_attr *sgid;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE ||
	    rdma_ah_get_port_num(attr) != 1 ||
	    rdma_ah_get_sl(attr) > HROCE_MAX_SL ||
	    !ah_rate_is_valid(rdma_ah_get_static_rate(attr)) ||
	    !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return -EINVAL;
	grh = rdma_ah_read_grh(attr);
	sgid = grh->sgid_attr;
	if (!sgid || sgid->device != ibdev ||
	    sgid->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EINVAL;

	memset(key, 0, sizeof(*key));
	memcpy(&key->saddr, &sgid->gid, sizeof(key->saddr));
	memcpy(&key->daddr, &grh->dgid, sizeof(key->daddr));
	if (ipv6_addr_any(&key->daddr) ||
	    ipv6_addr_v4mapped(&key->saddr) != ipv6_addr_v4mapped(&key->daddr))
		return -EINVAL;
	if (!hroce_port_has_addr(port, &key->saddr))
		return -EADDRNOTAVAIL;

	/* UCX sets the 12 bits above the label; all drivers ignore them. */
	key->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	if (!sport && key->flow_label)
		sport = rdma_flow_label_to_udp_sport(key->flow_label);
	else if (!sport)
		sport = rdma_flow_label_to_udp_sport(IB_GRH_FLOWLABEL_MASK &
			jhash2((u32 *)&key->daddr, sizeof(key->daddr) / 4, 0));
	key->sport = sport;
	key->tclass = grh->traffic_class;
	key->hop_limit = grh->hop_limit ?: DEFAULT_HOP_LIMIT;
	/* ibv_init_ah_from_wc() copies wc.sl, which is no priority. */
	if (!(rdma_ah_get_sl(attr) & HROCE_SL_UDP))
		key->sl = rdma_ah_get_sl(attr);
	key->priority = hroce_class_priority(port->dev, key->sl,
					     ah_max_priority(port, key->sl,
							     user));
	key->static_rate = rdma_ah_get_static_rate(attr);
	return 0;
}

static int ah_publish(struct hroce_dev *dev, struct hroce_ah *ah)
{
	unsigned long flags;
	int err;

	xa_lock_irqsave(&dev->ahs, flags);
	err = __xa_alloc_cyclic(&dev->ahs, &ah->id, ah,
				XA_LIMIT(1, HROCE_MAX_AH_ID),
				&to_hibdev(&dev->ib)->ah_next, GFP_ATOMIC);
	xa_unlock_irqrestore(&dev->ahs, flags);
	if (err == -EBUSY)
		return -ENOSPC;
	return min(err, 0);
}

static void ah_unpublish(struct hroce_dev *dev, struct hroce_ah *ah)
{
	unsigned long flags;

	xa_lock_irqsave(&dev->ahs, flags);
	__xa_erase(&dev->ahs, ah->id);
	xa_unlock_irqrestore(&dev->ahs, flags);
}

static void ah_free(struct work_struct *work)
{
	struct hroce_ah *ah;

	ah = container_of(to_rcu_work(work), struct hroce_ah, free);
	hroce_path_fini(&ah->path);
	kfree(ah);
}

int hroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata)
{
	bool may_sleep = init_attr->flags & RDMA_CREATE_AH_SLEEPABLE;
	gfp_t gfp = may_sleep ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	struct hroce_dev *dev = to_hdev(ibah->device);
	struct hroce_create_ah_resp resp = {};
	struct hroce_path_key key;
	struct hroce_ah *ah;
	int err;

	err = hroce_udata_check(udata, offsetofend(typeof(resp), ah_id));
	if (err)
		return err;
	err = hroce_ah_path_key(&dev->ib, init_attr->ah_attr, 0, !!udata,
				&key);
	if (err)
		return err;
	ah = kzalloc(sizeof(*ah), gfp);
	if (!ah)
		return -ENOMEM;
	ah->pd = ibah->pd;
	INIT_RCU_WORK(&ah->free, ah_free);
	/* No cached route for the kernel: its CM uses each AH once. */
	err = hroce_path_init(&ah->path, &dev->port, &key, !!udata, gfp);
	if (err)
		goto free_ah;
	err = ah_publish(dev, ah);
	if (err)
		goto free_later;
	resp.ah_id = ah->id;
	err = hroce_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		goto unpublish;
	container_of(ibah, struct hroce_ib_ah, ib)->ah = ah;
	return 0;

unpublish:
	ah_unpublish(dev, ah);
free_later:
	queue_rcu_work(ah_wq, &ah->free);
	return err;
free_ah:
	kfree(ah);
	return err;
}

/* ib_mad compares it with the address that a response came from. */
int hroce_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct hroce_path_key *key = &to_hah(ibah)->path.key;
	union ib_gid dgid;

	memcpy(&dgid, &key->daddr, sizeof(dgid));
	memset(attr, 0, sizeof(*attr));
	attr->type = ibah->type;
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_sl(attr, key->sl);
	rdma_ah_set_static_rate(attr, key->static_rate);
	rdma_ah_set_grh(attr, &dgid, key->flow_label, ibah->sgid_attr->index,
			key->hop_limit, key->tclass);
	return 0;
}

void hroce_ah_destroy(struct ib_ah *ibah)
{
	struct hroce_ah *ah = to_hah(ibah);

	ah_unpublish(to_hdev(ibah->device), ah);
	queue_rcu_work(ah_wq, &ah->free);
}
