// SPDX-License-Identifier: GPL-2.0
/*
 * One link per network device, in any network namespace.
 *
 * A link uses one of two devices under the same name: hroce's own transport, or
 * a facade of the hardware below. When hardware comes or goes, one is
 * unregistered and the other registered. This waits for users, so a work item
 * does it, not the callbacks that report the change: those of ib_core hold
 * locks that the work takes, those of netdevs hold RTNL.
 *
 * A link ends when another task unregisters its device, and when its netdev is
 * unregistered or moves to another namespace: addresses, routes and hooks do
 * not move with it.
 *
 * Registration and unregistration wait for users of the device, which may take
 * long. They run without locks: @mover keeps other tasks from the same link,
 * and other links are not blocked.
 */
#include <linux/delay.h>
#include <linux/idr.h>
#include <linux/inetdevice.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>
#include "link.h"
#include "link_sysfs.h"
#include "offload/mirror.h"
#include "verbs/device.h"
#include "verbs/facade.h"
#include "verbs/port.h"

/* Hardware whose GIDs are missing for longer no longer serves the link. */
#define GIDS_MISSING_MS	1000

static LIST_HEAD(links);

/* For hroce_owner.number. */
static DEFINE_IDA(link_numbers);

/*
 * Guards @links, and the mover of each link. Never taken by callbacks of
 * ib_core or of netdevs, and never held while a device is registered or
 * unregistered.
 */
static DEFINE_MUTEX(link_mutex);

/* Set at exit: no link is added or changed any more [link_mutex]. */
static bool links_closed;

static void links_work(struct work_struct *work);
static DECLARE_WORK(links_reconsider_work, links_work);

/* NULL before init and after exit, when module parameters may be written. */
static struct workqueue_struct *links_wq;
static DEFINE_SPINLOCK(links_wq_lock);

/* Must not sleep. Context: any; any lock may be held. */
static void links_reconsider(void)
{
	unsigned long flags;

	spin_lock_irqsave(&links_wq_lock, flags);
	if (links_wq)
		queue_work(links_wq, &links_reconsider_work);
	spin_unlock_irqrestore(&links_wq_lock, flags);
}

static struct workqueue_struct *links_wq_swap(struct workqueue_struct *next)
{
	struct workqueue_struct *last;

	spin_lock_irq(&links_wq_lock);
	last = links_wq;
	links_wq = next;
	spin_unlock_irq(&links_wq_lock);
	return last;
}

static struct hroce_link *owner_link(struct hroce_owner *owner)
{
	return container_of(owner, struct hroce_link, owner);
}

struct hroce_link *hroce_link_of(struct ib_device *ibdev)
{
	return owner_link(hroce_is_facade(ibdev) ? to_hfacade(ibdev)->owner :
						   to_hibdev(ibdev)->owner);
}

void hroce_link_choice(struct hroce_link *link, struct hroce_choice *choice)
{
	spin_lock(&link->lock);
	*choice = link->choice;
	spin_unlock(&link->lock);
}

/*
 * Do not overwrite the policy, which may have changed meanwhile: that queues
 * the work again.
 */
static void link_choose(struct hroce_link *link,
			const struct hroce_choice *next)
{
	spin_lock(&link->lock);
	link->choice.mode = next->mode;
	link->choice.has_lower = next->has_lower;
	link->choice.lower = next->lower;
	spin_unlock(&link->lock);
}

int hroce_link_set_policy(struct hroce_link *link, enum hroce_policy policy)
{
	struct hroce_lower lower;
	char remedy[HROCE_REMEDY_LEN];

	if (policy == HROCE_POLICY_SOFTWARE &&
	    hroce_lower_find(link->owner.ndev, NULL, &lower)) {
		hroce_lower_remedy(&lower, remedy, sizeof(remedy));
		pr_warn("the link on %s cannot be software while %s takes UDP port 4791: %s\n",
			link->owner.ndev->name, lower.name, remedy);
		return -EBUSY;
	}
	spin_lock(&link->lock);
	link->choice.policy = policy;
	spin_unlock(&link->lock);
	pr_info("the link on %s has policy %s\n", link->owner.ndev->name,
		hroce_policy_names[policy]);
	links_reconsider();
	return 0;
}

static void link_net_put(struct hroce_link *link)
{
	if (link->owner.rdma_net)
		put_net(link->owner.rdma_net);
	link->owner.rdma_net = NULL;
}

