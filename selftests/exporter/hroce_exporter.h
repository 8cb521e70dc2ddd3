/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/hroce_exporter: dma-bufs that move when told so. For tests alone. */
#ifndef HROCE_EXPORTER_H
#define HROCE_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* hroce_exporter_create.flags */
#define HROCE_EXPORTER_NO_VMAP	(1u << 0)	/* no way for a CPU to get at it */
#define HROCE_EXPORTER_IOMEM	(1u << 1)	/* mapped as if it were not memory */
#define HROCE_EXPORTER_RDONLY	(1u << 2)	/* the descriptor cannot be written */
#define HROCE_EXPORTER_STATIC	(1u << 3)	/* never moves, and does not say so */

/**
 * struct hroce_exporter_create - make a buffer
 * @size: bytes, a multiple of the page size
 * @flags: HROCE_EXPORTER_*
 * @fd: set to its descriptor
 */
struct hroce_exporter_create {
	__u64 size;
	__u32 flags;
	__s32 fd;
};

/**
 * struct hroce_exporter_copy - look into a buffer, or change it
 * @fd: of the buffer
 * @write: to the buffer, or else from it
 * @offset: in the buffer
 * @len: bytes
 * @addr: of as many bytes in user space
 */
struct hroce_exporter_copy {
	__s32 fd;
	__u32 write;
	__u64 offset;
	__u64 len;
	__u64 addr;
};

#define HROCE_EXPORTER_CREATE	_IOWR('x', 1, struct hroce_exporter_create)
#define HROCE_EXPORTER_COPY	_IOW('x', 2, struct hroce_exporter_copy)
/* Let the buffer of this descriptor be somewhere else from now on. */
#define HROCE_EXPORTER_MOVE	_IOW('x', 3, __s32)
/* The same, to where no CPU can get at it. */
#define HROCE_EXPORTER_MOVE_OUT	_IOW('x', 4, __s32)

#endif /* HROCE_EXPORTER_H */
