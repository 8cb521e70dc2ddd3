// SPDX-License-Identifier: GPL-2.0
/*
 * Files of a link in sysfs. They are removed and added with the registration of
 * the device; written values stay.
 */
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include "link.h"
#include "link_sysfs.h"
#include "offload/choice.h"

static struct hroce_link *show_link(struct device *device)
{
	return hroce_link_of(rdma_device_to_ibdev(device));
}

static ssize_t mode_show(struct device *device, struct device_attribute *attr,
			 char *buf)
{
	struct hroce_choice choice;

	hroce_link_choice(show_link(device), &choice);
	return sysfs_emit(buf, "%s\n", hroce_mode_names[choice.mode]);
}

static ssize_t lower_show(struct device *device, struct device_attribute *attr,
			  char *buf)
{
	struct hroce_choice choice;

	hroce_link_choice(show_link(device), &choice);
	if (!choice.has_lower)
		return sysfs_emit(buf, "none\n");
	return sysfs_emit(buf, "%s/%u\n", choice.lower.name,
			  choice.lower.port);
}

static ssize_t reason_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	struct hroce_link *link = show_link(device);
	struct hroce_choice choice;
	char reason[HROCE_REASON_LEN];

	hroce_link_choice(link, &choice);
	hroce_choice_reason(&choice, link->owner.ndev, reason, sizeof(reason));
	return sysfs_emit(buf, "%s\n", reason);
}

/*
 * The netdev that the link was made on: of a VLAN, `rdma link` has the one
 * below. Names mean nothing in other namespaces, where the line is empty.
 */
static ssize_t netdev_show(struct device *device, struct device_attribute *attr,
			   char *buf)
{
	struct net_device *ndev = show_link(device)->owner.ndev;

	if (!net_eq(dev_net(ndev), current->nsproxy->net_ns))
		return sysfs_emit(buf, "\n");
	return sysfs_emit(buf, "%s\n", ndev->name);
}

static ssize_t policy_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	struct hroce_choice choice;

	hroce_link_choice(show_link(device), &choice);
	return sysfs_emit(buf, "%s\n", hroce_policy_names[choice.policy]);
}

static ssize_t policy_store(struct device *device,
			    struct device_attribute *attr, const char *buf,
			    size_t count)
{
	struct hroce_link *link = show_link(device);
	int policy, err;

	/* The file is visible in all namespaces. */
	if (!ns_capable(link->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	policy = __sysfs_match_string(hroce_policy_names, HROCE_POLICY_NR,
				      buf);
	if (policy < 0)
		return policy;
	err = hroce_link_set_policy(link, policy);
	return err ?: count;
}

static ssize_t flips_show(struct device *device, struct device_attribute *attr,
			  char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(show_link(device)->flips));
}

static DEVICE_ATTR_RO(mode);
static DEVICE_ATTR_RO(lower);
static DEVICE_ATTR_RO(reason);
static DEVICE_ATTR_RO(netdev);
static DEVICE_ATTR_RW(policy);
static DEVICE_ATTR_RO(flips);

static struct attribute *show_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_lower.attr,
	&dev_attr_reason.attr,
	&dev_attr_netdev.attr,
	&dev_attr_policy.attr,
	&dev_attr_flips.attr,
	NULL,
};

const struct attribute_group hroce_link_group = {
	.name = "offload",
	.attrs = show_attrs,
};
