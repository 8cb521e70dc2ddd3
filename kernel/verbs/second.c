// SPDX-License-Identifier: GPL-2.0
/*
 * Second links, and the second ways of queue pairs, see second.h.
 *
 * A device refers to its second link by a pointer, without a reference: a link can
 * be removed at any time. Its removal takes the pointers back, ends the second ways
 * that lead over it, and waits for epochs. The queue pairs keep their struct
 * hroce_second, which is empty then, until they are destroyed.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include "../core/epoch.h"
#include "../datapath/second.h"
#include "device.h"
#include "port.h"
#include "qp_attr.h"
#include "second.h"

#define SECOND_TICK	HZ

/*
 * Guards hroce_dev.second of all devices, and additions to and removals from
 * hroce_dev.seconds and hroce_dev.aliases. Outside of the locks of queue pairs.
 */
static DEFINE_MUTEX(second_mutex);

/* Software devices, from hroce_second_enter() on [second_mutex]. */
static LIST_HEAD(second_devs);

/* Call a function for all second ways in a table, in an epoch each. */
static void second_visit(struct xarray *table,
			 void (*visit)(struct hroce_second *second))
{
	struct hroce_second *second;
	unsigned long index = 0;

	do {
		hroce_epoch_enter();
		second = xa_find(table, &index, ULONG_MAX, XA_PRESENT);
		if (second)
			visit(second);
		hroce_epoch_leave();
		cond_resched();
		index++;
	} while (second);
}

static void second_work(struct work_struct *work)
{
	struct hroce_dev *dev = container_of(to_delayed_work(work),
					     struct hroce_dev, second_work);

	second_visit(&dev->aliases, hroce_second_tick);
	if (READ_ONCE(dev->nr_aliases))
		schedule_delayed_work(&dev->second_work, SECOND_TICK);
}

void hroce_second_init(struct hroce_dev *dev)
{
	xa_init_flags(&dev->seconds, XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->aliases, XA_FLAGS_ACCOUNT);
	INIT_LIST_HEAD(&dev->second_node);
	INIT_DELAYED_WORK(&dev->second_work, second_work);
}

void hroce_second_enter(struct hroce_dev *dev)
{
	mutex_lock(&second_mutex);
	list_add(&dev->second_node, &second_devs);
	mutex_unlock(&second_mutex);
}

/* Take the alias back. */
static void second_remove(struct hroce_second *second)
{
	struct hroce_dev *to = second->dev;
	u32 index = hroce_qp_index(to, second->proto.own_qpn);

	lockdep_assert_held(&second_mutex);
	xa_erase(&to->aliases, index);
	xa_erase(&to->qps, index);
	WRITE_ONCE(to->nr_aliases, to->nr_aliases - 1);
}

void hroce_second_fini(struct hroce_dev *dev)
{
	struct hroce_second *second, *next;
	struct hroce_dev *other;
	unsigned long index;
	LIST_HEAD(ended);

	mutex_lock(&second_mutex);
	list_del_init(&dev->second_node);
	list_for_each_entry(other, &second_devs, second_node)
		if (other->second == dev)
			WRITE_ONCE(other->second, NULL);
	xa_for_each(&dev->aliases, index, second) {
		second_remove(second);
		hroce_second_drop(second);
		list_add(&second->node, &ended);
	}
	/* Also for those whose queue pairs are being destroyed. */
	hroce_epoch_wait();
	list_for_each_entry_safe(second, next, &ended, node)
		hroce_path_fini(&second->path);
	mutex_unlock(&second_mutex);
	cancel_delayed_work_sync(&dev->second_work);
	xa_destroy(&dev->aliases);
	xa_destroy(&dev->seconds);
}

static struct hroce_dev *second_dev(const char *name)
{
	struct hroce_dev *dev;

	lockdep_assert_held(&second_mutex);
	list_for_each_entry(dev, &second_devs, second_node)
		if (!strcmp(dev->ib.name, name))
			return dev;
	return NULL;
}

static int second_check(const struct hroce_dev *dev,
			const struct hroce_dev *to)
{
	if (!to)
		return -ENODEV;
	if (to == dev)
		return -EINVAL;
	return net_eq(to->port.net, dev->port.net) ? 0 : -EXDEV;
}

int hroce_second_set(struct hroce_dev *dev, const char *name)
{
	struct hroce_dev *to = NULL;
	int err = 0;

	mutex_lock(&second_mutex);
	if (*name) {
		to = second_dev(name);
		err = second_check(dev, to);
	}
	if (!err)
		WRITE_ONCE(dev->second, to);
	mutex_unlock(&second_mutex);
	return err;
}

void hroce_second_name(const struct hroce_dev *dev, char *name, size_t size)
{
	mutex_lock(&second_mutex);
	strscpy(name, dev->second ? dev->second->ib.name : "", size);
	mutex_unlock(&second_mutex);
}

