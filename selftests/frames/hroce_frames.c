// SPDX-License-Identifier: GPL-2.0
/*
 * Look at the frames that hroce sends: is each sk_buff that refers to memory of
 * processes marked as shared, and is no region locked while a frame is sent?
 *
 *	ip netns exec NAMESPACE insmod hroce_frames.ko device=NETDEV
 *
 * Results are in /sys/module/hroce_frames/parameters.
 */
#include <linux/if_ether.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/skbuff.h>

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "Netdev whose frames are looked at");

static atomic_t frames, lists, unmarked, locked;

static int show_count(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops count_ops = { .get = show_count };

module_param_cb(frames, &count_ops, &frames, 0444);
MODULE_PARM_DESC(frames, "sk_buffs that refer to memory of processes");
module_param_cb(lists, &count_ops, &lists, 0444);
MODULE_PARM_DESC(lists, "Those of them that are in the list of another");
module_param_cb(unmarked, &count_ops, &unmarked, 0444);
MODULE_PARM_DESC(unmarked, "Those without SKBFL_SHARED_FRAG");
module_param_cb(locked, &count_ops, &locked, 0444);
MODULE_PARM_DESC(locked, "Frames sent with the lock of a region held");

/* Pages of frames that belong to nobody else have no mapping. */
static bool has_foreign_page(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);
	int i;

	for (i = 0; i < shinfo->nr_frags; i++) {
		struct page *page = skb_frag_page(&shinfo->frags[i]);

		if (READ_ONCE(compound_head(page)->mapping))
			return true;
	}
	return false;
}

static bool look_at(const struct sk_buff *skb)
{
	if (!has_foreign_page(skb))
		return false;
	atomic_inc(&frames);
	if (!skb_has_shared_frag(skb))
		atomic_inc(&unmarked);
	return true;
}

#ifdef CONFIG_LOCKDEP
static bool region_is_locked(void)
{
	int i;

	for (i = 0; i < current->lockdep_depth; i++) {
		const struct lockdep_map *map = current->held_locks[i].instance;

		if (map && strstr(map->name, "region") &&
		    strstr(map->name, "lock"))
			return true;
	}
	return false;
}
#else
static bool region_is_locked(void)
{
	return false;
}
#endif

static int look(struct sk_buff *skb, struct net_device *dev,
		struct packet_type *type, struct net_device *orig_dev)
{
	const struct sk_buff *list;
	bool foreign;

	if (skb->pkt_type == PACKET_OUTGOING) {
		foreign = look_at(skb);
		skb_walk_frags(skb, list) {
			if (!look_at(list))
				continue;
			atomic_inc(&lists);
			/* Segmentation of older kernels looks at the head. */
			if (!foreign && !skb_has_shared_frag(skb))
				atomic_inc(&unmarked);
		}
		if (region_is_locked())
			atomic_inc(&locked);
	}
	kfree_skb(skb);
	return 0;
}

static struct packet_type tap = {
	.type = htons(ETH_P_ALL),
	.func = look,
};

static int __init frames_init(void)
{
	tap.dev = dev_get_by_name(current->nsproxy->net_ns, device);
	if (!tap.dev)
		return -ENODEV;
	dev_add_pack(&tap);
	return 0;
}
module_init(frames_init);

static void __exit frames_exit(void)
{
	dev_remove_pack(&tap);
	dev_put(tap.dev);
}
module_exit(frames_exit);

MODULE_DESCRIPTION("Look at the frames that hroce sends");
MODULE_LICENSE("GPL");