/* If the namespace is being freed, its devices move to the initial one. */
static void link_net_get(struct hroce_link *link, const possible_net_t *pnet)
{
	struct net *net;

	rcu_read_lock();
	net = maybe_get_net(read_pnet(pnet));
	rcu_read_unlock();
	link_net_put(link);
	link->owner.rdma_net = net ?: get_net(&init_net);
}

static void link_device_gone(struct hroce_owner *owner,
			     const struct ib_device *ibdev)
{
	struct hroce_link *link = owner_link(owner);

	if (READ_ONCE(link->mover) == current) {
		link->moved = true;
		/* A lock of ib_core prevents further moves. */
		link_net_get(link, &ibdev->coredev.rdma_net);
		return;
	}
	/* The link must not be used after this; see links_reap(). */
	smp_store_release(&link->gone, true);
	links_reconsider();
}

static bool link_lower(struct hroce_owner *owner,
		       struct hroce_alloc_ucontext_resp *resp)
{
	struct hroce_choice choice;

	hroce_link_choice(owner_link(owner), &choice);
	if (!choice.has_lower || !hroce_lower_exists(&choice.lower))
		return false;
	resp->lower_index = choice.lower.index;
	resp->lower_port = choice.lower.port;
	resp->lower_driver_id = choice.lower.driver_id;
	static_assert(sizeof(resp->lower_name) >= sizeof(choice.lower.name));
	strscpy(resp->lower_name, choice.lower.name, sizeof(resp->lower_name));
	return true;
}

static void link_lower_counters(struct hroce_owner *owner,
				const struct ib_mad *in, struct ib_mad *out)
{
	struct hroce_choice choice;

	hroce_link_choice(owner_link(owner), &choice);
	if (choice.has_lower)
		hroce_mirror_counters(&choice.lower, in, out);
}

static const struct hroce_owner_ops link_owner_ops = {
	.group = &hroce_link_group,
	.gone = link_device_gone,
	.lower = link_lower,
	.lower_counters = link_lower_counters,
};

static struct ib_device *netdev_device(struct net_device *ndev)
{
	return ib_device_get_by_netdev(ndev, RDMA_DRIVER_HROCE);
}

/*
 * Get the device of a link and record its current name; NULL if it is being
 * unregistered. A newer link of the netdev may have a device by then.
 */
static struct ib_device *link_device(struct hroce_link *link)
{
	struct ib_device *ibdev;

	ibdev = netdev_device(link->owner.ndev);
	if (!ibdev)
		return NULL;
	if (hroce_link_of(ibdev) != link) {
		ib_device_put(ibdev);
		return NULL;
	}
	/* Not dev_name(), which a rename frees. */
	strscpy(link->name, ibdev->name, sizeof(link->name));
	return ibdev;
}

/* Call @fn for the software device of a link, if it has one. */
static void link_tell(struct hroce_link *link,
		      void (*fn)(struct hroce_dev *dev))
{
	struct ib_device *ibdev = link_device(link);

	if (!ibdev)
		return;
	if (!hroce_is_facade(ibdev))
		fn(to_hdev(ibdev));
	ib_device_put(ibdev);
}

/*
 * Handle events that link_event() received before the device existed, or while
 * it moved to another RDMA namespace and could not be found. Return: false if
 * the netdev was unregistered.
 */
static bool link_catch_up(struct hroce_link *link)
{
	bool here;

	rtnl_lock();
	here = link->owner.ndev->reg_state == NETREG_REGISTERED &&
	       dev_net(link->owner.ndev) == link->net;
	if (here)
		link_tell(link, hroce_dev_follow);
	rtnl_unlock();
	return here;
}

static void link_put(struct hroce_link *link)
{
	if (!refcount_dec_and_test(&link->users))
		return;
	link_net_put(link);
	netdev_put(link->owner.ndev, &link->dev_tracker);
	put_user_ns(link->user_ns);
	ida_free(&link_numbers, link->owner.number);
	kfree(link);
}

static bool link_is_gone(const struct hroce_link *link)
{
	/* Pairs with link_device_gone(). */
	return smp_load_acquire(&link->gone);
}