/* Is there room for one more, for packets that are as long? */
static bool second_suits(const struct hroce_qp *qp, const struct hroce_dev *to)
{
	return to->nr_aliases < HROCE_MAX_QP &&
	       qp->proto.mtu <= ib_mtu_enum_to_int(hroce_port_mtu(to));
}

/* A number that differs from that of the queue pair at its own link. */
static int second_take_number(const struct hroce_qp *qp, struct hroce_dev *to,
			      u32 *qpn)
{
	int err;

	err = hroce_qp_take_index(to, qpn);
	if (err || *qpn != qp->proto.qpn)
		return err;
	err = hroce_qp_take_index(to, qpn);
	xa_erase(&to->qps, hroce_qp_index(to, qp->proto.qpn));
	return err;
}

static int second_publish(struct hroce_second *second)
{
	struct hroce_dev *to = second->dev, *dev = hqp_dev(second->qp);
	u32 index = hroce_qp_index(dev, second->qp->proto.qpn);
	u32 alias = hroce_qp_index(to, second->proto.own_qpn);
	int err;

	lockdep_assert_held(&second_mutex);
	err = xa_insert(&dev->seconds, index, second, GFP_KERNEL);
	if (err)
		return err;
	err = xa_insert(&to->aliases, alias, second, GFP_KERNEL);
	if (err) {
		xa_erase(&dev->seconds, index);
		return err;
	}
	WRITE_ONCE(to->nr_aliases, to->nr_aliases + 1);
	return 0;
}

static int second_add(struct hroce_qp *qp, struct hroce_dev *to)
{
	struct hroce_second *second;
	struct in6_addr addr;
	u32 qpn;
	int err;

	lockdep_assert_held(&second_mutex);
	if (!second_suits(qp, to) ||
	    !hroce_port_addr_like(&to->port, &qp->path.key.saddr, &addr))
		return -EADDRNOTAVAIL;
	second = kzalloc(sizeof(*second), GFP_KERNEL_ACCOUNT);
	if (!second)
		return -ENOMEM;
	err = second_take_number(qp, to, &qpn);
	if (err)
		goto free;
	second->qp = qp;
	second->dev = to;
	hrp_second_begin(&second->proto, addr.s6_addr, qpn);
	err = second_publish(second);
	if (err)
		goto put_number;
	return 0;

put_number:
	xa_erase(&to->qps, hroce_qp_index(to, qpn));
free:
	kfree(second);
	return err;
}

void hroce_second_add(struct hroce_qp *qp)
{
	struct hroce_dev *dev = hqp_dev(qp);
	struct hroce_dev *to;

	lockdep_assert_held(&qp->modify_lock);
	if (!READ_ONCE(dev->second) || !hrp_qp_is_reliable(&qp->proto))
		return;
	mutex_lock(&second_mutex);
	to = dev->second;
	if (to && !second_add(qp, to)) {
		WRITE_ONCE(qp->second, true);
		schedule_delayed_work(&to->second_work, SECOND_TICK);
	}
	mutex_unlock(&second_mutex);
}

void hroce_second_start(struct hroce_qp *qp)
{
	struct hroce_dev *dev = hqp_dev(qp);

	lockdep_assert_held(&qp->modify_lock);
	if (!qp->second)
		return;
	mutex_lock(&second_mutex);
	hroce_second_tick(xa_load(&dev->seconds,
				  hroce_qp_index(dev, qp->proto.qpn)));
	mutex_unlock(&second_mutex);
}

struct hroce_second *hroce_second_unhook(struct hroce_qp *qp)
{
	struct hroce_dev *dev = hqp_dev(qp);
	struct hroce_second *second;

	if (!qp->second)
		return NULL;
	mutex_lock(&second_mutex);
	second = xa_erase(&dev->seconds, hroce_qp_index(dev, qp->proto.qpn));
	if (second->dev)
		second_remove(second);
	mutex_unlock(&second_mutex);
	return second;
}

void hroce_second_free(struct hroce_second *second)
{
	struct hroce_qp *qp;

	if (!second)
		return;
	qp = second->qp;
	hroce_qp_lock(qp);
	WRITE_ONCE(qp->second, false);
	WRITE_ONCE(qp->elsewhere, false);
	clear_bit(HROCE_PENDING_SECOND, &qp->proto.pending);
	clear_bit(HROCE_PENDING_BY_SECOND, &qp->proto.pending);
	hroce_qp_unlock(qp);
	hroce_path_fini(&second->path);
	kfree(second);
}

static void second_first_down(struct hroce_second *second)
{
	hroce_second_leave(second, HRP_WAY_FIRST);
}

static void second_second_down(struct hroce_second *second)
{
	hroce_second_leave(second, HRP_WAY_SECOND);
}

void hroce_second_down(struct hroce_dev *dev)
{
	second_visit(&dev->seconds, second_first_down);
	second_visit(&dev->aliases, second_second_down);
}
