/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Interface between provider plugins and libibverbs, for rdma-core 44 to 65.
 *
 * Distributions ship verbs.h, but not the header that providers are built
 * against. This file declares the part that libhroce uses, with the names of
 * the rdma-core tree, so that the same sources build in either place: here this
 * directory comes first in the include path; there it does not exist. Sources
 * call functions as rdma-core 65 declares them; macros drop the arguments that
 * older releases do not have.
 *
 * Sizes are asserted at the end. selftests/private compares everything here
 * with the header of rdma-core; hroce_layout_check_*() compare with the running
 * library.
 */
#ifndef HROCE_PRIVATE_DRIVER_H
#define HROCE_PRIVATE_DRIVER_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <release.h>

#ifndef container_of
#define container_of(ptr, type, member)					\
	((type *)((char *)(ptr) - offsetof(type, member)))
#endif

struct list_node {
	struct list_node *next, *prev;
};

/* Match a device with a provider */
enum {
	VERBS_MATCH_SENTINEL,
	VERBS_MATCH_PCI,
	VERBS_MATCH_MODALIAS,
	VERBS_MATCH_DRIVER_ID,
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

#define VERBS_DRIVER_ID(id) \
	{ .u.driver_id = (id), .kind = VERBS_MATCH_DRIVER_ID }

struct verbs_sysfs_dev {
	struct list_node entry;
	void *provider_data;
	const struct verbs_match_ent *match;
	unsigned int flags;
	char sysfs_name[IBV_SYSFS_NAME_MAX];
	dev_t sysfs_cdev;
	char ibdev_name[IBV_SYSFS_NAME_MAX];
	char ibdev_path[IBV_SYSFS_PATH_MAX];
	char modalias[512];
	uint64_t node_guid;
	uint32_t driver_id;
	enum ibv_node_type node_type;
	int ibdev_idx;
	uint32_t num_ports;
	uint32_t abi_ver;
	struct timespec time_created;
};

struct verbs_device;

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	struct verbs_context *(*alloc_context)(struct ibv_device *device,
					       int cmd_fd, void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device,
						int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	atomic_int refcount;
	struct list_node entry;
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

/* Objects: state of libibverbs around the public structures */
enum verbs_qp_mask {
	VERBS_QP_XRCD		= 1 << 0,
	VERBS_QP_EX		= 1 << 1,
};

struct verbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t comp_mask;
	struct verbs_xrcd *xrcd;
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type srq_type;
	struct verbs_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

enum ibv_mr_type {
	IBV_MR_TYPE_MR,
	IBV_MR_TYPE_NULL_MR,
	IBV_MR_TYPE_IMPORTED_MR,
	IBV_MR_TYPE_DMABUF_MR,
};

struct verbs_mr {
	struct ibv_mr ibv_mr;
	enum ibv_mr_type mr_type;
	int access;
};

/*
 * Every verb that a provider can implement. The order is ABI. Verbs that
 * libhroce lacks are opaque here.
 */
struct verbs_context_ops {
	int (*advise_mr)(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
			 uint32_t flags, struct ibv_sge *sges,
			 uint32_t num_sges);
#if HROCE_RDMA_CORE >= 64
	void (*alloc_buf)(void);
#endif
	void (*alloc_dm)(void);
#if HROCE_RDMA_CORE >= 59
	void (*alloc_dmah)(void);
#endif
	struct ibv_mw *(*alloc_mw)(struct ibv_pd *pd, enum ibv_mw_type type);
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *pd);
	struct ibv_pd *
	(*alloc_parent_domain)(struct ibv_context *context,
			       struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_td *(*alloc_td)(struct ibv_context *context,
				   struct ibv_td_init_attr *attr);
	void (*async_event)(void);
	void (*attach_counters_point_flow)(void);
	int (*attach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
	int (*bind_mw)(struct ibv_qp *qp, struct ibv_mw *mw,
		       struct ibv_mw_bind *mw_bind);
	int (*close_xrcd)(struct ibv_xrcd *xrcd);
	void (*cq_event)(void);
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd,
				    struct ibv_ah_attr *attr);
#if HROCE_RDMA_CORE >= 65
	void (*create_comp_cntr)(void);
#endif
	void (*create_counters)(void);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
					  struct ibv_cq_init_attr_ex *attr);
	void (*create_flow)(void);
	void (*create_flow_action_esp)(void);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr);
	void (*create_rwq_ind_table)(void);
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd,
				      struct ibv_srq_init_attr *attr);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *context,
					 struct ibv_srq_init_attr_ex *attr);
	void (*create_wq)(void);
#if HROCE_RDMA_CORE >= 59
	void (*dealloc_dmah)(void);
