/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions. */
#ifndef HROCE_MR_H
#define HROCE_MR_H

#include <infiniband/driver.h>

struct ibv_mr *hroce_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access);
struct ibv_mr *hroce_alloc_null_mr(struct ibv_pd *pd);
struct ibv_mr *hroce_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
struct ibv_mr *hroce_import_mr(struct ibv_pd *pd, uint32_t handle);
void hroce_unimport_mr(struct ibv_mr *mr);
int hroce_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access);
int hroce_dereg_mr(struct verbs_mr *vmr);

#endif /* HROCE_MR_H */
