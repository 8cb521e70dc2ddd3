// SPDX-License-Identifier: GPL-2.0
/* Load and unload. */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>
#include "datapath/fetch.h"
#include "datapath/keep.h"
#include "link.h"
#include "net/crc.h"
#include "net/port.h"
#include "net/xdp.h"
#include "verbs/ah.h"
#include "verbs/cc_bpf.h"
#include "verbs/debug.h"
#include "verbs/removal.h"

static int __init hroce_init(void)
{
	int err;

	hroce_crc_init();
	err = hroce_ah_init();
	if (err)
		return err;
	err = hroce_fetch_init();
	if (err)
		goto exit_ah;
	err = hroce_net_init();
	if (err)
		goto exit_fetch;
	hroce_keep_setup();
	hroce_debug_init();
	hroce_xdp_init();
	hroce_cc_bpf_init();
	err = hroce_removal_init();
	if (err)
		goto exit_debug;
	err = hroce_link_init();
	if (err)
		goto exit_removal;
	return 0;

exit_removal:
	hroce_removal_exit();
exit_debug:
	hroce_xdp_exit();
	hroce_debug_exit();
	hroce_net_exit();
exit_fetch:
	hroce_fetch_exit();
exit_ah:
	hroce_ah_exit();
	return err;
}

static void __exit hroce_exit(void)
{
	hroce_link_exit();
	hroce_removal_exit();
	hroce_xdp_exit();
	hroce_debug_exit();
	hroce_net_exit();
	hroce_fetch_exit();
	hroce_ah_exit();
}

module_init(hroce_init);
module_exit(hroce_exit);

MODULE_AUTHOR("The hroce developers");
MODULE_DESCRIPTION("RDMA over Converged Ethernet, version 2, in software");
MODULE_LICENSE("GPL");
MODULE_VERSION(HROCE_VERSION);
MODULE_IMPORT_NS("DMA_BUF");
MODULE_ALIAS_RDMA_LINK("hroce");
