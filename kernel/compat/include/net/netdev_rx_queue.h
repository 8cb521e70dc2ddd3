/* SPDX-License-Identifier: GPL-2.0 */
/* Found only where the kernel has no such header: before 6.6. */
#include <linux/netdevice.h>