static void links_reap(void)
{
	struct hroce_link *link, *next;

	lockdep_assert_held(&link_mutex);
	list_for_each_entry_safe(link, next, &links, node) {
		if (link_is_gone(link) && !link->mover) {
			list_del(&link->node);
			link_put(link);
		}
	}
}

/* Become the mover. Return: false if the link must not be changed any more. */
static bool link_begin_move(struct hroce_link *link)
{
	bool ok;

	mutex_lock(&link_mutex);
	ok = !links_closed && !link_is_gone(link);
	if (ok)
		WRITE_ONCE(link->mover, current);
	mutex_unlock(&link_mutex);
	return ok;
}

/* Stop being the mover, and handle events that were deferred meanwhile. */
static void link_end_move(struct hroce_link *link)
{
	mutex_lock(&link_mutex);
	WRITE_ONCE(link->mover, NULL);
	links_reap();
	mutex_unlock(&link_mutex);
	links_reconsider();
}

/*
 * Unregister the device. The caller is the mover. Return: false if another task
 * does, which ends the link.
 */
static bool link_unregister(struct hroce_link *link)
{
	struct ib_device *ibdev;

	link->moved = false;
	ibdev = link_device(link);
	if (ibdev)
		ib_unregister_device_and_put(ibdev);
	return link->moved;
}

/* Concurrent deletion is no error. The caller is the mover. */
static int link_register(struct hroce_link *link)
{
	int err;

	if (link->choice.mode == HROCE_MODE_FACADE)
		err = hroce_facade_create(&link->owner, link->name);
	else
		err = hroce_dev_create(&link->owner, link->name);
	/* From now on ib_core can move the device out of the namespace. */
	link_net_put(link);
	if (err || link_catch_up(link))
		return err;
	return link_unregister(link) ? -ENODEV : 0;
}

static void link_log(const struct hroce_link *link)
{
	char reason[HROCE_REASON_LEN];

	hroce_choice_reason(&link->choice, link->owner.ndev, reason,
			    sizeof(reason));
	pr_info("%s: %s (%s)\n", link->name,
		hroce_mode_names[link->choice.mode], reason);
}

static void link_flip(struct hroce_link *link, const struct hroce_choice *next)
{
	int err;

	if (!link_begin_move(link))
		return;
	if (!link_unregister(link))
		goto out;
	link_choose(link, next);
	WRITE_ONCE(link->flips, link->flips + 1);
	err = link_register(link);
	if (!err) {
		link_log(link);
		goto out;
	}
	link->gone = true;
	if (err != -ENODEV)
		pr_err("%s cannot change to %s (error %d) and is removed: make the link on %s again\n",
		       link->name, hroce_mode_names[next->mode], err,
		       link->owner.ndev->name);
out:
	link_end_move(link);
}

/*
 * When a bond fails over or a MAC changes, ib_core removes all GIDs of the
 * netdev, then adds them again, each by a command to the card. Wait for them
 * while the card is there.
 */
static void link_look(struct hroce_link *link, struct hroce_choice *next)
{
	unsigned long end = jiffies + msecs_to_jiffies(GIDS_MISSING_MS);
	bool had_lower;

	for (;;) {
		hroce_link_choice(link, next);
		had_lower = next->has_lower;
		hroce_choice_make(next, link->owner.ndev);
		if (next->has_lower || !had_lower || link_is_gone(link) ||
		    READ_ONCE(links_closed) ||
		    !hroce_lower_exists(&next->lower) ||
		    time_after(jiffies, end))
			return;
		msleep(20);
	}
}

static void link_reconsider(struct hroce_link *link)
{
	struct hroce_choice next;
	struct ib_device *ibdev;

	link_look(link, &next);
	if (!hroce_choice_differs(&next, &link->choice))
		return;
	if (next.mode != link->choice.mode) {
		link_flip(link, &next);
		return;
	}
	ibdev = link_device(link);
	if (!ibdev)
		return;
	ib_device_put(ibdev);
	link_choose(link, &next);
	link_log(link);
}

/* The netdev has gone, and the device not yet. */
static void link_end(struct hroce_link *link)
{
	struct ib_device *ibdev = link_device(link);

	if (ibdev)
		ib_unregister_device_and_put(ibdev);
}

static void link_work(struct work_struct *work)
{
	struct hroce_link *link = container_of(work, struct hroce_link, work);

	if (link_catch_up(link)) {
		link_reconsider(link);
		link_tell(link, hroce_port_follow_addrs);
	} else {
		link_end(link);
	}
	link_put(link);
}