#endif
	int (*dealloc_mw)(struct ibv_mw *mw);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct verbs_mr *vmr);
	int (*destroy_ah)(struct ibv_ah *ah);
#if HROCE_RDMA_CORE >= 65
	void (*destroy_comp_cntr)(void);
#endif
	void (*destroy_counters)(void);
	int (*destroy_cq)(struct ibv_cq *cq);
	void (*destroy_flow)(void);
	void (*destroy_flow_action)(void);
	int (*destroy_qp)(struct ibv_qp *qp);
	void (*destroy_rwq_ind_table)(void);
	int (*destroy_srq)(struct ibv_srq *srq);
	void (*destroy_wq)(void);
	int (*detach_mcast)(struct ibv_qp *qp, const union ibv_gid *gid,
			    uint16_t lid);
#if HROCE_RDMA_CORE >= 62
	void (*dm_export_dmabuf_fd)(void);
#endif
#if HROCE_RDMA_CORE >= 64
	void (*free_buf)(void);
#endif
	void (*free_context)(struct ibv_context *context);
	void (*free_dm)(void);
	int (*get_srq_num)(struct ibv_srq *srq, uint32_t *srq_num);
	void (*import_dm)(void);
	struct ibv_mr *(*import_mr)(struct ibv_pd *pd, uint32_t mr_handle);
	struct ibv_pd *(*import_pd)(struct ibv_context *context,
				    uint32_t pd_handle);
#if HROCE_RDMA_CORE >= 65
	void (*inc_comp_cntr)(void);
	void (*inc_err_comp_cntr)(void);
#endif
	int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
	void (*modify_flow_action_esp)(void);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask);
	int (*modify_qp_rate_limit)(struct ibv_qp *qp,
				    struct ibv_qp_rate_limit_attr *attr);
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr,
			  int attr_mask);
	void (*modify_wq)(void);
	struct ibv_qp *(*open_qp)(struct ibv_context *context,
				  struct ibv_qp_open_attr *attr);
	struct ibv_xrcd *(*open_xrcd)(struct ibv_context *context,
				      struct ibv_xrcd_init_attr *attr);
	int (*poll_cq)(struct ibv_cq *cq, int nr_entries, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad_wr);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr);
	void (*post_srq_ops)(void);
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad_wr);
#if HROCE_RDMA_CORE >= 65
	void (*qp_attach_comp_cntr)(void);
	void (*query_comp_cntr_caps)(void);
#endif
	int (*query_device_ex)(struct ibv_context *context,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr,
			       size_t attr_size);
	void (*query_ece)(void);
	int (*query_port)(struct ibv_context *context, uint8_t port_num,
			  struct ibv_port_attr *attr);
#if HROCE_RDMA_CORE >= 62
	void (*query_port_speed)(void);
#endif
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			int attr_mask, struct ibv_qp_init_attr *init_attr);
	void (*query_qp_data_in_order)(void);
	int (*query_rt_values)(struct ibv_context *context,
			       struct ibv_values_ex *values);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
#if HROCE_RDMA_CORE >= 65
	void (*read_comp_cntr)(void);
#endif
	void (*read_counters)(void);
#if HROCE_RDMA_CORE >= 65
	void (*read_err_comp_cntr)(void);
#endif
	void (*reg_dm_mr)(void);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset,
					size_t length, uint64_t iova, int fd,
					int access);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t iova, int access);
#if HROCE_RDMA_CORE >= 59
	void (*reg_mr_ex)(void);
#endif
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
			void *addr, size_t length, int access);
	int (*resize_cq)(struct ibv_cq *cq, int cqe);
#if HROCE_RDMA_CORE >= 65
	void (*set_comp_cntr)(void);
#endif
	void (*set_ece)(void);
#if HROCE_RDMA_CORE >= 65
	void (*set_err_comp_cntr)(void);
#endif
	void (*unimport_dm)(void);
	void (*unimport_mr)(struct ibv_mr *mr);
	void (*unimport_pd)(struct ibv_pd *pd);
};

/* Private data of libibverbs for a context. Verify the layout before use. */
struct verbs_ex_private {
	unsigned long unsupported_ioctls[2];
	uint32_t driver_id;
	bool use_ioctl_write;
	struct verbs_context_ops ops;
};

