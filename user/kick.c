// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kick descriptor.
 *
 * It is a uverbs object of hroce. libibverbs has no call for driver objects,
 * but their ioctl is public kernel ABI, so it is issued directly.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include <rdma/hroce-abi.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "kick.h"

#define NR_ATTRS 1

int hroce_kick_open(int cmd_fd)
{
	union {
		struct ib_uverbs_ioctl_hdr hdr;
		uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
			     NR_ATTRS * sizeof(struct ib_uverbs_attr)];
	} cmd = {
		.hdr.length = sizeof(cmd),
		.hdr.object_id = HROCE_OBJECT_KICK,
		.hdr.method_id = HROCE_METHOD_KICK_ALLOC,
		.hdr.num_attrs = NR_ATTRS,
		.hdr.driver_id = HROCE_DRIVER_ID,
	};

	cmd.hdr.attrs[0] = (struct ib_uverbs_attr) {
		.attr_id = HROCE_ATTR_KICK_ALLOC_HANDLE,
		.flags = UVERBS_ATTR_F_MANDATORY,
	};
	if (ioctl(cmd_fd, RDMA_VERBS_IOCTL, &cmd.hdr))
		return -1;
	return (int)cmd.hdr.attrs[0].data_s64;
}

int hroce_kick(int kick_fd, uint32_t qpn)
{
	int saved_errno = errno;
	int ret;

	if (!ioctl(kick_fd, HROCE_IOC_KICK, (unsigned long)qpn))
		return 0;
	ret = errno;
	errno = saved_errno;
	return ret == EIO ? EIO : 0;
}

bool hroce_kick_poll(int kick_fd, uint32_t qpn)
{
	int saved_errno = errno;

	if (!ioctl(kick_fd, HROCE_IOC_POLL, (unsigned long)qpn))
		return true;
	errno = saved_errno;
	return false;
}
