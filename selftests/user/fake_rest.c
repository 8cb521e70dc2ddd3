// SPDX-License-Identifier: GPL-2.0
/*
 * Commands that the provider hands on unchanged. They are linked, but no test
 * calls them; without the header, since the prototypes do not matter.
 */
#include <stdlib.h>

#define NOT_CALLED(name)	\
	void name(void);	\
	void name(void)		\
	{			\
		abort();	\
	}

NOT_CALLED(ibv_cmd_query_port)
NOT_CALLED(ibv_cmd_alloc_mw)
NOT_CALLED(ibv_cmd_dealloc_mw)
NOT_CALLED(ibv_cmd_reg_mr)
NOT_CALLED(ibv_cmd_reg_dmabuf_mr)
NOT_CALLED(ibv_cmd_query_context)
NOT_CALLED(ibv_cmd_query_mr)
NOT_CALLED(ibv_cmd_advise_mr)
NOT_CALLED(ibv_cmd_rereg_mr)
NOT_CALLED(ibv_cmd_dereg_mr)
NOT_CALLED(ibv_cmd_modify_cq)
NOT_CALLED(ibv_cmd_req_notify_cq)
NOT_CALLED(ibv_cmd_resize_cq)
NOT_CALLED(ibv_cmd_create_srq_ex)
NOT_CALLED(ibv_cmd_open_qp)
NOT_CALLED(ibv_cmd_open_xrcd)
NOT_CALLED(ibv_cmd_close_xrcd)
NOT_CALLED(ibv_cmd_modify_srq)
NOT_CALLED(ibv_cmd_query_srq)
NOT_CALLED(ibv_cmd_query_qp)
NOT_CALLED(ibv_cmd_attach_mcast)
NOT_CALLED(ibv_cmd_detach_mcast)