/* Commands: the header of the write() interface, then the kernel's structure */
#define HROCE_DECLARE_CORE_CMD(name)					\
	struct ibv_##name {						\
		struct ib_uverbs_cmd_hdr hdr;				\
		struct ib_uverbs_##name core_payload;			\
	};								\
	static_assert(sizeof(struct ibv_##name) ==			\
		      sizeof(struct ib_uverbs_cmd_hdr) +		\
		      sizeof(struct ib_uverbs_##name), "no padding")

HROCE_DECLARE_CORE_CMD(get_context);
HROCE_DECLARE_CORE_CMD(query_port);
HROCE_DECLARE_CORE_CMD(alloc_pd);
HROCE_DECLARE_CORE_CMD(reg_mr);
HROCE_DECLARE_CORE_CMD(rereg_mr);
HROCE_DECLARE_CORE_CMD(alloc_mw);
HROCE_DECLARE_CORE_CMD(resize_cq);
HROCE_DECLARE_CORE_CMD(create_srq);
HROCE_DECLARE_CORE_CMD(create_xsrq);
HROCE_DECLARE_CORE_CMD(modify_srq);
HROCE_DECLARE_CORE_CMD(query_srq);
HROCE_DECLARE_CORE_CMD(create_qp);
HROCE_DECLARE_CORE_CMD(modify_qp);
HROCE_DECLARE_CORE_CMD(open_qp);
HROCE_DECLARE_CORE_CMD(open_xrcd);
HROCE_DECLARE_CORE_CMD(query_qp);

struct ex_hdr {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
};

struct ibv_create_cq_ex {
	struct ex_hdr hdr;
	struct ib_uverbs_ex_create_cq core_payload;
};

struct ibv_modify_qp_ex {
	struct ex_hdr hdr;
	struct ib_uverbs_ex_modify_qp core_payload;
};

struct ibv_modify_cq {
	struct ex_hdr hdr;
	struct ib_uverbs_ex_modify_cq core_payload;
};

/* Initialization and release of providers and contexts */
#define HROCE_PASTE(name, number)	name##number
#define HROCE_WITH_NUMBER(name, number)	HROCE_PASTE(name, number)
#define verbs_register_driver						\
	HROCE_WITH_NUMBER(verbs_register_driver_, IBVERBS_PABI_VERSION)

void verbs_register_driver(const struct verbs_device_ops *ops);

#define PROVIDER_DRIVER(provider, ops)					\
	static __attribute__((constructor)) void			\
	provider##_register_driver(void)				\
	{								\
		verbs_register_driver(&(ops));				\
	}								\
	static_assert(true, "for the semicolon behind it")

void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
				    size_t alloc_size,
				    struct verbs_context *context_offset,
				    uint32_t driver_id);

#define verbs_init_and_alloc_context(device, cmd_fd, ptr, member, driver_id) \
	((__typeof__(ptr))_verbs_init_and_alloc_context(		\
		device, cmd_fd, sizeof(*(ptr)),				\
		(struct verbs_context *)				\
			offsetof(__typeof__(*(ptr)), member),		\
		driver_id))

void verbs_uninit_context(struct verbs_context *context);
void verbs_set_ops(struct verbs_context *context,
		   const struct verbs_context_ops *ops);

/* Commands to the kernel: 0 or an errno value */
struct ibv_fd_arr;
#if HROCE_RDMA_CORE >= 57
int ibv_cmd_get_context(struct verbs_context *context,
			struct ibv_get_context *cmd, size_t cmd_size,
			struct ibv_fd_arr *fds,
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size);
#else
int ibv_cmd_get_context(struct verbs_context *context,
			struct ibv_get_context *cmd, size_t cmd_size,
			struct ib_uverbs_get_context_resp *resp,
			size_t resp_size);
#define ibv_cmd_get_context(context, cmd, cmd_size, fds, resp, resp_size) \
	(ibv_cmd_get_context)(context, cmd, cmd_size, resp, resp_size)
#endif
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size);
struct ibv_command_buffer;
int ibv_cmd_query_context(struct ibv_context *context,
			  struct ibv_command_buffer *driver);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *attr,
		       struct ibv_query_port *cmd, size_t cmd_size);
int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		     struct ibv_alloc_pd *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd,
		      int vxrcd_size, struct ibv_xrcd_init_attr *attr,
		      struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size);
int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		   int access, struct verbs_mr *vmr,
		   struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);
#if HROCE_RDMA_CORE >= 54
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr,
			  struct ibv_command_buffer *driver);
#else
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr);
#define ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr,   \
			      driver)					   \
	(ibv_cmd_reg_dmabuf_mr)(pd, offset, length, iova, fd, access, vmr)
#endif
int ibv_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		      uint32_t flags, struct ibv_sge *sges, uint32_t num_sges);
int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr,
		     size_t length, uint64_t iova, int access,
		     struct ibv_pd *pd,
		     struct ibv_rereg_mr *cmd, size_t cmd_size,
		     struct ib_uverbs_rereg_mr_resp *resp, size_t resp_size);
int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr,
		     uint32_t mr_handle);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type,
		     struct ibv_mw *mw, struct ibv_alloc_mw *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_mw_resp *resp,
		     size_t resp_size);
