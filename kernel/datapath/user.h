/* SPDX-License-Identifier: GPL-2.0 */
/* What the datapath knows of who owns a queue pair. */
#ifndef HROCE_USER_H
#define HROCE_USER_H

struct mem_cgroup;

/**
 * struct hroce_user - a user context, or the XRC domain of target queue pairs
 * @memcg: pays for memory that peers of its queue pairs take up, see keep.c; NULL:
 *	none does
 *
 * Exists at least as long as its queue pairs.
 */
struct hroce_user {
	struct mem_cgroup *memcg;
};

#endif /* HROCE_USER_H */