/* One work item per link, since a link may have to wait for its users. */
static void links_work(struct work_struct *work)
{
	struct hroce_link *link;

	mutex_lock(&link_mutex);
	links_reap();
	list_for_each_entry(link, &links, node) {
		/* The mover queues this work again. */
		if (links_closed || link->mover)
			continue;
		refcount_inc(&link->users);
		if (!queue_work(links_wq, &link->work))
			link_put(link);
	}
	mutex_unlock(&link_mutex);
}

/*
 * A port of a bond has no addresses. If the hardware has those of the bond, it
 * takes UDP port 4791 of all ports.
 */
static bool bond_is_lower(struct net_device *ndev)
{
	struct net_device *bond;
	struct hroce_lower lower;
	bool found;

	rtnl_lock();
	bond = netif_is_lag_port(ndev) ? netdev_master_upper_dev_get(ndev) :
					 NULL;
	dev_hold(bond);
	rtnl_unlock();
	found = bond && hroce_lower_find(bond, NULL, &lower);
	if (found)
		pr_warn("no link on %s: it is a port of %s, which belongs to %s; make the link there\n",
			ndev->name, bond->name, lower.name);
	dev_put(bond);
	return found;
}

static struct hroce_link *link_alloc(const char *name, struct net_device *ndev)
{
	struct hroce_link *link;
	int number;

	number = ida_alloc_range(&link_numbers, 1, U16_MAX, GFP_KERNEL);
	if (number < 0)
		return NULL;
	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link) {
		ida_free(&link_numbers, number);
		return NULL;
	}
	spin_lock_init(&link->lock);
	INIT_WORK(&link->work, link_work);
	refcount_set(&link->users, 1);
	strscpy(link->name, name, sizeof(link->name));
	link->owner.ops = &link_owner_ops;
	link->owner.ndev = ndev;
	link->owner.number = number;
	link->owner.pkeys[0] = HROCE_PKEY_DEFAULT;
	/* Or a netdev could leave its namespace, which is freed then. */
	rtnl_lock();
	link->net = dev_net(ndev);
	link->user_ns = get_user_ns(link->net->user_ns);
	rtnl_unlock();
	netdev_hold(ndev, &link->dev_tracker, GFP_KERNEL);
	return link;
}

/*
 * Does a link of @ndev have a device, or is it being given one? ib_core does not
 * find a device that moves to another RDMA namespace, nor one whose removal is
 * nearly done. A link that ends as its netdev has left its namespace is no
 * obstacle then.
 */
static bool netdev_is_taken(struct net_device *ndev)
{
	const struct hroce_link *link;
	struct ib_device *ibdev;

	lockdep_assert_held(&link_mutex);
	list_for_each_entry(link, &links, node)
		if (link->owner.ndev == ndev && !link_is_gone(link) &&
		    (link->mover || net_eq(dev_net(ndev), link->net)))
			return true;
	ibdev = netdev_device(ndev);
	if (ibdev)
		ib_device_put(ibdev);
	return ibdev;
}

/* Add @link; false if its netdev has a link. The caller is the mover. */
static bool link_claim(struct hroce_link *link)
{
	bool ok;

	link->mover = current;
	mutex_lock(&link_mutex);
	links_reap();
	ok = !netdev_is_taken(link->owner.ndev);
	if (ok)
		list_add_tail(&link->node, &links);
	mutex_unlock(&link_mutex);
	return ok;
}

/* "rdma link add" prints the error number only. Return: @err. */
static int link_refused(const struct net_device *ndev, int err, const char *why)
{
	pr_notice_ratelimited("no link on %s: %s\n", ndev->name, why);
	return err;
}

static int link_new(const char *name, struct net_device *ndev)
{
	struct hroce_link *link;
	int err;

	if (ndev->type != ARPHRD_ETHER && !hroce_netdev_is_bare(ndev))
		return link_refused(ndev, -EOPNOTSUPP,
				    "it carries neither Ethernet frames nor bare IP packets");
	if (bond_is_lower(ndev))
		return -EBUSY;
	link = link_alloc(name, ndev);
	if (!link)
		return -ENOMEM;
	hroce_choice_make(&link->choice, ndev);
	if (!link_claim(link)) {
		link_put(link);
		return link_refused(ndev, -EEXIST, "it has a link already");
	}
	link_net_get(link, &ndev->nd_net);
	err = link_register(link);
	/* So ib_core says that the name is taken. */
	if (err == -ENFILE)
		err = link_refused(ndev, -EEXIST,
				   "another RDMA device has this name");
	if (err)
		link->gone = true;
	else
		link_log(link);
	link_end_move(link);
	return err;
}