int ibv_cmd_dealloc_mw(struct ibv_mw *mw);
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);
struct verbs_create_cq_prov_attr;
#if HROCE_RDMA_CORE >= 59
int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_create_cq_prov_attr *prov_attr,
			 struct verbs_cq *cq,
			 struct ibv_create_cq_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags);
#else
int ibv_cmd_create_cq_ex(struct ibv_context *context,
			 const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_cq *cq,
			 struct ibv_create_cq_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp,
			 size_t resp_size, uint32_t cmd_flags);
#define ibv_cmd_create_cq_ex(context, attr, prov_attr, cq, cmd, cmd_size,    \
			     resp, resp_size, cmd_flags)		     \
	(ibv_cmd_create_cq_ex)(context, attr, cq, cmd, cmd_size, resp,	     \
			       resp_size, cmd_flags)
#endif
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);
int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      struct ibv_modify_cq *cmd, size_t cmd_size);
int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_resize_cq_resp *resp,
		      size_t resp_size);
int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp,
		       size_t resp_size);
int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr_ex,
			  struct ibv_create_xsrq *cmd, size_t cmd_size,
			  struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		       int attr_mask, struct ibv_modify_srq *cmd,
		       size_t cmd_size);
int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		      struct ibv_query_srq *cmd, size_t cmd_size);
int ibv_cmd_destroy_srq(struct ibv_srq *srq);
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr,
			 struct ibv_create_qp *cmd, size_t cmd_size,
			 struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size);
int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp,
		    int vqp_sz, struct ibv_qp_open_attr *attr,
		    struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, struct ibv_modify_qp *cmd,
		      size_t cmd_size);
int ibv_cmd_modify_qp_ex(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask, struct ibv_modify_qp_ex *cmd,
			 size_t cmd_size,
			 struct ib_uverbs_ex_modify_qp_resp *resp,
			 size_t resp_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr,
		     struct ibv_query_qp *cmd, size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);

/* Layouts, measured on builds of rdma-core for 64-bit machines */
static_assert(sizeof(void *) == 8, "libhroce is for 64-bit machines");
#if HROCE_RDMA_CORE >= 65
static_assert(sizeof(struct verbs_context_ops) == 744, "private ABI 65");
static_assert(sizeof(struct verbs_context) == 696, "private ABI 65");
#elif HROCE_RDMA_CORE >= 64
static_assert(sizeof(struct verbs_context_ops) == 664, "private ABI 64");
static_assert(sizeof(struct verbs_context) == 696, "private ABI 64");
#elif HROCE_RDMA_CORE >= 62
static_assert(sizeof(struct verbs_context_ops) == 648, "rdma-core 62");
static_assert(sizeof(struct verbs_context) == 680, "rdma-core 62");
#elif HROCE_RDMA_CORE >= 59
static_assert(sizeof(struct verbs_context_ops) == 632, "private ABI 59");
static_assert(sizeof(struct verbs_context) == 672, "private ABI 59");
#else
static_assert(sizeof(struct verbs_context_ops) == 608, "private ABI 34, 57");
static_assert(sizeof(struct verbs_context) == 648, "private ABI 34, 57");
#endif
static_assert(sizeof(struct verbs_match_ent) == 24, "private ABI");
static_assert(sizeof(struct verbs_sysfs_dev) == 992, "private ABI");
static_assert(sizeof(struct verbs_device_ops) == 72, "private ABI");
static_assert(sizeof(struct verbs_device) == 712, "private ABI");
static_assert(offsetof(struct verbs_ex_private, ops) == 24, "private ABI");
static_assert(sizeof(struct verbs_cq) == 288, "private ABI");
static_assert(sizeof(struct verbs_srq) == 160, "private ABI");
static_assert(sizeof(struct verbs_xrcd) == 16, "private ABI");
static_assert(sizeof(struct verbs_mr) == 56, "private ABI");
static_assert(offsetof(struct verbs_qp, comp_mask) == sizeof(struct ibv_qp_ex),
	      "private ABI");
static_assert(sizeof(struct verbs_qp) == sizeof(struct ibv_qp_ex) + 16,
	      "private ABI");
static_assert(sizeof(struct verbs_qp) == (HROCE_RDMA_CORE >= 45 ? 376 : 368),
	      "private ABI");
static_assert(sizeof(struct ibv_context) == 328, "libibverbs ABI");
static_assert(sizeof(struct ibv_create_qp) == 64, "kernel ABI");
static_assert(sizeof(struct ibv_modify_qp_ex) == 144, "kernel ABI");
static_assert(sizeof(struct ibv_reg_mr) == 48, "kernel ABI");

#endif /* HROCE_PRIVATE_DRIVER_H */
