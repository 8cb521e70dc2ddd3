/* SPDX-License-Identifier: GPL-2.0 */
/* Links: `rdma link add`, events of the netdev below, and the device in use. */
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
 * struct hroce_link - one link, with its current device
 * @node: in the list of all links [link_mutex]
 * @work: updates the mode
 * @users: references: the list, and @work while it is queued or runs
 * @owner: the link as devices see it; its rdma_net [mover]
 * @dev_tracker: for the reference to the netdev
 * @net: namespace of the netdev at creation of the link
 * @user_ns: owner of @net; holds a reference, as @net may be freed before the
 *	device
 * @name: name of the device when it was last registered [mover, @work]
 * @lock: guards @choice; process context
 * @choice: mode, software or hardware, and its reason
 * @flips: changes of the mode since creation
 * @mover: task that is creating or replacing the device, or NULL: removal of
 *	the device by this task does not end the link [set: link_mutex]
 * @moved: the mover has freed the device [mover]
 * @gone: the link has ended; links_reap() removes it from the list
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
 * hroce_link_of - the link of a device
 * @ibdev: device of this driver
 *
 * Return: link; valid as long as the device.
 */
struct hroce_link *hroce_link_of(struct ib_device *ibdev);

/* Read mode, policy and lower device. Context: process. */
void hroce_link_choice(struct hroce_link *link, struct hroce_choice *choice);

/**
 * hroce_link_set_policy - change the policy
 * @link: link
 * @policy: new policy
 *
 * A work item changes the mode: the caller may have come through the device,
 * which cannot be removed before the caller has returned.
 *
 * Context: process, may sleep.
 * Return: 0, or -EBUSY if software is requested while hardware takes port 4791.
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
