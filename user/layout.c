// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Run-time comparison of private structures with those of libibverbs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "library.h"

static bool complain_unless(bool same)
{
	static bool complained;
	char *file;

	if (same || complained)
		return same;
	complained = true;
	file = hroce_library_file();
	fprintf(stderr,
		"libhroce: built for rdma-core %d, but %s has another or an unknown private interface; rebuild it against this version's libibverbs-dev and install it again\n",
		HROCE_RDMA_CORE, file ? file : "libibverbs");
	free(file);
	return false;
}

/*
 * The library's file is called libibverbs.so.1.MINOR.RELEASE.PATCH.
 * Return: RELEASE, 0 if the name is another one.
 */
static unsigned int release_of(const char *file)
{
	const char *name = strrchr(file, '/');
	unsigned int release;

	if (!name ||
	    sscanf(name, "/libibverbs.so.1.%*u.%u.%*u", &release) != 1)
		return 0;
	return release;
}

/* A number for each private interface; 0 if libhroce does not know it. */
static unsigned int interface_of(unsigned int release)
{
	static const unsigned int changed[] = { HROCE_RELEASES_CHANGED };
	unsigned int number = 1;
	size_t i;

	if (release < HROCE_RELEASE_MIN || release > HROCE_RELEASE_MAX)
		return 0;
	for (i = 0; i < sizeof(changed) / sizeof(changed[0]); i++)
		number += release >= changed[i];
	return number;
}

/*
 * Nothing but the name of its file tells releases apart that differ in the
 * arguments of a function.
 */
bool hroce_layout_check_release(void)
{
	char *file = hroce_library_file();
	unsigned int release = file ? release_of(file) : 0;

	free(file);
	return complain_unless(interface_of(release) ==
			       interface_of(HROCE_RDMA_CORE));
}

/*
 * ibv_qp_to_qp_ex() reads comp_mask, which follows the part of the structure
 * that grew: a library with another layout does not find the bit set here.
 */
bool hroce_layout_check_qp(void)
{
	union {
		struct verbs_qp vqp;
		uint8_t room[sizeof(struct verbs_qp) + 256];
	} probe = {
		.vqp.comp_mask = VERBS_QP_EX,
	};

	return complain_unless(ibv_qp_to_qp_ex(&probe.vqp.qp));
}

/*
 * verbs_set_ops() copies some verbs from the table to public fields. A correct
 * copy shows that all members before it have the expected place. Members behind
 * the last one follow from the release.
 */
bool hroce_layout_check_context(const struct verbs_context *vctx,
				const struct verbs_context_ops *ops)
{
	const struct ibv_context_ops *pub = &vctx->context.ops;

	return complain_unless(vctx->sz == sizeof(*vctx) &&
			       vctx->create_qp_ex == ops->create_qp_ex &&
			       vctx->query_device_ex == ops->query_device_ex &&
			       vctx->query_rt_values == ops->query_rt_values &&
			       pub->poll_cq == ops->poll_cq &&
			       pub->post_recv == ops->post_recv &&
			       pub->post_send == ops->post_send &&
			       pub->post_srq_recv == ops->post_srq_recv &&
			       pub->req_notify_cq == ops->req_notify_cq);
}
