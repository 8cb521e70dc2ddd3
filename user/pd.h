/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains. */
#ifndef HROCE_PD_H
#define HROCE_PD_H

#include <infiniband/driver.h>

struct ibv_pd *hroce_alloc_pd(struct ibv_context *context);
int hroce_dealloc_pd(struct ibv_pd *pd);

#endif /* HROCE_PD_H */
