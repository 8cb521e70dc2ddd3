/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs of these tests have in common: devices by name, time. */
#ifndef HROCE_SELFTESTS_OFFLOAD_DEVICE_H
#define HROCE_SELFTESTS_OFFLOAD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define DEVICE_PORT	1

/* Print what failed, and errno, and end the program. */
#define DIE(...) \
	do { \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
		fprintf(stderr, __VA_ARGS__); \
		fprintf(stderr, ": %s\n", strerror(errno)); \
		exit(1); \
	} while (0)

uint64_t now_ms(void);

/* NULL with errno set, as ibv_open_device(). Events do not block. */
struct ibv_context *device_open(const char *name);

/* Wait up to 20 s until it can be opened; NULL if it cannot. */
struct ibv_context *device_open_wait(const char *name);

/* Take an event, if there is one: has the device gone? */
bool device_is_fatal(struct ibv_context *context);

/* Index of the RoCEv2 GID of an IPv4 address, or -1. */
int device_find_gid(struct ibv_context *context, const char *address,
		    union ibv_gid *gid);

#endif