static struct rdma_link_ops link_ops = {
	.type = "hroce",
	.newlink = link_new,
};

static int link_event(struct notifier_block *nb, unsigned long event,
		      void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct ib_device *ibdev;

	switch (event) {
	case NETDEV_UNREGISTER:
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
	case NETDEV_CHANGEUPPER:
		break;
	default:
		return NOTIFY_DONE;
	}

	ibdev = netdev_device(ndev);
	if (!ibdev)
		return NOTIFY_DONE;
	if (event == NETDEV_UNREGISTER)
		ib_unregister_device_queued(ibdev);
	else if (!hroce_is_facade(ibdev))
		hroce_dev_follow(to_hdev(ibdev));
	if (event == NETDEV_UP || event == NETDEV_CHANGEUPPER)
		links_reconsider();
	ib_device_put(ibdev);
	return NOTIFY_OK;
}

static struct notifier_block link_notifier = {
	.notifier_call = link_event,
};

/* The work also follows a registration, so no address change is missed. */
static int link_addr_changed(struct net_device *ndev)
{
	struct ib_device *ibdev;

	if (!hroce_netdev_is_bare(ndev))
		return NOTIFY_DONE;
	ibdev = netdev_device(ndev);
	if (!ibdev)
		return NOTIFY_DONE;
	ib_device_put(ibdev);
	links_reconsider();
	return NOTIFY_OK;
}

static int link_inetaddr_event(struct notifier_block *nb, unsigned long event,
			       void *info)
{
	const struct in_ifaddr *ifa = info;

	return link_addr_changed(ifa->ifa_dev->dev);
}

/* Context: atomic. */
static int link_inet6addr_event(struct notifier_block *nb, unsigned long event,
				void *info)
{
	const struct inet6_ifaddr *ifa = info;

	return link_addr_changed(ifa->idev->dev);
}

static struct notifier_block link_inetaddr_notifier = {
	.notifier_call = link_inetaddr_event,
};

static struct notifier_block link_inet6addr_notifier = {
	.notifier_call = link_inet6addr_event,
};

int hroce_link_init(void)
{
	struct workqueue_struct *wq;
	int err;

	wq = alloc_workqueue("hroce_links", WQ_UNBOUND, 0);
	if (!wq)
		return -ENOMEM;
	links_wq_swap(wq);
	err = hroce_lower_init(links_reconsider);
	if (err)
		goto destroy_wq;
	err = register_netdevice_notifier(&link_notifier);
	if (err)
		goto exit_lower;
	err = register_inetaddr_notifier(&link_inetaddr_notifier);
	if (err)
		goto unregister_netdevice;
	err = register_inet6addr_notifier(&link_inet6addr_notifier);
	if (err)
		goto unregister_inetaddr;
	rdma_link_register(&link_ops);
	return 0;

unregister_inetaddr:
	unregister_inetaddr_notifier(&link_inetaddr_notifier);
unregister_netdevice:
	unregister_netdevice_notifier(&link_notifier);
exit_lower:
	hroce_lower_exit();
destroy_wq:
	destroy_workqueue(links_wq_swap(NULL));
	return err;
}

void hroce_link_exit(void)
{
	rdma_link_unregister(&link_ops);
	unregister_inet6addr_notifier(&link_inet6addr_notifier);
	unregister_inetaddr_notifier(&link_inetaddr_notifier);
	unregister_netdevice_notifier(&link_notifier);
	mutex_lock(&link_mutex);
	WRITE_ONCE(links_closed, true);
	mutex_unlock(&link_mutex);
	/* Ends all changes of mode: no device is registered after that. */
	flush_workqueue(links_wq);
	ib_unregister_driver(RDMA_DRIVER_HROCE);
	hroce_lower_exit();
	destroy_workqueue(links_wq_swap(NULL));
	mutex_lock(&link_mutex);
	links_reap();
	mutex_unlock(&link_mutex);
}
