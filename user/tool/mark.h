/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Does the traffic class of a packet arrive as it was sent? */
#ifndef HROCE_MARK_H
#define HROCE_MARK_H

#include <rdma/rdma_cma.h>

/* Print what became of @tos there and back. Return: 0 unless @tos is none. */
int mark_measure(const char *address, const char *port, const char *tos);

/* Answer one client, whose request for a connection @id is. */
void mark_serve(struct rdma_cm_id *id);

#endif /* HROCE_MARK_H */
