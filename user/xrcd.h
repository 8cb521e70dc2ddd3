/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* XRC domains. */
#ifndef HROCE_XRCD_H
#define HROCE_XRCD_H

#include <infiniband/driver.h>

struct ibv_xrcd *hroce_open_xrcd(struct ibv_context *context,
				 struct ibv_xrcd_init_attr *attr);
int hroce_close_xrcd(struct ibv_xrcd *ibxrcd);

#endif /* HROCE_XRCD_H */
