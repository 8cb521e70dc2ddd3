/* SPDX-License-Identifier: GPL-2.0 */
/* Links: `rdma link add`, what happens to the netdev below, and who serves. */
#ifndef HROCE_LINK_H
#define HROCE_LINK_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "offload/choice.h"
#include "verbs/owner.h"

struct task_struct;

/**
 * struct hroce_link - one link, whichever device serves it
 * @node: in the list of all links [link_mutex]
 * @work: reconsiders the mode
 * @users: the list, and @work while it is queued or runs
 * @owner: what devices know of the link; its rdma_net [mover]
 * @dev_tracker: of the reference to the netdev
 * @net: namespace of the netdev when the link was made
 * @user_ns: owner of @net; a reference is held, as @net may go before the device
 * @name: of the device, when it was registered last [mover, @work]
 * @lock: guards @choice; process context
 * @choice: software or hardware, and why
 * @flips: changes of the mode since the link was made
 * @mover: task that is making or replacing the device just now, or NULL: by this
 *	task, the end of a device is not the end of the link [set: link_mutex]
 * @moved: the mover has freed the device [mover]
 * @gone: the link has ended; links_reap() takes it out of the list
 */
struct hroce_link {
	struct list_head node;
	struct work_struct work;
	refcount_t users;
	struct hroce_owner owner;
	netdevice_tracker dev_tracker;
	struct net *net;
	struct user_namespace *user_ns;
	char name[IB_DEVICE_NAME_MAX];
	spinlock_t lock;
	struct hroce_choice choice;
	u32 flips;
	struct task_struct *mover;
	bool moved;
	bool gone;
};

/**
 * hroce_link_of - the link that a device serves
 * @ibdev: device of this driver
 *
 * Return: link; stays as long as the device.
 */
struct hroce_link *hroce_link_of(struct ib_device *ibdev);

/* Present mode, policy and lower device. Context: process. */
void hroce_link_choice(struct hroce_link *link, struct hroce_choice *choice);

/**
 * hroce_link_set_policy - choose by hand
 * @link: link
 * @policy: what is wanted
 *
 * The mode follows by a work item: the device that the caller may have come
 * through cannot be removed before it has returned.
 *
 * Context: process, may sleep.
 * Return: 0, or -EBUSY if software is wanted and hardware has port 4791.
 */
int hroce_link_set_policy(struct hroce_link *link, enum hroce_policy policy);

/**
 * hroce_link_init - offer links of type hroce and follow network devices
 *
 * Context: process.
 * Return: 0 or negative errno.
 */
int hroce_link_init(void);

/**
 * hroce_link_exit - counterpart of hroce_link_init(); removes all links
 *
 * Context: process, sleeps until the last user is gone.
 */
void hroce_link_exit(void);

#endif /* HROCE_LINK_H */
